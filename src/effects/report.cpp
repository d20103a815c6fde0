#include "effects/report.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace gpuctl::effects {

namespace {

// The worst of what happens only when somebody approves.
Effect worst_held(const Assessment& assessment) {
  Effect out = Effect::none;
  for (const ObjectChange& object : assessment.objects) {
    for (const Finding& finding : object.findings) {
      if (finding.held) out = std::max(out, finding.effect);
    }
  }
  return out;
}

}  // namespace

std::string written(const Count& count) {
  const std::string least = std::to_string(count.least);
  return count.least == count.most ? least : least + " to " + std::to_string(count.most);
}

std::string class_of(const Finding& finding) {
  std::string out(name_of(finding.effect));
  if (finding.latent) out += ", latent";
  if (finding.held) out += ", held";
  if (finding.data_loss) out += ", local data lost";
  return out;
}

std::string extent_of(const Finding& finding) {
  std::string out;
  if (finding.nodes) {
    const bool one = finding.nodes->most == 1;
    out = written(*finding.nodes) + (one ? " node" : " nodes");
    if (finding.gpus && finding.gpus->most > 0) {
      out += " with " + written(*finding.gpus) + (finding.gpus->most == 1 ? " GPU" : " GPUs");
    }
  } else if (finding.effect >= Effect::gpu_pods && finding.effect <= Effect::upgrade) {
    out = "number of nodes not known";
  }
  if (!out.empty() && !finding.pools.empty()) {
    out += finding.pools.size() == 1 ? " of pool " : " of pools ";
    out += base::join(finding.pools, ", ");
  }
  return out;
}

std::string title_of(const Way& way) {
  if (way.step == 0) return way.sequence->title;
  return way.sequence->title + " (this commit is step " + std::to_string(way.step) + " of " +
         std::to_string(way.sequence->steps.size()) + ")";
}

std::string step_text(const Way& way, std::size_t step) {
  const SequenceStep& one = way.sequence->steps[step - 1];
  const std::string_view by = step == way.step ? "this commit"
                              : one.is_commit  ? "commit"
                                               : "by hand";
  return std::string(by) + ": " + one.text;
}

std::string headline(const ClusterChange& change) {
  if (!change.changed) return "no change";
  if (change.first) return "first commit: nothing runs yet";
  const Effect worst = change.assessment.worst();
  const Effect held = worst_held(change.assessment);
  std::string out = "worst effect: " + std::string(name_of(worst));
  if (held > worst) out += "; held: " + std::string(name_of(held));
  return out;
}

}  // namespace gpuctl::effects
