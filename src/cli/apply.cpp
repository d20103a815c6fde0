#include <algorithm>
#include <atomic>
#include <iterator>
#include <memory>
#include <mutex>
#include <set>

#include "cli/batch.hpp"
#include "cli/command.hpp"
#include "cli/unchanged.hpp"
#include "git/repository.hpp"
#include "plan/plan.hpp"

namespace gpuctl::cli {

namespace {

constexpr int kMostTries = 5;

struct ApplyOptions {
  BlueprintOptions inputs;
  std::string repository;
  std::string branch;
  bool take_over = false;
  bool full = false;
};

// What one cluster needs, once its documents are freed or their objects written.
struct Planned {
  std::string cluster;  // "stage/name"
  std::vector<plan::Change> changes;
  std::vector<git::Change> writes;
  diag::Sink findings;
  Inputs inputs;
  bool known = false;  // nothing has changed since the last run, so that this one was not made
};

// From this many clusters on objects are written as they come; fewer fit into memory.
constexpr std::size_t kStreamFrom = 16;
constexpr std::string_view kClusters = "clusters/";

// One plan of all clusters against one commit.
class Apply {
 public:
  Apply(const ApplyOptions& options, const GlobalOptions& global, Knowledge& knowledge,
        Report& report)
      : options_(options), global_(global), knowledge_(knowledge), report_(report) {}

  int run(Request request) {
    const std::string first_branch = options_.branch.empty() ? "main" : options_.branch;
    branch_ = first_branch;
    // A repository is created when there is something to commit to it, not before.
    if (!git::Repository::can_be_created(options_.repository)) {
      diag::Sink sink;
      repository_ = git::Repository::open(options_.repository, sink);
      report_.show(sink, diag::Sources());
      if (!repository_) return kFindings;
      if (options_.branch.empty()) branch_ = repository_->head_branch();
      if (branch_.empty()) branch_ = first_branch;
    }
    for (int attempt = 0; attempt < kMostTries; ++attempt) {
      const git::CommitStatus status = attempt_once(request);
      if (status == git::CommitStatus::moved) continue;  // somebody committed: plan again on that
      return status == git::CommitStatus::failed ? kFindings : kOk;
    }
    diag::Sink moved;
    git::report_moved(branch_, kMostTries, moved);
    report_.show(moved, diag::Sources());
    return kFindings;
  }

 private:
  git::CommitStatus attempt_once(Request request) {
    diag::Sink sink;
    const std::string tip = repository_ ? repository_->tip(branch_, sink) : "";
    if (sink.has_errors()) {
      report_.show(sink, diag::Sources());
      return git::CommitStatus::failed;
    }
    // A repository handle is for one thread at a time.
    std::mutex one_at_a_time;
    request.earlier = [&](const std::string& path) -> std::optional<std::string> {
      if (tip.empty()) return std::nullopt;
      const std::lock_guard<std::mutex> guard(one_at_a_time);
      return repository_->read(tip, path, sink);
    };
    std::vector<Planned> plans(options_.inputs.blueprints.size());
    std::vector<Finished> finished(plans.size());
    std::optional<Unchanged> unchanged;
    if (repository_ && !request.crds) {
      unchanged.emplace(repository_->git_directory(),
                        identity_of(knowledge_, global_.format + " " + report_.colouring() +
                                                    (options_.take_over ? " take over" : "")));
    }
    if (unchanged && !full_ && !tip.empty())
      find_unchanged(*unchanged, request, tip, plans, finished);
    std::vector<std::string> blueprints;
    std::vector<std::size_t> positions;  // of them among all
    for (std::size_t i = 0; i < plans.size(); ++i) {
      if (plans[i].known) continue;
      positions.push_back(i);
      blueprints.push_back(options_.inputs.blueprints[i]);
    }
    std::optional<git::NewObjects> objects;
    if (repository_ && repository_->is_bare() && blueprints.size() >= kStreamFrom) {
      objects = repository_->new_objects(sink);
    }
    std::atomic<bool> failed = sink.has_errors();
    const Consume consume = [&](std::size_t index, Result& result) {
      Planned& planned = plans[positions[index]];
      planned = {};
      if (result.sink.has_errors()) failed = true;
      if (!failed) plan_cluster(result, tip, one_at_a_time, objects, planned);
      if (planned.findings.has_errors()) failed = true;
    };
    std::vector<Finished> clusters = run_all(blueprints, request, knowledge_,
                                             thread_count(options_.inputs.jobs), report_, consume);
    if (holds_known(clusters, plans)) {
      full_ = true;
      return attempt_once(request);
    }
    for (std::size_t i = 0; i < clusters.size(); ++i) {
      finished[positions[i]] = std::move(clusters[i]);
    }
    const bool good = show_all(finished, options_.inputs.strict, report_) && !sink.has_errors();
    for (Planned& planned : plans) {
      if (good) sink.take(std::move(planned.findings));
    }
    if (!good || sink.has_errors() || (options_.inputs.strict && sink.has_warnings())) {
      report_.show(sink, diag::Sources());
      report_.say("nothing was committed");
      return git::CommitStatus::failed;
    }
    const git::CommitStatus status = commit(plans, tip, objects, sink);
    if (objects && status != git::CommitStatus::committed) objects->take_back();
    const bool done =
        status == git::CommitStatus::committed || status == git::CommitStatus::unchanged;
    if (unchanged && done) record_unchanged(*unchanged, plans, finished);
    return status;
  }

