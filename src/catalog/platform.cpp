#include "catalog/platform.hpp"

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "catalog/codes.hpp"
#include "catalog/documents.hpp"
#include "catalog/lists.hpp"
#include "catalog/parts.hpp"
#include "catalog/references.hpp"
#include "catalog/shared.hpp"
#include "catalog/wrapper.hpp"
#include "yaml/packed.hpp"

namespace gpuctl::catalog {

namespace {

// The schema of the rows of a table.
yaml::Node row_definition(const yaml::Node& spec, yaml::Arena& arena) {
  yaml::MapBuilder definition;
  definition.set(arena, "type", yaml::Node::view("object"));
  definition.set(arena, "properties", spec.get("columns"));
  definition.set(arena, "required",
                 spec.get("required").is_list() ? spec.get("required")
                                                : arena.list(std::span<const yaml::Node>()));
  return definition.build(arena, spec.origin());
}

// What the rows of each table look like. Most runs ask for no type of any table.
struct RowTypes {
  std::vector<std::pair<std::string, yaml::Node>> specs;  // by name of the table
  const diag::Sources* sources = nullptr;
  yaml::Arena arena;
  std::vector<schema::SchemaPtr> schemas;

  cel::Type make() {
    auto type = std::make_shared<cel::ObjectType>();
    type->name = "catalog";
    for (const auto& [table, spec] : specs) {
      schemas.push_back(schema::compile_checked(row_definition(spec, arena), *sources));
      type->fields.push_back({table,
                              cel::Type::map(cel::Type::simple(cel::TypeKind::string),
                                             schema::cel_type(*schemas.back(), table)),
                              true});
    }
    return cel::Type::object(std::move(type));
  }
};

// The rows of a table that is built in, by key: the build has seen that keys are there and differ.
struct RowsByKey : yaml::Deferred {
  RowsByKey(const yaml::Node& list, std::string_view column, yaml::SharedArena& arena)
      : Deferred(make), rows(list), key(column), home(arena) {}

  static yaml::Node make(const yaml::Deferred& self) {
    const auto& by_key = static_cast<const RowsByKey&>(self);
    std::vector<yaml::Entry> entries;
    entries.reserve(by_key.rows.size());
    for (const yaml::Node& row : by_key.rows.items()) {
      const yaml::Node first = yaml::Unpacker::first_scalar(row, by_key.key);
      entries.push_back({first.is_null() ? row.get(by_key.key) : first, row});
    }
    return by_key.home.map(entries, diag::kNoOrigin);
  }

  yaml::Node rows;
  std::string_view key;
  yaml::SharedArena& home;
};

// Loads the parts of one platform; each step adds to `platform_`.
class PlatformLoader {
 public:
  PlatformLoader(Library& library, diag::Sink& sink) : library_(library), sink_(sink) {}

  std::shared_ptr<const Platform> load(const std::string& name, diag::Origin asked_at) {
    const std::vector<std::string> known = platforms(library_);
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      sink_.error(kUnknownPlatform, asked_at, "unknown platform `" + name + "`")
          .label("no provider of that name")
          .expect("one of " + base::join(known, ", "))
          .did_you_mean(name, known);
      return nullptr;
    }
    const std::size_t errors_before = sink_.error_count();
    platform_ = std::make_shared<Platform>();
    platform_->name = name;
    const yaml::Node spec = spec_of(library_, "providers/" + name + "/provider.yaml");
    platform_->title = spec.get("title").as_string();
    for (const yaml::Node& folder : spec.get("builds").items()) {
      if (library_.file("providers/" + std::string(folder.as_string()) + "/provider.yaml") ==
          nullptr) {
        const std::vector<std::string> folders = provider_folders(library_);
        sink_
            .error(kUnknownName, folder.origin(),
                   "no provider folder `" + std::string(folder.as_string()) + "`")
            .expect("one of " + base::join(folders, ", "))
            .did_you_mean(folder.as_string(), folders);
        continue;
      }
      platform_->builds.emplace_back(folder.as_string());
    }
    platform_->blueprint = schema_of("schema.yaml");
    platform_->derived = schema_of("derived.yaml");
    platform_->facts = schema_of("facts.yaml");
    load_tables();
    load_variables();
    platform_->derivations = for_each_list(collect("derive.yaml", "rows"));
    load_rules();
    platform_->axes = collect("versions.yaml", "axes");
    load_kinds();
    load_templates();
    platform_->documents = documents_of(library_, name, platform_->builds, sink_);
    load_traits();
    // The build has checked what is built in.
    if (library_.has_overlays() && sink_.error_count() == errors_before) {
      const Formats formats(library_, sink_);
      check_parts(library_, formats, *platform_, sink_);
      check_references(library_, formats, *platform_, sink_);
    }
    if (sink_.error_count() != errors_before) return nullptr;
    return platform_;
  }

