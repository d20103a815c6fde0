#include "effects/effect.hpp"

#include <algorithm>

namespace gpuctl::effects {

const std::vector<std::string_view>& effect_names() {
  static const std::vector<std::string_view> names = {
      "none",          "install-only", "metadata",    "new-machines",  "operands",
      "gpu-pods",      "drain",        "node-reboot", "node-recreate", "machines-deleted",
      "pool-recreate", "upgrade",      "refused",     "unknown"};
  return names;
}

std::string_view name_of(Effect effect) {
  return effect_names().at(static_cast<std::size_t>(effect));
}

std::optional<Effect> effect_named(std::string_view name) {
  const auto& names = effect_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Effect>(found - names.begin());
}

bool exceeds(Effect effect, Effect limit) {
  return effect >= Effect::refused || effect > limit;
}

}  // namespace gpuctl::effects
