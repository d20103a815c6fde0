#include "git/remote.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "git/codes.hpp"
#include "git/names.hpp"
#include "git/state.hpp"
#include "git/transport.hpp"

namespace gpuctl::git {
namespace {

constexpr const char* kFirstBranch = "main";
constexpr const char* kStart = "refs/gpuctl/start";

bool is_sha256_id(std::string_view text) {
  return text.size() == 64 && is_hex(text);
}

// The git program cannot read what is to be pushed.
bool is_local_damage(const std::string& errors) {
  for (const char* words : {"pack-objects died", "bad object", "unable to read", "is corrupt",
                            "cannot be accessed", "inflate"}) {
    if (errors.find(words) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

std::optional<Remote> Remote::open(const Address& address, const TimeLimits& limits,
                                   const Cache::Say& say, diag::Sink& sink) {
  const std::string program = base::find_program("git");
  if (program.empty()) {
    sink.error(kGitProgram, diag::kNoOrigin, "there is no git program")
        .note("it carries the exchange with `" + address.shown + "`")
        .suggest("install git 2.31 or newer");
    return std::nullopt;
  }
  const auto deadline = std::chrono::steady_clock::now() + limits.total;
  std::optional<Cache> cache = Cache::open(address, deadline, say, sink);
  if (!cache) return std::nullopt;
  Remote remote(address, limits, std::move(*cache), program);
  remote.deadline_ = deadline;
  remote.environment_ = transport_environment(remote.address_, [&] {
    return remote.git({"config", "--get", "core.sshCommand"}).good();
  });
  return remote;
}

base::Ended Remote::git(const std::vector<std::string>& arguments) const {
  base::Process process;
  process.program = program_;
  process.arguments = {"--git-dir=" + cache_.directory(),
                       "-c",
                       "core.hooksPath=/dev/null",
                       "-c",
                       "core.fsmonitor=false",
                       "-c",
                       "gc.autoDetach=false"};
  process.arguments.insert(process.arguments.end(), arguments.begin(), arguments.end());
  process.environment = environment_;
  process.deadline = deadline_;
  // What is on this machine may well compute for long, and is not far away.
  if (address_.scheme != "file") process.patience = {limits_.connect, limits_.idle};
  return base::run_process(process);
}

std::optional<Remote::Refs> Remote::list_refs(const std::vector<std::string>& arguments,
                                              diag::Sink& sink) const {
  std::vector<std::string> command = {"ls-remote"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const base::Ended ended = git(command);
  if (!ended.good()) {
    report_trouble(ended, "read", address_, limits_, sink);
    return std::nullopt;
  }
  Refs refs;
  for (const std::string_view line : base::split(ended.output, '\n')) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) continue;
    refs.emplace_back(line.substr(tab + 1), line.substr(0, tab));
    if (!is_sha256_id(refs.back().second)) continue;
    sink.error(kUnsupportedRepository, diag::kNoOrigin,
               "`" + address_.shown + "` has the object format `sha256`")
        .expect("`sha1`")
        .suggest("use a repository with the object format `sha1`");
    return std::nullopt;
  }
  return refs;
}

std::optional<Remote::Listed> Remote::list(const std::string& branch, diag::Sink& sink) const {
  // Patterns match the ends of names; what else comes is left out below.
  const std::string wanted = std::string(kBranches) + (branch.empty() ? kFirstBranch : branch);
  const auto refs = list_refs({"--symref", "--", address_.url, "HEAD", wanted}, sink);
  if (!refs) return std::nullopt;
  Listed listed;
  for (const auto& [name, value] : *refs) {
    constexpr std::string_view kLeadsTo = "ref: refs/heads/";
    if (name == "HEAD" && value.starts_with(kLeadsTo)) {
      listed.head_branch = value.substr(kLeadsTo.size());
    } else if (name == "HEAD" && is_id(value)) {
      listed.head = value;
    } else if (name == wanted && is_id(value)) {
      listed.tip = value;
    }
  }
  return listed;
}

std::optional<Branches> Remote::list_branches(diag::Sink& sink) const {
  const auto refs = list_refs({"--heads", "--", address_.url}, sink);
  if (!refs) return std::nullopt;
  Branches branches;
  for (const auto& [name, value] : *refs) {
    if (!name.starts_with(kBranches) || !is_id(value)) continue;
    branches.emplace(name.substr(kBranches.size()), value);
  }
  return branches;
}

std::optional<Head> Remote::fetch(const std::string& branch, diag::Sink& sink) {
  if (!branch.empty() && !check_branch_name(branch, sink)) return std::nullopt;
  while (true) {
    bool cache_at_fault = false;
    diag::Sink found;
    std::optional<Head> head = fetch_once(branch, cache_at_fault, found);
    if (!head && cache_at_fault && renew(sink)) continue;
    sink.take(std::move(found));
    return head;
  }
}

std::optional<Head> Remote::fetch_once(const std::string& branch, bool& cache_at_fault,
                                       diag::Sink& sink) {
  const std::optional<Listed> listed = list(branch, sink);
  if (!listed) return std::nullopt;
  Head head{.branch = branch, .tip = listed->tip};
  if (branch.empty() && !listed->head.empty()) {
    head.branch = listed->head_branch;
    head.tip = listed->head;
  }
  if (head.branch.empty() && !listed->head.empty()) {
    sink.error(kUnsupportedRepository, diag::kNoOrigin,
               "HEAD of `" + address_.shown + "` is at no branch")
        .suggest("say which branch to commit to: `--branch NAME`");
    return std::nullopt;
  }
  // HEAD of an empty repository names a branch too, but git does not tell which.
  if (head.branch.empty()) head.branch = kFirstBranch;
  if (!check_branch_name(head.branch, sink)) return std::nullopt;  // the server's word
  head.start = head.tip.empty() ? listed->head : head.tip;
  std::string from = "HEAD";  // of a new branch
  if (head.start.empty() && !branch.empty()) {
    const std::optional<Branches> branches = list_branches(sink);
    if (!branches) return std::nullopt;
    const auto other = start_without_head(*branches, address_.shown, sink);
    if (!other) return std::nullopt;
    head.start = other->second;
    from = std::string(kBranches) + other->first;
  }

  cache_at_fault = true;  // for all that follows but what is known to be something else
  if (!cache_.repository().make_way(head.branch, head.tip.empty(), sink)) return std::nullopt;
  if (head.start.empty()) return head;
  const std::string own = std::string(kBranches) + head.branch;
  const bool is_head = listed->head_branch.empty() || listed->head_branch == head.branch;
  if (!head.tip.empty() && !is_head) head.base = listed->head;
  std::vector<Wanted> wanted;
  if (!head.tip.empty()) wanted.push_back({own, own, &head.tip});
  if (head.tip.empty()) wanted.push_back({from, kStart, &head.start});
  if (!head.base.empty()) wanted.push_back({"HEAD", kStart, &head.base});
  if (!fetch_refs(wanted, cache_at_fault, sink)) return std::nullopt;
  if (!head.tip.empty()) head.start = head.tip;
  return head;
}

bool Remote::fetch_refs(const std::vector<Wanted>& wanted, bool& cache_at_fault, diag::Sink& sink) {
  std::vector<std::string> command = {"fetch",
                                      "--quiet",
                                      "--no-tags",
                                      "--no-prune",
                                      "--no-recurse-submodules",
                                      "--no-write-fetch-head",
                                      "--refmap=",
                                      "--",
                                      address_.url};
  const std::size_t words = command.size();
  for (const Wanted& one : wanted) {
    if (cache_.repository().resolve(one.to) == *one.id) continue;
    command.push_back("+" + one.from + ":" + one.to);
  }
  if (command.size() == words) return true;
  const base::Ended ended = git(command);
  if (!ended.good()) {
    report_trouble(ended, "fetch from", address_, limits_, sink);
    cache_at_fault = ended.how == base::Ended::How::exited && code_of(ended.errors).empty() &&
                     !cannot_write_here(ended.errors);
    return false;
  }
  if (!cache_.reopen(sink)) return false;
  for (const Wanted& one : wanted) {
    // Somebody may have committed since the list was made.
    *one.id = cache_.repository().resolve(one.to);
    if (!one.id->empty()) continue;
    sink.error(kTransport, diag::kNoOrigin,
               "git has fetched nothing from `" + address_.shown + "`");
    return false;
  }
  return true;
}

PushStatus Remote::push(const Head& head, const std::string& commit, diag::Sink& sink) {
  const PushStatus status = offer(head, commit, sink);
  // The copy says what the server has. Where this fails, the next fetch does it.
  if (status != PushStatus::pushed) cache_.repository().put_back(head.branch, head.tip);
  return status;
}

PushStatus Remote::offer(const Head& head, const std::string& commit, diag::Sink& sink) {
  const std::string name = std::string(kBranches) + head.branch;
  // The lease makes it a compare-and-swap, also against a branch that went back meanwhile. What the
  // branch had is overwritten only where the caller planned it anew: its commit is a child of the
  // base then, and otherwise of what the branch has to be at.
  const base::Ended ended =
      git({"push", "--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no",
           "--force-with-lease=" + name + ":" + head.tip, "--", address_.url, commit + ":" + name});
  const PushReport report = read_push_report(ended.output, ended.errors, head.branch);
  switch (report.fate) {
    case PushReport::Fate::lost:
      return PushStatus::lost;
    case PushReport::Fate::rejected:
      report_refusal(report.reason, ended.errors, head.branch, address_, sink);
      return PushStatus::refused;
    case PushReport::Fate::updated:
      return confirm(head.branch, commit, sink) ? PushStatus::pushed : PushStatus::unknown;
    case PushReport::Fate::unknown:
      break;
  }
  if (is_local_damage(ended.errors) && renew(sink)) return PushStatus::lost;
  using How = base::Ended::How;
  if (ended.how != How::late && ended.how != How::idle) {
    // The connection may have broken after the server had taken the commit.
    diag::Sink ignored;
    const std::optional<Listed> listed = list(head.branch, ignored);
    if (listed && listed->tip == commit) return PushStatus::pushed;
  }
  report_trouble(ended, "push to", address_, limits_, sink);
  const bool no_push = ended.how == How::not_started || ended.how == How::unconnected ||
                       (ended.how == How::exited && !code_of(ended.errors).empty());
  return no_push ? PushStatus::refused : PushStatus::unknown;
}

bool Remote::confirm(const std::string& branch, const std::string& commit, diag::Sink& sink) {
  diag::Sink trouble;
  const std::optional<Listed> listed = list(branch, trouble);
  if (listed && listed->tip == commit) return true;
  if (listed && !listed->tip.empty()) {
    // Somebody may have built on it already.
    const std::optional<Head> head = fetch(branch, trouble);
    if (head && cache_.repository().contains(head->tip, commit)) return true;
  }
  sink.error(kNotConfirmed, diag::kNoOrigin,
             "`" + address_.shown + "` has said that it took the commit, and " +
                 (listed ? "branch `" + branch + "` does not have it" : "cannot be asked again"))
      .suggest("look at the branch on the server; when it lacks the commit, run again");
  sink.take(std::move(trouble));
  return false;
}

bool Remote::renew(diag::Sink& sink) {
  return !cache_.is_new() && cache_.renew(sink);
}

}  // namespace gpuctl::git
