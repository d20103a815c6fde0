// What git says, taken apart.
#include <gtest/gtest.h>

#include "fixture.hpp"
#include "git/trouble.hpp"

namespace gpuctl::git {
namespace {

using Fate = PushReport::Fate;
using How = base::Ended::How;

Address host() {
  diag::Sink sink;
  return *read_address("https://token@host/fleet.git", sink);
}

diag::Sink trouble(How how, int code, const std::string& errors) {
  diag::Sink sink;
  report_trouble({how, code, "", errors}, "fetch from", host(), {.total = std::chrono::seconds(7)},
                 sink);
  EXPECT_EQ(sink.error_count(), 1U);
  EXPECT_EQ(codes(sink).find("token"), std::string::npos);
  return sink;
}

TEST(CodeOf, KnowsWhatIsSaid) {
  const std::vector<std::pair<std::string_view, std::string_view>> cases = {
      {kUnknownHostKey,
       "No ED25519 host key is known for [127.0.0.1]:2222 and you have requested strict "
       "checking.\r\nHost key verification failed.\r\nfatal: Could not read from remote "
       "repository."},
      {kChangedHostKey,
       "@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\r\nHost key for h has changed "
       "and you have requested strict checking.\r\nHost key verification failed."},
      {kNotAllowed, "git@h: Permission denied (publickey).\r\nfatal: Could not read from remote"},
      {kNotAllowed, "fatal: Authentication failed for 'http://127.0.0.1:8080/x/'"},
      {kNotAllowed, "fatal: could not read Username for 'https://h': terminal prompts disabled"},
      {kNotAllowed,
       "fatal: unable to access 'https://h/x/': The requested URL returned error: 403"},
      {kNotAllowed, "ERROR: The key you are authenticating with has been marked as read only."},
      {kNotAllowed, "fatal: remote error: access denied or service not enabled: /x"},
      {kRemoteNotFound, "fatal: repository 'http://127.0.0.1:1/x/' not found"},
      {kRemoteNotFound, "fatal: '/srv/x.git' does not appear to be a git repository"},
      {kRemoteNotFound, "fatal: remote error: access denied or repository not exported: /x"},
      {kRemoteNotFound, "ERROR: Repository not found.\nfatal: Could not read from remote"},
      {kUnreachable, "fatal: unable to access 'https://h/': Could not resolve host: h"},
      {kUnreachable, "ssh: Could not resolve hostname h: Name or service not known"},
      {kUnreachable, "ssh: connect to host h port 22: Connection refused"},
      {kUnreachable, "fatal: unable to connect to h:\nh[0: 127.0.0.1]: errno=Connection refused"},
      {kCertificate, "fatal: unable to access 'https://h/': SSL certificate problem: self-signed"},
      {kCertificate, "server certificate verification failed. CAfile: none CRLfile: none"},
      {kGitProgram, "error: cannot run ssh: No such file or directory"},
      {kGitProgram, "fatal: Unable to find remote helper for 'https'"},
      {kUnsupportedRepository, "fatal: mismatched algorithms: client sha1; server sha256"},
      {kForeignOwner, "fatal: detected dubious ownership in repository at '/srv/x.git'"},
      {"", "fatal: the remote end hung up unexpectedly"},
      {"", ""},
  };
  for (const auto& [code, said] : cases) EXPECT_EQ(code_of(said), code) << said;
}

TEST(ReportTrouble, SaysWhatGitSaidAndWhatToDo) {
  const diag::Sink sink = trouble(How::exited, 128,
                                  "fatal: unable to access 'https://me:token@h/': Could not "
                                  "resolve host: h\n");
  EXPECT_TRUE(has(sink, kUnreachable, "git: fatal: unable to access 'https://h/'")) << codes(sink);
  EXPECT_TRUE(has(sink, kUnreachable, "`https://host/fleet.git`"));
  EXPECT_TRUE(has(sink, kUnreachable, "proxy"));
}

TEST(ReportTrouble, FallsBackToGitsOwnWords) {
  EXPECT_TRUE(has(trouble(How::exited, 128, "fatal: something new\n"), kTransport,
                  "git: fatal: something new"));
  EXPECT_TRUE(has(trouble(How::signalled, 11, ""), kTransport, "ended by a signal"));
}

TEST(ReportTrouble, KnowsDeadlinesAndOldPrograms) {
  EXPECT_TRUE(has(trouble(How::late, 0, "x"), kDeadline, "within 7 s"));
  EXPECT_TRUE(has(trouble(How::late, 0, "x"), kDeadline, "--timeout"));
  EXPECT_TRUE(has(trouble(How::exited, 129, "usage: git"), kGitProgram, "2.31"));
  EXPECT_TRUE(has(trouble(How::not_started, ENOENT, ""), kGitProgram, "No such file"));
}

TEST(WordsOf, AreBoundedAndHarmless) {
  const auto lines = words_of("remote: \x1b[31mred\nremote: 10%\rremote: 99%\rdone\r\nremote: " +
                                  std::string(5000, 'x') + "\nmine\nremote: \nremote: ====\n",
                              true);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].find('\x1b'), std::string::npos);
  EXPECT_NE(lines[0].find("red"), std::string::npos);
  EXPECT_LT(lines[1].size(), 400U);
  std::string many;
  for (int i = 0; i < 100; ++i) many += "line " + std::to_string(i) + "\n";
  const auto last = words_of(many, false);
  EXPECT_EQ(last.size(), 13U);
  EXPECT_EQ(last.front(), "(88 lines before this are left out)");
  EXPECT_EQ(last.back(), "line 99");
}

