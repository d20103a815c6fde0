#include "report/html.hpp"

#include <algorithm>

#include "base/date.hpp"
#include "base/text.hpp"
#include "diag/print.hpp"
#include "report/drawings.hpp"
#include "report/markup.hpp"
#include "report/style.hpp"

namespace gpuctl::report {

namespace {

// Text of a diagnostic: what stands between backticks is code.
void prose(std::string_view text, Markup& out) {
  const std::vector<std::string_view> parts = base::split(text, '`');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool code = i % 2 == 1 && i + 1 < parts.size();
    if (code) {
      out.element("code", parts[i]);
    } else {
      out.text(i % 2 == 1 ? "`" + std::string(parts[i]) : std::string(parts[i]));
    }
  }
}

class ClusterWriter {
 public:
  ClusterWriter(const Cluster& cluster, std::size_t index, std::chrono::sys_days day, Markup& out)
      : cluster_(cluster), id_("c" + std::to_string(index)), day_(day), out_(out) {}

  void write() {
    out_.open("section", {{"class", "cluster"}, {"aria-labelledby", id_}});
    out_.open("div", {{"class", "top"}}).element("h2", cluster_.name, {{"id", id_}});
    out_.element("span", cluster_.accepted ? "accepted" : "refused",
                 {{"class", cluster_.accepted ? "badge good" : "badge error"}});
    out_.close();
    if (!cluster_.details.empty()) {
      out_.open("div", {{"class", "card"}});
      details(cluster_.details, "about");
      out_.close();
    }
    if (!cluster_.accepted) findings();
    plan();
    pools();
    layouts();
    versions();
    needs();
    missing();
    networks();
    if (cluster_.accepted) findings();
    out_.close();
  }

 private:
  Markup& card(std::string_view heading) {
    return out_.open("section", {{"class", "card"}}).element("h3", heading);
  }

  void details(const std::vector<Detail>& all, std::string_view kind) {
    out_.open("dl", {{"class", std::string(kind)}});
    for (const Detail& detail : all) {
      out_.open("div").element("dt", detail.name).element("dd", detail.value).close();
    }
    out_.close();
  }

  // Wide tables become a list of labelled values on narrow screens; roles keep them tables there.
  void table(const std::string& caption, std::initializer_list<std::string_view> heads,
             std::size_t numbers_from = kNoNumbers) {
    heads_.assign(heads.begin(), heads.end());
    numbers_from_ = numbers_from;
    const bool wide = heads.size() > 2 && numbers_from == kNoNumbers;
    out_.open("table", {{"role", "table"}, {"class", wide ? "wide" : "plain"}});
    out_.element("caption", caption + " (" + cluster_.name + ")");
    out_.open("thead", {{"role", "rowgroup"}}).open("tr", {{"role", "row"}});
    for (std::size_t column = 0; column < heads_.size(); ++column) {
      out_.element("th", heads_[column],
                   {{"role", "columnheader"}, {"scope", "col"}, {"class", kind_of(column)}});
    }
    out_.close().close().open("tbody", {{"role", "rowgroup"}});
  }

  void row(std::initializer_list<std::string> cells) {
    out_.open("tr", {{"role", "row"}});
    std::size_t column = 0;
    for (const std::string& cell : cells) {
      if (column == 0) {
        out_.element("th", cell, {{"role", "rowheader"}, {"scope", "row"}});
      } else {
        out_.open("td", {{"role", "cell"},
                         {"data-label", std::string(heads_[column])},
                         {"class", cell.empty() ? "empty" : kind_of(column)}});
        prose(cell, out_);
        out_.close();
      }
      ++column;
    }
    out_.close();
  }

  std::string kind_of(std::size_t column) const { return column >= numbers_from_ ? "n" : "t"; }

  void end_table() { out_.close().close(); }

  void pools() {
    if (cluster_.pools.empty()) return;
    out_.element("h3", "Pools").open("div", {{"class", "grid pools"}});
    for (const Pool& pool : cluster_.pools) {
      out_.open("section", {{"class", "card"}}).element("h4", pool.name);
      details(pool.details, "of");
      if (!pool.taints.empty()) {
        out_.element("p", "Taints", {{"class", "sub"}}).open("ul", {{"class", "chips"}});
        for (const std::string& taint : pool.taints) out_.element("li", taint);
        out_.close();
      }
      if (!pool.offers.empty()) {
        table("Resources of a node of pool " + pool.name + ", and of all its nodes",
              {"Resource", "Per node", "Least", "Most"}, 1);
        for (const Offer& offer : pool.offers) {
          row({offer.resource, offer.node, offer.least, offer.most});
        }
        end_table();
      }
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
    draw_timeline(cluster_.versions, day_, id_ + "-time", out_);
    table("Components", {"Component", "Version", "Released", "Support ends", "Remarks"});
    for (const Version& one : cluster_.versions) {
      const bool over = one.ends && *one.ends < day_;
      row({one.component, one.version, one.starts ? base::day_text(*one.starts) : "not known",
           one.ends ? base::day_text(*one.ends) + (over ? ", over" : "") : "not known", one.note});
    }
    end_table();
    out_.close();
  }

  void needs() {
    if (cluster_.needs.empty()) return;
    card("Licences and quotas");
    table("What must be there", {"Name", "Kind", "Amount", "For"});
    for (const Need& need : cluster_.needs) row({need.name, need.kind, need.amount, need.note});
    end_table();
    out_.close();
  }

  void findings() {
    card("Findings");
    if (cluster_.findings.empty()) out_.element("p", "None.");
    if (!cluster_.findings.empty()) out_.open("ul", {{"class", "findings"}});
    for (const diag::Finding& finding : cluster_.findings) {
      const std::string severity(diag::severity_name(finding.severity));
      out_.open("li").open("p");
      out_.element("span", severity + " " + finding.code, {{"class", "badge " + severity}});
      out_.text(" ");
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
    if (!cluster_.plan->disturbances.empty()) {
      table("What the commit does", {"Object", "Effect", "Extent", "Reason"});
      for (const Disturbance& one : cluster_.plan->disturbances) {
        row({one.object, one.effect, one.extent, one.reason});
      }
      end_table();
    }
    out_.close();
  }

  void missing() {
    if (cluster_.missing.empty()) return;
    card("Missing facts");
    table("Documents wait for these", {"Fact", "Documents", "How to get it"});
    for (const Missing& one : cluster_.missing) {
      row({one.fact, std::to_string(one.documents), one.obtain});
    }
    end_table();
    out_.close();
  }

  void networks() {
    if (cluster_.networks.empty()) return;
    card("Networks");
    draw_networks(cluster_, id_ + "-net", out_);
    out_.close();
  }

  static constexpr std::size_t kNoNumbers = 99;

  const Cluster& cluster_;
  std::vector<std::string_view> heads_;  // of the table that is open
  std::size_t numbers_from_ = kNoNumbers;
  std::string id_;
  std::chrono::sys_days day_;
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
  std::size_t index = 0;
  for (const Cluster& cluster : page.clusters) {
    ClusterWriter(cluster, index++, page.day, out).write();
  }
  out.close();
  out.element("footer", "Written by gpuctl from blueprints and its tables; no cluster was asked.");
  out.close().close();
  return out.written();
}

}  // namespace gpuctl::report
