#include <cstdlib>

#include "fixture.hpp"

namespace gpuctl::git {
namespace {

class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

class IdentityTest : public GitTest {
 protected:
  void SetUp() override {
    if (!have_git()) GTEST_SKIP() << "no git";
  }

  std::string identities() {
    Repository repository = open();
    diag::Sink sink;
    const std::string content = std::to_string(++count_);
    const auto result =
        repository.commit({"main", repository.tip("main", sink), "X", {{"f", content}}}, sink);
    EXPECT_EQ(result.status, CommitStatus::committed) << codes(sink);
    return git({"log", "-1", "--format=%an <%ae>|%cn <%ce>", "main"}, "repo.git").output;
  }
  Repository open() {
    diag::Sink sink;
    bool created = false;
    return std::move(*Repository::open_or_create(scratch_ / "repo.git", "main", created, sink));
  }
  void configure(const std::string& key, const std::string& value) {
    open();
    ASSERT_EQ(git({"config", key, value}, "repo.git").code, 0);
  }
  int count_ = 0;
};

TEST_F(IdentityTest, FollowsGitsPrecedence) {
  EXPECT_EQ(identities(), "gpuctl <gpuctl@localhost>|gpuctl <gpuctl@localhost>\n");
  {
    const Variable mail("EMAIL", "mail@example.com");
    EXPECT_EQ(identities(), "gpuctl <mail@example.com>|gpuctl <mail@example.com>\n");
  }
  configure("user.name", "User");
  configure("user.email", "user@example.com");
  EXPECT_EQ(identities(), "User <user@example.com>|User <user@example.com>\n");
  configure("author.name", "Author");
  EXPECT_EQ(identities(), "Author <user@example.com>|User <user@example.com>\n");
  const Variable name("GIT_AUTHOR_NAME", "Env");
  const Variable mail("GIT_COMMITTER_EMAIL", "env@example.com");
  EXPECT_EQ(identities(), "Env <user@example.com>|User <env@example.com>\n");
}

TEST_F(IdentityTest, TakesDates) {
  const auto date_of = [&](const char* text) {
    const Variable date("GIT_AUTHOR_DATE", text);
    identities();
    return git({"log", "-1", "--format=%ad", "--date=raw", "main"}, "repo.git").output;
  };
  EXPECT_EQ(date_of("@1700000000 +0130"), "1700000000 +0130\n");
  EXPECT_EQ(date_of("1700000000 -0500"), "1700000000 -0500\n");
  EXPECT_EQ(date_of("2023-11-14T22:13:20Z"), "1700000000 +0000\n");
  EXPECT_EQ(date_of("2023-11-15T00:13:20+02:00"), "1700000000 +0200\n");
  EXPECT_EQ(date_of("2023-11-14 22:13:20 +0000"), "1700000000 +0000\n");
}

TEST_F(IdentityTest, RefusesWhatIsUnusable) {
  Repository repository = open();
  for (const char* text : {"yesterday", "2023-13-01T00:00:00Z", "@12 +9999", "-5 +0000", "@"}) {
    const Variable date("GIT_COMMITTER_DATE", text);
    diag::Sink sink;
    EXPECT_EQ(repository.commit({"main", "", "X", {{"f", "1"}}}, sink).status,
              CommitStatus::failed);
    EXPECT_TRUE(has(sink, kBadIdentity)) << text << codes(sink);
  }
  const Variable name("GIT_AUTHOR_NAME", "<>");
  diag::Sink sink;
  EXPECT_EQ(repository.commit({"main", "", "X", {{"f", "1"}}}, sink).status, CommitStatus::failed);
  EXPECT_TRUE(has(sink, kBadIdentity)) << codes(sink);
}

}  // namespace
}  // namespace gpuctl::git
