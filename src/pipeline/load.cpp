#include "pipeline/load.hpp"

#include <cerrno>
#include <utility>

#include "base/digest.hpp"
#include "base/stages.hpp"
#include "base/text.hpp"
#include "blueprint/extends.hpp"
#include "fields/synonyms.hpp"
#include "pipeline/codes.hpp"
#include "pipeline/ignore.hpp"
#include "pipeline/promotion.hpp"
#include "pipeline/version.hpp"
#include "render/codes.hpp"
#include "secrets/fields.hpp"
#include "yaml/packed.hpp"
#include "yaml/path.hpp"
#include "yaml/read.hpp"

namespace gpuctl::pipeline {

namespace {

constexpr std::string_view kFactsFile = "facts.yaml";

// The document in a file that the blueprint names. What is no document may be a secret that got
// there by mistake: nothing of it is shown.
std::optional<yaml::Node> read_part(const yaml::Node& path, InputFiles& files, Knowledge& knowledge,
                                    yaml::Context context) {
  const auto& [sources, arena, sink] = context;
  const std::optional<diag::FileId> file = files.read_beside(path, kUnusablePart);
  if (!file) return std::nullopt;
  secrets::hide_fields(*file, knowledge.secret_fields(), sources);
  std::optional<yaml::Node> part = yaml::read(*file, sources, arena, sink);
  if (part && part->is_map()) return part;
  sources.hide(*file, 0, static_cast<std::uint32_t>(sources.file_text(*file).size()));
  if (part) {
    sink.error(kUnusablePart, path.origin(), "the file holds no YAML document with fields");
  }
  return std::nullopt;
}

// The text of a file that the blueprint names.
std::optional<yaml::Node> read_text(const yaml::Node& path, InputFiles& files,
                                    yaml::Context context) {
  const std::optional<diag::FileId> file = files.read_beside(path, kUnusablePart);
  if (!file) return std::nullopt;
  const std::string_view text = context.sources.file_text(*file);
  if (base::valid_utf8(text)) return context.arena.string(text, path.origin());
  context.sink.error(kUnusablePart, path.origin(), "the file is no text in UTF-8");
  return std::nullopt;
}

// Puts the documents that fields with `x-gpuctl-reads: NAME` name beside them, under NAME: rules
// and templates see them as a part of the blueprint.
void load_parts(blueprint::Blueprint& blueprint, InputFiles& files, Knowledge& knowledge,
                yaml::Context context) {
  constexpr std::string_view kReads = "x-gpuctl-reads";
  constexpr std::string_view kReadsText = "x-gpuctl-reads-text";
  struct Named {
    std::vector<std::string> target;
    yaml::Node path;
    bool text = false;
  };
  std::vector<Named> named;
  schema::for_each_value(*blueprint.platform->blueprint, blueprint.document,
                         [&](const std::vector<std::string>& path, const yaml::Node& definition,
                             const yaml::Node& value) {
                           const yaml::Node target = definition.get(kReads);
                           if (!target.is_string() || !value.is_string()) return;
                           named.push_back({path, value, definition.get(kReadsText).as_boolean()});
                           named.back().target.back() = target.as_string();
                         });
  if (named.empty()) return;
  yaml::Node document = blueprint.document;
  for (const auto& [target, path, text] : named) {
    const auto part =
        text ? read_text(path, files, context) : read_part(path, files, knowledge, context);
    if (part) document = yaml::with_value(document, target, *part, context.arena);
  }
  blueprint::hide_secrets(*blueprint.platform->blueprint, document, context.sources);
  blueprint.document = document;
  blueprint.metadata = document.get("metadata");
  blueprint.spec = document.get("spec");
}

// Lock, facts and extra manifests of one blueprint.
class Loading {
 public:
  Loading(const Opened& opened, const Request& request, InputFiles& files, yaml::Context context,
          Loaded& out)
      : blueprint_(opened.blueprint),
        request_(request),
        files_(files),
        context_(context),
        out_(out) {}

  bool lock() {
    if (!request_.earlier) return true;
    const std::string path = in_output(plan::kLockFile);
    std::optional<std::string> text = request_.earlier(path);
    if (!text) return true;
    const auto& [sources, arena, sink] = context_;
    const diag::FileId file = sources.add_file(path, std::move(*text));
    out_.old_lock = plan::read_lock(file, blueprint_.name, kVersion, context_);
    if (!out_.old_lock) return false;
    out_.earlier.choices = plan::kept_choices(*out_.old_lock, arena);
    committed();
    return true;
  }

