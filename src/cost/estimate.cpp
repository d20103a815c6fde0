#include "cost/estimate.hpp"

#include <algorithm>
#include <set>

#include "cel/opaque.hpp"

namespace gpuctl::cost {

namespace {

using cel::LazyExpression;
using yaml::Node;

constexpr std::int64_t kMonths = 12;
constexpr std::int64_t kWhole = 100'000;  // all of a price, in thousandths of a per cent

// How many licences machines draw: `count` each, of which one covers `shared_by`.
struct Units {
  std::int64_t count = 1;
  std::int64_t shared_by = 1;

  std::int64_t of(std::int64_t machines) const {
    return (machines * count + shared_by - 1) / shared_by;
  }
};

class Estimator {
 public:
  Estimator(const std::string& cluster, const Basis& basis, const derive::Inputs& inputs,
            const yaml::Node& documents, yaml::Arena& arena)
      : costing_(basis.costing),
        tariffs_(basis.tariffs),
        own_(basis.own),
        hours_(basis.hours),
        arena_(arena),
        values_(inputs.values()) {
    out_.cluster = cluster;
    out_.currency = own_.currency();
    out_.leaves_out = costing_.leaves_out;
    costing_.scope.variables->bind(values_);
    item_ = values_.size();
    values_.emplace_back();
    values_.emplace_back(documents);
  }

  Estimate run(bool committed) {
    for (const PartRow& row : costing_.parts) {
      if (row.committed == committed) add_parts(row);
    }
    if (!committed) add_further_licences();
    for (Part& part : out_.parts) {
      for (const Line& line : part.lines) part.month = part.month + line.month;
      out_.month = out_.month + part.month;
    }
    return std::move(out_);
  }

 private:
  std::optional<Node> value(const LazyExpression& expression) {
    if (!expression) return std::nullopt;
    const cel::Outcome outcome = cel::attempt(*expression.get().program, values_, arena_);
    if (!outcome.ok()) return std::nullopt;
    const cel::Value found = cel::unwrapped(outcome.value);
    if (found.is_omit() || !found.is_node() || found.node().is_null()) return std::nullopt;
    return found.node();
  }

  std::string text(const LazyExpression& expression) {
    const std::optional<Node> found = value(expression);
    return found ? std::string(found->as_string()) : std::string();
  }

  std::optional<std::int64_t> number(const LazyExpression& expression) {
    const std::optional<Node> found = value(expression);
    if (!found || !found->is_integer() || found->as_integer() < 0) return std::nullopt;
    return found->as_integer();
  }

  // Of a condition that cannot be worked out: it may be so, and then something is to be paid.
  bool holds(const LazyExpression& condition) {
    if (!condition) return true;
    const std::optional<Node> found = value(condition);
    return !found || found->as_boolean();
  }

  void add_parts(const PartRow& row) {
    if (!row.each) {
      values_[item_] = cel::Value(Node());
      if (holds(row.when)) add_part(row);
      return;
    }
    values_[item_] = cel::Value(Node());
    const std::optional<Node> items = value(row.each);
    // Nobody knows which there are: one part stands for them, of which nothing is known.
    if (!items) return add_part(row);
    for (const Node& item : items->items()) {
      values_[item_] = cel::Value(item);
      if (holds(row.when)) add_part(row);
    }
  }

  void add_part(const PartRow& row) {
    Part part;
    part.kind = row.kind;
    part.title = row.title;
    part.name = text(row.name);
    if (part.name.empty()) part.name = row.kind;
    part.type = text(row.type);
    part.min = number(row.min);
    part.max = number(row.max);
    part.gpus = row.gpus ? number(row.gpus) : std::optional<std::int64_t>(0);
    part.gpu_watts = row.watts ? number(row.watts) : std::optional<std::int64_t>(0);
    subject_ = {out_.cluster, part.name};
    running_ = running(part.name, part.min, part.max, hours_);
    if (const std::optional<OwnMachines> machines = own_.machines(subject_)) {
      add_own(*machines, part);
      if (machines->any_cluster) note_rented(row.kind, *machines);
    } else {
      add_charges(row.kind, part);
    }
    add_licences(row.kind, part);
    out_.parts.push_back(std::move(part));
  }

  // Makes the line incomplete where the number of machines is not known.
  static void finish(Line line, Part& part) {
    if (!part.min) line.month[kMin].complete = line.month[kTypical].complete = false;
    if (!part.max) line.month[kMax].complete = line.month[kTypical].complete = false;
    if ((!part.min || !part.max) && line.unknown.empty()) line.unknown = "how many there are";
    part.lines.push_back(std::move(line));
  }

  void add_charges(const std::string& kind, Part& part) {
    bool charged = false;
    for (const ChargeRow& row : costing_.charges) {
      const auto& kinds = row.parts;
      if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end() || !holds(row.when)) continue;
      charged = true;
      finish(charge(row), part);
    }
    if (charged) return;
    Line line;
    line.name = "machine";
    line.month = unknown_where_there_are(running_);
    line.unknown = "what a machine costs: no price list has it";
    finish(std::move(line), part);
  }

