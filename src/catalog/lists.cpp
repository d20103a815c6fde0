#include "catalog/lists.hpp"

#include "base/text.hpp"

namespace gpuctl::catalog {

std::vector<std::string> paths_of(std::string_view path) {
  const std::size_t bar = path.find('|');
  if (bar == std::string_view::npos) return {std::string(path)};
  const std::size_t dot = path.rfind('.', bar);
  const std::size_t begin = dot == std::string_view::npos ? 0 : dot + 1;
  const std::size_t end = path.find("[]", bar);
  if (end == std::string_view::npos) return {std::string(path)};
  std::vector<std::string> paths;
  for (const std::string_view list : base::split(path.substr(begin, end - begin), '|')) {
    paths.push_back(std::string(path.substr(0, begin)) + std::string(list) +
                    std::string(path.substr(end)));
  }
  return paths;
}

}  // namespace gpuctl::catalog
