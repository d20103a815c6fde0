// Which MIG instances fit on one GPU together, and where.
//
// A GPU has placement units (its memory axis) and compute slices. An instance of a profile takes
// `units` contiguous units from one of a fixed list of starts, and `slices` compute slices. A
// layout is placeable when non-overlapping positions exist for all its instances, no profile is
// used more often than it may be, and compute slices and media engines suffice. Order does not
// matter: that is the state the driver reaches on an empty GPU.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gpuctl::gpu {

struct MigProfile {
  std::string name;
  int slices = 0;  // compute slices: the 3 of 3g
  int units = 0;   // placement units
  std::vector<int> starts;
  int most = 0;                      // instances a GPU can have of it
  std::map<std::string, int> media;  // engines one instance takes, may be empty
};

/// GPUs with the same profiles and placement rules.
struct MigClass {
  std::string name;
  int units = 0;
  int slices = 0;
  std::vector<MigProfile> profiles;
  std::map<std::string, int> media;  // engines of the GPU; a kind not named here is not limited
};

/// Profile name to number of instances.
using MigLayout = std::map<std::string, int>;

struct MigInstance {
  std::string profile;
  int start = 0;
  int size = 0;  // units
  friend bool operator==(const MigInstance&, const MigInstance&) = default;
};

struct MigPlacement {
  bool ok = false;
  std::string reason;                   // why not ok: "needs 8 of 7 compute slices"
  std::vector<MigInstance> placements;  // by start
  /// Nothing can be added to the layout.
  bool maximal = false;
  /// Compute slices and units that no instance can use any more, whatever is added; and those that
  /// the best addition would use. used + lost + free is what the GPU has.
  int lost_compute = 0;
  int lost_memory = 0;
  int free_compute = 0;
  int free_memory = 0;
  /// When not ok: placeable layouts after taking away as few instances as possible; those that use
  /// most of the GPU first, at most three.
  std::vector<MigLayout> nearest;
};

/// A placeable layout, from enumerate().
struct MigOption {
  MigLayout layout;
  bool maximal = false;
};

inline constexpr int kMostUnits = 64;
inline constexpr std::size_t kMostProfiles = 64;

/// What is wrong with a class ("profile `1g`: start 9 is outside"), or "". Everything below takes
/// only classes without a fault.
std::string fault_of(const MigClass& gpu);

/// Places a layout. Of all ways it takes the one that loses least compute, then least memory, then
/// leaves most profiles placeable, then has the lowest starts. Counts of 0 do not matter; unknown
/// names and negative counts are not ok.
MigPlacement place(const MigClass& gpu, const MigLayout& counts);

/// For each unit of a GPU whether an instance more could use it, while the others lie as they do.
/// Units that are neither taken nor usable are lost.
std::vector<bool> usable_units(const MigClass& gpu, const MigPlacement& placed);

/// All placeable layouts but the empty one, ordered by their counts in the class's profile order.
std::vector<MigOption> enumerate(const MigClass& gpu);

/// What is wrong with a name that no profile of the class has.
std::string no_profile(const MigClass& gpu, const std::string& name);

/// Profile names, fewest compute slices first, then fewest units, then as in the class.
std::vector<std::string> list(const MigClass& gpu);

}  // namespace gpuctl::gpu
