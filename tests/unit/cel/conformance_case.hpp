// One case of the published CEL conformance suite: what it says, running it, and whether it is
// about a part of the language that is left out.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cel/ast.hpp"
#include "cel/collections.hpp"
#include "cel/duration.hpp"
#include "cel/opaque.hpp"
#include "cel/program.hpp"
#include "text_proto.hpp"
#include "yaml/emit.hpp"

namespace gpuctl::test {

// Why a case does not apply. Nothing else is a reason.
inline constexpr std::string_view kMessages = "protobuf messages are not offered";
inline constexpr std::string_view kTimestamps = "timestamps are not offered";
inline constexpr std::string_view kBytes = "bytes values are not offered";
inline constexpr std::string_view kUnsigned = "uint values are not offered";
inline constexpr std::string_view kBlocks = "cel.block, which optimizers write, is not offered";
inline constexpr std::string_view kUnknowns = "unknown values are not offered";
inline constexpr std::string_view kNoMacros = "macros cannot be switched off";

// Where the suite and Kubernetes differ, expressions here mean what Kubernetes says.
inline constexpr std::string_view kMapped =
    "ip() is that of Kubernetes, which refuses IPv4-mapped addresses";
inline constexpr std::string_view kMilliseconds =
    "getMilliseconds() is that of Kubernetes: of the whole duration";

/// The parts of the language that a case uses and this engine leaves out, found in its text alone:
/// its literals, the names in its expression, the kinds of its values and types.
class RuledOut {
 public:
  explicit RuledOut(const ProtoMessage& test) {
    expression(test.text("expr"));
    if (test.text("container").find("cel.expr.conformance.proto") == 0) messages_ = true;
    if (test.text("disable_macros") == "true") no_macros_ = true;
    for (const ProtoField& field : test.fields) {
      if (field.name == "unknown" || field.name == "any_unknowns") unknowns_ = true;
      if (field.message != nullptr) message(*field.message);
    }
  }

  /// The one reason to give; empty when the case applies.
  std::string_view reason() const {
    if (messages_) return kMessages;
    if (timestamps_) return kTimestamps;
    if (blocks_) return kBlocks;
    if (bytes_) return kBytes;
    if (unsigned_) return kUnsigned;
    if (unknowns_) return kUnknowns;
    if (mapped_) return kMapped;
    if (milliseconds_) return kMilliseconds;
    return no_macros_ ? kNoMacros : std::string_view();
  }

 private:
  static bool word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }
  static bool digit(char c) { return c >= '0' && c <= '9'; }

  /// Splits the expression into words, numbers and symbols; strings and comments are passed over.
  void expression(const std::string& text) {
    std::size_t i = 0;
    std::string name;  // the dotted name that ends here
    while (i < text.size()) {
      const char c = text[i];
      if (c == '/' && text.substr(i, 2) == "//") {
        i = std::min(text.find('\n', i), text.size());
      } else if (c == '"' || c == '\'') {
        if (name == "ip" && text.compare(i + 1, 7, "::ffff:") == 0) mapped_ = true;
        i = string_end(text, i, raw_before(text, i));
        name.clear();
      } else if (digit(c) && (i == 0 || !word(text[i - 1]))) {
        while (i < text.size() && (word(text[i]) || text[i] == '.')) ++i;
        if (text[i - 1] == 'u' || text[i - 1] == 'U') unsigned_ = true;
        name.clear();
      } else if (word(c)) {
        const std::size_t begin = i;
        if (begin > 0 && text[begin - 1] == '(') name.clear();
        while (i < text.size() && word(text[i])) ++i;
        const std::string part = text.substr(begin, i - begin);
        if (i < text.size() && (text[i] == '"' || text[i] == '\'') && prefix(part)) continue;
        name += part;
        named(name, part, i < text.size() && text[i] == '{');
      } else {
        // `(` keeps the name of the function for its first argument.
        if (c != '.' && c != '(') name.clear();
        if (c == '.' && !name.empty()) name += '.';
        ++i;
      }
    }
  }

