// The manifests that an import is made of.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "document/document.hpp"
#include "schema/kind_ref.hpp"

namespace gpuctl::imports {

/// A manifest as somebody maintains it: without what servers write into it, and without secrets.
struct Object {
  std::string file;
  schema::KindRef kind;  // for documents without a kind of their own, the published one
  std::string name;      // with the namespace before it, if there is one: "space/name"
  yaml::Node written;
  yaml::Node whole;                   // with what servers wrote
  diag::Origin at = diag::kNoOrigin;  // its first key
  bool secrets_dropped = false;       // it held values of secrets
  std::vector<std::string> urls;      // paths at which URLs had a user and a password
  std::optional<std::size_t> twin;    // another object of this name, which stands for both
};

/// A document that is no object: nothing knows it.
struct Unknown {
  std::string file;
  diag::Origin at = diag::kNoOrigin;
};

/// The name of an object, with the namespace before it if there is one: "space/name".
std::string name_of(const yaml::Node& document);

/// Turns the documents of a file into objects; a List becomes its items. What is null is skipped.
/// `kinds` of the platform decide which documents without kind or name are known.
void add_objects(const std::string& file, const std::vector<yaml::Node>& documents,
                 const document::Kinds& kinds, diag::Sources& sources, yaml::Arena& arena,
                 std::vector<Object>& objects, std::vector<Unknown>& unknown);

/// Finds objects of one kind and name, and gives all but one of them their `twin`: the fullest
/// stands for them (a patch for another tool says little), of equals the first.
void find_twins(std::vector<Object>& objects);

/// The object as a reader of a release decodes it; as written when nothing knows its kind. Texts of
/// a ConfigMap that hold YAML are the trees that they hold.
yaml::Node read(const Object& object, const std::string& release, const document::Kinds& kinds,
                diag::Sources& sources, yaml::Arena& arena);

/// The document as a reader of a release sees it, defaults filled in; as written when nothing knows
/// its kind.
yaml::Node completed(const yaml::Node& document, const std::string& release,
                     const document::Kinds& kinds, diag::Sources& sources, yaml::Arena& arena);

}  // namespace gpuctl::imports
