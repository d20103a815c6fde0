#include "importer/propose.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "document/release.hpp"
#include "importer/codes.hpp"
#include "importer/losses.hpp"
#include "importer/read.hpp"

namespace gpuctl::importer {

namespace {

std::vector<std::string> releases_in_question(const catalog::Platform& platform,
                                              const std::map<std::string, std::string>& given) {
  if (!platform.releases) return {};
  const auto release = given.find(platform.releases->option);
  if (release != given.end()) return {release->second};
  std::vector<std::string> releases = document::releases_of(platform);
  const auto oldest = std::find(releases.begin(), releases.end(), platform.releases->oldest);
  if (oldest != releases.end()) releases.erase(releases.begin(), oldest);
  return releases;
}

// What the files say that is nothing to import.
void report_others(const Given& given, const std::vector<imports::Unknown>& unknown,
                   diag::Sink& sink) {
  for (const imports::Unknown& document : unknown) {
    sink.warning(kLost, document.at, "this document is no Kubernetes object: it is not taken over");
  }
  if (given.others == 0) return;
  sink.note(kLeftOut, diag::kNoOrigin,
            base::counted(given.others, "file") + " without manifests " +
                (given.others == 1 ? "was" : "were") + " not read")
      .note("scripts and texts are no part of an import");
}

}  // namespace

std::optional<Draft> propose(const Question& question, pipeline::Knowledge& knowledge,
                             yaml::Context context) {
  const auto& [sources, arena, sink] = context;
  const Given given = read_manifests(question.paths, knowledge, context);
  if (sink.has_errors()) return std::nullopt;
  const std::string name =
      question.platform.empty() ? platform_of(given.files, knowledge, sink) : question.platform;
  if (sink.has_errors()) return std::nullopt;
  const pipeline::Compiled* platform = knowledge.platform(name, diag::kNoOrigin, sink);
  if (platform == nullptr) return std::nullopt;
  // What overlays say of imports was checked with the platform.
  const auto mapping =
      imports::Mapping::compile(*platform->platform, knowledge.library(), false, sink);
  if (mapping == nullptr) return std::nullopt;

  std::vector<imports::Object> objects;
  std::vector<imports::Unknown> unknown;
  for (const ManifestFile& file : given.files) {
    imports::add_objects(file.file, file.documents, *platform->documents, sources, arena, objects,
                         unknown);
  }
  imports::find_twins(objects);
  if (objects.empty()) {
    sink.error(kNothingToImport, diag::kNoOrigin, "there is no manifest in what was given");
    return std::nullopt;
  }
  Draft draft =
      make_draft({objects, *platform, *mapping, knowledge, sources, arena, question.directory,
                  question.date, releases_in_question(*platform->platform, question.releases)});
  report_others(given, unknown, sink);
  report_losses(draft, objects, knowledge.secret_rules(), context);
  return draft;
}

std::size_t count_of(const Draft& draft, Fate fate) {
  return static_cast<std::size_t>(std::count(draft.fates.begin(), draft.fates.end(), fate));
}

std::string counts(const Draft& draft) {
  const std::pair<Fate, const char*> kinds[] = {{Fate::equal, "as rendered"},
                                                {Fate::overridden, "by an override"},
                                                {Fate::manifest, "as written"},
                                                {Fate::left_out, "only read"},
                                                {Fate::lost, "not or not wholly taken over"}};
  std::vector<std::string> parts;
  for (const auto& [fate, text] : kinds) {
    const std::size_t count = count_of(draft, fate);
    if (count != 0) parts.push_back(std::to_string(count) + " " + text);
  }
  return base::counted(draft.fates.size(), "document") + ": " + base::join(parts, ", ");
}

}  // namespace gpuctl::importer
