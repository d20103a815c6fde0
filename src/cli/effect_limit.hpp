// How much a change may do to a running cluster.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "cli/apply_run.hpp"
#include "effects/report.hpp"

namespace gpuctl::cli {

/// The worst that is allowed, who says so, and what is allowed besides.
struct EffectLimit {
  effects::Effect most = effects::Effect::upgrade;
  std::string source;  // "`--max-effect`", "the default of stage `prod`"
  std::set<effects::Effect> allowed;
};

/// What the command line says, else the blueprint (`spec.gitops.maxEffect`), else the default: in
/// stage `prod` that GPU workloads live (`operands`), elsewhere all that can be undone by machines
/// of the same kind (`machines-deleted`).
EffectLimit limit_of(const Result& result, const ApplyOptions& options);

struct Planned;

/// Reports effects above the limit (GPU0690), the worst ones by name, once for clusters that are
/// alike. What is held, and what was allowed by name, is none.
void check_limits(const std::vector<Planned>& plans, diag::Sink& sink);

}  // namespace gpuctl::cli
