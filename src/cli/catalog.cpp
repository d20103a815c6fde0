#include <algorithm>
#include <memory>
#include <set>

#include "catalog/addresses.hpp"
#include "cli/code_page.hpp"
#include "cli/command.hpp"
#include "cli/listing.hpp"

namespace gpuctl::cli {

namespace {

struct CatalogOptions {
  std::string platform;
  std::string output = kTable;
  std::vector<std::string> filters;
};

// "memoryGib" -> "MEMORY-GIB", as listings of the field name their columns.
std::string title(std::string_view column) {
  std::string out;
  for (const char c : column) {
    const bool lower = c >= 'a' && c <= 'z';
    if (!lower && c >= 'A' && c <= 'Z' && !out.empty()) out += '-';
    out += lower ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return out;
}

Listing listing_of(const catalog::Table& table) {
  Listing out;
  std::vector<std::string> columns;
  for (const yaml::Entry& column : table.columns.entries()) {
    columns.emplace_back(column.key.as_string());
    out.titles.push_back(title(columns.back()));
  }
  for (const yaml::Node& name : table.display.items()) {
    const auto column = std::find(columns.begin(), columns.end(), name.as_string());
    if (column != columns.end()) {
      out.shown.push_back(static_cast<std::size_t>(column - columns.begin()));
    }
  }
  for (const yaml::Entry& row : table.rows.entries()) {
    std::vector<std::string> line;
    for (const std::string& column : columns) line.push_back(cell_of(row.value.get(column)));
    out.lines.push_back(std::move(line));
  }
  return out;
}

yaml::Node with_address(const yaml::Node& row, const catalog::Addresses& addresses,
                        yaml::Arena& arena) {
  std::vector<yaml::Entry> cells(row.entries().begin(), row.entries().end());
  for (yaml::Entry& cell : cells) {
    if (cell.key.as_string() == "source") cell.value = arena.string(addresses.source_of(row));
  }
  return arena.map(cells, row.origin());
}

int run_catalog(const std::string& table_name, const CatalogOptions& options,
                const GlobalOptions& global) {
  Report report(global);
  diag::Sink sink;
  Knowledge* opened = open_knowledge(global, report);
  if (opened == nullptr) return kFindings;
  Knowledge& knowledge = *opened;
  std::vector<std::string> names = catalog::platforms(knowledge.library());
  if (!options.platform.empty()) names = {options.platform};
  yaml::Arena arena;
  std::vector<Listing> listings;
  std::set<std::string> seen;  // a table that several platforms share is shown once
  for (const std::string& name : names) {
    const std::shared_ptr<const catalog::Platform> platform =
        catalog::load_platform(knowledge.library(), name, diag::kNoOrigin, sink);
    if (platform == nullptr) continue;
    const catalog::Table* table = platform->table(table_name);
    if (table == nullptr || !seen.insert(table->provider).second) continue;
    Listing listing = listing_of(*table);
    listing.heading = name;
    const catalog::Addresses addresses(knowledge.library(), *table);
    for (const yaml::Entry& row : table->rows.entries()) {
      listing.rows.push_back(with_address(row.value, addresses, arena));
    }
    listings.push_back(std::move(listing));
  }
  report.show(sink, knowledge.library().sources());
  if (sink.has_errors()) return kFindings;
  return show_listings(listings, options.filters, options.output, report, global, arena);
}

int run_platforms(const CatalogOptions& options, const GlobalOptions& global) {
  Report report(global);
  Knowledge* knowledge = open_knowledge(global, report);
  if (knowledge == nullptr) return kFindings;
  yaml::Arena arena;
  std::vector<Listing> listings(1);
  Listing& listing = listings.front();
  listing.titles = {"NAME", "TITLE"};
  for (const std::string& name : catalog::platforms(knowledge->library())) {
    const yaml::Node* provider = knowledge->library().file("providers/" + name + "/provider.yaml");
    const yaml::Node title = provider->get({"spec", "title"});
    yaml::MapBuilder row;
    row.set(arena, "name", arena.string(name));
    row.set(arena, "title", title);
    listing.rows.push_back(row.build(arena));
    listing.lines.push_back({name, std::string(title.as_string())});
  }
  return show_listings(listings, options.filters, options.output, report, global, arena);
}

int run_codes(const CatalogOptions& options, const GlobalOptions& global) {
  Report report(global);
  yaml::Arena arena;
  std::vector<Listing> listings(1);
  Listing& listing = listings.front();
  listing.titles = {"CODE", "TITLE"};
  for (const std::string& code : codes_with_pages()) {
    listing.lines.push_back({code, code_title(code)});
    yaml::MapBuilder row;
    row.set(arena, "code", arena.string(code));
    row.set(arena, "title", arena.string(listing.lines.back().back()));
    listing.rows.push_back(row.build(arena));
  }
  return show_listings(listings, options.filters, options.output, report, global, arena);
}

void add_output(Options& command, CatalogOptions& options) {
  add_filters(command, options.filters);
  add_listing_output(command, options.output);
}

// A command that lists a table.
Command listing(const std::string& name, const char* table, const char* about,
                const std::string& filter) {
  return {name, about,
          "Example:\n  gpuctl catalog " + std::string(name) + " " + filter + "\n  gpuctl catalog " +
              name + " -o wide\n",
          [table](Options& command, const GlobalOptions& global) {
            auto options = std::make_shared<CatalogOptions>();
            add_output(command, *options);
            command.add_option("--platform", options->platform, "Only what this platform offers")
                .type_name("PLATFORM");
            return [options, table, &global] { return run_catalog(table, *options, global); };
          }};
}

RunFunction set_up_platforms(Options& command, const GlobalOptions& global) {
  auto options = std::make_shared<CatalogOptions>();
  add_output(command, *options);
  return [options, &global] { return run_platforms(*options, global); };
}

RunFunction set_up_codes(Options& command, const GlobalOptions& global) {
  auto options = std::make_shared<CatalogOptions>();
  add_output(command, *options);
  return [options, &global] { return run_codes(*options, global); };
}

}  // namespace

Command catalog_command() {
  return {"catalog",
          "Show what gpuctl knows",
          "Example:\n  gpuctl catalog machines -o json\n  gpuctl catalog vgpu MODEL\n",
          nullptr,
          {listing("gpus", "gpus", "GPU models", "MODEL"),
           listing("machines", "machines", "Machine types with GPUs", "MODEL 8"),
           listing("mig", "migClasses", "MIG profiles by GPU", "MODEL"),
           listing("vgpu", "vgpuTypes", "vGPU types by GPU", "MODEL"),
           releases_command(),
           {"platforms", "Platforms a blueprint may name", "Example:\n  gpuctl catalog platforms\n",
            set_up_platforms},
           {"codes", "Codes of diagnostics, each with a page: `gpuctl explain CODE`",
            "Example:\n  gpuctl catalog codes quota\n", set_up_codes}}};
}

}  // namespace gpuctl::cli
