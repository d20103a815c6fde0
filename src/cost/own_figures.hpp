// What a user knows of his costs: a file of kind Costs.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "catalog/library.hpp"
#include "cost/amount.hpp"
#include "cost/tariffs.hpp"
#include "yaml/context.hpp"

namespace gpuctl::cost {

/// Which cluster and part a figure is for. Not all figures look at all of it.
struct Subject {
  std::string cluster;  // "stage/name"
  std::string part;
};

/// Machines that the user owns.
struct OwnMachines {
  std::optional<Amount> hardware;  // that one server or all together cost
  bool hardware_of_part = false;
  std::int64_t years = 1000;  // thousandths, over which that is written off
  std::int64_t machines_per_server = 1;
  std::optional<std::int64_t> watts;      // of a machine without its GPUs
  std::optional<std::int64_t> gpu_watts;  // of its GPUs together
  Amount rack;                            // of a server, a month
  diag::Origin origin = diag::kNoOrigin;  // of the row
  bool any_cluster = false;               // the row names none
};

struct Power {
  Amount per_kwh;
  std::int64_t pue = 1000;  // thousandths
};

enum class Period : std::uint8_t { hour, month, year };

struct OwnLicence {
  std::string edition;
  Amount price;
  Period every = Period::year;
  std::string per;   // "GPU", "machine", "cluster", or empty
  std::string part;  // pattern, or empty: of all parts
};

/// Without a file: no figures, and US dollars. Not for several threads at once: it notes which
/// figures were needed.
class OwnFigures {
 public:
  OwnFigures() = default;
  /// Reads a file. False after diagnostics (YAML; GPU0820: what breaks the format). `context` must
  /// outlive this.
  bool read(diag::FileId file, catalog::Library& library, yaml::Context context);

  const std::string& currency() const { return currency_; }
  /// An amount in the currency of the figures; nothing where no rate is given.
  std::optional<Amount> converted(Amount amount, const std::string& currency) const;
  /// The price of an hour, where the user knows it.
  std::optional<Amount> price(const Subject& subject, const std::string& type,
                              const std::string& region, Market market);
  /// What is taken off the price of a list, in thousandths of a per cent.
  std::int64_t discount(const Subject& subject, const std::string& type, Market market);
  std::optional<OwnMachines> machines(const Subject& subject);
  const std::optional<Power>& power() const { return power_; }
  /// The figure for an edition that a part draws.
  std::optional<OwnLicence> licence(const Subject& subject, const std::string& edition);
  /// Those with `per` that a cluster pays, of which `drawn` are counted elsewhere.
  std::vector<OwnLicence> further_licences(const std::string& cluster,
                                           const std::set<std::string>& drawn);
  /// A part counts as owned, and a price list has its machines by `key`.
  void note_rented(const OwnMachines& machines, const Subject& subject, const std::string& key);
  /// Figures that nothing needed are GPU0821, owned machines that a list has as well GPU0823.
  void report_doubtful(diag::Sink& sink) const;

 private:
  // The first row of a list that is good for the subject; it is noted.
  const yaml::Node* first(std::string_view list, const Subject& subject,
                          const std::function<bool(const yaml::Node&)>& fits);

  yaml::Node spec_;
  std::string currency_ = "USD";
  std::map<std::string, std::int64_t, std::less<>> exchange_;  // millionths
  std::optional<Power> power_;
  std::set<const void*> used_;  // rows

  struct Rented {
    Subject subject;  // the first by name, whoever comes first
    std::string key;
  };
  std::map<diag::Origin, Rented> rented_;  // by row
};

/// True when a name fits a pattern with `*` and `?`, or the pattern is empty.
bool fits(std::string_view pattern, const std::string& name);

}  // namespace gpuctl::cost
