#include "cli/kept_findings.hpp"

#include <algorithm>

#include "secrets/mask.hpp"

namespace gpuctl::cli {

namespace {

KeptFindings* living = nullptr;

}  // namespace

std::vector<diag::Finding> findings_of(const diag::Sink& sink, const diag::Sources& sources) {
  std::vector<diag::Finding> out;
  if (sink.empty()) return out;
  if (sources.mask() == nullptr) {
    static const secrets::PlainMask plain;
    diag::Sources with_mask(&sources);
    with_mask.set_mask(&plain);
    return findings_of(sink, with_mask);
  }
  for (const diag::Diagnostic& diagnostic : sink.sorted(sources)) {
    out.push_back(diag::detach(diagnostic, sources));
  }
  return out;
}

KeptFindings::KeptFindings() {
  living = this;
}

KeptFindings::~KeptFindings() {
  living = nullptr;
}

bool KeptFindings::has_errors() const {
  return std::any_of(all_.begin(), all_.end(), [](const diag::Finding& finding) {
    return finding.severity == diag::Severity::error;
  });
}

void KeptFindings::note(const diag::Sink& sink, const diag::Sources& sources) {
  if (living == nullptr) return;
  for (diag::Finding& finding : findings_of(sink, sources)) {
    living->all_.push_back(std::move(finding));
  }
}

}  // namespace gpuctl::cli