  // The releases of the clusters that this one is to be like.
  bool adopt(const Compiled& compiled) {
    const auto found = request_.like.find(blueprint_.stage + "/" + blueprint_.name);
    if (found == request_.like.end()) return true;
    std::optional<Adopted> adopted =
        releases_of(found->second, out_.lock(), compiled, request_, blueprint_, context_);
    if (!adopted) return false;
    out_.earlier.adopted = adopted->choices;
    out_.adopted = std::move(adopted->from);
    return true;
  }

  // --facts, or the target repository, then beside the blueprint.
  bool facts() {
    out_.facts = context_.arena.map(std::span<const yaml::Entry>());
    const bool good = request_.facts_file.empty() ? found_facts() : given_facts();
    // By content, so that it does not matter where the facts were found.
    return good;
  }

  void extra_manifests() {
    for (const yaml::Node& item : blueprint_.spec.get("extraManifests").items()) {
      const yaml::Node path = item.get("path");
      const auto file = files_.read_beside(path, render::kExtraManifest);
      if (!file && files_.exhausted()) return;
      if (file) extra_manifest(path, *file, item.get("layer").as_string());
    }
  }

 private:
  void committed() {
    for (const auto& [path, locked] : out_.old_lock->files) {
      out_.committed.files.push_back({path, locked.made_by, locked.pool, locked.leaving});
    }
    out_.committed.read = [earlier = request_.earlier, directory = in_output("")](
                              const std::string& path) { return earlier(directory + path); };
    out_.committed.go_on = request_.go_on;
  }

  std::string in_output(std::string_view file) const {
    return "clusters/" + blueprint_.stage + "/" + blueprint_.name + "/" + std::string(file);
  }

  // A facts file; nothing when it cannot be used (reported).
  std::optional<yaml::Node> parse_facts(const std::string& name, std::string text,
                                        diag::Sink& sink) const {
    return blueprint::load_facts(files_.add(name, std::move(text)), blueprint_,
                                 context_.into(sink));
  }

  // The facts in the output say which cluster stands there. Those that cannot be read are to be
  // replaced, whatever they were.
  bool keeps_identity(const yaml::Node& facts) const {
    if (!request_.earlier || request_.replace_facts) return true;
    const std::string path = in_output(kFactsFile);
    std::optional<std::string> text = request_.earlier(path);
    if (!text) return true;
    diag::Sink unread;
    const std::optional<yaml::Node> before = parse_facts(path, std::move(*text), unread);
    if (before) blueprint::check_identity(*before, facts, path, blueprint_, context_.sink);
    return !context_.sink.has_errors();
  }

  bool given_facts() {
    std::optional<std::string> text = files_.read(request_.facts_file);
    if (!text) return false;
    files_.inputs.facts = base::sha256_hex(*text);
    const auto given = parse_facts(request_.facts_file, std::move(*text), context_.sink);
    if (!given || !keeps_identity(*given)) return false;
    out_.facts = *given;
    return true;
  }

  bool found_facts() {
    std::optional<yaml::Node> found;
    const std::string path = in_output(kFactsFile);
    if (std::optional<std::string> text =
            request_.earlier ? request_.earlier(path) : std::nullopt) {
      found = parse_facts(path, std::move(*text), context_.sink);
      if (!found) return false;
    }
    const std::string name = files_.facts_beside();
    InputFiles::Content content = files_.content(name);
    const auto* error = std::get_if<base::FileError>(&content);
    if (error != nullptr && error->code != ENOENT && error->code != ENAMETOOLONG) {
      context_.sink
          .error(kUnreadable, diag::kNoOrigin, "cannot read `" + name + "`: " + error->text)
          .suggest("the facts beside a blueprint are optional: mend the file, or move it away");
      return false;
    }
    if (auto* text = std::get_if<std::string>(&content)) {
      files_.inputs.facts_beside = base::sha256_hex(*text);
      const auto beside = parse_facts(name, std::move(*text), context_.sink);
      if (!beside) return false;
      if (found && !yaml::equal(*found, *beside)) {
        context_.sink
            .warning(kFactsDiffer, beside->origin(),
                     "these facts differ from `" + path + "`, which wins")
            .suggest("to replace the facts of the cluster, give `--facts " + name + "`");
      }
      if (!found) found = beside;
    }
    if (found) out_.facts = *found;
    return true;
  }

