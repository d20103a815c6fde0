// The known MIG classes, from the placement tables of `nvidia-smi mig -lgipp`.
#pragma once

#include "gpu/mig.hpp"

namespace gpuctl::gpu {

/// A100 80 GB and its relatives; without the media-engine variant of 1g when `me` is false.
inline MigClass class_7_8(bool me = true) {
  MigClass gpu{"7/8", 8, 7, {}, {}};
  gpu.profiles = {{"1g.10gb", 1, 1, {0, 1, 2, 3, 4, 5, 6}, 7, {}},
                  {"1g.20gb", 1, 2, {0, 2, 4, 6}, 4, {}},
                  {"2g.20gb", 2, 2, {0, 2, 4}, 3, {}},
                  {"3g.40gb", 3, 4, {0, 4}, 2, {}},
                  {"4g.40gb", 4, 4, {0}, 1, {}},
                  {"7g.80gb", 7, 8, {0}, 1, {}}};
  if (me) gpu.profiles.push_back({"1g.10gb+me", 1, 1, {0, 1, 2, 3, 4, 5, 6}, 1, {}});
  return gpu;
}

/// A30.
inline MigClass class_4_4() {
  return {"4/4",
          4,
          4,
          {{"1g.6gb", 1, 1, {0, 1, 2, 3}, 4, {}},
           {"1g.6gb+me", 1, 1, {0, 1, 2, 3}, 1, {{"ofa", 1}}},
           {"2g.12gb", 2, 2, {0, 2}, 2, {}},
           {"2g.12gb+me", 2, 2, {0, 2}, 1, {{"ofa", 1}}},
           {"4g.24gb", 4, 4, {0}, 1, {{"ofa", 1}}}},
          {{"ofa", 1}}};
}

/// RTX PRO 6000 Blackwell.
inline MigClass class_12_4() {
  const std::vector<int> quarters = {0, 3, 6, 9};
  const std::vector<int> halves = {0, 6};
  return {"12/4",
          12,
          4,
          {{"1g.24gb", 1, 3, quarters, 4, {{"nvdec", 1}}},
           {"1g.24gb+me", 1, 3, quarters, 1, {{"nvdec", 1}, {"ofa", 1}}},
           {"1g.24gb+gfx", 1, 3, quarters, 4, {{"nvdec", 1}}},
           {"1g.24gb+me.all", 1, 3, quarters, 1, {{"nvdec", 4}, {"ofa", 1}}},
           {"1g.24gb-me", 1, 3, quarters, 4, {}},
           {"2g.48gb", 2, 6, halves, 2, {{"nvdec", 2}}},
           {"2g.48gb+gfx", 2, 6, halves, 2, {{"nvdec", 2}}},
           {"2g.48gb+me.all", 2, 6, halves, 1, {{"nvdec", 4}, {"ofa", 1}}},
           {"2g.48gb-me", 2, 6, halves, 2, {}},
           {"4g.96gb", 4, 12, {0}, 1, {{"nvdec", 4}, {"ofa", 1}}},
           {"4g.96gb+gfx", 4, 12, {0}, 1, {{"nvdec", 4}, {"ofa", 1}}}},
          {{"nvdec", 4}, {"ofa", 1}}};
}

}  // namespace gpuctl::gpu
