#include "catalog/wrapper.hpp"

#include "catalog/codes.hpp"

namespace gpuctl::catalog {

yaml::Node spec_of(Library& library, const std::string& path, std::string_view kind,
                   diag::Sink& sink) {
  const yaml::Node* tree = library.file(path);
  if (tree == nullptr) return {};
  if (tree->get("apiVersion").as_string() == kApiVersion && tree->get("kind").as_string() == kind &&
      tree->get("spec").is_map()) {
    return tree->get("spec");
  }
  sink.error(kKnowledgeFile, tree->origin(), "`" + path + "` is no " + std::string(kind))
      .expect("apiVersion " + std::string(kApiVersion) + ", kind " + std::string(kind) +
              " and a map `spec`");
  return {};
}

}  // namespace gpuctl::catalog
