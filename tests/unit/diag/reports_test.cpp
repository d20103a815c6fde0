#include "diag/reports.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gpuctl::diag {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

Finding finding(Severity severity, std::string code, std::string message, std::uint32_t line) {
  Finding out;
  out.severity = severity;
  out.code = std::move(code);
  out.message = std::move(message);
  out.at = Place{"clusters/../a b#.yaml", {line, 3}, {line, 7}, "here"};
  out.printed = "printed " + out.code + "\n";
  return out;
}

std::string_view no_page(std::string_view) {
  return {};
}

json results(const std::vector<Subject>& subjects) {
  return json::parse(sarif_report(subjects, "1", no_page)).at("runs").at(0).at("results");
}

TEST(Reports, PathsAreReferences) {
  const json result =
      results({{"a", "a.yaml", false, {finding(Severity::error, "GPU1", "m", 2)}}}).at(0);
  const json where = result.at("locations").at(0).at("physicalLocation");
  EXPECT_EQ(where.at("artifactLocation").at("uri"), "a%20b%23.yaml");
  EXPECT_EQ(where.at("region").at("startLine"), 2);
  EXPECT_EQ(where.at("region").at("endColumn"), 7);
}

TEST(Reports, FindingsWithoutAPlaceAreAboutTheFile) {
  Finding nowhere = finding(Severity::error, "GPU1", "m", 1);
  nowhere.at.reset();
  const json where = results({{"a", "/x/a.yaml", false, {nowhere}}}).at(0).at("locations").at(0);
  EXPECT_EQ(where.at("physicalLocation").at("artifactLocation").at("uri"), "file:///x/a.yaml");
  EXPECT_EQ(where.at("physicalLocation").at("region").at("startLine"), 1);
}

TEST(Reports, WhatSubjectsShareIsListedOnce) {
  const Finding same = finding(Severity::warning, "GPU1", "m", 2);
  const std::vector<Subject> both = {{"a", "a.yaml", true, {same}}, {"b", "b.yaml", true, {same}}};
  EXPECT_EQ(results(both).size(), 1U);
  EXPECT_EQ(json::parse(code_quality_report(both)).size(), 1U);
  EXPECT_THAT(junit_report(both), HasSubstr("tests=\"2\" failures=\"0\""));
}

TEST(Reports, FingerprintsDifferAndDoNotMoveWithLines) {
  const auto prints = [](std::uint32_t line) {
    const json all = json::parse(code_quality_report(
        std::vector<Subject>{{"a",
                              "a.yaml",
                              false,
                              {finding(Severity::error, "GPU1", "m", line),
                               finding(Severity::error, "GPU1", "m", line + 1)}}}));
    return std::pair(all.at(0).at("fingerprint"), all.at(1).at("fingerprint"));
  };
  EXPECT_NE(prints(1).first, prints(1).second);
  EXPECT_EQ(prints(1), prints(5));
}

TEST(Reports, WarningsAreReasonsWhenNothingElseIs) {
  const std::string refused = junit_report(std::vector<Subject>{
      {"a",
       "a.yaml",
       false,
       {finding(Severity::note, "GPU1", "n", 1), finding(Severity::warning, "GPU2", "w", 2)}}});
  EXPECT_THAT(refused, HasSubstr("<failure type=\"GPU2\" message=\"w\">printed GPU2"));
  EXPECT_THAT(refused, HasSubstr("<system-out>printed GPU1"));
}

TEST(Reports, NothingInATextStandsForSomethingElse) {
  Finding odd = finding(Severity::error, "GPU1", "a \x01 <b> & \"c\" [d](e) \xE2\x80\xAE", 1);
  odd.printed = "]]> \x1B[31m\n";
  const std::vector<Subject> subjects = {{"<&>", "\"", false, {odd}}};
  const std::string junit = junit_report(subjects);
  EXPECT_THAT(junit, HasSubstr("name=\"&lt;&amp;&gt;\" classname=\"&quot;\""));
  EXPECT_THAT(junit, HasSubstr("]]&gt; \xEF\xBF\xBD[31m"));
  EXPECT_THAT(junit, Not(HasSubstr("\x01")));
  const std::string message = results(subjects).at(0).at("message").at("text");
  EXPECT_THAT(message, HasSubstr("\\[d\\](e) \xEF\xBF\xBD"));
}

TEST(Reports, RulesHaveTheirPages) {
  const std::vector<Subject> subjects = {
      {"a", "a.yaml", false, {finding(Severity::error, "GPU1", "m", 1)}}};
  const json driver = json::parse(sarif_report(subjects, "1.2",
                                               [](std::string_view) -> std::string_view {
                                                 return "# GPU1: a title\n\nText.\n";
                                               }))
                          .at("runs")
                          .at(0)
                          .at("tool")
                          .at("driver");
  EXPECT_EQ(driver.at("version"), "1.2");
  EXPECT_EQ(driver.at("rules").at(0).at("shortDescription").at("text"), "a title");
}

TEST(Reports, NothingFound) {
  const std::vector<Subject> subjects = {{"a", "a.yaml", true, {}}};
  EXPECT_EQ(results(subjects), json::array());
  EXPECT_EQ(code_quality_report(subjects), "[]\n");
  EXPECT_THAT(junit_report(subjects), HasSubstr("<testcase name=\"a\" classname=\"a.yaml\"/>"));
}

}  // namespace
}  // namespace gpuctl::diag
