// string.format of the strings extension: %s %d %f %e %b %x %X %o %%, with a precision for %f and
// %e. Output does not depend on any locale.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "cel/functions.hpp"
#include "cel/numbers.hpp"
#include "cel/opaque.hpp"

namespace gpuctl::cel::lib {

namespace {

// Documents nest to 64 levels; the bound keeps computed values from going further.
constexpr int kDeepest = 200;
// More digits than any double has; bounds what `%.999999f` could ask for.
constexpr int kMostPrecision = 100;

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return double_text(value);
}

class Formatter {
 public:
  Formatter(std::span<const yaml::Node> values, CallContext& context)
      : values_(values), context_(context) {}

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
      const std::string reason = clause(pattern[i], precision, values_[next_++], piece);
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

  static std::string refuse(char letter, const yaml::Node& value) {
    return std::string("`%") + letter + "` cannot take " + type_name_of(value);
  }

  std::string clause(char letter, int precision, const yaml::Node& value, std::string& piece) {
    switch (letter) {
      case 's':
        return plain(value, piece, 0) ? std::string() : "the value for `%s` is nested too deep";
      case 'd':
        if (value.is_integer()) {
          piece = std::to_string(value.as_integer());
        } else if (value.is_real()) {
          piece = number_text(value.as_real());
        } else {
          return refuse(letter, value);
        }
        return {};
      case 'f':
      case 'e':
        if (!value.is_number()) return refuse(letter, value);
        piece = digits(value.as_real(), letter == 'f', precision);
        return {};
      case 'b':
        if (value.is_boolean()) {
          piece = value.as_boolean() ? "1" : "0";
          return {};
        }
        return based(letter, 2, value, piece);
      case 'o':
        return based(letter, 8, value, piece);
      case 'x':
      case 'X':
        if (value.is_string()) {
          for (const char c : value.as_string()) {
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
        return std::string("unknown clause `%") + letter + "` in the format";
    }
  }

  static std::string based(char letter, int base, const yaml::Node& value, std::string& piece) {
    if (!value.is_integer()) return refuse(letter, value);
    std::array<char, 72> buffer{};
    const auto end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value.as_integer(), base).ptr;
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

  /// The text of any value; keys of maps in order of their text.
  bool plain(const yaml::Node& value, std::string& piece, int depth) {
    if (depth > kDeepest || !context_.charge(1)) return false;
    switch (value.kind()) {
      case yaml::Kind::null:
        piece += "null";
        return true;
      case yaml::Kind::boolean:
        piece += value.as_boolean() ? "true" : "false";
        return true;
      case yaml::Kind::integer:
        piece += std::to_string(value.as_integer());
        return true;
      case yaml::Kind::real:
        piece += number_text(value.as_real());
        return true;
      case yaml::Kind::string:
        piece += value.as_string();
        return true;
      case yaml::Kind::list: {
        piece += "[";
        bool first = true;
        for (const yaml::Node& item : value.items()) {
          if (!first) piece += ", ";
          first = false;
          if (!plain(item, piece, depth + 1)) return false;
        }
        piece += "]";
        return true;
      }
      case yaml::Kind::map: {
        std::vector<std::string> pairs;
        for (const yaml::Entry& entry : value.entries()) {
          std::string pair;
          if (!plain(entry.key, pair, depth + 1)) return false;
          pair += ": ";
          if (!plain(entry.value, pair, depth + 1)) return false;
          pairs.push_back(std::move(pair));
        }
        std::sort(pairs.begin(), pairs.end());
        piece += "{";
        for (std::size_t i = 0; i < pairs.size(); ++i) piece += (i == 0 ? "" : ", ") + pairs[i];
        piece += "}";
        return true;
      }
    }
    return true;
  }

  std::span<const yaml::Node> values_;
  CallContext& context_;
  std::size_t next_ = 0;
  std::string out_;
};

}  // namespace

void add_format(Functions& to) {
  method(to, "format", {string(), list()}, string(), [](Arguments args, CallContext& context) {
    return Formatter(args[1].node().items(), context).run(args[0].node().as_string());
  });
}

}  // namespace gpuctl::cel::lib
