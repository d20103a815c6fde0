// The versions of a cluster: which ones a blueprint pins, and which of the others go with them.
// Axes come from `versions.yaml`, what must hold between them from rules with `between`.
#pragma once

#include <memory>

#include "derive/chooser.hpp"
#include "rule/rule.hpp"

namespace gpuctl::versions {

/// Compiles the axes of a platform; nullptr after diagnostics (GPU03xx, GPU0409). `rules` are those
/// of the platform, `environment` its base_environment(). `thorough` as for rules.
std::shared_ptr<const derive::Chooser> compile(const catalog::Platform& platform,
                                               std::shared_ptr<const cel::Environment> environment,
                                               std::shared_ptr<const rule::Rules> rules,
                                               bool thorough, diag::Sources& sources,
                                               diag::Sink& sink);

}  // namespace gpuctl::versions
