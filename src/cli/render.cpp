#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "base/output_tree.hpp"
#include "cli/codes.hpp"
#include "cli/command.hpp"

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
// finding, so that it is known before the first file is written. For several threads.
class Existing {
 public:
  explicit Existing(base::OutputTree& tree) : tree_(tree) {}

  std::optional<std::string> read(const std::string& path) {
    using Seen = base::OutputTree::Seen;
    const std::lock_guard<std::mutex> guard(one_at_a_time_);
    auto looked = tree_.look(path, kMostPresentBytes);
    if (const auto* error = std::get_if<base::FileError>(&looked)) {
      in_the_way_[path] = error->text;
      return std::nullopt;
    }
    auto& seen = std::get<Seen>(looked);
    if (seen.kind == Seen::Kind::other) in_the_way_[path] = seen.reason;
    if (seen.kind != Seen::Kind::file) return std::nullopt;
    return std::move(seen.content);
  }

  void report(const std::string& root, diag::Sink& sink) {
    for (const auto& [path, reason] : in_the_way_) {
      sink.error(kUnwritable, diag::kNoOrigin,
                 "`" + path + "` below `" + root + "` is in the way: it " + reason)
          .note("nothing was changed")
          .suggest("move it away, or choose another output directory");
    }
    in_the_way_.clear();
  }

 private:
  base::OutputTree& tree_;
  std::mutex one_at_a_time_;
  std::map<std::string, std::string> in_the_way_;
};

// The changes of one cluster.
struct Work {
  const Result* result;
  std::vector<plan::Change> changes;
};

std::vector<Work> compare(const RenderOptions& options, const std::vector<Result>& results,
                          Existing& existing, diag::Sink& sink) {
  std::vector<Work> work;
  for (const Result& result : results) {
    const std::string prefix = result.files.directory + "/";
    plan::Present present;
    present.read = [&](const std::string& path) { return existing.read(prefix + path); };
    present.same = [&](const std::string& path, const std::string& content) {
      return existing.read(prefix + path) == content;
    };
    work.push_back(
        {&result, plan::compare(result.files, result.old_lock ? &*result.old_lock : nullptr,
                                present, result.rendered.withheld, {options.take_over}, sink)});
    plan::warn_removals(work.back().changes, result.files.directory, present,
                        *result.blueprint->platform, sink);
  }
  existing.report(options.output, sink);
  return work;
}

std::optional<base::FileError> stage(const std::vector<Work>& work, base::OutputTree& tree) {
  for (const Work& item : work) {
    for (const plan::Change& change : item.changes) {
      const std::string path = item.result->files.directory + "/" + change.path;
      auto error = change.kind == plan::Change::Kind::remove
                       ? tree.stage_removal(path)
                       : tree.stage(path, item.result->files.files.at(change.path));
      if (error) return error;
    }
  }
  return std::nullopt;
}

std::optional<base::FileError> stage_secrets(const std::vector<Result>& results,
                                             base::OutputTree& tree) {
  for (const Result& result : results) {
    for (const SecretFile& file : result.secret_files) {
      if (auto error = tree.stage(file.path, file.content)) return error;
    }
  }
  return std::nullopt;
}

// The two places that files may go to; absent when not asked for.
struct Targets {
  std::optional<base::OutputTree> output;
  std::optional<base::OutputTree> install;
};

std::optional<base::OutputTree> open_target(const std::string& directory,
                                            base::OutputOptions options, diag::Sink& sink) {
  if (directory.empty()) return std::nullopt;
  auto opened = base::OutputTree::open(directory, options);
  if (const auto* error = std::get_if<base::FileError>(&opened)) {
    unwritable(*error, sink);
    return std::nullopt;
  }
  return std::move(std::get<base::OutputTree>(opened));
}

// Writes to all places, or changes none.
bool write(const std::vector<Work>& work, const std::vector<Result>& results, Targets& targets,
           diag::Sink& sink) {
  std::optional<base::FileError> error;
  if (targets.output) error = stage(work, *targets.output);
  if (!error && targets.install) error = stage_secrets(results, *targets.install);
  if (!error && targets.install) error = targets.install->publish();
  if (!error && targets.output) error = targets.output->publish();
  for (std::optional<base::OutputTree>* tree : {&targets.output, &targets.install}) {
    if (!*tree) continue;
    if (error) {
      (*tree)->discard();
    } else if (const auto left = (*tree)->keep()) {
      sink.error(kUnwritable, diag::kNoOrigin, "`" + left->path + "`: " + left->text);
    }
  }
  if (error) unwritable(*error, sink);
  return !sink.has_errors();
}

