// What derivations and rules of the platform `lab` see.
#pragma once

#include "derive/environment.hpp"
#include "support/knowledge.hpp"

namespace gpuctl::testing {

/// Compiled at once; faults are in `lab.sink`.
inline derive::Scope scope_of(Lab& lab) {
  return derive::scope_of(*lab.platform, derive::base_environment(*lab.platform), true,
                          lab.library->sources(), lab.sink);
}

}  // namespace gpuctl::testing
