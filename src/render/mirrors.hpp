// Registries that hold copies of what clusters pull.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "render/documents.hpp"

namespace gpuctl::render {

/// The name as mirrors have it: charts are called by URLs, copies are not.
std::string_view without_scheme(std::string_view name);

/// The mirrors that a blueprint names (`access.mirrors`): rows of `source` and `mirrors`. Names are
/// those of images, with or without tag and digest, of repositories, or of charts by their URL.
class Mirrors {
 public:
  explicit Mirrors(const yaml::Node& spec) : rows_(spec.get({"access", "mirrors"})) {}

  /// True when a mirror has what is called so. `*.example.com` as a source is all registries below
  /// a domain.
  bool have(std::string_view name) const;

  /// What it is called in the first mirror of the longest source that it is below; nothing when no
  /// mirror has it.
  std::optional<std::string> copy_of(std::string_view name) const;

  /// The names that a copy may have where it comes from; several where one mirror has several
  /// sources.
  std::vector<std::string> originals_of(std::string_view name) const;

 private:
  yaml::Node rows_;
};

/// Calls each image in the documents by its copy, in the fields that `supplies_of()` looks at, and
/// where images are (`repository`, `registry`) by the place of their copies; also addresses with
/// `oci://`, and those of `charts`, wherever they stand. What no mirror has keeps its name, and so
/// does what is encrypted as a whole.
void name_copies(std::vector<Document>& documents, const Mirrors& mirrors,
                 const std::set<std::string, std::less<>>& charts, yaml::Arena& arena);

}  // namespace gpuctl::render
