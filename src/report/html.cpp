#include "report/html.hpp"

#include <algorithm>

#include "base/date.hpp"
#include "base/text.hpp"
#include "cost/words.hpp"
#include "diag/print.hpp"
#include "report/costs.hpp"
#include "report/drawings.hpp"
#include "report/html_parts.hpp"
#include "report/style.hpp"
#include "report/table.hpp"

namespace gpuctl::report {

namespace {

class ClusterWriter {
 public:
  ClusterWriter(const Page& page, std::size_t index, Markup& out)
      : page_(page), cluster_(page.clusters[index]), id_("c" + std::to_string(index)), out_(out) {}

  void write() {
    out_.open("section", {{"class", "cluster"}, {"aria-labelledby", id_}});
    out_.open("div", {{"class", "top"}}).element("h2", cluster_.name, {{"id", id_}});
    out_.element("span", cluster_.accepted ? "accepted" : "refused",
                 {{"class", cluster_.accepted ? "badge good" : "badge error"}});
    out_.close();
    if (!cluster_.details.empty()) {
      out_.open("div", {{"class", "card"}});
      details(cluster_.details, "about", out_);
      out_.close();
    }
    if (!cluster_.accepted) findings();
    plan();
    pools();
    layouts();
    versions();
    table_card(needs_table(cluster_));
    costs();
    table_card(missing_table(cluster_));
    networks();
    checklists();
    if (cluster_.accepted) findings();
    out_.close();
  }

 private:
  Markup& card(std::string_view heading) {
    return out_.open("section", {{"class", "card"}}).element("h3", heading);
  }

  void table(const Table& table) { write_table(table, cluster_.name, out_); }

  // A card with nothing but a table, if that has rows.
  void table_card(const Table& content) {
    if (content.rows.empty()) return;
    card(content.heading);
    table(content);
    out_.close();
  }

  void pools() {
    if (cluster_.pools.empty()) return;
    out_.element("h3", "Pools").open("div", {{"class", "grid pools"}});
    for (const Pool& pool : cluster_.pools) {
      out_.open("section", {{"class", "card"}}).element("h4", pool.name);
      details(pool.details, "of", out_);
      if (!pool.taints.empty()) {
        out_.element("p", "Taints", {{"class", "sub"}}).open("ul", {{"class", "chips"}});
        for (const std::string& taint : pool.taints) out_.element("li", taint);
        out_.close();
      }
      table(offers_table(pool));
      out_.close();
    }
    out_.close();
  }

  void layouts() {
    if (cluster_.layouts.empty()) return;
    out_.element("h3", "MIG layouts").open("div", {{"class", "grid pools"}});
    std::size_t number = 0;
    for (const Layout& layout : cluster_.layouts) {
      out_.open("section", {{"class", "card"}});
      out_.element("h4", layout.title + ", pool " + layout.pool).open("figure");
      draw_layout(layout, id_ + "-mig" + std::to_string(number++), out_);
      out_.open("figcaption")
          .text(layout.gpus + (layout.gpus == "1" ? " GPU" : " GPUs") + " of each node; ");
      out_.text(words_of(layout)).text(".").close().close().close();
    }
    out_.close();
  }

  void versions() {
    if (cluster_.versions.empty()) return;
    card("Versions and support");
    draw_timeline(cluster_.versions, page_.day, id_ + "-time", out_);
    table(versions_table(cluster_, page_.day));
    out_.close();
  }

  void findings() {
    card("Findings");
    if (cluster_.findings.empty()) out_.element("p", "None.");
    if (!cluster_.findings.empty()) out_.open("ul", {{"class", "findings"}});
    for (const diag::Finding& finding : cluster_.findings) {
      const std::string severity(diag::severity_name(finding.severity));
      out_.open("li").open("p");
      out_.open("span", {{"class", "badge " + severity}}).text(severity + " ");
      const std::string address = page_.page_of(finding.code);
      if (address.empty()) {
        out_.text(finding.code);
      } else {
        out_.element("a", finding.code, {{"href", address}});
      }
      out_.close().text(" ");
      prose(finding.message, out_);
      out_.close();
      if (finding.at) {
        out_.open("p", {{"class", "sub"}});
        out_.element("code", finding.at->file + ":" + std::to_string(finding.at->begin.line) + ":" +
                                 std::to_string(finding.at->begin.column));
        out_.close();
      }
      for (const std::string& sentence : finding.sentences) {
        out_.open("p", {{"class", "sub"}});
        prose(sentence, out_);
        out_.close();
      }
      out_.close();
    }
    if (!cluster_.findings.empty()) out_.close();
    out_.close();
  }

