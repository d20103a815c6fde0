#include "diag/print.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gpuctl::diag {
namespace {

using testing::HasSubstr;
using testing::Not;

class Print : public testing::Test {
 protected:
  // The origin of the first `part` in the file.
  Origin at(FileId file, std::string_view part) {
    const std::size_t begin = sources_.file_text(file).find(part);
    EXPECT_NE(begin, std::string_view::npos) << part;
    return sources_.add_span(file, static_cast<std::uint32_t>(begin),
                             static_cast<std::uint32_t>(begin + part.size()));
  }
  std::string text(const Diagnostic& diagnostic, bool colour = false) const {
    std::string out;
    print_text(diagnostic, sources_, colour, out);
    return out;
  }
  nlohmann::json json(const Diagnostic& diagnostic) const {
    std::string out;
    print_json(diagnostic, sources_, out);
    EXPECT_TRUE(out.ends_with("}\n"));
    EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 1);
    return nlohmann::json::parse(out);
  }

  Sources sources_;
  Sink sink_;
};

TEST_F(Print, OneSpan) {
  std::string lines;
  for (int i = 1; i < 31; ++i) lines += "x\n";
  const FileId file = sources_.add_file("blueprints/prod.yaml", lines + "      model: A100-80G\n");
  const Diagnostic& diagnostic =
      sink_.error("GPU0142", at(file, "A100-80G"), "unknown GPU model `A100-80G`")
          .label("not in the catalogue")
          .expect("one of 23 models, see `gpuctl catalog gpus`")
          .suggest("did you mean `A100-80GB`?");
  EXPECT_EQ(text(diagnostic),
            "error[GPU0142]: unknown GPU model `A100-80G`\n"
            "  --> blueprints/prod.yaml:31:14\n"
            "   |\n"
            "31 |       model: A100-80G\n"
            "   |              ^^^^^^^^ not in the catalogue\n"
            "   = expected: one of 23 models, see `gpuctl catalog gpus`\n"
            "help: did you mean `A100-80GB`?\n");
}

TEST_F(Print, AllFacts) {
  const FileId file = sources_.add_file("a.yaml", "k: v\n");
  const Diagnostic& diagnostic = sink_.warning("GPU0001", at(file, "v"), "odd")
                                     .expect("this\nor that")
                                     .got("v")
                                     .note("first")
                                     .note("second")
                                     .suggest("do this\nand that")
                                     .suggest("or nothing");
  EXPECT_EQ(text(diagnostic),
            "warning[GPU0001]: odd\n"
            " --> a.yaml:1:4\n"
            "  |\n"
            "1 | k: v\n"
            "  |    ^\n"
            "  = expected: this\n"
            "              or that\n"
            "  = found: v\n"
            "  = note: first\n"
            "  = note: second\n"
            "help: do this\n"
            "      and that\n"
            "help: or nothing\n");
}

TEST_F(Print, WithoutPosition) {
  const Diagnostic& diagnostic =
      sink_.note("GPU0002", kNoOrigin, "nothing to do").label("really").expect("work");
  EXPECT_EQ(text(diagnostic),
            "note[GPU0002]: nothing to do\n"
            "  = note: really\n"
            "  = expected: work\n");
}

TEST_F(Print, SecondSpanNearBy) {
  const FileId file = sources_.add_file("a.yaml", "a: 1\nb: 2\nb: 3\na: 4\n");
  const Origin again = sources_.add_span(file, 15, 16);
  const Diagnostic& near =
      sink_.error("GPU0104", sources_.add_span(file, 10, 11), "key `b` is given twice")
          .label("again here")
          .also(at(file, "b"), "first defined here");
  EXPECT_EQ(text(near),
            "error[GPU0104]: key `b` is given twice\n"
            " --> a.yaml:3:1\n"
            "  |\n"
            "2 | b: 2\n"
            "  | - first defined here\n"
            "3 | b: 3\n"
            "  | ^ again here\n");
  const Diagnostic& far = sink_.error("GPU0104", again, "key `a` is given twice")
                              .also(at(file, "a"), "first defined here");
  EXPECT_EQ(text(far),
            "error[GPU0104]: key `a` is given twice\n"
            " --> a.yaml:4:1\n"
            "  |\n"
            "1 | a: 1\n"
            "  | - first defined here\n"
            "...\n"
            "4 | a: 4\n"
            "  | ^\n");
}

TEST_F(Print, OneLineBetweenIsShown) {
  const FileId file = sources_.add_file("a.yaml", "a: 1\nb: 2\na: 3\n");
  const Diagnostic& diagnostic =
      sink_.error("GPU0104", sources_.add_span(file, 10, 11), "twice").also(at(file, "a"), "first");
  EXPECT_EQ(text(diagnostic),
            "error[GPU0104]: twice\n"
            " --> a.yaml:3:1\n"
            "  |\n"
            "1 | a: 1\n"
            "  | - first\n"
            "2 | b: 2\n"
            "3 | a: 3\n"
            "  | ^\n");
}