  /// `b"..."` and `r"..."` start with a word of their own.
  bool prefix(const std::string& part) {
    if (part.size() > 2 || part.find_first_not_of("rRbB") != std::string::npos) return false;
    if (part.find_first_of("bB") != std::string::npos) bytes_ = true;
    return true;
  }
  static bool raw_before(const std::string& text, std::size_t at) {
    for (std::size_t k = at; k > 0 && k + 2 > at && word(text[k - 1]); --k) {
      if (text[k - 1] == 'r' || text[k - 1] == 'R') return true;
    }
    return false;
  }
  static std::size_t string_end(const std::string& text, std::size_t at, bool raw) {
    const std::string quote(text.substr(at, 3) == std::string(3, text[at]) ? 3 : 1, text[at]);
    at += quote.size();
    while (at < text.size() && text.substr(at, quote.size()) != quote) {
      at += !raw && text[at] == '\\' ? 2 : 1;
    }
    return std::min(at + quote.size(), text.size());
  }

  void named(const std::string& name, const std::string& part, bool brace) {
    if (brace) messages_ = true;  // T{...}
    if (part.find("TestAllTypes") != std::string::npos || name.find("proto.") == 0) {
      messages_ = true;
    }
    if (part == "getMilliseconds") milliseconds_ = true;
    if (name == "uint") unsigned_ = true;
    if (name == "bytes") bytes_ = true;
    if (name == "timestamp" || name == "google.protobuf.Timestamp") timestamps_ = true;
    if (name.find("cel.expr.conformance.proto") == 0) messages_ = true;
    const bool well_known = name.find("google.protobuf.") == 0;
    if (well_known && name != "google.protobuf.Duration" && name != "google.protobuf.Timestamp") {
      messages_ = true;
    }
    if (name == "cel.block" || name == "cel.index" || name == "cel.iterVar") blocks_ = true;
  }

  void message(const ProtoMessage& part) {
    for (const ProtoField& field : part.fields) {
      if (field.name == "uint64_value" || field.scalar == "UINT64") unsigned_ = true;
      if (field.name == "bytes_value" || field.scalar == "BYTES") bytes_ = true;
      if (field.name == "enum_value" || field.name == "wrapper") messages_ = true;
      if (field.name == "message_type") type_name(field.scalar);
      if (field.name == "unknown") unknowns_ = true;
      if (field.name == "type_value") type_name(field.scalar);
      if (field.name == "well_known") type_name(field.scalar);
      if (field.name.find("[type.googleapis.com/") == 0) {
        type_name(field.name.substr(21, field.name.size() - 22));
        continue;  // its own fields are no part of the case
      }
      if (field.message != nullptr) message(*field.message);
    }
  }

  void type_name(const std::string& name) {
    if (name == "uint") unsigned_ = true;
    if (name == "bytes") bytes_ = true;
    if (name == "google.protobuf.Timestamp" || name == "TIMESTAMP") timestamps_ = true;
    const bool known = name.find('.') == std::string::npos && name != "ANY";
    if (!known && name != "google.protobuf.Timestamp" && name != "google.protobuf.Duration" &&
        name.find("net.") != 0) {
      messages_ = true;
    }
  }

  bool messages_ = false;
  bool mapped_ = false;
  bool milliseconds_ = false;
  bool timestamps_ = false;
  bool blocks_ = false;
  bool bytes_ = false;
  bool unsigned_ = false;
  bool unknowns_ = false;
  bool no_macros_ = false;
};

/// The case says something that cannot be put into this engine.
class Inexpressible : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline cel::Type read_type(const ProtoMessage& type) {
  using cel::Type;
  using cel::TypeKind;
  const auto part = [](const ProtoMessage* message) {
    return message == nullptr ? Type::dyn() : read_type(*message);
  };
  if (const ProtoField* primitive = type.find("primitive")) {
    const std::string& name = primitive->scalar;
    if (name == "BOOL") return Type::simple(TypeKind::boolean);
    if (name == "INT64") return Type::simple(TypeKind::integer);
    if (name == "DOUBLE") return Type::simple(TypeKind::real);
    if (name == "STRING") return Type::simple(TypeKind::string);
    throw Inexpressible("type " + name);
  }
  if (const ProtoMessage* list = type.message("list_type")) {
    return Type::list(part(list->message("elem_type")));
  }
  if (const ProtoMessage* map = type.message("map_type")) {
    return Type::map(part(map->message("key_type")), part(map->message("value_type")));
  }
  if (const ProtoMessage* abstract = type.message("abstract_type")) {
    if (abstract->text("name") == "optional_type") {
      return Type::optional(part(abstract->message("parameter_types")));
    }
    return Type::opaque(abstract->text("name"));
  }
  if (type.text("well_known") == "DURATION" ||
      type.text("message_type") == "google.protobuf.Duration") {
    return Type::opaque("duration");
  }
  if (type.find("type") != nullptr) return Type::simple(TypeKind::type);
  if (type.find("null") != nullptr) return Type::simple(TypeKind::null);
  // A type parameter stands for any type.
  if (type.find("dyn") != nullptr || type.find("type_param") != nullptr || type.fields.empty()) {
    return Type::dyn();
  }
  throw Inexpressible("type " + type.fields.front().name);
}

