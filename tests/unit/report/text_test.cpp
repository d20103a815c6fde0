// What a report shows stays text, whatever it is.
#include <gtest/gtest.h>

#include <string>

#include "report/costs.hpp"
#include "report/drawings.hpp"
#include "report/html.hpp"
#include "report/markdown.hpp"
#include "report/markup.hpp"

namespace gpuctl::report {
namespace {

constexpr const char* kHostile = "</style></title><script>alert('1')</script>\"&<!--";

TEST(Escaped, LeavesNoMarkup) {
  EXPECT_EQ(escaped("<a href=\"x\" title='y'>&amp;"),
            "&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;amp;");
  EXPECT_EQ(escaped("]]><!--"), "]]&gt;&lt;!--");
  EXPECT_EQ(escaped(""), "");
}

TEST(Escaped, ShowsWhatNobodyWouldSee) {
  EXPECT_EQ(escaped(std::string("a\0b\x1b[31m", 8)),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD[31m");
  EXPECT_EQ(escaped("a\xE2\x80\xAE"
                    "b"),
            "a\xEF\xBF\xBD"
            "b")
      << "right-to-left override";
  EXPECT_EQ(escaped("a\xFF"), "a\xEF\xBF\xBD") << "no UTF-8";
}

TEST(Markup, EscapesTextsAndAttributes) {
  Markup out;
  out.open("p", {{"id", "\"><b>"}}).text("<i>").element("code", "a&b").close();
  EXPECT_EQ(out.written(), "<p id=\"&quot;&gt;&lt;b&gt;\">&lt;i&gt;<code>a&amp;b</code></p>\n");
}

TEST(MarkdownText, LeavesNoMarkup) {
  EXPECT_EQ(markdown_text("a|b\n# [x](y) <b> `c` ![d] &amp;"),
            "a\\|b \\# \\[x\\](y) &lt;b\\> \\`c\\` \\!\\[d\\] &amp;amp;");
}

TEST(MarkdownText, LeavesUnderscoresWithinWords) {
  EXPECT_EQ(markdown_text("A_B_1 _c_ d__e"), "A_B_1 \\_c\\_ d\\_\\_e");
}

// A cluster of one part that costs so much, at least or in all.
cost::Estimate estimate_of(const std::string& name, std::int64_t micros, bool complete) {
  cost::Part part;
  part.name = part.type = name;
  part.min = 1;
  part.max = 2;
  part.gpus = 4;
  part.gpu_watts = 1'400;
  const cost::Amount amount = cost::Amount::of_micros(micros);
  part.month = {cost::Figure{amount, complete}, cost::Figure{amount, complete},
                cost::Figure{amount + amount, complete}};
  cost::Line line;
  line.name = line.key = line.region = line.source = line.as_of = line.unknown = line.unit = name;
  part.lines = {line};
  cost::Estimate out;
  out.cluster = name;
  out.currency = "EUR";
  out.month = part.month;
  out.parts = {part};
  out.leaves_out = {name};
  return out;
}

// Hostile texts wherever a page shows one.
Page hostile() {
  Cluster cluster;
  cluster.name = kHostile;
  cluster.details = {{kHostile, kHostile}};
  cluster.pools = {
      {kHostile, {{kHostile, kHostile}}, {{kHostile, kHostile, kHostile, kHostile}}, {kHostile}}};
  Layout layout;
  layout.pool = layout.title = layout.gpus = kHostile;
  layout.gpu = {kHostile, 2, 2, {{kHostile, 1, 1, {0, 1}, 2, {}}}, {}};
  layout.placed.ok = true;
  layout.placed.placements = {{kHostile, 0, 1}};
  cluster.layouts = {layout};
  const std::chrono::sys_days day = std::chrono::year(2026) / 11 / 22;
  cluster.versions = {{kHostile, kHostile, kHostile, day, day + std::chrono::days(9)}};
  cluster.needs = {{kHostile, kHostile, kHostile, kHostile}};
  cluster.networks = {{kHostile, kHostile, {kHostile}, {kHostile}}};
  diag::Finding finding;
  finding.code = finding.message = kHostile;
  finding.sentences = {kHostile};
  finding.at = diag::Place{kHostile, {1, 1}, {1, 2}, {}};
  cluster.findings = {finding};
  cluster.missing = {{kHostile, kHostile, 1}};
  cluster.plan = Plan{kHostile, kHostile, {{kHostile, kHostile, kHostile, kHostile}}};
  cluster.plan->costs = cost::Change{};
  cluster.checklists = {
      {kHostile, kHostile, {{kHostile, kHostile, kHostile, false, kHostile, {}}}},
      {kHostile, kHostile, {{"a", "a", "MUST", true, "a", {{"a", kHostile, kHostile}}}}}};
  cluster.cost = estimate_of(kHostile, 734'000'000, true);
  return {day, {cluster, cluster}, {}, "https://docs.example.com/\"><b>/"};
}

TEST(Html, IsNotBrokenByWhatItShows) {
  const std::string page = html(hostile());
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("<!--"), std::string::npos);
  EXPECT_EQ(page.find("</style>"), page.rfind("</style>"));
  EXPECT_EQ(page.find("'1'"), std::string::npos);
  EXPECT_EQ(html(hostile()), page);
}

TEST(Markdown, IsNotBrokenByWhatItShows) {
  const std::string page = markdown(hostile());
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("<!--"), std::string::npos);
}

TEST(Layout, SaysWhatIsLost) {
  gpu::MigClass gpu{"sample", 4, 3, {{"1g", 1, 1, {0, 1, 2}, 3, {}}, {"3g", 3, 4, {0}, 1, {}}}, {}};
  const Layout layout{"a", "Sample", "1", gpu, gpu::place(gpu, {{"1g", 3}})};
  EXPECT_EQ(
      words_of(layout),
      "memory slices: 3 of 4 used, 0 free, 1 lost; compute slices: 3 of 3 used, 0 free, 0 lost");
  EXPECT_EQ(places_of(layout), "1g at 0, 1g at 1, 1g at 2");
  Markup out;
  draw_layout(layout, "x", out);
  EXPECT_NE(out.written().find(">lost</text>"), std::string::npos);
  EXPECT_EQ(out.written().find(">free</text>"), std::string::npos);
}

TEST(CostDrawing, SaysInWordsWhatItShows) {
  const cost::Estimate estimate = estimate_of("gpu", 734'380'000, true);
  cost::Hours hours;
  hours.at_max = 100;
  Markup out;
  draw_costs(priced_parts(estimate), "Costs", hours, "x", out);
  EXPECT_NE(out.written().find(">gpu: 734 to 1469, typically 734<"), std::string::npos);
  EXPECT_NE(out.written().find("width=\"50.00%\" height=\"12\" class=\"term\""), std::string::npos);
  EXPECT_NE(out.written().find("x=\"50.00%\""), std::string::npos);
}

TEST(CostDrawing, IsLeftOutWhereNothingIsKnown) {
  Markup out;
  draw_costs(priced_parts(estimate_of("gpu", 0, false)), "Costs", {}, "x", out);
  EXPECT_EQ(out.written(), "");
}

TEST(SumTable, KnowsNothingOfARefusedCluster) {
  Page page;
  page.clusters.resize(2);
  page.clusters[0].name = "a";
  page.clusters[0].cost = estimate_of("a", 730'000'000, true);
  page.clusters[1].name = "b";
  const Table table = sum_table(page);
  const std::vector<Cells> expected = {
      {"a", "1.00", "2.00", "730.00", "1460.00"},
      {"b", "unknown", "unknown", "unknown", "unknown"},
      {"total", "at least 1.00", "at least 2.00", "at least 730.00", "at least 1460.00"}};
  EXPECT_EQ(table.rows, expected);
}

TEST(Requirement, IsJudgedByItsMechanisms) {
  Requirement one{"id", "title", "MUST", false, "something", {}};
  EXPECT_EQ(one.verdict(), "missing");
  one.mechanisms = {{"id", "", "there is none", false}};
  EXPECT_EQ(one.verdict(), "not applicable");
  one.mechanisms.push_back({"id", "Object a", "", true});
  EXPECT_EQ(one.verdict(), "mechanism present");
  one.demonstrated = true;
  EXPECT_EQ(one.verdict(), "needs a run");
}

TEST(Timeline, IsLeftOutWithoutEnds) {
  Markup out;
  draw_timeline({{"a", "1", "", {}, {}}}, std::chrono::year(2026) / 1 / 1, "x", out);
  EXPECT_EQ(out.written(), "");
}

}  // namespace
}  // namespace gpuctl::report
