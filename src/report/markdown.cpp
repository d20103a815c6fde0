#include "report/markdown.hpp"

#include <cctype>

#include "base/date.hpp"
#include "base/text.hpp"
#include "cost/words.hpp"
#include "diag/character.hpp"
#include "diag/print.hpp"
#include "report/costs.hpp"
#include "report/table.hpp"

namespace gpuctl::report {

namespace {

std::string row(const Cells& cells) {
  std::string out = "|";
  for (const std::string& cell : cells) out += " " + markdown_text(cell) + " |";
  return out + "\n";
}

std::string heading_of(const Table& table, std::size_t level) {
  return "\n" + std::string(level, '#') + " " + markdown_text(table.heading) + "\n\n";
}

std::string rows_of(const Table& table) {
  std::string out = row(table.heads) + "|";
  for (std::size_t i = 0; i < table.heads.size(); ++i) {
    out += i < table.numbers_from ? " --- |" : " ---: |";
  }
  out += "\n";
  for (const Cells& cells : table.rows) out += row(cells);
  return out;
}

// Below a heading; nothing where the table has no rows.
std::string text_of(const Table& table, std::size_t level = 3) {
  return table.rows.empty() ? std::string() : heading_of(table, level) + rows_of(table);
}

std::string text_of(const std::vector<Detail>& details) {
  std::string out;
  for (const Detail& detail : details) {
    out += "- " + markdown_text(detail.name) + ": " + markdown_text(detail.value) + "\n";
  }
  return out;
}

std::string pools(const Cluster& cluster) {
  if (cluster.pools.empty()) return {};
  std::string out = "\n### Pools\n";
  for (const Pool& pool : cluster.pools) {
    out += "\n#### " + markdown_text(pool.name) + "\n\n";
    out += text_of(pool.details);
    for (const std::string& taint : pool.taints) out += "- Taint: " + markdown_text(taint) + "\n";
    for (const Offer& offer : pool.offers) {
      out += "- " + markdown_text(offer.resource) + ": " + markdown_text(offer.node) +
             " on a node, " + markdown_text(offer.least) + " to " + markdown_text(offer.most) +
             " in the pool\n";
    }
  }
  return out;
}

// An address that ends where the link ends.
std::string target(const std::string& address) {
  return base::percent_encoded(address, "/:?#@!$&+,;=%");
}

std::string findings(const Cluster& cluster, const Page& page) {
  std::string out = "\n### Findings\n\n";
  if (cluster.findings.empty()) return out + "None.\n";
  for (const diag::Finding& finding : cluster.findings) {
    const std::string address = page.page_of(finding.code);
    const std::string code = markdown_text(finding.code);
    out += "- **" + std::string(diag::severity_name(finding.severity)) + " " +
           (address.empty() ? code : "[" + code + "](" + target(address) + ")") +
           "**: " + markdown_text(finding.message);
    if (finding.at) {
      out += " (" + markdown_text(finding.at->file) + ":" + std::to_string(finding.at->begin.line) +
             ":" + std::to_string(finding.at->begin.column) + ")";
    }
    out += "\n";
    for (const std::string& sentence : finding.sentences) {
      out += "  - " + markdown_text(sentence) + "\n";
    }
  }
  return out;
}

std::string plan(const Cluster& cluster, const Page& page) {
  if (!cluster.plan) return {};
  const Plan& plan = *cluster.plan;
  const std::string files =
      plan.files == plan.headline ? std::string() : " (" + markdown_text(plan.files) + ")";
  std::string out = "\n### Plan\n\n**" + markdown_text(plan.headline) + "**" + files + "\n" +
                    text_of(plan_table(plan));
  if (plan.costs) out += text_of(change_table(*plan.costs, currency_of(page), page.hours));
  return out;
}

std::string costs(const Cluster& cluster, const cost::Hours& hours) {
  if (!cluster.cost) return {};
  std::string out = "\n### Costs and power\n\n" + text_of(cost_details(*cluster.cost, hours));
  for (const Table& table : cost_tables(*cluster.cost, hours)) out += text_of(table, 4);
  const std::vector<std::string> unknown = unknown_of(*cluster.cost);
  if (!unknown.empty()) out += "\n#### Not known\n\n";
  for (const std::string& text : unknown) out += "- " + markdown_text(text) + "\n";
  const std::string sources = sources_of(*cluster.cost);
  if (!sources.empty()) out += "\nSources: " + markdown_text(sources) + ".\n";
  if (cluster.cost->leaves_out.empty()) return out;
  return out + "\nNot counted: " + markdown_text(base::join(cluster.cost->leaves_out, ", ")) +
         ".\n";
}

std::string checklists(const Cluster& cluster) {
  std::string out;
  for (const Checklist& list : cluster.checklists) {
    const Table table = checklist_table(list);
    out += heading_of(table, 3) + markdown_text(list.note) + "\n" +
           (table.rows.empty() ? "" : "\n" + rows_of(table));
  }
  return out;
}

std::string sum(const Page& page) {
  if (page.clusters.size() < 2 || currency_of(page).empty()) return {};
  return text_of(sum_table(page), 2);
}

}  // namespace

std::string markdown_text(std::string_view text) {
  std::string visible;
  diag::append_visible(visible, text);
  std::string out;
  const auto in_word = [&](std::size_t at) {
    const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
    return at > 0 && at + 1 < visible.size() && is_part(visible[at - 1]) &&
           is_part(visible[at + 1]);
  };
  for (std::size_t i = 0; i < visible.size(); ++i) {
    const char c = visible[i];
    if (c == '\n' || c == '\r') {
      out += ' ';
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else {
      // Within a word an underscore means nothing.
      const bool plain = c == '_' && in_word(i);
      if (!plain && std::string_view("\\`*_{}[]#|~>!").find(c) != std::string_view::npos)
        out += '\\';
      out += c;
    }
  }
  return out;
}

std::string markdown(const Page& page) {
  std::string out = "# GPU clusters, " + base::day_text(page.day) + "\n" + sum(page);
  for (const Cluster& cluster : page.clusters) {
    out += "\n## " + markdown_text(cluster.name) + "\n\n" +
           (cluster.accepted ? "Accepted.\n" : "Refused.\n");
    if (!cluster.details.empty()) out += "\n";
    out += text_of(cluster.details) + findings(cluster, page) + plan(cluster, page) +
           pools(cluster) + text_of(layouts_table(cluster)) +
           text_of(versions_table(cluster, page.day)) + text_of(needs_table(cluster)) +
           costs(cluster, page.hours) + text_of(missing_table(cluster)) +
           text_of(networks_table(cluster)) + checklists(cluster);
  }
  return out;
}

}  // namespace gpuctl::report