inline double read_double(const std::string& text) {
  if (text == "inf" || text == "Infinity") return HUGE_VAL;
  if (text == "-inf" || text == "-Infinity") return -HUGE_VAL;
  if (text == "nan" || text == "NaN") return std::nan("");
  return std::stod(text);
}

inline cel::Value read_value(const ProtoMessage& value, yaml::Arena& arena) {
  if (value.fields.empty()) throw Inexpressible("empty value");
  const ProtoField& field = value.fields.front();
  if (field.name == "null_value") return yaml::Node::null();
  if (field.name == "bool_value") return yaml::Node::boolean(field.scalar == "true");
  if (field.name == "int64_value") return yaml::Node::integer(std::stoll(field.scalar, nullptr, 0));
  if (field.name == "double_value") return yaml::Node::real(read_double(field.scalar));
  if (field.name == "string_value") return arena.string(field.scalar);
  if (field.name == "type_value") {
    return cel::Value(std::make_shared<const cel::TypeValue>(field.scalar));
  }
  const auto part = [&](const ProtoMessage* message) {
    if (message == nullptr) throw Inexpressible("a value without content");
    return read_value(*message, arena);
  };
  if (field.name == "list_value" && field.message != nullptr) {
    std::vector<cel::Value> items;
    for (const ProtoField& item : field.message->fields) items.push_back(part(item.message.get()));
    return cel::make_list(std::move(items), arena);
  }
  if (field.name == "map_value" && field.message != nullptr) {
    std::vector<cel::MapEntry> entries;
    for (const ProtoField& entry : field.message->fields) {
      if (entry.message == nullptr) throw Inexpressible("an entry without content");
      const cel::Value key = part(entry.message->message("key"));
      entries.push_back({key.node(), part(entry.message->message("value"))});
    }
    return cel::make_map(std::move(entries), arena);
  }
  if (field.name == "object_value" && field.message != nullptr && !field.message->fields.empty()) {
    const ProtoField& object = field.message->fields.front();
    if (object.name == "[type.googleapis.com/google.protobuf.Duration]" &&
        object.message != nullptr) {
      const auto number = [&](const char* name) {
        const std::string text = object.message->text(name);
        return text.empty() ? 0LL : std::stoll(text);
      };
      return cel::Value(std::make_shared<const cel::Duration>(number("seconds") * 1'000'000'000 +
                                                              number("nanos")));
    }
    throw Inexpressible("a value of type " + object.name);
  }
  throw Inexpressible("value " + field.name);
}

/// Same kind and value; unlike CEL's own equality, 1 differs from 1.0, and NaN equals NaN.
inline bool same(const cel::Value& a, const cel::Value& b) {
  const auto a_list = cel::ListView::of(a);
  const auto b_list = cel::ListView::of(b);
  if (a_list && b_list) {
    bool equal = a_list->size() == b_list->size();
    for (std::size_t i = 0; equal && i < a_list->size(); ++i) {
      equal = same((*a_list)[i], (*b_list)[i]);
    }
    return equal;
  }
  const auto a_map = cel::MapView::of(a);
  const auto b_map = cel::MapView::of(b);
  if (a_map && b_map) {
    bool equal = a_map->size() == b_map->size();
    for (std::size_t i = 0; equal && i < a_map->size(); ++i) {
      const auto other = b_map->find(a_map->key(i));
      equal = other && same(a_map->value(i), *other);
    }
    return equal;
  }
  if (!a.is_node() || !b.is_node()) return cel::equal(a, b);
  if (a.node().kind() != b.node().kind()) return false;
  if (a.node().is_real() && std::isnan(a.node().as_real())) return std::isnan(b.node().as_real());
  return yaml::equal(a.node(), b.node());
}

inline std::string show(const cel::Value& value) {
  if (value.is_node()) return yaml::emit_json(value.node());
  if (const auto* type = dynamic_cast<const cel::TypeValue*>(value.opaque())) {
    return "type " + type->name;
  }
  return "a value of type " + cel::type_name_of(value);
}

/// Environment and values of a case.
struct Setting {
  cel::Environment environment;
  std::vector<cel::Value> values;
};

