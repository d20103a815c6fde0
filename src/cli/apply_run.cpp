#include "cli/apply_run.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <memory>
#include <mutex>
#include <set>

#include "base/stages.hpp"
#include "base/text.hpp"
#include "cli/apply_result.hpp"
#include "cli/apply_target.hpp"
#include "cli/batch.hpp"
#include "cli/codes.hpp"
#include "cli/commit_message.hpp"
#include "cli/day.hpp"
#include "cli/fleets.hpp"
#include "cli/hops.hpp"
#include "cli/plan_cost.hpp"
#include "cli/planned.hpp"
#include "cli/progress.hpp"
#include "cli/proposed.hpp"
#include "cli/unchanged.hpp"
#include "cli/waves.hpp"
#include "effects/report.hpp"

namespace gpuctl::cli {

namespace {

// From this many clusters on objects are written as they come; fewer fit into memory.
constexpr std::size_t kStreamFrom = 16;
constexpr std::string_view kClusters = "clusters/";
constexpr std::string_view kStagePlace = "{stage}";  // in the name of a branch

// One plan of all clusters against one commit.
class Apply {
 public:
  Apply(const ApplyOptions& options, const GlobalOptions& global, Knowledge& knowledge,
        Report& report, PlanCosts* costs)
      : options_(options), global_(global), knowledge_(knowledge), report_(report), costs_(costs) {}

  int run(const Request& request) {
    git::TimeLimits limits;
    limits.total = std::chrono::seconds(options_.timeout);
    limits.idle = std::chrono::seconds(options_.idle_timeout);
    target_ = make_target(
        {options_.repository, options_.branch, limits, options_.init, options_.dry_run}, report_);
    if (!target_) return kFindings;
    do {
      const git::CommitStatus status = attempt_once(request);
      if (status == git::CommitStatus::moved) continue;  // somebody committed: plan again on that
      global_.result->set("branch", target_->head().branch);
      global_.result->set("status", name_of(status));
      // A commit that was made may leave something to do, which is an error too.
      if (status == git::CommitStatus::failed || report_.errors() != 0) return kFindings;
      return options_.detailed_exit_code && changed_ ? kChanges : kOk;
    } while (target_->wait_for_next_try());
    diag::Sink moved;
    target_->report_lost(moved);
    report_.show(moved, diag::Sources());
    return kFindings;
  }

 private:
  bool look_at_target(diag::Sink& sink) {
    const Waiting waiting(report_, "looking at the repository");
    return target_->look(sink);
  }

  git::CommitStatus attempt_once(Request request) {
    diag::Sink sink;
    if (!look_at_target(sink) || !choose_start(sink)) {
      report_.show(sink, diag::Sources());
      return git::CommitStatus::failed;
    }
    const std::string& start = head_.start;
    std::mutex one_at_a_time;
    const Base base = base_at(start, one_at_a_time);
    complete(request, base, one_at_a_time, sink);
    if (!options_.to.empty()) {
      const std::optional<git::CommitStatus> end = take_next_hop(request);
      if (end) return *end;
    }
    if (!is_settled(request, base)) return git::CommitStatus::failed;
    git::Repository* repository = target_->repository();
    std::vector<Planned> plans(options_.inputs.blueprints.size());
    std::vector<Finished> finished(plans.size());
    std::optional<Unchanged> unchanged;
    if (repository != nullptr) unchanged = record_of(*repository, request);
    const bool shares_facts = !request.facts_file.empty() && plans.size() > 1;
    if (unchanged && !request.crds && !full_ && !start.empty() && !shares_facts && !anew()) {
      find_unchanged(*unchanged, request, start, plans, finished);
    }
    std::vector<std::string> blueprints;
    std::vector<std::size_t> positions;  // of them among all
    for (std::size_t i = 0; i < plans.size(); ++i) {
      if (plans[i].known) continue;
      positions.push_back(i);
      blueprints.push_back(options_.inputs.blueprints[i]);
    }
    std::optional<git::NewObjects> objects;
    if (repository != nullptr && repository->is_bare() && blueprints.size() >= kStreamFrom) {
      objects = repository->new_objects(sink);
    }
    std::atomic<bool> failed = sink.has_errors();
    const Consume consume = [&](std::size_t index, Result& result) {
      const base::StageScope scope(base::Stage::write);
      Planned& planned = plans[positions[index]];
      planned = {};
      if (result.sink.has_errors()) failed = true;
      if (!failed && costs_ != nullptr) costs_->add(result, base);
      if (!failed) planned = plan_cluster(result, base, options_, objects ? &*objects : nullptr);
      if (planned.findings.has_errors()) failed = true;
    };
    std::vector<Finished> made = run_all(blueprints, request, knowledge_,
                                         thread_count(options_.inputs.jobs), report_, consume);
    const bool passed_one_over = holds_known(made, plans);
    if (passed_one_over) full_ = true;
    if (passed_one_over || (!failed && keeps_commits(plans))) return attempt_once(request);
    if (unchanged && !options_.all_notes) leave_out_told(*unchanged, made);
    for (std::size_t i = 0; i < made.size(); ++i) finished[positions[i]] = std::move(made[i]);
    if (!failed) check_run(request, base, plans, sink);
    const git::CommitResult end = conclude(finished, plans, objects, sink);
    if (end.id.empty() || target_->repository() == nullptr) return end.status;
    if (!unchanged) unchanged = record_of(*target_->repository(), request);  // a new repository
    record_unchanged(*unchanged, plans, finished, end.id);
    return end.status;
  }

