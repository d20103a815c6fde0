#include "catalog/parts.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/text.hpp"
#include "catalog/codes.hpp"
#include "catalog/wrapper.hpp"

namespace gpuctl::catalog {

namespace {

using yaml::Node;

// Fewer are mistakes in expressions.
constexpr std::size_t kFewestUses = 3;

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// A variable of expressions whose fields come from parts of provider folders.
struct Root {
  std::string_view variable;
  std::string what;  // "tables/", or the name of the file
  std::set<std::string> known;
  /// Fields that are declared, and that nothing gives a value: with them, no other name counts.
  std::optional<std::set<std::string>> unset = {};
};

std::set<std::string> fields(const schema::Schema& schema, std::string_view path) {
  std::set<std::string> out;
  const schema::Schema* at = path.empty() ? &schema : schema::at(schema, path);
  const Node properties = at == nullptr ? Node() : schema::definition(*at).get("properties");
  for (const yaml::Entry& entry : properties.entries()) out.emplace(entry.key.as_string());
  return out;
}

// Declared fields of the derived tree that no row sets.
std::set<std::string> never_set(const Platform& platform) {
  std::set<std::string> out = fields(*platform.derived, "");
  for (const Node& row : platform.derivations) {
    const std::string_view path = row.get("set").as_string();
    out.erase(std::string(path.substr(0, path.find_first_of(".["))));
  }
  return out;
}

class PartCheck {
 public:
  PartCheck(Library& library, const Formats& formats, const Platform& platform, diag::Sink& sink)
      : library_(library), formats_(formats), platform_(platform), sink_(sink) {
    Root tables{"catalog", "tables/", {}};
    for (const Table& table : platform.tables) tables.known.insert(table.name);
    roots_ = {tables,
              {"spec", "schema.yaml", fields(*platform.blueprint, "spec")},
              {"facts", "facts.yaml", fields(*platform.facts, "")},
              {"cluster", "derive.yaml", {}, never_set(platform)}};
  }

  void run() {
    for (const std::string& folder : platform_.builds) {
      const std::string prefix = "providers/" + folder + "/";
      for (const auto& [kind, file] : kFiles) {
        for (const std::string& path : library_.list(prefix + file)) look_into(kind, path);
      }
      derived(folder);
    }
    for (const std::string& path : platform_.templates) look_into("Template", path);
    for (const Root& root : roots_) report(root);
  }

 private:
  static constexpr std::pair<const char*, const char*> kFiles[] = {
      {"Variables", "variables.yaml"}, {"Derivation", "derive.yaml"}, {"Versions", "versions.yaml"},
      {"Rules", "rules.yaml"},         {"Rules", "rules/"},
  };

  void look_into(const std::string& kind, const std::string& path) {
    formats_.visit(kind, *library_.file(path), [&](const Node& definition, const Node& value) {
      const std::string_view cel = definition.get("x-gpuctl-cel").as_string();
      if (cel == "expression") expression(value.as_string(), value);
      if (cel == "text") text(value);
    });
    const Node spec = library_.file(path)->get("spec");
    if (kind == "Template") body(spec.get("template"));
    if (kind == "Derivation") {
      for (const Node& row : spec.get("rows").items()) body(row.get("template"));
    }
  }

  void body(const Node& node) {
    for (const yaml::Entry& entry : node.entries()) {
      text(entry.key);
      body(entry.value);
    }
    for (const Node& item : node.items()) body(item);
    if (node.is_string()) text(node);
  }

  // The expressions in a text; where they end does not matter here.
  void text(const Node& value) {
    const std::vector<std::string_view> parts = base::split(value.as_string(), '$');
    for (std::size_t i = 1; i < parts.size(); ++i) {
      if (parts[i].starts_with('{')) expression(parts[i], value);
    }
  }

