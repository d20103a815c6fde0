#include "secrets/search.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "secrets/codes.hpp"
#include "secrets/decode.hpp"
#include "secrets/guard.hpp"
#include "secrets/mask.hpp"
#include "secrets/urls.hpp"
#include "secrets/words.hpp"
#include "yaml/read.hpp"

namespace gpuctl::secrets {
namespace {

// Made of two pieces, so that no scanner of this repository objects.
const std::string kToken = std::string("gh") + "p_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8";
const std::string kKey = std::string("-----BEGIN RSA PRIVATE") + " KEY-----\nMIIEow\n-----END";

// The rules that are built in.
class SearchTest : public testing::Test {
 protected:
  SearchTest() {
    std::vector<yaml::Node> specs;
    for (const char* name : {"credentials", "names"}) {
      specs.push_back(
          read_file(std::string(GPUCTL_SOURCE_DIR) + "/providers/core/secrets/" + name + ".yaml")
              .get("spec"));
    }
    rules_ = std::make_shared<const Rules>(specs, true, sink_);
    EXPECT_TRUE(sink_.empty());
  }

  yaml::Node read_file(const std::string& path) {
    std::ifstream in(path);
    return read(std::string(std::istreambuf_iterator<char>(in), {}));
  }

  yaml::Node read(const std::string& text) {
    const auto node = yaml::read(sources_.add_file("x.yaml", text), sources_, arena_, sink_);
    EXPECT_TRUE(node.has_value()) << text;
    return node.value_or(yaml::Node());
  }

  std::vector<Hit> text(const std::string& text) {
    Budget budget;
    return Search(*rules_, budget).text(text);
  }

  // Paths of the findings, with a mark for warnings.
  std::string found(const std::string& document) {
    Budget budget;
    std::string out;
    for (const Finding& finding : Search(*rules_, budget).tree(read(document), "")) {
      out += (out.empty() ? "" : " ") + finding.path + (finding.hit.sure ? "" : "?");
    }
    return out;
  }

