#include <algorithm>
#include <string_view>

#include "base/text.hpp"
#include "effects/alike.hpp"
#include "effects/report.hpp"

namespace gpuctl::effects {

namespace {

constexpr std::size_t kColumns = 80;

// Words of `text` in lines below each other; a word that is too long has a line of its own.
void wrap(std::string_view text, const std::string& indent, std::string& out) {
  std::size_t column = 0;
  for (const std::string_view word : base::split(text, ' ')) {
    if (word.empty()) continue;
    const std::size_t width = base::code_points(word);
    if (column != 0 && column + 1 + width > kColumns) {
      out += '\n';
      column = 0;
    }
    if (column == 0) {
      out += indent;
      column = indent.size();
    } else {
      out += ' ';
      ++column;
    }
    out += word;
    column += width;
  }
  if (column != 0) out += '\n';
}

std::string verb(Operation operation) {
  switch (operation) {
    case Operation::created:
      return " is created";
    case Operation::removed:
      return " is removed";
    case Operation::moved:
      return " moves to layer ";
    default:
      return "";
  }
}

std::string value(const std::string& text) {
  return text.empty() ? "(absent)" : text;
}

void add_finding(const Finding& finding, std::string& out) {
  const std::string indent(6, ' ');
  for (const FieldChange& field : finding.fields) {
    wrap(field.path + ": " + value(field.from) + " -> " + value(field.to), indent, out);
  }
  std::string sentence = extent_of(finding);
  if (!finding.parallel.empty()) sentence += (sentence.empty() ? "" : ", ") + finding.parallel;
  if (!finding.takes.empty()) sentence += (sentence.empty() ? "" : ", ") + finding.takes;
  if (!sentence.empty()) sentence += ": ";
  sentence += finding.reason;
  if (!finding.actor.empty()) sentence += " (" + finding.actor + ")";
  wrap(sentence, indent, out);
}

void add_object(const ObjectChange& object, std::string& out) {
  const std::string name = object.kind + " " + object.name;
  const std::string title = name + (object.leaves ? " begins to leave" : verb(object.operation)) +
                            (object.operation == Operation::moved ? object.layer : "");
  for (const Finding& finding : object.findings) {
    wrap(class_of(finding) + ": " + (object.leaves && !finding.fields.empty() ? name : title), "  ",
         out);
    add_finding(finding, out);
  }
  if (object.findings.empty()) wrap("none: " + title + ", which is written otherwise", "  ", out);
  if (!object.blocked_by.empty()) {
    wrap("blocked by " + object.blocked_by + ", which is refused: nothing of layer " +
             object.layer + " is applied",
         "      ", out);
  }
}

}  // namespace

std::string text(const ClusterChange& change, const std::vector<std::string>& others) {
  // A list that nobody reads; programs get all names.
  constexpr std::size_t kMostNamed = 24;
  std::string out;
  const std::string more =
      others.empty() ? "" : " and " + base::counted(others.size(), "other cluster") + " alike";
  wrap(change.cluster + more + ": " + change.files +
           (change.changed ? "; " + headline(change) : std::string()),
       "", out);
  if (!others.empty()) {
    const std::size_t named = std::min(others.size(), kMostNamed);
    const std::vector<std::string> first(others.begin(),
                                         others.begin() + static_cast<std::ptrdiff_t>(named));
    wrap("alike: " + base::join(first, ", ") +
             (named == others.size() ? ""
                                     : ", and " + std::to_string(others.size() - named) + " more"),
         "  ", out);
  }
  if (change.first) return out + change.choices;
  for (const ObjectChange& object : change.assessment.objects) add_object(object, out);
  for (const FileChange& file : change.assessment.files) {
    wrap(std::string(name_of(file.effect)) + ": " + file.path + ": " + file.reason, "  ", out);
  }
  for (const Way& way : change.assessment.ways) {
    wrap("Safe way: " + title_of(way), "  ", out);
    for (std::size_t i = 0; i < way.sequence->steps.size(); ++i) {
      wrap(std::to_string(i + 1) + ". " + step_text(way, i + 1), "      ", out);
      // Whole, so that they can be copied.
      for (const std::string& command : way.sequence->steps[i].commands) {
        out += "           " + command + "\n";
      }
    }
  }
  return out + change.choices;
}

std::string text(const std::vector<ClusterChange>& changes) {
  std::string out;
  std::size_t changed = 0;
  std::size_t ways = 0;
  Effect worst = Effect::none;
  for (const std::vector<std::size_t>& group : alike(changes)) {
    std::vector<std::string> others;
    for (std::size_t i = 1; i < group.size(); ++i) others.push_back(changes[group[i]].cluster);
    const ClusterChange& one = changes[group.front()];
    out += text(one, others);
    if (!one.changed) continue;
    changed += group.size();
    ++ways;
    worst = std::max(worst, one.assessment.worst());
  }
  if (changes.size() < 2) return out;
  out += base::counted(changes.size(), "cluster") + ": ";
  if (changed == 0) return out + "no change\n";
  out += std::to_string(changed) + (changed == 1 ? " changes" : " change");
  if (ways < changed) out += " in " + base::counted(ways, "way");
  return out + ", worst effect: " + std::string(name_of(worst)) + "\n";
}

}  // namespace gpuctl::effects