  // What the run asks besides its blueprints. `base`, the mutex and the sink must outlive it.
  void complete(Request& request, const Base& base, std::mutex& one_at_a_time, diag::Sink& sink) {
    request.choose_again = options_.choose_again;
    request.retired = options_.retired;
    request.like = options_.like;
    request.encrypt = !options_.dry_run;
    request.earlier = [&](const std::string& path) { return base.read(path, sink); };
    if (!anew()) return;
    request.proposed = [&sink, tip = base_at(head_.tip, one_at_a_time)](const std::string& path) {
      return tip.read(path, sink);
    };
  }

  // The way to the version, and its next commit as what this run is to make. A status when there
  // is nothing to make.
  std::optional<git::CommitStatus> take_next_hop(Request& request) {
    const std::string& blueprint = options_.inputs.blueprints.front();
    hops_ = find_hops(blueprint, options_.to, request, knowledge_, report_);
    if (!hops_) return git::CommitStatus::failed;
    record_hops(*hops_, *global_.result);
    const Hop* next = hops_->next();
    if (options_.dry_run || next == nullptr) {
      const bool said =
          say(as_table(*hops_) + (next == nullptr ? "nothing is left to commit\n" : ""));
      return said ? git::CommitStatus::unchanged : git::CommitStatus::failed;
    }
    request.given[hops_->file] = with_version(*hops_, next->version);
    request.choose_again = next->again;
    return std::nullopt;
  }

  // Notes are said once.
  static void leave_out_told(const Unchanged& unchanged, std::vector<Finished>& made) {
    for (Finished& one : made) {
      one.findings.leave_out(unchanged.told(std::string(kClusters) + one.cluster));
    }
  }

  // Branches that are to be merged start at their base, if this makes again all that they have.
  bool choose_start(diag::Sink& sink) {
    head_ = target_->head();
    proposal_.reset();
    if (head_.base.empty() || !command().empty()) return true;
    std::optional<git::Proposal> found = read_proposed(*target_->repository(), head_, sink);
    if (!found) return false;
    const std::string& obstacle = found->obstacle.empty() ? kept_ : found->obstacle;
    if (!obstacle.empty()) {
      note_kept(head_, obstacle, sink);
    } else if (!is_followed_) {
      head_.start = head_.base;
      proposal_ = std::move(found);
    }
    return true;
  }

  bool anew() const { return proposal_.has_value(); }

  // True when the branch, planned anew, would lose what is not planned here, or is no proposal: the
  // next attempt goes on with it.
  bool keeps_commits(const std::vector<Planned>& plans) {
    if (!proposal_) return false;
    std::set<std::string> ours;
    for (const Planned& planned : plans) {
      ours.insert(std::string(kClusters) + planned.cluster);
      if (planned.branch == head_.branch) is_followed_ = true;
    }
    for (const std::string& directory : proposal_->clusters) {
      if (!ours.contains(directory)) kept_ = "it also changes `" + directory + "`";
    }
    return is_followed_ || !kept_.empty();
  }

