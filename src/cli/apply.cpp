#include <algorithm>
#include <memory>

#include "cli/apply_target.hpp"
#include "cli/command.hpp"
#include "plan/plan.hpp"

namespace gpuctl::cli {

namespace {

constexpr int kTimeout = 300;  // seconds

struct ApplyOptions {
  BlueprintOptions inputs;
  std::string repository;
  std::string branch;
  int timeout = kTimeout;
  bool take_over = false;
};

struct Planned {
  const Result* result = nullptr;
  std::vector<plan::Change> changes;
};

// One plan of all clusters against one commit.
class Apply {
 public:
  Apply(const ApplyOptions& options, const GlobalOptions& global, Knowledge& knowledge,
        Report& report)
      : options_(options), global_(global), knowledge_(knowledge), report_(report) {}

  int run(Request request) {
    target_ = make_target(options_.repository, options_.branch,
                          std::chrono::seconds(options_.timeout), report_);
    if (!target_) return kFindings;
    for (int attempt = 0; attempt < target_->most_tries(); ++attempt) {
      const git::CommitStatus status = attempt_once(request);
      if (status == git::CommitStatus::moved) continue;  // somebody committed: plan again on that
      return status == git::CommitStatus::failed ? kFindings : kOk;
    }
    diag::Sink moved;
    target_->report_lost(moved);
    report_.show(moved, diag::Sources());
    return kFindings;
  }

 private:
  git::CommitStatus attempt_once(Request request) {
    diag::Sink sink;
    if (!target_->look(sink)) {
      report_.show(sink, diag::Sources());
      return git::CommitStatus::failed;
    }
    const std::string start = target_->head().start;
    std::mutex one_at_a_time;
    request.earlier = [&](const std::string& path) -> std::optional<std::string> {
      if (start.empty()) return std::nullopt;
      const std::lock_guard<std::mutex> guard(one_at_a_time);
      return target_->repository()->read(start, path, sink);
    };
    const std::vector<Result> results = run_all(options_.inputs.blueprints, request, knowledge_,
                                                thread_count(options_.inputs.jobs));
    if (target_->recover(sink)) return git::CommitStatus::moved;
    if (!good(results) || sink.has_errors()) return give_up(results, sink);
    std::vector<Planned> plans;
    for (const Result& result : results) plans.push_back(plan_cluster(result, start, sink));
    if (target_->recover(sink)) return git::CommitStatus::moved;
    if (sink.has_errors() || (options_.inputs.strict && sink.has_warnings())) {
      return give_up(results, sink);
    }
    return commit(results, plans, sink);
  }

  bool good(const std::vector<Result>& results) const {
    return std::none_of(results.begin(), results.end(), [&](const Result& result) {
      return result.sink.has_errors() || (options_.inputs.strict && result.sink.has_warnings());
    });
  }

  // Once the attempt is known to be the last: the others would say the same.
  void show(const std::vector<Result>& results, const diag::Sink& sink) {
    show_results(results, options_.inputs.strict, report_);
    show_withheld(results, report_);
    report_.show(sink, diag::Sources());
  }

  git::CommitStatus give_up(const std::vector<Result>& results, const diag::Sink& sink) {
    show(results, sink);
    report_.say(target_->nothing_done());
    return git::CommitStatus::failed;
  }

  Planned plan_cluster(const Result& result, const std::string& start, diag::Sink& sink) {
    std::map<std::string, std::string> blobs;
    const std::string prefix = result.files.directory + "/";
    if (!start.empty()) blobs = target_->repository()->list(start, result.files.directory, sink);
    plan::Present present;
    present.same = [&](const std::string& path, const std::string& content) {
      const auto found = blobs.find(prefix + path);
      return found != blobs.end() && found->second == git::Repository::blob_id(content);
    };
    present.read = [&](const std::string& path) -> std::optional<std::string> {
      if (!blobs.contains(prefix + path)) return std::nullopt;
      return target_->repository()->read(start, prefix + path, sink);
    };
    Planned planned{
        &result, plan::compare(result.files, result.old_lock ? &*result.old_lock : nullptr, present,
                               result.rendered.withheld, {options_.take_over}, sink)};
    plan::warn_removals(planned.changes, result.files.directory, present,
                        *result.blueprint->platform, sink);
    return planned;
  }

