#include "cli/cost_report.hpp"

#include <algorithm>
#include <set>

#include "cli/columns.hpp"
#include "cost/words.hpp"
#include "diag/character.hpp"

namespace gpuctl::cli {

namespace {

using cost::Estimate;
using cost::Figures;
using cost::Hours;
using cost::Line;
using cost::Part;
using cost::range_of;

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return out;
}

std::string rate_of(const Line* line, cost::Market market) {
  return line == nullptr || !line->rates[market] ? std::string() : line->rates[market]->exact();
}

Listing table_of(const Estimate& estimate, const Hours& hours) {
  Listing out;
  out.titles = {"PART", "MACHINES", "TYPE"};
  out.shown = {0, 1, 2};
  const std::vector<cost::Scale> scales = hours.scales();
  for (const std::size_t scale : scales) {
    out.shown.push_back(out.titles.size());
    out.titles.push_back(upper(cost::kScaleNames[scale]) + " " + estimate.currency);
  }
  for (const char* title : {"MARKET", "ON-DEMAND/H", "SPOT/H", "RESERVED-1Y/H", "RESERVED-3Y/H",
                            "GPUS", "KW", "AS OF", "SOURCE"}) {
    out.titles.emplace_back(title);
  }
  for (const Part& part : estimate.parts) {
    std::vector<std::string> line = {diag::shown(part.name), range_of(part.min, part.max),
                                     diag::shown(part.type)};
    for (const std::size_t scale : scales) line.push_back(cost::text_of(part.month[scale]));
    const Line* from = part.priced();
    line.push_back(from == nullptr ? "" : from->market);
    for (const cost::Market market :
         {cost::kOnDemand, cost::kSpot, cost::kReserved1y, cost::kReserved3y}) {
      line.push_back(rate_of(from, market));
    }
    const bool has_gpus = part.gpus != 0;
    line.push_back(has_gpus ? range_of(part.fewest_gpus(), part.most_gpus()) : "");
    line.push_back(part.draws() ? cost::most_kilowatts(part) : "");
    line.push_back(from == nullptr ? "" : from->as_of);
    line.push_back(from == nullptr ? "" : from->source);
    out.lines.push_back(std::move(line));
  }
  std::vector<std::string> total = {"total", "", ""};
  for (const std::size_t scale : scales) total.push_back(cost::text_of(estimate.month[scale]));
  total.resize(out.titles.size());
  total[out.titles.size() - 3] = cost::most_kilowatts(estimate).value_or("unknown");
  out.lines.push_back(std::move(total));
  return out;
}

Listing table_of_all(const std::vector<Estimate>& estimates, const Hours& hours) {
  Listing out;
  out.titles = {"CLUSTER"};
  const std::vector<cost::Scale> scales = hours.scales();
  for (const std::size_t scale : scales) {
    out.titles.push_back(upper(cost::kScaleNames[scale]) + " " + estimates.front().currency);
  }
  for (const Estimate& estimate : estimates) {
    std::vector<std::string> line = {estimate.cluster};
    for (const std::size_t scale : scales) line.push_back(cost::text_of(estimate.month[scale]));
    out.lines.push_back(std::move(line));
  }
  const Figures sum = cost::sum_of(estimates);
  std::vector<std::string> total = {"total"};
  for (const std::size_t scale : scales) total.push_back(cost::text_of(sum[scale]));
  out.lines.push_back(std::move(total));
  return out;
}

std::string licences_text(const Estimate& estimate, const std::string& bullet) {
  std::string out;
  for (const Part& part : estimate.parts) {
    for (const Line& line : part.lines) {
      if (line.unit.empty()) continue;
      out += bullet + diag::shown(part.name) + ": " + range_of(line.min, line.max) + " of " +
             diag::shown(line.name) + ", by " + line.unit + "\n";
    }
  }
  return out;
}

// "gpu: 5.8 kW, 700 W a GPU"; of machines of the user's own with the rest of them.
std::string power_text(const Estimate& estimate, const std::string& bullet) {
  std::string out;
  for (const Part& part : estimate.parts) {
    if (!part.draws()) continue;
    const std::string watts = cost::watts_text(part);
    out += bullet + diag::shown(part.name) + ": " +
           (part.most_watts() ? cost::most_kilowatts(part) + " kW" : "unknown") +
           (watts.empty() ? "" : ", " + watts) + "\n";
  }
  return out;
}

std::string paragraph(const std::string& text, bool markdown) {
  return markdown ? text + "\n" : wrapped(text, kColumns, "");
}

std::string notes_of(const Estimate& estimate, bool markdown) {
  const std::string bullet = markdown ? "- " : "  ";
  std::string out;
  const auto add = [&](const std::string& heading, const std::string& lines) {
    if (lines.empty()) return;
    const std::string gap = markdown ? "\n" : "";
    out += gap + heading + ":\n" + gap + lines;
  };
  add("power at most", power_text(estimate, bullet));
  add("licences", licences_text(estimate, bullet));
  std::string unknown;
  for (const std::string& text : cost::unknown_of(estimate)) unknown += bullet + text + "\n";
  add("not known (a file for `--costs` can have it: `gpuctl schema costs`)", unknown);
  return out;
}

}  // namespace

