// Semantic versions (semver.org 2.0.0), with the functions of the Kubernetes CEL library. With
// normalization, `v4.20` and `04.1` are accepted too.
#include <algorithm>
#include <optional>
#include <vector>

#include "base/text.hpp"
#include "cel/functions.hpp"
#include "cel/numbers.hpp"

namespace gpuctl::cel::lib {

namespace {

struct Version {
  std::int64_t major = 0;
  std::int64_t minor = 0;
  std::int64_t patch = 0;
  std::vector<std::string> pre;
  std::string build;
};

bool all_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Dot-separated identifiers of letters, digits and hyphens; numbers without leading zeros when
/// `strict`.
std::optional<std::vector<std::string>> identifiers(std::string_view text, bool strict) {
  std::vector<std::string> parts;
  for (const std::string_view part : base::split(text, '.')) {
    const bool good = !part.empty() && std::all_of(part.begin(), part.end(), [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
    });
    if (!good || (strict && part.size() > 1 && part.front() == '0' && all_digits(part))) {
      return std::nullopt;
    }
    parts.emplace_back(part);
  }
  return parts;
}

std::optional<Version> parse_version(std::string_view text, bool normalize) {
  Version version;
  if (normalize && !text.empty() && (text.front() == 'v' || text.front() == 'V')) {
    text.remove_prefix(1);
  }
  if (const std::size_t plus = text.find('+'); plus != std::string_view::npos) {
    version.build = std::string(text.substr(plus + 1));
    if (!identifiers(version.build, false)) return std::nullopt;
    text = text.substr(0, plus);
  }
  if (const std::size_t dash = text.find('-'); dash != std::string_view::npos) {
    auto pre = identifiers(text.substr(dash + 1), true);
    if (!pre) return std::nullopt;
    version.pre = std::move(*pre);
    text = text.substr(0, dash);
  }
  const auto parts = base::split(text, '.');
  if (parts.size() > 3 || (parts.size() < 3 && !normalize)) return std::nullopt;
  std::int64_t* const numbers[] = {&version.major, &version.minor, &version.patch};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string_view part = parts[i];
    if (!all_digits(part) || (!normalize && part.size() > 1 && part.front() == '0')) {
      return std::nullopt;
    }
    const auto number = parse_int(part);
    if (!number) return std::nullopt;
    *numbers[i] = *number;
  }
  return version;
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

bool normalized(Arguments args) {
  return args.size() > 1 && args[1].node().as_boolean();
}

Outcome make(Arguments args, CallContext&) {
  const std::string_view text = args[0].node().as_string();
  auto version = parse_version(text, normalized(args));
  if (!version) return fail("`" + std::string(text) + "` is no semantic version");
  return give(Value(std::make_shared<const Semver>(std::move(*version))));
}

Outcome is_version(Arguments args, CallContext&) {
  return give(parse_version(args[0].node().as_string(), normalized(args)).has_value());
}

int order(Arguments args) {
  return compare_versions(as<Semver>(args[0]).version, as<Semver>(args[1]).version);
}

template <std::int64_t Version::*Part>
Outcome number(Arguments args, CallContext&) {
  return give(as<Semver>(args[0]).version.*Part);
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
         [](Arguments args, CallContext&) { return give(std::int64_t{order(args)}); });
  method(to, "isLessThan", {semver, semver}, boolean(),
         [](Arguments args, CallContext&) { return give(order(args) < 0); });
  method(to, "isGreaterThan", {semver, semver}, boolean(),
         [](Arguments args, CallContext&) { return give(order(args) > 0); });
}

}  // namespace gpuctl::cel::lib
