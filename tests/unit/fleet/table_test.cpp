#include "fleet/table.hpp"

#include <gtest/gtest.h>

#include "diag/print.hpp"
#include "yaml/emit.hpp"

namespace gpuctl::fleet {
namespace {

// The rows as JSON, or what is wrong as "LINE:COLUMN MESSAGE".
std::string rows_of(const std::string& text, const std::string& name = "t.csv") {
  diag::Sources sources;
  yaml::Arena arena;
  diag::Sink sink;
  const auto rows = read_table(sources.add_file(name, text), {}, {sources, arena, sink});
  if (rows) return yaml::emit_json(*rows);
  std::string out;
  for (const diag::Diagnostic& finding : sink.all()) {
    EXPECT_EQ(finding.code, "GPU0813") << finding.message;
    const std::string place = sources.place(finding.primary.at);
    out += (out.empty() ? "" : "; ") + place.substr(name.size() + 1) + " " + finding.message;
  }
  return out;
}

TEST(Table, ReadsCsv) {
  EXPECT_EQ(rows_of("a,b\n1,x\n2,y\n"), R"([{"a":"1","b":"x"},{"a":"2","b":"y"}])");
  EXPECT_EQ(rows_of("a,b\r\n1,x\r\n"), R"([{"a":"1","b":"x"}])");
  EXPECT_EQ(rows_of("a\n1"), R"([{"a":"1"}])");
  EXPECT_EQ(rows_of("\xEF\xBB\xBF"
                    "a\n1\n"),
            R"([{"a":"1"}])");
  EXPECT_EQ(rows_of("a,b\n\n1,\n\n"), R"([{"a":"1","b":""}])");
  EXPECT_EQ(rows_of("a\n"), "[]");
  EXPECT_EQ(rows_of("a,b\n 1 ,\t\n"), R"([{"a":" 1 ","b":"\t"}])");
}

TEST(Table, ReadsQuotes) {
  EXPECT_EQ(rows_of("\"a\",b\n\"x, y\",\"say \"\"hi\"\"\"\n"),
            R"([{"a":"x, y","b":"say \"hi\""}])");
  EXPECT_EQ(rows_of("a,b\n\"1\n2\",\"\"\n"), R"([{"a":"1\n2","b":""}])");
  EXPECT_EQ(rows_of("a,b\n\"1\r\n2\",3\r\n"), R"([{"a":"1\r\n2","b":"3"}])");
}

TEST(Table, SaysWhereItIsWrong) {
  EXPECT_EQ(rows_of(""), "1:1 this table has no line");
  EXPECT_EQ(rows_of("\n\n"), "1:1 this table has no line");
  EXPECT_EQ(rows_of("a,b\n1,2\n3\n"), "3:1 this row has 1 cell");
  EXPECT_EQ(rows_of("a,b\n1,2,3\n"), "2:1 this row has 3 cells");
  EXPECT_EQ(rows_of("a,b\n1,x\"y\n"), "2:4 a quote stands in a cell without quotes");
  EXPECT_EQ(rows_of("a,b\n1,\"x\n\n"), "2:3 the quote that opens this cell is not closed");
  EXPECT_EQ(rows_of("a,b\n\"x\"y,1\n"), "2:4 text stands behind the closing quote of a cell");
  EXPECT_EQ(rows_of("a,b,a\n"), "1:5 a second column `a`");
  EXPECT_EQ(rows_of("a,b c,\n"),
            "1:3 `b c` is no name for a column; 1:7 `` is no name for a column");
  EXPECT_EQ(rows_of("a\rb\n"), "1:2 a line of this table ends with CR alone");
  EXPECT_EQ(rows_of("a\n\xff\n"), "1:1 this table is no text in UTF-8");
  EXPECT_EQ(rows_of(std::string("a\nx\0y\n", 6)), "2:2 a control character stands in this table");
}

TEST(Table, ReadsYaml) {
  EXPECT_EQ(rows_of("[{a: 1}, {a: x, b: [2]}]", "t.yaml"), R"([{"a":1},{"a":"x","b":[2]}])");
  EXPECT_EQ(rows_of("a: 1", "t.yaml"), "1:1 this table is no list of maps");
  EXPECT_EQ(rows_of("- {a: 1}\n- b\n", "t.yaml"), "2:3 this table is no list of maps");
  EXPECT_EQ(rows_of("", "t.yaml"), "1:1 this table is no list of maps");
}

}  // namespace
}  // namespace gpuctl::fleet
