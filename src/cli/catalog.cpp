#include <algorithm>
#include <memory>
#include <set>

#include "base/text.hpp"
#include "catalog/addresses.hpp"
#include "cli/columns.hpp"
#include "cli/command.hpp"
#include "yaml/emit.hpp"

namespace gpuctl::cli {

namespace {

struct CatalogOptions {
  std::string platform;
  std::string output = "table";
};

// What a reader sees in a cell: scalars as they are, lists by their names.
std::string cell(const yaml::Node& value) {
  switch (value.kind()) {
    case yaml::Kind::null:
      return "";
    case yaml::Kind::string:
      return std::string(value.as_string());
    case yaml::Kind::list: {
      std::vector<std::string> parts;
      for (const yaml::Node& item : value.items()) {
        parts.push_back(item.is_map() ? cell(item.get("name")) : cell(item));
      }
      return base::join(parts, ", ");
    }
    default:
      return yaml::emit_json(value);
  }
}

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

std::string as_table(const catalog::Table& table) {
  // The source of each row is for `-o json`; people compare the figures.
  std::vector<std::string> columns;
  for (const yaml::Node& name : table.display.items()) columns.emplace_back(name.as_string());
  if (columns.empty()) {
    for (const yaml::Entry& column : table.columns.entries()) {
      columns.emplace_back(column.key.as_string());
    }
  }
  std::vector<std::vector<std::string>> cells;
  std::vector<std::string> header;
  for (const std::string& column : columns) header.push_back(title(column));
  cells.push_back(std::move(header));
  for (const yaml::Entry& row : table.rows.entries()) {
    std::vector<std::string> line;
    for (const std::string& column : columns) line.push_back(cell(row.value.get(column)));
    cells.push_back(std::move(line));
  }
  return in_columns(cells);
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
  std::vector<yaml::Node> json;
  std::vector<std::string> tables;
  std::vector<std::string> headings;  // the platform of each table
  std::set<std::string> seen;         // a table that several platforms share is shown once
  for (const std::string& name : names) {
    const std::shared_ptr<const catalog::Platform> platform =
        catalog::load_platform(knowledge.library(), name, diag::kNoOrigin, sink);
    if (platform == nullptr) continue;
    const catalog::Table* table = platform->table(table_name);
    if (table == nullptr || !seen.insert(table->provider).second) continue;
    tables.push_back(as_table(*table));
    headings.push_back(name);
    const catalog::Addresses addresses(knowledge.library(), *table);
    for (const yaml::Entry& row : table->rows.entries()) {
      json.push_back(with_address(row.value, addresses, arena));
    }
  }
  report.show(sink, knowledge.library().sources());
  if (sink.has_errors()) return kFindings;
  std::string text;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (tables.size() > 1) text += (i > 0 ? "\n# " : "# ") + headings[i] + "\n";
    text += tables[i];
  }
  global.result->set("rows", arena.list(json));
  if (options.output == "json") text = yaml::emit_json(arena.list(json)) + "\n";
  return print(text, global) ? kOk : kFindings;
}

int run_platforms(const CatalogOptions& options, const GlobalOptions& global) {
  Report report(global);
  Knowledge* knowledge = open_knowledge(global, report);
  if (knowledge == nullptr) return kFindings;
  yaml::Arena arena;
  std::vector<yaml::Node> json;
  std::string text;
  for (const std::string& name : catalog::platforms(knowledge->library())) {
    const yaml::Node* provider = knowledge->library().file("providers/" + name + "/provider.yaml");
    const yaml::Node title = provider->get({"spec", "title"});
    yaml::MapBuilder row;
    row.set(arena, "name", arena.string(name));
    row.set(arena, "title", title);
    json.push_back(row.build(arena));
    text += name + "  " + std::string(title.as_string()) + "\n";
  }
  global.result->set("rows", arena.list(json));
  if (options.output == "json") text = yaml::emit_json(arena.list(json)) + "\n";
  return print(text, global) ? kOk : kFindings;
}

void add_output(CLI::App& command, CatalogOptions& options) {
  command.add_option("-o,--output", options.output, "table or json")
      ->check(CLI::IsMember({"table", "json"}));
}

// A command that lists a table.
Command listing(const char* name, const char* table, const char* about) {
  return {name, about, "Example:\n  gpuctl catalog " + std::string(name) + " -o json\n",
          [table](CLI::App& command, const GlobalOptions& global) {
            auto options = std::make_shared<CatalogOptions>();
            add_output(command, *options);
            command.add_option("--platform", options->platform, "Only what this platform offers")
                ->type_name("NAME");
            return [options, table, &global] { return run_catalog(table, *options, global); };
          }};
}

RunFunction set_up_platforms(CLI::App& command, const GlobalOptions& global) {
  auto options = std::make_shared<CatalogOptions>();
  add_output(command, *options);
  return [options, &global] { return run_platforms(*options, global); };
}

}  // namespace

Command catalog_command() {
  return {"catalog",
          "Show what gpuctl knows",
          "Example:\n  gpuctl catalog machines -o json\n",
          nullptr,
          {listing("gpus", "gpus", "GPU models"),
           listing("machines", "machines", "Machine types with GPUs"),
           listing("mig", "migClasses", "MIG profiles by GPU"),
           listing("vgpu", "vgpuTypes", "vGPU types by GPU"),
           releases_command(),
           {"platforms", "Platforms a blueprint may name", "Example:\n  gpuctl catalog platforms\n",
            set_up_platforms}}};
}

}  // namespace gpuctl::cli
