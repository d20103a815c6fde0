// string.format of the strings extension: %s %d %f %e %b %x %X %o %%, with a precision for %f and
// %e. Output does not depend on any locale.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "cel/collections.hpp"
#include "cel/duration.hpp"
#include "cel/functions.hpp"
#include "cel/numbers.hpp"
#include "cel/opaque.hpp"
#include "cel/utf8.hpp"

namespace gpuctl::cel::lib {

namespace {

// Documents nest to 64 levels; the bound keeps computed values from going further.
constexpr int kDeepest = 200;
// What a clause answers when the steps run out.
constexpr const char* kExhausted = "steps";
// More digits than any double has; bounds what `%.999999f` could ask for.
constexpr int kMostPrecision = 100;

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return double_text(value);
}

class Formatter {
 public:
  Formatter(const ListView& values, CallContext& context) : values_(values), context_(context) {}

  Outcome run(std::string_view pattern) {
    std::size_t i = 0;
    while (i < pattern.size()) {
      const std::size_t percent = std::min(pattern.find('%', i), pattern.size());
      if (!put(pattern.substr(i, percent - i))) return exhausted();
      if (percent == pattern.size()) break;
      i = percent + 1;
      if (i < pattern.size() && pattern[i] == '%') {
        if (!put("%")) return exhausted();
        ++i;
        continue;
      }
      int precision = 6;
      if (i < pattern.size() && pattern[i] == '.') {
        const auto read =
            std::from_chars(pattern.data() + i + 1, pattern.data() + pattern.size(), precision);
        if (read.ec != std::errc() || precision < 0 || precision > kMostPrecision) {
          return fail("a precision in the format must be 0 to " + std::to_string(kMostPrecision));
        }
        i = static_cast<std::size_t>(read.ptr - pattern.data());
      }
      if (i >= pattern.size()) return fail("the format ends inside of a `%` clause");
      if (next_ >= values_.size()) {
        return fail("the format has more `%` clauses than the list has values, " +
                    std::to_string(values_.size()));
      }
      std::string piece;
      const std::string_view letter = pattern.substr(i, utf8_length(pattern[i]));
      const std::string reason = clause(letter, precision, values_[next_++], piece);
      if (reason == kExhausted) return exhausted();
      if (!reason.empty()) return fail(reason);
      if (!put(piece)) return exhausted();
      ++i;
    }
    return give_text(context_, out_);
  }

 private:
  bool put(std::string_view text) {
    if (!context_.charge(1 + text.size() / 8)) return false;
    out_ += text;
    return true;
  }

  static std::string refuse(char letter, const Value& value) {
    return std::string("`%") + letter + "` cannot take " + type_name_of(value);
  }

  std::string clause(std::string_view name, int precision, const Value& value, std::string& piece) {
    const char letter = name.front();
    const yaml::Node node = value.is_node() ? value.node() : yaml::Node();
    switch (letter) {
      case 's':
        return plain(value, piece, 0);
      case 'd':
        if (!node.is_number()) return refuse(letter, value);
        piece = node.is_integer() ? std::to_string(node.as_integer()) : number_text(node.as_real());
        return {};
      case 'f':
      case 'e':
        if (!node.is_number()) return refuse(letter, value);
        piece = digits(node.as_real(), letter == 'f', precision);
        return {};
      case 'b':
        if (node.is_boolean()) {
          piece = node.as_boolean() ? "1" : "0";
          return {};
        }
        return based(letter, 2, value, piece);
      case 'o':
        return based(letter, 8, value, piece);
      case 'x':
      case 'X':
        if (node.is_string()) {
          for (const char c : node.as_string()) {
            static constexpr std::string_view kDigits = "0123456789abcdef";
            const auto byte = static_cast<unsigned char>(c);
            piece += {kDigits[byte >> 4], kDigits[byte & 15]};
          }
        } else if (std::string reason = based(letter, 16, value, piece); !reason.empty()) {
          return reason;
        }
        if (letter == 'X') {
          std::transform(piece.begin(), piece.end(), piece.begin(), [](char c) {
            return c >= 'a' && c <= 'f' ? static_cast<char>(c - 32) : c;
          });
        }
        return {};
      default:
        return "unknown clause `%" + std::string(name) + "` in the format";
    }
  }

  static std::string based(char letter, int base, const Value& value, std::string& piece) {
    if (!value.is_node() || !value.node().is_integer()) return refuse(letter, value);
    std::array<char, 72> buffer{};
    const auto end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value.node().as_integer(), base)
            .ptr;
    piece.assign(buffer.data(), end);
    return {};
  }

  static std::string digits(double value, bool fixed, int precision) {
    if (!std::isfinite(value)) return number_text(value);
    std::array<char, 512> buffer{};
    const auto end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                      fixed ? std::chars_format::fixed : std::chars_format::scientific, precision)
            .ptr;
    return {buffer.data(), end};
  }

  /// The text of any value; keys of maps in order of their text. Gives what is wrong.
  std::string plain(const Value& value, std::string& piece, int depth) {
    if (depth > kDeepest) return "the value for `%s` is nested too deep";
    if (const auto list = ListView::of(value)) {
      piece += "[";
      for (std::size_t i = 0; i < list->size(); ++i) {
        if (i != 0) piece += ", ";
        if (std::string reason = plain((*list)[i], piece, depth + 1); !reason.empty()) {
          return reason;
        }
      }
      piece += "]";
      return {};
    }
    if (const auto map = MapView::of(value)) return plain_map(*map, piece, depth);
    const std::size_t before = piece.size();
    if (!value.is_node()) {
      if (const auto* duration = dynamic_cast<const Duration*>(value.opaque())) {
        piece += duration_text(duration->nanoseconds);
      } else if (const auto* type = dynamic_cast<const TypeValue*>(value.opaque())) {
        piece += type->name;
      } else {
        return refuse('s', value) + "; convert it with `string(...)`";
      }
    } else {
      scalar(value.node(), piece);
    }
    return context_.charge(1 + (piece.size() - before) / 8) ? std::string() : kExhausted;
  }

  std::string plain_map(const MapView& map, std::string& piece, int depth) {
    struct Pair {
      std::string key;
      std::string value;
    };
    std::vector<Pair> pairs;
    for (std::size_t i = 0; i < map.size(); ++i) {
      Pair pair;
      scalar(map.key(i), pair.key);
      if (std::string reason = plain(map.value(i), pair.value, depth + 1); !reason.empty()) {
        return reason;
      }
      pairs.push_back(std::move(pair));
    }
    std::sort(pairs.begin(), pairs.end(),
              [](const Pair& a, const Pair& b) { return a.key < b.key; });
    piece += "{";
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      piece += (i == 0 ? "" : ", ") + pairs[i].key + ": " + pairs[i].value;
    }
    piece += "}";
    return {};
  }

  static void scalar(const yaml::Node& node, std::string& piece) {
    if (node.is_null()) piece += "null";
    if (node.is_boolean()) piece += node.as_boolean() ? "true" : "false";
    if (node.is_integer()) piece += std::to_string(node.as_integer());
    if (node.is_real()) piece += number_text(node.as_real());
    if (node.is_string()) piece += node.as_string();
  }

  ListView values_;
  CallContext& context_;
  std::size_t next_ = 0;
  std::string out_;
};

}  // namespace

void add_format(Functions& to) {
  method(to, "format", {string(), list()}, string(), [](Arguments args, CallContext& context) {
    return Formatter(*ListView::of(args[1]), context).run(args[0].node().as_string());
  });
}

}  // namespace gpuctl::cel::lib
