// Writes nodes as YAML: byte-stable, block style, two spaces, and every string quoted that a YAML
// 1.1 or 1.2 reader could take for something else.
#pragma once

#include <string>

#include "yaml/node.hpp"

namespace gpuctl::yaml {

/// Appends the document to `out`, with a final newline. Map keys are written in order; keys that
/// are no strings are written as strings.
void emit(const Node& node, std::string& out);
std::string emit(const Node& node);

/// Compact JSON in the same order. NaN and infinities become null.
std::string emit_json(const Node& node);

}  // namespace gpuctl::yaml