  // Marks the clusters that need no run. None when two blueprints are for one cluster, so that this
  // is found.
  void find_unchanged(const Unchanged& unchanged, const Request& request, const std::string& tip,
                      std::vector<Planned>& plans, std::vector<Finished>& finished) const {
    diag::Sink unread;  // a full run says what is wrong
    std::vector<std::optional<Unchanged::Known>> known;
    std::vector<std::string> directories;
    for (const std::string& blueprint : options_.inputs.blueprints) {
      known.push_back(unchanged.find(blueprint, request.facts_file));
      directories.push_back(known.back() ? known.back()->directory : std::string());
    }
    const std::vector<std::string> trees = repository_->tree_ids(tip, directories, unread);
    std::set<std::string> seen;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      if (!known[i] || trees[i] != known[i]->tree) continue;
      plans[i].cluster = known[i]->directory.substr(kClusters.size());
      plans[i].known = true;
      finished[i] = std::move(known[i]->finished);
      if (seen.insert(plans[i].cluster).second) continue;
      for (Planned& planned : plans) planned.known = false;
      return;
    }
  }

  // True when a blueprint that was run is for a cluster that was passed over: a second one.
  static bool holds_known(const std::vector<Finished>& clusters,
                          const std::vector<Planned>& plans) {
    std::set<std::string> known;
    for (const Planned& planned : plans) {
      if (planned.known) known.insert(planned.cluster);
    }
    return std::any_of(clusters.begin(), clusters.end(),
                       [&](const Finished& one) { return known.contains(one.cluster); });
  }

  void record_unchanged(Unchanged& unchanged, const std::vector<Planned>& plans,
                        const std::vector<Finished>& finished) const {
    diag::Sink unread;
    const std::string now = repository_->tip(branch_, unread);
    if (now.empty()) return;
    std::vector<std::string> directories;
    for (const Planned& planned : plans)
      directories.push_back(std::string(kClusters) + planned.cluster);
    const std::vector<std::string> trees = repository_->tree_ids(now, directories, unread);
    for (std::size_t i = 0; i < plans.size(); ++i) {
      if (plans[i].known || trees[i].empty()) continue;
      unchanged.record(plans[i].inputs, directories[i], trees[i], finished[i]);
    }
    unchanged.save();
  }

  void plan_cluster(Result& result, const std::string& tip, std::mutex& one_at_a_time,
                    std::optional<git::NewObjects>& objects, Planned& planned) {
    planned.cluster = result.blueprint->stage + "/" + result.blueprint->name;
    const std::string& directory = result.files.directory;
    const std::string prefix = directory + "/";
    std::map<std::string, std::string> blobs;
    if (!tip.empty()) {
      const std::lock_guard<std::mutex> guard(one_at_a_time);
      blobs = repository_->list(tip, directory, planned.findings);
    }
    plan::Present present;
    present.same = [&](const std::string& path, const std::string& content) {
      const auto found = blobs.find(prefix + path);
      return found != blobs.end() && found->second == git::Repository::blob_id(content);
    };
    present.read = [&](const std::string& path) -> std::optional<std::string> {
      if (!blobs.contains(prefix + path)) return std::nullopt;
      const std::lock_guard<std::mutex> guard(one_at_a_time);
      return repository_->read(tip, prefix + path, planned.findings);
    };
    planned.changes =
        plan::compare(result.files, result.old_lock ? &*result.old_lock : nullptr, present,
                      result.rendered.withheld, {options_.take_over}, planned.findings);
    plan::warn_removals(planned.changes, directory, present, *result.blueprint->platform,
                        planned.findings);
    if (planned.findings.has_errors()) return;
    planned.inputs = result.inputs;
    if (objects && blobs.empty()) {
      planned.writes.push_back({.path = directory,
                                .stored = objects->add_directory(result.files.files),
                                .directory = true});
      return;
    }
    for (const plan::Change& change : planned.changes) {
      git::Change write{.path = prefix + change.path};
      if (change.kind != plan::Change::Kind::remove) {
        std::string& content = result.files.files.at(change.path);
        if (objects) {
          write.stored = objects->add_blob(content);
        } else {
          write.content = std::move(content);
        }
      }
      planned.writes.push_back(std::move(write));
    }
  }