 private:
  schema::SchemaPtr schema_of(const std::string& file) {
    if (const std::optional<yaml::Node> ready = library_.prepared(platform_->name + "#" + file)) {
      return schema::compile_checked(*ready, library_.sources());
    }
    const yaml::Node merged = merged_schema(library_, platform_->builds, file, sink_);
    return library_.has_overlays() ? schema::compile(merged, library_.sources(), sink_)
                                   : schema::compile_checked(merged, library_.sources());
  }

  // Of each provider folder the items in `file`.
  std::vector<yaml::Node> collect(const std::string& file, std::string_view list) {
    std::vector<yaml::Node> out;
    for (const std::string& folder : platform_->builds) {
      const yaml::Node items = spec_of(library_, "providers/" + folder + "/" + file).get(list);
      out.insert(out.end(), items.items().begin(), items.items().end());
    }
    return out;
  }

  // A row for several lists, such as `large|small[].zones`, becomes a row for each of them.
  std::vector<yaml::Node> for_each_list(const std::vector<yaml::Node>& rows) {
    std::vector<yaml::Node> out;
    for (const yaml::Node& row : rows) {
      const yaml::Node set = row.get("set");
      const std::vector<std::string> paths = paths_of(set.as_string());
      if (paths.size() == 1) out.push_back(row);
      for (std::size_t i = 0; paths.size() > 1 && i < paths.size(); ++i) {
        yaml::MapBuilder one(row);
        one.set(library_.arena(), "set", library_.arena().string(paths[i], set.origin()));
        out.push_back(one.build(library_.arena(), row.origin()));
      }
    }
    return out;
  }

  // Those of all folders, in order: each sees those before it.
  void load_variables() {
    yaml::MapBuilder all;
    for (const std::string& folder : platform_->builds) {
      const yaml::Node written = spec_of(library_, "providers/" + folder + "/variables.yaml");
      for (const yaml::Entry& entry : written.get("variables").entries()) {
        const auto before =
            std::find_if(all.entries().begin(), all.entries().end(),
                         [&](const yaml::Entry& one) { return yaml::equal(one.key, entry.key); });
        if (before != all.entries().end()) {
          sink_
              .error(kUnknownName, entry.key.origin(),
                     "a second variable `" + std::string(entry.key.as_string()) + "`")
              .also(before->key.origin(), "first variable");
          continue;
        }
        all.set(entry.key, entry.value);
      }
    }
    if (!all.empty()) platform_->variables = all.build(library_.arena());
  }

  void load_rules() {
    for (const std::string& folder : platform_->builds) {
      std::vector<std::string> paths = {"providers/" + folder + "/rules.yaml"};
      const std::vector<std::string> others = library_.list("providers/" + folder + "/rules/");
      paths.insert(paths.end(), others.begin(), others.end());
      for (const std::string& path : paths) {
        const yaml::Node spec = spec_of(library_, path);
        if (!spec.get("rules").is_list()) continue;
        platform_->rules.push_back({spec.get("gate"), spec.get("variables"), spec.get("rules")});
      }
    }
  }

  void load_tables() {
    yaml::MapBuilder catalog;
    const auto row_types = std::make_shared<RowTypes>();
    row_types->sources = &library_.sources();
    for (const std::string& folder : platform_->builds) {
      for (const std::string& path : library_.list("providers/" + folder + "/tables/")) {
        const yaml::Node spec = spec_of(library_, path);
        if (!spec.is_map()) continue;
        Table table = load_table(path, folder, spec);
        if (platform_->table(table.name) != nullptr) {
          sink_.error(kUnknownName, library_.file(path)->get({"metadata", "name"}).origin(),
                      "a second table `" + table.name + "`");
          continue;
        }
        row_types->specs.emplace_back(table.name, spec);
        catalog.set(library_.arena(), table.name, table.rows);
        platform_->tables.push_back(std::move(table));
      }
    }
    platform_->catalog = catalog.build(library_.arena());
    platform_->catalog_type = cel::LazyType([row_types] { return row_types->make(); });
  }

