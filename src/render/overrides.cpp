#include "render/overrides.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>

#include "base/text.hpp"
#include "render/codes.hpp"

namespace gpuctl::render {

namespace {

// The regular expressions of a target, compiled once for all documents.
class Target {
 public:
  // Reports fields that are no regular expressions.
  Target(const yaml::Node& written, diag::Sink& sink) : written_(written) {
    for (const std::string_view key : kFields) {
      const yaml::Node pattern = written.get(key);
      if (!pattern.is_string()) continue;
      auto made = std::make_unique<const re2::RE2>("^(?:" + std::string(pattern.as_string()) + ")$",
                                                   re2::RE2::Quiet);
      if (!made->ok()) {
        sink.error(kFaultyPatch, pattern.origin(),
                   "`" + std::string(key) + "` is no regular expression")
            .got(std::string(pattern.as_string()));
        good_ = false;
      }
      patterns_.emplace(key, std::move(made));
    }
  }

  bool good() const { return good_; }
  const yaml::Node& written() const { return written_; }

  // One field: absent matches everything.
  bool matches(std::string_view key, std::string_view value) const {
    const auto pattern = patterns_.find(key);
    return pattern == patterns_.end() ||
           re2::RE2::FullMatch(re2::StringPiece(value.data(), value.size()), *pattern->second);
  }

