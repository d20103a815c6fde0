// Overrides: patches of a blueprint on rendered documents.
#pragma once

#include <vector>

#include "render/documents.hpp"
#include "yaml/merge_patch.hpp"

namespace gpuctl::render {

/// What it means that an override matches no document.
enum class NoMatch { error, warning, ignore };

/// Applies `spec.overrides`, in order. Targets are anchored regular expressions on group, version,
/// kind, namespace and name, a label selector, and the pool; a patch is an RFC 7386 merge patch or
/// a list of RFC 6902 operations. Documents that are no objects match by the kind of their
/// published schema, when the target names it. One that matches nothing is GPU0421 (a warning when
/// documents are withheld: it may be meant for one of them), a faulty one GPU0422; what patches may
/// cost together is limited (GPU0431, GPU0432).
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
