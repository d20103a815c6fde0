#include "catalog/references.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "catalog/codes.hpp"
#include "catalog/wrapper.hpp"
#include "yaml/emit.hpp"

namespace gpuctl::catalog {

namespace {

using yaml::Node;

constexpr std::string_view kItems = "[]";
constexpr std::string_view kKeys = "{}";
constexpr std::size_t kCodeBytes = 7;  // of `GPU` and four digits

// The values that a path such as `regions[]`, `states{}` or `profiles[].class` leads to.
void collect(const Node& value, std::span<const std::string_view> path, std::vector<Node>& out) {
  if (path.empty()) {
    if (!value.is_null()) out.push_back(value);
    return;
  }
  std::string_view step = path.front();
  const std::span<const std::string_view> rest = path.subspan(1);
  if (step == "*") {
    for (const yaml::Entry& entry : value.entries()) collect(entry.value, rest, out);
    return;
  }
  const bool items = step.ends_with(kItems);
  const bool keys = step.ends_with(kKeys);
  if (items || keys) step.remove_suffix(kItems.size());
  const Node field = value.get(step);
  if (items) {
    for (const Node& item : field.items()) collect(item, rest, out);
  } else if (keys) {
    for (const yaml::Entry& entry : field.entries()) out.push_back(entry.key);
  } else {
    collect(field, rest, out);
  }
}

// Whether the schemas of columns have a path.
bool is_declared(const Node& columns, std::span<const std::string_view> path) {
  const Node* here = nullptr;
  for (std::string_view step : path) {
    const bool items = step.ends_with(kItems);
    const bool keys = step.ends_with(kKeys);
    if (items || keys) step.remove_suffix(kItems.size());
    const Node fields = here == nullptr ? columns : here->get("properties");
    const Node* next = fields.find(step);
    if (next == nullptr && here != nullptr) next = here->find("additionalProperties");
    if (next != nullptr && items) next = next->find("items");
    if (next == nullptr) return false;
    if (keys) return next->get("type").as_string() == "object";
    here = next;
  }
  return true;
}

std::string shown(const Node& value) {
  return value.is_string() ? std::string(value.as_string()) : yaml::emit_json(value);
}

class ReferenceCheck {
 public:
  ReferenceCheck(Library& library, const Formats& formats, const Platform& platform,
                 diag::Sink& sink)
      : library_(library), formats_(formats), platform_(platform), sink_(sink) {
    for (const std::string& path : library_.list("providers/", "/tables/")) {
      tables_.emplace(library_.file(path)->get({"metadata", "name"}).as_string());
    }
  }

  void tables() {
    for (const std::string& folder : platform_.builds) {
      for (const std::string& path : library_.list("providers/" + folder + "/tables/")) {
        const std::string name(library_.file(path)->get({"metadata", "name"}).as_string());
        const Node spec = spec_of(library_, path);
        for (const yaml::Entry& reference : spec.get("references").entries()) {
          rows(name, spec, reference);
        }
        if (const Node sources = spec.get("sources"); sources.is_map()) {
          for (const Node& row : spec.get("rows").items()) source(name, sources, row.get("source"));
        }
      }
    }
  }

  void files() {
    for (const std::string& folder : platform_.builds) {
      file("Provider", "providers/" + folder + "/provider.yaml");
    }
    for (const std::string& path : platform_.templates) file("Template", path);
  }

  // Paths in the derived tree.
  void paths() {
    for (const std::string& folder : platform_.builds) {
      const Node spec = spec_of(library_, "providers/" + folder + "/provider.yaml");
      derived(spec.get({"releases", "derived"}));
    }
    for (const Node& axis : platform_.axes) derived(axis.get("keep"));
  }

  void codes() {
    for (const std::string& page : library_.list("docs/codes/GPU")) {
      pages_.push_back(page.substr(page.rfind('/') + 1, kCodeBytes));
    }
    if (pages_.empty()) return;
    const auto rules = [this](const std::vector<RuleFile>& files) {
      for (const RuleFile& file : files) {
        for (const Node& rule : file.rules.items()) code(rule.get("code"));
      }
    };
    rules(platform_.rules);
    for (const DocumentKind& kind : platform_.documents) {
      rules(kind.rules);
      for (const Node& spec : kind.availability) {
        for (const yaml::Entry& entry : spec.get("codes").entries()) code(entry.value);
      }
    }
  }

 private:
  void derived(const Node& path) {
    if (path.is_null() || schema::at(*platform_.derived, path.as_string()) != nullptr) return;
    sink_.error(kUnknownName, path.origin(),
                "the derived tree has no `" + std::string(path.as_string()) + "`");
  }

