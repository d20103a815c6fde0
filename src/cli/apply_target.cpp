#include "cli/apply_target.hpp"

#include <algorithm>
#include <optional>
#include <random>
#include <thread>

#include "git/codes.hpp"

namespace gpuctl::cli {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Other writers to a local repository need some hundredths of a second each.
constexpr std::chrono::seconds kLocalPatience{60};
constexpr milliseconds kFirstLocalPause{50};
constexpr milliseconds kLongestLocalPause{300};  // or those that come later go first
constexpr int kRemoteTries = 20;  // sixteen writers that never rest leave few without a turn
constexpr milliseconds kFirstRemotePause{200};
constexpr milliseconds kLongestRemotePause{2000};

// Sleeps for a random time that grows with the number of lost races, but not beyond `until`.
// Chance decides about nothing but when the next try is made.
void pause(int lost, milliseconds first, milliseconds longest, Clock::time_point until) {
  std::mt19937 random{std::random_device{}()};
  const auto most = std::min(longest, first * (1 << std::min(lost, 10)));
  const auto chosen =
      std::uniform_int_distribution<milliseconds::rep>(first.count() / 4, most.count())(random);
  std::this_thread::sleep_until(std::min(until, Clock::now() + milliseconds(chosen)));
}

std::string short_id(const std::string& id) {
  constexpr std::size_t kShortId = 12;
  return id.substr(0, kShortId);
}

class LocalTarget : public Target {
 public:
  LocalTarget(const Destination& destination, Report& report)
      : path_(destination.repository),
        named_(!destination.branch.empty()),
        init_(destination.init),
        look_only_(destination.look_only),
        report_(report) {
    head_.branch = destination.branch;
  }

  bool look(diag::Sink& sink) override {
    // A repository is created when there is something to commit to it, not before.
    const bool absent = !repository_ && git::Repository::can_be_created(path_);
    if (absent && !init_ && !git::Repository::check_creation(path_, sink)) return false;
    if (!repository_ && !absent) {
      repository_ = git::Repository::open(path_, sink);
      if (!repository_ || !finish_interrupted()) return false;
      if (head_.branch.empty()) head_.branch = repository_->head_branch();
      if (head_.branch.empty()) {
        repository_->report_detached(shown(path_), sink);
        return false;
      }
    }
    if (head_.branch.empty()) head_.branch = "main";
    if (!repository_) return true;
    const std::size_t errors = sink.error_count();
    head_.tip = repository_->tip(head_.branch, sink);
    head_.start = head_.tip.empty() ? repository_->resolve("HEAD") : head_.tip;
    const std::string checked_out = repository_->head_branch();
    const bool is_head = checked_out.empty() || checked_out == head_.branch;
    head_.base = head_.tip.empty() || is_head ? "" : repository_->resolve("HEAD");
    if (head_.start.empty() && named_) {
      const auto other = git::start_without_head(repository_->branches(), shown(path_), sink);
      if (other) head_.start = other->second;
    }
    return sink.error_count() == errors;
  }

  git::Repository* repository() override { return repository_ ? &*repository_ : nullptr; }
  bool recover(const diag::Sink&) override { return false; }

  git::CommitResult commit(git::CommitRequest request, diag::Sink& sink) override {
    if (!repository_) {
      repository_ = git::Repository::open_or_create(path_, request.branch, created_, sink);
    }
    git::CommitResult made;
    if (repository_) made = repository_->commit(request, sink);
    if (created_ && made.status == git::CommitStatus::failed) {
      repository_->take_back_creation();
      repository_.reset();
    }
    return made;
  }

  bool wait_for_next_try() override {
    ++lost_;
    if (Clock::now() >= until_) return false;
    pause(lost_, kFirstLocalPause, kLongestLocalPause, until_);
    return true;
  }
  void report_lost(diag::Sink& sink) const override {
    git::report_moved(head_.branch, lost_, sink);
  }
  std::string done(const std::string& id) const override {
    if (created_) report_.say("created the repository " + shown(path_));
    return "committed " + short_id(id) + " to " + head_.branch + " of " + shown(path_) + "\n";
  }
  std::string nothing_done() const override { return "nothing was committed"; }