  void extra_manifest(const yaml::Node& path, diag::FileId file, std::string_view layer) {
    const auto& [sources, arena, sink] = context_;
    const std::string name(sources.file_name(file));
    const std::optional<std::vector<yaml::Node>> documents =
        yaml::read_all(file, sources, arena, sink);
    if (!documents) return;
    if (documents->empty()) {
      sink.error(render::kExtraManifest, path.origin(), "`" + name + "` holds no manifest");
    }
    for (const yaml::Node& document : *documents) {
      out_.guard.check_input(document, secrets::subject_of(document), sources, out_.betrayed);
      if (!document.get("kind").is_string() || !document.get("apiVersion").is_string() ||
          !document.get({"metadata", "name"}).is_string()) {
        sink.error(render::kExtraManifest, document.origin(),
                   "this extra manifest is no Kubernetes object")
            .expect("apiVersion, kind and metadata.name");
      }
    }
    out_.extra.push_back({std::string(layer), name, *documents});
  }

  const blueprint::Blueprint& blueprint_;
  const Request& request_;
  InputFiles& files_;
  yaml::Context context_;
  Loaded& out_;
};

}  // namespace

std::string digest_of(const std::vector<yaml::Node>& layers) {
  std::string content;
  for (const yaml::Node& layer : layers) yaml::pack_content(content, layer);
  return base::sha256_hex(content);
}

std::optional<std::vector<yaml::Node>> layers_of(const Member& member, InputFiles& files,
                                                 yaml::Context context) {
  std::optional<std::vector<yaml::Node>> layers = member.layers(context);
  if (!layers) return std::nullopt;
  files.inputs.blueprint = digest_of(*layers);
  files.inputs.places = member.places;
  return layers;
}

std::optional<std::vector<yaml::Node>> read_layers(std::string text, InputFiles& files,
                                                   yaml::Context context) {
  files.inputs.blueprint = base::sha256_hex(text);
  const diag::FileId file = files.add(files.inputs.blueprint_file, std::move(text));
  const blueprint::ReadBase read_base = [&](const std::string& name, const yaml::Node& path) {
    return files.read_base(name, path);
  };
  return blueprint::read_layers(file, read_base, context);
}

std::optional<Opened> open(std::vector<yaml::Node> layers, InputFiles& files, Knowledge& knowledge,
                           yaml::Context context) {
  const Compiled* compiled = nullptr;
  const blueprint::FindPlatform find = [&](const std::string& name, diag::Origin asked_at,
                                           diag::Sink& to) {
    const base::StageScope loading(base::Stage::knowledge);
    compiled = knowledge.platform(name, asked_at, to);
    return compiled == nullptr ? nullptr : compiled->platform;
  };
  diag::Sink found;
  std::optional<blueprint::Blueprint> read =
      blueprint::load(std::move(layers), files.directory(), find, context.into(found));
  if (!read && compiled != nullptr) {
    found = fields::with_what_is_meant(found, *compiled->platform, knowledge.library());
  }
  context.sink.take(std::move(found));
  if (!read) return std::nullopt;
  Opened out{compiled, std::move(*read)};
  if (context.sink.has_errors()) return out;
  check_ignore(out.blueprint.spec.get("ignore"), *out.blueprint.platform, knowledge, context.sink);
  load_parts(out.blueprint, files, knowledge, context);
  return out;
}

std::optional<Loaded> load(const Opened& opened, const Request& request, InputFiles& files,
                           Knowledge& knowledge, yaml::Context context) {
  Loaded out{.old_lock = {},
             .earlier = {},
             .facts = {},
             .extra = {},
             .committed = {},
             .guard = secrets::Guard(knowledge.secret_rules(), request.clean),
             .betrayed = {}};
  out.earlier.again = request.choose_again;
  out.earlier.retired = request.retired;
  const base::StageScope reading(base::Stage::blueprint);
  Loading loading(opened, request, files, context, out);
  if (!loading.lock() || !loading.adopt(*opened.compiled) || !loading.facts()) {
    return std::nullopt;
  }
  if (out.old_lock) {
    out.earlier.names = out.old_lock->names;
    plan::leave_out_names(out.earlier.names, out.facts.get("usedNames"));
  }
  const blueprint::Blueprint& blueprint = opened.blueprint;
  out.guard.allow(blueprint.spec.get({"secretScan", "allow"}));
  {
    const base::StageScope searching(base::Stage::secrets);
    out.guard.check_input(blueprint.document, "", context.sources, out.betrayed);
    // What is laid over in one cluster stands in the others.
    for (const yaml::Node& layer : blueprint.layers) {
      out.guard.check_input(layer, "", context.sources, out.betrayed);
    }
    out.guard.check_input(out.facts, "facts:", context.sources, out.betrayed);
  }
  loading.extra_manifests();
  return out;
}

}  // namespace gpuctl::pipeline
