#include "schema/format.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "cel/url.hpp"
#include "schema/format_text.hpp"

namespace gpuctl::schema {

namespace {

bool full_match(std::string_view text, const re2::RE2& pattern) {
  return re2::RE2::FullMatch(re2::StringPiece(text.data(), text.size()), pattern);
}

bool is_date(std::string_view text) {
  static const re2::RE2 pattern("([0-9]{4})-([0-9]{2})-([0-9]{2})");
  int year = 0;
  int month = 0;
  int day = 0;
  if (!re2::RE2::FullMatch(re2::StringPiece(text.data(), text.size()), pattern, &year, &month,
                           &day)) {
    return false;
  }
  if (month < 1 || month > 12 || day < 1) return false;
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return day <= kDays[static_cast<std::size_t>(month - 1)] + (leap && month == 2 ? 1 : 0);
}

/// RFC 3339 with a zone. The zone's numbers are not looked at, and nothing behind another `t` is.
bool is_date_time(std::string_view text) {
  static const re2::RE2 time(
      "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](.[0-9]+)?(z|[+-][0-9]{2}:[0-9]{2})");
  const std::string lower = base::to_lower(text);
  const auto parts = base::split(lower, 't');
  return parts.size() >= 2 && is_date(parts[0]) && full_match(parts[1], time);
}

/// Durations of Go ("1h30m", "1.5s", "0"), or a text that somewhere has a count with a unit in
/// letters ("2 days"), as Scala writes them.
bool is_duration(std::string_view text) {
  static const re2::RE2 go(
      "[-+]?(0|(([0-9]+\\.?[0-9]*|\\.[0-9]+)(ns|us|\xc2\xb5s|\xce\xbcs|ms|s|m|h))+)");
  if (full_match(text, go)) return true;
  static const re2::RE2 counted("([0-9]+)[\\t\\n\\f\\r ]*([A-Za-z\xc2\xb5]+)");
  static const re2::RE2 unit(
      "(?i)ns|nano.*|us|\xc2\xb5s|micro.*|ms|milli.*|s|sec.*|m|min.*|h|hr|hour.*|d|day.*|w|wk|week."
      "*");
  re2::StringPiece rest(text.data(), text.size());
  std::string count;
  std::string name;
  bool found = false;
  while (re2::RE2::FindAndConsume(&rest, counted, &count, &name)) {
    count.erase(0, std::min(count.find_first_not_of('0'), count.size() - 1));
    if (!base::parse_integer(count)) return false;
    found = found || full_match(name, unit);
  }
  return found;
}

bool is_uuid(std::string_view text, char version) {
  std::string bare;
  std::size_t dashes = 0;
  for (const char c : text) {
    if (c == '-') {
      const bool place =
          bare.size() == 8 || bare.size() == 12 || bare.size() == 16 || bare.size() == 20;
      if (!place || dashes == bare.size()) return false;
      dashes = bare.size();
    } else if (std::isxdigit(static_cast<unsigned char>(c)) != 0) {
      bare.push_back(c);
    } else {
      return false;
    }
  }
  if (bare.size() != 32) return false;
  if (version != 0 && bare[12] != version) return false;
  return version < '4' || std::string_view("89abAB").find(bare[16]) != std::string_view::npos;
}

/// Letters, symbols, digits and dashes, in several labels or in one. A single label may have one
/// dash, behind its first character; of several, the last has at least two letters and nothing
/// else.
bool is_hostname(std::string_view text) {
  static const re2::RE2 word("[a-zA-Z0-9\\pS\\pL]+(-+[a-zA-Z0-9\\pS\\pL]+)*");
  static const re2::RE2 single("[a-zA-Z0-9\\pS\\pL]-?[a-zA-Z0-9\\pS\\pL]*");
  static const re2::RE2 letters("[a-zA-Z\\pL]{2,}");
  const auto labels = base::split(text, '.');
  if (text.size() > 255) return false;
  return std::all_of(labels.begin(), labels.end(), [&](const std::string_view& label) {
    if (label.size() > 63) return false;
    if (labels.size() == 1) return full_match(label, single);
    return full_match(label, &label == &labels.back() ? letters : word);
  });
}

/// Weighted digits, as books and cards have them; `text` has digits only.
int weighted_sum(std::string_view text, int first, int second) {
  int sum = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    sum += (text[i] - '0') * (i % 2 == 0 ? first : second);
  }
  return sum;
}

bool is_isbn10(std::string_view text) {
  static const re2::RE2 pattern("[0-9]{9}[0-9X]");
  const std::string bare = without(text, " \t\n\f\r-");
  if (!full_match(bare, pattern)) return false;
  int sum = 0;
  for (int i = 0; i < 10; ++i) {
    const char c = bare[static_cast<std::size_t>(i)];
    sum += (i + 1) * (c == 'X' ? 10 : c - '0');
  }
  return sum % 11 == 0;
}

bool is_isbn13(std::string_view text) {
  static const re2::RE2 pattern("[0-9]{13}");
  const std::string bare = without(text, " \t\n\f\r-");
  return full_match(bare, pattern) && weighted_sum(bare, 1, 3) % 10 == 0;
}

/// Numbers of six issuers, with their check digit; whatever is no digit may stand between.
bool is_credit_card(std::string_view text) {
  static const re2::RE2 issuers(
      "4[0-9]{12}([0-9]{3})?|5[1-5][0-9]{14}|6(011|5[0-9]{2})[0-9]{12}|3[47][0-9]{13}|"
      "3(0[0-5]|[68][0-9])[0-9]{11}|(2131|1800|35[0-9]{3})[0-9]{11}");
  std::string bare;
  for (const char c : text) {
    if (c >= '0' && c <= '9') bare.push_back(c);
  }
  if (!full_match(bare, issuers)) return false;
  int sum = 0;
  for (std::size_t i = 0; i < bare.size(); ++i) {
    const int digit = bare[bare.size() - 1 - i] - '0';
    sum += i % 2 == 0 ? digit : digit * 2 / 10 + digit * 2 % 10;
  }
  return sum % 10 == 0;
}

/// Formats that one pattern describes, in full.
const std::map<Format, re2::RE2>& patterns() {
  static const std::map<Format, re2::RE2> table = [] {
    const std::string byte = "\\s*(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*";
    const std::string label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
    const std::string hex = "[0-9a-fA-F]";
    const std::string six = hex + "{2}";
    std::map<Format, re2::RE2> out;
    const auto add = [&](Format format, const std::string& pattern) {
      out.try_emplace(format, pattern);
    };
    // Base64 of RFC 4648 with padding, not empty.
    add(Format::byte, "([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})");
    add(Format::object_id, hex + "{24}");
    add(Format::social_security, "\\d{3}[- ]\\d{2}[- ]\\d{4}");
    add(Format::hex_color, "#?(" + hex + "{3}|" + hex + "{6})");
    // Six, eight or twenty bytes, with `:`, `-`, or by twos with `.`.
    add(Format::mac, six + "((:" + six + "){5}|(:" + six + "){7}|(:" + six + "){19}|(-" + six +
                         "){5}|(-" + six + "){7}|(-" + six + "){19})|" + hex + "{4}((\\." + hex +
                         "{4}){2}|(\\." + hex + "{4}){3}|(\\." + hex + "{4}){9})");
    add(Format::short_name, label);
    add(Format::long_name, label + "(\\." + label + ")*");
    add(Format::rgb_color, "rgb\\(" + byte + "," + byte + "," + byte + "\\)");
    return out;
  }();
  return table;
}

struct Row {
  std::string_view name;  // without dashes
  Format format;
  std::string_view text;
};
constexpr std::array kRows = {
    Row{"int32", Format::int32, "32-bit integer"},
    Row{"datetime", Format::date_time, "date with time such as 2026-01-31T12:00:00Z"},
    Row{"date", Format::date, "date such as 2026-01-31"},
    Row{"duration", Format::duration, "duration such as 1h30m"},
    Row{"ipv4", Format::ipv4, "IPv4 address"},
    Row{"ipv6", Format::ipv6, "IPv6 address"},
    Row{"cidr", Format::cidr, "CIDR such as 10.0.0.0/16"},
    Row{"mac", Format::mac, "MAC address"},
    Row{"uri", Format::uri, "URI"},
    Row{"uuid", Format::uuid, "UUID"},
    Row{"uuid3", Format::uuid3, "UUID of version 3"},
    Row{"uuid4", Format::uuid4, "UUID of version 4"},
    Row{"uuid5", Format::uuid5, "UUID of version 5"},
    Row{"hostname", Format::hostname, "host name"},
    Row{"email", Format::email, "e-mail address"},
    Row{"byte", Format::byte, "base64 text"},
    Row{"bsonobjectid", Format::object_id, "24 hexadecimal digits"},
    Row{"isbn", Format::isbn, "ISBN"},
    Row{"isbn10", Format::isbn10, "ISBN of 10 digits"},
    Row{"isbn13", Format::isbn13, "ISBN of 13 digits"},
    Row{"creditcard", Format::credit_card, "credit card number"},
    Row{"ssn", Format::social_security, "social security number"},
    Row{"hexcolor", Format::hex_color, "colour such as #76b900"},
    Row{"rgbcolor", Format::rgb_color, "colour such as rgb(118,185,0)"},
    Row{"k8sshortname", Format::short_name, "DNS label"},
    Row{"k8slongname", Format::long_name, "DNS name"},
};

}  // namespace

