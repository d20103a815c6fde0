// Runs compiled expressions.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cel/code.hpp"

namespace gpuctl::cel {

/// One evaluation: the values of the variables, the loop variables, the budget, the first error.
class Evaluator {
 public:
  /// `reads`, when not null, receives the origins of all nodes that are looked at.
  Evaluator(const Program& program, std::span<const Value> variables, yaml::Arena& arena,
            std::vector<yaml::Origin>* reads);

  /// False on an error, which is then in error().
  bool run(const Code& code, Value& out);
  /// Whether the result, written out, is within the budget.
  bool charge_result(const Value& result);
  EvalError& error() { return error_; }

 private:
  // evaluator.cpp
  void note(const Value& value) {
    if (reads_ != nullptr && value.is_node()) reads_->push_back(value.node().origin());
  }
  bool variable(const Code& code, Value& out);
  bool bind(const Code& code, Value& out);
  bool is_broken(const Value& value);
  bool constant(const Code& code, Value& out);
  bool conditional(const Code& code, Value& out);
  bool logical(const Code& code, Value& out, bool absorbing);
  bool call(const Code& code, Value& out);
  bool matches(const Code& code, Value& out);

  // evaluator_access.cpp
  const yaml::Node* node_of(std::size_t slot) const;
  const yaml::Node* peek(const Code& code) const;
  Value taken(const Code& from, Value part);
  bool lookup(const Code& code, const Value& target, const Value& key, std::optional<Value>& found);
  bool access(const Code& code, const Value& target, const Value& key, Value& out);
  bool select(const Code& code, Value& out);
  bool has(const Code& code, Value& out);
  bool index(const Code& code, Value& out);
  bool alternative(const Code& code, Value& out);
  bool unwrap(const Code& code, Value& value, bool& absent);
  bool list(const Code& code, Value& out);
  bool map(const Code& code, Value& out);
  bool missing_key(const Code& code, const std::string& key);

  // evaluator_operators.cpp
  bool unary(const Code& code, Value& out);
  bool arithmetic(const Code& code, Value& out);
  bool integers(const Code& code, std::int64_t a, std::int64_t b, Value& out);
  bool concat(const Code& code, Value& out);
  bool relation(const Code& code, Value& out);
  bool equals(const Code& code, const Value& a, const Value& b, bool& result);
  bool membership(const Code& code, const Value& item, const Value& range, Value& out);
  bool add_lists(const Code& code, const Value& a, const Value& b, Value& out);

  // evaluator_macros.cpp
  struct Range;
  bool macro(const Code& code, Value& out);
  bool look_into(const Code& code, Value& out);
  bool sort_by(const Code& code, const Range& range, Value& out);
  bool test(const Code& code, bool& result);
  bool keeps(const Code& code, bool& keep);
  bool quantifier(const Code& code, const Range& range, Value& out);
  bool collect_list(const Code& code, const Range& range, Value& out);
  bool collect_map(const Code& code, const Range& range, Value& out);
  void set_variables(const Code& code, const Range& range, std::size_t i);

  bool charge(const Code& code, std::uint64_t steps);
  bool fail(const Code& code, std::string message, EvalError::Kind kind = EvalError::Kind::general);
  bool cannot_take(const Code& code, std::string_view symbol, const Value& a, const Value& b);

  const Program& program_;
  std::span<const Value> variables_;
  yaml::Arena& arena_;
  std::vector<Value> locals_;
  std::vector<yaml::Origin>* reads_;
  std::uint64_t steps_left_ = kMostSteps;
  EvalError error_;
};

/// -1, 0 or 1, numbers by value; 2 when one is NaN, 3 when the values have no order.
int compare(const Value& a, const Value& b);

}  // namespace gpuctl::cel
