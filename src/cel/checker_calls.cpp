// Overload resolution and macros.
#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "cel/checker.hpp"
#include "cel/opaque.hpp"
#include "cel/pattern.hpp"

namespace gpuctl::cel {

namespace {

struct Unsupported {
  std::string_view name;
  std::string_view help;
};

// Parts of the language that are left out on purpose.
constexpr std::array<Unsupported, 10> kUnsupported = {{
    {"timestamp", "there is no clock and no calendar in expressions"},
    {"bytes", "use strings; `base64.encode` and `base64.decode` work on them"},
    {"uint", "use `int`"},
    {"getFullYear", "there is no clock and no calendar in expressions"},
    {"getMonth", "there is no clock and no calendar in expressions"},
    {"getDate", "there is no clock and no calendar in expressions"},
    {"getDayOfMonth", "there is no clock and no calendar in expressions"},
    {"getDayOfWeek", "there is no clock and no calendar in expressions"},
    {"getDayOfYear", "there is no clock and no calendar in expressions"},
    {"cel.block", "bind names with `cel.bind`"},
}};

std::string types_text(const std::vector<Checked>& args, std::size_t from) {
  std::string out;
  for (std::size_t i = from; i < args.size(); ++i) {
    out += (i == from ? "" : ", ") + args[i].type.text();
  }
  return out;
}

const Type& parameter(const Function& function, std::size_t i) {
  return function.params[std::min(i, function.params.size() - 1)];
}

bool takes(const Function& function, const std::vector<Checked>& args) {
  if (function.variadic ? args.size() < function.params.size()
                        : args.size() != function.params.size()) {
    return false;
  }
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (!parameter(function, i).accepts(args[i].type)) return false;
  }
  return true;
}

Type result_of(const Function& function, const std::vector<Checked>& args) {
  if (!function.result_of) return function.result;
  std::vector<Type> types;
  for (const Checked& arg : args) types.push_back(arg.type);
  return function.result_of(types);
}

}  // namespace

Checked Checker::unknown_function(const Expr& expr, const std::string& name, bool is_method,
                                  const Type* target) {
  for (const Unsupported& entry : kUnsupported) {
    if (entry.name == name) {
      return fault(expr, expr.text_begin, expr.text_end, "`" + name + "` is not supported",
                   std::string(entry.help));
    }
  }
  if (is_method && is_macro(name)) {
    return fault(expr, expr.text_begin, expr.text_end,
                 "`" + name + "` has no form with " + std::to_string(expr.children.size() - 1) +
                     " arguments",
                 "for example `list." + name + "(item, ...)`");
  }
  if (!is_method && is_macro(name)) {
    return fault(expr, expr.text_begin, expr.text_end, "unknown function `" + name + "`",
                 "it is called on a list or map: `list." + name + "(item, ...)`");
  }
  if (table_.find(name, !is_method) != nullptr) {
    return fault(expr, expr.text_begin, expr.text_end,
                 is_method ? "`" + name + "` is a function and no method"
                           : "`" + name + "` is a method and no function",
                 is_method ? "write `" + name + "(...)`" : "write `x." + name + "(...)`");
  }
  std::vector<std::string> names;
  for (const auto& entry : is_method ? table_.methods : table_.functions) {
    names.push_back(entry.first);
  }
  if (is_method) {
    for (const char* macro : {"all", "exists", "exists_one", "map", "filter", "sortBy"}) {
      names.emplace_back(macro);
    }
  } else {
    names.emplace_back("has");
  }
  const auto near = base::nearest(name, names);
  std::string message = "unknown function `" + name + "`";
  if (target != nullptr && !target->is_dyn()) message += " on " + target->text();
  return fault(expr, expr.text_begin, expr.text_end, std::move(message),
               near.empty() ? std::string() : "did you mean `" + near.front() + "`?");
}

