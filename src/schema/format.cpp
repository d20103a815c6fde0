#include "schema/format.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "base/text.hpp"

namespace gpuctl::schema {

namespace {

bool digit(char c) {
  return c >= '0' && c <= '9';
}
bool hex(char c) {
  return digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool address(int family, std::string_view text) {
  if (text.size() > 64 || text.find('\0') != std::string_view::npos) return false;
  std::array<unsigned char, 16> bytes{};
  return inet_pton(family, std::string(text).c_str(), bytes.data()) == 1;
}

/// Exactly `count` digits at `at`, as a number.
std::optional<int> digits(std::string_view text, std::size_t at, std::size_t count) {
  if (at + count > text.size()) return std::nullopt;
  int value = 0;
  for (const char c : text.substr(at, count)) {
    if (!digit(c)) return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

bool is_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  const auto year = digits(text, 0, 4);
  const auto month = digits(text, 5, 2);
  const auto day = digits(text, 8, 2);
  if (!year || !month || !day || *month < 1 || *month > 12 || *day < 1) return false;
  const bool leap = (*year % 4 == 0 && *year % 100 != 0) || *year % 400 == 0;
  constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const int most = kDays[static_cast<std::size_t>(*month - 1)] + (leap && *month == 2 ? 1 : 0);
  return *day <= most;
}

/// RFC 3339, with a zone.
bool is_date_time(std::string_view text) {
  if (text.size() < 20 || !is_date(text.substr(0, 10))) return false;
  if (text[10] != 'T' && text[10] != 't') return false;
  const auto hour = digits(text, 11, 2);
  const auto minute = digits(text, 14, 2);
  const auto second = digits(text, 17, 2);
  if (!hour || !minute || !second || text[13] != ':' || text[16] != ':') return false;
  if (*hour > 23 || *minute > 59 || *second > 60) return false;
  std::string_view rest = text.substr(19);
  if (rest.starts_with('.')) {
    std::size_t end = 1;
    while (end < rest.size() && digit(rest[end])) ++end;
    if (end == 1) return false;
    rest.remove_prefix(end);
  }
  if (rest == "Z" || rest == "z") return true;
  if (rest.size() != 6 || (rest[0] != '+' && rest[0] != '-') || rest[3] != ':') return false;
  const auto zone_hour = digits(rest, 1, 2);
  const auto zone_minute = digits(rest, 4, 2);
  return zone_hour && zone_minute && *zone_hour <= 23 && *zone_minute <= 59;
}

/// Numbers with units, as the API server reads them: "1h30m", "1.5s", "2 days".
bool is_duration(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return true;
  if (text.empty()) return false;
  constexpr std::array<std::string_view, 29> kUnits = {
      "ns",   "nano",  "nanos", "us",  "µs",   "μs",   "micro",  "micros",  "ms",   "milli",
      "s",    "sec",   "secs",  "m",   "min",  "mins", "minute", "minutes", "h",    "hr",
      "hour", "hours", "d",     "day", "days", "w",    "wk",     "week",    "weeks"};
  while (!text.empty()) {
    std::size_t end = 0;
    std::size_t dots = 0;
    while (end < text.size() && (digit(text[end]) || text[end] == '.')) {
      if (text[end++] == '.') ++dots;
    }
    if (dots > 1 || end == dots) return false;
    text.remove_prefix(end);
    while (text.starts_with(' ')) text.remove_prefix(1);
    end = 0;
    while (end < text.size() && !digit(text[end]) && text[end] != '.' && text[end] != ' ') ++end;
    if (std::find(kUnits.begin(), kUnits.end(), text.substr(0, end)) == kUnits.end()) return false;
    text.remove_prefix(end);
    while (text.starts_with(' ')) text.remove_prefix(1);
  }
  return true;
}

bool is_cidr(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view host = text.substr(0, slash);
  const bool six = host.find(':') != std::string_view::npos;
  const auto bits = base::parse_integer(text.substr(slash + 1));
  if (!bits || *bits < 0 || *bits > (six ? 128 : 32)) return false;
  return address(six ? AF_INET6 : AF_INET, host);
}

/// Six, eight or twenty bytes, as Go's net.ParseMAC takes them with `:` or `-`.
bool is_mac(std::string_view text) {
  if (text.size() != 17 && text.size() != 23 && text.size() != 59) return false;
  const char separator = text[2];
  if (separator != ':' && separator != '-') return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i % 3 == 2 ? text[i] != separator : !hex(text[i])) return false;
  }
  return true;
}

bool is_hostname(std::string_view text) {
  if (text.ends_with('.')) text.remove_suffix(1);
  if (text.empty() || text.size() > 253) return false;
  for (const std::string_view label : base::split(text, '.')) {
    if (!base::is_dns1123_label(base::to_lower(label))) return false;
  }
  return true;
}

/// An absolute URI or an absolute path, as Go's url.ParseRequestURI takes it.
bool is_uri(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f) return false;
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && (i + 2 >= text.size() || !hex(text[i + 1]) || !hex(text[i + 2]))) {
      return false;
    }
  }
  if (text.starts_with('/')) return true;
  if (text.empty() || !letter(text[0])) return false;
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon + 1 == text.size()) return false;
  return std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(colon), [](char c) {
    return letter(c) || digit(c) || c == '+' || c == '-' || c == '.';
  });
}

