// `catalog releases`: how long what is installed is supported, seen from a date.
#include <chrono>
#include <memory>
#include <optional>
#include <set>

#include "base/date.hpp"
#include "catalog/addresses.hpp"
#include "cli/codes.hpp"
#include "cli/command.hpp"
#include "cli/day.hpp"
#include "cli/listing.hpp"

namespace gpuctl::cli {

namespace {

using Days = std::chrono::sys_days;

// Support that ends within so many days is said to end soon: time to plan.
constexpr int kSoonDays = 90;

struct ReleasesOptions {
  std::string platform;
  std::string date;
  std::string output = kTable;
  std::vector<std::string> filters;
};

struct Release {
  std::string product;
  std::string name;
  std::string starts;
  std::string ends;
  std::string status;
  std::string state;
  std::optional<std::int64_t> days_left;
  std::string source;
};

Release release_of(const catalog::Table& table, const catalog::Addresses& addresses,
                   const yaml::Entry& row, Days date) {
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
  out.source = addresses.source_of(row.value);
  const std::optional<Days> starts = base::parse_day(out.starts);
  const std::optional<Days> ends = base::parse_day(out.ends);
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
  set("source", release.source);
  return row.build(arena);
}

int run_releases(const ReleasesOptions& options, const GlobalOptions& global) {
  Report report(global);
  diag::Sink sink;
  const Days date = chosen_day(options.date);
  Knowledge* opened = open_knowledge(global, report);
  if (opened == nullptr) return kFindings;
  Knowledge& knowledge = *opened;
  std::vector<std::string> names = catalog::platforms(knowledge.library());
  if (!options.platform.empty()) names = {options.platform};
  yaml::Arena arena;
  std::vector<Listing> listings(1);
  Listing& listing = listings.front();
  listing.titles = {"PRODUCT", "RELEASE", "RELEASED", "SUPPORT-ENDS", "STATE"};
  std::set<std::string> seen;  // a table that several platforms share is shown once
  for (const std::string& name : names) {
    const std::shared_ptr<const catalog::Platform> platform =
        catalog::load_platform(knowledge.library(), name, diag::kNoOrigin, sink);
    if (platform == nullptr) continue;
    for (const catalog::Table& table : platform->tables) {
      if (!table.window.is_map() || !seen.insert(table.provider + "/" + table.name).second)
        continue;
      const catalog::Addresses addresses(knowledge.library(), table);
      for (const yaml::Entry& row : table.rows.entries()) {
        const Release release = release_of(table, addresses, row, date);
        listing.lines.push_back(
            {release.product, release.name, release.starts, release.ends, release.state});
        listing.rows.push_back(as_json(release, arena));
      }
    }
  }
  report.show(sink, knowledge.library().sources());
  if (sink.has_errors()) return kFindings;
  return show_listings(listings, options.filters, options.output, report, global, arena);
}

RunFunction set_up_catalog_releases(Options& command, const GlobalOptions& global) {
  auto options = std::make_shared<ReleasesOptions>();
  add_filters(command, options->filters);
  add_listing_output(command, options->output);
  command.add_option("--platform", options->platform, "Only what this platform uses")
      .type_name("PLATFORM");
  add_date_option(command, options->date);
  return [options, &global] { return run_releases(*options, global); };
}

}  // namespace

Command releases_command() {
  return {"releases", "Releases, and until when they are supported",
          "Where no end of support was found, the state is what the maker calls the release.\n\n"
          "Example:\n  gpuctl catalog releases --date 2027-01-01\n",
          set_up_catalog_releases};
}

}  // namespace gpuctl::cli
