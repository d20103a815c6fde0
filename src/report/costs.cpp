#include "report/costs.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "base/text.hpp"
#include "cost/words.hpp"

namespace gpuctl::report {

namespace {

using cost::Estimate;
using cost::Figure;
using cost::Figures;
using cost::Hours;
using cost::Line;
using cost::range_of;
using cost::Scale;

// By market.
constexpr std::array<std::string_view, cost::kMarkets> kMarketTitles = {"on demand", "spot",
                                                                        "1 year", "3 years"};
// By scale.
constexpr std::array<std::string_view, cost::kScales> kScaleTitles = {"minimum", "typical",
                                                                      "maximum"};

// An hour of a month, on average.
Figure hour_of(const Figure& month, const Hours& hours) {
  return {month.known.share(1, hours.month), month.complete};
}

std::string with_currency(const Figure& figure, const std::string& currency) {
  return text_of(figure) + (figure.is_unknown() ? "" : " " + currency);
}

// Of an hour and of a month a column for each scale.
void add_heads(const Hours& hours, Table& to) {
  to.numbers_from = to.heads.size();
  for (const std::string_view time : {"Hour", "Month"}) {
    for (const Scale scale : hours.scales()) {
      to.heads.push_back(std::string(time) + ", " + std::string(kScaleTitles[scale]));
    }
  }
}

Cells with_figures(Cells cells, const Figures& month, const Hours& hours) {
  for (const Scale scale : hours.scales()) cells.push_back(text_of(hour_of(month[scale], hours)));
  for (const Scale scale : hours.scales()) cells.push_back(text_of(month[scale]));
  return cells;
}

Table parts_table(const Estimate& estimate, const Hours& hours) {
  Table out{"Costs of parts",
            "Costs in " + estimate.currency + ", on average of a month",
            {"Part", "Machines"}};
  add_heads(hours, out);
  for (const cost::Part& part : estimate.parts) {
    out.rows.push_back(with_figures({part.name, range_of(part.min, part.max)}, part.month, hours));
  }
  out.rows.push_back(with_figures({"total", ""}, estimate.month, hours));
  return out;
}

Table prices_table(const Estimate& estimate) {
  Table out{"Prices",
            "Prices of an hour of a machine, in " + estimate.currency,
            {"Part", "Item", "Counted", "Prices", "As of"}};
  for (const cost::Part& part : estimate.parts) {
    for (const Line& line : part.lines) {
      if (line.key.empty()) continue;  // it comes from no list
      std::string prices;
      for (std::size_t i = 0; i < cost::kMarkets; ++i) {
        if (!line.rates[i]) continue;
        prices += (prices.empty() ? "" : ", ") + line.rates[i]->exact() + " " +
                  std::string(kMarketTitles[i]);
      }
      const std::optional<cost::Market> market = cost::market_named(line.market);
      out.rows.push_back({part.name, line.key,
                          market ? std::string(kMarketTitles[*market]) : std::string(),
                          prices.empty() ? "unknown" : prices, line.as_of});
    }
  }
  return out;
}

Table power_table(const Estimate& estimate) {
  Table out{"Power", "Power at most", {"Part", "GPUs", "Draw", "kW at most"}};
  for (const cost::Part& part : estimate.parts) {
    if (!part.draws()) continue;
    out.rows.push_back({part.name, range_of(part.fewest_gpus(), part.most_gpus()), watts_text(part),
                        most_kilowatts(part)});
  }
  return out;
}

Table licences_table(const Estimate& estimate) {
  Table out{
      "Licences", "Licences that machines draw", {"Part", "Edition", "Licences", "Counted by"}};
  for (const cost::Part& part : estimate.parts) {
    for (const Line& line : part.lines) {
      if (line.unit.empty()) continue;
      out.rows.push_back({part.name, line.name, range_of(line.min, line.max), line.unit});
    }
  }
  return out;
}

}  // namespace

Estimate shown(Estimate estimate, const diag::Sources& sources) {
  const auto mask = [&](std::initializer_list<std::string*> texts) {
    for (std::string* text : texts) *text = sources.shown(*text);
  };
  mask({&estimate.cluster});
  for (cost::Part& part : estimate.parts) {
    mask({&part.title, &part.name, &part.type});
    for (Line& line : part.lines) {
      mask({&line.name, &line.key, &line.region, &line.source, &line.unknown});
    }
  }
  return estimate;
}

std::string unit_of(const std::string& currency, const Hours& hours) {
  return currency + " a month of " + std::to_string(hours.month) + " hours";
}

std::vector<Detail> cost_details(const Estimate& estimate, const Hours& hours) {
  std::vector<Detail> out;
  for (const Scale scale : hours.scales()) {
    out.push_back({"Month, " + std::string(kScaleTitles[scale]),
                   with_currency(estimate.month[scale], estimate.currency)});
  }
  const bool draws = std::any_of(estimate.parts.begin(), estimate.parts.end(),
                                 [](const cost::Part& part) { return part.draws(); });
  if (draws) {
    const std::optional<std::string> most = most_kilowatts(estimate);
    out.push_back({"Power at most", most ? *most + " kW" : "unknown"});
  }
  return out;
}

std::vector<Table> cost_tables(const Estimate& estimate, const Hours& hours) {
  std::vector<Table> out{parts_table(estimate, hours), prices_table(estimate),
                         power_table(estimate), licences_table(estimate)};
  std::erase_if(out, [](const Table& table) { return table.rows.empty(); });
  return out;
}

std::string sources_of(const Estimate& estimate) {
  std::vector<std::string> found;
  for (const cost::Part& part : estimate.parts) {
    for (const Line& line : part.lines) {
      for (std::string_view source : base::split(line.source, ';')) {
        source.remove_prefix(std::min(source.find_first_not_of(' '), source.size()));
        const bool known = std::find(found.begin(), found.end(), source) != found.end();
        if (!source.empty() && !known) found.emplace_back(source);
      }
    }
  }
  return base::join(found, "; ");
}

Table change_table(const cost::Change& change, const std::string& currency, const Hours& hours) {
  Table out{"What machines cost",
            "What machines cost, " + unit_of(currency, hours),
            {"At", "Before", "After", "Difference"},
            {},
            1};
  for (const Scale scale : hours.scales()) {
    const Figure& before = change.before[scale];
    const Figure& after = change.after[scale];
    out.rows.push_back({std::string(kScaleTitles[scale]), text_of(before), text_of(after),
                        difference_of(before, after)});
  }
  return out;
}

std::vector<Priced> priced_parts(const Estimate& estimate) {
  std::vector<Priced> out{{"total", estimate.month}};
  for (const cost::Part& part : estimate.parts) out.push_back({part.name, part.month});
  return out;
}

std::vector<Priced> priced_clusters(const Page& page) {
  std::vector<Priced> out{{"total", {}}};
  for (const Cluster& cluster : page.clusters) {
    Figures month;
    if (cluster.cost) {
      month = cluster.cost->month;
    } else {
      for (Figure& figure : month) figure.complete = false;
    }
    out.push_back({cluster.name, month});
    out.front().month = out.front().month + month;
  }
  return out;
}

std::string currency_of(const Page& page) {
  for (const Cluster& cluster : page.clusters) {
    if (cluster.cost) return cluster.cost->currency;
  }
  return {};
}

Table sum_table(const Page& page) {
  Table out{"Costs of all clusters",
            "Costs in " + currency_of(page) + ", on average of a month",
            {"Cluster"}};
  add_heads(page.hours, out);
  std::vector<Priced> all = priced_clusters(page);
  std::rotate(all.begin(), all.begin() + 1, all.end());  // the sum stands below its parts
  for (const Priced& one : all) out.rows.push_back(with_figures({one.name}, one.month, page.hours));
  return out;
}

}  // namespace gpuctl::report
