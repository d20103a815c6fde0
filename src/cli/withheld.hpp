// Documents of a cluster that wait for facts.
#pragma once

#include <vector>

#include "diag/diagnostic.hpp"
#include "pipeline/run.hpp"

namespace gpuctl::cli {

/// Which documents of a run wait for facts, and how to get these (notes GPU0604). What the
/// blueprint ignores of that is counted in `ignored`.
diag::Sink withheld_notes(const pipeline::Result& result, std::vector<pipeline::Ignored>& ignored);

}  // namespace gpuctl::cli
