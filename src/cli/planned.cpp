#include "cli/planned.hpp"

#include "cli/commit_message.hpp"
#include "git/patch.hpp"
#include "pipeline/effects_of.hpp"
#include "yaml/emit.hpp"

namespace gpuctl::cli {
namespace {

// What tells this cluster from all others.
std::vector<std::string> own_names(const Result& result) {
  const blueprint::Blueprint& blueprint = result.opened->blueprint;
  std::vector<std::string> out = {blueprint.name};
  schema::for_each_value(
      *blueprint.platform->facts, result.loaded->facts,
      [&](const std::vector<std::string>&, const yaml::Node& definition, const yaml::Node& value) {
        if (definition.get("x-gpuctl-identity").as_boolean() && value.is_string()) {
          out.emplace_back(value.as_string());
        }
      });
  return out;
}

// What the changes do to the cluster, and how much of that is allowed.
void assess(const Result& result, const plan::Present& present, const ApplyOptions& options,
            Planned& planned) {
  effects::ClusterChange& out = planned.effects;
  out.cluster = planned.cluster;
  out.files = plan::summary(planned.changes);
  out.changed = !planned.changes.empty();
  out.first = result.loaded->lock() == nullptr;
  out.own_names = own_names(result);
  out.choices = moved(planned);
  if (!out.changed || out.first) return;
  out.assessment = pipeline::effects_of(result, present.read);
  planned.limit = limit_of(result, options);
}

void describe_choices(const Result& result, Planned& planned) {
  yaml::Arena arena;
  if (result.loaded->old_lock) {
    for (const auto& [path, names] : result.loaded->old_lock->names) {
      for (const auto& [name, used] : names) planned.names.push_back(name);
    }
  }
  const yaml::Node before =
      result.loaded->old_lock ? plan::kept_choices(*result.loaded->old_lock, arena) : yaml::Node();
  for (const derive::Choice& choice : result.derived->choices) {
    planned.choices.push_back(choice.path);
    const yaml::Node* old = before.find(choice.path);
    if (old == nullptr || yaml::equal(*old, choice.value)) continue;
    const auto adopted = result.loaded->adopted.find(choice.path);
    planned.moves.push_back(
        {choice.path, yaml::emit_json(*old), yaml::emit_json(choice.value),
         adopted == result.loaded->adopted.end() ? choice.because : "as in " + adopted->second});
  }
}

// The changed files as a patch that `git apply` takes.
std::string patch_of(const Result& result, const plan::Present& present,
                     const std::vector<plan::Change>& changes) {
  const plan::ClusterFiles& files = result.output->files;
  std::string out;
  for (const plan::Change& change : changes) {
    std::optional<std::string> before;
    std::optional<std::string> after;
    if (change.kind != plan::Change::Kind::create) before = present.read(change.path);
    if (change.kind != plan::Change::Kind::remove) after = files.files.at(change.path);
    out += git::patch(files.directory + "/" + change.path, before, after);
  }
  return out;
}

void collect_writes(Result& result, bool is_new, git::NewObjects* objects, Planned& planned) {
  const std::string& directory = result.output->files.directory;
  if (objects != nullptr && is_new) {
    planned.writes.push_back({.path = directory,
                              .stored = objects->add_directory(result.output->files.files),
                              .directory = true});
    return;
  }
  for (const plan::Change& change : planned.changes) {
    git::Change write{.path = directory + "/" + change.path};
    if (change.kind != plan::Change::Kind::remove) {
      std::string& content = result.output->files.files.at(change.path);
      if (objects != nullptr) {
        write.stored = objects->add_blob(content);
      } else {
        write.content = std::move(content);
      }
    }
    planned.writes.push_back(std::move(write));
  }
}

}  // namespace

Planned plan_cluster(Result& result, const Base& base, const ApplyOptions& options,
                     git::NewObjects* objects) {
  Planned planned;
  planned.cluster = result.cluster();
  planned.branch = result.opened->blueprint.spec.get({"gitops", "branch"}).as_string();
  const std::string& directory = result.output->files.directory;
  const std::string prefix = directory + "/";
  const std::map<std::string, std::string> blobs = base.list(directory, planned.findings);
  plan::Present present;
  present.same = [&](const std::string& path, const std::string& content) {
    const auto found = blobs.find(prefix + path);
    return found != blobs.end() && found->second == git::Repository::blob_id(content);
  };
  present.read = [&](const std::string& path) -> std::optional<std::string> {
    if (!blobs.contains(prefix + path)) return std::nullopt;
    return base.read(prefix + path, planned.findings);
  };
  planned.changes =
      plan::compare(result.output->files, result.loaded->lock(), present,
                    result.rendered().withheld, {options.take_over}, planned.findings);
  plan::report_removals(planned.changes, result.rendered(), result.loaded->lock(), directory,
                        present, *result.opened->blueprint.platform, planned.findings);
  result.leave_out_ignored(planned.findings);
  if (planned.findings.has_errors()) return planned;
  planned.files = result.output->files.files.size();
  for (const render::Document& document : result.rendered().documents) {
    if (document.leaving) planned.leaving.push_back(document.path);
  }
  planned.inputs = result.inputs;
  planned.exceptions = result.loaded->guard.used();
  if (options.output == "diff") {
    planned.patch = patch_of(result, present, planned.changes);
    return planned;
  }
  describe_choices(result, planned);
  assess(result, present, options, planned);
  collect_writes(result, blobs.empty(), objects, planned);
  return planned;
}

}  // namespace gpuctl::cli
