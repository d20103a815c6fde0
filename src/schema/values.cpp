// Checks of single values: enum, numbers, texts, counts.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.hpp"
#include "schema/walk.hpp"
#include "secrets/mask.hpp"

namespace gpuctl::schema {

using yaml::Node;

namespace {

// The API server's arithmetic (kube-openapi, validation/validate): an integer is compared with the
// integer part of a limit, a real with the limit.

/// The integer part of a limit.
std::int64_t whole_part(const Node& limit) {
  if (limit.is_integer()) return limit.as_integer();
  const double real = limit.as_real();
  if (std::isnan(real)) return 0;
  // 2^63 is the first double that no longer fits.
  if (real >= 9223372036854775808.0) return std::numeric_limits<std::int64_t>::max();
  if (real < -9223372036854775808.0) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(real);
}

int compare(const Node& value, const Node& limit) {
  if (value.is_integer()) {
    const std::int64_t most = whole_part(limit);
    return value.as_integer() < most ? -1 : (value.as_integer() > most ? 1 : 0);
  }
  return value.as_real() < limit.as_real() ? -1 : (value.as_real() > limit.as_real() ? 1 : 0);
}

/// True for what JSON libraries of Go take for an integer: within 2^53, with a little tolerance.
bool is_json_integer(double value) {
  if (std::isnan(value) || std::abs(value) > 9007199254740991.0) return false;
  const double whole = std::trunc(value);
  if (value == whole) return true;
  return whole > 0 && (value - whole) / (value + whole) < 1e-9;
}

std::string number_text(const Node& node) {
  return node.is_integer() ? std::to_string(node.as_integer()) : base::format_real(node.as_real());
}

bool is_multiple(const Node& value, const Node& of) {
  if (value.is_integer()) {
    // Nothing is a multiple of 0, which is all that is left of 0.5.
    const std::int64_t factor = whole_part(of);
    return factor > 0 && value.as_integer() % factor == 0;
  }
  const double factor = of.as_real();
  return is_json_integer(factor < 1 ? 1 / factor * value.as_real() : value.as_real() / factor);
}

std::string plural(std::int64_t count, std::string_view unit) {
  return std::to_string(count) + " " + std::string(unit) + (count == 1 ? "" : "s");
}

}  // namespace

bool is_whole(const Node& value) {
  if (value.is_integer()) return true;
  if (!value.is_real()) return false;
  return is_json_integer(value.as_real());
}

std::string one_line(std::string_view text, std::size_t most) {
  std::string out;
  std::size_t points = 0;
  bool space = false;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f) {
      space = !out.empty();
      continue;
    }
    const bool starts = !base::continues_character(c);
    if (starts && points + (space ? 1 : 0) >= most) return out + "...";
    if (space) {
      out.push_back(' ');
      ++points;
      space = false;
    }
    if (starts) ++points;
    out.push_back(c);
  }
  return out;
}

std::string shown_text(std::string_view text) {
  return one_line(secrets::masked(text), 60);
}

std::string show(const Schema& schema, const Node& value) {
  if (schema.secret) return "(secret)";
  switch (value.kind()) {
    case yaml::Kind::null:
      return "null";
    case yaml::Kind::boolean:
      return value.as_boolean() ? "boolean true" : "boolean false";
    case yaml::Kind::integer:
      return "integer " + std::to_string(value.as_integer());
    case yaml::Kind::real:
      return "number " + base::format_real(value.as_real());
    case yaml::Kind::string:
      return "string \"" + shown_text(value.as_string()) + "\"";
    case yaml::Kind::list:
      return "list";
    case yaml::Kind::map:
      return "map";
  }
  return {};
}

std::string wanted_type(const Schema& schema) {
  if (schema.int_or_string) return "integer or string";
  switch (schema.type) {
    case ValueType::any:
      return "any value";
    case ValueType::object:
      return "map";
    case ValueType::array:
      return "list";
    case ValueType::string:
      return "string";
    case ValueType::integer:
      return "integer";
    case ValueType::number:
      return "number";
    case ValueType::boolean:
      return "boolean";
  }
  return {};
}

std::string first_sentence(const Schema& schema) {
  const std::string text = one_line(schema.definition.get("description").as_string(), 2000);
  std::string_view sentence = text;
  for (std::size_t dot = sentence.find(". "); dot != std::string_view::npos;
       dot = sentence.find(". ", dot + 1)) {
    // "e.g. x" does not end a sentence.
    if (dot >= 2 && sentence[dot - 2] == '.') continue;
    sentence = sentence.substr(0, dot);
    break;
  }
  if (sentence.ends_with('.')) sentence.remove_suffix(1);
  if (base::code_points(sentence) > 160) return {};
  return std::string(sentence);
}

bool Walk::check_count(const std::optional<std::int64_t>& least,
                       const std::optional<std::int64_t>& most, std::size_t size,
                       std::string_view unit, const Place& place) {
  const auto count = static_cast<std::int64_t>(size);
  if (least && count < *least) {
    return refuse(kOutOfBounds, place, place.at, [&](diag::Diagnostic& finding) {
      finding.message = "too few " + std::string(unit) + "s in " + place.quoted();
      finding.expect("at least " + plural(*least, unit)).got(plural(count, unit));
    });
  }
  if (most && count > *most) {
    ++blocking_;
    return refuse(kOutOfBounds, place, place.at, [&](diag::Diagnostic& finding) {
      finding.message = "too many " + std::string(unit) + "s in " + place.quoted();
      finding.expect("at most " + plural(*most, unit)).got(plural(count, unit));
    });
  }
  return true;
}