  diag::Sources sources_;
  yaml::Arena arena_;
  diag::Sink sink_;
  std::vector<yaml::Node> specs_;  // of rules that a test makes
  std::shared_ptr<const Rules> rules_;
};

TEST_F(SearchTest, TriesPatternsOfWordsWhereTheWordCanFit) {
  const auto rules = [&](const std::string& row) {
    specs_ = {read("patterns:\n  - {name: a token, words: [16, 16], " + row + "}\n")};
    return std::make_unique<const Rules>(specs_, true, sink_);
  };
  const auto hits = [&](const Rules& made, const std::string& text) {
    Budget budget;
    return Search(made, budget).text(text).size();
  };
  const std::string token = "ab12cd.q1w2e3r4t5z6u7i8";
  const auto fitting = rules(R"(only: a-z0-9, beside: ".", pattern: '[a-z0-9]{6}\.[a-z0-9]{16}')");
  EXPECT_EQ(hits(*fitting, "join " + token), 1U);
  EXPECT_EQ(hits(*fitting, token + " to join"), 1U);
  const auto not_beside = rules(R"(beside: ":", pattern: '[a-z0-9]{6}\.[a-z0-9]{16}')");
  EXPECT_EQ(hits(*not_beside, "join " + token), 0U);
  const auto other_letters = rules(R"(only: A-Z0-9, pattern: '[a-z0-9]{6}\.[a-z0-9]{16}')");
  EXPECT_EQ(hits(*other_letters, "join " + token), 0U);
  EXPECT_TRUE(sink_.empty());
}

TEST_F(SearchTest, TakesKeywordsAsTheirPatternDoes) {
  const auto seen = [&](const std::string& pattern, const std::string& text) {
    specs_ = {
        read("patterns:\n  - {name: a token, keywords: [acme-], pattern: '" + pattern + "'}\n")};
    const Rules made(specs_, true, sink_);
    std::size_t count = 0;
    made.for_each_keyword(text, [&](const Rules::Keyword&, std::size_t) { ++count; });
    return count;
  };
  EXPECT_EQ(seen("ACME-[0-9]{9}", "an acme-tool and ACME-123456789"), 1U);
  EXPECT_EQ(seen("(?i)ACME-[0-9]{9}", "an acme-tool and ACME-123456789"), 2U);
  EXPECT_EQ(seen("ACME-[0-9]{9}|acme-[a-f]{9}", "an acme-tool and ACME-123456789"), 2U);
  EXPECT_EQ(seen("AC[M]E-[0-9]{9}", "an acme-tool and ACME-123456789"), 2U);
}

TEST_F(SearchTest, LooksIntoTextsThatCanHoldNames) {
  // A name behind an escape, and one that only parsing puts together.
  EXPECT_EQ(found("a: |\n  {\"dbPassword\": \"hunter2x9\"}\n"), "a");
  EXPECT_EQ(found("a: |\n  {\"pattern\": \"hunter2x9\", \"path\": \"q8w7e6r5\"}\n"), "");
  EXPECT_EQ(found("a: |\n  {\"api:key\": \"q8w7e6r5t4z3u2i1o0p9\"}\n"), "a");
}

TEST_F(SearchTest, LooksIntoLinesWithEscapes) {
  EXPECT_EQ(found("a: |\n  password of the db\n  {\\\"dbPassword\\\": \\\"hunter2x9\\\"}\n  end\n"),
            "a");
  EXPECT_EQ(found("a: |\n  {\\\"kind\\\": \\\"Secret\\\", \\\"data\\\": {\n  \\\"x\\\": "
                  "\\\"eA==\\\"\n  }\n  }\n"),
            "a");
  EXPECT_EQ(found("a: |\n  \\\"kind\\\": \\\"Secret\\\"\n  data: {x: eA==}\n"), "a");
  EXPECT_EQ(found("a: \"x\\n{\\\\\\\"auth\\\\\\\": \\\\\\\"" + kToken + "\\\\\\\"}\""), "a");
}

TEST_F(SearchTest, LooksIntoTextsThatCanBeCollections) {
  constexpr const char* kSecret = "kind: Secret\n  apiVersion: v1\n  data: {x: eA==}\n";
  for (const char* before :
       {"", "# a file\n\n  ", "---\n  ", "prose first\n  ---\n  ", "%YAML 1.1\n  ---\n  ",
        "--- !!map\n  ", "&all\n  ", "prose first\n  ...\n  "}) {
    EXPECT_EQ(found("a: |\n  " + std::string(before) + kSecret), "a") << before;
  }
  EXPECT_EQ(found("a: |\n  - kind: Secret\n    data: {x: eA==}\n"), "a");
  EXPECT_EQ(found("a: \"\\uFEFF---\\nkind: Secret\\ndata: {x: eA==}\\n\""), "a");
  EXPECT_EQ(found("a: |\n  ? kind\n  : Secret\n  ? data\n  : {x: eA==}\n"), "a");
}

TEST_F(SearchTest, KnowsCredentialsByTheirForm) {
  ASSERT_EQ(text("use " + kToken + " here").size(), 1U);
  EXPECT_EQ(text("use " + kToken + " here").front().what, "a token of GitHub");
  EXPECT_FALSE(text(kKey).empty());
  EXPECT_TRUE(text("a file ghp_ and a word AKIA").empty());
}

TEST_F(SearchTest, LooksIntoWhatIsWrapped) {
  EXPECT_EQ(found("a: {b: Z2hwX0ExYjJDM2Q0RTVmNkc3aDhJOWowSzFsMk0zbjRPNXA2UTdyOA==}"), "a.b");
  EXPECT_EQ(found("a: 'data:,x%3D" + kToken + "'"), "a");
  EXPECT_EQ(found("a: '{\"x\": {\"adminPassword\": \"correct\"}}'"), "a");
  EXPECT_EQ(found("a: |\n  kind: Secret\n  apiVersion: v1\n  data: {x: eA==}\n"), "a");
}

TEST_F(SearchTest, KnowsNamesInAllStyles) {
  EXPECT_EQ(found("{dbPassword: hunter2, DB_PASSWORD: hunter2, db.password: hunter2}"),
            "dbPassword DB_PASSWORD [\"db.password\"]");
  EXPECT_EQ(found("env: [{name: WANDB_API_KEY, value: 0a1b2c3d4e5f60718293}]"),
            "env[WANDB_API_KEY].value");
  EXPECT_EQ(found("args: [--client-secret, qx7vt9z2kw, --mode, qx7vt9z2kw]"), "args[1]");
  EXPECT_EQ(found("[{op: add, path: /spec/apiKey/0, value: qx7vt9z2kw}]"), "[0].value");
}

TEST_F(SearchTest, LeavesReferencesAndPlaceholders) {
  EXPECT_EQ(found("{passwordFile: /etc/x, secretName: my-secret, token: '${TOKEN}', "
                  "password: <yours>, apiKey: REDACTED, secret: registry-login, maxTokens: 4096, "
                  "tokenizer: org/model-7b, accessToken: {existing: x}, password2: ''}"),
            "");
}

TEST_F(SearchTest, WarnsOfRandomTextOnly) {
  EXPECT_EQ(found("{owner: q7Rz0Kx3mT9bVn2LcY8wEa5D}"), "owner?");
  EXPECT_EQ(found("{digest: 'sha512-q7Rz0Kx3mT9bVn2LcY8wEa5Dq7Rz0Kx3mT9bVn2LcY8wEa5D==', commit: "
                  "91326b04a55e91326b04a55e91326b04a55e0000, id: "
                  "123e4567-e89b-12d3-a456-426614174000, type: NodeFeatureDiscoveryOperator42}"),
            "");
}

TEST_F(SearchTest, KnowsSecretObjects) {
  EXPECT_EQ(found("{apiVersion: v1, kind: Secret, data: {a: eA==}}"), "data");
  EXPECT_EQ(found("{kind: List, items: [{apiVersion: v1, kind: Secret, stringData: {a: x}}]}"),
            "items[0].stringData");
  EXPECT_EQ(found("{apiVersion: v1, kind: Secret, data: {}}"), "");
  const std::string cipher =
      "'ENC[AES256_GCM,data:eA==,iv:MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=,"
      "tag:MDEyMzQ1Njc4OTAxMjM0NQ==,type:str]'";
  const std::string head = "{apiVersion: v1, kind: Secret, ";
  EXPECT_EQ(found(head + "data: {a: " + cipher + "}, sops: {mac: " + cipher + "}}"), "");
  // What only begins like it, and what lacks the authentication of all values, is in clear.
  EXPECT_EQ(found(head + "data: {a: 'ENC[hunter2]'}, sops: {mac: " + cipher + "}}"), "data");
  EXPECT_EQ(
      found(head + "data: {a: " + cipher + ", b: aHVudGVyMg==}, sops: {mac: " + cipher + "}}"),
      "data");
  EXPECT_EQ(found(head + "data: {a: " + cipher + "}}"), "data");
  EXPECT_EQ(found(head + "stringData: {a: 7}, sops: {mac: " + cipher + "}}"), "stringData");
}

TEST_F(SearchTest, CountsWhatItSpends) {
  Budget budget{100};
  const Search search(*rules_, budget);
  EXPECT_TRUE(search.text(std::string(90, 'a')).empty());
  const std::vector<Hit> hits = search.text(std::string(90, 'a'));
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_EQ(hits.front().sign, Sign::unsearched);
}

TEST_F(SearchTest, MasksWhatTheRulesKnow) {
  const RulesMask mask(rules_);
  EXPECT_EQ(mask.shown("the token `" + kToken + "`"), "the token `" + std::string(40, '*') + "`");
  EXPECT_EQ(mask.shown("  password: hunter2x"), "  password: ********");
  EXPECT_EQ(mask.shown("machine set openshift-machine-api/gpu-01"),
            "machine set openshift-machine-api/gpu-01");
}

TEST_F(SearchTest, GuardTakesExceptionsButNotForSecrets) {
  Guard guard(rules_);
  guard.allow(
      read("[{path: 'ConfigMap/x:data.*', reason: a sample}, {path: nothing, reason: idle}, "
           "{path: '*', reason: all}]"));
  diag::Sink sink;
  guard.check_input(read("{data: {a: " + kToken + "}}"), "ConfigMap/x:", sources_, sink);
  EXPECT_TRUE(sink.empty());
  EXPECT_EQ(guard.used(), std::vector<std::string>{"ConfigMap/x:data.*: a sample"});
  guard.check_input(read("{apiVersion: v1, kind: Secret, data: {a: eA==}}"), "", sources_, sink);
  ASSERT_EQ(sink.error_count(), 1U);
  EXPECT_EQ(sink.all().front().code, kSecretObject);
  diag::Sink idle;
  guard.report_idle(idle);
  EXPECT_EQ(idle.all().size(), 2U);
}

TEST_F(SearchTest, GuardsShareWhatIsCleanAndNothingElse) {
  const auto clean = std::make_shared<base::CleanRecord>();
  // How many findings a guard of its own has in a file. The digest is that of `same_as`.
  const auto errors = [&](const std::string& text, const std::string& same_as) {
    Guard guard(rules_, clean);
    diag::Sink sink;
    guard.check_output(read(text), "", "x.yaml", text, sources_, sink, base::sha256(same_as));
    return sink.error_count();
  };
  const std::string secret = "{data: {a: " + kToken + "}}";
  EXPECT_EQ(errors(secret, secret), 1U);
  EXPECT_EQ(errors(secret, secret), 1U);  // what is found is found for every cluster
  EXPECT_EQ(errors("{data: {a: plain text}}", "plain"), 0U);
  EXPECT_EQ(errors(secret, "plain"), 0U);  // not searched: the digest says that it is known
}

TEST_F(SearchTest, GuardsChargeWhatTheRecordSpares) {
  const auto clean = std::make_shared<base::CleanRecord>();
  const yaml::Node large = arena_.string(std::string(40 * 1024 * 1024, '.'));
  const auto digest = base::sha256("large");
  for (int cluster = 0; cluster < 2; ++cluster) {
    Guard guard(rules_, clean);
    diag::Sink sink;
    guard.check_output(large, "", "a", "", sources_, sink, digest);
    EXPECT_TRUE(sink.empty());
    guard.check_output(large, "", "b", "", sources_, sink, digest);
    ASSERT_EQ(sink.all().size(), 1U) << cluster;  // more than the budget of one cluster
    EXPECT_NE(sink.all().front().message.find("cannot be searched"), std::string::npos);
  }
}

TEST_F(SearchTest, NamesAreSplitIntoWords) {
  for (const char* name : {"password", "dbPassword2", "DB_PASSWORDS", "my.api-key", "APIKey"}) {
    EXPECT_NE(rules_->named(name), nullptr) << name;
  }
  for (const char* name : {"", "pa", "123", "___", "size", "base64"}) {
    EXPECT_EQ(rules_->named(name), nullptr) << name;
  }
  EXPECT_EQ(rules_->named(std::string(129, 'a') + "password"), nullptr);
}

TEST(Base64, QuickLookMissesNothingThatIsWrapped) {
  EXPECT_TRUE(may_wrap("aGVsbG8gd29ybGQ="));          // hello world
  EXPECT_TRUE(may_wrap("H4sIAAAAAAAAAwAAAAD//w=="));  // gzip
  EXPECT_FALSE(may_wrap("AQIDBAUGBwgJ"));             // control characters
  EXPECT_FALSE(may_wrap("no base64 at all!"));
}

TEST_F(SearchTest, FaultyRulesAreReported) {
  const yaml::Node spec = read(
      "patterns: [{name: a, keywords: [abc], pattern: '['}]\n"
      "placeholders: ['(']");
  diag::Sink sink;
  const Rules rules({&spec, 1}, true, sink);
  EXPECT_EQ(sink.error_count(), 2U);
  for (const diag::Diagnostic& one : sink.all()) EXPECT_EQ(one.code, kFaultyRule);
}

TEST(Urls, HaveSecretsInAnyScheme) {
  const auto secret = [](const std::string& text) {
    const auto found = credentials_in_urls(text);
    return found.empty() ? "" : text.substr(found[0].begin, found[0].end - found[0].begin);
  };
  EXPECT_EQ(secret("HTTPS://u:p4ss@h/x"), "p4ss");
  EXPECT_EQ(secret("redis://:p4ss@h:6379"), "p4ss");
  EXPECT_EQ(secret("https://u:pa/ss4@h/x"), "pa/ss4");
  EXPECT_EQ(secret("u:p4ss!x9@proxy.example.com:3128"), "p4ss!x9");
  EXPECT_EQ(secret("ml:p4ss!x9@tcp(db:3306)/ml"), "p4ss!x9");
  for (const char* text : {"ssh://git@h/x", "https://h:8443/a@b", "git@h:a/b.git",
                           "mailto:a@example.com", "a@b.c", "quay.io/a/b:v1@sha256:0a1b"}) {
    EXPECT_EQ(secret(text), "") << text;
  }
}

TEST(Decode, BoundsWhatItUnpacks) {
  EXPECT_EQ(from_base64("eHl6eA==").value_or(""), "xyzx");
  EXPECT_EQ(from_base64("eHl6\neA==").value_or(""), "xyzx");
  EXPECT_FALSE(from_base64("a.b").has_value());
  EXPECT_EQ(from_percent("a%3Db%"), "a=b%");
  EXPECT_EQ(from_escapes("\\\"a\\\"\\n\\u0041"), "\"a\"\nA");
  EXPECT_EQ(escaped_lines("a\nb\\\"\nc\n\\u0041\nd\n"), "b\\\"\nc\n\\u0041");
  EXPECT_EQ(escaped_lines("\\n"), "\\n");
  EXPECT_EQ(escaped_lines("run \\\n  --fast \\\r\n\\"), "") << "lines that go on";
  EXPECT_TRUE(is_readable("text\n"));
  EXPECT_FALSE(is_readable(std::string("\x01\x02", 2)));
}

TEST(Words, TellNamesFromRandomText) {
  for (const char* name : {"registry-login", "db", "kubernetes-dashboard-certs", "node01.example",
                           "client_configuration_token.tok", "/var/run/secrets"}) {
    EXPECT_TRUE(is_name(name)) << name;
  }
  for (const char* secret : {"0a1b2c3d4e5f", "qwrtzpsdfg", "q7Rz0Kx3mT9b", "aB3dE5gH"}) {
    EXPECT_FALSE(is_name(secret)) << secret;
  }
}

}  // namespace
}  // namespace gpuctl::secrets
