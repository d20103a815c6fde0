// A diagnosis as text for people, and as a tree for programs.
#pragma once

#include <string>

#include "diagnose/judge.hpp"

namespace gpuctl::diagnose {

/// What was looked at.
struct Looked {
  std::size_t objects = 0;
  std::size_t logs = 0;
};

/// What may be shown of it only: `sources` masks what looks like a secret.
std::string as_text(const Diagnosis& diagnosis, const Looked& looked, const diag::Sources& sources);

/// {"ok", "first", "objects", "logs", "links": [...]}.
yaml::Node as_tree(const Diagnosis& diagnosis, const Looked& looked, const diag::Sources& sources,
                   yaml::Arena& arena);

}  // namespace gpuctl::diagnose
