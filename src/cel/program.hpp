// Compile a CEL expression once, evaluate it often.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cel/type.hpp"
#include "cel/value.hpp"
#include "cel/variables.hpp"
#include "yaml/node.hpp"

namespace gpuctl::cel {

struct Expression;

/// A fault in an expression: byte range [begin, end) of the expression's text. The caller maps it
/// back through the YAML scalar that holds the expression.
struct Problem {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::string message;  // "undeclared name `polo`"
  std::string help;     // may be empty: "did you mean `pool`?"
  bool syntax = false;  // found by the lexer or parser, not by the checker
};

/// A fault at run time.
struct EvalError {
  enum class Kind : std::uint8_t { general, no_such_key, out_of_range, budget };
  Kind kind = Kind::general;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::string message;
  /// For no_such_key on a chain of selections that starts at a variable: the chain as written,
  /// up to and including the missing key ("facts.infraID"); otherwise empty.
  std::string path;
  /// The definition of a variable that the fault is in, when it is not in the expression itself:
  /// `begin` and `end` are then of its text.
  const Expression* inside = nullptr;
};

/// What evaluation gives: a value, or an error.
struct Outcome {
  Value value;
  std::optional<EvalError> error;
  bool ok() const { return !error.has_value(); }
};

/// What a function implementation may use.
struct CallContext {
  yaml::Arena& arena;
  /// Steps left of the evaluation's budget; nullptr when nobody counts.
  std::uint64_t* steps_left = nullptr;
  /// Takes `steps` from the budget before work of that size (kStepsPerItem for an item of a
  /// new list, one step for eight bytes of new text or for an item looked at). False when too few
  /// are left: then return an EvalError of kind budget.
  bool charge(std::uint64_t steps) const {
    if (steps_left == nullptr) return true;
    if (*steps_left < steps) return false;
    *steps_left -= steps;
    return true;
  }
  /// Equality of values of any size, charged; nothing when the steps run out.
  std::optional<bool> equal(const Value& a, const Value& b) const;
};

/// A function that expressions may call. Overloads share a name and differ in parameters.
struct Function {
  std::string name;     // "spread", "mig.place"; for methods the bare name
  bool method = false;  // called as params[0].name(params[1], ...)
  std::vector<Type> params;
  Type result;
  /// Arguments have been checked against `params` (dyn arguments at run time). On error: message.
  std::function<Outcome(std::span<const Value>, CallContext&)> call;
  /// When set, the result type follows from the arguments' types, and `result` is not used.
  std::function<Type(std::span<const Type>)> result_of = nullptr;
  /// The last parameter may be given any number of times, but at least once.
  bool variadic = false;
  /// Same arguments, same result: calls with constant arguments are made once, when compiling. An
  /// opaque result must not hold nodes.
  bool pure = false;
  /// Looks at lists and maps through ListView and MapView, so that they may hold what no document
  /// can. Other functions are only given lists and maps that are nodes.
  bool views = false;
};

/// The functions an environment offers. standard() has the whole language and the documented
/// extension registry; add() more on a copy.
class Functions {
 public:
  static std::shared_ptr<const Functions> standard();
  Functions();  // a copy of the standard set
  void add(Function function);

  // (implementation detail for the checker; see functions.cpp)
  struct Table;
  const Table& table() const { return *table_; }

 private:
  explicit Functions(std::shared_ptr<Table> table) : table_(std::move(table)) {}
  std::shared_ptr<Table> table_;
};

class Store;

/// The names an expression may use. Variables are numbered in order of declaration; evaluation
/// takes their values in that order. One that is shared must not change once something was compiled
/// in it.
struct Environment : std::enable_shared_from_this<Environment> {
  Variables variables;
  std::shared_ptr<const Functions> functions = Functions::standard();
  /// Names are looked up in this namespace first, then in those around it: with "a.b" the name `x`
  /// is `a.b.x`, `a.x` or `x`.
  std::string container = {};
  /// Programs that were compiled before, or where to keep those that are; may be nullptr.
  std::shared_ptr<Store> store = nullptr;
};

/// Longest text of an expression.
inline constexpr std::size_t kMostExpressionBytes = 64 * 1024;
/// Deepest nesting of an expression. A chain of `&&` or `||` counts once.
inline constexpr std::size_t kMostExpressionDepth = 128;
/// Budget of one evaluation: a step for every operation, for every item looked at, and for every
/// eight bytes of new text or lists, which bounds the memory, too.
inline constexpr std::uint64_t kMostSteps = 5'000'000;
/// Steps for an item of a new list: its bytes, as for text.
inline constexpr std::uint64_t kStepsPerItem = sizeof(yaml::Node) / 8;

class Program;

/// Parses and checks. On failure the result is null and `problems` says why (all problems found,
/// in order). `text` is copied.
std::shared_ptr<const Program> compile(std::string_view text, const Environment& environment,
                                       std::vector<Problem>& problems);

/// The static type of the expression.
Type type_of(const Program& program);

/// True when the build compiled it, and so has seen that its type fits its place.
bool is_stored(const Program& program);

/// Text of the expression, and its canonical printed form (parse(print(x)) == x).
std::string_view source(const Program& program);
std::string print(const Program& program);

/// Names of the variables that the expression reads, in order of declaration.
std::vector<std::string> variables_of(const Program& program);

/// Evaluates; `values[i]` belongs to `environment.variables[i]`. A value that is just selected
/// keeps its origin (so that a diagnostic can point at the input it came from); computed values
/// have none. The result lives in `arena` or in what `values` live in; it never refers to the
/// program. Thread-safe for a shared program with distinct arenas. `reads`, when not null, receives
/// the origins of all nodes that were looked at.
Outcome evaluate(const Program& program, std::span<const Value> values, yaml::Arena& arena,
                 std::vector<yaml::Origin>* reads = nullptr);

/// The same for those who do not say why there is no value: of a fault only `kind` is worked out.
Outcome attempt(const Program& program, std::span<const Value> values, yaml::Arena& arena,
                std::vector<yaml::Origin>* reads = nullptr);

}  // namespace gpuctl::cel
