#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/new_directory.hpp"
#include "base/output_tree.hpp"
#include "base/stages.hpp"
#include "cli/batch.hpp"
#include "cli/codes.hpp"
#include "cli/command.hpp"
#include "cli/fleets.hpp"

namespace gpuctl::cli {

namespace {

constexpr std::size_t kMostPresentBytes = 16 * 1024 * 1024;

struct RenderOptions {
  BlueprintOptions inputs;
  std::string output;
  std::string install_dir;
  bool to_stdout = false;
  bool take_over = false;
};

void unwritable(const base::FileError& error, diag::Sink& sink) {
  sink.error(kUnwritable, diag::kNoOrigin, "cannot write `" + error.path + "`: " + error.text)
      .note("nothing was changed");
}

// What stands in the output directory. Whatever is neither absent nor a file we can read is a
// finding, so that it is known before the first file gets its name. For several threads.
class Existing {
 public:
  explicit Existing(base::OutputTree& tree) : tree_(tree) {}

  // What is in the way of locks and facts, which are read first, makes all comparisons worthless.
  std::optional<std::string> read_input(const std::string& path) {
    return read(path, inputs_in_the_way_);
  }
  std::optional<std::string> read(const std::string& path) { return read(path, in_the_way_); }

  // True when nothing is there, so that nothing below it needs to be looked for.
  bool is_absent(const std::string& directory) {
    const std::lock_guard<std::mutex> guard(one_at_a_time_);
    const auto looked = tree_.look(directory, 0);
    const auto* seen = std::get_if<base::OutputTree::Seen>(&looked);
    return seen != nullptr && seen->kind == base::OutputTree::Seen::Kind::absent;
  }

  // True when something has been found in the way.
  bool blocked() {
    const std::lock_guard<std::mutex> guard(one_at_a_time_);
    return !inputs_in_the_way_.empty() || !in_the_way_.empty();
  }

  void report_inputs(const std::string& root, diag::Sink& sink) const {
    report(root, inputs_in_the_way_, sink);
  }
  void report(const std::string& root, diag::Sink& sink) const { report(root, in_the_way_, sink); }

  std::mutex& mutex() { return one_at_a_time_; }

 private:
  using Reasons = std::map<std::string, std::string>;

  std::optional<std::string> read(const std::string& path, Reasons& in_the_way) {
    using Seen = base::OutputTree::Seen;
    const std::lock_guard<std::mutex> guard(one_at_a_time_);
    auto looked = tree_.look(path, kMostPresentBytes);
    if (const auto* error = std::get_if<base::FileError>(&looked)) {
      in_the_way[path] = error->text;
      return std::nullopt;
    }
    auto& seen = std::get<Seen>(looked);
    if (seen.kind == Seen::Kind::other) in_the_way[path] = seen.reason;
    if (seen.kind != Seen::Kind::file) return std::nullopt;
    return std::move(seen.content);
  }

  static void report(const std::string& root, const Reasons& in_the_way, diag::Sink& sink) {
    for (const auto& [path, reason] : in_the_way) {
      sink.error(kUnwritable, diag::kNoOrigin,
                 "`" + path + "` below `" + root + "` is in the way: it " + reason)
          .note("nothing was changed")
          .suggest("move it away, or choose another output directory");
    }
  }

  base::OutputTree& tree_;
  std::mutex one_at_a_time_;
  Reasons inputs_in_the_way_;
  Reasons in_the_way_;
};

// The two places that files may go to; absent when not asked for.
struct Targets {
  std::optional<base::OutputTree> output;
  std::optional<base::OutputTree> install;
};

std::optional<base::OutputTree> open_target(const std::string& directory,
                                            base::OutputOptions options, diag::Sink& sink) {
  if (directory.empty()) return std::nullopt;
  auto opened = base::OutputTree::open(directory, std::move(options));
  if (const auto* error = std::get_if<base::FileError>(&opened)) {
    unwritable(*error, sink);
    return std::nullopt;
  }
  return std::move(std::get<base::OutputTree>(opened));
}

// What one cluster leaves behind once its files are staged.
struct Work {
  std::string written;  // what is said of it
  std::vector<std::string> secrets;
  std::string documents;  // for --stdout
  yaml::Node result;      // for programs
  diag::Sink findings;    // of the comparison with what is there
};

// Compares each cluster with what is there and stages its files, while it is in memory.
class Rendering {
 public:
  Rendering(const RenderOptions& options, Targets& targets, std::optional<Existing>& existing,
            ResultDocument& document)
      : options_(options),
        document_(document),
        targets_(targets),
        existing_(existing),
        work_(options.inputs.blueprints.size()) {}

