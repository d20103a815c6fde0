#include "doctor/report.hpp"

#include <gtest/gtest.h>

#include "doctor/asking.hpp"
#include "doctor/examine.hpp"
#include "yaml/emit.hpp"

namespace gpuctl::doctor {
namespace {

TEST(Verdict, TheWorstFindingCounts) {
  Result result;
  result.findings = {{Verdict::pass, "fine", ""}, {Verdict::warn, "odd", ""}};
  EXPECT_EQ(result.verdict(), Verdict::warn);
  result.findings.push_back({Verdict::unknown, "silent", ""});
  EXPECT_EQ(result.verdict(), Verdict::unknown);
  result.findings.push_back({Verdict::fail, "wrong", ""});
  EXPECT_EQ(result.verdict(), Verdict::fail);
  EXPECT_EQ(verdict_named("unknown"), Verdict::unknown);
  EXPECT_EQ(verdict_named("maybe"), std::nullopt);
}

TEST(Report, SaysWhatIsWrongAndHidesWhatIsNot) {
  Result bad{"D4",
             "certificates",
             "somebody",
             true,
             {{Verdict::pass, "fine", ""},
              {Verdict::fail, "one\ntwo", "mend it"},
              {Verdict::fail, "three", "mend it"}}};
  Result good{"D9", "repository", "git", false, {{Verdict::pass, "takes pushes", ""}}};
  const std::string text = report_text({bad, good}, false);
  EXPECT_EQ(text,
            "D4   fail     certificates\n"
            "       one\n       two\n       -> mend it\n       three\n       source: somebody\n"
            "D9   pass     repository\n       takes pushes\n"
            "2 checks: 1 fail, 1 pass\n");
  EXPECT_EQ(report_text({}, false), "0 checks\n");
}

TEST(Report, TreeHasAllFindings) {
  yaml::Arena arena;
  const Result result{"D4", "t", "s", true, {{Verdict::warn, "e", "r"}, {Verdict::pass, "f", ""}}};
  EXPECT_EQ(
      yaml::emit_json(report_tree({result}, arena)),
      R"([{"id":"D4","title":"t","verdict":"warn","fatal":true,"source":"s","findings":)"
      R"([{"verdict":"warn","evidence":"e","remedy":"r"},{"verdict":"pass","evidence":"f"}]}])");
}

TEST(Secrets, AreTakenOutLongestFirst) {
  Secrets secrets;
  secrets.add("abc");  // too short to be told from words
  secrets.add("hunter22");
  secrets.add("user:hunter22");
  EXPECT_EQ(secrets.without("user:hunter22 and hunter22 and abc"), "*** and *** and abc");
}

TEST(Resolver, AddressesWithAndWithoutPorts) {
  for (const char* good :
       {"10.0.0.53", "10.0.0.53:5353", "fd00::53", "[fd00::53]", "[fd00::53]:53"}) {
    EXPECT_TRUE(is_server_address(good)) << good;
  }
  for (const char* bad : {"", "dns", "dns:53", "10.0.0.53:", "10.0.0.53:0", "10.0.0.53:99999",
                          "[fd00::53", "[fd00::53]53", "10.0.0.53,10.0.0.54"}) {
    EXPECT_FALSE(is_server_address(bad)) << bad;
  }
}

}  // namespace
}  // namespace gpuctl::doctor
