// What a cluster costs a month, and what it draws, part by part.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cost/month.hpp"
#include "cost/own_figures.hpp"
#include "cost/tariffs.hpp"

namespace gpuctl::cost {

/// One of the things that a part is paid for.
struct Line {
  std::string name;  // "machine", "hardware", "power", "rack"; of a licence its edition
  Figures month;
  std::string key;     // of a price list; empty: it comes from no list
  std::string region;  // of it
  std::string market;  // way of paying that was counted
  Rates rates;         // prices of an hour, in the currency of the figures
  std::string source;
  std::string as_of;
  std::string unknown;              // why it is not complete; empty: it is
  std::string unit;                 // of a licence
  std::optional<std::int64_t> min;  // units of it
  std::optional<std::int64_t> max;
};

struct Part {
  std::string kind;
  std::string title;
  std::string name;
  std::string type;  // of the machines; may be empty
  std::optional<std::int64_t> min;
  std::optional<std::int64_t> max;
  std::optional<std::int64_t> gpus;       // of a machine
  std::optional<std::int64_t> gpu_watts;  // of a machine
  std::optional<std::int64_t> watts;      // of a machine without its GPUs
  std::vector<Line> lines;
  Figures month;

  /// Watts at the maximum, as far as they are known: those of GPUs, and of the rest where the user
  /// said it. Nothing: not known.
  std::optional<std::int64_t> most_watts() const;
  /// GPUs of all machines at the minimum and at the maximum. Nothing: not known.
  std::optional<std::int64_t> fewest_gpus() const;
  std::optional<std::int64_t> most_gpus() const;
  /// True when power of it is counted: it has GPUs, or the user said what its machines draw.
  bool draws() const { return gpus != 0 || watts; }
  /// The first line that comes from a price list: that of the machine itself. Or nullptr.
  const Line* priced() const;
};

struct Estimate {
  std::string cluster;  // "stage/name"
  std::string currency;
  std::vector<Part> parts;
  Figures month;
  std::vector<std::string> leaves_out;
};

/// The sum of several clusters.
Figures sum_of(const std::vector<Estimate>& estimates);

/// What an estimate goes by. All of it must outlive the estimating.
struct Basis {
  const Costing& costing;
  const Tariffs& tariffs;
  OwnFigures& own;
  const Hours& hours;
};

/// Works out a cluster. Nothing fails here: what cannot be worked out is not known.
Estimate estimate(const std::string& cluster, const Basis& basis, const derive::Inputs& inputs,
                  yaml::Arena& arena);

/// The same of machines that objects in Git stand for: `documents`, a list. Licences are not in it.
Estimate estimate_committed(const std::string& cluster, const Basis& basis,
                            const derive::Inputs& inputs, const yaml::Node& documents,
                            yaml::Arena& arena);

}  // namespace gpuctl::cost
