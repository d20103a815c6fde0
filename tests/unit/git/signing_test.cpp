#include <cstdlib>
#include <filesystem>

#include "fixture.hpp"

namespace gpuctl::git {
namespace {

class SigningTest : public GitTest {
 protected:
  void SetUp() override {
    if (!have_git()) GTEST_SKIP() << "no git";
  }

  Repository open(const std::string& name) {
    diag::Sink sink;
    bool created = false;
    return std::move(*Repository::open_or_create(scratch_ / name, "main", created, sink));
  }
  void configure(const std::string& repository, const std::string& key, const std::string& value) {
    open(repository);
    ASSERT_EQ(git({"config", key, value}, repository).code, 0);
  }
  // What a bare repository is signed with: a new SSH key, and who may sign with it.
  bool sign_by_ssh(const std::string& repository) {
    const std::string key = scratch_ / "key";
    if (run({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key}).code != 0) return false;
    const Ran shown = run({"cat", key + ".pub"});
    const std::string allowed = scratch_ / "allowed";
    std::FILE* file = std::fopen(allowed.c_str(), "w");
    if (file == nullptr) return false;
    std::fputs(("me@example.com " + shown.output).c_str(), file);
    std::fclose(file);
    configure(repository, "user.name", "Me");
    configure(repository, "user.email", "me@example.com");
    configure(repository, "gpg.format", "ssh");
    configure(repository, "gpg.ssh.allowedSignersFile", allowed);
    configure(repository, "user.signingKey", key);
    configure(repository, "commit.gpgsign", "true");
    return true;
  }
};

TEST_F(SigningTest, SignsWithAnSshKey) {
  if (!sign_by_ssh("repo.git")) GTEST_SKIP() << "no ssh-keygen";
  Repository repository = open("repo.git");
  diag::Sink sink;
  const CommitResult first = repository.commit({"main", "", "One\n\nbody\n", {{"f", "1"}}}, sink);
  ASSERT_EQ(first.status, CommitStatus::committed) << codes(sink);
  const CommitResult second = repository.commit({"main", first.id, "Two", {{"f", "2"}}}, sink);
  ASSERT_EQ(second.status, CommitStatus::committed) << codes(sink);
  EXPECT_TRUE(sink.empty()) << codes(sink);
  EXPECT_EQ(git({"verify-commit", "main~1"}, "repo.git").code, 0);
  EXPECT_EQ(git({"verify-commit", "main"}, "repo.git").code, 0);
  EXPECT_EQ(git({"log", "--format=%an <%ae>|%s|%b", "main"}, "repo.git").output,
            "Me <me@example.com>|Two|\nMe <me@example.com>|One|body\n\n");
  EXPECT_EQ(git({"show", "main:f"}, "repo.git").output, "2");
  EXPECT_EQ(git({"fsck", "--strict"}, "repo.git").code, 0);
}

TEST_F(SigningTest, SignsACommitWhoseObjectsAreAPack) {
  if (!sign_by_ssh("repo.git")) GTEST_SKIP() << "no ssh-keygen";
  Repository repository = open("repo.git");
  std::vector<Change> changes;
  for (int i = 0; i < 300; ++i) changes.push_back({"f" + std::to_string(i), std::to_string(i)});
  diag::Sink sink;
  EXPECT_EQ(repository.commit({"main", "", "Many", changes}, sink).status, CommitStatus::committed)
      << codes(sink);
  EXPECT_EQ(git({"verify-commit", "main"}, "repo.git").code, 0);
  EXPECT_EQ(git({"fsck", "--strict"}, "repo.git").code, 0);
}

TEST_F(SigningTest, SignsWithOpenPgp) {
  const std::string home = scratch_ / "gpg";
  std::filesystem::create_directory(home);
  std::filesystem::permissions(home, std::filesystem::perms::owner_all);
  ::setenv("GNUPGHOME", home.c_str(), 1);
  const bool made = run({"gpg", "--batch", "--passphrase", "", "--quick-gen-key",
                         "Me <me@example.com>", "ed25519", "sign", "never"})
                        .code == 0;
  if (made) {
    configure("repo.git", "user.signingKey", "me@example.com");
    configure("repo.git", "commit.gpgsign", "true");
    Repository repository = open("repo.git");
    diag::Sink sink;
    EXPECT_EQ(repository.commit({"main", "", "One", {{"f", "1"}}}, sink).status,
              CommitStatus::committed)
        << codes(sink);
    EXPECT_EQ(git({"verify-commit", "main"}, "repo.git").code, 0);
  }
  run({"gpgconf", "--kill", "gpg-agent"});
  ::unsetenv("GNUPGHOME");
  if (!made) GTEST_SKIP() << "no gpg that makes keys";
}

TEST_F(SigningTest, CommitsNothingWithoutAKey) {
  configure("repo.git", "gpg.format", "ssh");
  configure("repo.git", "user.signingKey", scratch_ / "absent");
  configure("repo.git", "commit.gpgsign", "true");
  Repository repository = open("repo.git");
  diag::Sink sink;
  EXPECT_EQ(repository.commit({"main", "", "X", {{"f", "1"}}}, sink).status, CommitStatus::failed);
  EXPECT_TRUE(has(sink, kUnsignedCommit)) << codes(sink);
  EXPECT_NE(git({"rev-parse", "--verify", "-q", "main"}, "repo.git").code, 0);
}

}  // namespace
}  // namespace gpuctl::git
