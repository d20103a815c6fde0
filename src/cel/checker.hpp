// Turns a syntax tree into code, checking types on the way.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cel/code.hpp"

namespace gpuctl::cel {

/// What the checker knows about a part of the expression.
struct Checked {
  Draft code;
  Type type;
};

/// Checks one expression against an environment. In lenient mode faults become code that fails
/// when it runs.
class Checker {
 public:
  Checker(const Environment& environment, Program& program, std::vector<Problem>& problems,
          bool lenient);

  Checked check(const Expr& expr);
  /// Names of the variables that were read, in order of declaration.
  std::vector<std::string> reads() const;
  std::uint32_t local_count() const { return local_count_; }

 private:
  struct Local {
    std::string_view name;
    Type type;
    std::uint32_t slot = 0;
  };

  // Literals and branches (checker.cpp)
  Checked list(const Expr& expr);
  Checked map(const Expr& expr);
  Checked conditional(const Expr& expr);
  /// The type of what `?entry` adds: the content of the optional.
  Type entry_type(const Expr& entry, const Type& type);

  // Names and fields (checker_fields.cpp)
  Checked identifier(const Expr& expr);
  Checked select(const Expr& expr);
  Checked field(const Expr& expr, Checked target, bool has);
  Type field_type(const Expr& expr, const Type& holder, std::string_view name);
  Checked index(const Expr& expr);
  Type index_type(const Expr& expr, const Type& holder, const Type& key);
  /// What stands under `name` in an object; an objection at [begin, end) when there is nothing.
  Type member_type(const ObjectType& object, const Expr& holder, std::string_view name,
                   std::uint32_t begin, std::uint32_t end);
  /// A variable of the environment or the name of a type.
  std::optional<Checked> global(const Expr& expr, std::string_view name, bool absolute);
  std::optional<Checked> variable(const Expr& expr, std::string_view name);
  bool is_variable(std::string_view name) const;
  std::string nearest_name(std::string_view name) const;
  /// `a.b.c` for selections that start at a name other than a loop variable.
  std::optional<std::string> chain(const Expr& expr) const;

  // Operators (checker_operators.cpp)
  Checked unary(const Expr& expr);
  Checked binary(const Expr& expr);
  Checked logic(const Expr& expr);
  Checked arithmetic(const Expr& expr, Checked left, Checked right);
  Checked relation(const Expr& expr, Checked left, Checked right);
  Checked concat(const Expr& expr, Checked left, Checked right);

  // Calls and macros (checker_calls.cpp)
  Checked call(const Expr& expr);
  Checked method(const Expr& expr);
  Checked resolve(const Expr& expr, const Functions::Table::Overloads& overloads,
                  std::vector<Checked> args);
  const Functions::Table::Overloads* find_function(std::string_view name, bool absolute) const;
  Checked alternative(const Expr& expr, Checked checked, const Type& otherwise);

  // Macros (checker_macros.cpp)
  Checked macro(const Expr& expr);
  Checked optional_macro(const Expr& expr, Checked target);
  Type macro_parts(const Expr& expr, Draft& code);
  Type macro_type(const Expr& expr, Macro kind, const Type& key, const Type& single,
                  const Type& body);
  Checked bind(const Expr& expr);
  void declare(const Name& name, Type type);
  /// The names under which `name` is looked up: inside the container first, then outside of it.
  std::vector<std::string> candidates(std::string_view name, bool absolute) const;
  Checked unknown_function(const Expr& expr, const std::string& name, bool method,
                           const Type* target);
  bool check_pattern(const Expr& expr, Checked& checked);
  void fold_call(Draft& code);

  // Shared
  Draft make(Op op, const Expr& expr) const;
  Checked constant(const Expr& expr, Value value, Type type);
  /// Records a problem; in lenient mode nothing, because the operation itself fails when it runs.
  void object_to(std::uint32_t begin, std::uint32_t end, std::string message,
                 std::string help = {});
  /// Records a problem; the code fails with the message when it runs all the same.
  Checked fault(const Expr& at, std::uint32_t begin, std::uint32_t end, std::string message,
                std::string help = {});
  Checked fault(const Expr& at, std::string message, std::string help = {});
  void fold_literal(Draft& code);

  const Environment& environment_;
  const Functions::Table& table_;
  Program& program_;
  std::vector<Problem>& problems_;
  const bool lenient_;
  bool dotted_ = false;  // some variable has a dot in its name
  std::vector<Local> locals_;
  std::vector<const Variable*> variables_;  // of the environment
  std::vector<bool> used_;
  std::uint32_t local_count_ = 0;
};

/// True when values of the type have an order.
bool ordered(const Type& type);
/// True when values of the two types can be equal.
bool comparable(const Type& a, const Type& b);

}  // namespace gpuctl::cel
