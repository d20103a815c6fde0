// JSON as other programs print it, as nodes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "yaml/node.hpp"

namespace gpuctl::yaml {

/// Deepest nesting that is read.
inline constexpr std::size_t kMostJsonDepth = 200;

/// Reads one JSON text (RFC 8259). Keys keep their order; of a key that stands twice the last value
/// counts. Integers that do not fit 64 bits with sign become reals. Nodes have no origin. Nothing
/// for what is no JSON or nests too deep; `why` then says what is wrong, without any of the text.
std::optional<Node> read_json(std::string_view text, Arena& arena, std::string& why);

}  // namespace gpuctl::yaml
