// Documents that hold what another kind holds, at other places.
#pragma once

#include <optional>
#include <string>

#include "diag/diagnostic.hpp"
#include "yaml/node.hpp"

namespace gpuctl::document {

/// The document in the shape of the kind that `judgedAs` of its own names: `sets` maps paths to
/// values, `places` maps paths to those of the document. Nothing when the kind names none.
std::optional<yaml::Node> likeness(const yaml::Node& judged_as, const yaml::Node& document,
                                   yaml::Arena& arena);

/// The finding, about the likeness, with the paths of the document instead of its own, in texts
/// between backticks; what was not moved keeps its path.
diag::Diagnostic behind(const yaml::Node& judged_as, diag::Diagnostic finding);

}  // namespace gpuctl::document
