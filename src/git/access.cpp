#include "git/access.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/text.hpp"
#include "git/codes.hpp"
#include "git/transport.hpp"
#include "git/trouble.hpp"

namespace gpuctl::git {

namespace {

constexpr const char* kBranch = "refs/heads/gpuctl-doctor";

// A directory that only we can look into, for as long as this lives.
class Scratch {
 public:
  Scratch() {
    std::error_code none;
    std::string form = (std::filesystem::temp_directory_path(none) / "gpuctl.XXXXXX").string();
    if (::mkdtemp(form.data()) != nullptr) path_ = form;
  }
  ~Scratch() {
    std::error_code none;
    if (!path_.empty()) std::filesystem::remove_all(path_, none);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class Git {
 public:
  Git(std::string program, const Address& address, const std::string& directory,
      std::chrono::steady_clock::time_point deadline)
      : program_(std::move(program)), directory_(directory), deadline_(deadline) {
    environment_ = {{"LC_ALL", "C"}};
    environment_ = transport_environment(address, [&] {
      return run({"config", "--get", "core.sshCommand"}).good();
    });
    for (const char* who : {"GIT_AUTHOR", "GIT_COMMITTER"}) {
      environment_.push_back({std::string(who) + "_NAME", "gpuctl"});
      environment_.push_back({std::string(who) + "_EMAIL", "gpuctl@localhost"});
    }
  }

  base::Ended run(const std::vector<std::string>& arguments) const {
    base::Process process;
    process.program = program_;
    process.arguments = {"--git-dir=" + directory_, "-c", "core.hooksPath=/dev/null", "-c",
                         "gc.auto=0"};
    process.arguments.insert(process.arguments.end(), arguments.begin(), arguments.end());
    process.environment = environment_;
    process.deadline = deadline_;
    return base::run_process(process);
  }

 private:
  std::string program_;
  std::string directory_;
  std::chrono::steady_clock::time_point deadline_;
  std::vector<base::Setting> environment_;
};

void take_trouble(const base::Ended& ended, Access& out) {
  using How = base::Ended::How;
  out.code = code_of(ended.errors);
  if (ended.how != How::exited) {
    out.code = kUnreachable;
    out.why = "no answer in time";
    return;
  }
  const std::vector<std::string> words = words_of(ended.errors, false);
  out.why = words.empty() ? "git ended with exit code " + std::to_string(ended.code)
                          : base::join(words, " ");
}

// Id of a commit that the directory has; empty on failure.
std::string make_commit(const Git& git) {
  const auto word = [](const base::Ended& ended) {
    return ended.good() ? ended.output.substr(0, ended.output.find('\n')) : std::string();
  };
  const std::string tree = word(git.run({"hash-object", "-w", "-t", "tree", "/dev/null"}));
  if (tree.empty()) return {};
  return word(git.run({"commit-tree", tree, "-m", "Probe"}));
}

}  // namespace

Access try_access(const Address& address, std::chrono::steady_clock::time_point deadline) {
  Access out;
  const std::string program = base::find_program("git");
  const Scratch scratch;
  if (program.empty() || scratch.path().empty()) {
    out.code = program.empty() ? kGitProgram : std::string_view();
    out.why = program.empty() ? "there is no git program" : "no directory for temporary files";
    return out;
  }
  const Git git(program, address, scratch.path() + "/probe.git", deadline);
  const base::Ended made = git.run({"init", "--quiet", "--bare"});
  const std::string commit = made.good() ? make_commit(git) : std::string();
  if (commit.empty()) {
    take_trouble(made, out);
    return out;
  }
  const base::Ended listed = git.run({"ls-remote", "--", address.url});
  if (!listed.good()) {
    take_trouble(listed, out);
    return out;
  }
  out.readable = true;
  const base::Ended offered =
      git.run({"push", "--dry-run", "--porcelain", "--no-verify", "--no-follow-tags", "--",
               address.url, commit + ":" + kBranch});
  out.writable = offered.good();
  if (!out.writable) take_trouble(offered, out);
  return out;
}

}  // namespace gpuctl::git
