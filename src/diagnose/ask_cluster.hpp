// Reads objects and logs of a cluster that runs, by the program that plays its part. Nothing is
// changed in it.
#pragma once

#include <string>
#include <vector>

#include "diagnose/evidence.hpp"
#include "diagnose/wanted.hpp"
#include "yaml/context.hpp"

namespace gpuctl::diagnose {

/// How a cluster is reached.
struct Reach {
  std::string program;               // absolute path
  std::vector<std::string> without;  // variables of the environment that it does not get
  std::string kubeconfig;            // empty: what the environment says
};

/// Adds the objects of all kinds. A kind that cannot be read is a warning GPU0954; when none can,
/// an error, and nothing more is asked.
void ask_objects(const Chain& chain, const Reach& reach, Evidence& evidence, yaml::Context context);

/// Adds logs, some hundred at the most (more is GPU0952). One that cannot be had is GPU0955.
void ask_logs(const Chain& chain, const Reach& reach, const std::vector<Wanted>& wanted,
              Evidence& evidence, yaml::Context context);

}  // namespace gpuctl::diagnose
