#include "diagnose/evidence.hpp"

namespace gpuctl::diagnose {

namespace {

constexpr std::string_view kList = "List";

}  // namespace

std::size_t Evidence::add_object(const yaml::Node& object, std::string_view api_version,
                                 std::string_view kind, const std::string& file) {
  if (!object.is_map()) return 0;
  const std::size_t slash = api_version.find('/');
  const std::string_view group =
      slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
  const KindRow* row = chain_.kind(group, kind);
  if (row == nullptr) return 1;
  known_.insert(row->name);
  if (names_.insert(row->name + "\n" + name_of(kind, object)).second) {
    objects_[row->name].push_back({object, file});
  }
  return 1;
}

std::size_t Evidence::add(const yaml::Node& document, const std::string& file, yaml::Arena& arena) {
  const std::string_view kind = document.get("kind").as_string();
  const std::string_view api_version = document.get("apiVersion").as_string();
  if (kind.empty() || api_version.empty()) return 0;
  const yaml::Node items = document.get("items");
  if (!kind.ends_with(kList) || !(items.is_list() || items.is_null())) {
    return add_object(document, api_version, kind, file);
  }
  // The items of a typed list do not say what they are.
  const std::string_view of_items = kind.substr(0, kind.size() - kList.size());
  std::size_t count = 0;
  if (!of_items.empty()) {
    const std::size_t slash = api_version.find('/');
    const KindRow* row = chain_.kind(
        slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash),
        of_items);
    if (row != nullptr) known_.insert(row->name);
    ++count;
  }
  for (const yaml::Node& item : items.items()) {
    if (item.find("kind") != nullptr) {
      count += add(item, file, arena);
    } else {
      yaml::MapBuilder named(item);
      named.set(arena, "apiVersion", document.get("apiVersion"));
      named.set(arena, "kind", arena.string(of_items));
      count += add_object(named.build(arena, item.origin()), api_version, of_items, file);
    }
  }
  return count;
}

const std::vector<Object>& Evidence::of(std::string_view kind) const {
  static const std::vector<Object> kNone;
  const auto found = objects_.find(kind);
  return found == objects_.end() ? kNone : found->second;
}

std::string name_of(std::string_view kind, const yaml::Node& object) {
  const std::string_view space = object.get({"metadata", "namespace"}).as_string();
  std::string out(kind);
  out += ' ';
  if (!space.empty()) out += std::string(space) + "/";
  return out + std::string(object.get({"metadata", "name"}).as_string());
}

}  // namespace gpuctl::diagnose
