#include "cli/result_document.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/text.hpp"
#include "catalog/wrapper.hpp"
#include "cli/batch.hpp"
#include "diag/character.hpp"
#include "yaml/emit.hpp"

namespace gpuctl::cli {

namespace {

yaml::Node number(std::size_t value) {
  return yaml::Node::integer(static_cast<std::int64_t>(value));
}

}  // namespace

void ResultDocument::set(std::string_view field, const yaml::Node& value) {
  fields_.set(arena_, field, arena_.clone(value));
}

void ResultDocument::set(std::string_view field, std::string_view text) {
  fields_.set(arena_, field, arena_.string(text));
}

void ResultDocument::set_flag(std::string_view field, bool value) {
  fields_.set(arena_, field, yaml::Node::boolean(value));
}

void ResultDocument::count(std::size_t errors, std::size_t warnings, std::size_t notes) {
  errors_ += errors;
  warnings_ += warnings;
  notes_ += notes;
}

void ResultDocument::say(std::string_view text) {
  if (keeps_said_) {
    said_ += text;
  } else {
    std::fwrite(text.data(), 1, text.size(), stderr);
  }
}

yaml::Node ResultDocument::document(int exit_code) {
  yaml::MapBuilder counts;
  counts.set(arena_, "errors", number(errors_));
  counts.set(arena_, "warnings", number(warnings_));
  counts.set(arena_, "notes", number(notes_));
  yaml::MapBuilder out;
  out.set(arena_, "apiVersion", arena_.string(catalog::kApiVersion));
  out.set(arena_, "kind", arena_.string(kind_));
  out.set(arena_, "exitCode", yaml::Node::integer(exit_code));
  out.set(arena_, "diagnostics", counts.build(arena_));
  const yaml::Node fields = fields_.build(arena_);
  for (const yaml::Entry& field : fields.entries()) {
    out.set(arena_, field.key.as_string(), field.value);
  }
  return out.build(arena_);
}

std::string ResultDocument::text(int exit_code) {
  return diag::well_formed(yaml::emit_json(document(exit_code))) + "\n";
}

yaml::Node texts(const std::vector<std::string>& lines, yaml::Arena& arena) {
  std::vector<yaml::Node> out;
  out.reserve(lines.size());
  for (const std::string& line : lines) out.push_back(arena.string(line));
  return arena.list(out);
}

yaml::Node lines_of(std::string_view text, yaml::Arena& arena) {
  std::vector<std::string> out;
  for (std::string_view line : base::split(text, '\n')) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (!line.empty()) out.emplace_back(line);
  }
  return texts(out, arena);
}

void set_changes(const std::vector<plan::Change>& changes, const std::string& directory,
                 std::size_t files, yaml::MapBuilder& to, yaml::Arena& arena) {
  constexpr std::array<std::string_view, 3> kNames = {"created", "updated", "removed"};
  std::array<std::vector<std::string>, 3> paths;
  for (const plan::Change& change : changes) {
    paths.at(static_cast<std::size_t>(change.kind)).push_back(directory + "/" + change.path);
  }
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    to.set(arena, kNames.at(i), texts(paths.at(i), arena));
  }
  to.set(arena, "unchanged", number(files - paths[0].size() - paths[1].size()));
}

void set_cluster(std::string_view cluster, yaml::MapBuilder& to, yaml::Arena& arena) {
  if (cluster.empty()) return;
  const std::size_t slash = cluster.find('/');
  to.set(arena, "cluster", arena.string(cluster));
  to.set(arena, "stage", arena.string(cluster.substr(0, slash)));
  to.set(arena, "name", arena.string(cluster.substr(slash + 1)));
}

yaml::MapBuilder verdict_of(const Finished& blueprint, bool strict, yaml::Arena& arena) {
  yaml::MapBuilder out;
  out.set(arena, "file", arena.string(shown(blueprint.blueprint_file)));
  set_cluster(blueprint.cluster, out, arena);
  out.set(arena, "accepted", yaml::Node::boolean(blueprint.accepted(strict)));
  out.set(arena, "errors", number(blueprint.findings.errors));
  out.set(arena, "warnings", number(blueprint.findings.warnings));
  out.set(arena, "notes",
          number(blueprint.findings.count_notes() + blueprint.withheld.count_notes()));
  return out;
}

void record_verdicts(const std::vector<Finished>& blueprints, bool strict, ResultDocument& result) {
  yaml::Arena& arena = result.arena();
  std::vector<yaml::Node> out;
  for (const Finished& blueprint : blueprints) {
    out.push_back(verdict_of(blueprint, strict, arena).build(arena));
  }
  result.set("blueprints", arena.list(out));
}

}  // namespace gpuctl::cli