  git::CommitStatus commit(std::vector<Planned>& plans, const std::string& tip,
                           std::optional<git::NewObjects>& objects, diag::Sink& sink) {
    git::CommitRequest wanted;
    wanted.branch = branch_;
    wanted.expected_parent = tip;
    for (Planned& planned : plans) {
      std::move(planned.writes.begin(), planned.writes.end(), std::back_inserter(wanted.changes));
    }
    std::string printed;
    for (const Planned& planned : plans) printed += describe(planned);
    if (wanted.changes.empty()) {
      return print(printed, global_) ? git::CommitStatus::unchanged : git::CommitStatus::failed;
    }
    wanted.message = message(plans);
    bool created = false;
    if (!repository_) {
      repository_ = git::Repository::open_or_create(options_.repository, branch_, created, sink);
    }
    git::CommitResult made;
    if (repository_ && (!objects || objects->finish(sink))) {
      made = repository_->commit(wanted, sink);
    }
    if (created && made.status == git::CommitStatus::failed) {
      repository_->take_back_creation();
      repository_.reset();
    }
    report_.show(sink, diag::Sources());
    if (made.status == git::CommitStatus::committed) {
      constexpr std::size_t kShortId = 12;
      if (created) report_.say("created the repository " + shown(options_.repository));
      printed += "committed " + made.id.substr(0, kShortId) + " to " + branch_ + " of " +
                 shown(options_.repository) + "\n";
      if (!print(printed, global_)) return git::CommitStatus::failed;
    }
    if (made.status == git::CommitStatus::failed) report_.say("nothing was committed");
    return made.status;
  }

  static std::string describe(const Planned& planned) {
    constexpr std::size_t kMostListed = 20;
    std::string out = planned.cluster + ": " + plan::summary(planned.changes) + "\n";
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

  // Subject by cluster, body with every file and its kind of change; with very many of them the
  // summary of each cluster, because nobody reads megabytes of a message and libgit2 tidies them
  // slowly.
  static std::string message(const std::vector<Planned>& plans) {
    constexpr std::size_t kMostListed = 2000;
    std::size_t files = 0;
    for (const Planned& planned : plans) files += planned.changes.size();
    std::string subject;
    std::string body;
    std::size_t changed = 0;
    for (const Planned& planned : plans) {
      if (planned.changes.empty()) continue;
      ++changed;
      subject = planned.cluster + ": " + plan::summary(planned.changes);
      if (files > kMostListed) {
        body += "\n" + subject;
        continue;
      }
      body += "\n" + planned.cluster + "\n";
      for (const plan::Change& change : planned.changes) body += mark(change) + change.path + "\n";
    }
    if (files > kMostListed) body += "\n";
    if (changed > 1) subject = "Apply " + std::to_string(changed) + " clusters";
    return subject + "\n" + body;
  }

  const ApplyOptions& options_;
  const GlobalOptions& global_;
  Knowledge& knowledge_;
  Report& report_;
  std::optional<git::Repository> repository_;
  std::string branch_;
  bool full_ = options_.full;
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
  command->add_option("--repo", options->repository, "Git repository; created when absent")
      ->required()
      ->type_name("PATH");
  command
      ->add_option("--branch", options->branch,
                   "Branch to commit to (default: the one HEAD names; `main` in a new repository)")
      ->type_name("NAME");
  command->add_flag("--take-over", options->take_over,
                    "Overwrite files that were edited by hand or are not ours");
  command->add_flag("--full", options->full,
                    "Render every cluster, also those whose inputs and files are as the last run "
                    "left them");
  command->footer(
      "All clusters go into one commit. When nothing changes, no commit is made. The branch moves\n"
      "only if it is still where the plan was made; otherwise the plan is made again.\n\n"
      "Example:\n"
      "  gpuctl apply cluster.yaml --repo fleet\n"
      "  gpuctl apply clusters/*.yaml --repo fleet --branch gpu-pools\n");
  command->callback([options, &global, &exit_code] { exit_code = run_apply(*options, global); });
}

}  // namespace gpuctl::cli
