#include "report/markdown.hpp"

#include <cctype>

#include "base/date.hpp"
#include "base/text.hpp"
#include "diag/character.hpp"
#include "diag/print.hpp"
#include "report/drawings.hpp"

namespace gpuctl::report {

namespace {

using Cells = std::vector<std::string>;

std::string row(const Cells& cells) {
  std::string out = "|";
  for (const std::string& cell : cells) out += " " + markdown_text(cell) + " |";
  return out + "\n";
}

std::string table(const std::string& heading, const Cells& heads, const std::vector<Cells>& rows) {
  if (rows.empty()) return {};
  std::string out = "\n### " + heading + "\n\n" + row(heads) + "|";
  for (std::size_t i = 0; i < heads.size(); ++i) out += " --- |";
  out += "\n";
  for (const Cells& cells : rows) out += row(cells);
  return out;
}

std::string day(const std::optional<std::chrono::sys_days>& known) {
  return known ? base::day_text(*known) : "not known";
}

std::string pools(const Cluster& cluster) {
  if (cluster.pools.empty()) return {};
  std::string out = "\n### Pools\n";
  for (const Pool& pool : cluster.pools) {
    out += "\n#### " + markdown_text(pool.name) + "\n\n";
    for (const Detail& detail : pool.details) {
      out += "- " + markdown_text(detail.name) + ": " + markdown_text(detail.value) + "\n";
    }
    for (const std::string& taint : pool.taints) out += "- Taint: " + markdown_text(taint) + "\n";
    for (const Offer& offer : pool.offers) {
      out += "- " + markdown_text(offer.resource) + ": " + markdown_text(offer.node) +
             " on a node, " + markdown_text(offer.least) + " to " + markdown_text(offer.most) +
             " in the pool\n";
    }
  }
  return out;
}

std::string findings(const Cluster& cluster) {
  std::string out = "\n### Findings\n\n";
  if (cluster.findings.empty()) return out + "None.\n";
  for (const diag::Finding& finding : cluster.findings) {
    out += "- **" + std::string(diag::severity_name(finding.severity)) + " " +
           markdown_text(finding.code) + "**: " + markdown_text(finding.message);
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

std::string plan(const Plan& plan) {
  std::vector<Cells> rows;
  for (const Disturbance& one : plan.disturbances) {
    rows.push_back({one.object, one.effect, one.extent, one.reason});
  }
  const std::string files =
      plan.files == plan.headline ? std::string() : " (" + markdown_text(plan.files) + ")";
  return "\n### Plan\n\n**" + markdown_text(plan.headline) + "**" + files + "\n" +
         table("What the commit does", {"Object", "Effect", "Extent", "Reason"}, rows);
}

std::string tables(const Cluster& cluster, std::chrono::sys_days today) {
  std::vector<Cells> layouts;
  for (const Layout& one : cluster.layouts) {
    layouts.push_back({one.pool, one.title, one.gpus, places_of(one), words_of(one)});
  }
  std::vector<Cells> versions;
  for (const Version& one : cluster.versions) {
    versions.push_back({one.component, one.version, day(one.starts),
                        day(one.ends) + (one.ends && *one.ends < today ? ", over" : ""), one.note});
  }
  std::vector<Cells> needs;
  for (const Need& one : cluster.needs) {
    needs.push_back({one.name, one.kind, one.amount, one.note});
  }
  std::vector<Cells> missing;
  for (const Missing& one : cluster.missing) {
    missing.push_back({one.fact, std::to_string(one.documents), one.obtain});
  }
  std::vector<Cells> networks;
  for (const Network& one : cluster.networks) {
    networks.push_back(
        {one.name, one.kind, base::join(one.ranges, ", "), base::join(one.pools, ", ")});
  }
  return table("MIG layouts", {"Pool", "GPU", "GPUs of a node", "Instances", "Slices"}, layouts) +
         table("Versions and support",
               {"Component", "Version", "Released", "Support ends", "Remarks"}, versions) +
         table("Licences and quotas", {"Name", "Kind", "Amount", "For"}, needs) +
         table("Missing facts", {"Fact", "Documents", "How to get it"}, missing) +
         table("Networks", {"Name", "Kind", "Ranges", "Pools"}, networks);
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
  std::string out = "# GPU clusters, " + base::day_text(page.day) + "\n";
  for (const Cluster& cluster : page.clusters) {
    out += "\n## " + markdown_text(cluster.name) + "\n\n" +
           (cluster.accepted ? "Accepted.\n" : "Refused.\n");
    if (!cluster.details.empty()) out += "\n";
    for (const Detail& detail : cluster.details) {
      out += "- " + markdown_text(detail.name) + ": " + markdown_text(detail.value) + "\n";
    }
    out += findings(cluster);
    if (cluster.plan) out += plan(*cluster.plan);
    out += pools(cluster) + tables(cluster, page.day);
  }
  return out;
}

}  // namespace gpuctl::report
