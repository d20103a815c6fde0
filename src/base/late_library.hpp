// Libraries of others that are loaded when they are first needed. The build makes a jump for each
// function that is called in one (cmake/late_library.cmake).
#pragma once

#include <optional>
#include <string>

namespace gpuctl::base {

/// Opens the library `file` and fills the slots of its jumps. `names`: of the functions, one after
/// the other, an empty one at the end; as many `slots`. To be called once for a library, before the
/// first call into it. Gives the reason when it is not there or too old; nothing on success.
std::optional<std::string> load_late(const char* file, const char* names, void** slots);

}  // namespace gpuctl::base