TEST_F(Print, TwoSpansOnOneLine) {
  const FileId file = sources_.add_file("a.yaml", "{a: 1, a: 2}\n");
  const Diagnostic& diagnostic = sink_.error("GPU0104", sources_.add_span(file, 7, 8), "twice")
                                     .label("again")
                                     .also(at(file, "a"), "first");
  EXPECT_EQ(text(diagnostic),
            "error[GPU0104]: twice\n"
            " --> a.yaml:1:8\n"
            "  |\n"
            "1 | {a: 1, a: 2}\n"
            "  |        ^ again\n"
            "  |  - first\n");
}

TEST_F(Print, AnotherFile) {
  const FileId file = sources_.add_file("a.yaml", "zone: x\n");
  const FileId table =
      sources_.add_file("tables/zones.yaml", "1\n2\n3\n4\n5\n6\n7\n8\n9\n- name: us-east\n");
  const Diagnostic& diagnostic = sink_.error("GPU4001", at(file, "x"), "unknown zone `x`")
                                     .also(at(table, "us-east"), "the region has this one")
                                     .suggest("use `us-east`");
  EXPECT_EQ(text(diagnostic),
            "error[GPU4001]: unknown zone `x`\n"
            "  --> a.yaml:1:7\n"
            "   |\n"
            "1  | zone: x\n"
            "   |       ^\n"
            "   |\n"
            "  ::: tables/zones.yaml:10:9\n"
            "   |\n"
            "10 | - name: us-east\n"
            "   |         ------- the region has this one\n"
            "help: use `us-east`\n");
}

TEST_F(Print, OnlyASecondSpan) {
  const FileId file = sources_.add_file("a.yaml", "k: v\n");
  const Diagnostic& diagnostic = sink_.error("GPU0001", kNoOrigin, "wrong")
                                     .label("here")
                                     .also(at(file, "v"), "because of this");
  EXPECT_EQ(text(diagnostic),
            "error[GPU0001]: wrong\n"
            " --> a.yaml:1:4\n"
            "  |\n"
            "1 | k: v\n"
            "  |    - because of this\n"
            "  = note: here\n");
}

TEST_F(Print, TabsAndWideCharacters) {
  const FileId file = sources_.add_file("a.yaml", "\tk:\t日本 é x\r\n");
  EXPECT_EQ(text(sink_.error("GPU0001", at(file, "x"), "m").label("l")),
            "error[GPU0001]: m\n"
            " --> a.yaml:1:10\n"
            "  |\n"
            "1 |     k:    日本 é x\n"
            "  |                  ^ l\n");
  EXPECT_THAT(text(sink_.error("GPU0001", at(file, "日本"), "m")), HasSubstr("|           ^^^^\n"));
}

TEST_F(Print, SpanOverSeveralLines) {
  const FileId file = sources_.add_file("a.yaml", "k: one\n  two\nm: 1\n");
  EXPECT_EQ(text(sink_.error("GPU0001", at(file, "one\n  two"), "m").label("l")),
            "error[GPU0001]: m\n"
            " --> a.yaml:1:4\n"
            "  |\n"
            "1 | k: one\n"
            "  |    ^^^ l\n");
}

TEST_F(Print, EmptySpanAtTheEnd) {
  const FileId file = sources_.add_file("a.yaml", "k: [1");
  EXPECT_EQ(text(sink_.error("GPU0102", sources_.add_span(file, 5, 5), "not closed")),
            "error[GPU0102]: not closed\n"
            " --> a.yaml:1:6\n"
            "  |\n"
            "1 | k: [1\n"
            "  |      ^\n");
  const FileId empty = sources_.add_file("b.yaml", "");
  EXPECT_EQ(text(sink_.error("GPU0102", sources_.add_span(empty, 0, 0), "empty")),
            "error[GPU0102]: empty\n"
            " --> b.yaml:1:1\n"
            "  |\n"
            "1 |\n"
            "  | ^\n");
}

TEST_F(Print, LongLinesAreCutAroundTheCaret) {
  const std::string filler(5000, 'a');
  const FileId file = sources_.add_file("a.yaml", "k: " + filler + " HERE " + filler + "\n");
  const std::string out = text(sink_.error("GPU0001", at(file, "HERE"), "m").label("l"));
  std::size_t begin = 0;
  std::vector<std::string> lines;
  for (std::size_t end; (end = out.find('\n', begin)) != std::string::npos; begin = end + 1) {
    lines.push_back(out.substr(begin, end - begin));
  }
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_LE(lines[3].size(), 4U + 160U + 3U);
  EXPECT_TRUE(lines[3].starts_with("1 | ...aaa"));
  EXPECT_TRUE(lines[3].ends_with("aaa..."));
  const std::size_t column = lines[3].find("HERE");
  ASSERT_NE(column, std::string::npos);
  EXPECT_EQ(lines[4].find("^^^^ l"), column);
}

