#include "diag/reports.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "base/digest.hpp"
#include "base/text.hpp"
#include "diag/character.hpp"
#include "diag/print.hpp"

namespace gpuctl::diag {

namespace {

using Json = nlohmann::ordered_json;

// File names and texts come from outside: bad bytes are replaced, not thrown at.
std::string text_of(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string normal(const std::string& path) {
  return std::filesystem::path(path).lexically_normal().generic_string();
}

// A finding as it is listed once, whatever number of subjects have it.
struct Listed {
  const Finding* finding = nullptr;
  Place at;                 // of the finding, or the first line of what it is about
  std::string fingerprint;  // stays when other lines come and go
};

std::vector<Listed> list_once(std::span<const Subject> subjects) {
  std::vector<Listed> out;
  std::set<std::tuple<std::string, std::uint32_t, std::uint32_t>> seen;
  std::map<std::string, std::size_t> same;  // findings with this fingerprint so far
  for (const Subject& subject : subjects) {
    for (const Finding& finding : subject.findings) {
      Place at = finding.at.value_or(Place{subject.file, {1, 1}, {1, 1}, {}});
      at.file = normal(at.file);
      std::string said = finding.code + '\n' + at.file + '\n' + finding.path + '\n';
      said += finding.message;
      std::string fingerprint = base::sha256_hex(said);
      if (!seen.emplace(fingerprint, at.begin.line, at.begin.column).second) continue;
      if (const std::size_t before = same[fingerprint]++; before != 0) {
        fingerprint = base::sha256_hex(said + '\n' + std::to_string(before));
      }
      out.push_back({&finding, std::move(at), std::move(fingerprint)});
    }
  }
  return out;
}

// A path as a URI reference (RFC 3986): nothing in it is a scheme, a query or a fragment.
std::string uri_of(const std::string& path) {
  return (path.starts_with('/') ? "file://" : "") + base::percent_encoded(path, "/!$&'()*+,;=@");
}

// What is shown of a text: it cannot hide anything, and has no links, which `[text](address)` would
// be in a message of SARIF; ours never has one, whatever input it quotes.
std::string message_text(const std::string& text) {
  std::string visible;
  append_visible(visible, text);
  if (visible.find("](") == std::string::npos) return visible;
  std::string out;
  for (const char c : visible) {
    if (c == '[' || c == ']' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

Json location_of(const Place& place) {
  Json region = {{"startLine", place.begin.line},
                 {"startColumn", place.begin.column},
                 {"endLine", place.end.line},
                 {"endColumn", place.end.column}};
  Json location;
  location["physicalLocation"] = {{"artifactLocation", {{"uri", uri_of(normal(place.file))}}},
                                  {"region", std::move(region)}};
  if (!place.text.empty()) location["message"]["text"] = message_text(place.text);
  return location;
}

Json rule_of(const std::string& code, std::string_view page) {
  Json rule = {{"id", code}};
  std::string_view title = page.substr(0, page.find('\n'));
  const std::size_t colon = title.find(": ");
  if (colon == std::string_view::npos) return rule;
  title.remove_prefix(colon + 2);
  rule["shortDescription"]["text"] = title;
  rule["help"] = {{"text", page}, {"markdown", page}};
  return rule;
}

std::string_view code_quality_severity(Severity severity) {
  switch (severity) {
    case Severity::error:
      return "critical";
    case Severity::warning:
      return "minor";
    case Severity::note:
      return "info";
  }
  return "critical";
}

}  // namespace

std::string sarif_report(std::span<const Subject> subjects, std::string_view version,
                         const PageOf& page_of) {
  const std::vector<Listed> listed = list_once(subjects);
  std::map<std::string, std::size_t> rules;  // code -> index
  for (const Listed& one : listed) rules.emplace(one.finding->code, 0);
  Json descriptions = Json::array();
  for (auto& [code, index] : rules) {
    index = descriptions.size();
    descriptions.push_back(rule_of(code, page_of(code)));
  }
  Json results = Json::array();
  for (const Listed& one : listed) {
    const Finding& finding = *one.finding;
    std::string message = finding.message;
    for (const std::string& sentence : finding.sentences) message += "\n" + sentence;
    Json result;
    result["ruleId"] = finding.code;
    result["ruleIndex"] = rules[finding.code];
    result["level"] = severity_name(finding.severity);
    result["message"]["text"] = message_text(message);
    Place at = one.at;
    at.text.clear();  // it is part of the message
    result["locations"] = Json::array({location_of(at)});
    Json others = Json::array();
    for (const Place& place : finding.others) others.push_back(location_of(place));
    if (!others.empty()) result["relatedLocations"] = std::move(others);
    result["partialFingerprints"]["gpuctlFinding/v1"] = one.fingerprint;
    results.push_back(std::move(result));
  }
  Json driver = {{"name", "gpuctl"}, {"version", version}, {"rules", std::move(descriptions)}};
  Json run;
  run["tool"]["driver"] = std::move(driver);
  run["columnKind"] = "unicodeCodePoints";
  run["results"] = std::move(results);
  Json log;
  log["$schema"] =
      "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
  log["version"] = "2.1.0";
  log["runs"] = Json::array({std::move(run)});
  return text_of(log);
}

std::string junit_report(std::span<const Subject> subjects) {
  const auto failed = std::count_if(subjects.begin(), subjects.end(),
                                    [](const Subject& subject) { return !subject.accepted; });
  const std::string counts = " tests=\"" + std::to_string(subjects.size()) + "\" failures=\"" +
                             std::to_string(failed) + "\" errors=\"0\"";
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"gpuctl\"" +
                    counts + ">\n<testsuite name=\"gpuctl validate\"" + counts + ">\n";
  for (const Subject& subject : subjects) {
    out += "<testcase name=\"" + escaped_markup(subject.name) + "\" classname=\"" +
           escaped_markup(subject.file) + "\"";
    if (subject.findings.empty() && subject.accepted) {
      out += "/>\n";
      continue;
    }
    out += ">\n";
    const Severity mildest =
        std::any_of(subject.findings.begin(), subject.findings.end(),
                    [](const Finding& finding) { return finding.severity == Severity::error; })
            ? Severity::error
            : Severity::warning;
    const Finding* first = nullptr;
    std::string reasons;
    std::string rest;
    for (const Finding& finding : subject.findings) {
      const bool counts_as_reason = !subject.accepted && finding.severity <= mildest;
      if (counts_as_reason && first == nullptr) first = &finding;
      std::string& to = counts_as_reason ? reasons : rest;
      to += (to.empty() ? "" : "\n") + finding.printed;
    }
    if (!subject.accepted) {
      out += "<failure type=\"" + (first == nullptr ? "" : escaped_markup(first->code)) +
             "\" message=\"" + (first == nullptr ? "refused" : escaped_markup(first->message)) +
             "\">" + escaped_markup(reasons) + "</failure>\n";
    }
    if (!rest.empty()) out += "<system-out>" + escaped_markup(rest) + "</system-out>\n";
    out += "</testcase>\n";
  }
  return out + "</testsuite>\n</testsuites>\n";
}

std::string code_quality_report(std::span<const Subject> subjects) {
  Json entries = Json::array();
  for (const Listed& one : list_once(subjects)) {
    const Finding& finding = *one.finding;
    Json entry;
    entry["type"] = "issue";
    entry["check_name"] = finding.code;
    entry["description"] = finding.code + ": " + shown(finding.message);
    entry["categories"] = Json::array({"Bug Risk"});
    entry["severity"] = code_quality_severity(finding.severity);
    entry["fingerprint"] = one.fingerprint;
    entry["location"] = {{"path", one.at.file},
                         {"lines", {{"begin", one.at.begin.line}, {"end", one.at.end.line}}}};
    entries.push_back(std::move(entry));
  }
  return text_of(entries);
}

}  // namespace gpuctl::diag
