// One check on its way: its questions, the answers, what they mean.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "diag/mask.hpp"
#include "doctor/asking.hpp"
#include "doctor/checks.hpp"
#include "doctor/examine.hpp"

namespace gpuctl::doctor {

/// What the checks of a run share.
struct Shared {
  const Checks& checks;
  const Subject& subject;
  const diag::Mask& mask;
  diag::Sources& sources;
  yaml::Node run;  // the variable of that name
  Asking asking;
  std::mutex evaluating;  // expressions are evaluated by one thread at a time: they note places
};

/// Runs one check on this thread.
Result run_check(const Check& check, Shared& shared);

}  // namespace gpuctl::doctor