const Functions::Table::Overloads* Checker::find_function(std::string_view name,
                                                          bool absolute) const {
  if (environment_.container.empty()) return table_.find(name, false);
  for (const std::string& candidate : candidates(name, absolute)) {
    if (const auto* overloads = table_.find(candidate, false)) return overloads;
  }
  return nullptr;
}

Checked Checker::call(const Expr& expr) {
  const auto* overloads = find_function(expr.text, expr.absolute);
  if (overloads == nullptr) return unknown_function(expr, expr.text, false, nullptr);
  std::vector<Checked> args;
  for (const ExprPtr& child : expr.children) args.push_back(check(*child));
  return resolve(expr, *overloads, std::move(args));
}

Checked Checker::method(const Expr& expr) {
  std::vector<Checked> args;
  const auto check_arguments = [&] {
    for (std::size_t i = 1; i < expr.children.size(); ++i) args.push_back(check(*expr.children[i]));
  };
  const auto prefix = chain(*expr.children[0]);
  const bool is_namespace = prefix && !is_variable(prefix->substr(0, prefix->find('.')));
  if (is_namespace) {
    // No variable: the chain is the namespace of a function.
    check_arguments();
    const std::string name = *prefix + "." + expr.text;
    if (const auto* overloads = find_function(name, false)) {
      return resolve(expr, *overloads, std::move(args));
    }
    for (const Unsupported& entry : kUnsupported) {
      if (entry.name != name) continue;
      return fault(expr, expr.children[0]->begin, expr.text_end, "`" + name + "` is not supported",
                   std::string(entry.help));
    }
    const auto at = table_.functions.lower_bound(*prefix + ".");
    if (at != table_.functions.end() &&
        at->first.compare(0, prefix->size() + 1, *prefix + ".") == 0) {
      std::vector<std::string> names;
      for (const auto& entry : table_.functions) names.push_back(entry.first);
      const auto near = base::nearest(name, names);
      return fault(expr, expr.children[0]->begin, expr.text_end, "unknown function `" + name + "`",
                   near.empty() ? std::string() : "did you mean `" + near.front() + "`?");
    }
  }
  const std::size_t before = problems_.size();
  Checked target = check(*expr.children[0]);
  const auto* overloads = table_.find(expr.text, true);
  if (overloads == nullptr) {
    // One finding is enough when the target is wrong already.
    if (problems_.size() != before) return {make(Op::fault, expr), Type::dyn()};
    return unknown_function(expr, expr.text, true, &target.type);
  }
  // Once only: twice at each level would make the time exponential in the depth.
  if (!is_namespace) check_arguments();
  args.insert(args.begin(), std::move(target));
  if (expr.text != "or" && expr.text != "orValue")
    return resolve(expr, *overloads, std::move(args));
  const Type last = args.back().type;
  return alternative(expr, resolve(expr, *overloads, std::move(args)), last);
}

/// `a.or(b)` and `a.orValue(b)` evaluate `b` only when `a` is empty.
Checked Checker::alternative(const Expr& expr, Checked checked, const Type& otherwise) {
  if (checked.code.op != Op::call) return checked;
  const bool value = expr.text == "orValue";
  const Type own = value ? checked.type : checked.type.element();
  const Type other = value ? otherwise : otherwise.element();
  const Type both = join(own, other);
  if (both.is_dyn() && !own.is_dyn() && !other.is_dyn() && other.kind() != TypeKind::null) {
    const Expr& at = *expr.children.back();
    object_to(at.begin, at.end,
              "`" + expr.text + "` wants " + own.text() + " here, not " + other.text(),
              "wrap one of them in `dyn(...)` when both types are meant");
  }
  checked.code.op = value ? Op::or_value : Op::or_else;
  checked.type = value ? both : Type::optional(both);
  return checked;
}

