// The items of a fleet's entries: what stands behind `item` and `cluster` in its expressions.
#pragma once

#include <memory>
#include <optional>

#include "cel/program.hpp"
#include "fleet/fleet.hpp"

namespace gpuctl::fleet {

/// Every combination of the items of the lists of a map, the last list the fastest: a list of maps.
/// Nothing when they are more than `most`.
std::optional<yaml::Node> combinations(const yaml::Node& matrix, std::size_t most,
                                       yaml::Arena& arena);

/// The type of `item` where it is one of these maps: fields that only some have may be absent.
cel::Type item_type(const yaml::Node& rows);

/// The names that expressions may use: `item`, where there is one, for what names a cluster; then
/// `cluster` as well.
std::shared_ptr<const cel::Environment> name_environment(const std::optional<cel::Type>& item);
std::shared_ptr<const cel::Environment> entry_environment(const std::optional<cel::Type>& item);
std::shared_ptr<const cel::Environment> stage_environment();

/// `cluster` of an expression: name, stage and labels.
yaml::Node cluster_value(const Cluster& cluster, yaml::Arena& arena);

/// The last of the documents that merge to a cluster's blueprint: its own `spec` with what names
/// it. `written`: the entry.
yaml::Node own_document(const Cluster& cluster, const yaml::Node& spec, const yaml::Node& written,
                        yaml::Arena& arena);

}  // namespace gpuctl::fleet
