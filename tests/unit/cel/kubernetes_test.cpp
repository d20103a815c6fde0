// Expressions whose results were compared with those of the Kubernetes CEL library.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "cel/collections.hpp"
#include "cel/numbers.hpp"
#include "cel/program.hpp"
#include "yaml/emit.hpp"

namespace gpuctl::cel {
namespace {

/// A value as kubernetes_cases.txt writes it.
std::string show(const Value& value) {
  std::vector<std::string> parts;
  const auto joined = [&](char open, char close) {
    std::string out(1, open);
    for (const std::string& part : parts) out += (out.size() == 1 ? "" : ",") + part;
    return out + close;
  };
  if (const auto list = ListView::of(value)) {
    for (std::size_t i = 0; i < list->size(); ++i) parts.push_back(show((*list)[i]));
    return joined('[', ']');
  }
  if (const auto map = MapView::of(value)) {
    for (std::size_t i = 0; i < map->size(); ++i) {
      parts.push_back(show(map->key(i)) + ":" + show(map->value(i)));
    }
    std::sort(parts.begin(), parts.end());
    return joined('{', '}');
  }
  if (const auto* optional = dynamic_cast<const OptionalValue*>(value.opaque())) {
    return optional->present ? "optional(" + show(optional->value) + ")" : "optional.none";
  }
  if (!value.is_node()) return "opaque:" + published_type_name(value);
  if (value.node().is_real()) return "d:" + double_text(value.node().as_real());
  return yaml::emit_json(value.node());
}

TEST(Kubernetes, GivesTheSame) {
  yaml::Arena arena;
  const auto text = [&](const char* what) { return arena.string(what); };
  const std::vector<yaml::Node> numbers = {yaml::Node::integer(1), yaml::Node::integer(2)};
  const std::vector<yaml::Node> letters = {text("p"), text("q")};
  const std::vector<yaml::Entry> inner = {arena.entry("k", text("v"))};
  const std::vector<yaml::Entry> x = {
      arena.entry("a", yaml::Node::integer(1)), arena.entry("s", text("text")),
      arena.entry("l", arena.list(numbers)), arena.entry("d", yaml::Node::real(1.5))};
  const std::vector<yaml::Entry> o = {
      arena.entry("a", yaml::Node::integer(1)), arena.entry("n", yaml::Node::null()),
      arena.entry("m", arena.map(inner)), arena.entry("l", arena.list(letters))};
  Environment environment;
  environment.variables = {{"x", Type::dyn()},
                           {"o", Type::map(Type::simple(TypeKind::string), Type::dyn())}};
  const std::vector<Value> values = {arena.map(x), arena.map(o)};

  std::ifstream in(std::string(GPUCTL_SOURCE_DIR) + "/tests/unit/cel/kubernetes_cases.txt");
  std::size_t count = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::size_t arrow = line.rfind(" => ");
    ASSERT_NE(arrow, std::string::npos) << line;
    std::vector<Problem> problems;
    const auto program = compile(line.substr(0, arrow), environment, problems);
    std::string given = "error";
    if (program != nullptr) {
      const Outcome outcome = evaluate(*program, values, arena);
      if (outcome.ok()) given = show(outcome.value);
    }
    EXPECT_EQ(given, line.substr(arrow + 4)) << line;
    ++count;
  }
  EXPECT_GT(count, 1000U);
}

}  // namespace
}  // namespace gpuctl::cel