  std::string_view name_of(git::CommitStatus status) const {
    if (status == git::CommitStatus::failed) return "failed";
    if (options_.dry_run) return "planned";
    return status == git::CommitStatus::committed ? "committed" : "unchanged";
  }

  // What the last run left in a repository.
  Unchanged record_of(const git::Repository& repository, const Request& request) const {
    return {repository.git_directory(),
            identity_of(knowledge_, global_.format + " " + report_.colouring() + " " +
                                        request.date + (options_.take_over ? " take over" : "") +
                                        (request.crds ? " crds" : ""))};
  }

  // The commit that plans start from; a repository handle is for one thread at a time.
  Base base_at(const std::string& start, std::mutex& one_at_a_time) {
    Base base;
    base.list = [this, start, &one_at_a_time](const std::string& directory, diag::Sink& sink) {
      if (start.empty()) return std::map<std::string, std::string>();
      const std::lock_guard<std::mutex> guard(one_at_a_time);
      return target_->repository()->list(start, directory, sink);
    };
    base.read = [this, start, &one_at_a_time](const std::string& path,
                                              diag::Sink& sink) -> std::optional<std::string> {
      if (start.empty()) return std::nullopt;
      const std::lock_guard<std::mutex> guard(one_at_a_time);
      return target_->repository()->read(start, path, sink);
    };
    return base;
  }

  // All clusters are planned: commits, unless one of them or the repository has a fault.
  git::CommitResult conclude(const std::vector<Finished>& finished, std::vector<Planned>& plans,
                             std::optional<git::NewObjects>& objects, diag::Sink& sink) {
    const bool good = !sink.has_errors() &&
                      std::all_of(finished.begin(), finished.end(), [&](const Finished& cluster) {
                        return cluster.accepted(options_.inputs.strict);
                      });
    if (global_.result->wanted()) {
      const auto present = [&](const std::string& directory) {
        return target_->repository()->list(head_.start, directory, sink).size();
      };
      record_plans(plans, options_.output, present, *global_.result);
    }
    for (Planned& planned : plans) {
      if (good) sink.take(std::move(planned.findings));
    }
    // A dry run says first what it is that is too much.
    if (good && !options_.dry_run) check_limits(plans, sink);
    if (target_->recover(sink)) return {git::CommitStatus::moved, ""};
    if (!good || sink.has_errors() || (options_.inputs.strict && sink.has_warnings())) {
      return {give_up(finished, sink), ""};
    }
    git::CommitResult made = commit(finished, plans, objects, sink);
    if (objects && made.status != git::CommitStatus::committed) objects->take_back();
    return made;
  }

  // Releases are all that may change in clusters that are to be like others. False after shown
  // errors.
  bool is_settled(Request request, const Base& base) {
    if (options_.like.empty()) return true;
    request.like.clear();
    diag::Sink sink;
    for (const std::string& cluster :
         pending_of(options_.inputs.blueprints, request, base, options_, knowledge_, report_)) {
      sink.error(kUnsettled, diag::kNoOrigin,
                 "`" + shown(cluster) + "` would change in other ways as well")
          .note("its blueprint, its facts or gpuctl itself has moved since its last commit")
          .suggest("look at it with `gpuctl plan`, commit it with `gpuctl apply`, then promote");
    }
    if (sink.empty()) return true;
    report_.show(sink, diag::Sources());
    report_.say(target_->nothing_done());
    return false;
  }

