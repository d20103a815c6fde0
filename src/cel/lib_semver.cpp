// Semantic versions (semver.org 2.0.0), with the functions of the Kubernetes CEL library. With
// normalization `v4.20` and `04.1.0` are accepted, too.
#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "base/text.hpp"
#include "cel/functions.hpp"

namespace gpuctl::cel::lib {

namespace {

struct Version {
  std::uint64_t major = 0;
  std::uint64_t minor = 0;
  std::uint64_t patch = 0;
  std::vector<std::string> pre;
};

bool all_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// 64 bits without sign, no leading zeros.
std::optional<std::uint64_t> parse_number(std::string_view text) {
  if (!all_digits(text) || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  std::uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() ? std::optional(number) : std::nullopt;
}

/// Dot-separated identifiers of letters, digits and hyphens; in a pre-release (not in build data)
/// those of digits alone are numbers.
std::optional<std::vector<std::string>> identifiers(std::string_view text, bool pre_release) {
  std::vector<std::string> parts;
  for (const std::string_view part : base::split(text, '.')) {
    const bool good = !part.empty() && std::all_of(part.begin(), part.end(), [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
    });
    if (!good || (pre_release && all_digits(part) && !parse_number(part))) return std::nullopt;
    parts.emplace_back(part);
  }
  return parts;
}

/// Drops a leading `v` and leading zeros, and adds missing parts.
std::optional<std::string> normalize(std::string_view text) {
  if (!text.empty() && text.front() == 'v') text.remove_prefix(1);
  std::string out;
  std::size_t parts = 0;
  while (true) {
    const std::size_t dot = parts < 2 ? text.find('.') : std::string_view::npos;
    std::string_view part = text.substr(0, dot);
    if (part.size() > 1) {
      part.remove_prefix(std::min(part.find_first_not_of('0'), part.size()));
      if (part.empty() || part.front() < '0' || part.front() > '9') out += "0";
    }
    out += part;
    ++parts;
    if (dot == std::string_view::npos) {
      if (parts < 3 && part.find_first_of("+-") != std::string_view::npos) return std::nullopt;
      break;
    }
    out += ".";
    text.remove_prefix(dot + 1);
  }
  for (; parts < 3; ++parts) out += ".0";
  return out;
}

std::optional<Version> parse_version(std::string_view text) {
  Version version;
  // Only the third part may hold `-` and `+`.
  const std::size_t first = text.find('.');
  if (first == std::string_view::npos) return std::nullopt;
  const std::size_t second = text.find('.', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  std::string_view patch = text.substr(second + 1);
  if (const std::size_t plus = patch.find('+'); plus != std::string_view::npos) {
    if (!identifiers(patch.substr(plus + 1), false)) return std::nullopt;
    patch = patch.substr(0, plus);
  }
  if (const std::size_t dash = patch.find('-'); dash != std::string_view::npos) {
    auto pre = identifiers(patch.substr(dash + 1), true);
    if (!pre) return std::nullopt;
    version.pre = std::move(*pre);
    patch = patch.substr(0, dash);
  }
  const auto major = parse_number(text.substr(0, first));
  const auto minor = parse_number(text.substr(first + 1, second - first - 1));
  const auto last = parse_number(patch);
  if (!major || !minor || !last) return std::nullopt;
  version.major = *major;
  version.minor = *minor;
  version.patch = *last;
  return version;
}

std::optional<Version> parse(Arguments args) {
  const std::string_view text = args[0].node().as_string();
  if (args.size() < 2 || !args[1].node().as_boolean()) return parse_version(text);
  const auto normal = normalize(text);
  return normal ? parse_version(*normal) : std::nullopt;
}

template <typename T>
int order(const T& a, const T& b) {
  return a < b ? -1 : (b < a ? 1 : 0);
}

/// Rule 11.4 of the specification: numbers by value and before words, words as ASCII.
int order_identifier(const std::string& a, const std::string& b) {
  const bool a_number = all_digits(a);
  const bool b_number = all_digits(b);
  if (a_number != b_number) return a_number ? -1 : 1;
  if (a_number && a.size() != b.size()) return order(a.size(), b.size());
  return order(a, b);
}

int compare_versions(const Version& a, const Version& b) {
  for (const auto part : {&Version::major, &Version::minor, &Version::patch}) {
    if (const int result = order(a.*part, b.*part); result != 0) return result;
  }
  if (a.pre.empty() != b.pre.empty()) return a.pre.empty() ? 1 : -1;
  for (std::size_t i = 0; i < std::min(a.pre.size(), b.pre.size()); ++i) {
    if (const int result = order_identifier(a.pre[i], b.pre[i]); result != 0) return result;
  }
  return order(a.pre.size(), b.pre.size());
}

struct Semver final : Opaque {
  explicit Semver(Version value) : version(std::move(value)) {}
  std::string type_name() const override { return "semver"; }
  bool equals(const Opaque& other) const override {
    const auto* semver = dynamic_cast<const Semver*>(&other);
    return semver != nullptr && compare_versions(version, semver->version) == 0;
  }
  const Version version;
};

Outcome make(Arguments args, CallContext&) {
  auto version = parse(args);
  if (!version) {
    return fail("`" + std::string(args[0].node().as_string()) + "` is no semantic version");
  }
  return give(Value(std::make_shared<const Semver>(std::move(*version))));
}

Outcome is_version(Arguments args, CallContext&) {
  return give(parse(args).has_value());
}

int version_order(Arguments args) {
  return compare_versions(as<Semver>(args[0]).version, as<Semver>(args[1]).version);
}

/// What does not fit turns negative, as in the API server.
template <std::uint64_t Version::*Part>
Outcome number(Arguments args, CallContext&) {
  return give(static_cast<std::int64_t>(as<Semver>(args[0]).version.*Part));
}

}  // namespace

void add_semver(Functions& to) {
  const Type semver = Type::opaque("semver");
  function(to, "semver", {string()}, semver, make);
  function(to, "semver", {string(), boolean()}, semver, make);
  function(to, "isSemver", {string()}, boolean(), is_version);
  function(to, "isSemver", {string(), boolean()}, boolean(), is_version);
  method(to, "major", {semver}, integer(), number<&Version::major>);
  method(to, "minor", {semver}, integer(), number<&Version::minor>);
  method(to, "patch", {semver}, integer(), number<&Version::patch>);
  method(to, "compareTo", {semver, semver}, integer(),
         [](Arguments args, CallContext&) { return give(std::int64_t{version_order(args)}); });
  method(to, "isLessThan", {semver, semver}, boolean(),
         [](Arguments args, CallContext&) { return give(version_order(args) < 0); });
  method(to, "isGreaterThan", {semver, semver}, boolean(),
         [](Arguments args, CallContext&) { return give(version_order(args) > 0); });
}

}  // namespace gpuctl::cel::lib
