#include "cli/installation.hpp"

#include "cli/apply_target.hpp"
#include "cli/batch.hpp"
#include "git/address.hpp"
#include "install/codes.hpp"

namespace gpuctl::cli {

namespace {

// The cluster that is meant by "NAME" or "STAGE/NAME", as "STAGE/NAME", among those with a journal.
// Nothing after GPU0716: none, or several.
std::optional<std::string> find_cluster(const std::string& name, Report& report) {
  const std::vector<std::string> all = install::known_clusters();
  std::vector<std::string> found;
  for (const std::string& cluster : all) {
    if (cluster == name || cluster.ends_with("/" + name)) found.push_back(cluster);
  }
  if (found.size() == 1) return found.front();
  diag::Sink sink;
  diag::Diagnostic& none =
      sink.error(install::kNoJournal, diag::kNoOrigin,
                 found.empty() ? "no cluster `" + shown(name) + "` was installed from here"
                               : "several clusters are called `" + shown(name) + "`");
  if (!found.empty()) {
    none.expect("one of " + base::join(found, ", "));
  } else if (!all.empty()) {
    none.expect("one of " + base::join(all, ", ")).did_you_mean(name, all);
  }
  none.suggest("`--dir` names the directory of a journal");
  report.show(sink, diag::Sources());
  return std::nullopt;
}

std::string first_error(const diag::Sink& sink) {
  for (const diag::Diagnostic& one : sink.all()) {
    if (one.severity == diag::Severity::error) return one.message;
  }
  return "it has no output";
}

}  // namespace

Installation::Installation(const ApplyOptions& options, const GlobalOptions& global,
                           Knowledge& knowledge, Report& report, bool installs)
    : options_(options),
      global_(global),
      knowledge_(knowledge),
      report_(report),
      installs_(installs),
      shown_(!installs) {
  doors_.run = [this](const std::string& facts, bool secrets) { return run(facts, secrets); };
  doors_.commit = [this](const std::string& facts, bool anew) { return commit(facts, anew); };
  doors_.say = [this](const std::string& line) { report_.say(line); };
  doors_.show = [this](const diag::Sink& sink, const diag::Sources& sources) {
    report_.show(sink, sources);
  };
}

Installation::~Installation() = default;

Target* Installation::look(diag::Sink& sink) {
  if (target_ != nullptr && !installs_) return target_.get();
  git::TimeLimits limits;
  limits.total = std::chrono::seconds(options_.timeout);
  limits.idle = std::chrono::seconds(options_.idle_timeout);
  target_ =
      make_target({options_.repository, options_.branch, limits, options_.init, true}, report_);
  if (target_ != nullptr && !target_->look(sink)) target_.reset();
  // Nothing was committed yet where something is installed; elsewhere it is not there any more.
  if (target_ != nullptr && !installs_ && target_->head().start.empty()) target_.reset();
  return target_.get();
}

std::unique_ptr<Result> Installation::run(const std::string& facts, bool secrets) {
  std::optional<Request> request = make_request(options_.inputs, report_);
  if (!request) return nullptr;
  if (!facts.empty()) {
    request->facts_file = facts;
    request->replace_facts = true;
  }
  if (secrets) request->install_dir = ".";
  // Choices of the lock stay what they are.
  diag::Sink unread;
  if (!options_.repository.empty() && !without_lock_) {
    Target* target = look(unread);
    if (target != nullptr) {
      request->earlier = [target, &unread](const std::string& path) -> std::optional<std::string> {
        if (target->head().start.empty() || target->repository() == nullptr) return std::nullopt;
        return target->repository()->read(target->head().start, path, unread);
      };
    } else if (installs_) {
      report_.show(unread, diag::Sources());
      return nullptr;
    } else {
      leave_lock("it cannot be read: " +
                 (unread.empty() ? "there is no commit" : unread.all().front().message));
    }
  }
  const auto run_blueprint = [&] {
    return std::make_unique<Result>(
        pipeline::run(options_.inputs.blueprints.front(), *request, knowledge_));
  };
  std::unique_ptr<Result> result = run_blueprint();
  const auto is_good = [&] { return result->output.has_value() && !result->sink.has_errors(); };
  if (!is_good() && !installs_ && request->earlier) {
    std::unique_ptr<Result> first = std::move(result);
    request->earlier = {};
    result = run_blueprint();
    if (is_good()) {
      leave_lock("the blueprint does not go with it: " + first_error(first->sink));
    } else {
      result = std::move(first);
    }
  }
  const bool good = is_good();
  if (!good || !shown_) report_.show(result->sink, *result->sources);
  shown_ = true;
  return good ? std::move(result) : nullptr;
}

void Installation::leave_lock(const std::string& why) {
  without_lock_ = true;
  report_.say("goes on without the lock of the repository: " + why);
}

bool Installation::commit(const std::string& facts, bool anew) {
  ApplyOptions options = options_;
  options.without_notes = true;
  if (!facts.empty()) options.inputs.facts = facts;
  options.inputs.facts_replace = anew || options_.inputs.facts_replace;
  // The result is that of the installation.
  GlobalOptions global = global_;
  global.result = std::make_shared<ResultDocument>();
  if (global_.result->wanted()) global.result->request();
  return run_apply(options, global) == kOk;
}

std::unique_ptr<install::Driver> Installation::drive(install::Place& place,
                                                     install::Journal& journal) {
  auto driver = std::make_unique<install::Driver>(place, journal, doors_, knowledge_);
  if (!driver->open()) return nullptr;
  return driver;
}

std::optional<std::string> place_of(const std::string& directory, const std::string& cluster,
                                    Report& report) {
  if (!directory.empty()) return directory;
  const std::size_t slash = cluster.find('/');
  std::string place = install::default_place(cluster.substr(0, slash), cluster.substr(slash + 1));
  if (!place.empty()) return place;
  diag::Sink sink;
  sink.error(install::kPlaceUnusable, diag::kNoOrigin,
             "neither HOME nor XDG_STATE_HOME says where the journal belongs")
      .suggest("give a directory with `--dir`");
  report.show(sink, diag::Sources());
  return std::nullopt;
}

void InstalledOptions::add_to(Options& command) {
  command.add_option("NAME", name, "The cluster: NAME or STAGE/NAME").required();
  command
      .add_option("--dir", directory,
                  "Directory of the journal (default: below ~/.local/state/gpuctl)")
      .type_name("DIR");
  command
      .add_option("--blueprint", apply.inputs.blueprints,
                  "The blueprint, where it is not any more where `install` read it")
      .expected(1)
      .type_name("FILE");
  command
      .add_option("--repo", apply.repository,
                  "The repository, where it is not any more where `install` had it")
      .type_name("PATH|URL");
}

void InstalledOptions::complete(const install::Story& story) {
  if (apply.inputs.blueprints.empty()) apply.inputs.blueprints = {story.blueprint};
  if (!apply.repository.empty()) return;
  // Earlier versions wrote what they were given, which says nothing elsewhere.
  if (story.repository.starts_with('/') || git::is_address(story.repository)) {
    apply.repository = story.repository;
    apply.branch = story.branch;
  }
}

std::optional<std::string> InstalledOptions::place(Report& report) const {
  if (!directory.empty()) return directory;
  const std::optional<std::string> cluster = find_cluster(name, report);
  return cluster ? place_of({}, *cluster, report) : std::nullopt;
}

}  // namespace gpuctl::cli
