// What clusters cost, for people: tables.
#pragma once

#include <string>
#include <vector>

#include "cli/listing.hpp"
#include "cost/estimate.hpp"

namespace gpuctl::cli {

/// A table for each cluster, and one for all where there are several, with what is not known and
/// not counted below. `form`: table, wide, or markdown.
std::string cost_text(const std::vector<cost::Estimate>& estimates, const cost::Hours& hours,
                      const std::string& form, yaml::Arena& arena);

/// A line for each scale that is known: what there is, what there is instead, and the difference.
void add_change(const std::string& name, const cost::Figures& one, const cost::Figures& other,
                const cost::Hours& hours, Listing& to);

/// A listing as a table of Markdown, with the columns that it shows.
std::string markdown_of(const Listing& listing);

}  // namespace gpuctl::cli
