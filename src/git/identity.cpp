#include "git/identity.hpp"

#include <chrono>
#include <cstdlib>
#include <string>

#include "base/text.hpp"
#include "git/codes.hpp"
#include "git/environment.hpp"

namespace gpuctl::git {
namespace {

struct When {
  git_time_t seconds = 0;
  int offset = 0;  // minutes east of UTC
};

std::string setting(git_config* config, const std::string& name) {
  const char* value = nullptr;
  if (config == nullptr || git_config_get_string(&value, config, name.c_str()) != 0) return "";
  return value == nullptr ? "" : value;
}

// Digits only, of exactly `text`.
std::optional<int> digits(std::string_view text) {
  int value = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9') return std::nullopt;
    value = value * 10 + (digit - '0');
  }
  return text.empty() ? std::nullopt : std::optional(value);
}

std::optional<int> parse_zone(std::string_view text) {
  if (text == "Z") return 0;
  if (text.size() == 6 && text[3] == ':') {
    return parse_zone(std::string(text.substr(0, 3)) + std::string(text.substr(4)));
  }
  if (text.size() != 5 || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  const auto hours = digits(text.substr(1, 2));
  const auto minutes = digits(text.substr(3, 2));
  if (!hours || !minutes || *hours > 14 || *minutes > 59) return std::nullopt;
  const int offset = *hours * 60 + *minutes;
  return text[0] == '-' ? -offset : offset;
}

std::optional<When> parse_iso_date(std::string_view text) {
  // YYYY-MM-DDTHH:MM:SS, then a zone, with or without a space before it.
  if (text.size() < 20 || text[4] != '-' || text[7] != '-' ||
      (text[10] != 'T' && text[10] != ' ') || text[13] != ':' || text[16] != ':') {
    return std::nullopt;
  }
  const auto year = digits(text.substr(0, 4));
  const auto month = digits(text.substr(5, 2));
  const auto day = digits(text.substr(8, 2));
  const auto hour = digits(text.substr(11, 2));
  const auto minute = digits(text.substr(14, 2));
  const auto second = digits(text.substr(17, 2));
  std::string_view zone = text.substr(19);
  if (zone.front() == ' ') zone.remove_prefix(1);
  const auto offset = parse_zone(zone);
  if (!year || !month || !day || !hour || !minute || !second || !offset) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  const git_time_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const git_time_t minutes = days * 1440 + git_time_t{*hour} * 60 + *minute - *offset;
  return When{minutes * 60 + *second, *offset};
}

std::optional<When> parse_date(std::string_view text) {
  if (const auto iso = parse_iso_date(text)) return iso;
  if (!text.empty() && text.front() == '@') text.remove_prefix(1);
  const std::size_t space = text.find(' ');
  const auto seconds = base::parse_integer(text.substr(0, space));
  if (!seconds || *seconds < 0) return std::nullopt;
  if (space == std::string_view::npos) return When{*seconds, 0};
  const auto offset = parse_zone(text.substr(space + 1));
  if (!offset) return std::nullopt;
  return When{*seconds, *offset};
}

std::string first_of(std::initializer_list<std::string> values) {
  for (const std::string& value : values) {
    if (!value.empty()) return value;
  }
  return "";
}

// `upper` is AUTHOR or COMMITTER, `lower` the same in lower case.
Owned<git_signature> signature(git_config* config, const std::string& upper,
                               const std::string& lower, diag::Sink& sink) {
  const std::string name =
      first_of({variable("GIT_" + upper + "_NAME"), setting(config, lower + ".name"),
                setting(config, "user.name"), "gpuctl"});
  const std::string email =
      first_of({variable("GIT_" + upper + "_EMAIL"), setting(config, lower + ".email"),
                setting(config, "user.email"), variable("EMAIL"), "gpuctl@localhost"});
  const std::string date = variable("GIT_" + upper + "_DATE");
  Owned<git_signature> result;
  int code = 0;
  if (date.empty()) {
    code = git_signature_now(Receive(result), name.c_str(), email.c_str());
  } else {
    const auto when = parse_date(date);
    if (!when) {
      sink.error(kBadIdentity, diag::kNoOrigin, "`GIT_" + upper + "_DATE` is not a usable date")
          .got(date)
          .expect("`SECONDS +HHMM` or `YYYY-MM-DDTHH:MM:SS+HHMM`");
      return nullptr;
    }
    code = git_signature_new(Receive(result), name.c_str(), email.c_str(), when->seconds,
                             when->offset);
  }
  if (code != 0) {
    report(code, kBadIdentity,
           "cannot make a commit " + lower + " of `" + name + " <" + email + ">`", sink)
        .suggest("set `user.name` and `user.email` with `git config`");
    return nullptr;
  }
  return result;
}

Owned<git_config> configuration(git_repository* repository) {
  Owned<git_config> config;
  // Without a readable configuration the fallbacks hold.
  if (git_repository_config_snapshot(Receive(config), repository) != 0) return nullptr;
  return config;
}

}  // namespace

std::optional<Identity> identity_of(git_repository* repository, diag::Sink& sink) {
  const Owned<git_config> config = configuration(repository);
  Identity identity{signature(config.get(), "AUTHOR", "author", sink),
                    signature(config.get(), "COMMITTER", "committer", sink)};
  if (!identity.author || !identity.committer) return std::nullopt;
  return identity;
}

}  // namespace gpuctl::git