Format format_named(std::string_view name) {
  const std::string bare = without(name, "-");
  for (const Row& row : kRows) {
    if (row.name == bare) return row.format;
  }
  return Format::none;
}

std::string_view format_text(Format format) {
  for (const Row& row : kRows) {
    if (row.format == format) return row.text;
  }
  return "text";
}

bool conforms(Format format, std::string_view text, bool published) {
  switch (format) {
    case Format::none:
    case Format::int32:
      return true;
    case Format::date_time:
      return is_date_time(text);
    case Format::date:
      return is_date(text);
    case Format::duration:
      return is_duration(text);
    case Format::ipv4:
      return is_address(text, published) && text.find('.') != std::string_view::npos;
    case Format::ipv6:
      // Here the API server does not take leading zeros.
      return is_address(text, false) && text.find(':') != std::string_view::npos;
    case Format::cidr:
      return is_cidr(text, published);
    case Format::uri:
      return cel::is_url(text);
    case Format::uuid:
      return is_uuid(text, 0);
    case Format::uuid3:
      return is_uuid(text, '3');
    case Format::uuid4:
      return is_uuid(text, '4');
    case Format::uuid5:
      return is_uuid(text, '5');
    case Format::hostname:
      return is_hostname(text);
    case Format::email:
      return is_email(text);
    case Format::isbn:
      return is_isbn10(text) || is_isbn13(text);
    case Format::isbn10:
      return is_isbn10(text);
    case Format::isbn13:
      return is_isbn13(text);
    case Format::credit_card:
      return is_credit_card(text);
    case Format::short_name:
      return text.size() <= 63 && full_match(text, patterns().at(format));
    case Format::long_name:
      return text.size() <= 253 && full_match(text, patterns().at(format));
    case Format::byte:
    case Format::object_id:
    case Format::social_security:
    case Format::hex_color:
    case Format::rgb_color:
    case Format::mac:
      return full_match(text, patterns().at(format));
  }
  return true;
}

}  // namespace gpuctl::schema
