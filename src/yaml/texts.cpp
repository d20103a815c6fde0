#include "yaml/texts.hpp"

namespace gpuctl::yaml {

std::string text_of(const Node& map, std::string_view field) {
  return std::string(map.get(field).as_string());
}

std::vector<std::string> texts_of(const Node& list) {
  std::vector<std::string> out;
  for (const Node& item : list.items()) out.emplace_back(item.as_string());
  return out;
}

std::vector<std::string> texts_of(const Node& map, std::string_view field) {
  return texts_of(map.get(field));
}

}  // namespace gpuctl::yaml
