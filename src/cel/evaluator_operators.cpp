// Arithmetic, comparison, membership.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "cel/collections.hpp"
#include "cel/duration.hpp"
#include "cel/evaluator.hpp"
#include "cel/opaque.hpp"

namespace gpuctl::cel {

namespace {

std::string_view symbol(Op op) {
  switch (op) {
    case Op::add:
    case Op::concat:
      return "+";
    case Op::subtract:
    case Op::negate:
      return "-";
    case Op::multiply:
      return "*";
    case Op::divide:
      return "/";
    case Op::modulo:
      return "%";
    case Op::equal:
      return "==";
    case Op::not_equal:
      return "!=";
    case Op::less:
      return "<";
    case Op::less_equal:
      return "<=";
    case Op::greater:
      return ">";
    case Op::greater_equal:
      return ">=";
    case Op::in:
      return "in";
    default:
      return "!";
  }
}

template <typename T>
int order(const T& a, const T& b) {
  return a < b ? -1 : (b < a ? 1 : 0);
}

// What 64-bit integers cover, as doubles; both bounds are exact.
constexpr double kTwoTo63 = 9223372036854775808.0;

/// An integer against a double. Out of range of the integers the double decides alone; within,
/// both are compared as doubles, as the reference implementation does it.
int compare_mixed(std::int64_t a, double b) {
  if (std::isnan(b)) return 2;
  if (b > kTwoTo63) return -1;
  if (b < -kTwoTo63) return 1;
  return order(static_cast<double>(a), b);
}

/// Comparing a value of this size costs so many steps.
std::uint64_t look_cost(const Value& value) {
  return value.is_node() && value.node().is_string() ? value.node().size() / 64 : 0;
}

}  // namespace

int compare(const Value& a, const Value& b) {
  if (!a.is_node() || !b.is_node()) {
    const auto* left = dynamic_cast<const Duration*>(a.opaque());
    const auto* right = dynamic_cast<const Duration*>(b.opaque());
    return left == nullptr || right == nullptr ? 3 : order(left->nanoseconds, right->nanoseconds);
  }
  const yaml::Node& x = a.node();
  const yaml::Node& y = b.node();
  if (x.is_integer() && y.is_integer()) return order(x.as_integer(), y.as_integer());
  if (x.is_real() && y.is_real()) {
    return std::isnan(x.as_real()) || std::isnan(y.as_real()) ? 2 : order(x.as_real(), y.as_real());
  }
  if (x.is_integer() && y.is_real()) return compare_mixed(x.as_integer(), y.as_real());
  if (x.is_real() && y.is_integer()) {
    const int mirrored = compare_mixed(y.as_integer(), x.as_real());
    return mirrored == 2 ? 2 : -mirrored;
  }
  // Bytes of UTF-8 stand in the order of their code points.
  if (x.is_string() && y.is_string()) return order(x.as_string(), y.as_string());
  if (x.is_boolean() && y.is_boolean()) return order(x.as_boolean(), y.as_boolean());
  return 3;
}

bool Evaluator::cannot_take(const Code& code, std::string_view name, const Value& a,
                            const Value& b) {
  return fail(code, "operator `" + std::string(name) + "` cannot take " + type_name_of(a) +
                        " and " + type_name_of(b));
}

bool Evaluator::unary(const Code& code, Value& out) {
  Value operand;
  if (!run(code.args[0], operand)) return false;
  if (operand.is_node()) {
    const yaml::Node& node = operand.node();
    if (code.op == Op::logical_not && node.is_boolean()) {
      out = yaml::Node::boolean(!node.as_boolean());
      return true;
    }
    if (code.op == Op::negate && (node.is_real() || (code.real && node.is_integer()))) {
      out = yaml::Node::real(-node.as_real());
      return true;
    }
    if (code.op == Op::negate && node.is_integer()) {
      if (node.as_integer() == std::numeric_limits<std::int64_t>::min()) {
        return fail(code, "integer overflow");
      }
      out = yaml::Node::integer(-node.as_integer());
      return true;
    }
  }
  return fail(
      code, "operator `" + std::string(symbol(code.op)) + "` cannot take " + type_name_of(operand));
}

bool Evaluator::integers(const Code& code, std::int64_t a, std::int64_t b, Value& out) {
  std::int64_t result = 0;
  bool overflow = false;
  switch (code.op) {
    case Op::add:
      overflow = __builtin_add_overflow(a, b, &result);
      break;
    case Op::subtract:
      overflow = __builtin_sub_overflow(a, b, &result);
      break;
    case Op::multiply:
      overflow = __builtin_mul_overflow(a, b, &result);
      break;
    default:
      if (b == 0) return fail(code, code.op == Op::divide ? "division by zero" : "modulus by zero");
      overflow = a == std::numeric_limits<std::int64_t>::min() && b == -1;
      if (!overflow) result = code.op == Op::divide ? a / b : a % b;
  }
  if (overflow) return fail(code, "integer overflow");
  out = yaml::Node::integer(result);
  return true;
}

bool Evaluator::arithmetic(const Code& code, Value& out) {
  Value a;
  Value b;
  if (!run(code.args[0], a) || !run(code.args[1], b)) return false;
  if (code.op == Op::add && (!a.is_node() || a.node().is_list()) &&
      (!b.is_node() || b.node().is_list()) && ListView::of(a) && ListView::of(b)) {
    return add_lists(code, a, b, out);
  }
  if (!a.is_node() || !b.is_node()) {
    const auto* x = dynamic_cast<const Duration*>(a.opaque());
    const auto* y = dynamic_cast<const Duration*>(b.opaque());
    if (x == nullptr || y == nullptr || (code.op != Op::add && code.op != Op::subtract)) {
      return cannot_take(code, symbol(code.op), a, b);
    }
    Value sum;
    if (!integers(code, x->nanoseconds, y->nanoseconds, sum)) return false;
    out = Value(std::make_shared<const Duration>(sum.node().as_integer()));
    return true;
  }
  const yaml::Node& x = a.node();
  const yaml::Node& y = b.node();
  const bool widen = code.real && x.is_number() && y.is_number();
  if (!widen && x.is_integer() && y.is_integer()) {
    return integers(code, x.as_integer(), y.as_integer(), out);
  }
  if (widen || (x.is_real() && y.is_real())) {
    const double p = x.as_real();
    const double q = y.as_real();
    switch (code.op) {
      case Op::add:
        out = yaml::Node::real(p + q);
        return true;
      case Op::subtract:
        out = yaml::Node::real(p - q);
        return true;
      case Op::multiply:
        out = yaml::Node::real(p * q);
        return true;
      case Op::divide:
        out = yaml::Node::real(p / q);
        return true;
      default:
        return cannot_take(code, symbol(code.op), a, b);
    }
  }
  if (code.op == Op::add && x.is_string() && y.is_string()) {
    if (!charge(code, (x.size() + y.size()) / 8)) return false;
    std::string text(x.as_string());
    text += y.as_string();
    out = arena_.string(text);
    return true;
  }
  return cannot_take(code, symbol(code.op), a, b);
}

bool Evaluator::add_lists(const Code& code, const Value& a, const Value& b, Value& out) {
  std::vector<Value> items;
  for (const Value* part : {&a, &b}) {
    const ListView list = *ListView::of(*part);
    if (!charge(code, list.size() * kStepsPerItem)) return false;
    for (std::size_t i = 0; i < list.size(); ++i) items.push_back(list[i]);
  }
  out = make_list(std::move(items), arena_);
  return true;
}

bool Evaluator::concat(const Code& code, Value& out) {
  // The usual name made of a few parts fits here; longer text goes through the heap.
  constexpr std::size_t kShort = 256;
  char buffer[kShort];
  std::size_t used = 0;
  std::string rest;
  Value value;
  for (const Code& arg : code.args) {
    const yaml::Node* node =
        arg.op == Op::constant && arg.constant.is_node() ? &arg.constant.node() : peek(arg);
    if (node == nullptr) {
      if (!run(arg, value)) return false;
      if (!value.is_node()) {
        return fail(code, "operator `+` cannot take string and " + type_name_of(value));
      }
      node = &value.node();
    } else {
      note(*node);
    }
    if (!node->is_string()) {
      return fail(code, "operator `+` cannot take string and " + type_name_of(*node));
    }
    const std::string_view text = node->as_string();
    if (!charge(code, 1 + text.size() / 8)) return false;
    if (text.empty()) continue;
    if (rest.empty() && used + text.size() <= kShort) {
      std::memcpy(buffer + used, text.data(), text.size());
      used += text.size();
    } else {
      if (rest.empty()) rest.assign(buffer, used);
      rest += text;
    }
  }
  out = arena_.string(rest.empty() ? std::string_view(buffer, used) : std::string_view(rest));
  return true;
}

bool Evaluator::equals(const Code& code, const Value& a, const Value& b, bool& result) {
  const auto answer = equal(a, b, steps_left_);
  if (!answer) return charge(code, steps_left_ + 1);
  result = *answer;
  return true;
}

bool Evaluator::relation(const Code& code, Value& out) {
  Value a;
  Value b;
  if (!run(code.args[0], a) || !run(code.args[1], b)) return false;
  if (code.op == Op::in) return membership(code, a, b, out);
  if (code.op == Op::equal || code.op == Op::not_equal) {
    bool result = false;
    if (!equals(code, a, b, result)) return false;
    out = yaml::Node::boolean(result == (code.op == Op::equal));
    return true;
  }
  if (!charge(code, std::min(look_cost(a), look_cost(b)))) return false;
  const int result = compare(a, b);
  if (result == 3) return cannot_take(code, symbol(code.op), a, b);
  bool holds = false;
  if (result != 2) {
    switch (code.op) {
      case Op::less:
        holds = result < 0;
        break;
      case Op::less_equal:
        holds = result <= 0;
        break;
      case Op::greater:
        holds = result > 0;
        break;
      default:
        holds = result >= 0;
    }
  }
  out = yaml::Node::boolean(holds);
  return true;
}

bool Evaluator::membership(const Code& code, const Value& item, const Value& range, Value& out) {
  bool found = false;
  if (const auto list = ListView::of(range)) {
    for (std::size_t i = 0; !found && i < list->size(); ++i) {
      if (!charge(code, 1) || !equals(code, item, (*list)[i], found)) return false;
    }
  } else if (const auto map = MapView::of(range)) {
    if (item.is_node()) {
      if (!charge(code, map->find_cost(item.node()))) return false;
      found = map->find(item.node()).has_value();
    }
  } else {
    return cannot_take(code, "in", item, range);
  }
  out = yaml::Node::boolean(found);
  return true;
}

}  // namespace gpuctl::cel
