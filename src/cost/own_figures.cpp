#include "cost/own_figures.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <tuple>

#include "catalog/wrapper.hpp"
#include "cost/codes.hpp"
#include "schema/schema.hpp"
#include "yaml/read.hpp"

namespace gpuctl::cost {

namespace {

using yaml::Node;

constexpr std::string_view kFormat = "providers/formats/costs.yaml";
// Lists whose rows are of no use when no cluster fits them.
constexpr std::string_view kLists[] = {"discounts", "prices", "machines", "licences"};

std::string written_text(const Node& row, std::string_view field) {
  return std::string(row.get(field).as_string());
}

bool is_for(const Node& row, const Subject& subject) {
  return fits(row.get("cluster").as_string(), subject.cluster) &&
         fits(row.get("part").as_string(), subject.part);
}

bool is_for_market(const Node& row, Market market) {
  const std::string_view named = row.get("market").as_string();
  return named.empty() || named == kMarketNames[market];
}

OwnLicence licence_of(const Node& row) {
  OwnLicence out;
  out.edition = written_text(row, "edition");
  out.price = Amount::of(row.get("price"));
  const std::string_view every = row.get("every").as_string();
  out.every = every == "hour" ? Period::hour : every == "month" ? Period::month : Period::year;
  out.per = written_text(row, "per");
  out.part = written_text(row, "part");
  return out;
}

}  // namespace

bool fits(std::string_view pattern, const std::string& name) {
  return pattern.empty() || ::fnmatch(std::string(pattern).c_str(), name.c_str(), 0) == 0;
}

bool OwnFigures::read(diag::FileId file, catalog::Library& library, yaml::Context context) {
  const std::optional<Node> document =
      yaml::read(file, context.sources, context.arena, context.sink);
  if (!document) return false;
  const Node definition = catalog::spec_of(library, std::string(kFormat)).get("schema");
  const schema::SchemaPtr schema = schema::compile_checked(definition, library.sources());
  diag::Sink findings;
  schema::validate(*schema, *document, context.arena, context.sources, findings);
  for (diag::Diagnostic finding : findings.all()) {
    finding.code = kFaultyCosts;
    context.sink.add(std::move(finding));
  }
  if (!findings.empty()) return false;
  spec_ = schema::apply_defaults(*schema, *document, context.arena).get("spec");
  currency_ = spec_.get("currency").as_string();
  for (const yaml::Entry& rate : spec_.get("exchange").entries()) {
    exchange_[std::string(rate.key.as_string())] = Amount::of(rate.value).micros();
  }
  if (const Node* power = spec_.find("power")) {
    power_ = Power{Amount::of(power->get("perKWh")), thousandths(power->get("pue"))};
  }
  return true;
}

const Node* OwnFigures::first(std::string_view list, const Subject& subject,
                              const std::function<bool(const Node&)>& fits_row) {
  for (const Node& row : spec_.get(list).items()) {
    if (!is_for(row, subject) || !fits_row(row)) continue;
    used_.insert(&row);
    return &row;
  }
  return nullptr;
}

std::optional<Amount> OwnFigures::converted(Amount amount, const std::string& currency) const {
  if (currency == currency_) return amount;
  const auto rate = exchange_.find(currency);
  if (rate == exchange_.end()) return std::nullopt;
  return amount.share(rate->second, 1'000'000);
}

std::optional<Amount> OwnFigures::price(const Subject& subject, const std::string& type,
                                        const std::string& region, Market market) {
  const Node* row = first("prices", {subject.cluster, {}}, [&](const Node& one) {
    return fits(one.get("type").as_string(), type) && is_for_market(one, market) &&
           fits(one.get("region").as_string(), region);
  });
  if (row == nullptr) return std::nullopt;
  return Amount::of(row->get("perHour"));
}

std::int64_t OwnFigures::discount(const Subject& subject, const std::string& type, Market market) {
  const Node* row = first("discounts", {subject.cluster, {}}, [&](const Node& one) {
    return fits(one.get("type").as_string(), type) && is_for_market(one, market);
  });
  return row == nullptr ? 0 : thousandths(row->get("percent"));
}

std::optional<OwnMachines> OwnFigures::machines(const Subject& subject) {
  const Node* row = first("machines", subject, [](const Node&) { return true; });
  if (row == nullptr) return std::nullopt;
  OwnMachines out;
  if (const Node* hardware = row->find("hardware")) {
    out.hardware = Amount::of(hardware->get("price"));
    out.hardware_of_part = hardware->get("per").as_string() == "part";
    out.years = std::max<std::int64_t>(thousandths(hardware->get("years")), 1);
  }
  out.machines_per_server = row->get("machinesPerServer").as_integer();
  if (const Node* watts = row->find("watts")) out.watts = watts->as_integer();
  if (const Node* watts = row->find("gpuWatts")) out.gpu_watts = watts->as_integer();
  out.rack = Amount::of(row->get("rackPerMonth"));
  out.origin = row->origin();
  out.any_cluster = row->find("cluster") == nullptr;
  return out;
}

std::optional<OwnLicence> OwnFigures::licence(const Subject& subject, const std::string& edition) {
  const Node* row = first("licences", subject, [&](const Node& one) {
    return one.get("edition").as_string() == edition;
  });
  if (row == nullptr) return std::nullopt;
  return licence_of(*row);
}

std::vector<OwnLicence> OwnFigures::further_licences(const std::string& cluster,
                                                     const std::set<std::string>& drawn) {
  std::vector<OwnLicence> out;
  for (const Node& row : spec_.get("licences").items()) {
    if (row.find("per") == nullptr || drawn.contains(written_text(row, "edition"))) continue;
    if (!fits(row.get("cluster").as_string(), cluster)) continue;
    used_.insert(&row);
    out.push_back(licence_of(row));
  }
  return out;
}

void OwnFigures::note_rented(const OwnMachines& machines, const Subject& subject,
                             const std::string& key) {
  const auto [found, added] = rented_.try_emplace(machines.origin, Rented{subject, key});
  if (added) return;
  const Subject& known = found->second.subject;
  if (std::tie(subject.cluster, subject.part) < std::tie(known.cluster, known.part)) {
    found->second = {subject, key};
  }
}

void OwnFigures::report_doubtful(diag::Sink& sink) const {
  for (const auto& [row, one] : rented_) {
    sink.warning(kRentedAsOwn, row,
                 "`" + one.subject.part + "` of `" + one.subject.cluster +
                     "` is counted as owned, and its machines are `" + one.key +
                     "` of a price list")
        .suggest("name the cluster whose machines you own: `cluster: STAGE/NAME`");
  }
  for (const std::string_view list : kLists) {
    for (const Node& row : spec_.get(list).items()) {
      if (used_.contains(&row)) continue;
      sink.warning(kIdleFigure, row.origin(), "no cluster needs this figure")
          .suggest("remove it, or look at the names in it: what comes before it may fit already");
    }
  }
}

}  // namespace gpuctl::cost
