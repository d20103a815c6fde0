#include "secrets/assignments.hpp"

#include <algorithm>

#include "secrets/words.hpp"

namespace gpuctl::secrets {

namespace {

constexpr std::size_t kMostValue = 4096;
constexpr std::size_t kMostIdentifier = 128;
constexpr std::size_t kLeastValue = 3;
constexpr std::size_t kLeastKey = 8;  // of what is no password
constexpr std::size_t kMostDigits = 6;
constexpr std::size_t kMostBetween = 48;  // from a name to the `value` that follows it

bool in_identifier(char c) {
  return in_word(c) || c == '-' || c == '.';
}

std::size_t skip(std::string_view text, std::size_t at, std::string_view what) {
  return std::min(text.find_first_not_of(what, at), text.size());
}

bool is_number(std::string_view value) {
  return value.size() <= kMostDigits &&
         std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// `{name: TOKEN, value: x}`, in YAML, JSON and flow style: where the name of the value ends.
std::optional<std::size_t> value_of_entry(std::string_view text, std::size_t name_end) {
  constexpr std::string_view kValue = "value";
  const std::string_view behind = text.substr(name_end, kMostBetween);
  const std::size_t at = std::min(behind.find(kValue), behind.find("Value"));
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  const std::string_view between = behind.substr(0, at);
  if (between.find_first_not_of(" \t\r\n\"',\\") != std::string_view::npos) return std::nullopt;
  if (between.find_first_of("\n,") == std::string_view::npos) return std::nullopt;
  const std::size_t end = name_end + at + kValue.size();
  return end < text.size() && !in_word(text[end]) ? std::optional(end) : std::nullopt;
}

// A value in quotes that begin at `at`; `\"` counts as a quote, too.
Assignment in_quotes(std::string_view text, std::size_t at) {
  const bool escaped = text[at] == '\\';
  const std::size_t quote = escaped ? at + 1 : at;
  Assignment out{.begin = quote + 1, .end = quote + 1, .quoted = true};
  while (out.end < text.size() && text[out.end] != text[quote] && text[out.end] != '\n') {
    if (text[out.end] == '\\' && !escaped && out.end + 1 < text.size()) ++out.end;
    ++out.end;
  }
  out.end = std::min(out.end, text.size());
  if (escaped && out.end > out.begin && text[out.end - 1] == '\\') --out.end;
  return out;
}

}  // namespace

std::pair<std::size_t, std::size_t> identifier_at(std::string_view text, std::size_t at) {
  std::size_t begin = at;
  while (begin > 0 && at - begin < kMostIdentifier && in_identifier(text[begin - 1])) --begin;
  std::size_t end = at;
  while (end < text.size() && end - at < kMostIdentifier && in_identifier(text[end])) ++end;
  return {begin, end};
}

std::optional<Assignment> assigned(std::string_view text, std::size_t name_begin,
                                   std::size_t name_end) {
  std::size_t at = name_end;
  const bool option = text.substr(name_begin, 2) == "--";
  const bool tag = name_begin > 0 && text[name_begin - 1] == '<';
  bool prose = false;
  if (tag && at < text.size() && text[at] == '>') {
    const std::size_t end = std::min(text.find('<', at), text.size());
    return Assignment{.begin = at + 1, .end = end, .quoted = true};
  }
  at = skip(text, at, "\"'\\])");
  const std::size_t blank = skip(text, at, " \t");
  if (blank < text.size() && (text[blank] == '=' || text[blank] == ':')) {
    prose = text[blank] == ':';
    at = skip(text, blank, ":=>~?");
  } else if (const auto end = value_of_entry(text, name_end)) {
    at = skip(text, *end, "\"'\\ \t");
    if (at == text.size() || (text[at] != ':' && text[at] != '=')) return std::nullopt;
    prose = true;
    ++at;
  } else if (option && at == name_end && blank > at) {
    prose = true;
    at = blank;
  } else {
    return std::nullopt;
  }
  at = skip(text, at, " \t");
  if (at == text.size() || text[at] == '\n' || text[at] == '\r') return std::nullopt;
  if (text[at] == '"' || text[at] == '\'' || text.substr(at, 2) == "\\\"") {
    return in_quotes(text, at);
  }
  if (text[at] == '{' || text[at] == '[' || text[at] == '|' || text[at] == '>' || text[at] == '&') {
    return std::nullopt;
  }
  const std::size_t end = std::min(
      text.find_first_of(prose ? "\n\r,\"'`}] \t" : "\n\r \t,;&\"'`<>|)}]", at), text.size());
  return Assignment{.begin = at, .end = end, .quoted = false, .prose = prose};
}

bool is_secret_value(const Rules& rules, const NamedSecret& named, std::string_view value) {
  while (!value.empty() && (value.back() == '\n' || value.back() == ' ' || value.back() == '\r')) {
    value.remove_suffix(1);
  }
  while (value.starts_with(' ') || value.starts_with('\n')) value.remove_prefix(1);
  if (value.size() < kLeastValue || value.size() > kMostValue) return false;
  if (is_number(value) && (!named.any || value.size() < kLeastValue + 1)) return false;
  // An address without a password in it; those with one are found as such.
  if (value.find("://") != std::string_view::npos) return false;
  if (named.decodes != nullptr) {
    return !rules.is_placeholder(value) && decodes_to(value, *named.decodes);
  }
  const bool path = value.starts_with('/') || value.starts_with("./") || value.starts_with("~/");
  if (path && is_name(value)) return false;
  if (!named.any && (value.size() < kLeastKey || is_name(value))) return false;
  return !rules.is_placeholder(value);
}

}  // namespace gpuctl::secrets
