#include <algorithm>
#include <memory>
#include <optional>

#include "base/text.hpp"
#include "cli/mig_drawing.hpp"
#include "cli/mig_question.hpp"
#include "gpu/mig_order.hpp"

namespace gpuctl::cli {

namespace {

std::string order_text(const gpu::MigClass& gpu, const gpu::MigLayout& layout,
                       const std::vector<std::string>& order) {
  const gpu::MigOrder created = gpu::in_order(gpu, order);
  if (created.always) return "  order: as given, wherever the driver puts each instance\n";
  const std::vector<std::string> safe = gpu::safe_order(gpu, layout);
  std::string out = "  order: as given, `" + created.stuck + "` may find no place";
  std::vector<std::string> before;
  for (const gpu::MigInstance& instance : created.before) {
    before.push_back(instance.profile + " at " + std::to_string(instance.start));
  }
  if (!before.empty()) out += " (" + base::join(before, ", ") + ")";
  out += "\n";
  if (!safe.empty()) out += "  safe order: " + base::join(safe, ", ") + "\n";
  return out;
}

// A layout that somebody asked about.
struct AskedLayout {
  gpu::MigLayout layout;
  std::vector<std::string> order;  // in which its instances would be created
  gpu::MigPlacement placed;
};

AskedLayout asked(const gpu::MigClass& gpu, const MigCounts& counts) {
  AskedLayout out;
  for (const auto& [name, count] : counts) {
    // More than a GPU has units never fits; the rest only keeps the numbers small.
    const int few = static_cast<int>(std::min<std::int64_t>(count, gpu::kMostUnits + 1));
    out.layout[name] = std::min(out.layout[name] + few, gpu::kMostUnits + 1);
    if (out.order.size() <= gpu::kMostUnits) {
      out.order.insert(out.order.end(), static_cast<std::size_t>(few), name);
    }
  }
  out.placed = gpu::place(gpu, out.layout);
  return out;
}

std::string check_text(const std::string& name, const gpu::MigClass& gpu, const AskedLayout& asked,
                       bool drawn) {
  const gpu::MigPlacement& placed = asked.placed;
  std::string out = name + " " + text_of(asked.layout) + ": ";
  if (!placed.ok) {
    out += "not placeable, " + placed.reason + "\n";
    for (const gpu::MigLayout& near : placed.nearest) {
      out += "  placeable: " + text_of(near) + "\n";
    }
    return out;
  }
  out += "placeable\n";
  if (drawn) {
    out += draw_mig(gpu, placed);
  } else {
    std::vector<std::string> parts;
    for (const gpu::MigInstance& instance : placed.placements) {
      parts.push_back(instance.profile + " at " + std::to_string(instance.start));
    }
    out += "  places: " + base::join(parts, ", ") + "\n";
  }
  return out + "  compute slices: " + std::to_string(placed.lost_compute) + " lost, " +
         std::to_string(placed.free_compute) +
         " free; memory slices: " + std::to_string(placed.lost_memory) + " lost, " +
         std::to_string(placed.free_memory) + " free\n" +
         order_text(gpu, asked.layout, asked.order);
}

yaml::Node check_node(const std::string& name, const gpu::MigClass& gpu, const AskedLayout& asked,
                      yaml::Arena& arena) {
  const gpu::MigPlacement& placed = asked.placed;
  yaml::MapBuilder one;
  one.set(arena, "gpu", arena.string(name));
  one.set(arena, "layout", node_of(asked.layout, arena));
  one.set(arena, "ok", yaml::Node::boolean(placed.ok));
  if (!placed.ok) {
    std::vector<yaml::Node> nearest;
    for (const gpu::MigLayout& near : placed.nearest) nearest.push_back(node_of(near, arena));
    one.set(arena, "reason", arena.string(placed.reason));
    one.set(arena, "nearest", arena.list(nearest));
    return one.build(arena);
  }
  std::vector<yaml::Node> places;
  for (const gpu::MigInstance& instance : placed.placements) {
    yaml::MapBuilder place;
    place.set(arena, "profile", arena.string(instance.profile));
    place.set(arena, "start", yaml::Node::integer(instance.start));
    place.set(arena, "size", yaml::Node::integer(instance.size));
    places.push_back(place.build(arena));
  }
  one.set(arena, "placements", arena.list(places));
  one.set(arena, "lostCompute", yaml::Node::integer(placed.lost_compute));
  one.set(arena, "lostMemory", yaml::Node::integer(placed.lost_memory));
  one.set(arena, "freeCompute", yaml::Node::integer(placed.free_compute));
  one.set(arena, "freeMemory", yaml::Node::integer(placed.free_memory));
  one.set(arena, "anyOrder", yaml::Node::boolean(gpu::in_order(gpu, asked.order).always));
  return one.build(arena);
}

int run_check(const MigOptions& options, const GlobalOptions& global, bool drawn) {
  MigQuestion question(options, global);
  const std::optional<gpu::MigClass> gpu = question.gpu(options.gpu);
  if (!gpu) return kUsageError;
  std::string text;
  yaml::Arena arena;
  std::vector<yaml::Node> json;
  bool good = true;
  for (const std::string& written : options.layouts) {
    const std::optional<MigCounts> counts = question.counts(written);
    if (!counts) return kUsageError;
    const AskedLayout layout = asked(*gpu, *counts);
    good = good && layout.placed.ok;
    text += check_text(options.gpu, *gpu, layout, drawn);
    json.push_back(check_node(options.gpu, *gpu, layout, arena));
  }
  return question.answer(text, arena.list(json), good);
}

// Without a layout: all that cannot be added to.
int run_show(const MigOptions& options, const GlobalOptions& global) {
  if (!options.layouts.empty()) return run_check(options, global, true);
  MigQuestion question(options, global);
  const std::optional<gpu::MigClass> gpu = question.gpu(options.gpu);
  if (!gpu) return kUsageError;
  std::string text = options.gpu + ": " +
                     counted(static_cast<std::size_t>(gpu->units), "memory slice") + ", " +
                     counted(static_cast<std::size_t>(gpu->slices), "compute slice") + "\n";
  yaml::Arena arena;
  std::vector<yaml::Node> json;
  for (const gpu::MigOption& option : gpu::enumerate(*gpu)) {
    if (!option.maximal) continue;
    const gpu::MigPlacement placed = gpu::place(*gpu, option.layout);
    text += text_of(option.layout);
    if (placed.lost_compute != 0 || placed.lost_memory != 0) {
      text += "  (" + std::to_string(placed.lost_compute) + " compute, " +
              std::to_string(placed.lost_memory) + " memory lost)";
    }
    text += "\n" + draw_mig(*gpu, placed);
    yaml::MapBuilder one;
    one.set(arena, "layout", node_of(option.layout, arena));
    one.set(arena, "lostCompute", yaml::Node::integer(placed.lost_compute));
    one.set(arena, "lostMemory", yaml::Node::integer(placed.lost_memory));
    json.push_back(one.build(arena));
  }
  return question.answer(text, arena.list(json), true);
}

std::shared_ptr<MigOptions> add_options(Options& command) {
  auto options = std::make_shared<MigOptions>();
  command.add_option("--gpu", options->gpu, "GPU model, as in `gpuctl catalog gpus`")
      .required()
      .type_name("MODEL");
  command.add_option("-o,--output", options->output, "text or json").one_of({"text", "json"});
  return options;
}

void add_layouts(Options& command, MigOptions& options, bool required) {
  command
      .add_option("--layout", options.layouts,
                  "Instances of one GPU in the order of their creation; again for another GPU")
      .required(required)
      .expected(1)
      .take_all()
      .type_name("PROFILE:COUNT,...");
}

RunFunction set_up_check(Options& command, const GlobalOptions& global) {
  auto options = add_options(command);
  add_layouts(command, *options, true);
  return [options, &global] { return run_check(*options, global, false); };
}

RunFunction set_up_show(Options& command, const GlobalOptions& global) {
  auto options = add_options(command);
  add_layouts(command, *options, false);
  return [options, &global] { return run_show(*options, global); };
}

}  // namespace

Command mig_command() {
  return {"mig",
          "Check, show and plan partitions of GPUs (MIG)",
          "Example:\n  gpuctl mig check --gpu MODEL --layout 3g.20gb:1,1g.5gb:4\n",
          nullptr,
          {{"check", "Say whether layouts fit, and where",
            "Exit code 0: every layout is placeable, 1: one is not.\n\n"
            "Example:\n"
            "  gpuctl mig check --gpu MODEL --layout 3g.20gb:1,2g.10gb:1,1g.5gb:1\n",
            set_up_check},
           {"show", "Draw layouts, or all that leave no room",
            "Example:\n"
            "  gpuctl mig show --gpu MODEL --layout 3g.20gb:2\n"
            "  gpuctl mig show --gpu MODEL\n",
            set_up_show},
           mig_plan_command()}};
}

}  // namespace gpuctl::cli
