// CEL: any text is parsed, printed, checked against a small environment and evaluated on a small
// tree, with and without the checker's consent.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "cel/ast.hpp"
#include "cel/collections.hpp"
#include "cel/program.hpp"
#include "yaml/emit.hpp"

namespace {

using namespace gpuctl;

void require(bool holds) {
  if (!holds) std::abort();
}

struct Setting {
  yaml::Arena arena;
  cel::Environment environment;
  std::vector<cel::Value> values;
};

/// `pool`: an object with declared fields; `labels`: a map of strings; `any`: not typed.
const Setting& setting() {
  static const Setting* const made = [] {
    auto* fresh = new Setting;  // NOLINT: lives as long as the process
    yaml::Arena& arena = fresh->arena;
    using cel::Type;
    using cel::TypeKind;
    auto object = std::make_shared<cel::ObjectType>();
    object->name = "Pool";
    object->fields = {{"name", Type::simple(TypeKind::string), true},
                      {"replicas", Type::simple(TypeKind::integer), false},
                      {"weight", Type::simple(TypeKind::real), false},
                      {"zones", Type::list(Type::simple(TypeKind::string)), false},
                      {"absent", Type::simple(TypeKind::string), false}};
    fresh->environment.variables = {
        {"pool", Type::object(object)},
        {"labels", Type::map(Type::simple(TypeKind::string), Type::simple(TypeKind::string))},
        {"any", Type::dyn()}};
    const std::vector<yaml::Node> zones = {arena.string("a-1"), arena.string("b-2")};
    const std::vector<yaml::Entry> pool = {
        arena.entry("name", arena.string("gpu")), arena.entry("replicas", yaml::Node::integer(3)),
        arena.entry("weight", yaml::Node::integer(2)), arena.entry("zones", arena.list(zones))};
    const std::vector<yaml::Entry> labels = {arena.entry("team", arena.string("ml")),
                                             arena.entry("a.b/c-d", arena.string("\xC3\xA9"))};
    const std::vector<yaml::Node> numbers = {yaml::Node::integer(1), yaml::Node::real(2.5),
                                             yaml::Node::null(), arena.list({})};
    const std::vector<yaml::Entry> any = {
        arena.entry("l", arena.list(numbers)), arena.entry("m", arena.map(labels)),
        arena.entry("t", yaml::Node::boolean(true)), arena.entry("s", arena.string("10.0.0.0/8"))};
    fresh->values = {arena.map(pool), arena.map(labels), arena.map(any)};
    return fresh;
  }();
  return *made;
}

void check_problems(const std::vector<cel::Problem>& problems, std::size_t size) {
  for (const cel::Problem& problem : problems) {
    require(problem.begin <= problem.end && problem.end <= size && !problem.message.empty());
  }
}

/// All text of a value is UTF-8, as the emitter relies on.
void check_value(const cel::Value& value) {
  if (!value.is_node()) {
    require(!cel::type_name_of(value).empty());
    return;
  }
  require(base::valid_utf8(yaml::emit_json(value.node())));
}

void round_trip(const cel::Expr& expr) {
  const std::string printed = cel::print(expr);
  std::vector<cel::Problem> problems;
  const cel::ExprPtr again = cel::parse(printed, problems);
  // What is written with escapes or without spaces may grow beyond the limit.
  if (again == nullptr && printed.size() > cel::kMostExpressionBytes) return;
  require(again != nullptr);
  require(cel::dump(*again) == cel::dump(expr));
  require(cel::print(*again) == printed);
}

void run(const cel::Program& program, std::size_t size) {
  yaml::Arena arena;
  const cel::Outcome outcome = cel::evaluate(program, setting().values, arena);
  if (outcome.ok()) {
    check_value(outcome.value);
    // The same again: nothing depends on addresses, order or time.
    const cel::Outcome second = cel::evaluate(program, setting().values, arena);
    require(second.ok());
    if (outcome.value.is_node() && second.value.is_node()) {
      require(yaml::emit_json(outcome.value.node()) == yaml::emit_json(second.value.node()));
    }
  } else {
    require(outcome.error->begin <= outcome.error->end && outcome.error->end <= size);
    require(base::valid_utf8(outcome.error->message));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<cel::Problem> problems;
  const cel::ExprPtr expr = cel::parse(text, problems);
  require((expr == nullptr) == !problems.empty());
  check_problems(problems, size);
  if (expr == nullptr) return 0;
  round_trip(*expr);
  problems.clear();
  const auto checked = cel::compile(text, setting().environment, problems);
  require((checked == nullptr) == !problems.empty());
  check_problems(problems, size);
  if (checked != nullptr) {
    run(*checked, size);
    return 0;
  }
  problems.clear();
  const auto unchecked = cel::compile_unchecked(text, setting().environment, problems);
  if (unchecked != nullptr) run(*unchecked, size);
  return 0;
}