  Table load_table(const std::string& path, const std::string& folder, const yaml::Node& spec) {
    Table table;
    table.name = library_.file(path)->get({"metadata", "name"}).as_string();
    const yaml::Node key = spec.get("key");
    table.key = key.as_string();
    table.provider = folder;
    table.display = spec.get("display");
    table.title = spec.get("title").as_string();
    table.window = spec.get("window");
    table.columns = spec.get("columns");
    const yaml::Node rows = spec.get("rows");
    if (library_.has_overlays()) {
      const schema::SchemaPtr schema =
          schema::compile(row_definition(spec, library_.arena()), library_.sources(), sink_);
      table.rows = checked_rows(table, rows, *schema, library_.is_built_in(path), spec.origin());
    } else {
      table.rows = yaml::Node::later(
          yaml::Kind::map, rows.size(),
          library_.arena().make<RowsByKey>(rows, key.as_string(), library_.shared_arena()),
          spec.origin());
    }
    return table;
  }

  // The rows by key. The build has checked those that are built in against the schema.
  yaml::Node checked_rows(const Table& table, const yaml::Node& list, const schema::Schema& schema,
                          bool built_in, diag::Origin origin) {
    std::vector<yaml::Entry> rows;
    std::map<std::string_view, diag::Origin> seen;
    for (const yaml::Node& row : list.items()) {
      if (!built_in) {
        schema::ValidateOptions options;
        options.subject = "table " + table.name + ": ";
        schema::validate(schema, row, library_.arena(), library_.sources(), sink_, options);
      }
      const yaml::Node key = row.get(table.key);
      if (!key.is_string()) {
        sink_.error(kTableRow, row.origin(), "row of table `" + table.name + "` without its key")
            .expect("a string in the column `" + table.key + "`");
        continue;
      }
      const auto [first, added] = seen.emplace(key.as_string(), key.origin());
      if (!added) {
        sink_
            .error(
                kTableRow, key.origin(),
                "second row `" + std::string(key.as_string()) + "` in table `" + table.name + "`")
            .also(first->second, "first row");
        continue;
      }
      rows.push_back({key, row});
    }
    return library_.arena().map(rows, origin);
  }

  void load_kinds() {
    // Annotations by protection class, from every folder; the values of one key are joined.
    std::map<std::string, std::map<std::string, yaml::Node>> annotations;
    for (const std::string& folder : platform_->builds) {
      const yaml::Node spec = spec_of(library_, "providers/" + folder + "/kinds.yaml");
      for (const yaml::Entry& group : spec.get("annotations").entries()) {
        for (const yaml::Entry& annotation : group.value.entries()) {
          annotations[std::string(group.key.as_string())][std::string(annotation.key.as_string())] =
              annotation.value;
        }
      }
    }
    for (const yaml::Node& row : collect("kinds.yaml", "kinds")) {
      KindFacts facts;
      facts.api_version = row.get("apiVersion").as_string();
      facts.kind = row.get("kind").as_string();
      facts.namespaced = row.get("scope").as_string() == "Namespaced";
      facts.row = row;
      if (platform_->kind(facts.api_version, facts.kind) != nullptr) {
        sink_.error(kKnowledgeFile, row.origin(), "second row for kind `" + facts.kind + "`");
        continue;
      }
      const auto add = [&](const std::string& group, yaml::MapBuilder& merged) {
        for (const auto& [key, value] : annotations[group]) {
          const yaml::Node* before = merged.find(key);
          const std::string joined = before == nullptr ? std::string(value.as_string())
                                                       : std::string(before->as_string()) + "," +
                                                             std::string(value.as_string());
          merged.set(library_.arena(), key, library_.arena().string(joined, value.origin()));
        }
      };
      yaml::MapBuilder all;
      yaml::MapBuilder unprotected;
      add(std::string(row.get("protection").as_string()), all);
      if (row.get("custom").as_boolean()) {
        add("custom", all);
        add("custom", unprotected);
      }
      yaml::Arena& arena = library_.arena();
      if (!all.empty()) facts.annotations = all.build(arena, row.origin());
      if (!unprotected.empty()) facts.unprotected = unprotected.build(arena, row.origin());
      platform_->kinds.push_back(std::move(facts));
    }
  }