Checked Checker::resolve(const Expr& expr, const Functions::Table::Overloads& overloads,
                         std::vector<Checked> args) {
  Draft code = make(Op::call, expr);
  const bool open =
      std::any_of(args.begin(), args.end(), [](const Checked& arg) { return has_dyn(arg.type); });
  Type type;
  for (const auto& overload : overloads) {
    if (!takes(*overload, args)) continue;
    const Type result = result_of(*overload, args);
    type = code.candidates.empty() ? result : join(type, result);
    code.candidates.push_back(overload.get());
    if (!open) break;
  }
  if (code.candidates.empty()) {
    const bool is_method = overloads.front()->method;
    std::string help;
    for (const auto& overload : overloads) {
      help += (help.empty() ? "" : ", ") + ("`" + signature(*overload) + "`");
    }
    std::string message = "`" + overloads.front()->name + "` cannot take (" +
                          types_text(args, is_method ? 1 : 0) + ")";
    if (is_method) message += " on " + args[0].type.text();
    return fault(expr, expr.text_begin, expr.text_end, std::move(message), "there is " + help);
  }
  code.args.reserve(args.size());
  for (std::size_t i = 0; i < args.size(); ++i) {
    args[i].code.inspect = has_dyn(args[i].type);
    args[i].code.widen = args[i].type.kind() == TypeKind::real;
    code.args.push_back(std::move(args[i].code));
  }
  Checked checked{std::move(code), std::move(type)};
  const std::string& name = overloads.front()->name;
  const bool takes_pattern = name == "matches" || name == "find" || name == "findAll";
  if (takes_pattern && !check_pattern(expr, checked)) return checked;
  fold_call(checked.code);
  return checked;
}

bool Checker::check_pattern(const Expr& expr, Checked& checked) {
  Draft& code = checked.code;
  if (code.args.size() < 2 || code.args[1].op != Op::constant) return true;
  const Value& constant = code.args[1].constant;
  if (!constant.is_node() || !constant.node().is_string()) return true;
  std::string reason;
  auto pattern = compile_pattern(constant.node().as_string(), reason);
  if (pattern == nullptr) {
    const Expr& at = *expr.children[1];
    checked = fault(at, at.begin, at.end, std::move(reason), "patterns are written in RE2 syntax");
    return false;
  }
  if (code.candidates.front()->name != "matches") return true;
  code.op = Op::matches;
  code.pattern = std::make_shared<const Pattern>(constant.node().as_string(), std::move(pattern));
  code.args[0].transient = true;
  code.args.pop_back();
  return true;
}

void Checker::fold_call(Draft& code) {
  if (code.op != Op::call || code.candidates.size() != 1 || !code.candidates[0]->pure) return;
  std::vector<Value> values;
  for (std::size_t i = 0; i < code.args.size(); ++i) {
    const Draft& arg = code.args[i];
    if (arg.op != Op::constant || !fits(parameter(*code.candidates[0], i), arg.constant, true)) {
      return;
    }
    values.push_back(arg.constant);
  }
  std::uint64_t steps = kMostSteps / 1000;  // a call that is dearer is left for later
  CallContext context{program_.constants, &steps};
  const Outcome outcome = code.candidates[0]->call(values, context);
  if (!outcome.ok() || outcome.value.is_omit()) return;
  if (outcome.value.is_node() && !outcome.value.node().is_scalar()) return;
  // These may hold nodes, which must not be handed out of the program's own arena.
  const Opaque* opaque = outcome.value.opaque();
  if (dynamic_cast<const OptionalValue*>(opaque) != nullptr ||
      dynamic_cast<const ValueList*>(opaque) != nullptr ||
      dynamic_cast<const ValueMap*>(opaque) != nullptr) {
    return;
  }
  code.op = Op::constant;
  code.constant = outcome.value;
  code.cost = outcome.value.is_node() ? cost_of(outcome.value.node()) : 1;
  if (opaque != nullptr) return;
  code.args.clear();
  code.candidates.clear();
}

}  // namespace gpuctl::cel
