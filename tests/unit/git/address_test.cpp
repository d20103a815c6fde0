#include "git/address.hpp"

#include <gtest/gtest.h>

#include "fixture.hpp"

namespace gpuctl::git {
namespace {

Address good(const std::string& text) {
  diag::Sink sink;
  EXPECT_TRUE(is_address(text)) << text;
  const auto address = read_address(text, sink);
  EXPECT_TRUE(address.has_value()) << text << "\n" << codes(sink);
  EXPECT_TRUE(sink.empty()) << codes(sink);
  return address.value_or(Address{});
}

diag::Sink bad(const std::string& text) {
  diag::Sink sink;
  EXPECT_TRUE(is_address(text)) << text;
  EXPECT_FALSE(read_address(text, sink).has_value()) << text;
  EXPECT_EQ(sink.error_count(), 1U) << text;
  return sink;
}

TEST(Address, KnowsPathsFromAddresses) {
  for (const char* path :
       {"fleet", "./https://host/x", "/srv/x", "../a:b", "a/b:c@d", "./ext::sh -c x", "-o", "a:b",
        "C:x", "", "/x@y:z", "./git@host:x", "x@y", "dir/user:pw@host"}) {
    EXPECT_FALSE(is_address(path)) << path;
  }
}

TEST(Address, TakesTheUsualForms) {
  for (const char* text :
       {"ssh://git@host/x.git", "ssh://host:22/x", "ssh://git@[::1]:2222/x", "git@host:x.git",
        "git@host:/srv/x y", "git@host:~/x", "git@[fe80::1]:x", "git://host/x", "git://host:9418/x",
        "file:///srv/x.git", "https://host/x", "http://127.0.0.1:8080/a/b.git/"}) {
    const Address address = good(text);
    EXPECT_EQ(address.url, text);
    EXPECT_EQ(address.shown, text);
    EXPECT_EQ(address.user, "");
  }
  EXPECT_EQ(good("git@host:x").scheme, "ssh");
  EXPECT_EQ(good("HTTPS://Host/X").url, "https://host/X");
}

TEST(Address, KeepsTheUserOfHttpOutOfEverything) {
  const Address address = good("https://s3cret@host/x.git");
  EXPECT_EQ(address.user, "s3cret");
  for (const std::string& text : {address.url, address.shown, address.name, address.scheme}) {
    EXPECT_EQ(text.find("s3cret"), std::string::npos) << text;
  }
  EXPECT_EQ(address.name, good("https://host/x.git").name);
}

TEST(Address, RefusesPasswordsWithoutShowingThem) {
  for (const char* text :
       {"https://user:s3cret@host/x", "http://:s3cret@host/x", "ssh://git:s3cret@host/x",
        "user:s3cret@host:x", "user:s3cret@host/x", "https://user:s3cret@evil@host/x"}) {
    const diag::Sink sink = bad(text);
    EXPECT_TRUE(has(sink, kPasswordInAddress)) << text << codes(sink);
    EXPECT_EQ(codes(sink).find("s3cret"), std::string::npos) << codes(sink);
  }
  EXPECT_EQ(codes(bad("https://host/x?token=s3cret")).find("s3cret"), std::string::npos);
}

TEST(Address, RefusesWhatSshOrGitWouldTakeForSomethingElse) {
  for (const char* text : {"ssh://-oProxyCommand=x/y",
                           "ssh://-oProxyCommand=x@host/y",
                           "ssh://git@-host/x",
                           "-oX@host:x",
                           "git@-host:x",
                           "git@host:-x",
                           "ext::sh -c 'touch x'",
                           "fd::7",
                           "ftp://host/x",
                           "git+ssh://host/x",
                           "://host/x",
                           "https:///x",
                           "https://host",
                           "https://host/",
                           "https://ho st/x",
                           "https://host:0/x",
                           "https://host:99999/x",
                           "https://host:/x",
                           "https://host/x#y",
                           "https://[::1/x",
                           "https://[]/x",
                           "git://user@host/x",
                           "git@host:",
                           "@host:x:y@z:",
                           "git@[::1:x",
                           "file://host/x",
                           "file://",
                           "ssh://ho\nst/x",
                           "https://host/x\x01",
                           "https://host/\xff"}) {
    EXPECT_TRUE(has(bad(text), kBadAddress)) << text;
  }
  EXPECT_TRUE(has(bad("https://host/" + std::string(5000, 'x')), kBadAddress));
}

TEST(Address, NamesFilesAfterThePlace) {
  const std::string name = good("git@git.example.com:Team/fleet.git").name;
  EXPECT_TRUE(name.starts_with("git-example-com-team-fleet-git-")) << name;
  EXPECT_NE(name, good("git@git.example.com:Team/fleet").name);
  const std::string deep = good("https://host/" + std::string(300, 'a') + "/../" + "x.git").name;
  EXPECT_LT(deep.size(), 100U);
  EXPECT_EQ(deep.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string::npos);
  EXPECT_TRUE(good("file:///\xc3\xa9").name.starts_with("-") ||
              good("file:///\xc3\xa9").name.size() == 17)
      << good("file:///\xc3\xa9").name;
}

TEST(WithoutUser, CutsOnlyUsers) {
  EXPECT_EQ(without_user("fatal: 'https://a:b@host/x@y' and ssh://c@h: no"),
            "fatal: 'https://host/x@y' and ssh://h: no");
  EXPECT_EQ(without_user("mail me@host, see http://x"), "mail me@host, see http://x");
  EXPECT_EQ(without_user("://"), "://");
}

}  // namespace
}  // namespace gpuctl::git
