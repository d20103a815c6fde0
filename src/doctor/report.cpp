#include "doctor/report.hpp"

#include "base/text.hpp"
#include "diag/character.hpp"

namespace gpuctl::doctor {

namespace {

constexpr std::size_t kVerdictWidth = 8;
constexpr std::size_t kIdWidth = 4;
constexpr const char* kIndent = "       ";

std::string padded(std::string_view text, std::size_t width) {
  std::string out(text);
  if (out.size() < width) out.append(width - out.size(), ' ');
  return out;
}

// Continuation lines stand below the first.
void add_lines(const std::string& text, const std::string& lead, std::string& out) {
  bool first = true;
  for (const std::string_view line : base::split(text, '\n')) {
    if (line.empty()) continue;
    out += kIndent + (first ? lead : std::string(lead.size(), ' ')) + diag::shown(line) + "\n";
    first = false;
  }
}

}  // namespace

std::array<std::size_t, kVerdictNames.size()> count(const std::vector<Result>& results) {
  std::array<std::size_t, kVerdictNames.size()> counts{};
  for (const Result& result : results) ++counts[static_cast<std::size_t>(result.verdict())];
  return counts;
}

std::string report_text(const std::vector<Result>& results, bool all) {
  std::string out;
  for (const Result& result : results) {
    const Verdict verdict = result.verdict();
    const bool good = verdict <= Verdict::pass;
    out += padded(result.id, kIdWidth) + " " + padded(name_of(verdict), kVerdictWidth) + " " +
           result.title + "\n";
    std::string last_remedy;
    for (const Finding& finding : result.findings) {
      if (!good && !all && finding.verdict <= Verdict::pass) continue;
      add_lines(finding.evidence, "", out);
      if (!finding.remedy.empty() && finding.remedy != last_remedy) {
        add_lines(finding.remedy, "-> ", out);
      }
      last_remedy = finding.remedy;
    }
    if ((!good || all) && !result.source.empty()) add_lines(result.source, "source: ", out);
  }
  const auto counts = count(results);
  std::vector<std::string> parts;
  for (const Verdict verdict :
       {Verdict::fail, Verdict::warn, Verdict::unknown, Verdict::pass, Verdict::skip}) {
    const std::size_t number = counts[static_cast<std::size_t>(verdict)];
    if (number != 0) parts.push_back(std::to_string(number) + " " + std::string(name_of(verdict)));
  }
  out += base::counted(results.size(), "check");
  return out + (parts.empty() ? "" : ": " + base::join(parts, ", ")) + "\n";
}

yaml::Node report_tree(const std::vector<Result>& results, yaml::Arena& arena) {
  std::vector<yaml::Node> items;
  for (const Result& result : results) {
    std::vector<yaml::Node> findings;
    for (const Finding& finding : result.findings) {
      yaml::MapBuilder one;
      one.set(arena, "verdict", yaml::Node::view(name_of(finding.verdict)));
      one.set(arena, "evidence", arena.string(finding.evidence));
      if (!finding.remedy.empty()) one.set(arena, "remedy", arena.string(finding.remedy));
      findings.push_back(one.build(arena));
    }
    yaml::MapBuilder one;
    one.set(arena, "id", arena.string(result.id));
    one.set(arena, "title", arena.string(result.title));
    one.set(arena, "verdict", yaml::Node::view(name_of(result.verdict())));
    one.set(arena, "fatal", yaml::Node::boolean(result.fatal));
    one.set(arena, "source", arena.string(result.source));
    one.set(arena, "findings", arena.list(findings));
    items.push_back(one.build(arena));
  }
  return arena.list(items);
}

}  // namespace gpuctl::doctor
