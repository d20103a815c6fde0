#include "cel/functions.hpp"

#include <limits>

#include "cel/collections.hpp"
#include "cel/opaque.hpp"

namespace gpuctl::cel {

const Functions::Table::Overloads* Functions::Table::find(std::string_view name,
                                                          bool method) const {
  const auto& names = method ? methods : functions;
  const auto at = names.find(name);
  return at == names.end() ? nullptr : &at->second;
}

Functions::Functions() : Functions(*standard()) {}

std::shared_ptr<const Functions> Functions::standard() {
  static const std::shared_ptr<const Functions> instance = [] {
    Functions functions(std::make_shared<Table>());
    lib::add_core(functions);
    lib::add_strings(functions);
    lib::add_regex(functions);
    lib::add_format(functions);
    lib::add_lists(functions);
    lib::add_math(functions);
    lib::add_network(functions);
    lib::add_quantity(functions);
    lib::add_semver(functions);
    lib::add_duration(functions);
    lib::add_dates(functions);
    lib::add_encoding(functions);
    lib::add_certificates(functions);
    lib::add_url(functions);
    lib::add_named_formats(functions);
    return std::make_shared<const Functions>(std::move(functions));
  }();
  return instance;
}

void Functions::add(Function function) {
  if (table_.use_count() > 1) table_ = std::make_shared<Table>(*table_);
  auto& overloads = (function.method ? table_->methods : table_->functions)[function.name];
  if (!overloads.empty()) {
    const std::string text = signature(function);
    std::erase_if(overloads, [&](const auto& other) { return signature(*other) == text; });
  }
  overloads.push_back(std::make_shared<const Function>(std::move(function)));
}

std::string signature(const Function& function) {
  std::string out;
  std::size_t from = 0;
  if (function.method) {
    out = function.params.empty() ? "?." : function.params[0].text() + ".";
    from = 1;
  }
  out += function.name + "(";
  for (std::size_t i = from; i < function.params.size(); ++i) {
    if (i != from) out += ", ";
    out += function.params[i].text();
  }
  return out + (function.variadic ? "...)" : ")");
}

namespace {
// Documents nest at most 64 deep, types no deeper than the expressions that name them.
bool fits_within(const Type& type, const Value& value, bool deep) {
  if (type.is_dyn()) return true;
  if (type.kind() == TypeKind::list) {
    const auto list = ListView::of(value);
    if (!list) return false;
    const Type element = type.element();
    bool fitting = true;
    for (std::size_t i = 0; deep && !element.is_dyn() && fitting && i < list->size(); ++i) {
      fitting = fits_within(element, (*list)[i], true);
    }
    return fitting;
  }
  if (type.kind() == TypeKind::map) {
    const auto map = MapView::of(value);
    if (!map) return false;
    const Type key = type.key();
    const Type element = type.element();
    bool fitting = true;
    for (std::size_t i = 0;
         deep && !(key.is_dyn() && element.is_dyn()) && fitting && i < map->size(); ++i) {
      fitting = fits_within(key, map->key(i), true) && fits_within(element, map->value(i), true);
    }
    return fitting;
  }
  if (!value.is_node()) {
    const std::string name = value.opaque()->type_name();
    switch (type.kind()) {
      case TypeKind::opaque:
        return name == type.name();
      case TypeKind::optional:
        return name == "optional";
      case TypeKind::type:
        return name == "type";
      default:
        return false;
    }
  }
  const yaml::Node& node = value.node();
  switch (type.kind()) {
    case TypeKind::null:
      return node.is_null();
    case TypeKind::boolean:
      return node.is_boolean();
    case TypeKind::integer:
      return node.is_integer();
    case TypeKind::real:
      return node.is_real();
    case TypeKind::string:
      return node.is_string();
    case TypeKind::object:
      return node.is_map();
    default:
      return false;
  }
}
}  // namespace

bool fits(const Type& type, const Value& value, bool deep) {
  return fits_within(type, value, deep);
}

std::optional<bool> CallContext::equal(const Value& a, const Value& b) const {
  std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t& steps = steps_left == nullptr ? unlimited : *steps_left;
  if (!charge(1)) return std::nullopt;
  return cel::equal(a, b, steps);
}

namespace lib {

Outcome fail(std::string message) {
  EvalError error;
  error.message = std::move(message);
  return {Value(), std::move(error)};
}

Outcome exhausted() {
  EvalError error;
  error.kind = EvalError::Kind::budget;
  error.message = "the evaluation needs more than " + std::to_string(kMostSteps) + " steps";
  return {Value(), std::move(error)};
}

Outcome give_text(CallContext& context, std::string_view text) {
  if (!context.charge(text.size() / 8)) return exhausted();
  return give(context.arena.string(text));
}

namespace {
Function make(std::string name, bool is_method, std::vector<Type> params, Type result, Call call,
              ResultOf result_of) {
  Function made;
  made.name = std::move(name);
  made.method = is_method;
  made.params = std::move(params);
  made.result = std::move(result);
  made.call = call;
  if (result_of != nullptr) made.result_of = result_of;
  made.pure = true;
  made.views = true;
  return made;
}
}  // namespace

void function(Functions& to, std::string name, std::vector<Type> params, Type result, Call call,
              ResultOf result_of) {
  to.add(make(std::move(name), false, std::move(params), std::move(result), call, result_of));
}

void method(Functions& to, std::string name, std::vector<Type> params, Type result, Call call,
            ResultOf result_of) {
  to.add(make(std::move(name), true, std::move(params), std::move(result), call, result_of));
}

void both(Functions& to, const std::string& name, const std::vector<Type>& params,
          const Type& result, Call call) {
  function(to, name, params, result, call);
  method(to, name, params, result, call);
}

}  // namespace lib
}  // namespace gpuctl::cel