TEST_F(Print, LongUnderlinesEndWithTheLine) {
  const FileId file = sources_.add_file("a.yaml", "k: " + std::string(5000, 'a') + "\n");
  const std::string out = text(sink_.error("GPU0001", sources_.add_span(file, 3, 5003), "m"));
  EXPECT_THAT(out, HasSubstr(std::string(157, '^') + "\n"));
  EXPECT_THAT(out, Not(HasSubstr(std::string(158, '^'))));
}

TEST_F(Print, NothingSteersTheTerminal) {
  const FileId file = sources_.add_file("a\x1b[2J.yaml", "k: \x1b[31m\xE2\x80\xAE\xFFx\n");
  const Diagnostic& diagnostic =
      sink_.error("GPU0001", at(file, "x"), "bad \x1b[0m").label("a\rb").suggest("\x07");
  const std::string out = text(diagnostic);
  EXPECT_THAT(out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(out, Not(HasSubstr("\r")));
  EXPECT_THAT(out, Not(HasSubstr("\x07")));
  EXPECT_THAT(out, Not(HasSubstr("\xFF")));
  EXPECT_THAT(out, HasSubstr("1 | k: \xEF\xBF\xBD[31m\xEF\xBF\xBD\xEF\xBF\xBDx\n"
                             "  |           ^ a\xEF\xBF\xBD"
                             "b\n"));
}

TEST_F(Print, Colours) {
  const FileId file = sources_.add_file("a.yaml", "k: v\n");
  const Diagnostic& diagnostic =
      sink_.error("GPU0001", at(file, "v"), "m").label("l").note("n").suggest("h");
  EXPECT_EQ(text(diagnostic, true),
            "\x1b[1;31merror[GPU0001]\x1b[0m\x1b[1m: m\x1b[0m\n"
            " \x1b[1;34m-->\x1b[0m a.yaml:1:4\n"
            "  \x1b[1;34m|\x1b[0m\n"
            "\x1b[1;34m1 |\x1b[0m k: v\n"
            "  \x1b[1;34m|\x1b[0m    \x1b[1;31m^ l\x1b[0m\n"
            "  \x1b[1;34m=\x1b[0m \x1b[1mnote\x1b[0m: n\n"
            "\x1b[1;36mhelp\x1b[0m: h\n");
}

TEST_F(Print, Json) {
  const FileId file = sources_.add_file("a.yaml", "é: one\n  two\n");
  const FileId other = sources_.add_file("b.yaml", "x\n");
  Diagnostic& diagnostic = sink_.warning("GPU0001", at(file, "one\n  two"), "m \"q\"")
                               .label("l")
                               .also(at(other, "x"), "s")
                               .expect("e")
                               .got("f")
                               .note("n")
                               .suggest("h");
  diagnostic.path = "spec.x";
  EXPECT_EQ(json(diagnostic), nlohmann::json::parse(R"({
    "code": "GPU0001", "severity": "warning", "message": "m \"q\"",
    "path": "spec.x",
    "spans": [
      {"file": "a.yaml", "line": 1, "column": 4, "endLine": 2, "endColumn": 6,
       "label": "l", "primary": true},
      {"file": "b.yaml", "line": 1, "column": 1, "endLine": 1, "endColumn": 2,
       "label": "s", "primary": false}],
    "expected": "e", "found": "f", "notes": ["n"], "help": ["h"],
    "docs": "gpuctl explain GPU0001"})"));
}

TEST_F(Print, JsonKeepsItsOrderAndEmptyFields) {
  std::string out;
  print_json(sink_.error("GPU0002", kNoOrigin, "m"), sources_, out);
  EXPECT_EQ(
      out,
      R"({"code":"GPU0002","severity":"error","message":"m","path":"","spans":[],"expected":"",)"
      R"("found":"","notes":[],"help":[],"docs":"gpuctl explain GPU0002"})"
      "\n");
}

TEST_F(Print, JsonReplacesBadBytes) {
  const FileId file = sources_.add_file("a\xFF.yaml", "k\n");
  EXPECT_EQ(json(sink_.error("GPU0001", at(file, "k"), "bad \xFF"))["message"], "bad \xEF\xBF\xBD");
}

}  // namespace
}  // namespace gpuctl::diag
