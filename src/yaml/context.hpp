// What stages share: where texts are, where trees live, where findings go.
#pragma once

#include "diag/diagnostic.hpp"
#include "diag/sources.hpp"
#include "yaml/node.hpp"

namespace gpuctl::yaml {

/// The three things that nearly every stage works with. Cheap to copy; owns nothing.
struct Context {
  diag::Sources& sources;
  Arena& arena;
  diag::Sink& sink;

  /// The same with another sink: for findings that are looked at before they are said.
  Context into(diag::Sink& other) const { return {sources, arena, other}; }
};

}  // namespace gpuctl::yaml