std::string markdown_of(const Listing& listing) {
  const auto row = [&](const std::vector<std::string>& cells) {
    std::string out = "|";
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (!listing.shown.empty() &&
          std::find(listing.shown.begin(), listing.shown.end(), i) == listing.shown.end()) {
        continue;
      }
      std::string cell = cells[i].empty() ? "-" : cells[i];
      for (std::size_t at = cell.find('|'); at != std::string::npos; at = cell.find('|', at + 2)) {
        cell.insert(at, 1, '\\');
      }
      out += " " + cell + " |";
    }
    return out + "\n";
  };
  std::string out = row(listing.titles) + "|";
  const std::size_t columns = listing.shown.empty() ? listing.titles.size() : listing.shown.size();
  for (std::size_t i = 0; i < columns; ++i) out += "---|";
  out += "\n";
  for (const std::vector<std::string>& line : listing.lines) out += row(line);
  return out;
}

void add_change(const std::string& name, const Figures& one, const Figures& other,
                const Hours& hours, Listing& to) {
  for (const std::size_t scale : hours.scales()) {
    to.lines.push_back({diag::shown(name), std::string(cost::kScaleNames[scale]),
                        cost::text_of(one[scale]), cost::text_of(other[scale]),
                        cost::difference_of(one[scale], other[scale])});
  }
}

std::string cost_text(const std::vector<Estimate>& estimates, const Hours& hours,
                      const std::string& form, yaml::Arena& arena) {
  const bool markdown = form == "markdown";
  const auto shown_table = [&](const Listing& listing) {
    return markdown ? markdown_of(listing) : text_of({listing}, form, arena);
  };
  std::string out;
  std::set<std::string> left_out;
  std::vector<std::string> left_out_in_order;
  for (const Estimate& estimate : estimates) {
    if (!out.empty()) out += "\n";
    out += (markdown ? "### " : "# ") + estimate.cluster + ": " + estimate.currency +
           " a month of " + std::to_string(hours.month) + " hours\n" + (markdown ? "\n" : "");
    out += shown_table(table_of(estimate, hours)) + notes_of(estimate, markdown);
    for (const std::string& text : estimate.leaves_out) {
      if (left_out.insert(text).second) left_out_in_order.push_back(text);
    }
  }
  if (estimates.size() > 1) {
    out +=
        std::string("\n") + (markdown ? "### " : "# ") + "all clusters\n" + (markdown ? "\n" : "");
    out += shown_table(table_of_all(estimates, hours));
  }
  if (left_out_in_order.empty()) return out;
  return out + (markdown ? "\n" : "") +
         paragraph("not counted: " + base::join(left_out_in_order, ", "), markdown);
}

}  // namespace gpuctl::cli
