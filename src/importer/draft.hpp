// A blueprint in the making: proposed from manifests, rendered, compared with them, mended.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "imports/mapping.hpp"
#include "imports/objects.hpp"
#include "imports/pairs.hpp"
#include "pipeline/run.hpp"

namespace gpuctl::importer {

/// Something of the manifests that the blueprint's documents do not have.
struct Loss {
  std::size_t object = 0;
  std::string path;       // empty: the whole object
  yaml::Node wanted;      // null: the manifest has nothing there
  yaml::Node made;        // null: the rendered document has nothing there
  std::string because;    // may be empty
  std::string harm = {};  // why the import fails by it; empty when it does not
};

/// How an object comes back.
enum class Fate { equal, overridden, manifest, left_out, lost };

/// What an import works with.
struct ImportContext {
  const std::vector<imports::Object>& objects;
  const pipeline::Compiled& platform;
  const imports::Mapping& mapping;
  pipeline::Knowledge& knowledge;
  diag::Sources& sources;
  yaml::Arena& arena;
  std::string directory;              // of the files to be written: "" or with a slash at its end
  std::string date;                   // that rules go by
  std::vector<std::string> releases;  // that come into question, oldest first; may be empty
};

/// The outcome of an import.
struct Draft {
  std::map<std::string, std::string> files;    // to be written: path -> content
  std::vector<Fate> fates;                     // one an object
  std::map<std::size_t, std::string> reasons;  // of objects that are left out on purpose
  std::map<std::string, std::vector<std::size_t>> ignored;     // "`path`: reason" -> objects
  std::map<std::size_t, std::vector<std::string>> overridden;  // paths, by object
  std::map<std::size_t, std::vector<std::string>> restated;    // paths, by object
  std::vector<Loss> losses;
  std::set<std::size_t> secrets;  // objects whose secrets are references in the blueprint
  std::vector<imports::Assumption> assumptions;
  std::vector<std::string> added;  // paths of documents that no object stands for
  pipeline::Result trial;          // the last rendering of the blueprint
};

/// Makes the blueprint under which the documents come out most like the manifests; of releases that
/// do equally well the newest. What the blueprint cannot say becomes an override, what it does not
/// make a manifest of its own. Whatever is still missing then is a loss: all of them are found by
/// rendering and comparing, whatever the rows of the mapping did.
Draft make_draft(const ImportContext& context);

}  // namespace gpuctl::importer
