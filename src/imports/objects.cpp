#include "imports/objects.hpp"

#include <algorithm>
#include <map>

#include "document/match.hpp"
#include "imports/difference.hpp"
#include "secrets/urls.hpp"
#include "yaml/held.hpp"

namespace gpuctl::imports {

namespace {

using yaml::Node;

// Fields of metadata that only a server writes (Kubernetes API conventions, ObjectMeta).
constexpr std::string_view kFieldsOfServers[] = {
    "uid",           "resourceVersion",   "generation",       "selfLink",
    "managedFields", "creationTimestamp", "deletionTimestamp"};
// Annotations of tools that say what they did, and ours.
constexpr std::string_view kToolAnnotations[] = {"kubectl.kubernetes.io/last-applied-configuration",
                                                 "deployment.kubernetes.io/revision"};
constexpr std::string_view kOwnAnnotations = "gpuctl.dev/";

Node cleaned_metadata(const Node& metadata, yaml::Arena& arena) {
  yaml::MapBuilder out(metadata);
  for (const std::string_view field : kFieldsOfServers) out.remove(field);
  const Node before = metadata.get("annotations");
  if (before.is_map()) {
    yaml::MapBuilder annotations(before);
    for (const std::string_view key : kToolAnnotations) annotations.remove(key);
    for (const yaml::Entry& entry : before.entries()) {
      const std::string_view key = entry.key.as_string();
      if (key.starts_with(kOwnAnnotations)) annotations.remove(key);
    }
    if (annotations.empty()) {
      out.remove("annotations");
    } else {
      out.set(arena, "annotations", annotations.build(arena, before.origin()));
    }
  }
  return out.build(arena, metadata.origin());
}

Node cleaned(const Node& document, yaml::Arena& arena) {
  yaml::MapBuilder out(document);
  if (document.get("kind").is_string()) out.remove("status");
  const yaml::Entry* metadata = document.find_entry("metadata");
  if (metadata != nullptr && metadata->value.is_map()) {
    out.set(metadata->key, cleaned_metadata(metadata->value, arena));
  }
  return out.build(arena, document.origin());
}

// Programs keep settings in ConfigMaps as texts: with the trees that these hold, rows can look into
// them.
Node with_held_trees(const Node& document, yaml::Arena& arena) {
  const Node data = document.get("data");
  if (document.get("kind").as_string() != "ConfigMap" || !data.is_map()) return document;
  yaml::MapBuilder texts;
  for (const yaml::Entry& entry : data.entries()) {
    const std::optional<Node> tree = yaml::held_tree(entry.value, arena);
    texts.set(entry.key, tree ? *tree : entry.value);
  }
  yaml::MapBuilder out(document);
  out.set(arena, "data", texts.build(arena, data.origin()));
  return out.build(arena, document.origin());
}

// Takes users and passwords out of all URLs of a tree.
class UrlCleaner {
 public:
  UrlCleaner(diag::Sources& sources, yaml::Arena& arena, std::vector<std::string>& paths)
      : sources_(sources), arena_(arena), paths_(paths) {}

  Node clean(const Node& tree, const std::string& path) {
    if (tree.is_list()) {
      std::vector<Node> items;
      for (const Node& item : tree.items()) {
        items.push_back(clean(item, path + "[" + std::to_string(items.size()) + "]"));
      }
      return arena_.list(items, tree.origin());
    }
    if (tree.is_map()) {
      yaml::MapBuilder out(tree);
      for (const yaml::Entry& entry : tree.entries()) {
        out.set(entry.key, clean(entry.value, step_below(path, entry.key.as_string())));
      }
      return out.build(arena_, tree.origin());
    }
    if (!tree.is_string() || tree.as_string().find("://") == std::string_view::npos) return tree;
    const std::string open = secrets::without_credentials(tree.as_string());
    if (open == tree.as_string()) return tree;
    sources_.hide(tree.origin());
    paths_.push_back(path);
    return arena_.string(open, tree.origin());
  }

 private:
  diag::Sources& sources_;
  yaml::Arena& arena_;
  std::vector<std::string>& paths_;
};

}  // namespace

void add_objects(const std::string& file, const std::vector<Node>& documents,
                 const document::Kinds& kinds, diag::Sources& sources, yaml::Arena& arena,
                 std::vector<Object>& objects, std::vector<Unknown>& unknown) {
  for (const Node& document : documents) {
    if (document.is_null()) continue;
    const Node items = document.get("items");
    if (document.get("kind").as_string().ends_with("List") && items.is_list()) {
      add_objects(file, {items.items().begin(), items.items().end()}, kinds, sources, arena,
                  objects, unknown);
      continue;
    }
    Object object;
    object.file = file;
    object.at = document::start_of(document);
    object.kind = schema::KindRef::of(document);
    const auto match = document::match(kinds.platform().documents, document);
    if (object.kind.empty() && match) {
      const Node& published = kinds.platform().documents[match->kind].published;
      if (published.is_map()) object.kind = schema::KindRef::written(published);
    }
    if (object.kind.empty()) {
      unknown.push_back({file, object.at});
      continue;
    }
    object.name = name_of(document);
    const Node open =
        UrlCleaner(sources, arena, object.urls).clean(kinds.without_secrets(document, arena), {});
    object.secrets_dropped = !yaml::equal(open, document);
    object.written = cleaned(open, arena);
    object.whole = open;
    objects.push_back(std::move(object));
  }
}

std::string name_of(const Node& document) {
  const Node metadata = document.get("metadata");
  const std::string space(metadata.get("namespace").as_string());
  return (space.empty() ? "" : space + "/") + std::string(metadata.get("name").as_string());
}

void find_twins(std::vector<Object>& objects) {
  std::map<std::string, std::size_t> kept;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const schema::KindRef& kind = objects[i].kind;
    if (objects[i].name.empty()) continue;
    const auto [place, fresh] =
        kept.emplace(kind.group + "/" + kind.kind + " " + objects[i].name, i);
    if (!fresh && leaves(objects[place->second].written) < leaves(objects[i].written)) {
      place->second = i;
    }
  }
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const schema::KindRef& kind = objects[i].kind;
    const auto found = kept.find(kind.group + "/" + kind.kind + " " + objects[i].name);
    if (found != kept.end() && found->second != i) objects[i].twin = found->second;
  }
}

Node read(const Object& object, const std::string& release, const document::Kinds& kinds,
          diag::Sources& sources, yaml::Arena& arena) {
  document::Context context;
  context.release = release;
  const auto decoded = kinds.read(object.whole, context, false, sources, arena);
  return with_held_trees(decoded ? *decoded : object.whole, arena);
}

Node completed(const Node& document, const std::string& release, const document::Kinds& kinds,
               diag::Sources& sources, yaml::Arena& arena) {
  document::Context context;
  context.release = release;
  return kinds.read(document, context, true, sources, arena).value_or(document);
}

}  // namespace gpuctl::imports
