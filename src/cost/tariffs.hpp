// What knowledge says of costs: rows of cost.yaml, and price lists.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "catalog/library.hpp"
#include "cost/amount.hpp"
#include "derive/environment.hpp"

namespace gpuctl::cost {

/// Ways of paying for an hour.
enum Market : std::size_t { kOnDemand, kSpot, kReserved1y, kReserved3y, kMarkets };
inline constexpr std::array<std::string_view, kMarkets> kMarketNames = {"onDemand", "spot",
                                                                        "reserved1y", "reserved3y"};
std::optional<Market> market_named(std::string_view name);

/// Prices of an hour; absent: not known.
using Rates = std::array<std::optional<Amount>, kMarkets>;

/// A row of a price list.
struct Price {
  Rates rates;
  std::string currency;
  std::string source;  // addresses, for people
  std::string as_of;   // the days of them; empty: they do not say
};

/// A part of a cluster.
struct PartRow {
  std::string kind;
  std::string title;
  bool committed = false;  // it is read from objects in Git, and no part of an estimate
  cel::LazyExpression each;
  cel::LazyExpression when;
  cel::LazyExpression name;
  cel::LazyExpression type;
  cel::LazyExpression min;
  cel::LazyExpression max;
  cel::LazyExpression gpus;
  cel::LazyExpression watts;
};

/// What a machine of it is charged for.
struct ChargeRow {
  std::string name;
  std::vector<std::string> parts;  // kinds
  cel::LazyExpression when;
  std::string list;
  cel::LazyExpression region;
  cel::LazyExpression key;
  cel::LazyExpression quantity;
  cel::LazyExpression market;
};

struct LicenceRow {
  std::vector<std::string> parts;  // kinds
  cel::LazyExpression when;
  cel::LazyExpression edition;
  std::string unit;
  cel::LazyExpression count;
  cel::LazyExpression shared_by;
};

/// The rows of a platform.
struct Costing {
  derive::Scope scope;
  std::vector<PartRow> parts;
  std::vector<ChargeRow> charges;
  std::vector<LicenceRow> licences;
  std::vector<std::string> leaves_out;
};

class Tariffs {
 public:
  /// Looks up all files on costs, and unpacks none of their rows. Afterwards the library is not
  /// written to any more, and platform() and price() may be called beside whatever reads it.
  explicit Tariffs(catalog::Library& library);

  /// The rows of a platform, compiled at first use. What is wrong with them goes to `sink`, with
  /// overlays only. Not for several threads at once.
  const Costing& platform(const catalog::Platform& platform, diag::Sink& sink);

  /// A row of a list, where it has one.
  std::optional<Price> price(const std::string& list, const std::string& region,
                             const std::string& key) const;

 private:
  catalog::Library& library_;
  std::map<std::string, yaml::Node, std::less<>> lists_;  // `spec`, by name
  std::map<std::string, std::shared_ptr<const Costing>> platforms_;
};

/// The rows of a platform. With `thorough` all expressions are compiled at once, and what is wrong
/// is reported (GPU03xx, GPU0822: a list or a kind of part that is not there); otherwise at first
/// use.
std::shared_ptr<const Costing> compile(const catalog::Platform& platform, catalog::Library& library,
                                       bool thorough, diag::Sink& sink);

}  // namespace gpuctl::cost
