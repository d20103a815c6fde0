// The documents that a running cluster answers with.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "diag/mask.hpp"
#include "facts/inquiry.hpp"
#include "live/programs.hpp"

namespace gpuctl::facts {

/// How long one question may take, in seconds.
inline constexpr int kMostSeconds = 60;

struct Answers {
  std::vector<Source> sources;
  std::set<std::string> silent;  // names of rows whose question got no answer
  std::size_t asked = 0;         // questions
};

/// Asks the running cluster all that rows ask, each question once, one after the other. A program
/// that is not there is GPU0410; a question that fails is GPU0666: an error when `strict`,
/// otherwise a warning, and none where a cluster need not know the answer. `kubeconfig`: the file
/// that programs use, or empty: what the environment says.
Answers ask_cluster(const Rows& rows, Inquiry& inquiry, const live::Programs& programs,
                    const std::string& kubeconfig, bool strict, const diag::Mask& mask,
                    yaml::Context context);

}  // namespace gpuctl::facts
