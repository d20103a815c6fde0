#include <algorithm>
#include <memory>
#include <optional>
#include <variant>

#include "base/text.hpp"
#include "cli/codes.hpp"
#include "cli/command.hpp"
#include "cli/mig_drawing.hpp"
#include "gpu/functions.hpp"
#include "gpu/mig_order.hpp"
#include "gpu/mig_plan.hpp"
#include "yaml/emit.hpp"

namespace gpuctl::cli {

namespace {

struct MigOptions {
  std::string gpu;
  std::vector<std::string> gpus;  // of a plan
  std::vector<std::string> layouts;
  std::string demand;
  int per_node = 0;
  int headroom = 0;
  std::string objective = "gpus";
  std::string output = "text";
};

// A profile and how many of it, in the order in which they were given.
using Counts = std::vector<std::pair<std::string, std::int64_t>>;

// "1g.5gb:2,3g.20gb"; nothing after a usage error.
std::optional<Counts> read_counts(const std::string& text, diag::Sink& sink) {
  Counts out;
  for (const std::string_view part : base::split(text, ',')) {
    const std::size_t colon = part.find(':');
    const std::string name(part.substr(0, colon));
    const std::string digits(colon == std::string_view::npos ? "1" : part.substr(colon + 1));
    const bool number =
        !digits.empty() && digits.size() <= 9 &&
        std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (name.empty() || !number) {
      sink.error(kUsage, diag::kNoOrigin, "`" + shown(part) + "` is no profile with a number")
          .expect("PROFILE:COUNT, several with commas, such as `1g.5gb:2,3g.20gb:1`");
      return std::nullopt;
    }
    out.emplace_back(name, std::stoll(digits));
  }
  return out;
}

// The class of a GPU model, or of a class itself.
std::optional<gpu::MigClass> class_of(const std::string& name, Knowledge& knowledge,
                                      diag::Sink& sink) {
  for (const std::string& platform_name : catalog::platforms(knowledge.library())) {
    const std::shared_ptr<const catalog::Platform> platform =
        catalog::load_platform(knowledge.library(), platform_name, diag::kNoOrigin, sink);
    if (platform == nullptr) return std::nullopt;
    const catalog::Table* models = platform->table("gpus");
    const catalog::Table* classes = platform->table("migClasses");
    if (models == nullptr || classes == nullptr) continue;
    std::vector<std::string> known;
    for (const yaml::Entry& entry : models->rows.entries()) {
      if (entry.value.get("migClass").is_string()) known.emplace_back(entry.key.as_string());
    }
    for (const yaml::Entry& entry : classes->rows.entries()) {
      known.emplace_back(entry.key.as_string());
    }
    const yaml::Node model = models->rows.get(name);
    const yaml::Node row = classes->rows.get(model.is_map() ? model.get("migClass").as_string()
                                                            : std::string_view(name));
    if (!row.is_map()) {
      sink.error(kUsage, diag::kNoOrigin,
                 model.is_map() ? "`" + shown(name) + "` cannot be partitioned"
                                : "unknown GPU model `" + shown(name) + "`")
          .expect("one of " + base::join(known, ", "))
          .did_you_mean(name, known);
      return std::nullopt;
    }
    auto read = gpu::read_class(row);
    if (auto* made = std::get_if<gpu::MigClass>(&read)) return std::move(*made);
    sink.error(kUsage, diag::kNoOrigin, "`" + shown(name) + "`: " + std::get<std::string>(read));
    return std::nullopt;
  }
  sink.error(kUsage, diag::kNoOrigin, "no platform has tables of GPUs");
  return std::nullopt;
}

std::string text_of(const gpu::MigLayout& layout) {
  std::vector<std::string> parts;
  for (const auto& [name, count] : layout) parts.push_back(name + ":" + std::to_string(count));
  return base::join(parts, ",");
}

yaml::Node node_of(const gpu::MigLayout& layout, yaml::Arena& arena) {
  yaml::MapBuilder out;
  for (const auto& [name, count] : layout) out.set(arena, name, yaml::Node::integer(count));
  return out.build(arena);
}

// What the commands have in common: knowledge, the class, the answer.
class Question {
 public:
  Question(const MigOptions& options, const GlobalOptions& global)
      : options_(options), global_(global), report_(global) {}

  // The class of a GPU model; nothing after shown errors.
  std::optional<gpu::MigClass> gpu(const std::string& name) {
    Knowledge* knowledge = open_knowledge(global_, report_);
    if (knowledge == nullptr) return std::nullopt;
    diag::Sink sink;
    std::optional<gpu::MigClass> out = class_of(name, *knowledge, sink);
    report_.show(sink, knowledge->library().sources());
    return out;
  }

