// Documents that are laid over each other: bases, and what extends them.
#pragma once

#include <span>
#include <string_view>

#include "yaml/context.hpp"

namespace gpuctl::blueprint {

/// The field by which an item of a list of named things takes that of a base away.
inline constexpr std::string_view kRemove = "remove";

/// Merges documents, the later over the earlier. `definition` is their schema as written:
///
/// - maps merge key by key, null takes a value away (RFC 7386);
/// - lists with `x-kubernetes-list-type: map` merge item by item, by their keys; an item with its
///   keys and `remove: true` takes that item away, others keep their place, new ones come last;
/// - other lists and scalars are replaced;
/// - below fields that the schema leaves open, values are patches themselves: null stays there.
///
/// Nodes keep their origins; a map or list that several wrote has that of the last. A map against
/// a list or scalar is GPU0804, `remove` with other fields GPU0805; the earlier value stays. What
/// takes away nothing is the warning GPU0806.
yaml::Node merge(const yaml::Node& definition, std::span<const yaml::Node> documents,
                 yaml::Context context);

}  // namespace gpuctl::blueprint
