#include "pipeline/ignore.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "document/codes.hpp"
#include "pipeline/codes.hpp"
#include "pipeline/knowledge.hpp"
#include "plan/codes.hpp"
#include "render/codes.hpp"
#include "schema/codes.hpp"
#include "secrets/codes.hpp"

namespace gpuctl::pipeline {

namespace {

// Codes of the stages of a blueprint that stand for a warning or a note, always or sometimes. Those
// of rules are in the knowledge. tests/structure/codes.py compares.
constexpr std::array kNoErrors = {
    kFactsDiffer,         kLeftOutOfGit,      document::kOtherCase, document::kTakenAsText,
    plan::kLeavesInSteps, plan::kStaysBehind, render::kNoCatalogue, render::kNoMatch,
    render::kShadowed,    render::kWithheld,  schema::kCrdUnusable, schema::kNoCrd,
    schema::kNotChecked,  schema::kNullValue, kVersionStays,        secrets::kEndingCertificate};

constexpr std::string_view kEngineCodes = "GPU0";  // the others are of rules

// Code -> whether a rule with it is a warning or a note.
std::map<std::string, bool, std::less<>> codes_of_rules(const catalog::Platform& platform) {
  std::map<std::string, bool, std::less<>> out;
  const auto add = [&](const std::vector<catalog::RuleFile>& files) {
    for (const catalog::RuleFile& file : files) {
      for (const yaml::Node& rule : file.rules.items()) {
        bool& mild = out[std::string(rule.get("code").as_string())];
        mild = mild || rule.get("severity").as_string() != "error";
      }
    }
  };
  add(platform.rules);
  for (const catalog::DocumentKind& kind : platform.documents) add(kind.rules);
  return out;
}

diag::Diagnostic& refuse_error(const yaml::Node& code, diag::Sink& sink) {
  return sink
      .error(kErrorIgnored, code.origin(),
             "`" + std::string(code.as_string()) +
                 "` cannot be ignored: it stands for an error, or is about no blueprint")
      .expect("the code of a note or a warning")
      .suggest("`gpuctl explain " + std::string(code.as_string()) +
               "` says how to get rid of the error; then remove this entry");
}

}  // namespace

void check_ignore(const yaml::Node& entries, const catalog::Platform& platform,
                  const Knowledge& knowledge, diag::Sink& sink) {
  if (entries.items().empty()) return;
  const auto rules = codes_of_rules(platform);
  const auto pages = knowledge.codes();
  for (const yaml::Node& entry : entries.items()) {
    const yaml::Node code = entry.get("code");
    const std::string_view name = code.as_string();
    if (const auto rule = rules.find(name); rule != rules.end()) {
      if (!rule->second) refuse_error(code, sink);
      continue;
    }
    if (std::find(kNoErrors.begin(), kNoErrors.end(), name) != kNoErrors.end()) continue;
    if (name.starts_with(kEngineCodes) && pages.contains(name)) {
      refuse_error(code, sink);
      continue;
    }
    std::vector<std::string> known(kNoErrors.begin(), kNoErrors.end());
    for (const auto& [known_code, mild] : rules) {
      if (mild) known.push_back(known_code);
    }
    diag::Diagnostic& finding = sink.error(
        kUnknownIgnored, code.origin(),
        "no check of platform `" + platform.name + "` has the code `" + std::string(name) + "`");
    finding.expect("a code such as `GPU4609`, as diagnostics show it in brackets")
        .did_you_mean(name, known);
    if (pages.contains(name)) finding.note("it is the code of a rule of another platform");
  }
}

void leave_out_ignored(const yaml::Node& entries, diag::Sink& sink, std::vector<Ignored>& out) {
  const auto items = entries.items();
  if (items.empty()) return;
  if (out.empty()) {
    for (const yaml::Node& entry : items) {
      out.push_back({std::string(entry.get("code").as_string()),
                     std::string(entry.get("reason").as_string())});
    }
  }
  diag::Sink left;
  std::set<std::size_t> errors;
  std::vector<diag::Diagnostic> seen;  // the same finding twice counts once, as it would be shown
  for (const diag::Diagnostic& finding : sink.all()) {
    const auto entry = std::find_if(out.begin(), out.end(),
                                    [&](const Ignored& one) { return one.code == finding.code; });
    if (entry == out.end() || finding.severity == diag::Severity::error) {
      if (entry != out.end()) errors.insert(static_cast<std::size_t>(entry - out.begin()));
      left.add(finding);
    } else if (std::find(seen.begin(), seen.end(), finding) == seen.end()) {
      ++entry->findings;
      seen.push_back(finding);
    }
  }
  for (const std::size_t index : errors) refuse_error(items[index].get("code"), left);
  sink = std::move(left);
}

}  // namespace gpuctl::pipeline