  void expression(std::string_view cel, const Node& at) {
    for (const Root& root : roots_) {
      for (std::size_t found = cel.find(root.variable); found != std::string_view::npos;
           found = cel.find(root.variable, found + 1)) {
        const char before = found == 0 ? ' ' : cel[found - 1];
        std::size_t end = found + root.variable.size();
        // `.?spec` asks an object for its own field, as `.spec` does.
        const bool field = before == '.' || cel.substr(0, found).ends_with(".?");
        if (is_name(before) || field || before == '"' || before == '\'' || end == cel.size() ||
            cel[end] != '.') {
          continue;
        }
        const std::size_t start = ++end;
        while (end < cel.size() && is_name(cel[end])) ++end;
        const std::string name(cel.substr(start, end - start));
        const bool method = end < cel.size() && cel[end] == '(';
        if (name.empty() || method) continue;
        // A field that somebody asks for with has() may be absent.
        if (cel.substr(0, found).ends_with("has(")) may_lack_[root.variable].insert(name);
        if (root.unset ? root.unset->contains(name) : !root.known.contains(name)) {
          uses_[root.variable][name].push_back(at);
        }
      }
    }
  }

  void report(const Root& root) {
    const std::vector<std::string> known(root.known.begin(), root.known.end());
    std::size_t uses = 0;
    std::vector<std::string> names;
    Node first;
    for (const auto& [name, places] : uses_[root.variable]) {
      if (!base::nearest(name, known).empty()) continue;
      if (root.unset && may_lack_[root.variable].contains(name)) continue;
      if (names.empty()) first = places.front();
      const bool whole = root.variable == "spec" || root.variable == "cluster";
      names.push_back("`" + (whole ? std::string(root.variable) + "." : "") + name + "`");
      uses += places.size();
    }
    // What is declared is not misspelt; nor is what a folder asks for that declares nothing.
    const bool sure =
        root.unset || library_.list("providers/" + platform_.name + "/" + root.what).empty();
    if (names.empty() || (!sure && uses < kFewestUses)) return;
    const bool tables = root.variable == "catalog";
    sink_
        .error(kUnknownName, first.origin(),
               "platform `" + platform_.name + "` has no " +
                   (!tables             ? root.what + " with "
                    : names.size() == 1 ? "table "
                                        : "tables ") +
                   base::join(names, ", ") + ", which " + std::to_string(uses) +
                   (uses == 1 ? " expression asks for" : " expressions ask for"))
        .expect((tables ? "tables/*.yaml" : root.what) + " in one of providers/ " +
                base::join(platform_.builds, ", "));
  }

  // A folder whose rows set what it does not declare, because it declares nothing.
  void derived(const std::string& folder) {
    const std::string prefix = "providers/" + folder + "/";
    if (library_.file(prefix + "derived.yaml") != nullptr) return;
    std::vector<std::string> paths;
    Node first;
    for (const Node& row : spec_of(library_, prefix + "derive.yaml").get("rows").items()) {
      const Node set = row.get("set");
      const std::string name = "`" + std::string(set.as_string()) + "`";
      if (schema::at(*platform_.derived, set.as_string()) != nullptr ||
          std::find(paths.begin(), paths.end(), name) != paths.end()) {
        continue;
      }
      if (paths.empty()) first = set;
      paths.push_back(name);
    }
    if (paths.size() < kFewestUses) return;
    sink_
        .error(kUnknownName, first.origin(),
               "platform `" + platform_.name + "` has no derived.yaml with " +
                   base::join(paths, ", ") + ", which `derive.yaml` sets")
        .expect(prefix + "derived.yaml");
  }

  Library& library_;
  const Formats& formats_;
  const Platform& platform_;
  diag::Sink& sink_;
  std::vector<Root> roots_;
  // Of each variable the names that it does not have, and where they are asked for.
  std::map<std::string_view, std::map<std::string, std::vector<Node>>> uses_;
  // Of each variable the names that some expression takes for optional.
  std::map<std::string_view, std::set<std::string>> may_lack_;
};

}  // namespace

void check_parts(Library& library, const Formats& formats, const Platform& platform,
                 diag::Sink& sink) {
  PartCheck(library, formats, platform, sink).run();
}

}  // namespace gpuctl::catalog