PushReport report(const std::string& line, const std::string& errors = "") {
  return read_push_report("To https://host/fleet.git\n" + line + "\nDone\n", errors, "main");
}

TEST(PushReport, CountsOnlyWhatTheServerSaidOfTheBranch) {
  const std::string id(40, 'a');
  const std::string pair = id + ":refs/heads/main";
  EXPECT_EQ(report(" \t" + pair + "\t1234567..89abcde").fate, Fate::updated);
  EXPECT_EQ(report("*\t" + pair + "\t[new branch]").fate, Fate::updated);
  EXPECT_EQ(report("=\t" + pair + "\t[up to date]").fate, Fate::updated);
  EXPECT_EQ(report("+\t" + pair + "\t1...2 (forced update)").fate, Fate::updated);
  EXPECT_EQ(report(" \t" + id + ":refs/heads/main2\t1..2").fate, Fate::unknown);
  EXPECT_EQ(report(" \t" + id + ":refs/heads/x:refs/heads/main\t1..2").fate, Fate::unknown);
  EXPECT_EQ(report("!\t" + pair + "\t[remote failure] (remote failed to report status)").fate,
            Fate::unknown);
  EXPECT_EQ(report("").fate, Fate::unknown);
  EXPECT_EQ(read_push_report("", "", "main").fate, Fate::unknown);
}

TEST(PushReport, TellsALostRaceFromARefusal) {
  const std::string pair = "a:refs/heads/main\t";
  for (const char* reason :
       {"[rejected] (stale info)", "[rejected] (fetch first)", "[rejected] (non-fast-forward)",
        "[remote rejected] (cannot lock ref 'refs/heads/main': is at 1 but expected 2)",
        "[remote rejected] (incorrect old value provided)",
        "[remote rejected] (reference already exists)"}) {
    EXPECT_EQ(report("!\t" + pair + reason).fate, Fate::lost) << reason;
  }
  const std::string failed = "[remote rejected] (failed to update ref)";
  EXPECT_EQ(report("!\t" + pair + failed, "remote: error: cannot lock ref 'refs/heads/main'").fate,
            Fate::lost);
  EXPECT_EQ(report("!\t" + pair + failed,
                   "remote: error: cannot lock ref 'refs/heads/main': 'refs/heads/main/x' exists; "
                   "cannot create 'refs/heads/main'")
                .fate,
            Fate::rejected);
  EXPECT_EQ(report("!\t" + pair + failed, "remote: error: no space left").fate, Fate::rejected);
  const PushReport hook = report("!\t" + pair + "[remote rejected] (pre-receive hook declined)");
  EXPECT_EQ(hook.fate, Fate::rejected);
  EXPECT_EQ(hook.reason, "pre-receive hook declined");
}

TEST(ReportRefusal, ShowsTheServersWords) {
  diag::Sink sink;
  report_refusal("pre-receive hook declined", "remote: no \x07 entry\nfatal: mine\n", "main",
                 host(), sink);
  EXPECT_TRUE(has(sink, kPushRefused, "reason: pre-receive hook declined")) << codes(sink);
  EXPECT_TRUE(has(sink, kPushRefused, "server: no"));
  EXPECT_FALSE(has(sink, kPushRefused, "mine"));
  EXPECT_FALSE(has(sink, kPushRefused, "\x07"));
  diag::Sink guarded;
  report_refusal("protected branch hook declined",
                 "remote: error: GH006: Protected branch update failed", "main", host(), guarded);
  EXPECT_TRUE(has(guarded, kProtectedBranch, "--branch"));
}

}  // namespace
}  // namespace gpuctl::git