  Line charge(const ChargeRow& row) {
    Line out;
    out.name = row.name;
    out.key = text(row.key);
    out.region = row.region ? text(row.region) : "any";
    const std::optional<Market> market =
        row.market ? market_named(text(row.market)) : std::optional<Market>(kOnDemand);
    const std::optional<std::int64_t> quantity =
        row.quantity ? number(row.quantity) : std::optional<std::int64_t>(1);
    out.month = unknown_where_there_are(running_);
    if (!market || !quantity || out.key.empty()) {
      out.unknown = "what a machine takes of this: " + row.name;
      return out;
    }
    out.market = kMarketNames[*market];
    out.rates = rates_of(row, out);
    if (!out.rates[*market]) {
      if (out.unknown.empty()) {
        out.unknown = "the price of `" + out.key + "` in `" + out.region + "`, " + out.market;
      }
      return out;
    }
    out.month = by_hour(*out.rates[*market], running_, *quantity);
    return out;
  }

  // What an hour costs: the user's own price, or that of the list less what is taken off.
  Rates rates_of(const ChargeRow& row, Line& line) {
    Rates out;
    const std::optional<Price> listed = tariffs_.price(row.list, line.region, line.key);
    for (std::size_t i = 0; i < kMarkets; ++i) {
      const auto market = static_cast<Market>(i);
      const bool counts = kMarketNames[i] == line.market;
      if ((out[i] = own_.price(subject_, line.key, line.region, market))) {
        if (counts) line.source = "own price";
        continue;
      }
      if (!listed || !listed->rates[i]) continue;
      const std::optional<Amount> price = own_.converted(*listed->rates[i], listed->currency);
      if (!price) {
        if (counts) line.unknown = "what one " + listed->currency + " is in " + out_.currency;
        continue;
      }
      const std::int64_t discount = own_.discount(subject_, line.key, market);
      out[i] = price->share(kWhole - discount, kWhole);
      if (!counts) continue;
      line.source = listed->source;
      line.as_of = listed->as_of;
    }
    return out;
  }

  // An entry for any cluster is meant for those whose machines no list has.
  void note_rented(const std::string& kind, const OwnMachines& machines) {
    for (const ChargeRow& row : costing_.charges) {
      const auto& kinds = row.parts;
      if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end() || !holds(row.when)) continue;
      const std::string key = text(row.key);
      if (!key.empty()) return own_.note_rented(machines, subject_, key);
    }
  }

  void add_own(const OwnMachines& machines, Part& part) {
    part.watts = machines.watts;
    if (machines.gpu_watts) part.gpu_watts = machines.gpu_watts;
    // Servers stand there for the maximum, whatever runs on them.
    const std::int64_t most = running_.pieces[kMax];
    const std::int64_t servers =
        (most + machines.machines_per_server - 1) / machines.machines_per_server;
    Line hardware;
    hardware.name = "hardware";
    hardware.source = "own figures";
    if (machines.hardware) {
      const Amount price =
          machines.hardware_of_part ? *machines.hardware : machines.hardware->times(servers);
      hardware.month = fixed(price.share(1000, machines.years * kMonths));
    } else {
      hardware.unknown = "what the servers cost";
      for (Figure& figure : hardware.month) figure.complete = most == 0;
    }
    finish(std::move(hardware), part);
    if (machines.rack != Amount()) {
      Line rack;
      rack.name = "rack";
      rack.source = "own figures";
      rack.month = fixed(machines.rack.times(servers));
      finish(std::move(rack), part);
    }
    add_power(part);
  }

  void add_power(Part& part) {
    Line line;
    line.name = "power";
    line.source = "own figures";
    if (const std::optional<Power>& power = own_.power()) {
      const std::int64_t watts = part.gpu_watts.value_or(0) + part.watts.value_or(0);
      // Watts and a price per kWh, with a PUE in thousandths.
      const Amount rate = power->per_kwh.times(watts).share(power->pue, 1'000'000);
      line.month = by_hour(rate, running_, 1);
      const bool all_watts = part.gpu_watts && part.watts;
      if (!all_watts) line.unknown = "what a machine draws";
      for (std::size_t i = 0; i < kScales; ++i) {
        line.month[i].complete = all_watts || running_.pieces[i] == 0;
      }
    } else {
      line.month = unknown_where_there_are(running_);
      line.unknown = "what power costs";
    }
    finish(std::move(line), part);
  }

