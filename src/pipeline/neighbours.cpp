#include "pipeline/neighbours.hpp"

#include <array>
#include <set>
#include <string_view>
#include <variant>

#include "base/file.hpp"
#include "document/document.hpp"
#include "pipeline/foreign.hpp"
#include "pipeline/inputs.hpp"
#include "yaml/read.hpp"

namespace gpuctl::pipeline {

Neighbours::Neighbours(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    directories_[directory_of(file)].files.push_back({file, {}});
  }
}

std::vector<yaml::Node> Neighbours::beside(const std::string& file) {
  std::vector<yaml::Node> out;
  const auto found = directories_.find(directory_of(file));
  if (found == directories_.end() || found->second.files.size() < 2) return out;
  Directory& directory = found->second;
  std::call_once(directory.read, [&] { read(directory); });
  for (const File& other : directory.files) {
    if (other.name == file) continue;
    out.insert(out.end(), other.objects.begin(), other.objects.end());
  }
  return out;
}

void Neighbours::read(Directory& directory) {
  for (File& file : directory.files) {
    auto content = base::read_file(file.name, kMostInputBytes);
    std::string* text = std::get_if<std::string>(&content);
    if (text == nullptr || is_own(*text)) continue;
    diag::Sink unsaid;
    const diag::FileId id = directory.sources.add_file(file.name, std::move(*text));
    const auto documents =
        yaml::read_all(id, directory.sources, directory.arena, unsaid, foreign_limits());
    if (!documents) continue;
    std::vector<document::Placed> placed;
    for (const yaml::Node& document : *documents) {
      placed.push_back({yaml::without_origins(document, directory.arena), {}});
    }
    const yaml::Node objects = document::objects_of(placed, directory.arena);
    file.objects.assign(objects.items().begin(), objects.items().end());
  }
  if (!are_alternatives(directory.files)) return;
  for (File& file : directory.files) file.objects.clear();
}

bool Neighbours::are_alternatives(const std::vector<File>& files) {
  using Identity = std::array<std::string_view, 4>;
  std::set<Identity> seen;
  for (const File& file : files) {
    std::set<Identity> here;
    for (const yaml::Node& object : file.objects) {
      const std::string_view version = object.get("apiVersion").as_string();
      const std::string_view name = object.get("name").as_string();
      if (name.empty()) continue;
      here.insert({version.substr(0, version.find('/')), object.get("kind").as_string(),
                   object.get("namespace").as_string(), name});
    }
    for (const auto& one : here) {
      if (!seen.insert(one).second) return true;
    }
  }
  return false;
}

}  // namespace gpuctl::pipeline
