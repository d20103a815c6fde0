#include "catalog/wrapper.hpp"

namespace gpuctl::catalog {

yaml::Node spec_of(Library& library, const std::string& path) {
  const yaml::Node* tree = library.file(path);
  return tree == nullptr ? yaml::Node() : tree->get("spec");
}

}  // namespace gpuctl::catalog
