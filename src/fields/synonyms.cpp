#include "fields/synonyms.hpp"

#include <algorithm>
#include <mutex>

#include "base/text.hpp"
#include "catalog/lists.hpp"
#include "catalog/wrapper.hpp"
#include "fields/field.hpp"
#include "schema/codes.hpp"

namespace gpuctl::fields {

namespace {

// Places of fields with the same name that are worth naming.
constexpr std::size_t kMostElsewhere = 3;

// Spellings that nobody tells apart: `disk_size`, `disk-size` and `diskSize`.
std::string plain(std::string_view name) {
  std::string out = base::to_lower(name);
  std::erase_if(out, [](char c) { return c == '_' || c == '-'; });
  return out;
}

// `spec.gpuPools[3]` and `spec.gpuPools[]` are the same place.
std::string without_indexes(std::string_view path) {
  std::string out;
  bool inside = false;
  for (const char c : path) {
    if (c == '[') inside = true;
    if (!inside) out += c;
    if (c == ']') inside = false;
  }
  return out;
}

bool stands_at(const yaml::Node& row, std::string_view at) {
  const std::vector<std::string> paths = catalog::paths_of(row.get("at").as_string());
  return std::any_of(paths.begin(), paths.end(),
                     [&](const std::string& path) { return without_indexes(path) == at; });
}

bool has_name(const yaml::Node& row, const std::string& wanted) {
  const auto names = row.get("names").items();
  return std::any_of(names.begin(), names.end(),
                     [&](const yaml::Node& name) { return plain(name.as_string()) == wanted; });
}

struct Target {
  const schema::Schema* schema = nullptr;  // null: the platform has no such field
  std::string_view refused;                // why it has no use for it; mostly empty
};

Target target_at(const catalog::Platform& platform, const std::string& path) {
  Target out;
  for (std::size_t end = path.find('.');; end = path.find('.', end + 1)) {
    out.schema = schema::at(*platform.blueprint, std::string_view(path).substr(0, end));
    if (out.schema == nullptr) return out;
    out.refused = schema::definition(*out.schema).get("x-gpuctl-refused").as_string();
    if (!out.refused.empty() || end == std::string::npos) return out;
  }
}

void add(const std::string& field, const Target& target, std::string_view say,
         diag::Diagnostic& finding) {
  if (!target.refused.empty()) {
    finding.suggest("elsewhere that is `" + field +
                    "`, which this platform does not have: " + std::string(target.refused));
    return;
  }
  finding.suggest("write `" + field + "`" +
                  (say.empty() ? std::string() : ": " + std::string(say)));
  const std::string about = first_sentence(schema::definition(*target.schema));
  if (!about.empty()) finding.note("`" + field + "`: " + about);
}

bool by_rows(const catalog::Platform& platform, std::span<const yaml::Node> rows,
             std::string_view at, std::string_view name, diag::Diagnostic& finding) {
  const std::string wanted = plain(name);
  std::string refused_field;
  Target refused;
  for (const yaml::Node& row : rows) {
    if (!has_name(row, wanted) || !stands_at(row, at)) continue;
    const std::string_view path = row.get("path").as_string();
    const std::string field(path.empty() ? row.get("field").as_string() : path);
    const std::string below = at.empty() ? field : std::string(at) + "." + field;
    const Target target = target_at(platform, path.empty() ? below : field);
    if (target.schema == nullptr) continue;
    if (target.refused.empty()) {
      add(field, target, row.get("say").as_string(), finding);
      return true;
    }
    if (refused_field.empty()) {
      refused_field = field;
      refused = target;
    }
  }
  if (refused_field.empty()) return false;
  add(refused_field, refused, {}, finding);
  return true;
}

// Paths of fields with such a name, as definitions have them; those of maps with free keys as `*`.
template <typename IsNamed>
void find_fields(const yaml::Node& definition, const std::string& path, const IsNamed& is_named,
                 std::vector<std::string>& out) {
  for (const yaml::Entry& field : definition.get("properties").entries()) {
    const std::string_view key = field.key.as_string();
    if (!field.value.get("x-gpuctl-refused").is_null()) continue;
    const std::string here = path.empty() ? std::string(key) : path + "." + std::string(key);
    if (is_named(key)) out.push_back(here);
    find_fields(field.value, here, is_named, out);
  }
  const yaml::Node items = definition.get("items");
  if (items.is_map()) find_fields(items, path + "[]", is_named, out);
  const yaml::Node values = definition.get("additionalProperties");
  if (values.is_map()) find_fields(values, path + ".*", is_named, out);
}

bool by_name_elsewhere(const catalog::Platform& platform, std::string_view name,
                       diag::Diagnostic& finding) {
  std::vector<std::string> paths;
  const std::string wanted = plain(name);
  find_fields(
      schema::definition(*platform.blueprint), {},
      [&](std::string_view key) { return plain(key) == wanted; }, paths);
  if (paths.empty() || paths.size() > kMostElsewhere) return false;
  std::string text;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    text += i == 0 ? "" : i + 1 == paths.size() ? " or " : ", ";
    text += "`" + paths[i] + "`";
  }
  finding.suggest("`" + std::string(name) + "` belongs elsewhere: " + text);
  return true;
}

// A slip of the pen: the schema itself has a name that is near.
bool has_near_name(const catalog::Platform& platform, std::string_view at, std::string_view name) {
  const schema::Schema* around = schema::at(*platform.blueprint, at);
  if (around == nullptr) return false;
  std::vector<std::string> names;
  const yaml::Node* definition = &schema::definition(*around);
  while (definition->get("items").is_map()) definition = definition->find("items");
  for (const yaml::Entry& field : definition->get("properties").entries()) {
    names.emplace_back(field.key.as_string());
  }
  return !base::nearest(name, names).empty();
}

// Where a synonym leads that stands at a place; empty: there is none, or the platform lacks it.
std::string synonym_at(const catalog::Platform& platform, std::span<const yaml::Node> rows,
                       std::string_view at, std::string_view name) {
  const std::string wanted = plain(name);
  for (const yaml::Node& row : rows) {
    if (!has_name(row, wanted) || !stands_at(row, at)) continue;
    const std::string path(row.get("path").as_string());
    const std::string field(row.get("field").as_string());
    std::string whole = !path.empty() ? path : at.empty() ? field : std::string(at) + "." + field;
    if (target_at(platform, whole).schema != nullptr) return whole;
  }
  return {};
}

// Where a synonym leads that stands anywhere: the place furthest down that the platform has.
std::string synonym_anywhere(const catalog::Platform& platform, std::span<const yaml::Node> rows,
                             std::string_view name) {
  const std::string wanted = plain(name);
  const auto depth = [](const std::string& path) {
    return path.empty() ? -1 : std::count(path.begin(), path.end(), '.');
  };
  std::string meant;
  for (const yaml::Node& row : rows) {
    if (!has_name(row, wanted)) continue;
    for (const std::string& at : catalog::paths_of(row.get("at").as_string())) {
      std::string whole = synonym_at(platform, std::span(&row, 1), without_indexes(at), name);
      if (depth(whole) > depth(meant)) meant = std::move(whole);
    }
  }
  return meant;
}

// The field of one name somewhere, when there is just one.
std::string only_field(const yaml::Node& definition, std::string_view name) {
  const std::string wanted = plain(name);
  std::vector<std::string> paths;
  find_fields(
      definition, {}, [&](std::string_view key) { return plain(key) == wanted; }, paths);
  return paths.size() == 1 ? paths.front() : std::string();
}

// One name further down from `here`; empty: nothing is known of it.
std::string step_meant(const catalog::Platform& platform, std::span<const yaml::Node> synonyms,
                       const std::string& here, std::string_view name) {
  const yaml::Node& definition = schema::definition(*platform.blueprint);
  const std::string below = here.empty() ? std::string(name) : here + "." + std::string(name);
  const Lookup lookup = find_field(definition, below);
  if (lookup.field) return lookup.field->path;
  const std::string& at = lookup.reached;
  for (const std::string& one : lookup.names) {
    if (plain(one) == plain(name)) return at.empty() ? one : at + "." + one;
  }
  std::string place = without_indexes(at);
  for (std::size_t key = place.find(".*"); key != std::string::npos; key = place.find(".*")) {
    place.erase(key, 2);
  }
  std::string meant = synonym_at(platform, synonyms, place, name);
  if (!meant.empty() || !here.empty()) return meant;
  meant = only_field(definition, name);
  return meant.empty() ? synonym_anywhere(platform, synonyms, name) : meant;
}

}  // namespace

