#include "compose/lines.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "compose/body.hpp"
#include "support/knowledge.hpp"

namespace gpuctl::compose {
namespace {

using testing::Lab;

cel::Environment environment() {
  const cel::Type string = cel::Type::simple(cel::TypeKind::string);
  cel::Environment made;
  made.variables = {{"who", string},
                    {"n", cel::Type::simple(cel::TypeKind::integer)},
                    {"list", cel::Type::list(string)},
                    {"any", cel::Type::dyn()}};
  return made;
}

std::vector<cel::Value> values(Lab& lab) {
  return {lab.library->arena().string("world"), yaml::Node::integer(3), lab.parse("[a, b]"),
          lab.parse("{flag: true, odd: 1}")};
}

// The text as the body of a template; instead of it "CODE line:column message" of each mistake, a
// line each, or "fault: ...".
std::string make(const std::string& text) {
  Lab lab;
  diag::Sources& sources = lab.library->sources();
  std::string written = "t: |\n";
  for (const std::string_view line : base::split(text, '\n')) {
    written += (line.empty() ? "" : "  ") + std::string(line) + "\n";
  }
  if (!text.ends_with('\n')) written.replace(3, 1, "|-");
  const auto compiled = compile_body(lab.parse(written), environment(), sources, lab.sink);
  if (compiled == nullptr) {
    std::string out;
    for (const diag::Diagnostic& found : lab.sink.all()) {
      const diag::Span* span = sources.span(found.primary.at);
      const diag::Position at = sources.position(span->file, span->begin);
      // The text begins on the second line, two columns in.
      out += found.code + " " + std::to_string(at.line - 1) + ":" + std::to_string(at.column - 2) +
             " " + found.message + "\n";
    }
    return out;
  }
  std::vector<cel::Value> given = values(lab);
  const ResolveSecret none;
  Instance instance(lab.library->arena(), none, sources, lab.sink, nullptr);
  const auto made = instance.make(*compiled, given);
  EXPECT_EQ(given.size(), 4U);
  if (instance.fault()) return "fault: " + instance.fault()->error.message;
  return std::string(made->get("t").as_string());
}

TEST(Lines, AreLeftOutOrWritten) {
  EXPECT_EQ(make("one\n$if: n > 2\ntwo ${who}\n$end\nthree\n"), "one\ntwo world\nthree\n");
  EXPECT_EQ(make("one\n$if: n > 3\ntwo\n$end\nthree\n"), "one\nthree\n");
  EXPECT_EQ(make("$if: n > 3\ntwo\n$else\nother\n$end\n"), "other\n");
  EXPECT_EQ(make("$if: any.flag\nyes\n$end\n"), "yes\n");
  EXPECT_EQ(make("$if: false\nx\n$end\n"), "");
}

TEST(Lines, AreRepeated) {
  EXPECT_EQ(make("$forEach: x in list\n- ${x}\n$end\n"), "- a\n- b\n");
  EXPECT_EQ(make("$forEach: x in list\n$forEach: y in list\n${x + y}\n$end\n$end\n"),
            "aa\nab\nba\nbb\n");
  EXPECT_EQ(make("$forEach: x in list.filter(x, x == 'c')\n- ${x}\n$end\nend\n"), "end\n");
  EXPECT_EQ(make("$forEach: x in list\n$if: x == 'b'\n${x}\n$end\n$end\n"), "b\n");
}

TEST(Lines, NameValues) {
  EXPECT_EQ(make("$let: twice = who + who\n$let: more = twice + \"!\"\n${more}\n"),
            "worldworld!\n");
  EXPECT_EQ(make("$forEach: x in list\n$let: y = x + x\n${y}\n$end\n$forEach: x in list\n"
                 "$let: y = x\n${y}\n$end\n"),
            "aa\nbb\na\nb\n");
  EXPECT_EQ(make("$if: true\n$let: y = who\n${y}\n$else\n$let: y = 'z'\n${y}\n$end\n"), "world\n");
}

TEST(Lines, KeepTheirIndentationAndBlankLines) {
  EXPECT_EQ(make("a:\n    $if: n == 3\n  b:\n    c\n\n    $end\nd\n"), "a:\n  b:\n    c\n\nd\n");
  EXPECT_EQ(make("$if: true  \n\t\nx\n  $end \t\n"), "\t\nx\n");
}

TEST(Lines, EndAsTheTextIsWritten) {
  EXPECT_EQ(make("one\n$if: true\ntwo\n$end"), "one\ntwo");
  EXPECT_EQ(make("one\n$if: false\ntwo\n$end"), "one");
  EXPECT_EQ(make("$if: false\none\n$end\n${who}"), "world");
  EXPECT_EQ(make("$let: broken = who + \"\\n\"\nto ${broken}"), "to world\n");
}

TEST(Lines, OfOtherTextsMeanWhatTheyMeant) {
  for (const std::string& text :
       {std::string("$if: x"), std::string("$end"), std::string("echo $if: x\necho $end\n"),
        std::string("$ENDING\n$ends\n$@\n$1\n$\n"), std::string("$PATH:/bin\n$iff: x\n"),
        std::string("\"$else\"\n'$end'\n$end.\n${'$'}end\n")}) {
    EXPECT_FALSE(has_directives(text)) << text;
  }
  EXPECT_EQ(make("$if: true\n${'$'}end\n$HOME/bin\n$PATH:/bin\n$end\n"),
            "$end\n$HOME/bin\n$PATH:/bin\n");
}

TEST(Lines, OfAnExpressionAreNoDirectives) {
  EXPECT_EQ(make("$if: true\n${who +\n'''\n$end\n'''}|\n$end\n"), "world\n$end\n|\n");
  EXPECT_FALSE(has_directives("a ${'''\n$end\n'''}\n"));
}

TEST(Lines, HaveCommentsInTheirExpressions) {
  EXPECT_EQ(make("$if: n == 3  // why\nx\n$end\n"), "x\n");
  EXPECT_EQ(make("$forEach: x in list  // why\n${x}\n$end\n"), "a\nb\n");
}

TEST(Lines, MustMatch) {
  EXPECT_EQ(make("a\n$end\n"), "GPU0411 2:1 `$end` without its `$if` or `$forEach`\n");
  EXPECT_EQ(make("$if: true\nx\n$end\n  $end\n"),
            "GPU0411 4:3 `$end` without its `$if` or `$forEach`\n");
  EXPECT_EQ(make("x\n  $if: true\nx\n"), "GPU0411 2:3 `$if` without its `$end`\n");
  EXPECT_EQ(make("$forEach: x in list\n$if: true\n$end\n"),
            "GPU0411 1:1 `$forEach` without its `$end`\n");
  EXPECT_EQ(make("$if: true\n$else\nx\n"), "GPU0411 2:1 `$else` without its `$end`\n");
  EXPECT_EQ(make("a\n$else\n"), "GPU0411 2:1 `$else` without its `$if`\n");
  EXPECT_EQ(make("$forEach: x in list\n$else\n$end\n"), "GPU0411 2:1 `$else` without its `$if`\n");
  EXPECT_EQ(make("$if: true\n$else\n$else\n$end\n"), "GPU0411 3:1 `$else` without its `$if`\n");
}

TEST(Lines, MustBeWellFormed) {
  EXPECT_EQ(make("$if\nx\n$end\n"), "GPU0411 1:1 `$if` is incomplete\n");
  EXPECT_EQ(make("$if:\nx\n$end\n"), "GPU0411 1:1 `$if` is incomplete\n");
  EXPECT_EQ(make("$if n > 2\nx\n$end\n"), "GPU0411 1:1 `$if` is incomplete\n");
  EXPECT_EQ(make("$let\nx\n"), "GPU0411 1:1 `$let` is incomplete\n");
  EXPECT_EQ(make("$let: x\n"), "GPU0411 1:1 `$let` is malformed\n");
  EXPECT_EQ(make("$let: x == n\n"), "GPU0411 1:1 `$let` is malformed\n");
  EXPECT_EQ(make("$let: 1x = n\n"), "GPU0411 1:1 `$let` is malformed\n");
  EXPECT_EQ(make("$let: x =\n"), "GPU0411 1:1 `$let` is malformed\n");
  EXPECT_EQ(make("$forEach: x of list\n$end\n"), "GPU0411 1:1 `$forEach` is malformed\n");
  EXPECT_EQ(make("$forEach: list\n$end\n"), "GPU0411 1:1 `$forEach` is malformed\n");
  EXPECT_EQ(make("$forEach: x in\n$end\n"), "GPU0411 1:1 `$forEach` is malformed\n");
  EXPECT_EQ(make("$if: true\n$end if\n"), "GPU0411 2:1 `$end` stands alone on its line\n");
  EXPECT_EQ(make("$if: true\n$else: x\n$end\n"), "GPU0411 2:1 `$else` stands alone on its line\n");
  EXPECT_EQ(make("$if: true\n$elseIf: n > 1\n$end\n"), "GPU0411 2:1 unknown directive `$elseIf`\n");
  EXPECT_EQ(make("$let: who = 'x'\n"), "GPU0411 1:1 `who` is the name of something else here\n");
  EXPECT_EQ(make("$forEach: x in list\n$forEach: x in list\n$end\n$end\n"),
            "GPU0411 2:1 `x` is the name of something else here\n");
}

TEST(Lines, HaveTheirMistakesAtTheirPlaces) {
  EXPECT_EQ(make("a\n  $if: who > \n$end\n").substr(0, 13), "GPU0301 2:13 ");
  EXPECT_EQ(make("$if: true\n$let: y = n +* 1\n$end\n").substr(0, 13), "GPU0301 2:14 ");
  EXPECT_EQ(make("$if: wo == 'x'\n$end\n"), "GPU0302 1:6 undeclared name `wo`\n");
  EXPECT_EQ(make("$forEach: x in lst\n${x}\n$end\n"), "GPU0302 1:16 undeclared name `lst`\n");
  EXPECT_EQ(make("$if: true\nab ${wo}\n$end\n"), "GPU0302 2:6 undeclared name `wo`\n");
  EXPECT_EQ(make("$forEach: x in list\n$end\n${x}\n"), "GPU0302 3:3 undeclared name `x`\n");
  EXPECT_EQ(make("$if: true\n$let: y = n\n$end\n${y}\n"), "GPU0302 4:3 undeclared name `y`\n");
  EXPECT_EQ(make("$if: who\n$end\n"), "GPU0302 1:6 a condition must be a bool\n");
  EXPECT_EQ(make("$forEach: x in who\n$end\n"),
            "GPU0302 1:16 what is looped over must be a list\n");
  EXPECT_EQ(make("$if: true\n${n}\n$end\n"),
            "GPU0302 2:3 an expression inside text must be a string\n");
  EXPECT_EQ(make("$if: true\n$end\n${n}"),
            "GPU0302 3:3 an expression inside text must be a string\n");
  EXPECT_EQ(make("$if: true\n${n\n$end\n").substr(0, 12), "GPU0301 2:1 ");
  // All of them at once.
  EXPECT_EQ(make("$if: wo\n${wi}\n$end\n$end\n"),
            "GPU0302 1:6 undeclared name `wo`\nGPU0302 2:3 undeclared name `wi`\n"
            "GPU0411 4:1 `$end` without its `$if` or `$forEach`\n");
}

TEST(Lines, ReportRunTimeFaults) {
  EXPECT_EQ(make("$if: any.gone\n$end\n"), "fault: no such key `gone`");
  EXPECT_EQ(make("$if: any.odd\n$end\n"), "fault: a condition must be a bool");
  EXPECT_EQ(make("$forEach: x in any.odd\n$end\n"), "fault: what is looped over must be a list");
  EXPECT_TRUE(
      make("$if: true\n${any.odd}\n$end\n").starts_with("fault: an expression inside text"));
  EXPECT_EQ(make("$let: x = any.gone\n"), "fault: no such key `gone`");
}

TEST(Lines, AreCountedAndNestedWithinLimits) {
  std::string loops;
  std::string ends;
  for (int i = 0; i < 7; ++i) {
    loops += "$forEach: x" + std::to_string(i) + " in lists.range(10)\n";
    ends += "$end\n";
  }
  EXPECT_EQ(make(loops + ends), "fault: the text needs more than 5000000 steps");
  EXPECT_EQ(make("$forEach: x in lists.range(500)\n$forEach: y in lists.range(1000)\n" +
                 std::string(100, 'x') + "\n$end\n$end\n"),
            "fault: the text needs more than 5000000 steps");
  std::string deep;
  for (int i = 0; i < 10'000; ++i) deep += "$if: true\n";
  EXPECT_EQ(make(deep + "x\n"), "GPU0411 64:1 directives are nested deeper than 64\n");
}

// Each expression is noted with its place; the text reads what decided about it.
TEST(Lines, TellWhereTheyComeFrom) {
  Lab lab;
  diag::Sources& sources = lab.library->sources();
  yaml::Arena& arena = lab.library->arena();
  const yaml::Node written =
      lab.parse("t: |\n  $if: n > 2\n  $let: twice = who + who\n  hello ${twice}\n  $end\n");
  const auto compiled = compile_body(written, environment(), sources, lab.sink);
  ASSERT_NE(compiled, nullptr) << lab.report();
  cel::Provenance provenance;
  std::vector<cel::Value> given = values(lab);
  given[0] = provenance.mark("who", given[0].node(), arena);
  const diag::Origin who = given[0].node().origin();
  const ResolveSecret none;
  Instance instance(arena, none, sources, lab.sink, &provenance);
  const auto made = instance.make(*compiled, given);
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(made->get("t").as_string(), "hello worldworld\n");
  const auto* text = provenance.evaluation(made->get("t").origin());
  ASSERT_NE(text, nullptr);
  ASSERT_EQ(text->reads.size(), 2U);
  const auto* condition = provenance.evaluation(text->reads[0]);
  const auto* inserted = provenance.evaluation(text->reads[1]);
  ASSERT_TRUE(condition != nullptr && inserted != nullptr);
  EXPECT_EQ(sources.text(condition->scalar.origin()), "n > 2");
  EXPECT_EQ(sources.text(inserted->scalar.origin()), "twice");
  ASSERT_EQ(inserted->reads.size(), 1U);
  const auto* bound = provenance.evaluation(inserted->reads[0]);
  ASSERT_NE(bound, nullptr);
  EXPECT_EQ(sources.text(bound->scalar.origin()), "who + who");
  EXPECT_EQ(bound->reads, std::vector<diag::Origin>{who});
}

TEST(Lines, TellWhatAFaultHasRead) {
  for (const char* directive : {"$if: any", "$forEach: x in any"}) {
    Lab lab;
    yaml::Arena& arena = lab.library->arena();
    const auto compiled =
        compile_body(lab.parse("t: |\n  " + std::string(directive) + "\n  $end\n"), environment(),
                     lab.library->sources(), lab.sink);
    ASSERT_NE(compiled, nullptr) << lab.report();
    cel::Provenance provenance;
    std::vector<cel::Value> given = values(lab);
    given[3] = provenance.mark("any", given[3].node(), arena);
    const ResolveSecret none;
    Instance instance(arena, none, lab.library->sources(), lab.sink, &provenance);
    EXPECT_FALSE(instance.make(*compiled, given).has_value());
    ASSERT_TRUE(instance.fault());
    const auto* evaluation = provenance.evaluation(instance.fault()->evaluation);
    ASSERT_NE(evaluation, nullptr) << directive;
    EXPECT_EQ(evaluation->reads, std::vector<diag::Origin>{given[3].node().origin()});
  }
}

}  // namespace
}  // namespace gpuctl::compose