bool Walk::check_scalar(const Schema& schema, const Node& value, const Place& place) {
  if (value.is_number()) return check_number(schema, value, place);
  if (value.is_string()) return check_text(schema, value, place);
  return true;
}

bool Walk::check_number(const Schema& schema, const Node& value, const Place& place) {
  const auto out_of_range = [&](const std::string& expected) {
    return refuse(kOutOfBounds, place, place.at, [&](diag::Diagnostic& finding) {
      finding.message = "value of " + place.quoted() + " is out of range";
      finding.expect(expected).got(schema.secret ? "(secret)" : number_text(value));
    });
  };
  bool ok = true;
  if (schema.format == Format::int32 &&
      (value.as_real() < std::numeric_limits<std::int32_t>::min() ||
       value.as_real() > std::numeric_limits<std::int32_t>::max())) {
    if (!schema.shared.published) {
      ok = out_of_range("a 32-bit integer");
    } else if (sink_ != nullptr) {
      // The API server does not look, and stores what the controller then cannot read.
      sink_
          ->warning(kOutOfBounds, place.at,
                    options_.subject + "value of " + place.quoted() + " is out of range")
          .expect("a 32-bit integer")
          .got(number_text(value));
    }
  }
  if (schema.minimum) {
    const int order = compare(value, schema.minimum->value);
    if (order < 0 || (order == 0 && schema.minimum->exclusive)) {
      ok = out_of_range((schema.minimum->exclusive ? "more than " : "at least ") +
                        number_text(schema.minimum->value));
    }
  }
  if (schema.maximum) {
    const int order = compare(value, schema.maximum->value);
    if (order > 0 || (order == 0 && schema.maximum->exclusive)) {
      ok = out_of_range((schema.maximum->exclusive ? "less than " : "at most ") +
                        number_text(schema.maximum->value));
    }
  }
  if (schema.multiple_of && !is_multiple(value, *schema.multiple_of)) {
    ok = out_of_range("a multiple of " + number_text(*schema.multiple_of));
  }
  return ok;
}

bool Walk::check_text(const Schema& schema, const Node& value, const Place& place) {
  const std::string_view text = value.as_string();
  bool ok = true;
  if (schema.min_length || schema.max_length) {
    const auto length = static_cast<std::int64_t>(base::code_points(text));
    const bool brief = schema.min_length && length < *schema.min_length;
    if (brief || (schema.max_length && length > *schema.max_length)) {
      if (!brief) ++blocking_;
      ok = refuse(kOutOfBounds, place, place.at, [&](diag::Diagnostic& finding) {
        finding.message = "value of " + place.quoted() + (brief ? " is too short" : " is too long");
        finding.expect(brief ? "at least " + plural(*schema.min_length, "character")
                             : "at most " + plural(*schema.max_length, "character"));
        finding.got(plural(length, "character"));
      });
    }
  }
  if (schema.pattern) {
    const re2::RE2* regex = schema.pattern->regex();
    if (regex == nullptr) {
      not_checked(schema, schema.pattern.get(), schema.definition.get("pattern").origin(), place,
                  "its pattern is no RE2 expression: " + schema.pattern->error());
    } else if (!re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *regex)) {
      ok = refuse(kOutOfBounds, place, place.at, [&](diag::Diagnostic& finding) {
        finding.message = "value of " + place.quoted() + " does not match its pattern";
        finding.expect("text that matches `" + one_line(schema.pattern->text(), 120) + "`");
        finding.got(show(schema, value));
        const std::string about = first_sentence(schema);
        if (!about.empty()) finding.note(about);
      });
    }
  }
  if (!conforms(schema.format, text, schema.shared.published)) {
    ok = refuse(kOutOfBounds, place, place.at, [&](diag::Diagnostic& finding) {
      finding.message = "value of " + place.quoted() + " has the wrong format";
      finding.expect(std::string(format_text(schema.format))).got(show(schema, value));
    });
  }
  return ok;
}

bool Walk::check_enum(const Schema& schema, const Node& value, const Place& place) {
  const auto allowed = schema.allowed->items();
  // For the API server a null is in no enum, not even in one that lists null.
  if (!value.is_null() && std::any_of(allowed.begin(), allowed.end(),
                                      [&](const Node& item) { return yaml::equal(item, value); })) {
    return true;
  }
  return refuse(kNotAllowed, place, place.at, [&](diag::Diagnostic& finding) {
    finding.message = place.quoted() + " has none of the allowed values";
    if (value.is_string() && !schema.secret) {
      finding.message =
          "`" + shown_text(value.as_string()) + "` is not an allowed value of " + place.quoted();
    }
    std::vector<std::string> names;
    std::vector<std::string> quoted;
    for (const Node& item : allowed) {
      const std::string text = item.is_string() ? std::string(item.as_string()) : canonical(item);
      names.push_back(text);
      quoted.push_back("`" + text + "`");
    }
    if (names.size() == 1) {
      finding.expect(quoted.front());
    } else if (names.size() <= 9) {
      finding.expect("one of " + base::join(quoted, ", "));
    } else {
      finding.expect("one of " + std::to_string(names.size()) + " values");
    }
    finding.got(show(schema, value));
    if (value.is_string() && !schema.secret) finding.did_you_mean(value.as_string(), names);
  });
}

}  // namespace gpuctl::schema