  // Clusters change in the order of the waves of their stages. What has no commit yet is no matter.
  void look_at_waves(const Request& request, const Base& base, const std::vector<Planned>& plans,
                     diag::Sink& sink) {
    const auto& places = options_.inputs.places;
    if (places.empty() || target_->repository() == nullptr || head_.start.empty()) return;
    std::set<std::string> changing;
    std::set<std::string> stages;
    for (const Planned& planned : plans) {
      const auto found = places.find(planned.cluster);
      if (found == places.end() || planned.changes.empty() || planned.effects.first) continue;
      changing.insert(planned.cluster);
      stages.insert(found->second.stage);
    }
    if (changing.empty()) return;
    for (std::string& cluster :
         pending_of(options_.inputs.before, request, base, options_, knowledge_, report_)) {
      changing.insert(std::move(cluster));
    }
    const std::int64_t time = now();
    std::vector<WaveGate> gates;
    for (const auto& [cluster, place] : places) {
      if (!stages.contains(place.stage)) continue;
      WaveGate gate{cluster, place, changing.contains(cluster), std::nullopt};
      if (place.soak > 0) {
        const auto at =
            target_->repository()->changed_at(head_.start, std::string(kClusters) + cluster);
        if (at) gate.since = time - *at;
      }
      gates.push_back(std::move(gate));
    }
    check_waves(gates, sink);
  }

  // What is to be known of all clusters of a run.
  void check_run(const Request& request, const Base& base, const std::vector<Planned>& plans,
                 diag::Sink& sink) {
    check_words(plans, sink);
    if (!options_.dry_run && !options_.ignore_waves) look_at_waves(request, base, plans, sink);
  }

  // What the command line names must be there.
  void check_words(const std::vector<Planned>& plans, diag::Sink& sink) const {
    check_choices(plans, sink);
    check_names(plans, sink);
  }

  // What is to be chosen again must be a choice of some cluster.
  void check_choices(const std::vector<Planned>& plans, diag::Sink& sink) const {
    std::set<std::string> choices;
    for (const Planned& planned : plans) {
      choices.insert(planned.choices.begin(), planned.choices.end());
    }
    const std::vector<std::string> names(choices.begin(), choices.end());
    for (const std::string& wanted : options_.choose_again) {
      // Everything may be nothing.
      const bool known =
          wanted.empty() || std::any_of(names.begin(), names.end(), [&](const std::string& name) {
            return derive::is_within(name, wanted);
          });
      if (known) continue;
      sink.error(kNoSuchChoice, diag::kNoOrigin, "no cluster has a choice `" + shown(wanted) + "`")
          .expect("one of " + base::join(names, ", "))
          .did_you_mean(wanted, names);
    }
  }

  // What is to be retired must be a name that some cluster retains.
  void check_names(const std::vector<Planned>& plans, diag::Sink& sink) const {
    std::set<std::string> all;
    for (const Planned& planned : plans) all.insert(planned.names.begin(), planned.names.end());
    const std::vector<std::string> names(all.begin(), all.end());
    for (const std::string& wanted : options_.retired) {
      if (all.contains(wanted)) continue;
      sink.error(kNoSuchName, diag::kNoOrigin, "no cluster retains a name `" + shown(wanted) + "`")
          .expect(names.empty() ? "a name below `names` of a `gpuctl.lock`; there is none"
                                : "one of " + base::join(names, ", "))
          .did_you_mean(wanted, names);
    }
  }

  // Marks the clusters that need no run. None when two blueprints are for one cluster, so that this
  // is found.
  void find_unchanged(const Unchanged& unchanged, const Request& request, const std::string& start,
                      std::vector<Planned>& plans, std::vector<Finished>& finished) const {
    diag::Sink unread;  // a full run says what is wrong
    std::vector<std::optional<Unchanged::Known>> known;
    std::vector<std::string> directories;
    for (const std::string& blueprint : options_.inputs.blueprints) {
      known.push_back(unchanged.find(blueprint, request.facts_file, request.member(blueprint)));
      directories.push_back(known.back() ? known.back()->directory : std::string());
    }
    const std::vector<std::string> trees =
        target_->repository()->tree_ids(start, directories, unread);
    std::set<std::string> seen;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      if (!known[i] || trees[i] != known[i]->tree) continue;
      plans[i].cluster = known[i]->directory.substr(kClusters.size());
      plans[i].known = true;
      plans[i].effects.cluster = plans[i].cluster;
      plans[i].effects.files = plan::summary({});
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
                        const std::vector<Finished>& finished, const std::string& commit_id) const {
    diag::Sink unread;
    std::vector<std::string> directories;
    for (const Planned& planned : plans) {
      directories.push_back(std::string(kClusters) + planned.cluster);
    }
    const std::vector<std::string> trees =
        target_->repository()->tree_ids(commit_id, directories, unread);
    for (std::size_t i = 0; i < plans.size(); ++i) {
      if (plans[i].known || trees[i].empty()) continue;
      unchanged.record(plans[i].inputs, directories[i], trees[i], finished[i]);
    }
    unchanged.save();
  }

