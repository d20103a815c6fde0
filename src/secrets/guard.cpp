#include "secrets/guard.hpp"

#include <algorithm>

#include "secrets/codes.hpp"
#include "yaml/read.hpp"

namespace gpuctl::secrets {

namespace {

constexpr std::string_view kWayOut =
    "give secrets by reference (`env`, `file`, `externalSecret`, `sealedSecret`, `existing`); "
    "nothing was written";

// `*` stands for any text, an empty one too.
bool fits(std::string_view pattern, std::string_view path) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t mark = 0;
  while (t < path.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.size() && pattern[p] == path[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

void hide_all(const yaml::Node& node, diag::Sources& sources) {
  for (const yaml::Node& item : node.items()) hide_all(item, sources);
  for (const yaml::Entry& entry : node.entries()) hide_all(entry.value, sources);
  if (!node.is_string()) return;
  sources.hide(node.origin());
  sources.conceal(node.as_string());
}

void hide(const Finding& finding, diag::Sources& sources) {
  if (finding.hit.sign == Sign::unsearched) return;
  if (finding.hit.sign == Sign::object) {
    for (const char* field : {"data", "stringData"}) hide_all(finding.node.get(field), sources);
    return;
  }
  const std::string_view text = finding.node.as_string();
  // Of an address only the secret, so that the rest can be recognised.
  const bool address = finding.hit.sign == Sign::pattern && finding.hit.how.empty() &&
                       text.find("://") != std::string_view::npos &&
                       text.find_first_of(" \n\\%") == std::string_view::npos;
  const std::vector<std::uint32_t> offsets =
      address ? yaml::scalar_offsets(sources, finding.node) : std::vector<std::uint32_t>();
  const diag::Span* span = sources.span(finding.node.origin());
  if (span != nullptr && sources.owns(finding.node.origin()) && offsets.size() > finding.hit.end) {
    sources.hide(span->file, offsets[finding.hit.begin], offsets[finding.hit.end]);
  } else {
    sources.hide(finding.node.origin());
  }
  const std::string_view secret =
      text.substr(finding.hit.begin, finding.hit.end - finding.hit.begin);
  if (secret.find('\n') == std::string_view::npos) sources.conceal(secret);
}

std::string_view code_of(Sign sign) {
  switch (sign) {
    case Sign::object:
      return kSecretObject;
    case Sign::pattern:
      return kSecretInInput;
    case Sign::name:
      return kNamedSecret;
    case Sign::randomness:
      return kRandomText;
    case Sign::unsearched:
      return kNotSearched;
  }
  return kSecretInInput;
}

// What is said of a finding, behind the place.
std::string judgement(const Hit& hit) {
  switch (hit.sign) {
    case Sign::object:
      return " is a Secret with its data in clear";
    case Sign::pattern:
      return " holds what looks like " + hit.what + hit.how;
    case Sign::name:
      return " holds " + hit.what + hit.how;
    case Sign::randomness:
      return " looks random, as " + hit.what + " does" + hit.how;
    case Sign::unsearched:
      return " cannot be searched for secrets: it is " + hit.what;
  }
  return {};
}

diag::Diagnostic& report(const Finding& finding, std::string_view code, diag::Origin at,
                         const std::string& where, diag::Sink& sink) {
  const std::string message = where + judgement(finding.hit);
  return finding.hit.sure ? sink.error(code, at, message) : sink.warning(code, at, message);
}

void add_ways_out(const Finding& finding, diag::Diagnostic& diagnostic) {
  switch (finding.hit.sign) {
    case Sign::object:
      diagnostic.expect("an ExternalSecret, a SealedSecret, or a Secret that exists in the cluster")
          .suggest("let an ExternalSecret or a SealedSecret make it in the cluster; " +
                   std::string("nothing was written"));
      return;
    case Sign::unsearched:
      diagnostic.suggest("keep such data out of manifests: let them name an image or a volume");
      break;
    case Sign::pattern:
    case Sign::name:
      diagnostic.suggest(std::string(kWayOut));
      break;
    case Sign::randomness:
      diagnostic.suggest(
          "secrets are given by reference (`env`, `file`, `externalSecret`, "
          "`sealedSecret`, `existing`)");
      break;
  }
  diagnostic.suggest("if it is no secret, say so: `spec.secretScan.allow: [{path: '" +
                     finding.path + "', reason: ...}]`");
}

std::string_view secret_of(const Finding& finding) {
  return finding.node.as_string().substr(finding.hit.begin, finding.hit.end - finding.hit.begin);
}

// The line on which a value stands in a file; 0 when its form is another one there.
std::size_t line_of(std::string_view content, std::string_view value) {
  const std::string_view first = value.substr(0, value.find('\n'));
  const std::size_t at = first.empty() ? std::string_view::npos : content.find(first);
  if (at == std::string_view::npos) return 0;
  return 1 + static_cast<std::size_t>(std::count(
                 content.begin(), content.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

}  // namespace

void Guard::allow(const yaml::Node& rows) {
  for (const yaml::Node& row : rows.items()) {
    allowances_.push_back({std::string(row.get("path").as_string()),
                           std::string(row.get("reason").as_string()), row.get("path").origin(),
                           0});
  }
}

bool Guard::allowed(const Finding& finding) {
  // A Secret is made to hold secrets: there is nothing to except.
  if (finding.hit.sign == Sign::object) return false;
  const auto found =
      std::find_if(allowances_.begin(), allowances_.end(),
                   [&](const Allowance& one) { return fits(one.path, finding.path); });
  if (found == allowances_.end()) return false;
  ++found->used;
  known_.emplace(secret_of(finding));
  return true;
}

void Guard::check_input(const yaml::Node& tree, const std::string& subject, diag::Sources& sources,
                        diag::Sink& sink) {
  for (const Finding& finding : Search(*rules_, budget_).tree(tree, subject)) {
    hide(finding, sources);
    if (allowed(finding)) continue;
    known_.emplace(secret_of(finding));
    diag::Diagnostic& diagnostic =
        report(finding, code_of(finding.hit.sign), finding.at, "`" + finding.path + "`", sink);
    diagnostic.path = finding.path;
    diagnostic.label("not shown");
    add_ways_out(finding, diagnostic);
  }
}

// What is found in a tree depends on its content, the rules, and what is left of the budget; the
// subject is only a name.
std::vector<Finding> Guard::search(const yaml::Node& tree, const std::string& subject,
                                   const std::optional<base::Sha256>& digest) {
  if (!clean_ || !digest) return Search(*rules_, budget_).tree(tree, subject);
  std::string key = "search\n";
  key.append(reinterpret_cast<const char*>(digest->data()), digest->size());
  const base::Sha256 verdict = base::sha256(key);
  const std::optional<std::uint64_t> cost = clean_->cost_of(verdict);
  if (cost && *cost <= budget_.bytes) {
    budget_.bytes -= *cost;
    return {};
  }
  const std::size_t before = budget_.bytes;
  std::vector<Finding> found = Search(*rules_, budget_).tree(tree, subject);
  if (found.empty()) clean_->add(verdict, before - budget_.bytes);
  return found;
}

void Guard::check_output(const yaml::Node& tree, const std::string& subject,
                         const std::string& path, std::string_view content, diag::Sources& sources,
                         diag::Sink& sink, const std::optional<base::Sha256>& digest) {
  for (const Finding& finding : search(tree, subject, digest)) {
    if (finding.hit.sign != Sign::object && known_.contains(secret_of(finding))) continue;
    hide(finding, sources);
    if (allowed(finding)) continue;
    const std::size_t line = line_of(content, finding.node.as_string());
    const bool object = finding.hit.sign == Sign::object;
    diag::Diagnostic& diagnostic =
        report(finding, finding.hit.sure && !object ? kSecretInOutput : code_of(finding.hit.sign),
               sources.is_built_in(finding.at) ? diag::kNoOrigin : finding.at,
               "`" + path + "`" + (line == 0 ? "" : " line " + std::to_string(line)), sink);
    diagnostic.path = finding.path;
    add_ways_out(finding, diagnostic);
  }
}

void Guard::report_idle(diag::Sink& sink) const {
  for (const Allowance& one : allowances_) {
    if (one.used != 0) continue;
    sink.warning(kIdleAllowance, one.at, "this exception from the search for secrets is not needed")
        .label("nothing there looks like a secret")
        .suggest("remove it, so that it does not hide one later");
  }
}

std::vector<std::string> Guard::used() const {
  std::vector<std::string> out;
  for (const Allowance& one : allowances_) {
    if (one.used != 0) out.push_back(one.path + ": " + one.reason);
  }
  return out;
}

std::string subject_of(const yaml::Node& document) {
  const std::string_view kind = document.get("kind").as_string();
  const std::string_view name = document.get({"metadata", "name"}).as_string();
  return kind.empty() || name.empty() ? std::string()
                                      : std::string(kind) + "/" + std::string(name) + ":";
}

}  // namespace gpuctl::secrets
