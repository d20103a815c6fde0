#include "render/limits.hpp"

#include <algorithm>

namespace gpuctl::render {

namespace {

constexpr std::size_t kScalarBytes = 5;  // quotes or digits, a comma, a colon

void count(const yaml::Node& node, std::size_t above, std::size_t most_bytes,
           std::size_t most_depth, Extent& out) {
  const std::size_t depth = node.is_scalar() ? above : above + 1;
  out.depth = std::max(out.depth, depth);
  out.bytes += kScalarBytes;
  if (node.is_string()) out.bytes += node.as_string().size();
  out.fits = out.fits && out.bytes <= most_bytes && depth <= most_depth;
  if (!out.fits) return;
  for (const yaml::Node& item : node.items()) {
    count(item, depth, most_bytes, most_depth, out);
    if (!out.fits) return;
  }
  for (const yaml::Entry& entry : node.entries()) {
    out.bytes += entry.key.as_string().size();
    count(entry.value, depth, most_bytes, most_depth, out);
    if (!out.fits) return;
  }
}

}  // namespace

Extent extent_of(const yaml::Node& tree, std::size_t most_bytes, std::size_t most_depth) {
  Extent out;
  count(tree, 0, most_bytes, most_depth, out);
  return out;
}

}  // namespace gpuctl::render
