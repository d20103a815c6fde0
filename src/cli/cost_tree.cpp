#include "cli/cost_tree.hpp"

#include <algorithm>
#include <map>

#include "cli/cost_report.hpp"
#include "diag/character.hpp"

namespace gpuctl::cli {

namespace {

using cost::Amount;
using cost::Estimate;
using cost::Figure;
using cost::Figures;
using cost::Hours;
using cost::Line;
using cost::Part;
using yaml::Node;

Node number_of(const Amount& amount) {
  return Node::real(static_cast<double>(amount.hundredths()) / 100.0);
}

Node known_number(const Figure& figure) {
  return number_of(figure.known);
}

Node figure_tree(const Figure& figure, yaml::Arena& arena) {
  yaml::MapBuilder out;
  out.set(arena, "known", known_number(figure));
  out.set(arena, "complete", Node::boolean(figure.complete));
  return out.build(arena);
}

void set_number(std::string_view field, const std::optional<std::int64_t>& number,
                yaml::MapBuilder& to, yaml::Arena& arena) {
  if (number) to.set(arena, field, Node::integer(*number));
}

void set_text(std::string_view field, const std::string& text, yaml::MapBuilder& to,
              yaml::Arena& arena) {
  if (!text.empty()) to.set(arena, field, arena.string(diag::shown(text)));
}

double price_number(const Amount& amount) {
  return static_cast<double>(amount.micros()) / 1'000'000.0;
}

Node line_tree(const Line& line, const Hours& hours, yaml::Arena& arena) {
  yaml::MapBuilder out;
  out.set(arena, "name", arena.string(diag::shown(line.name)));
  set_text("key", line.key, out, arena);
  set_text("region", line.region, out, arena);
  set_text("market", line.market, out, arena);
  yaml::MapBuilder rates;
  for (std::size_t i = 0; i < cost::kMarkets; ++i) {
    if (!line.rates[i]) continue;
    rates.set(arena, cost::kMarketNames[i], Node::real(price_number(*line.rates[i])));
  }
  if (!rates.empty()) out.set(arena, "perHour", rates.build(arena));
  set_text("source", line.source, out, arena);
  set_text("asOf", line.as_of, out, arena);
  set_text("unit", line.unit, out, arena);
  set_number("min", line.min, out, arena);
  set_number("max", line.max, out, arena);
  set_text("unknown", line.unknown, out, arena);
  out.set(arena, "month", figures_tree(line.month, hours, arena));
  return out.build(arena);
}

yaml::MapBuilder part_fields(const Part& part, yaml::Arena& arena) {
  yaml::MapBuilder out;
  out.set(arena, "part", arena.string(diag::shown(part.name)));
  out.set(arena, "kind", arena.string(part.kind));
  set_text("type", part.type, out, arena);
  set_number("machinesMin", part.min, out, arena);
  set_number("machinesMax", part.max, out, arena);
  set_number("gpusMin", part.fewest_gpus(), out, arena);
  set_number("gpusMax", part.most_gpus(), out, arena);
  set_number("gpuWattsPerMachine", part.gpu_watts, out, arena);
  set_number("wattsMax", part.most_watts(), out, arena);
  return out;
}

Node part_tree(const Part& part, const Hours& hours, yaml::Arena& arena) {
  yaml::MapBuilder out = part_fields(part, arena);
  std::vector<Node> lines;
  for (const Line& line : part.lines) lines.push_back(line_tree(line, hours, arena));
  out.set(arena, "lines", arena.list(lines));
  out.set(arena, "month", figures_tree(part.month, hours, arena));
  return out.build(arena);
}

// A part as one row of CSV.
Node flat_row(const Estimate& estimate, const Part& part, const Hours& hours, yaml::Arena& arena) {
  yaml::MapBuilder out;
  set_cluster(estimate.cluster, out, arena);
  const yaml::MapBuilder fields = part_fields(part, arena);
  // All rows have the same columns, whatever is known of the first.
  for (const char* field : {"part", "kind", "type", "machinesMin", "machinesMax", "gpusMin",
                            "gpusMax", "gpuWattsPerMachine", "wattsMax"}) {
    const Node* value = fields.find(field);
    out.set(arena, field, value == nullptr ? arena.string("") : *value);
  }
  out.set(arena, "currency", arena.string(estimate.currency));
  for (const std::size_t scale : hours.scales()) {
    const std::string name(cost::kScaleNames[scale]);
    const Figure& figure = part.month[scale];
    out.set(arena, name, arena.string(figure.is_unknown() ? "" : figure.known.text()));
    out.set(arena, name + "Complete", Node::boolean(figure.complete));
  }
  const Line* from = part.priced();
  out.set(arena, "market", arena.string(from == nullptr ? "" : from->market));
  for (std::size_t i = 0; i < cost::kMarkets; ++i) {
    out.set(arena, std::string(cost::kMarketNames[i]) + "PerHour",
            arena.string(from == nullptr || !from->rates[i] ? "" : from->rates[i]->exact()));
  }
  out.set(arena, "asOf", arena.string(from == nullptr ? "" : from->as_of));
  out.set(arena, "source", arena.string(from == nullptr ? "" : from->source));
  std::string unknown;
  for (const Line& line : part.lines) {
    if (!line.unknown.empty()) unknown += (unknown.empty() ? "" : "; ") + diag::shown(line.unknown);
  }
  out.set(arena, "unknown", arena.string(unknown));
  return out.build(arena);
}

// Parts by cluster and name; where there is one cluster on each side, by name alone.
using PartsByName = std::map<std::string, Figures>;

PartsByName parts_of(const std::vector<Estimate>& estimates, bool named) {
  PartsByName out;
  for (const Estimate& estimate : estimates) {
    for (const Part& part : estimate.parts) {
      out[(named ? estimate.cluster + " " : "") + part.name] = part.month;
    }
  }
  return out;
}

bool is_same(const Figure& one, const Figure& other) {
  return one.complete && other.complete && one.known == other.known;
}

}  // namespace

Node figures_tree(const Figures& figures, const Hours& hours, yaml::Arena& arena) {
  yaml::MapBuilder out;
  for (const std::size_t scale : hours.scales()) {
    out.set(arena, cost::kScaleNames[scale], figure_tree(figures[scale], arena));
  }
  return out.build(arena);
}

Listing cost_rows(const std::vector<Estimate>& estimates, const Hours& hours, yaml::Arena& arena) {
  Listing out;
  for (const Estimate& estimate : estimates) {
    for (const Part& part : estimate.parts)
      out.rows.push_back(flat_row(estimate, part, hours, arena));
  }
  return out;
}

Node cost_tree(const std::vector<Estimate>& estimates, const Hours& hours, yaml::Arena& arena) {
  yaml::MapBuilder out;
  std::vector<Node> clusters;
  for (const Estimate& estimate : estimates) {
    yaml::MapBuilder cluster;
    set_cluster(estimate.cluster, cluster, arena);
    std::vector<Node> parts;
    for (const Part& part : estimate.parts) parts.push_back(part_tree(part, hours, arena));
    cluster.set(arena, "parts", arena.list(parts));
    cluster.set(arena, "month", figures_tree(estimate.month, hours, arena));
    cluster.set(arena, "notCounted", texts(estimate.leaves_out, arena));
    clusters.push_back(cluster.build(arena));
  }
  out.set(arena, "currency", arena.string(estimates.empty() ? "USD" : estimates.front().currency));
  out.set(arena, "hours", Node::integer(hours.month));
  out.set(arena, "clusters", arena.list(clusters));
  out.set(arena, "month", figures_tree(cost::sum_of(estimates), hours, arena));
  return out.build(arena);
}

Listing comparison(const std::vector<Estimate>& these, const std::vector<Estimate>& others,
                   const Hours& hours, yaml::Arena& arena) {
  Listing out;
  out.titles = {"PART", "AT", "THIS", "OTHER", "DIFFERENCE"};
  const auto add = [&](const std::string& name, const Figures& one, const Figures& other) {
    add_change(name, one, other, hours, out);
    for (const std::size_t scale : hours.scales()) {
      yaml::MapBuilder row;
      row.set(arena, "part", arena.string(diag::shown(name)));
      row.set(arena, "at", arena.string(cost::kScaleNames[scale]));
      row.set(arena, "this", known_number(one[scale]));
      row.set(arena, "thisComplete", Node::boolean(one[scale].complete));
      row.set(arena, "other", known_number(other[scale]));
      row.set(arena, "otherComplete", Node::boolean(other[scale].complete));
      const bool known = one[scale].complete && other[scale].complete;
      const Amount more = other[scale].known - one[scale].known;
      if (known) {
        row.set(arena, "difference", number_of(more));
      }
      out.rows.push_back(row.build(arena));
    }
  };
  const bool named = these.size() != 1 || others.size() != 1;
  const PartsByName one = parts_of(these, named);
  const PartsByName other = parts_of(others, named);
  PartsByName all = one;
  all.insert(other.begin(), other.end());
  for (const auto& [name, unused] : all) {
    const auto here = one.find(name);
    const auto there = other.find(name);
    const Figures a = here == one.end() ? Figures() : here->second;
    const Figures b = there == other.end() ? Figures() : there->second;
    if (!std::equal(a.begin(), a.end(), b.begin(), is_same)) add(name, a, b);
  }
  add("total", cost::sum_of(these), cost::sum_of(others));
  return out;
}

}  // namespace gpuctl::cli
