#include "render/mirrors.hpp"

#include <algorithm>

#include "render/supplies.hpp"

namespace gpuctl::render {

namespace {

using Addresses = std::set<std::string, std::less<>>;

// True when an image, or a repository, is the place or below it.
bool is_at(std::string_view name, std::string_view place) {
  if (!name.starts_with(place)) return false;
  return name.size() == place.size() ||
         std::string_view("/:@").find(name[place.size()]) != std::string_view::npos;
}

// An image in parts by its copy: the repository is what changes. Nothing when there is none, or
// when the copy has another name.
std::optional<std::string> repository_of_copy(const yaml::Node& node, const Mirrors& mirrors) {
  const std::string whole = image_of_parts(node);
  if (whole.empty()) return std::nullopt;
  const std::optional<std::string> copy = mirrors.copy_of(whole);
  if (!copy) return std::nullopt;
  const std::string_view repository = node.get("repository").as_string();
  const std::string_view rest = std::string_view(whole).substr(repository.size());
  if (!copy->ends_with(rest)) return std::nullopt;
  return copy->substr(0, copy->size() - rest.size());
}

// True for a field that says where images are: registry and path, to which names are added.
bool names_a_place(std::string_view field) {
  return field == "repository" || field == "registry";
}

class Naming {
 public:
  Naming(const Mirrors& mirrors, const Addresses& charts, yaml::Arena& arena)
      : mirrors_(mirrors), charts_(charts), arena_(arena) {}

  // The same node when nothing in it changes.
  yaml::Node named(const yaml::Node& node, bool& changed) {
    if (node.is_list()) return list(node, changed);
    return node.is_map() ? map(node, changed) : node;
  }

 private:
  yaml::Node list(const yaml::Node& node, bool& changed) {
    bool here = false;
    std::vector<yaml::Node> items;
    for (const yaml::Node& item : node.items()) items.push_back(named(item, here));
    changed = changed || here;
    return here ? arena_.list(items, node.origin()) : node;
  }

  yaml::Node map(const yaml::Node& node, bool& changed) {
    bool here = false;
    yaml::MapBuilder out;
    for (const yaml::Entry& entry : node.entries()) {
      out.set(entry.key, value(entry, here));
    }
    if (const auto repository = repository_of_copy(node, mirrors_)) {
      out.set(arena_, "repository", arena_.string(*repository, node.get("repository").origin()));
      here = true;
    }
    changed = changed || here;
    return here ? out.build(arena_, node.origin()) : node;
  }

  yaml::Node value(const yaml::Entry& entry, bool& changed) {
    if (!entry.value.is_string()) return named(entry.value, changed);
    const std::string_view text = entry.value.as_string();
    const std::string_view field = entry.key.as_string();
    const bool address = text.starts_with("oci://") || charts_.contains(text);
    const bool image = (names_an_image(field) || names_a_place(field)) && is_image_reference(text);
    if (!address && !image) return entry.value;
    const std::string_view bare = address ? without_scheme(text) : text;
    const std::optional<std::string> copy = mirrors_.copy_of(bare);
    if (!copy) return entry.value;
    changed = true;
    const std::string_view scheme = text.substr(0, text.size() - bare.size());
    return arena_.string(std::string(scheme) + *copy, entry.value.origin());
  }

  const Mirrors& mirrors_;
  const Addresses& charts_;
  yaml::Arena& arena_;
};

}  // namespace

std::string_view without_scheme(std::string_view name) {
  const std::size_t end = name.find("://");
  return end == std::string_view::npos ? name : name.substr(end + 3);
}

bool Mirrors::have(std::string_view name) const {
  const std::string_view bare = without_scheme(name);
  const auto items = rows_.items();
  return std::any_of(items.begin(), items.end(), [&](const yaml::Node& row) {
    const std::string_view source = row.get("source").as_string();
    if (!source.starts_with("*.")) return is_at(bare, source);
    return bare.substr(0, bare.find('/')).ends_with(source.substr(1));
  });
}

std::optional<std::string> Mirrors::copy_of(std::string_view name) const {
  std::string_view longest;
  std::string_view mirror;
  for (const yaml::Node& row : rows_.items()) {
    const std::string_view source = row.get("source").as_string();
    if (!is_at(name, source) || source.size() <= longest.size()) continue;
    longest = source;
    mirror = row.get("mirrors").items().front().as_string();
  }
  if (longest.empty()) return std::nullopt;
  return std::string(mirror) + std::string(name.substr(longest.size()));
}

std::vector<std::string> Mirrors::originals_of(std::string_view name) const {
  const std::string_view bare = without_scheme(name);
  const std::string_view scheme = name.substr(0, name.size() - bare.size());
  std::vector<std::string> out;
  for (const yaml::Node& row : rows_.items()) {
    const std::string_view source = row.get("source").as_string();
    if (source.starts_with("*.")) continue;
    for (const yaml::Node& mirror : row.get("mirrors").items()) {
      const std::string_view copy = mirror.as_string();
      if (!is_at(bare, copy)) continue;
      out.push_back(std::string(scheme) + std::string(source) +
                    std::string(bare.substr(copy.size())));
    }
  }
  return out;
}

void name_copies(std::vector<Document>& documents, const Mirrors& mirrors, const Addresses& charts,
                 yaml::Arena& arena) {
  Naming naming(mirrors, charts, arena);
  for (Document& document : documents) {
    if (document.raw || document.authentic) continue;
    bool changed = false;
    document.body = naming.named(document.body, changed);
  }
}

}  // namespace gpuctl::render
