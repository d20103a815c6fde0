// One rendering of a blueprint that an import proposes, and how it compares with the manifests.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "importer/draft.hpp"
#include "imports/difference.hpp"
#include "imports/list_patch.hpp"

namespace gpuctl::importer {

/// An override that brings a document back to its object.
struct Override {
  std::size_t object = 0;
  yaml::Node item;   // {target, patch}; null: another one covers the object, too
  yaml::Node patch;  // a merge patch, or a list of operations
};

/// A manifest that is kept as it is.
struct Manifest {
  std::size_t object = 0;
  std::string layer;
  std::string path;  // relative to the blueprint
  std::string text;
};

/// What a blueprint has besides what the rows proposed.
struct Additions {
  std::vector<Override> overrides;
  std::vector<Manifest> manifests;

  bool empty() const { return overrides.empty() && manifests.empty(); }
};

/// One rendering of a proposal.
struct Attempt {
  imports::Proposal proposal;
  yaml::Node blueprint;
  std::map<std::string, std::string> files;  // as Draft has them
  pipeline::Result result;
  std::vector<imports::Made> made;
  std::vector<std::size_t> document;  // of `made`: position in the rendered documents
  std::vector<imports::Pair> pairs;
  std::size_t score = 0;  // the lower, the more alike

  const render::Document& document_of(const imports::Pair& pair) const {
    return result.rendered().documents[document[pair.made]];
  }
  std::size_t errors() const { return result.sink.error_count(); }
};

/// The name of the cluster in a blueprint.
std::string name_in(const yaml::Node& blueprint);

/// Renders proposals and compares them with the objects of an import.
class Attempts {
 public:
  explicit Attempts(const ImportContext& context) : context_(context), arena_(context.arena) {}

  /// What the rows make of the objects, read as a release reads them.
  imports::Proposal propose(const std::string& release);
  /// Renders and compares. Values that the schema of blueprints refuses are left out of it.
  Attempt make(imports::Proposal proposal, const Additions& additions);
  /// Renders once more, to say as well which fields overrides make idle.
  void find_shadowed(Attempt& attempt);

  /// Why an object that nothing is rendered for needs no place.
  std::optional<imports::LeftOut> left_out(const imports::Object& object,
                                           const imports::Proposal& proposal);
  /// What somebody in the cluster writes into the object, unless the blueprint has it, too.
  std::vector<imports::Ignored> ignored(const Attempt& attempt, const imports::Pair& pair);
  /// The fields of an object that must come back as they are.
  std::vector<imports::Ignored> kept(const Attempt& attempt, std::size_t object);
  /// The object, in the namespace of what refers to it where it says none.
  yaml::Node placed(const Attempt& attempt, std::size_t object);
  /// The object without what its document leaves to a secret.
  yaml::Node without_secrets(const Attempt& attempt, const imports::Pair& pair);
  /// The object as far as a committed document can, and need, be like it. Paths at which one of
  /// them only restates what holds without it are added to `restated`.
  yaml::Node wanted(const Attempt& attempt, const imports::Pair& pair,
                    std::vector<std::string>* restated = nullptr);
  /// True when document and object are the same, or read alike.
  bool alike(const Attempt& attempt, const imports::Pair& pair);
  /// The places in which object and document differ. What only the blueprint says is none when it
  /// is what a reader fills in.
  std::vector<imports::Difference> remaining(const Attempt& attempt, const imports::Pair& pair);
  /// The patch that makes the document like its object: only what its reader would see, if that is
  /// enough, and of lists only the items that differ, if that is.
  imports::SplitPatch patch(const Attempt& attempt, const imports::Pair& pair);

 private:
  yaml::Node read(const imports::Object& object, const std::string& release);
  yaml::Node completed(const Attempt& attempt, const yaml::Node& document);
  bool alike(const Attempt& attempt, const yaml::Node& wanted, const yaml::Node& made);
  yaml::Node merge_patch(const Attempt& attempt, const yaml::Node& object, const yaml::Node& body);
  yaml::Node with_additions(const yaml::Node& blueprint, const Additions& additions);
  void render(Attempt& attempt, const Additions& additions);
  void compare(Attempt& attempt);

  const ImportContext& context_;
  yaml::Arena& arena_;
};

}  // namespace gpuctl::importer