  void plan() {
    if (!cluster_.plan) return;
    card("Plan");
    out_.open("p").element("strong", cluster_.plan->headline);
    if (cluster_.plan->files != cluster_.plan->headline) {
      out_.text(" (" + cluster_.plan->files + ")");
    }
    out_.close();
    table(plan_table(*cluster_.plan));
    if (cluster_.plan->costs) {
      table(change_table(*cluster_.plan->costs, currency_of(page_), page_.hours));
    }
    out_.close();
  }

  void costs() {
    if (!cluster_.cost) return;
    const cost::Estimate& estimate = *cluster_.cost;
    card("Costs and power");
    details(cost_details(estimate, page_.hours), "about", out_);
    draw_costs(priced_parts(estimate),
               "Costs of " + cluster_.name + " in " + unit_of(estimate.currency, page_.hours),
               page_.hours, id_ + "-cost", out_);
    for (const Table& one : cost_tables(estimate, page_.hours)) table(one);
    const std::vector<std::string> unknown = unknown_of(estimate);
    if (!unknown.empty()) {
      out_.element("p", "Not known:").open("ul");
      for (const std::string& text : unknown) {
        out_.open("li");
        prose(text, out_);
        out_.close();
      }
      out_.close();
    }
    const std::string sources = sources_of(estimate);
    if (!sources.empty()) out_.element("p", "Sources: " + sources + ".", {{"class", "sub"}});
    if (!estimate.leaves_out.empty()) {
      out_.element("p", "Not counted: " + base::join(estimate.leaves_out, ", ") + ".",
                   {{"class", "sub"}});
    }
    out_.close();
  }

  void networks() {
    if (cluster_.networks.empty()) return;
    card("Networks");
    draw_networks(cluster_, id_ + "-net", out_);
    out_.close();
  }

  void checklists() {
    for (const Checklist& list : cluster_.checklists) {
      card(list.title);
      out_.element("p", list.note, {{"class", "sub"}});
      table(checklist_table(list));
      out_.close();
    }
  }

  const Page& page_;
  const Cluster& cluster_;
  std::string id_;
  Markup& out_;
};

void contents(const Page& page, Markup& out) {
  if (page.clusters.size() < 2) return;
  out.open("nav", {{"class", "card"}, {"aria-label", "Clusters"}}).open("ul");
  std::size_t index = 0;
  for (const Cluster& cluster : page.clusters) {
    out.open("li").element("a", cluster.name, {{"href", "#c" + std::to_string(index++)}});
    const auto errors = std::count_if(
        cluster.findings.begin(), cluster.findings.end(),
        [](const diag::Finding& one) { return one.severity == diag::Severity::error; });
    if (errors != 0) {
      out.text(" ").element("span", base::counted(static_cast<std::size_t>(errors), "error"),
                            {{"class", "badge error"}});
    }
    out.close();
  }
  out.close().close();
}

// What all clusters of the page cost together.
void sum(const Page& page, Markup& out) {
  if (page.clusters.size() < 2 || currency_of(page).empty()) return;
  const std::string unit = unit_of(currency_of(page), page.hours);
  const Table table = sum_table(page);
  out.open("section", {{"class", "card"}}).element("h2", table.heading);
  draw_costs(priced_clusters(page), "Costs of all clusters in " + unit, page.hours, "sum", out);
  write_table(table, "all clusters", out);
  out.close();
}

}  // namespace

std::string html(const Page& page) {
  Markup out;
  const std::string title =
      page.clusters.size() == 1 ? "GPU cluster " + page.clusters.front().name : "GPU clusters";
  out.constant("<!DOCTYPE html>\n").open("html", {{"lang", "en"}}).open("head");
  out.single("meta", {{"charset", "utf-8"}});
  out.single("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  out.element("title", title + ", " + base::day_text(page.day));
  out.open("style").constant(kStyle).close().close().open("body");
  out.open("header").element("h1", title);
  out.element("p", "As of " + base::day_text(page.day), {{"class", "sub"}}).close();
  out.open("main");
  contents(page, out);
  sum(page, out);
  for (std::size_t i = 0; i < page.clusters.size(); ++i) ClusterWriter(page, i, out).write();
  out.close();
  out.element("footer",
              "Generated by gpuctl from blueprints and its catalogue. No cluster was queried.");
  out.close().close();
  return out.written();
}

}  // namespace gpuctl::report
