// How figures are said to people: the same in tables of a terminal, in Markdown and on pages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cost/estimate.hpp"

namespace gpuctl::cost {

/// "1234.57"; "at least 1234.57" where more is to come; "unknown" where nothing is known.
std::string text_of(const Figure& figure);

/// What `other` costs more than `one`: "+12.00", or "unknown" where one of them is not known.
std::string difference_of(const Figure& one, const Figure& other);

/// "2", "0-6", or "unknown".
std::string range_of(const std::optional<std::int64_t>& min,
                     const std::optional<std::int64_t>& max);

/// "3.5" of 3,450 W.
std::string kilowatts(std::int64_t watts);

/// The most that a part draws, in kW: "5.6", or "unknown".
std::string most_kilowatts(const Part& part);

/// Watts of the GPUs and of the rest of a machine: "700 W a GPU, 350 W the rest of a machine";
/// empty where neither is known.
std::string watts_text(const Part& part);

/// What all parts draw at most, in kW: "12.0", or "at least 12.0" when that of some is not known;
/// nothing when that of none is.
std::optional<std::string> most_kilowatts(const Estimate& estimate);

/// What is not known of a cluster, each once: "gpu: the price of `p5e.48xlarge` in ...".
std::vector<std::string> unknown_of(const Estimate& estimate);

}  // namespace gpuctl::cost
