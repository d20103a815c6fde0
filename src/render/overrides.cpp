#include "render/overrides.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "render/codes.hpp"

namespace gpuctl::render {

namespace {

// One field of a target: absent matches everything.
bool matches(const yaml::Node& target, std::string_view key, std::string_view value,
             diag::Sink& sink) {
  const yaml::Node pattern = target.get(key);
  if (!pattern.is_string()) return true;
  const re2::RE2 expression("^(?:" + std::string(pattern.as_string()) + ")$", re2::RE2::Quiet);
  if (!expression.ok()) {
    sink.error(kFaultyPatch, pattern.origin(),
               "`" + std::string(key) + "` is no regular expression")
        .got(std::string(pattern.as_string()));
    return false;
  }
  return re2::RE2::FullMatch(re2::StringPiece(value.data(), value.size()), expression);
}

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

bool matches_document(const yaml::Node& target, const Document& document, diag::Sink& sink) {
  const yaml::Node& body = document.body;
  // What is no object has a kind only by its published schema, and must be named by it.
  if (document.raw && (document.schema_of.empty() || !target.get("kind").is_string())) return false;
  const schema::KindRef self = document.raw ? document.schema_of : schema::KindRef::of(body);
  return matches(target, "group", self.group, sink) &&
         matches(target, "version", self.version, sink) &&
         matches(target, "kind", self.kind, sink) &&
         matches(target, "namespace", body.get({"metadata", "namespace"}).as_string(), sink) &&
         matches(target, "name", body.get({"metadata", "name"}).as_string(), sink) &&
         matches(target, "pool", document.pool, sink) &&
         matches_labels(target.get("labelSelector"), body.get({"metadata", "labels"}), sink);
}

}  // namespace

yaml::Node merge_patch(const yaml::Node& target, const yaml::Node& patch, yaml::Arena& arena) {
  if (!patch.is_map()) return patch;
  yaml::MapBuilder merged(target);
  for (const yaml::Entry& entry : patch.entries()) {
    const std::string_view key = entry.key.as_string();
    if (entry.value.is_null()) {
      merged.remove(key);
      continue;
    }
    const yaml::Node* before = merged.find(key);
    merged.set(entry.key,
               merge_patch(before == nullptr ? yaml::Node() : *before, entry.value, arena));
  }
  return merged.build(arena, target.is_map() ? target.origin() : patch.origin());
}

void apply_overrides(const yaml::Node& overrides, std::vector<Document>& documents,
                     NoMatch no_match, yaml::Arena& arena, diag::Sink& sink) {
  for (const yaml::Node& item : overrides.items()) {
    const yaml::Node target = item.get("target");
    const yaml::Node patch = item.get("patch");
    const std::size_t errors_before = sink.error_count();
    std::size_t matched = 0;
    for (Document& document : documents) {
      if (!matches_document(target, document, sink)) {
        if (sink.error_count() != errors_before) break;
        continue;
      }
      ++matched;
      if (patch.is_map()) {
        document.body = merge_patch(document.body, patch, arena);
      } else {
        diag::Sink faults;
        const std::optional<yaml::Node> patched = json_patch(document.body, patch, arena, faults);
        for (diag::Diagnostic fault : faults.all()) {
          sink.add(std::move(fault))
              .note("in " + std::string(document.body.get("kind").as_string()) + " `" +
                    std::string(document.body.get({"metadata", "name"}).as_string()) + "`");
        }
        if (!patched) break;
        document.body = *patched;
      }
    }
    if (no_match == NoMatch::ignore) continue;
    if (matched != 0 || sink.error_count() != errors_before) continue;
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
        (no_match == NoMatch::warning
             ? sink.warning(kNoMatch, at, message + " that is not withheld")
             : sink.error(kNoMatch, at, message))
            .expect("a target among the rendered documents; kinds: " + base::join(kinds, ", "));
    const yaml::Node pool = target.get("pool");
    if (pool.is_string() && !pool_set.contains(std::string(pool.as_string()))) {
      diagnostic.expect("a pool of this blueprint: " + base::join(pools, ", "))
          .did_you_mean(pool.as_string(), pools);
    }
    const yaml::Node kind = target.get("kind");
    if (kind.is_string() &&
        std::find(kinds.begin(), kinds.end(), kind.as_string()) == kinds.end()) {
      diagnostic.did_you_mean(kind.as_string(), kinds);
    }
  }
}

}  // namespace gpuctl::render