 private:
  static constexpr std::array<std::string_view, 6> kFields = {"group",     "version", "kind",
                                                              "namespace", "name",    "pool"};
  yaml::Node written_;
  std::map<std::string_view, std::unique_ptr<const re2::RE2>> patterns_;
  bool good_ = true;
};

// `app=x,tier!=y,present`: the equality part of a label selector.
bool matches_labels(const yaml::Node& selector, const yaml::Node& labels, diag::Sink& sink) {
  if (!selector.is_string()) return true;
  for (std::string_view term : base::split(selector.as_string(), ',')) {
    while (term.starts_with(' ')) term.remove_prefix(1);
    while (term.ends_with(' ')) term.remove_suffix(1);
    if (term.empty()) {
      sink.error(kFaultyPatch, selector.origin(), "empty term in a label selector")
          .expect("`key=value`, `key!=value` or `key`, separated by commas");
      return false;
    }
    const std::size_t equals = term.find('=');
    if (equals == std::string_view::npos) {
      if (labels.find(term) == nullptr) return false;
      continue;
    }
    const bool negated = equals > 0 && term[equals - 1] == '!';
    const std::string_view key = term.substr(0, negated ? equals - 1 : equals);
    std::string_view value = term.substr(equals + 1);
    if (!negated && value.starts_with('=')) value.remove_prefix(1);
    const yaml::Node* label = labels.find(key);
    const bool same = label != nullptr && label->as_string() == value;
    if (same == negated) return false;
  }
  return true;
}

bool matches_document(const Target& target, const Document& document, diag::Sink& sink) {
  const yaml::Node& body = document.body;
  // What is no object has a kind only by its published schema, and must be named by it.
  if (document.raw && (document.schema_of.empty() || !target.written().get("kind").is_string())) {
    return false;
  }
  const bool is_index = document.made_by != nullptr && document.made_by->phase == Phase::index;
  if (is_index && !target.written().get("kind").is_string()) return false;
  const schema::KindRef self = document.raw ? document.schema_of : schema::KindRef::of(body);
  return target.matches("group", self.group) && target.matches("version", self.version) &&
         target.matches("kind", self.kind) &&
         target.matches("namespace", body.get({"metadata", "namespace"}).as_string()) &&
         target.matches("name", body.get({"metadata", "name"}).as_string()) &&
         target.matches("pool", document.pool) &&
         matches_labels(target.written().get("labelSelector"), body.get({"metadata", "labels"}),
                        sink);
}

// Patches one document; false after a fault, or when the budget is used up.
bool patch_document(const yaml::Node& patch, diag::Origin at, Document& document,
                    yaml::Arena& arena, yaml::PatchBudget& budget, diag::Sink& sink) {
  if (document.patched_at == diag::kNoOrigin) document.unpatched = document.body;
  document.patched_at = at;
  if (patch.is_map()) {
    document.body = yaml::merge_patch(document.body, patch, arena, &budget);
    return !budget.exhausted();
  }
  diag::Sink faults;
  const std::optional<yaml::Node> patched = json_patch(document.body, patch, arena, budget, faults);
  for (diag::Diagnostic fault : faults.all()) {
    sink.add(std::move(fault)).note("in " + title_of(document.body));
  }
  if (patched) document.body = *patched;
  return patched.has_value();
}

void report_no_match(const yaml::Node& item, std::span<const Document> documents, NoMatch no_match,
                     diag::Sink& sink) {
  const yaml::Node target = item.get("target");
  std::set<std::string> kind_set;
  std::set<std::string> pool_set;
  for (const Document& document : documents) {
    if (document.raw) continue;
    kind_set.emplace(document.body.get("kind").as_string());
    if (!document.pool.empty()) pool_set.insert(document.pool);
  }
  const std::vector<std::string> kinds(kind_set.begin(), kind_set.end());
  const std::vector<std::string> pools(pool_set.begin(), pool_set.end());
  const diag::Origin at = target.is_null() ? item.origin() : target.origin();
  const std::string message = "this override matches no document";
  diag::Diagnostic& diagnostic =
      (no_match == NoMatch::warning ? sink.warning(kNoMatch, at, message + " that is not withheld")
                                    : sink.error(kNoMatch, at, message))
          .expect("a target among the rendered documents; kinds: " + base::join(kinds, ", "));
  const yaml::Node pool = target.get("pool");
  if (pool.is_string() && !pool_set.contains(std::string(pool.as_string()))) {
    diagnostic.expect("a pool of this blueprint: " + base::join(pools, ", "))
        .did_you_mean(pool.as_string(), pools);
  }
  const yaml::Node kind = target.get("kind");
  const yaml::Node name = target.get("name");
  std::vector<std::string> names;
  for (const Document& document : documents) {
    if (kind.is_string() && document.body.get("kind").as_string() == kind.as_string()) {
      names.emplace_back(document.body.get({"metadata", "name"}).as_string());
    }
  }
  std::sort(names.begin(), names.end());
  if (name.is_string() && !names.empty()) {
    diagnostic
        .expect("one of kind " + std::string(kind.as_string()) + ": " + base::join(names, ", "))
        .did_you_mean(name.as_string(), names);
  }
  if (kind.is_string() && std::find(kinds.begin(), kinds.end(), kind.as_string()) == kinds.end()) {
    diagnostic.did_you_mean(kind.as_string(), kinds);
  }
}

}  // namespace

std::string title_of(const yaml::Node& body) {
  return std::string(body.get("kind").as_string()) + " `" +
         std::string(body.get({"metadata", "name"}).as_string()) + "`";
}

void Overrides::apply(std::span<Document> documents, diag::Sink& sink) {
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const yaml::Node& item = items_.items()[i];
    const std::size_t errors_before = sink.error_count();
    const Target target(item.get("target"), sink);
    const yaml::Node patch = item.get("patch");
    for (Document& document : documents) {
      if (!target.good()) break;
      if (!matches_document(target, document, sink)) {
        if (sink.error_count() != errors_before) break;
        continue;
      }
      settled_.insert(i);
      if (!patch_document(patch, item.origin(), document, arena_, budget_, sink)) break;
    }
    if (budget_.exhausted()) {
      sink.error(kPatchesCostMuch, item.origin(), "the overrides up to this one change too much")
          .expect("at most " + std::to_string(yaml::kMostPatchSteps) +
                  " entries of mappings and lists rewritten, in all documents together")
          .suggest("give the override a narrower `target`, or merge its operations into one patch");
      for (std::size_t j = i; j < items_.size(); ++j) settled_.insert(j);
      return;
    }
    if (sink.error_count() != errors_before) settled_.insert(i);
  }
}

void Overrides::report_unmatched(std::span<const Document> documents, bool indexes_follow,
                                 NoMatch no_match, diag::Sink& sink) {
  if (no_match == NoMatch::ignore) return;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const yaml::Node& item = items_.items()[i];
    if (indexes_follow && item.get({"target", "kind"}).is_string()) continue;
    if (settled_.insert(i).second) report_no_match(item, documents, no_match, sink);
  }
}

void apply_overrides(const yaml::Node& overrides, std::vector<Document>& documents,
                     NoMatch no_match, yaml::Arena& arena, diag::Sink& sink) {
  Overrides all(overrides, arena);
  all.apply(documents, sink);
  all.report_unmatched(documents, false, no_match, sink);
}

}  // namespace gpuctl::render