std::string path_meant(const catalog::Platform& platform, std::span<const yaml::Node> synonyms,
                       std::string_view path) {
  std::string here;
  for (const std::string_view part : base::split(path, '.')) {
    const std::string_view name = part.substr(0, part.find('['));
    if (name.empty()) continue;
    here = step_meant(platform, synonyms, here, name);
    if (here.empty()) return {};
  }
  return here;
}

std::vector<yaml::Node> synonyms_of(const catalog::Platform& platform, catalog::Library& library) {
  std::vector<yaml::Node> out;
  const auto add_all = [&](const yaml::Node& rows) {
    out.insert(out.end(), rows.items().begin(), rows.items().end());
  };
  const std::string prepared = platform.name + std::string(kPreparedSynonyms);
  if (const std::optional<yaml::Node> ready = library.prepared(prepared)) {
    add_all(*ready);
    return out;
  }
  // Nobody else reads these files.
  static std::mutex reading;
  const std::lock_guard<std::mutex> guard(reading);
  for (auto folder = platform.builds.rbegin(); folder != platform.builds.rend(); ++folder) {
    add_all(catalog::spec_of(library, "providers/" + *folder + "/synonyms.yaml").get("synonyms"));
  }
  return out;
}

bool name_what_is_meant(const catalog::Platform& platform, std::span<const yaml::Node> synonyms,
                        std::string_view at, std::string_view name, diag::Diagnostic& finding) {
  const std::string place = without_indexes(at);
  if (by_rows(platform, synonyms, place, name, finding)) return true;
  return !has_near_name(platform, place, name) && by_name_elsewhere(platform, name, finding);
}

diag::Sink with_what_is_meant(const diag::Sink& found, const catalog::Platform& platform,
                              catalog::Library& library) {
  diag::Sink out;
  std::optional<std::vector<yaml::Node>> synonyms;  // read once there is use for them
  for (const diag::Diagnostic& one : found.all()) {
    diag::Diagnostic& finding = out.add(one);
    if (one.code != schema::kUnknownField || one.path.ends_with(']')) continue;
    const std::size_t dot = one.path.rfind('.');
    const std::string_view path = one.path;
    const std::string_view at = dot == std::string::npos ? "" : path.substr(0, dot);
    const std::string_view name = dot == std::string::npos ? path : path.substr(dot + 1);
    // Names that are alike by chance would only lead astray.
    std::vector<std::string> near = std::move(finding.help);
    finding.help.clear();
    if (!synonyms) synonyms = synonyms_of(platform, library);
    if (!name_what_is_meant(platform, *synonyms, at, name, finding)) finding.help = std::move(near);
  }
  return out;
}

}  // namespace gpuctl::fields
