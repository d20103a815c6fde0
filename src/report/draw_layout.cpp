#include <algorithm>
#include <map>

#include "report/drawings.hpp"

namespace gpuctl::report {

namespace {

constexpr int kUnitHeight = 26;
constexpr int kMemoryX = 28;
constexpr int kMemoryWidth = 150;
constexpr int kComputeX = 196;
constexpr int kComputeWidth = 64;
constexpr int kHead = 22;
constexpr std::size_t kHues = 5;

// What lost slices are filled with: oblique lines, which a printer without colours shows as well.
void define_hatch(const std::string& id, Markup& out) {
  out.open("defs").open("pattern", {{"id", id},
                                    {"width", "7"},
                                    {"height", "7"},
                                    {"patternUnits", "userSpaceOnUse"},
                                    {"patternTransform", "rotate(45)"}});
  out.open("rect", {{"width", "7"}, {"height", "7"}, {"class", "ground"}}).close();
  out.open("line", {{"x1", "1"}, {"x2", "1"}, {"y2", "7"}, {"class", "hatch"}}).close();
  out.close().close();
}

int slices_of(const gpu::MigClass& gpu, const std::string& profile) {
  const auto found = std::find_if(gpu.profiles.begin(), gpu.profiles.end(),
                                  [&](const gpu::MigProfile& one) { return one.name == profile; });
  return found == gpu.profiles.end() ? 0 : found->slices;
}

class Drawing {
 public:
  Drawing(const Layout& layout, const std::string& id, Markup& out)
      : layout_(layout), gpu_(layout.gpu), hatch_(id + "-x"), out_(out) {
    // One hue a profile, in the order of their places.
    for (const gpu::MigInstance& instance : layout.placed.placements) {
      hues_.try_emplace(instance.profile, "h" + std::to_string(hues_.size() % kHues));
    }
    if (layout.placed.lost_memory + layout.placed.lost_compute > 0) define_hatch(hatch_, out);
  }

  void head() {
    const auto word = [&](const std::string& text, int x, int y) {
      out_.element("text", text,
                   {{"x", std::to_string(x)}, {"y", std::to_string(y)}, {"class", "dim"}});
    };
    word("memory", kMemoryX, 14);
    word("compute", kComputeX, 14);
    for (int unit = 0; unit < gpu_.units; ++unit) {
      word(std::to_string(unit), 4, kHead + unit * kUnitHeight + 17);
    }
  }

  void memory() {
    const auto top = [](int unit) { return static_cast<double>(kHead + unit * kUnitHeight); };
    std::vector<bool> taken(static_cast<std::size_t>(gpu_.units), false);
    for (const gpu::MigInstance& instance : layout_.placed.placements) {
      block(kMemoryX, top(instance.start), kMemoryWidth,
            static_cast<double>(instance.size * kUnitHeight), hues_[instance.profile],
            instance.profile);
      for (int i = 0; i < instance.size; ++i) {
        taken[static_cast<std::size_t>(instance.start) + static_cast<std::size_t>(i)] = true;
      }
    }
    const std::vector<bool> usable = gpu::usable_units(gpu_, layout_.placed);
    for (int unit = 0; unit < gpu_.units; ++unit) {
      if (taken[static_cast<std::size_t>(unit)]) continue;
      const std::string kind = usable[static_cast<std::size_t>(unit)] ? "free" : "lost";
      block(kMemoryX, top(unit), kMemoryWidth, kUnitHeight, kind, kind);
    }
  }

  void compute() {
    for (const gpu::MigInstance& instance : layout_.placed.placements) {
      cells(slices_of(gpu_, instance.profile), hues_[instance.profile], "");
    }
    cells(layout_.placed.free_compute, "free", "free");
    cells(layout_.placed.lost_compute, "lost", "lost");
  }

 private:
  void cells(int count, const std::string& kind, const std::string& words) {
    const double height = static_cast<double>(gpu_.units * kUnitHeight) / gpu_.slices;
    for (int i = 0; i < count && slice_ < gpu_.slices; ++i, ++slice_) {
      block(kComputeX, kHead + slice_ * height, kComputeWidth, height, kind, words);
    }
  }

  // A rectangle with its words in the middle; `kind` is its class in the style sheet.
  void block(int x, double y, int width, double height, const std::string& kind,
             const std::string& words) {
    const auto at = [](double value) {
      return std::to_string(static_cast<int>(value)) + "." +
             std::to_string(static_cast<int>(value * 10) % 10);
    };
    out_.open("rect", {{"x", std::to_string(x)},
                       {"y", at(y + 1)},
                       {"width", std::to_string(width)},
                       {"height", at(height - 2)},
                       {"rx", "3"},
                       {"fill", kind == "lost" ? "url(#" + hatch_ + ")" : "none"},
                       {"class", kind}})
        .close();
    if (words.empty()) return;
    out_.element("text", words,
                 {{"x", std::to_string(x + width / 2)},
                  {"y", at(y + height / 2 + 4)},
                  {"class", "in " + kind}});
  }

  const Layout& layout_;
  const gpu::MigClass& gpu_;
  std::string hatch_;  // id of what lost slices are filled with
  std::map<std::string, std::string> hues_;
  int slice_ = 0;  // the next compute slice
  Markup& out_;
};

}  // namespace

std::string places_of(const Layout& layout) {
  std::string out;
  for (const gpu::MigInstance& instance : layout.placed.placements) {
    out += (out.empty() ? "" : ", ") + instance.profile + " at " + std::to_string(instance.start);
  }
  return out;
}

std::string words_of(const Layout& layout) {
  const gpu::MigPlacement& placed = layout.placed;
  if (!placed.ok) return "not placeable: " + placed.reason;
  const auto said = [](int all, int free, int lost) {
    return std::to_string(all - free - lost) + " of " + std::to_string(all) + " used, " +
           std::to_string(free) + " free, " + std::to_string(lost) + " lost";
  };
  return "memory slices: " + said(layout.gpu.units, placed.free_memory, placed.lost_memory) +
         "; compute slices: " + said(layout.gpu.slices, placed.free_compute, placed.lost_compute);
}

void draw_layout(const Layout& layout, const std::string& id, Markup& out) {
  const gpu::MigClass& gpu = layout.gpu;
  if (!layout.placed.ok || gpu.units <= 0 || gpu.slices <= 0) return;
  open_drawing(id, "MIG layout of " + layout.title + " in pool " + layout.pool,
               "Instances at memory slices: " + places_of(layout) + ". " + words_of(layout) + ".",
               kComputeX + kComputeWidth + 2, kHead + gpu.units * kUnitHeight + 2, out);
  Drawing drawing(layout, id, out);
  drawing.head();
  drawing.memory();
  drawing.compute();
  out.close();
}

}  // namespace gpuctl::report