  void add_licences(const std::string& kind, Part& part) {
    for (const LicenceRow& row : costing_.licences) {
      const auto& kinds = row.parts;
      if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end() || !holds(row.when)) continue;
      const std::string edition = text(row.edition);
      const std::optional<std::int64_t> count = number(row.count);
      const std::optional<std::int64_t> shared =
          row.shared_by ? number(row.shared_by) : std::optional<std::int64_t>(1);
      if (count && *count == 0) continue;
      drawn_.insert(edition);
      std::optional<Units> units;
      if (count && shared && *shared > 0) units = Units{*count, *shared};
      add_licence(edition, row.unit, units, running_, own_.licence(subject_, edition), part);
    }
  }

  void add_licence(const std::string& edition, const std::string& unit,
                   const std::optional<Units>& units, const Running& running_of_it,
                   const std::optional<OwnLicence>& figure, Part& part) {
    Line out;
    out.name = edition;
    out.unit = unit;
    out.month = unknown_where_there_are(running_of_it);
    if (units && part.min) out.min = units->of(*part.min);
    if (units && part.max) out.max = units->of(*part.max);
    if (!units) {
      out.unknown = "how many licences `" + edition + "` there are";
    } else if (!figure) {
      out.unknown = "what a licence `" + edition + "` costs";
    } else {
      out.source = "own figures";
      for (std::size_t i = 0; i < kScales; ++i) {
        out.month[i] = {cost_of(*figure, *units, running_of_it, i), true};
      }
    }
    finish(std::move(out), part);
  }

  static Amount cost_of(const OwnLicence& figure, const Units& units, const Running& running_of_it,
                        std::size_t scale) {
    if (figure.every == Period::hour) {
      return figure.price.times(running_of_it.hours[scale]).share(units.count, units.shared_by);
    }
    const Amount price = figure.price.times(units.of(running_of_it.pieces[scale]));
    return figure.every == Period::year ? price.share(1, kMonths) : price;
  }

  // Licences that only the user knows of.
  void add_further_licences() {
    const std::vector<OwnLicence> licences = own_.further_licences(out_.cluster, drawn_);
    for (const OwnLicence& one : licences) {
      if (one.per == "cluster") {
        add_for_cluster(one);
        continue;
      }
      for (Part& part : out_.parts) {
        if (!fits(one.part, part.name)) continue;
        const std::optional<std::int64_t> count =
            one.per == "GPU" ? part.gpus : std::optional<std::int64_t>(1);
        if (count && *count == 0) continue;
        std::optional<Units> units;
        if (count) units = Units{*count, 1};
        add_licence(one.edition, one.per, units, running(part.name, part.min, part.max, hours_),
                    one, part);
      }
    }
  }

  void add_for_cluster(const OwnLicence& one) {
    const auto found = std::find_if(out_.parts.begin(), out_.parts.end(),
                                    [](const Part& part) { return part.kind == "cluster"; });
    Part made;
    made.kind = made.name = "cluster";
    made.title = "whole cluster";
    made.min = made.max = 1;
    made.gpus = made.gpu_watts = 0;
    Part& part = found == out_.parts.end() ? made : *found;
    add_licence(one.edition, one.per, Units{}, running(part.name, part.min, part.max, hours_), one,
                part);
    if (found == out_.parts.end()) out_.parts.push_back(std::move(made));
  }

  const Costing& costing_;
  const Tariffs& tariffs_;
  OwnFigures& own_;
  const Hours& hours_;
  yaml::Arena& arena_;
  std::vector<cel::Value> values_;
  std::size_t item_ = 0;  // its place among them
  Subject subject_;
  Running running_;
  std::set<std::string> drawn_;
  Estimate out_;
};

}  // namespace

std::optional<std::int64_t> Part::fewest_gpus() const {
  if (!min || !gpus) return std::nullopt;
  return *min * *gpus;
}

std::optional<std::int64_t> Part::most_gpus() const {
  if (!max || !gpus) return std::nullopt;
  return *max * *gpus;
}

const Line* Part::priced() const {
  const auto found =
      std::find_if(lines.begin(), lines.end(), [](const Line& line) { return !line.key.empty(); });
  return found == lines.end() ? nullptr : &*found;
}

std::optional<std::int64_t> Part::most_watts() const {
  if (!max || !gpu_watts) return std::nullopt;
  return *max * (*gpu_watts + watts.value_or(0));
}

Figures sum_of(const std::vector<Estimate>& estimates) {
  Figures out;
  for (const Estimate& one : estimates) out = out + one.month;
  return out;
}

Estimate estimate(const std::string& cluster, const Basis& basis, const derive::Inputs& inputs,
                  yaml::Arena& arena) {
  const Node none = arena.list(std::span<const Node>());
  return Estimator(cluster, basis, inputs, none, arena).run(false);
}

Estimate estimate_committed(const std::string& cluster, const Basis& basis,
                            const derive::Inputs& inputs, const Node& documents,
                            yaml::Arena& arena) {
  return Estimator(cluster, basis, inputs, documents, arena).run(true);
}

}  // namespace gpuctl::cost
