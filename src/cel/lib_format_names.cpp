// format.named("...") and format.dns1123Label().validate(text): the named formats of the Kubernetes
// CEL library. validate gives nothing when the text is fine, otherwise the reasons.
#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "cel/encoding.hpp"
#include "cel/functions.hpp"
#include "cel/opaque.hpp"
#include "cel/url.hpp"

namespace gpuctl::cel::lib {

namespace {

/// Says what is wrong with a text; empty when nothing is.
using Check = std::string (*)(std::string_view);

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_alphanumeric(char c) {
  return base::is_digit(c) || is_lower(c) || (c >= 'A' && c <= 'Z');
}

std::string too_long(std::size_t most) {
  return "must be no more than " + std::to_string(most) + " characters";
}

std::string dns1123_label(std::string_view text) {
  if (text.size() > 63) return too_long(63);
  if (base::is_dns1123_label(text)) return {};
  return "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or `-`, "
         "and "
         "must start and end with an alphanumeric character";
}

std::string dns1123_subdomain(std::string_view text) {
  if (text.size() > 253) return too_long(253);
  if (base::is_dns1123_subdomain(text)) return {};
  return "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "
         "`-` or `.`, and must start and end with an alphanumeric character";
}

std::string dns1035_label(std::string_view text) {
  if (text.size() > 63) return too_long(63);
  if (base::is_dns1123_label(text) && is_lower(text.front())) return {};
  return "a DNS-1035 label must consist of lower case alphanumeric characters or `-`, start with "
         "an "
         "alphabetic character, and end with an alphanumeric character";
}

/// What is appended to a prefix may complete it: a trailing hyphen is fine.
template <Check Whole>
std::string prefix(std::string_view text) {
  if (text.size() < 2 || text.back() != '-') return Whole(text);
  // Like the API server, which lets the character before it go with it.
  return Whole(std::string(text.substr(0, text.size() - 2)) + "a");
}

std::string label_value(std::string_view text) {
  if (text.empty()) return {};
  if (text.size() > 63) return too_long(63);
  const bool good = is_alphanumeric(text.front()) && is_alphanumeric(text.back()) &&
                    std::all_of(text.begin(), text.end(), [](char c) {
                      return is_alphanumeric(c) || c == '-' || c == '_' || c == '.';
                    });
  if (good) return {};
  return "a valid label must be an empty string or consist of alphanumeric characters, `-`, `_` or "
         "`.`, and must start and end with an alphanumeric character";
}

std::string qualified_name(std::string_view text) {
  const std::size_t slash = text.find('/');
  std::string_view name = text;
  if (slash != std::string_view::npos) {
    name = text.substr(slash + 1);
    if (slash == 0) return "the prefix part must be non-empty";
    if (std::string reason = dns1123_subdomain(text.substr(0, slash)); !reason.empty()) {
      return "the prefix part: " + reason;
    }
  }
  if (name.empty()) return "the name part must be non-empty";
  if (std::string reason = label_value(name); !reason.empty()) return "the name part: " + reason;
  return {};
}

std::string uri(std::string_view text) {
  return is_url(text) ? "" : "must be a URI";
}

std::string uuid(std::string_view text) {
  // Groups of 8-4-4-4-12 digits; each hyphen may be missing.
  static constexpr std::array<std::size_t, 5> kGroups = {8, 4, 4, 4, 12};
  bool good = true;
  for (std::size_t i = 0; i < kGroups.size(); ++i) {
    if (i != 0 && !text.empty() && text.front() == '-') text.remove_prefix(1);
    const std::string_view group = text.substr(0, kGroups[i]);
    good = good && group.size() == kGroups[i] &&
           std::all_of(group.begin(), group.end(), base::is_hex_digit);
    text.remove_prefix(group.size());
  }
  return good && text.empty() ? "" : "does not match the UUID format";
}

std::string bytes(std::string_view text) {
  const bool good = !text.empty() && text.size() % 4 == 0 && base64_decode(text);
  return good ? "" : "must be base64";
}

/// `count` digits at `at`, as a number; -1 when they are none.
int digits_at(std::string_view text, std::size_t at, std::size_t count) {
  int value = 0;
  for (std::size_t i = at; i < at + count; ++i) {
    if (i >= text.size() || !base::is_digit(text[i])) return -1;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

bool is_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  const int year = digits_at(text, 0, 4);
  const int month = digits_at(text, 5, 2);
  const int day = digits_at(text, 8, 2);
  if (year < 0 || month < 1 || month > 12 || day < 1) return false;
  static constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return day <= kDays[static_cast<std::size_t>(month - 1)] + (month == 2 && leap ? 1 : 0);
}

std::string date(std::string_view text) {
  return is_date(text) ? "" : "must be a date";
}

/// RFC 3339: `2026-11-21T10:00:00Z`, with a fraction or an offset.
std::string date_time(std::string_view text) {
  constexpr const char* kFault = "must be a date and time as RFC 3339 writes it";
  if (text.size() < 20 || !is_date(text.substr(0, 10)) || (text[10] | 0x20) != 't') return kFault;
  const int hour = digits_at(text, 11, 2);
  const int minute = digits_at(text, 14, 2);
  const int second = digits_at(text, 17, 2);
  if (text[13] != ':' || text[16] != ':' || hour < 0 || hour > 23 || minute < 0 || minute > 59 ||
      second < 0 || second > 59) {
    return kFault;
  }
  std::size_t at = 19;
  if (text[at] == '.' || text[at] == ',') {
    const std::size_t begin = ++at;
    while (at < text.size() && base::is_digit(text[at])) ++at;
    if (at == begin) return kFault;
  }
  const std::string_view zone = text.substr(std::min(at, text.size()));
  if (zone == "Z" || zone == "z") return {};
  const bool offset = zone.size() == 6 && (zone[0] == '+' || zone[0] == '-') && zone[3] == ':' &&
                      digits_at(zone, 1, 2) >= 0 && digits_at(zone, 1, 2) <= 24 &&
                      digits_at(zone, 4, 2) >= 0 && digits_at(zone, 4, 2) <= 60;
  return offset ? "" : kFault;
}

struct Named {
  const char* name;
  Check check;
};
constexpr std::array<Named, 13> kFormats = {{
    {"dns1123Label", dns1123_label},
    {"dns1123Subdomain", dns1123_subdomain},
    {"dns1035Label", dns1035_label},
    {"qualifiedName", qualified_name},
    {"dns1123LabelPrefix", prefix<dns1123_label>},
    {"dns1123SubdomainPrefix", prefix<dns1123_subdomain>},
    {"dns1035LabelPrefix", prefix<dns1035_label>},
    {"labelValue", label_value},
    {"uri", uri},
    {"uuid", uuid},
    {"byte", bytes},
    {"date", date},
    {"datetime", date_time},
}};

struct Format final : Opaque {
  explicit Format(const Named& value) : named(value) {}
  std::string type_name() const override { return "format"; }
  bool equals(const Opaque& other) const override {
    const auto* format = dynamic_cast<const Format*>(&other);
    return format != nullptr && format->named.check == named.check;
  }
  const Named& named;
};

template <std::size_t I>
Outcome give_format(Arguments, CallContext&) {
  return give(Value(std::make_shared<const Format>(kFormats[I])));
}

template <std::size_t... I>
void add_all(Functions& to, std::index_sequence<I...>) {
  (function(to, std::string("format.") + kFormats[I].name, {}, Type::opaque("format"),
            give_format<I>),
   ...);
}

}  // namespace

void add_named_formats(Functions& to) {
  const Type format = Type::opaque("format");
  add_all(to, std::make_index_sequence<kFormats.size()>());
  function(
      to, "format.named", {string()}, Type::optional(format), [](Arguments args, CallContext&) {
        for (const Named& named : kFormats) {
          if (args[0].node().as_string() != named.name) continue;
          return give(Value(
              std::make_shared<const OptionalValue>(Value(std::make_shared<const Format>(named)))));
        }
        return give(Value(std::make_shared<const OptionalValue>()));
      });
  method(to, "validate", {format, string()}, Type::optional(Type::list(string())),
         [](Arguments args, CallContext& context) {
           const std::string_view text = args[1].node().as_string();
           if (!context.charge(1 + text.size() / 8)) return exhausted();
           const std::string reason = as<Format>(args[0]).named.check(text);
           if (reason.empty()) return give(Value(std::make_shared<const OptionalValue>()));
           const std::vector<yaml::Node> reasons = {context.arena.string(reason)};
           return give(
               Value(std::make_shared<const OptionalValue>(Value(context.arena.list(reasons)))));
         });
}

}  // namespace gpuctl::cel::lib
