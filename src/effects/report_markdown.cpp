#include <algorithm>
#include <string_view>

#include "base/text.hpp"
#include "effects/alike.hpp"
#include "effects/report.hpp"

namespace gpuctl::effects {

namespace {

// What forges take is 65,536 characters; a comment may have something before it.
constexpr std::size_t kMostBytes = 60'000;
constexpr std::string_view kMarker = "<!-- gpuctl plan -->\n";
constexpr std::string_view kLeftOut =
    "\nNot all details fit into a comment: `gpuctl plan` prints them.\n";

// A cell of a table: nothing in it ends the cell, begins a tag or an emphasis.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n' || c == '\r') {
      out += ' ';
    } else {
      if (std::string_view("|\\`*_<>[]~").find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return out;
}

std::string fields_of(const Finding& finding) {
  std::string out;
  for (const FieldChange& field : finding.fields) {
    if (!out.empty()) out += "<br>";
    out += cell(field.path) + ": " + cell(field.from.empty() ? "(absent)" : field.from) + " to " +
           cell(field.to.empty() ? "(absent)" : field.to);
  }
  return out;
}

// A cluster, and how many are like it.
std::string title(const ClusterChange& change, std::size_t others) {
  return cell(change.cluster) +
         (others == 0 ? "" : " and " + base::counted(others, "other cluster") + " alike");
}

std::string details(const ClusterChange& change, std::size_t others) {
  std::string out =
      "\n<details><summary>" + title(change, others) + ": " +
      base::counted(change.assessment.objects.size(), "object") +
      "</summary>\n\n| Effect | Object | Fields | What happens |\n|---|---|---|---|\n";
  for (const ObjectChange& object : change.assessment.objects) {
    for (const Finding& finding : object.findings) {
      const std::string extent = extent_of(finding);
      out += "| " + cell(class_of(finding)) + " | " + cell(object.kind + " " + object.name) +
             " | " + fields_of(finding) + " | " +
             cell((extent.empty() ? "" : extent + ": ") + finding.reason) +
             (object.blocked_by.empty() ? "" : "; blocked by " + cell(object.blocked_by)) + " |\n";
    }
  }
  for (const FileChange& file : change.assessment.files) {
    out += "| " + std::string(name_of(file.effect)) + " | " + cell(file.path) + " | | " +
           cell(file.reason) + " |\n";
  }
  for (const Way& way : change.assessment.ways) {
    out += "\nSafe way: " + cell(title_of(way)) + "\n\n";
    for (std::size_t i = 0; i < way.sequence->steps.size(); ++i) {
      out += "1. " + cell(step_text(way, i + 1)) + "\n";
      for (const std::string& command : way.sequence->steps[i].commands) {
        out += "   `" + command + "`\n";
      }
    }
  }
  return out + "\n</details>\n";
}

}  // namespace

std::string markdown(const std::vector<ClusterChange>& changes) {
  Effect worst = Effect::none;
  std::size_t changed = 0;
  for (const ClusterChange& change : changes) {
    worst = std::max(worst, change.assessment.worst());
    if (change.changed) ++changed;
  }
  std::string out(kMarker);
  out += "**gpuctl plan: " + base::counted(changed, "cluster") +
         (changed == 1 ? " changes" : " change") +
         ", worst effect: " + std::string(name_of(worst)) + "**\n";
  if (changed == 0) return out;
  out += "\n| Cluster | Files | Effect |\n|---|---|---|\n";
  bool all = true;
  const auto add = [&](const std::string& part) {
    all = all && out.size() + part.size() + kLeftOut.size() <= kMostBytes;
    if (all) out += part;
  };
  const std::vector<std::vector<std::size_t>> groups = alike(changes);
  for (const std::vector<std::size_t>& group : groups) {
    if (!changes[group.front()].changed) continue;
    std::string names;
    for (const std::size_t i : group) {
      names += (names.empty() ? "" : ", ") + cell(changes[i].cluster);
    }
    const ClusterChange& one = changes[group.front()];
    add("| " + names + " | " + cell(one.files) + " | " + cell(headline(one)) + " |\n");
  }
  for (const std::vector<std::size_t>& group : groups) {
    const ClusterChange& one = changes[group.front()];
    if (one.changed && !one.first) add(details(one, group.size() - 1));
  }
  if (!all) out += kLeftOut;
  return out;
}

}  // namespace gpuctl::effects
