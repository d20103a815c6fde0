// Where a fault in an expression is reported, for each way YAML can write the expression.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "cel/scalar.hpp"
#include "yaml/read.hpp"

namespace gpuctl::cel {
namespace {

/// A YAML text whose key `e` holds an expression. `@` marks where the reported place starts, `~`
/// where it ends; both are taken out before the text is read.
struct Case {
  const char* style;
  std::string text;
  const char* message;
};

struct Marked {
  std::string text;
  std::size_t begin = 0;
  std::size_t end = 0;
};

Marked unmark(const std::string& text) {
  Marked marked;
  for (const char c : text) {
    if (c == '@') {
      marked.begin = marked.text.size();
    } else if (c == '~') {
      marked.end = marked.text.size();
    } else {
      marked.text.push_back(c);
    }
  }
  return marked;
}

/// 1-based line and column, counted in characters, of a byte offset.
std::string line_and_column(const std::string& text, std::size_t offset) {
  std::size_t line = 1;
  std::size_t column = 1;
  for (std::size_t i = 0; i < offset; ++i) {
    if (text[i] == '\n') {
      ++line;
      column = 1;
    } else if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) {
      ++column;
    }
  }
  return std::to_string(line) + ":" + std::to_string(column);
}

/// The faults of one expression, at the start, in the middle, at the end of it: names that are not
/// there, a fault of syntax, one at run time, a missing end.
std::vector<Case> bare_cases() {
  const char* missing = "undeclared name `oops`";
  const char* early = "the expression ends too early, expected a value";
  return {
      {"plain", "e: @oops~ + 1\n", missing},
      {"plain", "e: 1 + @oops~ + 1\n", missing},
      {"plain", "e: 1 + @oops~\n", missing},
      {"plain", "e: 1 + @oops~   # comment\n", missing},
      {"plain", "e: 1 +@~\n", early},
      {"plain", "é: 1\ne: size('é😀é') + @oops~\n", missing},
      {"plain", "e: 1 + @1 / 0~ + 1\n", "division by zero"},
      {"plain of several lines", "e: 1 +\n  2 + @oops~\n", missing},
      {"plain of several lines", "e: @oops~ +\n\n\n  2\n", missing},
      {"plain of several lines", "e:\n  1 +\n\n\n    @oops~\n  + 2\n", missing},
      {"plain of several lines", "e: 1\n  +@~\n\n\n", early},
      {"plain of several lines", "e: 1 +\n  @1\n  /\n  0~\n", "division by zero"},
      {"plain of several lines", "e: 1 +\r\n  2 + @oops~\r\n", missing},
      {"single", "e: '@oops~ + 1'\n", missing},
      {"single", "e: 'size(''a'') + @oops~'\n", missing},
      {"single", "e: '''''''a'''''' + @oops~'\n", missing},
      {"single", "e: 'size(\"é\") +\n\n  @oops~\n  + 1'\n", missing},
      {"single", "e: '1 +@~   '\n", early},
      {"double", "e: \"@oops~ + 1\"\n", missing},
      {"double", "e: \"size(\\\"a\\\") + @oops~\"\n", missing},
      {"double", "e: \"\\x31\\u0020+\\t\\U00000031 + @oops~\"\n", missing},
      {"double", "e: \"size('\\u00e9\\x41😀') + @oops~ + 1\"\n", missing},
      {"double", "e: \"1 + \\\n     @oops~ + \\\n  1\"\n", missing},
      {"double", "e: \"1 +\n   @oops~\n\n  + 1\"\n", missing},
      {"double", "e: \"1 +\\n@oops~\"\n", missing},
      {"double", "e: \"1 + @o\\x6fps~\"\n", missing},
      {"double", "e: \"1 + @\\x6fops~\"\n", missing},
      {"double", "e: \"1 + @oop\\x73~ + 1\"\n", missing},
      {"double", "e: \"1 +@~\"\n", early},
      {"double", "e: \"'a@\\\\q~'\"\n", "unknown escape sequence"},
      {"literal", "e: |\n  @oops~ + 1\n", missing},
      {"literal", "e: |\n  1 +\n    2 + @oops~\n", missing},
      {"literal", "e: |-\n  1 +\n\n\n  @oops~", missing},
      {"literal", "e: |2\n    1 +\n   @oops~\n", missing},
      {"literal", "a:\n    e: |+  # comment\n      'é' == b || @oops~\n\n", missing},
      {"literal", "e: |\n  1\n  +@~\n\n", early},
      {"literal", "e: |\n  // oops\n  1 + @1 / 0~\n", "division by zero"},
      {"literal", "e: |\n  '''a\n  b''' + @oops~\n", missing},
      {"literal", "e: |\r\n  1 +\r\n  @oops~\r\n", missing},
      {"folded", "e: >\n  @oops~ + 1\n", missing},
      {"folded", "e: >\n  1 +\n  2 + @oops~\n  + 3\n", missing},
      {"folded", "e: >-\n  1 +\n\n\n  @oops~\n", missing},
      {"folded", "e: >\n  1 +\n     2 +\n   @oops~ +\n  3\n", missing},
      {"folded", "e: >+\n  1\n  +@~\n\n\n", early},
      {"folded", "e: >2\n   1 +\n  @oops~\n", missing},
      {"flow", "x: {e: '1 + @oops~', b: 1}\n", missing},
      {"flow", "x: {\"e\": \"1 +\n  @oops~\"}\n", missing},
      {"flow", "[{e: @oops~}]\n", missing},
      {"explicit key", "? e\n: 1 + @oops~\n", missing},
  };
}

/// The node under the first key `e` anywhere.
const yaml::Node* find_e(const yaml::Node& node) {
  if (const yaml::Node* found = node.find("e")) return found;
  for (const yaml::Entry& entry : node.entries()) {
    if (const yaml::Node* found = find_e(entry.value)) return found;
  }
  for (const yaml::Node& item : node.items()) {
    if (const yaml::Node* found = find_e(item)) return found;
  }
  return nullptr;
}

class Place : public testing::Test {
 protected:
  Place() { environment.variables = {{"b", Type::dyn()}}; }

