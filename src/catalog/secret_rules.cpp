#include "catalog/secret_rules.hpp"

#include "catalog/wrapper.hpp"

namespace gpuctl::catalog {

std::vector<yaml::Node> secret_rules(Library& library) {
  std::vector<yaml::Node> out;
  for (const std::string& path : library.list("providers/", "/secrets/")) {
    const yaml::Node spec = spec_of(library, path);
    if (spec.is_map()) out.push_back(spec);
  }
  return out;
}

}  // namespace gpuctl::catalog
