#include <memory>

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
      .note("files are replaced one by one; none is half-written");
}

// Writes the changes of all clusters below the output directory.
bool write_tree(const RenderOptions& options, std::vector<Result>& results, base::OutputTree& tree,
                Report& report) {
  plan::Present present;
  std::optional<base::FileError> failure;
  const auto look = [&](const std::string& path) -> std::optional<std::string> {
    auto seen = tree.look(path, kMostPresentBytes);
    if (auto* error = std::get_if<base::FileError>(&seen)) {
      failure = *error;
      return std::nullopt;
    }
    auto& found = std::get<base::OutputTree::Seen>(seen);
    if (found.kind != base::OutputTree::Seen::Kind::file) return std::nullopt;
    return std::move(found.content);
  };
  struct Work {
    const Result* result;
    std::vector<plan::Change> changes;
  };
  std::vector<Work> work;
  diag::Sink sink;
  for (const Result& result : results) {
    const std::string prefix = result.files.directory + "/";
    present.read = [&](const std::string& path) { return look(prefix + path); };
    present.same = [&](const std::string& path, const std::string& content) {
      return look(prefix + path) == content;
    };
    work.push_back(
        {&result, plan::compare(result.files, result.old_lock ? &*result.old_lock : nullptr,
                                present, result.rendered.withheld, {options.take_over}, sink)});
    plan::warn_removals(work.back().changes, result.files.directory, present,
                        *result.blueprint->platform, sink);
  }
  if (failure) unwritable(*failure, sink);
  if (!sink.has_errors()) {
    for (const Work& item : work) {
      for (const plan::Change& change : item.changes) {
        const std::string path = item.result->files.directory + "/" + change.path;
        const std::optional<base::FileError> error =
            change.kind == plan::Change::Kind::remove
                ? tree.remove(path)
                : tree.write(path, item.result->files.files.at(change.path));
        if (error) {
          unwritable(*error, sink);
          break;
        }
      }
      if (sink.has_errors()) break;
      report.say(item.result->blueprint->stage + "/" + item.result->blueprint->name + ": " +
                 plan::summary(item.changes) + " below " + options.output + "/" +
                 item.result->files.directory);
    }
  }
  report.show(sink, diag::Sources());
  return !sink.has_errors();
}

bool write_secrets(const RenderOptions& options, const std::vector<Result>& results,
                   Report& report) {
  diag::Sink sink;
  auto opened = base::OutputTree::open(options.install_dir, {.secret = true});
  if (auto* error = std::get_if<base::FileError>(&opened)) {
    unwritable(*error, sink);
  } else {
    auto& tree = std::get<base::OutputTree>(opened);
    for (const Result& result : results) {
      for (const SecretFile& file : result.secret_files) {
        if (const auto failed = tree.write(file.path, file.content)) {
          unwritable(*failed, sink);
        } else {
          report.say("wrote " + options.install_dir + "/" + file.path +
                     " with its secrets: keep it out of Git");
        }
      }
    }
  }
  report.show(sink, diag::Sources());
  return !sink.has_errors();
}

bool print_documents(const std::vector<Result>& results) {
  std::string out;
  for (const Result& result : results) {
    for (const auto& [path, content] : result.files.files) {
      out += "---\n# " + result.files.directory + "/" + path + "\n" + content;
    }
  }
  return print(out);
}

int run_render(const RenderOptions& options, const GlobalOptions& global) {
  Report report(global);
  diag::Sink sink;
  Knowledge& knowledge = open_knowledge(global, sink);
  report.show(sink, knowledge.library().sources());
  if (sink.has_errors()) return kFindings;
  std::optional<Request> request = make_request(options.inputs, report);
  if (!request) return kFindings;
  request->install_dir = options.install_dir;
  std::optional<base::OutputTree> tree;
  std::mutex one_at_a_time;
  if (!options.output.empty()) {
    auto opened = base::OutputTree::open(options.output);
    if (auto* error = std::get_if<base::FileError>(&opened)) {
      unwritable(*error, sink);
      report.show(sink, diag::Sources());
      return kFindings;
    }
    tree = std::move(std::get<base::OutputTree>(opened));
    request->earlier = [&](const std::string& path) -> std::optional<std::string> {
      const std::lock_guard<std::mutex> guard(one_at_a_time);
      auto seen = tree->look(path, kMostPresentBytes);
      auto* found = std::get_if<base::OutputTree::Seen>(&seen);
      if (found == nullptr || found->kind != base::OutputTree::Seen::Kind::file)
        return std::nullopt;
      return std::move(found->content);
    };
  }
  std::vector<Result> results =
      run_all(options.inputs.blueprints, *request, knowledge, thread_count(options.inputs.jobs));
  bool good = show_results(results, options.inputs.strict, report);
  show_withheld(results, report);
  if (good && tree) good = write_tree(options, results, *tree, report);
  if (good && options.to_stdout) good = print_documents(results);
  if (good && !options.install_dir.empty()) good = write_secrets(options, results, report);
  return good ? kOk : kFindings;
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
