// What a change does to what runs: a closed list, mildest first.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace gpuctl::effects {

/// The classes, ordered. Those from `refused` on are no degree of harm: nothing that was allowed
/// covers them.
enum class Effect : std::uint8_t {
  none,
  install_only,      // only an installation reads it
  metadata,          // labels and the like, which nothing acts on
  new_machines,      // machines that come; those that are there keep the old
  operands,          // pods of operators restart, workloads live
  gpu_pods,          // pods that use GPUs are evicted or killed
  drain,             // nodes are cordoned and drained
  node_reboot,       // and restarted
  node_recreate,     // nodes are replaced one after the other, with their disks
  machines_deleted,  // for good
  pool_recreate,     // nothing less will do it
  upgrade,           // of an operator or of the cluster: everything that this brings
  refused,           // the API, a webhook or a controller will not have it
  unknown,           // no row of knowledge says
};

/// As it is written: "gpu-pods".
std::string_view name_of(Effect effect);
/// All names, in order.
const std::vector<std::string_view>& effect_names();
std::optional<Effect> effect_named(std::string_view name);

/// True when a limit does not allow it. What is refused or unknown exceeds every limit.
bool exceeds(Effect effect, Effect limit);

}  // namespace gpuctl::effects
