// Variables of the environment, of which git and ssh have their own.
#pragma once

#include <cstdlib>
#include <string>

namespace gpuctl::git {

/// The value of a variable of the environment; empty when it is not set.
inline std::string variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());  // NOLINT: nothing here sets the environment
  return value == nullptr ? "" : value;
}

}  // namespace gpuctl::git