bool is_uuid(std::string_view text) {
  std::string bare;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '-') {
      if (i != 8 && i != 13 && i != 18 && i != 23) return false;
    } else if (hex(text[i])) {
      bare.push_back(text[i]);
    } else {
      return false;
    }
  }
  return bare.size() == 32 && (text.size() == 36 || text.size() == 32);
}

bool is_email(std::string_view text) {
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos || at == 0 || at + 1 == text.size()) return false;
  const std::string_view local = text.substr(0, at);
  if (local.starts_with('.') || local.ends_with('.')) return false;
  const bool plain = std::none_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) <= 0x20 || c == '<' || c == '>' || c == ',' || c == '"';
  });
  return plain && local.find('@') == std::string_view::npos && is_hostname(text.substr(at + 1));
}

/// Base64 of RFC 4648 with padding; line breaks are allowed.
bool is_base64(std::string_view text) {
  std::size_t count = 0;
  std::size_t padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r') continue;
    ++count;
    if (c == '=') {
      ++padding;
    } else if (padding != 0 || !(letter(c) || digit(c) || c == '+' || c == '/')) {
      return false;
    }
  }
  return count % 4 == 0 && padding <= 2;
}

}  // namespace

Format format_named(std::string_view name) {
  struct Row {
    std::string_view name;
    Format format;
  };
  constexpr std::array<Row, 16> kRows = {{{"int32", Format::int32},
                                          {"int64", Format::int64},
                                          {"date-time", Format::date_time},
                                          {"datetime", Format::date_time},
                                          {"date", Format::date},
                                          {"duration", Format::duration},
                                          {"ipv4", Format::ipv4},
                                          {"ipv6", Format::ipv6},
                                          {"cidr", Format::cidr},
                                          {"mac", Format::mac},
                                          {"uri", Format::uri},
                                          {"uuid", Format::uuid},
                                          {"uuid4", Format::uuid},
                                          {"hostname", Format::hostname},
                                          {"email", Format::email},
                                          {"byte", Format::byte}}};
  for (const Row& row : kRows) {
    if (row.name == name) return row.format;
  }
  return Format::none;
}

std::string_view format_text(Format format) {
  switch (format) {
    case Format::none:
      return "text";
    case Format::int32:
      return "32-bit integer";
    case Format::int64:
      return "64-bit integer";
    case Format::date_time:
      return "date with time such as 2026-01-31T12:00:00Z";
    case Format::date:
      return "date such as 2026-01-31";
    case Format::duration:
      return "duration such as 1h30m";
    case Format::ipv4:
      return "IPv4 address";
    case Format::ipv6:
      return "IPv6 address";
    case Format::cidr:
      return "CIDR such as 10.0.0.0/16";
    case Format::mac:
      return "MAC address";
    case Format::uri:
      return "URI";
    case Format::uuid:
      return "UUID";
    case Format::hostname:
      return "host name";
    case Format::email:
      return "e-mail address";
    case Format::byte:
      return "base64 text";
  }
  return "text";
}

bool conforms(Format format, std::string_view text) {
  switch (format) {
    case Format::none:
    case Format::int32:
    case Format::int64:
      return true;
    case Format::date_time:
      return is_date_time(text);
    case Format::date:
      return is_date(text);
    case Format::duration:
      return is_duration(text);
    case Format::ipv4:
      return address(AF_INET, text);
    case Format::ipv6:
      return address(AF_INET6, text);
    case Format::cidr:
      return is_cidr(text);
    case Format::mac:
      return is_mac(text);
    case Format::uri:
      return is_uri(text);
    case Format::uuid:
      return is_uuid(text);
    case Format::hostname:
      return is_hostname(text);
    case Format::email:
      return is_email(text);
    case Format::byte:
      return is_base64(text);
  }
  return true;
}

}  // namespace gpuctl::schema
