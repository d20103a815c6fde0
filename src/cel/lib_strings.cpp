// Tests on strings and the published strings extension. Positions count code points.
#include <algorithm>
#include <limits>

#include "base/text.hpp"
#include "cel/functions.hpp"
#include "cel/lexer.hpp"
#include "cel/utf8.hpp"

namespace gpuctl::cel::lib {

namespace {

Outcome out_of_range(std::int64_t position) {
  return fail("position " + std::to_string(position) + " is outside of the string");
}

/// A part of an argument: shares its bytes, which live as long as the arena's.
Outcome part(std::string_view piece) {
  return give(yaml::Node::view(piece));
}

std::int64_t points_before(std::string_view subject, std::size_t bytes) {
  return static_cast<std::int64_t>(base::code_points(subject.substr(0, bytes)));
}

/// Steps for looking for `part`. In the worst case it is compared at every place.
std::uint64_t search_cost(std::string_view subject, std::string_view part) {
  constexpr std::uint64_t kBytesPerStep = 1024;
  return subject.size() / 64 +
         std::uint64_t{subject.size()} * std::min(subject.size(), part.size()) / kBytesPerStep;
}

Outcome char_at(Arguments args, CallContext& context) {
  const std::string_view subject = text_of(args[0]);
  if (!context.charge(subject.size() / 64)) return exhausted();
  const std::size_t at = utf8_offset(subject, integer_of(args[1]));
  if (at == std::string_view::npos) return out_of_range(integer_of(args[1]));
  if (at == subject.size()) return part({});
  return part(subject.substr(at, utf8_length(subject[at])));
}

Outcome index_of(Arguments args, CallContext& context) {
  const std::string_view subject = text_of(args[0]);
  if (!context.charge(search_cost(subject, text_of(args[1])))) return exhausted();
  const std::int64_t from = args.size() > 2 ? integer_of(args[2]) : 0;
  const std::size_t start = utf8_offset(subject, from);
  if (start == std::string_view::npos) return out_of_range(from);
  const std::size_t found = subject.find(text_of(args[1]), start);
  return give(found == std::string_view::npos ? std::int64_t{-1} : points_before(subject, found));
}

Outcome last_index_of(Arguments args, CallContext& context) {
  const std::string_view subject = text_of(args[0]);
  if (!context.charge(search_cost(subject, text_of(args[1])))) return exhausted();
  std::size_t start = std::string_view::npos;
  if (args.size() > 2) {
    start = utf8_offset(subject, integer_of(args[2]));
    if (start == std::string_view::npos) return out_of_range(integer_of(args[2]));
  }
  const std::size_t found = subject.rfind(text_of(args[1]), start);
  return give(found == std::string_view::npos ? std::int64_t{-1} : points_before(subject, found));
}

Outcome substring(Arguments args, CallContext& context) {
  const std::string_view subject = text_of(args[0]);
  if (!context.charge(subject.size() / 8)) return exhausted();
  const std::size_t begin = utf8_offset(subject, integer_of(args[1]));
  if (begin == std::string_view::npos) return out_of_range(integer_of(args[1]));
  if (args.size() == 2) return part(subject.substr(begin));
  const std::size_t end = utf8_offset(subject, integer_of(args[2]));
  if (end == std::string_view::npos) return out_of_range(integer_of(args[2]));
  if (end < begin) {
    return fail("the end " + std::to_string(integer_of(args[2])) + " lies before the start " +
                std::to_string(integer_of(args[1])));
  }
  return part(subject.substr(begin, end - begin));
}

template <char First, char Last, int Shift>
Outcome change_case(Arguments args, CallContext& context) {
  std::string changed(text_of(args[0]));
  for (char& c : changed) {
    if (c >= First && c <= Last) c = static_cast<char>(c + Shift);
  }
  return give_text(context, changed);
}

Outcome replace(Arguments args, CallContext& context) {
  const std::string_view subject = text_of(args[0]);
  const std::string_view from = text_of(args[1]);
  const std::string_view to = text_of(args[2]);
  std::int64_t left = args.size() > 3 ? integer_of(args[3]) : -1;
  if (left < 0) left = std::numeric_limits<std::int64_t>::max();
  if (!context.charge(search_cost(subject, from))) return exhausted();
  std::string out;
  std::size_t at = 0;
  while (left > 0) {
    // An empty `from` stands before every code point and at the end.
    const std::size_t found = from.empty() ? at : subject.find(from, at);
    if (found == std::string_view::npos) break;
    if (!context.charge(1 + (found - at + to.size()) / 8)) return exhausted();
    out += subject.substr(at, found - at);
    out += to;
    at = found + from.size();
    --left;
    if (from.empty()) {
      if (at >= subject.size()) break;
      const std::size_t length = utf8_length(subject[at]);
      out += subject.substr(at, length);
      at += length;
    }
  }
  if (at < subject.size()) out += subject.substr(at);
  return give_text(context, out);
}

Outcome split(Arguments args, CallContext& context) {
  const std::string_view subject = text_of(args[0]);
  const std::string_view separator = text_of(args[1]);
  std::int64_t limit = args.size() > 2 ? integer_of(args[2]) : -1;
  if (limit == 0) return give(context.arena.list({}));
  if (limit < 0) limit = std::numeric_limits<std::int64_t>::max();
  if (!context.charge(search_cost(subject, separator))) return exhausted();
  std::vector<yaml::Node> parts;
  std::size_t at = 0;
  while (static_cast<std::int64_t>(parts.size()) + 1 < limit) {
    std::size_t found = subject.find(separator, at);
    if (separator.empty()) {
      found = at < subject.size() ? at + utf8_length(subject[at]) : std::string_view::npos;
      if (found >= subject.size()) found = std::string_view::npos;
    }
    if (found == std::string_view::npos) break;
    if (!context.charge(kStepsPerItem)) return exhausted();
    parts.push_back(yaml::Node::view(subject.substr(at, found - at)));
    at = found + separator.size();
  }
  if (!(separator.empty() && subject.empty())) {
    parts.push_back(yaml::Node::view(subject.substr(at)));
  }
  return give(context.arena.list(parts));
}

Outcome join(Arguments args, CallContext& context) {
  const std::string_view separator = args.size() > 1 ? text_of(args[1]) : std::string_view();
  std::string out;
  bool first = true;
  for (const yaml::Node& item : args[0].node().items()) {
    if (!item.is_string()) return fail("`join` wants a list of strings");
    if (!context.charge(1 + (item.size() + separator.size()) / 8)) return exhausted();
    if (!first) out += separator;
    out += item.as_string();
    first = false;
  }
  return give_text(context, out);
}

/// White space as Unicode's property White_Space has it.
bool is_space(std::uint32_t code) {
  return (code >= 0x09 && code <= 0x0D) || code == 0x20 || code == 0x85 || code == 0xA0 ||
         code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 ||
         code == 0x202F || code == 0x205F || code == 0x3000;
}

Outcome trim(Arguments args, CallContext& context) {
  const std::string_view subject = text_of(args[0]);
  if (!context.charge(subject.size() / 8)) return exhausted();
  std::size_t begin = 0;
  while (begin < subject.size() && is_space(utf8_decode(subject, begin))) {
    begin += utf8_length(subject[begin]);
  }
  std::size_t end = begin;
  for (std::size_t at = begin; at < subject.size();) {
    const std::size_t next = at + utf8_length(subject[at]);
    if (!is_space(utf8_decode(subject, at))) end = next;
    at = next;
  }
  return part(subject.substr(begin, end - begin));
}

Outcome reverse_text(Arguments args, CallContext& context) {
  const std::string_view subject = text_of(args[0]);
  std::string out;
  out.reserve(subject.size());
  for (std::size_t end = subject.size(); end > 0;) {
    std::size_t begin = end - 1;
    while (begin > 0 && (static_cast<unsigned char>(subject[begin]) & 0xC0) == 0x80) --begin;
    out += subject.substr(begin, end - begin);
    end = begin;
  }
  return give_text(context, out);
}

Outcome quote(Arguments args, CallContext& context) {
  static constexpr std::string_view kSpecial = "\a\b\f\n\r\t\v\\\"";
  static constexpr std::string_view kLetter = "abfnrtv\\\"";
  std::string out = "\"";
  for (const char c : text_of(args[0])) {
    const std::size_t at = kSpecial.find(c);
    if (at == std::string_view::npos) {
      out.push_back(c);
    } else {
      out += {'\\', kLetter[at]};
    }
  }
  return give_text(context, out + "\"");
}

Outcome contains(Arguments args, CallContext& context) {
  if (!context.charge(search_cost(text_of(args[0]), text_of(args[1])))) return exhausted();
  return give(text_of(args[0]).find(text_of(args[1])) != std::string_view::npos);
}

}  // namespace

void add_strings(Functions& to) {
  const Type strings = Type::list(string());
  method(to, "contains", {string(), string()}, boolean(), contains);
  method(to, "startsWith", {string(), string()}, boolean(), [](Arguments args, CallContext&) {
    return give(text_of(args[0]).substr(0, text_of(args[1]).size()) == text_of(args[1]));
  });
  method(to, "endsWith", {string(), string()}, boolean(), [](Arguments args, CallContext&) {
    const std::string_view subject = text_of(args[0]);
    const std::string_view end = text_of(args[1]);
    return give(subject.size() >= end.size() && subject.substr(subject.size() - end.size()) == end);
  });
  method(to, "charAt", {string(), integer()}, string(), char_at);
  method(to, "indexOf", {string(), string()}, integer(), index_of);
  method(to, "indexOf", {string(), string(), integer()}, integer(), index_of);
  method(to, "lastIndexOf", {string(), string()}, integer(), last_index_of);
  method(to, "lastIndexOf", {string(), string(), integer()}, integer(), last_index_of);
  method(to, "substring", {string(), integer()}, string(), substring);
  method(to, "substring", {string(), integer(), integer()}, string(), substring);
  method(to, "lowerAscii", {string()}, string(), change_case<'A', 'Z', 32>);
  method(to, "upperAscii", {string()}, string(), change_case<'a', 'z', -32>);
  method(to, "replace", {string(), string(), string()}, string(), replace);
  method(to, "replace", {string(), string(), string(), integer()}, string(), replace);
  method(to, "split", {string(), string()}, strings, split);
  method(to, "split", {string(), string(), integer()}, strings, split);
  method(to, "join", {strings}, string(), join);
  method(to, "join", {strings, string()}, string(), join);
  method(to, "trim", {string()}, string(), trim);
  method(to, "reverse", {string()}, string(), reverse_text);
  function(to, "strings.quote", {string()}, string(), quote);
}

}  // namespace gpuctl::cel::lib