  void consume(std::size_t index, Result& result) {
    const base::StageScope scope(base::Stage::write);
    Work& work = work_[index];
    work = {};
    if (result.sink.has_errors()) failed_ = true;
    // One faulty blueprint and nothing is written: go on finding faults, but write no more.
    if (failed_) return;
    if (options_.to_stdout) work.documents = documents_of(result);
    if (document_.wanted()) record(result, work);
    if (existing_) stage(result, work);
    if (targets_.install) stage_secrets(result, work);
    if (work.findings.has_errors()) failed_ = true;
  }

  std::vector<Work>& work() { return work_; }
  const std::optional<base::FileError>& error() const { return error_; }

 private:
  static std::string documents_of(const Result& result) {
    std::string out;
    for (const auto& [path, content] : result.output->files.files) {
      out += "---\n# " + result.output->files.directory + "/" + path + "\n" + content;
    }
    return out;
  }

  // What is known of a cluster without the directory that it is written to.
  void record(const Result& result, Work& work) {
    const std::lock_guard<std::mutex> guard(documents_);
    yaml::Arena& arena = document_.arena();
    yaml::MapBuilder out;
    set_cluster(result.cluster(), out, arena);
    if (options_.to_stdout) {
      std::vector<yaml::Node> files;
      for (const auto& [path, content] : result.output->files.files) {
        yaml::MapBuilder file;
        file.set(arena, "path", arena.string(result.output->files.directory + "/" + path));
        file.set(arena, "content", arena.string(content));
        files.push_back(file.build(arena));
      }
      out.set(arena, "files", arena.list(files));
    }
    if (targets_.install) {
      std::vector<std::string> secrets;
      for (const pipeline::SecretFile& file : result.output->secret_files) {
        secrets.push_back(file.path);
      }
      out.set(arena, "secretFiles", texts(secrets, arena));
    }
    work.result = out.build(arena);
  }

  void record_changes(const Result& result, const std::vector<plan::Change>& changes, Work& work) {
    const std::lock_guard<std::mutex> guard(documents_);
    yaml::MapBuilder out(work.result);
    set_changes(changes, result.output->files.directory, result.output->files.files.size(), out,
                document_.arena());
    work.result = out.build(document_.arena());
  }

  void stage(Result& result, Work& work) {
    const std::string& directory = result.output->files.directory;
    const bool absent = existing_->is_absent(directory);
    plan::Present present;
    present.read = [&](const std::string& path) -> std::optional<std::string> {
      if (absent) return std::nullopt;
      return existing_->read(directory + "/" + path);
    };
    present.same = [&](const std::string& path, const std::string& content) {
      return present.read(path) == content;
    };
    std::vector<plan::Change> changes =
        plan::compare(result.output->files, result.loaded->lock(), present,
                      result.rendered().withheld, {options_.take_over}, work.findings);
    plan::report_removals(changes, result.rendered(), result.loaded->lock(), directory, present,
                          *result.opened->blueprint.platform, work.findings);
    result.leave_out_ignored(work.findings);
    work.written = result.cluster() + ": " + plan::summary(changes) + " below " +
                   shown(options_.output) + "/" + directory;
    if (document_.wanted()) record_changes(result, changes, work);
    if (existing_->blocked()) failed_ = true;
    if (failed_ || work.findings.has_errors()) return;
    if (!absent || !stage_directory(result)) stage_changes(result, std::move(changes));
  }