void say_written(const RenderOptions& options, const std::vector<Work>& work,
                 const std::vector<Result>& results, const Report& report) {
  for (const Work& item : work) {
    report.say(item.result->blueprint->stage + "/" + item.result->blueprint->name + ": " +
               plan::summary(item.changes) + " below " + shown(options.output) + "/" +
               item.result->files.directory);
  }
  for (const Result& result : results) {
    for (const SecretFile& file : result.secret_files) {
      report.say("wrote " + shown(options.install_dir) + "/" + file.path +
                 " with its secrets: keep it out of Git");
    }
  }
}

bool print_documents(const std::vector<Result>& results, const GlobalOptions& global) {
  std::string out;
  for (const Result& result : results) {
    for (const auto& [path, content] : result.files.files) {
      out += "---\n# " + result.files.directory + "/" + path + "\n" + content;
    }
  }
  return print(out, global);
}

int run_render(const RenderOptions& options, const GlobalOptions& global) {
  Report report(global);
  Knowledge* knowledge = open_knowledge(global, report);
  if (knowledge == nullptr) return kFindings;
  std::optional<Request> request = make_request(options.inputs, report);
  if (!request) return kFindings;
  request->install_dir = options.install_dir;
  diag::Sink writing;
  Targets targets{open_target(options.output, {}, writing),
                  open_target(options.install_dir, {.secret = true}, writing)};
  std::optional<Existing> existing;
  if (targets.output) {
    existing.emplace(*targets.output);
    request->earlier = [&](const std::string& path) { return existing->read(path); };
  }
  std::vector<Result> results;
  std::vector<Work> work;
  bool good = !writing.has_errors();
  if (good) {
    results =
        run_all(options.inputs.blueprints, *request, *knowledge, thread_count(options.inputs.jobs));
    good = show_results(results, options.inputs.strict, report);
    show_withheld(results, report);
    if (existing) existing->report(options.output, writing);
    good = good && !writing.has_errors();
  }
  if (good && existing) {
    work = compare(options, results, *existing, writing);
    good = !writing.has_errors() && !(options.inputs.strict && writing.has_warnings());
  }
  good = good && write(work, results, targets, writing);
  report.show(writing, diag::Sources());
  if (!good) return kFindings;
  say_written(options, work, results, report);
  if (options.to_stdout && !print_documents(results, global)) return kFindings;
  return kOk;
}

}  // namespace

void add_render(CLI::App& app, const GlobalOptions& global, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("render", "Write the manifests of blueprints to a directory");
  auto options = std::make_shared<RenderOptions>();
  options->inputs.add_to(*command);
  auto* output = command
                     ->add_option("-o,--output", options->output,
                                  "Directory; manifests go to DIR/clusters/STAGE/NAME")
                     ->type_name("DIR");
  auto* to_stdout =
      command->add_flag("--stdout", options->to_stdout, "One YAML stream on standard output");
  output->excludes(to_stdout);
  command
      ->add_option("--install-dir", options->install_dir,
                   "Also write DIR/NAME/install-config.yaml with the secrets in place (directory "
                   "0700, file 0600)")
      ->type_name("DIR");
  command->add_flag("--take-over", options->take_over,
                    "Overwrite files that were edited by hand or are not ours");
  command->footer(
      "Nothing is written when a blueprint has an error. Files that gpuctl does not manage, or\n"
      "that were edited since, are never overwritten without --take-over.\n\n"
      "Example:\n"
      "  gpuctl render cluster.yaml -o out\n"
      "  gpuctl render cluster.yaml --stdout | less\n");
  command->callback([options, &global, &exit_code] {
    if (options->output.empty() && !options->to_stdout && options->install_dir.empty()) {
      throw CLI::ValidationError("render", "say where to: -o DIR or --stdout");
    }
    exit_code = run_render(*options, global);
  });
}

}  // namespace gpuctl::cli
