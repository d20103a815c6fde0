#include <algorithm>
#include <memory>
#include <optional>
#include <variant>

#include "cli/mig_question.hpp"
#include "gpu/mig_plan.hpp"

namespace gpuctl::cli {

namespace {

// The demand by profiles of one GPU; a reason when the GPU has none that is large enough.
std::variant<gpu::MigDemand, std::string> demand_of(const gpu::MigClass& gpu,
                                                    const MigCounts& counts, int headroom) {
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
struct PlanAnswer {
  std::string name;
  gpu::MigPlan plan;
  double unused = 0;  // part of the memory of its GPUs that the demand leaves
};

PlanAnswer planned(const std::string& name, const gpu::MigClass& gpu, const MigCounts& counts,
                   int headroom) {
  PlanAnswer out;
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

std::string described(const PlanAnswer& answer, int per_node) {
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
         count(plan.lost_memory, "memory slice") +
         (plan.least_lost ? "; no plan with as many GPUs loses less\n" : "\n");
}

yaml::Node as_json(const PlanAnswer& answer, int per_node, yaml::Arena& arena) {
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
  MigQuestion question(options, global);
  const std::optional<MigCounts> counts = question.counts(options.demand);
  if (!counts) return kUsageError;
  std::vector<PlanAnswer> answers;
  for (const std::string& name : options.gpus) {
    const std::optional<gpu::MigClass> gpu = question.gpu(name);
    if (!gpu) return kUsageError;
    answers.push_back(planned(name, *gpu, *counts, options.headroom));
  }
  std::stable_sort(answers.begin(), answers.end(), [&](const PlanAnswer& a, const PlanAnswer& b) {
    if (a.plan.ok != b.plan.ok) return a.plan.ok;
    if (options.objective == "waste" && a.unused != b.unused) return a.unused < b.unused;
    return a.plan.gpus < b.plan.gpus;
  });
  std::string text;
  yaml::Arena arena;
  std::vector<yaml::Node> json;
  for (const PlanAnswer& answer : answers) {
    text += described(answer, options.per_node);
    json.push_back(as_json(answer, options.per_node, arena));
  }
  return question.answer(text, json.size() == 1 ? json.front() : arena.list(json),
                         answers.front().plan.ok);
}

RunFunction set_up_mig_plan(Options& plan, const GlobalOptions& global) {
  auto demanded = std::make_shared<MigOptions>();
  plan.add_option("--gpu", demanded->gpus, "GPU model; again to compare models, the best first")
      .required()
      .expected(1)
      .take_all()
      .type_name("MODEL");
  plan.add_option("--demand", demanded->demand,
                  "Instances that are needed over all GPUs, by profile or by what they need at "
                  "least (`10gb:4`, `2g:1`)")
      .required()
      .type_name("PROFILE:COUNT,...");
  plan.add_option("--per-node", demanded->per_node, "GPUs of one machine")
      .in_range(1, 64)
      .type_name("N");
  plan.add_option("--headroom", demanded->headroom, "Percent more of each profile")
      .in_range(0, 1000)
      .type_name("PERCENT");
  plan.add_option("--objective", demanded->objective,
                  "Which model comes first: gpus (fewest) or waste (least memory unused)")
      .one_of({"gpus", "waste"});
  plan.add_option("-o,--output", demanded->output, "text or json").one_of({"text", "json"});
  return [demanded, &global] { return run_plan(*demanded, global); };
}

}  // namespace

Command mig_plan_command() {
  return {
      "plan", "Find the fewest GPUs for a demand",
      "Of plans with as many GPUs it takes the one that loses least. Demands of a few dozen\n"
      "instances are searched through; for larger ones it says what no plan goes below. Needs by\n"
      "size take the smallest profile that has it.\n\n"
      "Example:\n"
      "  gpuctl mig plan --gpu MODEL --demand 1g.5gb:10,3g.20gb:3\n"
      "  gpuctl mig plan --gpu MODEL --gpu OTHER --demand 10gb:40,2g:9 --per-node 8\n",
      set_up_mig_plan};
}

}  // namespace gpuctl::cli