  // A new cluster: its files are written plainly and appear together. False when that cannot be.
  bool stage_directory(const Result& result) {
    base::OutputTree& tree = *targets_.output;
    auto place = [&] {
      const std::lock_guard<std::mutex> guard(existing_->mutex());
      return tree.reserve(result.output->files.directory, result.output->files.files.size());
    }();
    if (auto* error = std::get_if<base::FileError>(&place)) {
      fail(std::move(*error));
      return true;
    }
    const auto& reserved = std::get<std::optional<base::OutputTree::Reserved>>(place);
    if (!reserved) return false;
    if (auto error = base::write_directory(reserved->parent.get(), reserved->name,
                                           result.output->files.files)) {
      error->path = result.output->files.directory + (error->path.empty() ? "" : "/") + error->path;
      fail(std::move(*error));
    }
    return true;
  }

  void stage_changes(const Result& result, std::vector<plan::Change> changes) {
    const std::lock_guard<std::mutex> guard(existing_->mutex());
    // The lock goes last: what a run that dies has written is then what the next one wants, and
    // not a file that differs from the lock.
    std::stable_partition(changes.begin(), changes.end(), [](const plan::Change& change) {
      return change.path != plan::kLockFile;
    });
    for (const plan::Change& change : changes) {
      const std::string path = result.output->files.directory + "/" + change.path;
      auto error = change.kind == plan::Change::Kind::remove
                       ? targets_.output->stage_removal(path)
                       : targets_.output->stage(path, result.output->files.files.at(change.path));
      if (error) return fail(std::move(*error));
    }
  }

  void stage_secrets(const Result& result, Work& work) {
    const std::lock_guard<std::mutex> guard(secrets_);
    for (const pipeline::SecretFile& file : result.output->secret_files) {
      if (auto error = targets_.install->stage(file.path, file.content)) {
        return fail(std::move(*error));
      }
      work.secrets.push_back(file.path);
    }
  }

  void fail(base::FileError error) {
    const std::lock_guard<std::mutex> guard(errors_);
    failed_ = true;
    if (!error_) error_ = std::move(error);
  }