 private:
  // Said at once: it was done, whatever becomes of this run.
  bool finish_interrupted() {
    diag::Sink sink;
    const bool good = repository_->finish_interrupted(look_only_, sink);
    report_.show(sink, diag::Sources());
    return good;
  }

  std::string path_;
  bool named_;  // the branch, by the user
  bool init_;
  bool look_only_;
  Report& report_;
  std::optional<git::Repository> repository_;
  bool created_ = false;
  int lost_ = 0;
  Clock::time_point until_ = Clock::now() + kLocalPatience;
};

class RemoteTarget : public Target {
 public:
  RemoteTarget(git::Remote remote, std::string branch)
      : remote_(std::move(remote)), branch_(std::move(branch)) {}

  bool look(diag::Sink& sink) override {
    std::optional<git::Head> head = remote_.fetch(branch_, sink);
    if (head) head_ = std::move(*head);
    return head.has_value();
  }

  git::Repository* repository() override { return &remote_.repository(); }

  bool recover(const diag::Sink& sink) override {
    const bool damaged =
        std::any_of(sink.all().begin(), sink.all().end(),
                    [](const diag::Diagnostic& found) { return found.code == git::kDamaged; });
    diag::Sink ignored;
    return damaged && remote_.renew(ignored);
  }

  git::CommitResult commit(git::CommitRequest request, diag::Sink& sink) override {
    git::CommitResult made = remote_.repository().commit(request, sink);
    made.signals.reset();  // the exchange takes its time, and ends by them
    if (made.status != git::CommitStatus::committed) return made;
    switch (remote_.push(head_, made.id, sink)) {
      case git::PushStatus::pushed:
        return made;
      case git::PushStatus::lost:
        ++lost_;
        return {git::CommitStatus::moved, ""};
      case git::PushStatus::unknown:
        unknown_ = true;
        break;
      case git::PushStatus::refused:
        break;
    }
    return {};
  }

  bool wait_for_next_try() override {
    if (++tries_ >= kRemoteTries) return false;
    if (lost_ != 0) pause(lost_, kFirstRemotePause, kLongestRemotePause, remote_.deadline());
    return true;
  }
  void report_lost(diag::Sink& sink) const override {
    sink.error(git::kPushLost, diag::kNoOrigin,
               "branch `" + head_.branch + "` of `" + remote_.address().shown +
                   "` moved whenever we were about to push")
        .note("gave up after " + std::to_string(kRemoteTries) + " attempts")
        .suggest("run again: the plan is made anew on the branch as it is then");
  }
  std::string done(const std::string& id) const override {
    return "pushed " + short_id(id) + " to " + head_.branch + " of " + remote_.address().shown +
           "\n";
  }
  std::string nothing_done() const override {
    return unknown_ ? "it is not known whether the server has the commit: run again"
                    : "nothing was pushed";
  }

 private:
  git::Remote remote_;
  std::string branch_;
  int tries_ = 0;
  int lost_ = 0;
  bool unknown_ = false;
};

}  // namespace

std::unique_ptr<Target> make_target(const Destination& destination, Report& report) {
  if (!git::is_address(destination.repository)) {
    return std::make_unique<LocalTarget>(destination, report);
  }
  diag::Sink sink;
  std::unique_ptr<Target> target;
  if (const std::optional<git::Address> address = git::read_address(destination.repository, sink)) {
    std::optional<git::Remote> remote = git::Remote::open(
        *address, destination.limits, [&](const std::string& line) { report.say(line); }, sink);
    if (remote) target = std::make_unique<RemoteTarget>(std::move(*remote), destination.branch);
  }
  report.show(sink, diag::Sources());
  return target;
}

}  // namespace gpuctl::cli
