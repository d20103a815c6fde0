#include "git/trouble.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/file.hpp"
#include "base/text.hpp"
#include "diag/character.hpp"
#include "git/codes.hpp"

namespace gpuctl::git {
namespace {

constexpr std::size_t kMostLines = 12;
constexpr std::size_t kMostLineBytes = 300;
constexpr int kUsage = 129;  // git's exit code for options it does not know

struct Known {
  std::string_view words;  // lower case, somewhere in what was said
  std::string_view code;
};

// The first that is found counts: special before general. Texts of git 2.31 on, OpenSSH 8 on,
// libcurl with OpenSSL and GnuTLS, and of forges that answer in words.
constexpr std::array kKnown = {
    Known{"remote host identification has changed", kChangedHostKey},
    Known{"revoked host key", kChangedHostKey},
    Known{"host key verification failed", kUnknownHostKey},
    Known{"the authenticity of host", kUnknownHostKey},
    Known{"no matching host key type", kUnknownHostKey},
    Known{"cannot run ssh", kGitProgram},
    Known{"unable to find remote helper", kGitProgram},
    Known{"is not a git command", kGitProgram},
    Known{"could not resolve", kUnreachable},
    Known{"name or service not known", kUnreachable},
    Known{"temporary failure in name resolution", kUnreachable},
    Known{"no address associated with", kUnreachable},
    Known{"connection refused", kUnreachable},
    Known{"connection timed out", kUnreachable},
    Known{"operation timed out", kUnreachable},
    Known{"no route to host", kUnreachable},
    Known{"network is unreachable", kUnreachable},
    Known{"failed to connect to", kUnreachable},
    Known{"couldn't connect to server", kUnreachable},
    Known{"connection reset by peer", kUnreachable},
    Known{"kex_exchange_identification", kUnreachable},
    Known{"certificate", kCertificate},
    Known{"mismatched algorithms", kUnsupportedRepository},
    Known{"does not support this repository's hash algorithm", kUnsupportedRepository},
    Known{"detected dubious ownership", kForeignOwner},
    Known{"protected branch", kProtectedBranch},
    Known{"permission denied (", kNotAllowed},
    Known{"permission denied, please try again", kNotAllowed},
    Known{"too many authentication failures", kNotAllowed},
    Known{"authentication failed", kNotAllowed},
    Known{"could not read username", kNotAllowed},
    Known{"could not read password", kNotAllowed},
    Known{"terminal prompts disabled", kNotAllowed},
    Known{"invalid username or", kNotAllowed},
    Known{"access denied: service not enabled", kNotAllowed},
    Known{"service not enabled", kNotAllowed},
    Known{"returned error: 401", kNotAllowed},
    Known{"returned error: 403", kNotAllowed},
    Known{"permission to ", kNotAllowed},
    Known{"marked as read only", kNotAllowed},
    Known{"you are not allowed to", kNotAllowed},
    Known{"does not appear to be a git repository", kRemoteNotFound},
    Known{"repository not found", kRemoteNotFound},
    Known{"' not found", kRemoteNotFound},
    Known{"returned error: 404", kRemoteNotFound},
    Known{"access denied or repository not exported", kRemoteNotFound},
    Known{"no such repository", kRemoteNotFound},
    Known{"could not be found or you don't have permission", kRemoteNotFound},
    Known{"requested repository does not exist", kRemoteNotFound},
};

constexpr std::string_view kPushing = "push to";

struct Advice {
  std::string_view code;
  std::string_view help;
};

constexpr std::array kAdvice = {
    Advice{kUnknownHostKey,
           "ask whoever runs the server for the fingerprint of its key, connect once by hand with "
           "ssh, and accept the key only if it shows the same fingerprint"},
    Advice{kChangedHostKey,
           "somebody may be listening in: ask whoever runs the server, over another way, whether "
           "the key was changed, before you take the old one out of known_hosts"},
    Advice{kNotAllowed,
           "`git ls-remote ADDRESS` shows the same without gpuctl; for https set up a credential "
           "helper (`git help credentials`), for ssh an agent or a key without a passphrase"},
    Advice{kNotAllowed, "the account, key or token must be allowed to write to the repository"},
    Advice{kRemoteNotFound,
           "check the address; servers give this answer too when you may not see the repository"},
    Advice{kRemoteNotFound, "gpuctl creates local repositories, but none on a server"},
    Advice{kUnreachable,
           "check the host name, the port, and whether a proxy is needed (`http.proxy`, or "
           "`ProxyJump` for ssh)"},
    Advice{kCertificate,
           "name the certificate authority of the server in `http.sslCAInfo`, or correct the host "
           "name; do not turn verification off"},
    Advice{kUnsupportedRepository, "use a repository with the object format `sha1`"},
    Advice{kForeignOwner, "if you trust it: `git config --global --add safe.directory PATH`"},
    Advice{kGitProgram, "install git 2.31 or newer with https, and ssh (openssh-client)"},
    Advice{kCacheUnusable,
           "make room below XDG_CACHE_HOME (by default ~/.cache), set it to another directory of "
           "yours, or raise the limit on the size of files (`ulimit -f`)"},
    Advice{kProtectedBranch, "give `--branch NAME` and open a pull request from that branch"},
    Advice{kPushRefused,
           "the server decides this: change what it objects to, or ask whoever runs it"},
};

std::string_view title_of(std::string_view code) {
  if (code == kUnknownHostKey) return "the key of the ssh server is not known";
  if (code == kChangedHostKey) return "the ssh server shows another key than before";
  if (code == kNotAllowed) return "the server does not let us in, or not write";
  if (code == kRemoteNotFound) return "there is no such repository";
  if (code == kUnreachable) return "the server cannot be reached";
  if (code == kCertificate) return "the certificate of the server is not trusted";
  if (code == kUnsupportedRepository) return "the repository has another object format";
  if (code == kForeignOwner) return "the repository belongs to another user";
  if (code == kProtectedBranch) return "the branch is protected";
  if (code == kCacheUnusable) return "the local copy of the repository cannot be written";
  return "";
}

void advise(std::string_view code, diag::Diagnostic& diagnostic) {
  for (const Advice& advice : kAdvice) {
    if (advice.code == code) diagnostic.suggest(std::string(advice.help));
  }
}

std::string one_line(std::string_view text) {
  std::string line;
  diag::append_visible(line, without_user(text.substr(0, 4 * kMostLineBytes)));
  if (line.size() > kMostLineBytes) {
    line = line.substr(0, base::character_limit(line, kMostLineBytes)) + "...";
  }
  return line;
}

bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Reasons for which the same push may go through on the branch as it is then.
bool is_lost(std::string_view reason, std::string_view errors) {
  constexpr std::array<std::string_view, 7> kLost = {"stale info",
                                                     "fetch first",
                                                     "non-fast-forward",
                                                     "cannot lock ref",
                                                     "failed to lock",
                                                     "failed to update ref",
                                                     "incorrect old value provided"};
  // A server with `receive.denyDeletes` and the like says `failed to update ref` for other things,
  // with its reason beside it.
  const std::string lower = base::to_lower(reason);
  // A branch `a` beside `a/b`: no time will heal that.
  if (holds(base::to_lower(errors), "exists; cannot create")) return false;
  // `receive.denyNonFastForwards` looks at what we say the branch was, and has nothing to do with
  // others.
  if (holds(base::to_lower(errors), "denying non-fast-forward")) return false;
  if (holds(lower, "failed to update ref")) {
    return holds(base::to_lower(errors), "cannot lock ref");
  }
  return std::any_of(kLost.begin(), kLost.end(),
                     [&](std::string_view words) { return holds(lower, words); }) ||
         holds(lower, "reference already exists");
}

}  // namespace

std::string_view code_of(std::string_view errors) {
  const std::string lower = base::to_lower(errors);
  for (const Known& known : kKnown) {
    if (holds(lower, known.words)) return known.code;
  }
  return "";
}

bool cannot_write_here(std::string_view errors) {
  for (const std::string_view line : base::split(errors, '\n')) {
    if (line.find("remote") != std::string_view::npos) continue;
    for (const char* words : {"No space left on device", "Disk quota exceeded", "File too large",
                              "Read-only file system"}) {
      if (holds(line, words)) return true;
    }
  }
  return false;
}

std::vector<std::string> words_of(std::string_view errors, bool of_server) {
  constexpr std::string_view kPrefix = "remote: ";
  std::vector<std::string> lines;
  for (std::string_view line : base::split(errors, '\n')) {
    // Progress is overwritten on a terminal: only the last state is of interest.
    while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
    if (const std::size_t last = line.rfind('\r'); last != std::string_view::npos) {
      line.remove_prefix(last + 1);
    }
    if (of_server && !line.starts_with(kPrefix)) continue;
    if (line.starts_with(kPrefix)) line.remove_prefix(kPrefix.size());
    if (line.find_first_not_of(" \t@!*=#-") == std::string_view::npos) continue;  // only a rule
    lines.push_back(one_line(line));
  }
  if (lines.size() > kMostLines) {
    const auto left = static_cast<std::ptrdiff_t>(lines.size() - kMostLines);
    lines.erase(lines.begin(), lines.begin() + left);
    lines.insert(lines.begin(), "(" + std::to_string(left) + " lines before this are left out)");
  }
  return lines;
}

void report_trouble(const base::Ended& ended, std::string_view doing, const Address& address,
                    const TimeLimits& limits, diag::Sink& sink) {
  using How = base::Ended::How;
  const std::string what = "cannot " + std::string(doing) + " `" + address.shown + "`";
  if (ended.how == How::late) {
    sink.error(kDeadline, diag::kNoOrigin,
               what + ": no end within " + std::to_string(limits.total.count()) + " s")
        .suggest("see whether the server answers: `git ls-remote " + address.shown + "`")
        .suggest("a slow network may need more time: `--timeout SECONDS`");
    return;
  }
  if (ended.how == How::idle) {
    sink.error(kSilent, diag::kNoOrigin,
               what + ": nothing has moved for " + std::to_string(limits.idle.count()) + " s")
        .suggest("see whether the server answers: `git ls-remote " + address.shown + "`")
        .suggest("a server that is silent for long needs more: `--idle-timeout SECONDS`");
    return;
  }
  if (ended.how == How::unconnected) {
    diag::Diagnostic& error = sink.error(kUnreachable, diag::kNoOrigin,
                                         what + ": " + std::string(title_of(kUnreachable)));
    error.note("no connection within " + std::to_string(limits.connect.count()) + " s");
    advise(kUnreachable, error);
    return;
  }
  if (ended.how == How::not_started || (ended.how == How::exited && ended.code == kUsage)) {
    diag::Diagnostic& error =
        sink.error(kGitProgram, diag::kNoOrigin, what + ": the git program does not do its part");
    if (ended.how == How::not_started) {
      error.note(base::errno_text(ended.code));
    } else {
      error.note("it does not know an option of git 2.31");
    }
    advise(kGitProgram, error);
    return;
  }
  const bool full = doing != kPushing && cannot_write_here(ended.errors);
  const std::string_view found = full ? kCacheUnusable : code_of(ended.errors);
  const std::string_view code = found.empty() ? kTransport : found;
  const std::string_view title = title_of(code);
  diag::Diagnostic& error =
      sink.error(code, diag::kNoOrigin, what + (title.empty() ? "" : ": " + std::string(title)));
  if (ended.how == How::signalled) {
    error.note(std::string("git was ended by a signal: ") + ::strsignal(ended.code));
  }
  for (const std::string& line : words_of(ended.errors, false)) error.note("git: " + line);
  advise(code, error);
}

void report_refusal(std::string_view reason, std::string_view errors, const std::string& branch,
                    const Address& address, diag::Sink& sink) {
  const std::string said = std::string(reason) + "\n" + std::string(errors);
  const std::string_view code = code_of(said) == kProtectedBranch ? kProtectedBranch : kPushRefused;
  diag::Diagnostic& error = sink.error(
      code, diag::kNoOrigin,
      "the server has refused the commit for branch `" + branch + "` of `" + address.shown + "`");
  error.note("reason: " + one_line(reason));
  for (const std::string& line : words_of(errors, true)) error.note("server: " + line);
  advise(code, error);
  if (holds(base::to_lower(said), "non-fast-forward") || holds(base::to_lower(said), "force")) {
    error.suggest(
        "the branch would be planned anew on its base, which this server does not allow: begin "
        "with "
        "another branch");
  }
  if (holds(reason, "currently checked out")) {
    error.suggest("use a bare repository on the server, or a branch that nobody has checked out");
  }
}

PushReport read_push_report(std::string_view output, std::string_view errors,
                            const std::string& branch) {
  const std::string target = ":refs/heads/" + branch;
  PushReport report;
  for (const std::string_view line : base::split(output, '\n')) {
    // FLAG tab FROM:TO tab SUMMARY (REASON)
    const std::vector<std::string_view> fields = base::split(line, '\t');
    if (fields.size() != 3 || fields[0].size() != 1 || !fields[1].ends_with(target)) continue;
    if (fields[1].size() - target.size() != fields[1].find(':')) continue;
    const std::string_view summary = fields[2];
    const char flag = fields[0][0];
    // `+`: a branch that was made anew, see Remote::push().
    if (flag == ' ' || flag == '*' || flag == '=' || flag == '+') {
      report.fate = PushReport::Fate::updated;
      return report;
    }
    const std::size_t open = summary.find('(');
    report.reason = summary.substr(open == std::string_view::npos ? 0 : open + 1);
    if (open != std::string_view::npos && report.reason.ends_with(')')) report.reason.pop_back();
    report.fate = flag == '!' && is_lost(report.reason, errors) ? PushReport::Fate::lost
                                                                : PushReport::Fate::rejected;
    // Without an answer from the server nothing is known.
    if (holds(summary, "[no match]") || holds(summary, "[remote failure]")) {
      report.fate = PushReport::Fate::unknown;
    }
    return report;
  }
  return report;
}

}  // namespace gpuctl::git