  const RenderOptions& options_;
  ResultDocument& document_;
  std::mutex documents_;  // guards its arena
  Targets& targets_;
  std::optional<Existing>& existing_;
  std::vector<Work> work_;
  std::atomic<bool> failed_ = false;
  std::mutex secrets_;
  std::mutex errors_;
  std::optional<base::FileError> error_;
};

// Gives all staged files their names, or takes back what was staged.
bool publish(bool good, std::optional<base::FileError> error, Targets& targets, diag::Sink& sink) {
  const base::StageScope scope(base::Stage::write);
  if (good && !error && targets.install) error = targets.install->publish();
  if (good && !error && targets.output) error = targets.output->publish();
  for (std::optional<base::OutputTree>* tree : {&targets.output, &targets.install}) {
    if (!*tree) continue;
    if (error || !good) {
      (*tree)->discard();
    } else if (const auto left = (*tree)->keep()) {
      sink.error(kUnwritable, diag::kNoOrigin, "`" + left->path + "`: " + left->text);
    }
  }
  if (good && error) unwritable(*error, sink);
  return good && !sink.has_errors();
}

void say_written(const RenderOptions& options, const std::vector<Work>& work,
                 const Report& report) {
  for (const Work& item : work) {
    if (!item.written.empty()) report.say(item.written);
  }
  for (const Work& item : work) {
    for (const std::string& path : item.secrets) {
      report.say("wrote " + shown(options.install_dir) + "/" + path +
                 " with its secrets: keep it out of Git");
    }
  }
}

// What came of the clusters; `written` when it is in its place.
void record(const std::vector<Finished>& blueprints, const std::vector<Work>& work,
            const RenderOptions& options, bool written, ResultDocument& result) {
  record_verdicts(blueprints, options.inputs.strict, result);
  std::vector<yaml::Node> clusters;
  for (const Work& one : work) {
    if (written && one.result.is_map()) clusters.push_back(one.result);
  }
  result.set_flag("written", written);
  if (!options.output.empty()) result.set("directory", shown(options.output));
  if (!options.install_dir.empty()) result.set("installDirectory", shown(options.install_dir));
  result.set("clusters", result.arena().list(clusters));
}

int run_render(RenderOptions options, const GlobalOptions& global) {
  Report report(global);
  Knowledge* knowledge = open_knowledge(global, report);
  if (knowledge == nullptr) return kFindings;
  std::optional<Request> request = make_request(options.inputs, report);
  if (!request || !expand_fleets(options.inputs, *request, *knowledge, report)) return kFindings;
  request->install_dir = options.install_dir;
  request->encrypt = !global.confined && (!options.output.empty() || options.to_stdout);
  diag::Sink writing;
  Targets targets{open_target(options.output, {}, writing),
                  open_target(options.install_dir, {.secret = true}, writing)};
  if (writing.has_errors()) {
    report.show(writing, diag::Sources());
    return kFindings;
  }
  std::optional<Existing> existing;
  if (targets.output) {
    existing.emplace(*targets.output);
    request->earlier = [&](const std::string& path) { return existing->read_input(path); };
  }
  Rendering rendering(options, targets, existing, *global.result);
  const std::vector<Finished> clusters =
      run_all(options.inputs.blueprints, *request, *knowledge, thread_count(options.inputs.jobs),
              report, [&](std::size_t index, Result& result) { rendering.consume(index, result); });
  bool good = show_all(clusters, options.inputs.strict, report);
  if (existing) existing->report_inputs(options.output, writing);
  good = good && !writing.has_errors();
  if (good && existing) {
    for (Work& work : rendering.work()) writing.take(std::move(work.findings));
    existing->report(options.output, writing);
    good = !writing.has_errors() && !(options.inputs.strict && writing.has_warnings());
  }
  good = publish(good, rendering.error(), targets, writing);
  report.show(writing, diag::Sources());
  if (global.result->wanted()) {
    record(clusters, rendering.work(), options, good, *global.result);
  }
  if (!good) return kFindings;
  say_written(options, rendering.work(), report);
  if (!options.to_stdout) return kOk;
  std::string out;
  for (const Work& work : rendering.work()) out += work.documents;
  return print(out, global) ? kOk : kFindings;
}

RunFunction set_up_render(Options& command, const GlobalOptions& global) {
  auto options = std::make_shared<RenderOptions>();
  options->inputs.add_to(command);
  options->inputs.add_target_options(command);
  command
      .add_option("-o,--output", options->output,
                  "Directory; manifests go to DIR/clusters/STAGE/NAME")
      .type_name("DIR");
  command.add_flag("--stdout", options->to_stdout, "One YAML stream on standard output")
      .excludes("--output");
  command
      .add_option("--install-dir", options->install_dir,
                  "Also write to DIR/NAME what holds secrets, such as install-config.yaml with "
                  "them in place (directories 0700, files 0600)")
      .type_name("DIR");
  command.add_flag("--take-over", options->take_over,
                   "Overwrite files that were edited by hand or are not ours");
  return [options, &global] {
    if (options->output.empty() && !options->to_stdout && options->install_dir.empty()) {
      throw UsageError("render: say where to: -o DIR or --stdout");
    }
    return run_render(*options, global);
  };
}

}  // namespace

Command render_command() {
  return {
      "render", "Write the manifests of blueprints to a directory",
      "Nothing is written when a blueprint has an error. Files that gpuctl does not manage, or\n"
      "that were edited since, are never overwritten without --take-over.\n\n"
      "Example:\n"
      "  gpuctl render cluster.yaml -o out\n"
      "  gpuctl render cluster.yaml --stdout | less\n",
      set_up_render};
}

}  // namespace gpuctl::cli