  void load_traits() {
    for (const std::string& folder : platform_->builds) {
      const yaml::Node spec = spec_of(library_, "providers/" + folder + "/provider.yaml");
      const yaml::Node written = spec.get("releases");
      if (written.is_map()) platform_->releases = read_releases(written);
      platform_->names_copies = platform_->names_copies || spec.get("namesCopies").as_boolean();
    }
  }

  void load_templates() {
    for (const std::string& folder : platform_->builds) {
      const yaml::Node spec = spec_of(library_, "providers/" + folder + "/provider.yaml");
      for (const yaml::Node& path : spec.get("templates").items()) {
        const std::string name = "templates/" + std::string(path.as_string());
        if (!library_.has(name)) {
          std::vector<std::string> names = library_.list(kTemplates);
          for (std::string& known : names) known.erase(0, kTemplates.size());
          sink_.error(kUnknownName, path.origin(), "no template `" + name + "`")
              .did_you_mean(path.as_string(), names);
          continue;
        }
        if (library_.has_overlays() &&
            library_.file(name)->get("kind").as_string() == kTemplateBase) {
          sink_.error(kUnknownName, path.origin(), "`" + name + "` is no template by itself")
              .suggest("list the templates that extend it");
          continue;
        }
        platform_->templates.push_back(name);
      }
    }
  }

  Library& library_;
  diag::Sink& sink_;
  std::shared_ptr<Platform> platform_;
};

}  // namespace

const KindFacts* Platform::kind(std::string_view api_version, std::string_view kind_name) const {
  for (const KindFacts& row : kinds) {
    if (row.kind == kind_name && row.api_version == api_version) return &row;
  }
  return nullptr;
}

const Table* Platform::table(std::string_view table_name) const {
  for (const Table& candidate : tables) {
    if (candidate.name == table_name) return &candidate;
  }
  return nullptr;
}

namespace {

constexpr std::string_view kShared = "shared";
constexpr std::string_view kRequired = "required";

// Those of a folder beside those of the folders before.
void add_shared(yaml::MapBuilder& shared, const yaml::Node& parts, diag::Sink& sink) {
  for (const yaml::Entry& part : parts.entries()) {
    const auto before =
        std::find_if(shared.entries().begin(), shared.entries().end(),
                     [&](const yaml::Entry& one) { return yaml::equal(one.key, part.key); });
    if (before == shared.entries().end()) {
      shared.set(part.key, part.value);
      continue;
    }
    sink.error(kUnknownName, part.key.origin(),
               "a second part `" + std::string(part.key.as_string()) + "` among `shared`")
        .also(before->key.origin(), "first part");
  }
}

}  // namespace

yaml::Node merged_schema(Library& library, const std::vector<std::string>& builds,
                         const std::string& file, diag::Sink& sink) {
  const yaml::Entry type = library.arena().entry("type", yaml::Node::view("object"));
  std::vector<yaml::Node> fragments = {library.arena().map({&type, 1})};
  yaml::MapBuilder shared;
  for (const std::string& folder : builds) {
    const yaml::Node spec = spec_of(library, "providers/" + folder + "/" + file);
    if (!spec.is_map()) continue;
    add_shared(shared, spec.get(kShared), sink);
    if (spec.get(kRequired).is_list()) {
      const yaml::Entry required = library.arena().entry(kRequired, spec.get(kRequired));
      fragments.push_back(library.arena().map({&required, 1}, spec.origin()));
    }
    const yaml::Node parts = shared.build(library.arena());
    for (const yaml::Entry& field : spec.get("fields").entries()) {
      const yaml::Node whole = with_shared(field.value, parts, library.shared_arena(), sink);
      fragments.push_back(schema_at(field.key.as_string(), whole, library.arena()));
    }
  }
  return schema::merge_fragments(fragments, library.arena(), sink);
}

std::shared_ptr<const Platform> load_platform(Library& library, const std::string& name,
                                              diag::Origin asked_at, diag::Sink& sink) {
  return PlatformLoader(library, sink).load(name, asked_at);
}

}  // namespace gpuctl::catalog
