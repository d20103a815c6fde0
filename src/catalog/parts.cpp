#include "catalog/parts.hpp"

#include <algorithm>
#include <map>
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
  std::string what;  // "tables", or "`spec` of a schema.yaml"
  std::set<std::string> known;
};

class Check {
 public:
  Check(Library& library, const Formats& formats, const Platform& platform, diag::Sink& sink)
      : library_(library), formats_(formats), platform_(platform), sink_(sink) {
    const auto fields = [](const schema::Schema& schema, std::string_view path) {
      std::set<std::string> out;
      const schema::Schema* at = schema::at(schema, path);
      const Node properties = at == nullptr ? Node() : schema::definition(*at).get("properties");
      for (const yaml::Entry& entry : properties.entries()) out.emplace(entry.key.as_string());
      return out;
    };
    Root tables{"catalog", "tables", {}};
    for (const Table& table : platform.tables) tables.known.insert(table.name);
    roots_ = {tables,
              {"spec", "schema.yaml", fields(*platform.blueprint, "spec")},
              {"facts", "facts.yaml", fields(*platform.facts, "")}};
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
    if (kind == "Template") body(library_.file(path)->get({"spec", "template"}));
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
        if (is_name(before) || before == '.' || before == '"' || before == '\'' ||
            end == cel.size() || cel[end] != '.') {
          continue;
        }
        const std::size_t start = ++end;
        while (end < cel.size() && is_name(cel[end])) ++end;
        const std::string name(cel.substr(start, end - start));
        const bool method = end < cel.size() && cel[end] == '(';
        if (!name.empty() && !method && !root.known.contains(name)) {
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
      if (names.empty()) first = places.front();
      names.push_back(root.variable == "spec" ? "`spec." + name + "`" : "`" + name + "`");
      uses += places.size();
    }
    if (uses < kFewestUses) return;
    const bool tables = root.variable == "catalog";
    sink_
        .error(kUnknownName, first.origin(),
               "platform `" + platform_.name + "` has no " +
                   (tables ? "tables " : root.what + " with ") + base::join(names, ", ") +
                   ", which " + std::to_string(uses) + " expressions ask for")
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
};

}  // namespace

void check_parts(Library& library, const Formats& formats, const Platform& platform,
                 diag::Sink& sink) {
  Check(library, formats, platform, sink).run();
}

}  // namespace gpuctl::catalog
