// What a cluster takes from registries, catalogues of operators and repositories of charts.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "render/documents.hpp"

namespace gpuctl::render {

/// A kind of supply, and the texts that tell one of it apart, in the order in which they sort.
struct SupplyKind {
  std::string_view name;  // "images"
  std::vector<std::string_view> fields;
};

/// All kinds, in the order in which they are shown.
std::span<const SupplyKind> supply_kinds();

/// A supply by the texts of its fields, and the documents that want it: paths of files, or of
/// templates of the phase `supplies`.
using SuppliesOfKind = std::map<std::vector<std::string>, std::set<std::string>>;

/// Supplies by kind. Those of several clusters merge.
class Supplies {
 public:
  const SuppliesOfKind& of(std::string_view kind) const;
  void add(std::string_view kind, std::vector<std::string> fields, std::string wanted_by);
  void remove(std::string_view kind, const std::vector<std::string>& fields);
  void merge(const Supplies& other);

  /// A map of lists, with all kinds; `wanted_by` adds who wants each.
  yaml::Node tree(bool wanted_by, yaml::Arena& arena) const;

 private:
  std::map<std::string, SuppliesOfKind, std::less<>> by_kind_;
};

/// True for a text that names an image in full: a registry and a path, no address of a web page.
bool is_image_reference(std::string_view text);

/// True for a field that may name an image: `image`, or a name that ends so.
bool names_an_image(std::string_view field);

/// An image in parts, as custom resources of operators have it: `repository` (registry and path),
/// `image` (its name) and `version` (tag or digest), all of them. Empty when the map is none.
std::string image_of_parts(const yaml::Node& node);

/// What the documents want: images in fields named `image` or ending so, also in parts
/// (`repository`, `image`, `version`), and what templates of the phase `supplies` say. One of these
/// may be `insteadOf` such an image, where another is pulled than stands in the document. A
/// document of these that has another form is GPU0414; those that wait for a fact are in
/// `withheld`.
Supplies supplies_of(const Templates& templates, const Cluster& cluster, const Rendered& rendered,
                     std::vector<Withheld>& withheld, yaml::Context context);

}  // namespace gpuctl::render