  // Once the attempt is known to be the last: the others would say the same.
  void show(const std::vector<Finished>& clusters, const diag::Sink& sink) {
    show_all(clusters, options_.inputs.strict, report_);
    if (global_.result->wanted()) {
      record_verdicts(clusters, options_.inputs.strict, *global_.result);
    }
    report_.show(sink, diag::Sources());
  }

  git::CommitStatus give_up(const std::vector<Finished>& clusters, const diag::Sink& sink) {
    show(clusters, sink);
    report_.say(target_->nothing_done());
    return git::CommitStatus::failed;
  }

  git::CommitResult commit(const std::vector<Finished>& clusters, std::vector<Planned>& plans,
                           std::optional<git::NewObjects>& objects, diag::Sink& sink) {
    const base::StageScope scope(base::Stage::write);
    git::CommitRequest wanted;
    wanted.branch = head_.branch;
    wanted.expected_tip = head_.tip;
    wanted.start = head_.start;
    for (Planned& planned : plans) {
      std::move(planned.writes.begin(), planned.writes.end(), std::back_inserter(wanted.changes));
    }
    changed_ = !wanted.changes.empty();
    if (!changed_ && anew() && !proposal_->clusters.empty()) warn_settled(head_, sink);
    if (changed_) {
      auto attributes = missing_attributes(target_->repository(), head_.start);
      if (attributes) wanted.changes.push_back(std::move(*attributes));
    }
    if (options_.dry_run) return show_plan(clusters, plans, sink);
    std::string printed;
    if (options_.like.empty()) {
      for (const Planned& planned : plans) printed += describe(planned);
    } else {
      printed = effects::text(changes_of(plans));
    }
    if (wanted.changes.empty()) {
      show(clusters, sink);
      if (!say(printed)) return {};
      return {git::CommitStatus::unchanged, head_.start};
    }
    wanted.message = message(plans, options_.message, command(), knowledge_.library().digest());
    git::CommitResult made;
    if (!objects || objects->finish(sink)) {
      const Waiting waiting(report_, "committing");
      made = target_->commit(std::move(wanted), sink);
    }
    if (made.status == git::CommitStatus::moved || target_->recover(sink)) {
      return {git::CommitStatus::moved, ""};
    }
    if (made.status == git::CommitStatus::failed) return {give_up(clusters, sink), ""};
    show(clusters, sink);
    if (made.status == git::CommitStatus::unchanged) {
      if (!say(printed + "branch " + head_.branch + " has that already\n")) return {};
    } else if (made.status == git::CommitStatus::committed) {
      printed += target_->done(made.id);
      if (hops_ && hops_->next() != nullptr) printed += to_write(*hops_, *hops_->next());
      global_.result->set("commit", made.id);
      if (global_.result->wanted()) global_.result->keep(made.signals);
      if (!say(printed)) return {};
    }
    return made;
  }

  // What the trailer says: which command apply would not do again.
  std::string command() const {
    if (!options_.choose_again.empty() || !options_.to.empty()) return "upgrade";
    if (!options_.like.empty()) return "promote";
    if (options_.inputs.step > 1) return "step";
    return options_.retired.empty() ? "" : "retire";
  }

  bool say(const std::string& text) const { return global_.quiet || print(text, global_); }

  // The plan on standard output, then what of it is too much.
  git::CommitResult show_plan(const std::vector<Finished>& clusters, std::vector<Planned>& plans,
                              diag::Sink& sink) {
    check_limits(plans, sink);
    std::string written = written_plan(plans, options_.output);
    if (costs_ != nullptr) {
      yaml::Arena& arena = global_.result->arena();
      if (options_.output != "json") written += costs_->text(plans, options_.output, arena);
      global_.result->set("costs", costs_->rows(plans, arena));
      report_.show(costs_->faults(), knowledge_.library().sources());
    }
    if (options_.output == "markdown") global_.result->set("markdown", written);
    if (!print(written, global_)) return {};  // -q, too: it was asked for
    show(clusters, sink);
    return {git::CommitStatus::unchanged, ""};
  }

