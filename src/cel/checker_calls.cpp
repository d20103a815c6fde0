// Overload resolution and macros.
#include <re2/re2.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "cel/checker.hpp"
#include "cel/opaque.hpp"

namespace gpuctl::cel {

namespace {

struct Unsupported {
  std::string_view name;
  std::string_view help;
};

// Parts of the language that are left out on purpose.
constexpr std::array<Unsupported, 9> kUnsupported = {{
    {"timestamp", "there is no clock and no calendar in expressions"},
    {"bytes", "use strings; `base64.encode` and `base64.decode` work on them"},
    {"uint", "use `int`"},
    {"getFullYear", "there is no clock and no calendar in expressions"},
    {"getMonth", "there is no clock and no calendar in expressions"},
    {"getDate", "there is no clock and no calendar in expressions"},
    {"getDayOfMonth", "there is no clock and no calendar in expressions"},
    {"optMap", "write `x.hasValue() ? ... : ...`"},
    {"optFlatMap", "write `x.hasValue() ? ... : ...`"},
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
    for (const char* macro : {"all", "exists", "exists_one", "map", "filter"}) {
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

Checked Checker::call(const Expr& expr) {
  const auto* overloads = table_.find(expr.text, false);
  if (overloads == nullptr) return unknown_function(expr, expr.text, false, nullptr);
  std::vector<Checked> args;
  for (const ExprPtr& child : expr.children) args.push_back(check(*child));
  return resolve(expr, *overloads, std::move(args));
}

Checked Checker::method(const Expr& expr) {
  const auto prefix = chain(*expr.children[0]);
  if (prefix && !is_variable(prefix->substr(0, prefix->find('.')))) {
    // No variable: the chain is the namespace of a function.
    std::vector<Checked> args;
    for (std::size_t i = 1; i < expr.children.size(); ++i) args.push_back(check(*expr.children[i]));
    const std::string name = *prefix + "." + expr.text;
    if (const auto* overloads = table_.find(name, false)) {
      return resolve(expr, *overloads, std::move(args));
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
  std::vector<Checked> args;
  args.push_back(check(*expr.children[0]));
  const auto* overloads = table_.find(expr.text, true);
  if (overloads == nullptr) {
    // One finding is enough when the target is wrong already.
    if (problems_.size() != before) return {make(Op::fault, expr), Type::dyn()};
    return unknown_function(expr, expr.text, true, &args[0].type);
  }
  for (std::size_t i = 1; i < expr.children.size(); ++i) args.push_back(check(*expr.children[i]));
  return resolve(expr, *overloads, std::move(args));
}

Checked Checker::resolve(const Expr& expr, const Functions::Table::Overloads& overloads,
                         std::vector<Checked> args) {
  Code code = make(Op::call, expr);
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
  for (std::size_t i = 0; i < args.size(); ++i) {
    code.inspect.push_back(has_dyn(args[i].type));
    code.widen.push_back(args[i].type.kind() == TypeKind::real);
    code.args.push_back(std::move(args[i].code));
  }
  Checked checked{std::move(code), std::move(type)};
  if (overloads.front()->name == "matches" && !compile_pattern(expr, checked)) return checked;
  fold_call(checked.code);
  return checked;
}

bool Checker::compile_pattern(const Expr& expr, Checked& checked) {
  Code& code = checked.code;
  if (code.args.size() != 2 || code.args[1].op != Op::constant) return true;
  const Value& constant = code.args[1].constant;
  if (!constant.is_node() || !constant.node().is_string()) return true;
  re2::RE2::Options options;
  options.set_log_errors(false);
  auto pattern =
      std::make_shared<const re2::RE2>(std::string(constant.node().as_string()), options);
  if (!pattern->ok()) {
    const Expr& at = *expr.children.back();
    checked =
        fault(at, at.begin, at.end, "the pattern is no regular expression: " + pattern->error(),
              "patterns are written in RE2 syntax");
    return false;
  }
  code.op = Op::matches;
  code.pattern = std::move(pattern);
  code.args[0].transient = true;
  code.args.pop_back();
  return true;
}

void Checker::fold_call(Code& code) {
  if (code.op != Op::call || code.candidates.size() != 1 || !code.candidates[0]->pure) return;
  std::vector<Value> values;
  for (std::size_t i = 0; i < code.args.size(); ++i) {
    const Code& arg = code.args[i];
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
  // An optional may hold nodes, which must not be handed out of the program's own arena.
  if (dynamic_cast<const OptionalValue*>(outcome.value.opaque()) != nullptr) return;
  code.op = Op::constant;
  code.constant = outcome.value;
  code.cost = outcome.value.is_node() ? cost_of(outcome.value.node()) : 1;
  code.args.clear();
  code.candidates.clear();
}

Checked Checker::macro(const Expr& expr) {
  Checked range = check(*expr.children[0]);
  const bool is_list = range.type.kind() == TypeKind::list;
  const bool is_map = range.type.kind() == TypeKind::map || range.type.kind() == TypeKind::object;
  if (!is_list && !is_map && !range.type.is_dyn()) {
    object_to(expr.children[0]->begin, expr.children[0]->end,
              "`" + expr.text + "` wants a list or a map, not " + range.type.text());
  }
  const Type key =
      is_list ? Type::simple(TypeKind::integer) : (is_map ? range.type.key() : Type::dyn());
  const Type element = range.type.element();
  Code code = make(Op::macro, expr);
  code.macro = find_macro(expr.text, expr.variables.size() + expr.children.size() - 1)->macro;
  code.variables = static_cast<std::uint8_t>(expr.variables.size());
  code.filtered = expr.children.size() == 3;
  code.slot = static_cast<std::uint32_t>(locals_.size());
  // The answer of a quantifier holds no part of what it looped over.
  range.code.transient =
      code.macro == Macro::all || code.macro == Macro::exists || code.macro == Macro::exists_one;
  code.args.push_back(std::move(range.code));

  const Type single = is_map ? key : element;
  if (expr.variables.size() == 1) {
    locals_.push_back({expr.variables[0].text, single, code.slot});
  } else {
    locals_.push_back({expr.variables[0].text, key, code.slot});
    locals_.push_back({expr.variables[1].text, element, code.slot + 1});
  }
  local_count_ = std::max(local_count_, static_cast<std::uint32_t>(locals_.size()));
  Type body;
  for (std::size_t i = 1; i < expr.children.size(); ++i) {
    Checked part = check(*expr.children[i]);
    const bool last = i + 1 == expr.children.size();
    const bool test = !last || code.macro == Macro::all || code.macro == Macro::exists ||
                      code.macro == Macro::exists_one || code.macro == Macro::filter;
    if (test && !Type::simple(TypeKind::boolean).accepts(part.type)) {
      object_to(expr.children[i]->begin, expr.children[i]->end,
                "the test of `" + expr.text + "` must be bool, not " + part.type.text());
    }
    if (last) body = part.type;
    code.args.push_back(std::move(part.code));
  }
  locals_.resize(code.slot);

  Type type = Type::simple(TypeKind::boolean);
  switch (code.macro) {
    case Macro::map:
    case Macro::transform_list:
      type = Type::list(body);
      break;
    case Macro::filter:
      type = Type::list(single);
      break;
    case Macro::transform_map:
      type = Type::map(key, body);
      break;
    case Macro::transform_map_entry:
      if (!Type::map(Type::dyn(), Type::dyn()).accepts(body)) {
        object_to(expr.children.back()->begin, expr.children.back()->end,
                  "`transformMapEntry` wants a map for each item, not " + body.text());
      }
      type = Type::map(body.key(), body.element());
      break;
    default:
      break;
  }
  return {std::move(code), std::move(type)};
}

}  // namespace gpuctl::cel
