// Which rules look at a field.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "catalog/platform.hpp"
#include "fields/field.hpp"

namespace gpuctl::fields {

struct RuleAbout {
  std::string code;
  std::string severity;
  std::string message;  // as written, with `${...}`
};

/// The rules of the platform whose expressions read the field at this path (as Field has it), or a
/// part of it: by its whole path, or, in a list, by a name of their own for its items. Found in the
/// texts of the rules, so a rule that comes to the field through derived values alone is missed.
/// Sorted by code, each once.
std::vector<RuleAbout> rules_about(const catalog::Platform& platform, std::string_view path);

/// What the program itself checks of the field or a part of it, as the definition says
/// (`x-gpuctl-checks`); without messages. Sorted by code, each once.
std::vector<RuleAbout> checks_about(const Field& field);

}  // namespace gpuctl::fields
