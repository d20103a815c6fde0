// The table of functions, and what their implementations share.
#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cel/program.hpp"

namespace gpuctl::cel {

struct Functions::Table {
  using Overloads = std::vector<std::shared_ptr<const Function>>;
  std::map<std::string, Overloads, std::less<>> functions;  // also "math.greatest"
  std::map<std::string, Overloads, std::less<>> methods;

  const Overloads* find(std::string_view name, bool method) const;
};

/// True when `value` may be passed for a parameter of type `type`. With `deep`, items and keys
/// are looked at too.
bool fits(const Type& type, const Value& value, bool deep);

/// `f(string, int)`, for methods `string.f(int)`.
std::string signature(const Function& function);

namespace lib {

using Arguments = std::span<const Value>;

Outcome fail(std::string message);
/// The error of an operation that did not get the steps it asked for.
Outcome exhausted();
inline Outcome give(yaml::Node node) {
  return {Value(node), std::nullopt};
}
inline Outcome give(Value value) {
  return {std::move(value), std::nullopt};
}
inline Outcome give(bool value) {
  return give(yaml::Node::boolean(value));
}
inline Outcome give(std::int64_t value) {
  return give(yaml::Node::integer(value));
}
inline Outcome give(double value) {
  return give(yaml::Node::real(value));
}
/// The text or integer that an argument is, which the parameter list has promised.
inline std::string_view text_of(const Value& value) {
  return value.node().as_string();
}
inline std::int64_t integer_of(const Value& value) {
  return value.node().as_integer();
}
/// A copy of `text` in the arena, charged.
Outcome give_text(CallContext& context, std::string_view text);

// Short names for signatures.
inline Type boolean() {
  return Type::simple(TypeKind::boolean);
}
inline Type integer() {
  return Type::simple(TypeKind::integer);
}
inline Type real() {
  return Type::simple(TypeKind::real);
}
inline Type string() {
  return Type::simple(TypeKind::string);
}
inline Type dyn() {
  return Type::dyn();
}
inline Type list() {
  return Type::list(Type::dyn());
}
inline Type map() {
  return Type::map(Type::dyn(), Type::dyn());
}

using Call = Outcome (*)(Arguments, CallContext&);
using ResultOf = Type (*)(std::span<const Type>);

/// Registers a pure function or method.
void function(Functions& to, std::string name, std::vector<Type> params, Type result, Call call,
              ResultOf result_of = nullptr);
void method(Functions& to, std::string name, std::vector<Type> params, Type result, Call call,
            ResultOf result_of = nullptr);
/// Registers both `name(x, ...)` and `x.name(...)`.
void both(Functions& to, const std::string& name, const std::vector<Type>& params,
          const Type& result, Call call);

/// The opaque argument, of a type that the parameter list has promised.
template <typename T>
const T& as(const Value& value) {
  return static_cast<const T&>(*value.opaque());
}

void add_core(Functions& to);     // size, conversions, type, omit, optionals
void add_strings(Functions& to);  // tests and the strings extension
void add_regex(Functions& to);    // matches, find, findAll
void add_format(Functions& to);   // string.format
void add_lists(Functions& to);
void add_math(Functions& to);
void add_network(Functions& to);  // ip, cidr
void add_quantity(Functions& to);
void add_semver(Functions& to);
void add_duration(Functions& to);
void add_dates(Functions& to);
void add_encoding(Functions& to);      // json, base64, jwt
void add_certificates(Functions& to);  // pem, ssh
void add_url(Functions& to);
void add_named_formats(Functions& to);  // format.dns1123Label and so on

}  // namespace lib
}  // namespace gpuctl::cel
