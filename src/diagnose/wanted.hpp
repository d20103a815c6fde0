// Which logs of a cluster are worth asking for.
#pragma once

#include <string>
#include <vector>

#include "diagnose/evidence.hpp"
#include "yaml/context.hpp"

namespace gpuctl::diagnose {

/// A log that is wanted to know more of a pod.
struct Wanted {
  std::string space;
  std::string pod;
  std::string container;
  bool last = false;  // of the run before
};

/// Logs that judge() would look into: those of pods with a fault, and those that links watch, in
/// the order of the chain.
std::vector<Wanted> wanted_logs(const Chain& chain, const Evidence& evidence,
                                const yaml::Node& cluster, yaml::Context context);

}  // namespace gpuctl::diagnose
