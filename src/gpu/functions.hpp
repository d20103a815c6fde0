// MIG for expressions.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "cel/program.hpp"
#include "gpu/mig.hpp"

namespace gpuctl::gpu {

/// A row of the catalogue table `migClasses`: `name`, `units`, `slices` and `profiles`, a list of
/// {name, slices, units, starts, most}; class and profiles may have `media`, a map from a kind of
/// engine to a number. Gives the fault as text when the row is not usable.
std::variant<MigClass, std::string> read_class(const yaml::Node& row);

/// `mig.place(class, {profile: count})` and `mig.list(class)`; the result of the first has the
/// fields of MigPlacement: ok, reason, placements, maximal, lostCompute, lostMemory, freeCompute,
/// freeMemory, nearest.
std::vector<cel::Function> functions();

}  // namespace gpuctl::gpu