  const yaml::Node* read(const Marked& marked) {
    const diag::FileId file = sources.add_file("case.yaml", marked.text);
    const auto root = yaml::read(file, sources, arena, sink);
    if (!root) return nullptr;
    roots.push_back(std::make_unique<yaml::Node>(*root));
    return find_e(*roots.back());
  }

  /// The one diagnostic has the message, and its place is the marked one.
  void expect(const Case& test, const Marked& marked) {
    const auto findings = sink.sorted(sources);
    ASSERT_EQ(findings.size(), 1U) << test.text;
    EXPECT_EQ(findings[0].message, test.message) << test.text;
    const diag::Span* span = sources.span(findings[0].primary.at);
    ASSERT_NE(span, nullptr) << test.text;
    const diag::Position at = sources.position(span->file, span->begin);
    EXPECT_EQ(std::to_string(at.line) + ":" + std::to_string(at.column),
              line_and_column(marked.text, marked.begin))
        << test.style << ": " << test.text;
    if (marked.end == marked.begin) return;  // what is missing has no width
    EXPECT_EQ(line_and_column(marked.text, span->end), line_and_column(marked.text, marked.end))
        << test.style << ": " << test.text;
  }

  Environment environment;
  diag::Sources sources;
  diag::Sink sink;
  yaml::Arena arena;
  std::vector<std::unique_ptr<yaml::Node>> roots;
};

TEST_F(Place, OfFaultsInBareExpressions) {
  const std::vector<Value> values = {yaml::Node::boolean(true)};
  for (const Case& test : bare_cases()) {
    const Marked marked = unmark(test.text);
    sink = diag::Sink();
    const yaml::Node* scalar = read(marked);
    ASSERT_NE(scalar, nullptr) << test.text;
    const Expression expression = compile_bare(*scalar, environment, sources, sink);
    if (expression) {
      const Outcome outcome = evaluate(*expression.program, values, arena);
      ASSERT_FALSE(outcome.ok()) << test.text;
      report(*outcome.error, expression, sources, sink);
    }
    expect(test, marked);
  }
}

/// The same faults inside `${...}`, with text around it: every style but those that cannot hold it.
TEST_F(Place, OfFaultsInsideOfText) {
  const char* missing = "undeclared name `oops`";
  const char* no_string = "an expression inside text must be a string";
  const Case cases[] = {
      {"plain", "e: ${@oops~}\n", missing},
      {"plain", "e: é-${'é'}-${@oops~}-x\n", missing},
      {"plain", "e: a ${'b'}\n\n  c ${'d' + @oops~} e\n", missing},
      {"plain", "e: a ${@1 + 1~} b\n", no_string},
      {"single", "e: 'it''s ${''a'' + @oops~} b'\n", missing},
      {"single", "e: 'a ${@1~}'\n", no_string},
      {"double", "e: \"\\u00e9\\n${'a'} ${\\\"}\\\" + @oops~}\"\n", missing},
      {"double", "e: \"a \\\n   ${@size('')~}\"\n", no_string},
      {"literal", "e: |\n  one ${'a'}\n    two ${@oops~}\n  three\n", missing},
      {"literal", "e: |\n  one\n  ${@1 +\n  1~}\n", no_string},
      {"folded", "e: >\n  one ${'a'}\n  two ${@oops~}\n\n  three\n", missing},
      {"unclosed", "e: 'é @${~oops'\n", "`${` without its `}`"},
      {"unclosed", "e: |\n  a\n  @${~'}'\n", "`${` without its `}`"},
  };
  for (const Case& test : cases) {
    const Marked marked = unmark(test.text);
    sink = diag::Sink();
    const yaml::Node* scalar = read(marked);
    ASSERT_NE(scalar, nullptr) << test.text;
    EXPECT_FALSE(compile_text(*scalar, environment, sources, sink)) << test.text;
    expect(test, marked);
  }
}

TEST_F(Place, OfFaultsAtRunTimeInsideOfText) {
  const Case cases[] = {
      {"plain", "e: a ${'x'} ${@b.c~}\n", "cannot select field `c` of bool"},
      {"double", "e: \"\\t${'x'}\\u00e9${string(@1 / 0~)}\"\n", "division by zero"},
      {"literal", "e: |\n  a\n  ${'x'}\n    ${string(\n    @1 / 0~)}\n", "division by zero"},
      {"folded", "e: >\n  a\n  ${'x'}\n  ${string(\n  @1 / 0~)}\n", "division by zero"},
  };
  const std::vector<Value> values = {yaml::Node::boolean(true)};
  for (const Case& test : cases) {
    const Marked marked = unmark(test.text);
    sink = diag::Sink();
    const yaml::Node* scalar = read(marked);
    ASSERT_NE(scalar, nullptr) << test.text;
    const auto text = compile_text(*scalar, environment, sources, sink);
    ASSERT_TRUE(text) << test.text;
    const TextOutcome outcome = evaluate(*text, values, arena);
    ASSERT_TRUE(outcome.error) << test.text;
    report(*outcome.error, *outcome.at, sources, sink);
    expect(test, marked);
  }
}

}  // namespace
}  // namespace gpuctl::cel
