// What a page says of costs and power: the figures of `gpuctl cost`, in tables.
#pragma once

#include <string>
#include <vector>

#include "cost/estimate.hpp"
#include "diag/sources.hpp"
#include "report/model.hpp"
#include "report/table.hpp"

namespace gpuctl::report {

/// The estimate with texts that may be shown.
cost::Estimate shown(cost::Estimate estimate, const diag::Sources& sources);

/// A sum of the page: "USD a month of 730 hours".
std::string unit_of(const std::string& currency, const cost::Hours& hours);

/// What a cluster costs and draws, in a few words each.
std::vector<Detail> cost_details(const cost::Estimate& estimate, const cost::Hours& hours);

/// Tables of a cluster that have rows: what its parts cost, by which prices, what they draw, and
/// which licences.
std::vector<Table> cost_tables(const cost::Estimate& estimate, const cost::Hours& hours);

/// Where what is counted comes from, each once; empty where nothing is.
std::string sources_of(const cost::Estimate& estimate);

/// What a plan does to what machines cost.
Table change_table(const cost::Change& change, const std::string& currency,
                   const cost::Hours& hours);

/// What something costs, for a drawing.
struct Priced {
  std::string name;
  cost::Figures month;
};

/// The parts of a cluster, and before them their sum.
std::vector<Priced> priced_parts(const cost::Estimate& estimate);

/// The clusters of a page, and before them their sum. Of one without an estimate nothing is known.
std::vector<Priced> priced_clusters(const Page& page);

/// The currency of a page; empty when nothing on it was estimated.
std::string currency_of(const Page& page);

/// What each cluster costs, and all of them.
Table sum_table(const Page& page);

}  // namespace gpuctl::report