inline void declare_function(const ProtoMessage& declaration, const std::string& name,
                             Setting& setting) {
  auto functions = std::make_shared<cel::Functions>(*setting.environment.functions);
  for (const ProtoField& field : declaration.fields) {
    if (field.name != "overloads" || field.message == nullptr) continue;
    cel::Function function;
    function.name = name;
    function.method = field.message->text("is_instance_function") == "true";
    for (const ProtoField& param : field.message->fields) {
      if (param.name == "params") function.params.push_back(read_type(*param.message));
    }
    if (const ProtoMessage* result = field.message->message("result_type")) {
      function.result = read_type(*result);
    }
    function.call = [](std::span<const cel::Value>, cel::CallContext&) {
      cel::EvalError error;
      error.message = "declared without an implementation";
      return cel::Outcome{{}, error};
    };
    functions->add(std::move(function));
  }
  setting.environment.functions = std::move(functions);
}

inline Setting read_setting(const ProtoMessage& test, yaml::Arena& arena) {
  Setting setting;
  setting.environment.container = test.text("container");
  std::map<std::string, cel::Value> bound;
  for (const ProtoField& field : test.fields) {
    if (field.name != "bindings") continue;
    const ProtoMessage* value = field.message->message("value");
    if (value == nullptr || value->message("value") == nullptr) {
      throw Inexpressible("a binding without value");
    }
    bound[field.message->text("key")] = read_value(*value->message("value"), arena);
  }
  for (const ProtoField& field : test.fields) {
    if (field.name != "type_env") continue;
    const std::string name = field.message->text("name");
    if (const ProtoMessage* function = field.message->message("function")) {
      declare_function(*function, name, setting);
      continue;
    }
    const ProtoMessage* ident = field.message->message("ident");
    if (ident == nullptr || ident->message("type") == nullptr) {
      throw Inexpressible("a declaration of another kind");
    }
    setting.environment.variables.push_back({name, read_type(*ident->message("type"))});
    setting.values.push_back(bound[name]);
    bound.erase(name);
  }
  for (const auto& [name, value] : bound) {
    setting.environment.variables.push_back({name, cel::Type::dyn()});
    setting.values.push_back(value);
  }
  return setting;
}

/// Runs one case; empty when it passes, otherwise what went wrong.
inline std::string run_case(const ProtoMessage& test) {
  yaml::Arena arena;
  try {
    if (test.text("disable_macros") == "true") throw Inexpressible("macros switched off");
    const Setting setting = read_setting(test, arena);
    std::vector<cel::Problem> problems;
    const std::string text = test.text("expr");
    const auto program = test.text("disable_check") == "true"
                             ? cel::compile_unchecked(text, setting.environment, problems)
                             : cel::compile(text, setting.environment, problems);
    const bool wants_error =
        test.find("eval_error") != nullptr || test.find("any_eval_errors") != nullptr;
    if (program == nullptr) {
      // The error that is expected may be the checker's, unless what it objects to is something
      // that is left out here.
      if (wants_error && !problems.front().syntax && RuledOut(test).reason().empty()) return {};
      return "does not compile: " + problems.front().message;
    }

    const ProtoMessage* typed = test.message("typed_result");
    if (const ProtoMessage* type = typed == nullptr ? nullptr : typed->message("deduced_type")) {
      const std::string expected = read_type(*type).text();
      const std::string found = cel::type_of(*program).text();
      if (found != expected) return "type " + found + " is not " + expected;
    }
    if (test.text("check_only") == "true") return {};

    const cel::Outcome outcome = cel::evaluate(*program, setting.values, arena);
    if (wants_error) {
      return outcome.ok() ? "no error but " + show(outcome.value) : std::string();
    }
    if (test.find("unknown") != nullptr || test.find("any_unknowns") != nullptr) {
      throw Inexpressible("unknown values");
    }
    cel::Value expected = yaml::Node::boolean(true);  // the suite's default
    const ProtoMessage* value = test.message("value");
    if (value == nullptr && typed != nullptr) value = typed->message("result");
    if (value != nullptr) expected = read_value(*value, arena);
    if (!outcome.ok()) return "error: " + outcome.error->message;
    if (!same(outcome.value, expected)) return show(outcome.value) + " is not " + show(expected);
    return {};
  } catch (const Inexpressible& what) {
    return std::string("not expressible: ") + what.what();
  } catch (const std::exception& what) {
    return std::string("the case cannot be read: ") + what.what();
  }
}

}  // namespace gpuctl::test
