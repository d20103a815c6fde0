#include "git/signing.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "base/process.hpp"
#include "base/text.hpp"
#include "git/codes.hpp"

namespace gpuctl::git {
namespace {

// A card may want to be touched, and an agent to ask in a window of its own.
constexpr std::chrono::seconds kPatience{120};
constexpr std::size_t kShownLines = 5;

// `@SECONDS +HHMM`, as git reads dates.
std::string date_of(const git_time& when) {
  const int minutes = std::abs(when.offset);
  std::array<char, 16> zone{};
  std::snprintf(zone.data(), zone.size(), " %c%02d%02d", when.offset < 0 ? '-' : '+', minutes / 60,
                minutes % 60);
  return "@" + std::to_string(when.time) + zone.data();
}

void add_identity(const std::string& role, const git_signature& signature,
                  std::vector<base::Setting>& environment) {
  environment.push_back({"GIT_" + role + "_NAME", signature.name});
  environment.push_back({"GIT_" + role + "_EMAIL", signature.email});
  environment.push_back({"GIT_" + role + "_DATE", date_of(signature.when)});
}

// The value of a setting in the user's own configuration, or the machine's; empty: none.
std::string own_setting(git_config* config, const char* name) {
  constexpr std::array kLevels = {GIT_CONFIG_LEVEL_GLOBAL, GIT_CONFIG_LEVEL_XDG,
                                  GIT_CONFIG_LEVEL_SYSTEM};
  for (const git_config_level_t level : kLevels) {
    Owned<git_config> one;
    if (git_config_open_level(Receive(one), config, level) != 0) continue;
    git_buf value = GIT_BUF_INIT;
    std::string text;
    if (git_config_get_string_buf(&value, one.get(), name) == 0) text = {value.ptr, value.size};
    git_buf_dispose(&value);
    if (!text.empty()) return text;
  }
  return "";
}

bool is_set(git_config* config, const char* name) {
  Owned<git_config_entry> entry;
  return git_config_get_entry(Receive(entry), config, name) == 0;
}

// Which programs sign is for the user to say: a repository that came from elsewhere must not name
// one that is run.
std::vector<std::string> own_programs(git_repository* repository) {
  Owned<git_config> config;
  if (git_repository_config(Receive(config), repository) != 0) return {};
  const auto own = [&](const char* name, const std::string& otherwise) {
    const std::string value = own_setting(config.get(), name);
    return value.empty() ? otherwise : value;
  };
  std::vector<std::string> out = {
      "-c", "gpg.openpgp.program=" + own("gpg.openpgp.program", own("gpg.program", "gpg")),
      "-c", "gpg.x509.program=" + own("gpg.x509.program", "gpgsm"),
      "-c", "gpg.ssh.program=" + own("gpg.ssh.program", "ssh-keygen")};
  // It has no default, and git takes an empty one for a command.
  constexpr const char* kKeyCommand = "gpg.ssh.defaultKeyCommand";
  if (is_set(config.get(), kKeyCommand)) {
    out.insert(out.end(), {"-c", kKeyCommand + ("=" + own(kKeyCommand, ""))});
  }
  return out;
}

void report_unsigned(const base::Ended& ended, diag::Sink& sink) {
  diag::Diagnostic& error =
      sink.error(kUnsignedCommit, diag::kNoOrigin, "the commit could not be signed");
  error.note("`commit.gpgSign` is set, so that a commit without a signature is not made");
  if (ended.how == base::Ended::How::late) {
    error.note("no signature came within " + std::to_string(kPatience.count()) + " seconds");
  }
  std::size_t lines = 0;
  for (const std::string_view line : base::split(ended.errors, '\n')) {
    if (!line.empty() && lines++ < kShownLines) error.note("git said: " + std::string(line));
  }
  error
      .suggest(
          "see that `git commit --allow-empty -S` signs without asking: `user.signingKey`, "
          "`gpg.format`, and a key that its agent holds")
      .suggest("or, if this repository needs no signatures: `git config commit.gpgSign false`");
}

}  // namespace

bool signing_is_wanted(git_repository* repository) {
  Owned<git_config> config;
  if (git_repository_config_snapshot(Receive(config), repository) != 0) return false;
  int wanted = 0;
  return git_config_get_bool(&wanted, config.get(), "commit.gpgsign") == 0 && wanted != 0;
}

std::optional<git_oid> write_signed_commit(git_repository* repository, const Identity& identity,
                                           const git_oid* parent, const git_oid& tree,
                                           const std::string& message, diag::Sink& sink) {
  base::Process process;
  process.program = base::find_program("git");
  if (process.program.empty()) {
    sink.error(kGitProgram, diag::kNoOrigin, "there is no git program")
        .note("it signs commits, which `commit.gpgSign` wants")
        .suggest("install git 2.31 or newer");
    return std::nullopt;
  }
  process.arguments = own_programs(repository);
  process.arguments.insert(process.arguments.begin(), "--git-dir=" + git_directory_of(repository));
  for (const std::string& word : {std::string("-c"), std::string("core.fsync=loose-object"),
                                  std::string("commit-tree"), std::string("-S"), hex(tree)}) {
    process.arguments.push_back(word);
  }
  if (parent != nullptr) {
    process.arguments.emplace_back("-p");
    process.arguments.push_back(hex(*parent));
  }
  for (const char* name : {"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY",
                           "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_TRACE", "LANGUAGE"}) {
    process.environment.push_back({name, std::nullopt});
  }
  process.environment.push_back({"LC_ALL", "C.UTF-8"});
  add_identity("AUTHOR", *identity.author, process.environment);
  add_identity("COMMITTER", *identity.committer, process.environment);
  process.input = message;
  process.deadline = std::chrono::steady_clock::now() + kPatience;
  const base::Ended ended = base::run_process(process);
  git_oid id{};
  if (ended.good() && git_oid_fromstr(&id, ended.output.c_str()) == 0) return id;
  report_unsigned(ended, sink);
  return std::nullopt;
}

}  // namespace gpuctl::git
