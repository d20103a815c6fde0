// Overrides: patches of a blueprint on rendered documents.
#pragma once

#include <set>
#include <span>
#include <vector>

#include "render/documents.hpp"
#include "yaml/merge_patch.hpp"

namespace gpuctl::render {

/// What it means that an override matches no document.
enum class NoMatch { error, warning, ignore };

/// `spec.overrides`, which are applied in order. Targets are anchored regular expressions on group,
/// version, kind, namespace and name, a label selector, and the pool; a patch is an RFC 7386 merge
/// patch or a list of RFC 6902 operations. Documents that are no objects match by the kind of their
/// published schema, when the target names it; what is made of the list of all others (`phase:
/// index`) too only matches a target that names its kind. A faulty override is GPU0422; what
/// patches may cost together is limited (GPU0431, GPU0432).
class Overrides {
 public:
  /// `items` and `arena` must outlive this.
  Overrides(const yaml::Node& items, yaml::Arena& arena) : items_(items), arena_(arena) {}

  void apply(std::span<Document> documents, diag::Sink& sink);

  /// Reports those that matched nothing in any call of apply(), once, GPU0421; a warning when
  /// documents are withheld, since they may be meant for one of them. Where the indexes are yet to
  /// come, those that name a kind are left for a later call.
  void report_unmatched(std::span<const Document> documents, bool indexes_follow, NoMatch no_match,
                        diag::Sink& sink);

 private:
  yaml::Node items_;
  yaml::Arena& arena_;
  yaml::PatchBudget budget_;
  std::set<std::size_t> settled_;  // matched something, are faulty, or were reported
};

/// One call for all documents.
void apply_overrides(const yaml::Node& overrides, std::vector<Document>& documents,
                     NoMatch no_match, yaml::Arena& arena, diag::Sink& sink);

/// "MachineSet `name`", as messages name a document.
std::string title_of(const yaml::Node& body);

/// RFC 6902 operations; nothing after a diagnostic (GPU0422, GPU0431), or with a budget that is
/// exhausted.
std::optional<yaml::Node> json_patch(const yaml::Node& target, const yaml::Node& operations,
                                     yaml::Arena& arena, yaml::PatchBudget& budget,
                                     diag::Sink& sink);

}  // namespace gpuctl::render
