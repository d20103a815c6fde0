#include "cli/apply_target.hpp"

#include <algorithm>
#include <optional>
#include <random>
#include <thread>

#include "git/codes.hpp"

namespace gpuctl::cli {
namespace {

constexpr int kLocalTries = 5;
constexpr int kRemoteTries = 10;
constexpr std::chrono::milliseconds kFirstPause{200};
constexpr std::chrono::milliseconds kLongestPause{2000};

std::string short_id(const std::string& id) {
  constexpr std::size_t kShortId = 12;
  return id.substr(0, kShortId);
}

class LocalTarget : public Target {
 public:
  LocalTarget(std::string path, std::string branch, Report& report)
      : path_(std::move(path)), named_(!branch.empty()), report_(report) {
    head_.branch = std::move(branch);
  }

  bool look(diag::Sink& sink) override {
    // A repository is created when there is something to commit to it, not before.
    if (!repository_ && !git::Repository::can_be_created(path_)) {
      repository_ = git::Repository::open(path_, sink);
      if (!repository_) return false;
      if (head_.branch.empty()) head_.branch = repository_->head_branch();
    }
    if (head_.branch.empty()) head_.branch = "main";
    if (!repository_) return true;
    const std::size_t errors = sink.error_count();
    head_.tip = repository_->tip(head_.branch, sink);
    head_.start = head_.tip.empty() ? repository_->resolve("HEAD") : head_.tip;
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

  int most_tries() const override { return kLocalTries; }
  void report_lost(diag::Sink& sink) const override {
    git::report_moved(head_.branch, kLocalTries, sink);
  }
  std::string done(const std::string& id) const override {
    if (created_) report_.say("created the repository " + shown(path_));
    return "committed " + short_id(id) + " to " + head_.branch + " of " + shown(path_) + "\n";
  }
  std::string nothing_done() const override { return "nothing was committed"; }

 private:
  std::string path_;
  bool named_;  // the branch, by the user
  Report& report_;
  std::optional<git::Repository> repository_;
  bool created_ = false;
};

class RemoteTarget : public Target {
 public:
  RemoteTarget(git::Remote remote, std::string branch)
      : remote_(std::move(remote)), branch_(std::move(branch)) {}

  bool look(diag::Sink& sink) override {
    if (lost_ != 0) pause();
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

  int most_tries() const override { return kRemoteTries; }
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
  // Longer from time to time and never the same, so that writers get out of step.
  void pause() const {
    std::mt19937 random{std::random_device{}()};
    const auto most = std::min(kLongestPause, kFirstPause * (1 << std::min(lost_, 10)));
    const auto chosen = std::uniform_int_distribution<std::chrono::milliseconds::rep>(
        kFirstPause.count() / 4, most.count())(random);
    std::this_thread::sleep_until(std::min(
        remote_.deadline(), std::chrono::steady_clock::now() + std::chrono::milliseconds(chosen)));
  }

  git::Remote remote_;
  std::string branch_;
  int lost_ = 0;
  bool unknown_ = false;
};

}  // namespace

std::unique_ptr<Target> make_target(const std::string& repository, const std::string& branch,
                                    std::chrono::seconds timeout, Report& report) {
  if (!git::is_address(repository)) {
    return std::make_unique<LocalTarget>(repository, branch, report);
  }
  diag::Sink sink;
  std::unique_ptr<Target> target;
  if (const std::optional<git::Address> address = git::read_address(repository, sink)) {
    std::optional<git::Remote> remote = git::Remote::open(
        *address, timeout, [&](const std::string& line) { report.say(line); }, sink);
    if (remote) target = std::make_unique<RemoteTarget>(std::move(*remote), branch);
  }
  report.show(sink, diag::Sources());
  return target;
}

}  // namespace gpuctl::cli
