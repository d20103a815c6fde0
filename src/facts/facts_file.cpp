#include "facts/facts_file.hpp"

#include <fnmatch.h>
#include <unistd.h>

#include "base/file.hpp"
#include "base/text.hpp"
#include "catalog/wrapper.hpp"
#include "yaml/emit.hpp"
#include "yaml/merge_patch.hpp"

namespace gpuctl::facts {

std::string facts_file(const std::string& cluster_name, const yaml::Node& known,
                       const yaml::Node& learned, yaml::Arena& arena) {
  yaml::MapBuilder metadata;
  metadata.set(arena, "name", arena.string(cluster_name));
  yaml::MapBuilder out;
  out.set(arena, "apiVersion", yaml::Node::view(catalog::kApiVersion));
  out.set(arena, "kind", yaml::Node::view("Facts"));
  out.set(arena, "metadata", metadata.build(arena));
  out.set(arena, "spec", yaml::merge_patch(known, learned, arena));
  return yaml::emit(out.build(arena));
}

std::vector<std::string> find_files(const std::string& directory, const std::string& pattern) {
  std::vector<std::string> paths = {directory};
  for (const std::string_view part : base::split(pattern, '/')) {
    const std::string name(part);
    std::vector<std::string> below;
    for (const std::string& path : paths) {
      if (name.find('*') == std::string::npos) {
        below.push_back(path + "/" + name);
        continue;
      }
      auto listed = base::list_directory(path);
      const auto* names = std::get_if<std::vector<std::string>>(&listed);
      if (names == nullptr) continue;
      for (const std::string& candidate : *names) {
        if (::fnmatch(name.c_str(), candidate.c_str(), FNM_PERIOD) == 0) {
          below.push_back(path + "/" + candidate);
        }
      }
    }
    paths = std::move(below);
  }
  std::erase_if(paths, [](const std::string& path) { return ::access(path.c_str(), F_OK) != 0; });
  return paths;
}

std::string find_file(const std::string& directory, const std::string& pattern) {
  const std::vector<std::string> found = find_files(directory, pattern);
  return found.empty() ? std::string() : found.front();
}

}  // namespace gpuctl::facts
