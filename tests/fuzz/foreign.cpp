// Any text as documents that others wrote: checked as `gpuctl validate` does, then imported.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "cli/command.hpp"
#include "diag/print.hpp"
#include "document/release.hpp"
#include "importer/draft.hpp"
#include "pipeline/run.hpp"
#include "yaml/read.hpp"

namespace {

using namespace gpuctl;

void show(const diag::Sink& sink, const diag::Sources& sources) {
  std::string shown;
  for (const diag::Diagnostic& diagnostic : sink.sorted(sources)) {
    diag::print_text(diagnostic, sources, true, shown);
    diag::print_json(diagnostic, sources, shown);
  }
}

// Every object has a fate, and what is lost is told.
void check(const importer::Draft& draft, std::size_t objects) {
  if (draft.fates.size() != objects || draft.files.empty()) std::abort();
  for (std::size_t i = 0; i < objects; ++i) {
    bool told = false;
    for (const importer::Loss& loss : draft.losses) told = told || loss.object == i;
    if (told != (draft.fates[i] == importer::Fate::lost)) std::abort();
  }
}

void import(const std::string& text, pipeline::Knowledge& knowledge) {
  diag::Sources sources(&knowledge.library().sources());
  yaml::Arena arena;
  diag::Sink sink;
  yaml::ReadLimits limits = yaml::kubectl_limits();
  limits.aliases = 20;
  const auto documents =
      yaml::read_all(sources.add_file("input.yaml", text), sources, arena, sink, limits);
  if (!documents) return;
  std::string name;
  for (const yaml::Node& document : *documents) {
    if (name.empty()) name = knowledge.platform_for(document);
  }
  const pipeline::Compiled* platform =
      name.empty() ? nullptr : knowledge.platform(name, diag::kNoOrigin, sink);
  if (platform == nullptr) return;
  const auto mapping =
      imports::Mapping::compile(*platform->platform, knowledge.library(), false, sink);
  std::vector<imports::Object> objects;
  std::vector<imports::Unknown> unknown;
  imports::add_objects("input.yaml", *documents, *platform->documents, sources, arena, objects,
                       unknown);
  if (objects.empty()) return;
  std::vector<std::string> releases;
  if (platform->platform->releases) {
    releases = {document::releases_of(*platform->platform).back()};
  }
  const importer::Draft draft = importer::make_draft(
      {objects, *platform, *mapping, knowledge, sources, arena, "out/", "2025-12-01", releases});
  check(draft, objects.size());
  show(draft.trial.sink, *draft.trial.sources);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static diag::Sink findings;
  static pipeline::Knowledge knowledge(cli::built_in_image(), "", "", findings);
  const std::string text(reinterpret_cast<const char*>(data), size);
  pipeline::Request request{.date = "2025-12-01"};
  request.foreign = true;
  request.given["input.yaml"] = text;
  const pipeline::Result result = pipeline::run("input.yaml", request, knowledge);
  show(result.sink, *result.sources);
  import(text, knowledge);
  return 0;
}