  // What one of the targets `table` or `table.path` has: keys of its rows, or values in them.
  std::optional<std::set<std::string>> named_by(const Node& target) {
    const std::string_view text = target.as_string();
    const std::size_t dot = text.find('.');
    const std::string name(text.substr(0, dot));
    const Table* table = platform_.table(name);
    if (table == nullptr) {
      if (!tables_.contains(name)) {
        sink_.error(kUnknownName, target.origin(), "no table `" + name + "`")
            .did_you_mean(name, {tables_.begin(), tables_.end()});
      }
      return std::nullopt;
    }
    std::set<std::string> out;
    if (dot == std::string_view::npos) {
      for (const yaml::Entry& row : table->rows.entries()) out.emplace(row.key.as_string());
      return out;
    }
    std::vector<Node> values;
    const std::vector<std::string_view> path = base::split(text.substr(dot + 1), '.');
    for (const yaml::Entry& row : table->rows.entries()) collect(row.value, path, values);
    for (const Node& value : values) out.insert(shown(value));
    if (out.empty()) {
      sink_.error(
          kUnknownName, target.origin(),
          "table `" + name + "` has nothing at `" + std::string(text.substr(dot + 1)) + "`");
      return std::nullopt;
    }
    return out;
  }

  void rows(const std::string& table, const Node& spec, const yaml::Entry& reference) {
    const std::string column(reference.key.as_string());
    const std::vector<std::string_view> path = base::split(column, '.');
    if (!is_declared(spec.get("columns"), path)) {
      std::vector<std::string> known;
      for (const yaml::Entry& one : spec.get("columns").entries()) {
        known.emplace_back(one.key.as_string());
      }
      sink_
          .error(kUnknownName, reference.key.origin(),
                 "table `" + table + "` has no column `" + column + "`")
          .did_you_mean(column, known);
      return;
    }
    const Node& written = reference.value;
    const std::vector<Node> targets =
        written.is_list() ? std::vector<Node>(written.items().begin(), written.items().end())
                          : std::vector<Node>{written};
    std::set<std::string> known;
    std::vector<std::string> names;
    for (const Node& target : targets) {
      const auto found = named_by(target);
      if (!found) return;  // of a table that is not there nothing can be said
      known.insert(found->begin(), found->end());
      names.push_back("`" + std::string(target.as_string()) + "`");
    }
    for (const Node& row : spec.get("rows").items()) {
      std::vector<Node> values;
      collect(row, path, values);
      for (const Node& value : values) {
        if (known.contains(shown(value))) continue;
        sink_
            .error(kUnknownName, value.origin(),
                   "`" + column + "` of table `" + table + "` names no row of " +
                       base::join(names, " or "))
            .label("no `" + shown(value) + "` there")
            .did_you_mean(shown(value), {known.begin(), known.end()});
      }
    }
  }

  void source(const std::string& table, const Node& sources, const Node& written) {
    for (std::string_view part : base::split(written.as_string(), ';')) {
      while (part.starts_with(' ')) part.remove_prefix(1);
      if (sources.find(part) != nullptr) continue;
      std::vector<std::string> known;
      for (const yaml::Entry& one : sources.entries()) known.emplace_back(one.key.as_string());
      sink_
          .error(kUnknownName, written.origin(),
                 "no source `" + std::string(part) + "` in table `" + table + "`")
          .did_you_mean(part, known);
    }
  }

  void file(const std::string& kind, const std::string& path) {
    formats_.visit(kind, *library_.file(path), [&](const Node& definition, const Node& value) {
      const Node* asked = definition.find("x-gpuctl-references");
      if (asked == nullptr || value.as_string().find("${") != std::string_view::npos) return;
      const std::string name(value.as_string());
      std::vector<std::string> known;
      if (asked->as_string() == "tables") {
        if (platform_.table(name) != nullptr) return;
        for (const Table& table : platform_.tables) known.push_back(table.name);
      } else {
        const Table* table = platform_.table(asked->as_string());
        if (table == nullptr || table->rows.find(name) != nullptr) return;
        for (const yaml::Entry& row : table->rows.entries())
          known.emplace_back(row.key.as_string());
      }
      const std::string what =
          asked->as_string() == "tables"
              ? "no table `" + name + "`"
              : "no row `" + name + "` in table `" + std::string(asked->as_string()) + "`";
      sink_.error(kUnknownName, value.origin(), what).did_you_mean(name, known);
    });
  }

  void code(const Node& written) {
    const std::string name(written.as_string());
    if (name.starts_with("GPU9") || std::binary_search(pages_.begin(), pages_.end(), name)) {
      return;
    }
    sink_.error(kUnknownName, written.origin(), "no page docs/codes/" + name + ".md")
        .expect("a code with a page, or GPU9000 to GPU9999 for rules of your own")
        .did_you_mean(name, pages_);
  }

  Library& library_;
  const Formats& formats_;
  const Platform& platform_;
  diag::Sink& sink_;
  std::set<std::string> tables_;    // of all platforms
  std::vector<std::string> pages_;  // codes that have one, sorted
};

}  // namespace

void check_references(Library& library, const Formats& formats, const Platform& platform,
                      diag::Sink& sink) {
  ReferenceCheck check(library, formats, platform, sink);
  check.tables();
  check.files();
  check.paths();
  check.codes();
}

}  // namespace gpuctl::catalog
