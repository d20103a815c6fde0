// `catalog releases`: how long what is installed is supported, seen from a date.
#include <chrono>
#include <ctime>
#include <memory>
#include <optional>
#include <set>

#include "cli/codes.hpp"
#include "cli/columns.hpp"
#include "cli/command.hpp"
#include "yaml/emit.hpp"

namespace gpuctl::cli {

namespace {

using Days = std::chrono::sys_days;

// Support that ends within so many days is said to end soon: time to plan.
constexpr int kSoonDays = 90;

struct ReleasesOptions {
  std::string platform;
  std::string date;
  std::string output = "table";
};

// A calendar date "2026-08-31", or the last day of a month "2026-08"; nothing when it is neither.
std::optional<Days> parse_date(std::string_view text) {
  constexpr std::size_t kDateBytes = 10;
  constexpr std::size_t kMonthBytes = 7;
  const bool month_only = text.size() == kMonthBytes;
  if ((text.size() != kDateBytes && !month_only) || text[4] != '-') return std::nullopt;
  if (!month_only && text[kMonthBytes] != '-') return std::nullopt;
  const auto number = [&](std::size_t begin, std::size_t size) {
    int value = 0;
    for (const char c : text.substr(begin, size)) {
      if (c < '0' || c > '9') return -1;
      value = value * 10 + (c - '0');
    }
    return value;
  };
  const int year = number(0, 4);
  const int month = number(5, 2);
  const int day = month_only ? 1 : number(8, 2);
  if (year < 0 || month < 0 || day < 0) return std::nullopt;
  const auto of_month = std::chrono::year(year) / std::chrono::month(static_cast<unsigned>(month));
  const std::chrono::year_month_day date =
      month_only ? std::chrono::year_month_day(of_month / std::chrono::last)
                 : of_month / std::chrono::day(static_cast<unsigned>(day));
  if (!date.ok()) return std::nullopt;
  return Days(date);
}

Days today() {
  return std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
}

struct Release {
  std::string product;
  std::string name;
  std::string starts;
  std::string ends;
  std::string status;
  std::string state;
  std::optional<std::int64_t> days_left;
  yaml::Node source;
};

Release release_of(const catalog::Table& table, const yaml::Entry& row, Days date) {
  const auto column = [&](const char* name) {
    const yaml::Node wanted = table.window.get(name);
    return wanted.is_string() ? std::string(row.value.get(wanted.as_string()).as_string())
                              : std::string();
  };
  Release out;
  out.product = table.title;
  out.name = row.key.as_string();
  out.starts = column("starts");
  out.ends = column("ends");
  out.status = column("status");
  out.source = row.value.get("source");
  const std::optional<Days> starts = parse_date(out.starts);
  const std::optional<Days> ends = parse_date(out.ends);
  if (ends) out.days_left = (*ends - date).count();
  if (starts && *starts > date) {
    out.state = "not released yet";
  } else if (!ends) {
    out.state = out.status.empty() ? "end not known" : out.status;
  } else if (*out.days_left < 0) {
    out.state = "ended " + counted(static_cast<std::size_t>(-*out.days_left), "day") + " ago";
  } else if (*out.days_left <= kSoonDays) {
    out.state = "ends in " + counted(static_cast<std::size_t>(*out.days_left), "day");
  } else {
    out.state = "supported";
  }
  return out;
}

yaml::Node as_json(const Release& release, yaml::Arena& arena) {
  yaml::MapBuilder row;
  const auto set = [&](const char* key, const std::string& value) {
    if (!value.empty()) row.set(arena, key, arena.string(value));
  };
  set("product", release.product);
  set("release", release.name);
  set("released", release.starts);
  set("ends", release.ends);
  set("status", release.status);
  set("state", release.state);
  if (release.days_left) row.set(arena, "daysLeft", yaml::Node::integer(*release.days_left));
  if (release.source.is_string()) row.set(arena, "source", release.source);
  return row.build(arena);
}

int run_releases(const ReleasesOptions& options, const GlobalOptions& global) {
  Report report(global);
  diag::Sink sink;
  const std::optional<Days> date = options.date.empty() ? today() : parse_date(options.date);
  if (!date) {
    sink.error(kUsage, diag::kNoOrigin, "`" + shown(options.date) + "` is no date")
        .expect("a date such as 2026-12-31");
    report.show(sink, diag::Sources());
    return kUsageError;
  }
  Knowledge& knowledge = open_knowledge(global, sink);
  std::vector<std::string> names = catalog::platforms(knowledge.library());
  if (!options.platform.empty()) names = {options.platform};
  yaml::Arena arena;
  std::vector<yaml::Node> json;
  std::vector<std::vector<std::string>> lines = {
      {"PRODUCT", "RELEASE", "RELEASED", "SUPPORT-ENDS", "STATE"}};
  std::set<std::string> seen;  // a table that several platforms share is shown once
  for (const std::string& name : names) {
    const std::shared_ptr<const catalog::Platform> platform =
        catalog::load_platform(knowledge.library(), name, diag::kNoOrigin, sink);
    if (platform == nullptr) continue;
    for (const catalog::Table& table : platform->tables) {
      if (!table.window.is_map() || !seen.insert(table.provider + "/" + table.name).second)
        continue;
      for (const yaml::Entry& row : table.rows.entries()) {
        const Release release = release_of(table, row, *date);
        lines.push_back(
            {release.product, release.name, release.starts, release.ends, release.state});
        json.push_back(as_json(release, arena));
      }
    }
  }
  report.show(sink, knowledge.library().sources());
  if (sink.has_errors()) return kFindings;
  const std::string text =
      options.output == "json" ? yaml::emit_json(arena.list(json)) + "\n" : in_columns(lines);
  return print(text, global) ? kOk : kFindings;
}

}  // namespace

void add_releases(CLI::App& catalog, const GlobalOptions& global, int& exit_code) {
  CLI::App* command =
      catalog.add_subcommand("releases", "Releases, and until when they are supported");
  auto options = std::make_shared<ReleasesOptions>();
  command->add_option("-o,--output", options->output, "table or json")
      ->check(CLI::IsMember({"table", "json"}));
  command->add_option("--platform", options->platform, "Only what this platform uses")
      ->type_name("NAME");
  command->add_option("--date", options->date, "Seen from this day (default: today)")
      ->type_name("YYYY-MM-DD");
  command->footer(
      "Where no end of support was found, the state is what the maker calls the release.\n\n"
      "Example:\n  gpuctl catalog releases --date 2027-01-01\n");
  command->callback([options, &global, &exit_code] { exit_code = run_releases(*options, global); });
}

}  // namespace gpuctl::cli