  git::CommitStatus commit(const std::vector<Result>& results, const std::vector<Planned>& plans,
                           diag::Sink& sink) {
    git::CommitRequest wanted;
    wanted.branch = target_->head().branch;
    wanted.expected_parent = target_->head().tip;
    wanted.start = target_->head().start;
    for (const Planned& planned : plans) {
      for (const plan::Change& change : planned.changes) {
        git::Change entry{planned.result->files.directory + "/" + change.path, std::nullopt};
        if (change.kind != plan::Change::Kind::remove) {
          entry.content = planned.result->files.files.at(change.path);
        }
        wanted.changes.push_back(std::move(entry));
      }
    }
    std::string printed;
    for (const Planned& planned : plans) printed += describe(planned);
    if (wanted.changes.empty()) {
      show(results, sink);
      return print(printed, global_) ? git::CommitStatus::unchanged : git::CommitStatus::failed;
    }
    wanted.message = message(plans);
    const git::CommitResult made = target_->commit(std::move(wanted), sink);
    if (made.status == git::CommitStatus::moved || target_->recover(sink)) {
      return git::CommitStatus::moved;
    }
    if (made.status == git::CommitStatus::failed) return give_up(results, sink);
    show(results, sink);
    if (made.status == git::CommitStatus::committed) {
      printed += target_->done(made.id);
      if (!print(printed, global_)) return git::CommitStatus::failed;
    }
    return made.status;
  }

  static std::string cluster_name(const Planned& planned) {
    return planned.result->blueprint->stage + "/" + planned.result->blueprint->name;
  }

  static std::string describe(const Planned& planned) {
    constexpr std::size_t kMostListed = 20;
    std::string out = cluster_name(planned) + ": " + plan::summary(planned.changes) + "\n";
    if (planned.changes.size() > kMostListed) return out;
    for (const plan::Change& change : planned.changes) out += mark(change) + change.path + "\n";
    return out;
  }

  static std::string mark(const plan::Change& change) {
    switch (change.kind) {
      case plan::Change::Kind::create:
        return "  + ";
      case plan::Change::Kind::update:
        return "  ~ ";
      case plan::Change::Kind::remove:
        return "  - ";
    }
    return "";
  }

  // Subject by cluster, body with every file and its kind of change.
  static std::string message(const std::vector<Planned>& plans) {
    std::string subject;
    std::string body;
    std::size_t changed = 0;
    for (const Planned& planned : plans) {
      if (planned.changes.empty()) continue;
      ++changed;
      subject = cluster_name(planned) + ": " + plan::summary(planned.changes);
      body += "\n" + cluster_name(planned) + "\n";
      for (const plan::Change& change : planned.changes) body += mark(change) + change.path + "\n";
    }
    if (changed > 1) subject = "Apply " + std::to_string(changed) + " clusters";
    return subject + "\n" + body;
  }

  const ApplyOptions& options_;
  const GlobalOptions& global_;
  Knowledge& knowledge_;
  Report& report_;
  std::unique_ptr<Target> target_;
};

int run_apply(const ApplyOptions& options, const GlobalOptions& global) {
  Report report(global);
  Knowledge* knowledge = open_knowledge(global, report);
  if (knowledge == nullptr) return kFindings;
  const std::optional<Request> request = make_request(options.inputs, report);
  if (!request) return kFindings;
  return Apply(options, global, *knowledge, report).run(*request);
}

}  // namespace

void add_apply(CLI::App& app, const GlobalOptions& global, int& exit_code) {
  CLI::App* command = app.add_subcommand("apply", "Commit the manifests of blueprints to Git");
  auto options = std::make_shared<ApplyOptions>();
  options->inputs.add_to(*command);
  command
      ->add_option("--repo", options->repository,
                   "Git repository: a directory, created when absent, or an address "
                   "(ssh://, https://, http://, git://, file://, user@host:path) to push to")
      ->required()
      ->type_name("PATH|URL");
  command
      ->add_option("--branch", options->branch,
                   "Branch to commit to (default: the one HEAD names; `main` in a new repository); "
                   "a new one starts where HEAD is")
      ->type_name("NAME");
  command
      ->add_option("--timeout", options->timeout,
                   "Seconds that all exchanges with a server may take together")
      ->check(CLI::Range(1, 86400))
      ->capture_default_str();
  command->add_flag("--take-over", options->take_over,
                    "Overwrite files that were edited by hand or are not ours");
  command->footer(
      "All clusters go into one commit. When nothing changes, no commit is made. The branch moves\n"
      "only if it is still where the plan was made; otherwise the plan is made again.\n\n"
      "An address is fetched into a copy below ~/.cache/gpuctl, and the commit is pushed, never\n"
      "forced. The git program does that: your ssh configuration, known hosts, credential helpers\n"
      "and proxies hold, and nothing asks on the terminal. Passwords do not belong into "
      "addresses.\n\n"
      "Example:\n"
      "  gpuctl apply cluster.yaml --repo fleet\n"
      "  gpuctl apply clusters/*.yaml --repo fleet --branch gpu-pools\n"
      "  gpuctl apply cluster.yaml --repo git@git.example.com:fleet.git --branch gpu-pools\n");
  command->callback([options, &global, &exit_code] { exit_code = run_apply(*options, global); });
}

}  // namespace gpuctl::cli
