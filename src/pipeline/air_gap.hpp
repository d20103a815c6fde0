// What a cluster takes from elsewhere, and what of that an air gap keeps away.
#pragma once

#include "pipeline/load.hpp"
#include "pipeline/manifests.hpp"
#include "render/supplies.hpp"

namespace gpuctl::pipeline {

/// What the documents of a cluster want from elsewhere, by the names that it has there: those of
/// copies in mirrors of the blueprint are led back. What waits for a fact is a warning
/// GPU0604, and a package whose catalogue nobody knows GPU0441.
render::Supplies supplies_of(const Opened& opened, const Loaded& loaded,
                             const derive::Derived& derived, const render::Rendered& rendered,
                             yaml::Context context);

/// Where the blueprint says that the cluster reaches nothing but mirrors (`access.airGap`), what
/// none of them has: GPU0442 for each repository.
void check_air_gap(const Opened& opened, const Loaded& loaded, const derive::Derived& derived,
                   const render::Rendered& rendered, yaml::Context context);

}  // namespace gpuctl::pipeline