  std::optional<Counts> counts(const std::string& text) {
    diag::Sink sink;
    std::optional<Counts> out = read_counts(text, sink);
    report_.show(sink, diag::Sources());
    return out;
  }

  int answer(const std::string& text, const yaml::Node& json, bool good) {
    const bool as_json = options_.output == "json";
    if (!print(as_json ? yaml::emit_json(json) + "\n" : text, global_)) return kFindings;
    return good ? kOk : kFindings;
  }

  bool draw() const { return options_.output != "json"; }

 private:
  const MigOptions& options_;
  const GlobalOptions& global_;
  Report report_;
};

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

int run_check(const MigOptions& options, const GlobalOptions& global, bool drawn) {
  Question question(options, global);
  const std::optional<gpu::MigClass> gpu = question.gpu(options.gpu);
  if (!gpu) return kUsageError;
  std::string text;
  yaml::Arena arena;
  std::vector<yaml::Node> json;
  bool good = true;
  for (const std::string& written : options.layouts) {
    const std::optional<Counts> counts = question.counts(written);
    if (!counts) return kUsageError;
    gpu::MigLayout layout;
    std::vector<std::string> order;
    for (const auto& [name, count] : *counts) {
      // More than a GPU has units never fits; the rest only keeps the numbers small.
      const int few = static_cast<int>(std::min<std::int64_t>(count, gpu::kMostUnits + 1));
      layout[name] = std::min(layout[name] + few, gpu::kMostUnits + 1);
      if (order.size() <= gpu::kMostUnits)
        order.insert(order.end(), static_cast<std::size_t>(few), name);
    }
    const gpu::MigPlacement placed = gpu::place(*gpu, layout);
    good = good && placed.ok;
    text += options.gpu + " " + text_of(layout) + ": " +
            (placed.ok ? "placeable" : "not placeable, " + placed.reason) + "\n";
    yaml::MapBuilder one;
    one.set(arena, "gpu", arena.string(options.gpu));
    one.set(arena, "layout", node_of(layout, arena));
    one.set(arena, "ok", yaml::Node::boolean(placed.ok));
    if (placed.ok) {
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
      one.set(arena, "anyOrder", yaml::Node::boolean(gpu::in_order(*gpu, order).always));
      if (drawn) {
        text += draw_mig(*gpu, placed);
      } else {
        std::vector<std::string> parts;
        for (const gpu::MigInstance& instance : placed.placements) {
          parts.push_back(instance.profile + " at " + std::to_string(instance.start));
        }
        text += "  places: " + base::join(parts, ", ") + "\n";
      }
      text += "  compute slices: " + std::to_string(placed.lost_compute) + " lost, " +
              std::to_string(placed.free_compute) +
              " free; memory units: " + std::to_string(placed.lost_memory) + " lost, " +
              std::to_string(placed.free_memory) + " free\n" + order_text(*gpu, layout, order);
    } else {
      std::vector<yaml::Node> nearest;
      for (const gpu::MigLayout& near : placed.nearest) {
        text += "  placeable: " + text_of(near) + "\n";
        nearest.push_back(node_of(near, arena));
      }
      one.set(arena, "reason", arena.string(placed.reason));
      one.set(arena, "nearest", arena.list(nearest));
    }
    json.push_back(one.build(arena));
  }
  return question.answer(text, arena.list(json), good);
}

// Without a layout: all that cannot be added to.
int run_show(const MigOptions& options, const GlobalOptions& global) {
  if (!options.layouts.empty()) return run_check(options, global, true);
  Question question(options, global);
  const std::optional<gpu::MigClass> gpu = question.gpu(options.gpu);
  if (!gpu) return kUsageError;
  std::string text = options.gpu + ": " +
                     counted(static_cast<std::size_t>(gpu->units), "memory unit") + ", " +
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

// The demand by profiles of one GPU; a reason when the GPU has none that is large enough.
std::variant<gpu::MigDemand, std::string> demand_of(const gpu::MigClass& gpu, const Counts& counts,
                                                    int headroom) {
  gpu::MigDemand demand;
  for (const auto& [wanted, count] : counts) {
    constexpr std::int64_t kWhole = 100;
    const std::string profile = gpu::profile_for(gpu, wanted);
    // What is no size either gets the reason that plan() has for an unknown name.
    const bool size = wanted.ends_with("gb") || wanted.ends_with("g");
    if (profile.empty() && size && wanted.find_first_not_of("0123456789.gb") == std::string::npos) {
      return "has no profile of `" + shown(wanted) + "` or more";
    }
    demand[profile.empty() ? wanted : profile] +=
        (count * (kWhole + headroom) + kWhole - 1) / kWhole;
  }
  return demand;
}

// One GPU model that was asked for, and what it takes.
struct Answer {
  std::string name;
  gpu::MigPlan plan;
  double unused = 0;  // part of the memory of its GPUs that the demand leaves
};

Answer planned(const std::string& name, const gpu::MigClass& gpu, const Counts& counts,
               int headroom) {
  Answer out;
  out.name = name;
  const auto demand = demand_of(gpu, counts, headroom);
  if (const auto* reason = std::get_if<std::string>(&demand)) {
    out.plan.reason = *reason;
    return out;
  }
  out.plan = gpu::plan(gpu, std::get<gpu::MigDemand>(demand));
  std::int64_t used = 0;
  for (const gpu::MigShare& share : out.plan.shares) {
    for (const gpu::MigProfile& profile : gpu.profiles) {
      const auto found = share.layout.find(profile.name);
      if (found != share.layout.end()) used += share.gpus * found->second * profile.units;
    }
  }
  const std::int64_t all = out.plan.gpus * gpu.units;
  out.unused = all == 0 ? 0 : static_cast<double>(all - used) / static_cast<double>(all);
  return out;
}

std::string text_of(const Answer& answer, int per_node) {
  const gpu::MigPlan& plan = answer.plan;
  if (!plan.ok) return answer.name + ": " + plan.reason + "\n";
  const auto count = [](std::int64_t number, const char* noun) {
    return counted(static_cast<std::size_t>(number), noun);
  };
  std::string text = answer.name + ": " + count(plan.gpus, "GPU");
  if (per_node > 0) {
    text += ", " + count((plan.gpus + per_node - 1) / per_node, "machine") + " with " +
            std::to_string(per_node) + " each";
  }
  text += plan.optimal() ? "; no plan takes fewer\n"
                         : "; no plan takes fewer than " + std::to_string(plan.at_least) + "\n";
  for (const gpu::MigShare& share : plan.shares) {
    text += "  " + count(share.gpus, "GPU") + ": " + text_of(share.layout) + "\n";
  }
  return text + "  lost: " + count(plan.lost_compute, "compute slice") + ", " +
         count(plan.lost_memory, "memory unit") +
         (plan.least_lost ? "; no plan with as many GPUs loses less\n" : "\n");
}

yaml::Node node_of(const Answer& answer, int per_node, yaml::Arena& arena) {
  const gpu::MigPlan& plan = answer.plan;
  yaml::MapBuilder json;
  json.set(arena, "gpu", arena.string(answer.name));
  json.set(arena, "ok", yaml::Node::boolean(plan.ok));
  if (!plan.ok) {
    json.set(arena, "reason", arena.string(plan.reason));
    return json.build(arena);
  }
  std::vector<yaml::Node> shares;
  for (const gpu::MigShare& share : plan.shares) {
    yaml::MapBuilder one;
    one.set(arena, "gpus", yaml::Node::integer(share.gpus));
    one.set(arena, "layout", node_of(share.layout, arena));
    shares.push_back(one.build(arena));
  }
  json.set(arena, "gpus", yaml::Node::integer(plan.gpus));
  json.set(arena, "atLeast", yaml::Node::integer(plan.at_least));
  if (per_node > 0) {
    json.set(arena, "machines", yaml::Node::integer((plan.gpus + per_node - 1) / per_node));
  }
  json.set(arena, "shares", arena.list(shares));
  json.set(arena, "lostCompute", yaml::Node::integer(plan.lost_compute));
  json.set(arena, "lostMemory", yaml::Node::integer(plan.lost_memory));
  return json.build(arena);
}

int run_plan(const MigOptions& options, const GlobalOptions& global) {
  Question question(options, global);
  const std::optional<Counts> counts = question.counts(options.demand);
  if (!counts) return kUsageError;
  std::vector<Answer> answers;
  for (const std::string& name : options.gpus) {
    const std::optional<gpu::MigClass> gpu = question.gpu(name);
    if (!gpu) return kUsageError;
    answers.push_back(planned(name, *gpu, *counts, options.headroom));
  }
  std::stable_sort(answers.begin(), answers.end(), [&](const Answer& a, const Answer& b) {
    if (a.plan.ok != b.plan.ok) return a.plan.ok;
    if (options.objective == "waste" && a.unused != b.unused) return a.unused < b.unused;
    return a.plan.gpus < b.plan.gpus;
  });
  std::string text;
  yaml::Arena arena;
  std::vector<yaml::Node> json;
  for (const Answer& answer : answers) {
    text += text_of(answer, options.per_node);
    json.push_back(node_of(answer, options.per_node, arena));
  }
  return question.answer(text, json.size() == 1 ? json.front() : arena.list(json),
                         answers.front().plan.ok);
}

CLI::App* add_command(CLI::App& mig, const char* name, const char* about,
                      const std::shared_ptr<MigOptions>& options) {
  CLI::App* command = mig.add_subcommand(name, about);
  command->add_option("--gpu", options->gpu, "GPU model, as in `gpuctl catalog gpus`")
      ->required()
      ->type_name("MODEL");
  command->add_option("-o,--output", options->output, "text or json")
      ->check(CLI::IsMember({"text", "json"}));
  return command;
}

void add_layouts(CLI::App& command, MigOptions& options, bool required) {
  command
      .add_option("--layout", options.layouts,
                  "Instances of one GPU in the order of their creation; again for another GPU")
      ->required(required)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("PROFILE:COUNT,...");
}

}  // namespace

void add_mig(CLI::App& app, const GlobalOptions& global, int& exit_code) {
  CLI::App* mig = app.add_subcommand("mig", "Check, show and plan partitions of GPUs (MIG)");
  mig->require_subcommand(1);
  mig->footer("Example:\n  gpuctl mig check --gpu MODEL --layout 3g.20gb:1,1g.5gb:4\n");

  auto checked = std::make_shared<MigOptions>();
  CLI::App* check = add_command(*mig, "check", "Say whether layouts fit, and where", checked);
  add_layouts(*check, *checked, true);
  check->footer(
      "Exit code 0: every layout is placeable, 1: one is not.\n\n"
      "Example:\n"
      "  gpuctl mig check --gpu MODEL --layout 3g.20gb:1,2g.10gb:1,1g.5gb:1\n");
  check->callback(
      [checked, &global, &exit_code] { exit_code = run_check(*checked, global, false); });

  auto drawn = std::make_shared<MigOptions>();
  CLI::App* show = add_command(*mig, "show", "Draw layouts, or all that leave no room", drawn);
  add_layouts(*show, *drawn, false);
  show->footer(
      "Example:\n"
      "  gpuctl mig show --gpu MODEL --layout 3g.20gb:2\n"
      "  gpuctl mig show --gpu MODEL\n");
  show->callback([drawn, &global, &exit_code] { exit_code = run_show(*drawn, global); });

  auto demanded = std::make_shared<MigOptions>();
  CLI::App* plan = mig->add_subcommand("plan", "Find the fewest GPUs for a demand");
  plan->add_option("--gpu", demanded->gpus, "GPU model; again to compare models, the best first")
      ->required()
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("MODEL");
  plan->add_option("--demand", demanded->demand,
                   "Instances that are needed over all GPUs, by profile or by what they need at "
                   "least (`10gb:4`, `2g:1`)")
      ->required()
      ->type_name("PROFILE:COUNT,...");
  plan->add_option("--per-node", demanded->per_node, "GPUs of one machine")
      ->check(CLI::Range(1, 64))
      ->type_name("N");
  plan->add_option("--headroom", demanded->headroom, "Percent more of each profile")
      ->check(CLI::Range(0, 1000))
      ->type_name("PERCENT");
  plan->add_option("--objective", demanded->objective,
                   "Which model comes first: gpus (fewest) or waste (least memory unused)")
      ->check(CLI::IsMember({"gpus", "waste"}));
  plan->add_option("-o,--output", demanded->output, "text or json")
      ->check(CLI::IsMember({"text", "json"}));
  plan->footer(
      "Of plans with as many GPUs it takes the one that loses least. Demands of a few dozen\n"
      "instances are searched through; for larger ones it says what no plan goes below. Needs by\n"
      "size take the smallest profile that has it.\n\n"
      "Example:\n"
      "  gpuctl mig plan --gpu MODEL --demand 1g.5gb:10,3g.20gb:3\n"
      "  gpuctl mig plan --gpu MODEL --gpu OTHER --demand 10gb:40,2g:9 --per-node 8\n");
  plan->callback([demanded, &global, &exit_code] { exit_code = run_plan(*demanded, global); });
}

}  // namespace gpuctl::cli