  static std::string written_plan(const std::vector<Planned>& plans, const std::string& form) {
    if (form == "diff") {
      std::string out;
      for (const Planned& planned : plans) out += planned.patch;
      return out;
    }
    if (form == "json") return {};  // the result is what this form prints
    const std::vector<effects::ClusterChange> changes = changes_of(plans);
    return form == "markdown" ? effects::markdown(changes) : effects::text(changes);
  }

  static std::vector<effects::ClusterChange> changes_of(const std::vector<Planned>& plans) {
    std::vector<effects::ClusterChange> out;
    for (const Planned& planned : plans) out.push_back(planned.effects);
    return out;
  }

  const ApplyOptions& options_;
  const GlobalOptions& global_;
  Knowledge& knowledge_;
  Report& report_;
  PlanCosts* costs_;  // nullptr: nobody asked
  std::unique_ptr<Target> target_;
  bool full_ =
      options_.full || options_.all_notes || options_.inputs.refresh_secrets || !command().empty();
  bool changed_ = false;
  git::Head head_;
  std::optional<Hops> hops_;               // to the version that is asked for
  std::optional<git::Proposal> proposal_;  // of a branch that is planned anew
  std::string kept_;                       // why a branch is not planned anew
  bool is_followed_ = false;               // a cluster follows the branch
};

// `--branch change/{stage}`: a commit and a branch for each stage, in the order of the fleets.
int run_stages(const ApplyOptions& options, const Request& request, const GlobalOptions& global,
               Knowledge& knowledge, Report& report, PlanCosts* costs) {
  std::vector<std::pair<std::string, std::vector<std::string>>> stages;
  const auto blueprints_of = [&](const std::string& stage) -> std::vector<std::string>& {
    for (auto& [name, blueprints] : stages) {
      if (name == stage) return blueprints;
    }
    return stages.emplace_back(stage, std::vector<std::string>()).second;
  };
  for (const std::string& blueprint : options.inputs.blueprints) {
    const pipeline::Member* member = request.member(blueprint);
    if (member != nullptr) {
      blueprints_of(member->cluster.substr(0, member->cluster.find('/'))).push_back(blueprint);
      continue;
    }
    diag::Sink sink;
    sink.error(
            kUsage, diag::kNoOrigin,
            "`" + std::string(kStagePlace) + "` in `--branch` is the stage of a fleet's clusters")
        .got("`" + shown(blueprint) + "`, which is no fleet")
        .suggest("run it once for each stage, with a branch of its own");
    report.show(sink, diag::Sources());
    return kUsageError;
  }
  int worst = kOk;
  yaml::Arena& arena = global.result->arena();
  std::map<std::string, std::vector<yaml::Node>> all;  // lists of the result, over all stages
  std::vector<yaml::Node> results;
  for (auto& [stage, blueprints] : stages) {
    ApplyOptions one = options;
    one.branch.replace(one.branch.find(kStagePlace), kStagePlace.size(), stage);
    one.inputs.blueprints = std::move(blueprints);
    worst = std::max(worst, Apply(one, global, knowledge, report, costs).run(request));
    for (const char* list : {"clusters", "blueprints"}) {
      const yaml::Node part = global.result->get(list);
      all[list].insert(all[list].end(), part.items().begin(), part.items().end());
    }
    yaml::MapBuilder row;
    row.set(arena, "stage", arena.string(stage));
    for (const char* field : {"branch", "status", "changed"}) {
      const yaml::Node value = global.result->get(field);
      if (!value.is_null()) row.set(arena, field, value);
    }
    results.push_back(row.build(arena));
  }
  for (const auto& [list, nodes] : all) global.result->set(list, arena.list(nodes));
  global.result->set("stages", arena.list(results));
  return worst;
}

}  // namespace

void ApplyOptions::add_to(Options& command) {
  inputs.add_to(command);
  inputs.add_target_options(command);
  command
      .add_option("--repo", repository,
                  "Git repository: a directory, created when absent beside others, or an address "
                  "(ssh://, https://, http://, git://, file://, user@host:path) to push to")
      .required()
      .type_name("PATH|URL");
  command
      .add_option("--branch", branch,
                  "Branch to commit to (default: the one HEAD names; `main` in a new repository); "
                  "a new one starts where HEAD is. `{stage}` in it: a branch for each stage of a "
                  "fleet")
      .type_name("NAME");
  command
      .add_option("--timeout", timeout,
                  "Seconds that all exchanges with a server may take together")
      .in_range(1, 86400)
      .capture_default_str();
  command
      .add_option("--idle-timeout", idle_timeout,
                  "Seconds after which an exchange with a server ends in which nothing moves; 0: "
                  "only --timeout counts")
      .in_range(0, 86400)
      .capture_default_str();
  command.add_flag("--init", init,
                   "Create the repository also where no directory is yet, or in the work tree of "
                   "another one");
  command
      .add_option("-m,--message", message,
                  "Subject of the commit (default: what changes); the files and trailers follow it")
      .type_name("TEXT");
  command.add_flag("--all-notes", all_notes,
                   "Show notes that were shown before the last commit of a cluster, too");
  command.add_flag("--ignore-waves", ignore_waves,
                   "Change clusters of a fleet whatever the waves before theirs still do");
  command.add_flag("--take-over", take_over,
                   "Overwrite files that were edited by hand or are not ours");
  const std::vector<std::string_view>& all = effects::effect_names();
  const std::vector<std::string> classes(all.begin(), all.end());
  command
      .add_option("--max-effect", max_effect,
                  "The worst that the change may do to a running cluster (default: the blueprint's "
                  "`gitops.maxEffect`)")
      .one_of(classes)
      .type_name("CLASS");
  command
      .add_option(
          "--allow", allow,
          "An effect to accept although the limit or knowledge does not cover it, `refused` "
          "and `unknown` among them; may be repeated")
      .one_of(classes)
      .type_name("CLASS");
}

int run_apply(const ApplyOptions& options, const GlobalOptions& global) {
  ResultDocument& result = *global.result;
  if (options.output == "json") result.request();
  result.set("status", std::string_view("failed"));  // unless something better comes of it
  result.set_flag("dryRun", options.dry_run);
  Report report(global);
  if (options.without_notes) report.keep_quiet();
  Knowledge* knowledge = open_knowledge(global, report);
  if (knowledge == nullptr) return kFindings;
  diag::Sink subject;
  check_subject(options.message, *knowledge, subject);
  if (global.confined && git::is_address(options.repository)) {
    subject.error(kUsage, diag::kNoOrigin, "a server for agents does not use remote repositories")
        .expect("a directory on this machine for `--repo`")
        .got("`" + shown(options.repository) + "`")
        .suggest("clone it, and give the path of the clone");
  }
  report.show(subject, diag::Sources());
  if (subject.has_errors()) return kFindings;
  ApplyOptions chosen = options;
  std::optional<Request> request = make_request(options.inputs, report);
  if (!request || !expand_fleets(chosen.inputs, *request, *knowledge, report)) return kFindings;
  if (!chosen.to.empty() && request->members) {
    diag::Sink sink;
    sink.error(kUsage, diag::kNoOrigin, "`--to` takes a blueprint with a file of its own")
        .got("a fleet")
        .suggest("write the version into the fleet, one stage or cluster after the other");
    report.show(sink, diag::Sources());
    return kUsageError;
  }
  OwnCosts own;
  std::optional<PlanCosts> costs;
  if (chosen.priced || !chosen.costs.costs.empty() || !chosen.costs.hours.empty()) {
    if (!own.read(chosen.costs.costs, *knowledge, report)) return kFindings;
    costs.emplace(*knowledge, own, chosen.costs.month());
  }
  PlanCosts* asked = costs ? &*costs : nullptr;
  if (chosen.branch.find(kStagePlace) != std::string::npos) {
    return run_stages(chosen, *request, global, *knowledge, report, asked);
  }
  return Apply(chosen, global, *knowledge, report, asked).run(*request);
}

}  // namespace gpuctl::cli
