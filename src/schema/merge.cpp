// Deep merge of schema fragments: maps key by key, some lists one after the other, anything else
// must be equal.
#include <algorithm>

#include "schema/codes.hpp"
#include "schema/compiled.hpp"

namespace gpuctl::schema {

namespace {

using yaml::Arena;
using yaml::Entry;
using yaml::Node;

/// What a map holds: keywords of a schema, or names of fields with a schema each.
enum class Level : std::uint8_t { schema, fields, plain };

diag::Origin place(const Entry& entry) {
  return entry.value.is_scalar() && entry.value.origin() != diag::kNoOrigin
             ? entry.value.origin()
             : (entry.key.origin() != diag::kNoOrigin ? entry.key.origin() : entry.value.origin());
}

class Merger {
 public:
  Merger(Arena& arena, diag::Sink& sink) : arena_(arena), sink_(sink) {}

  Node merge_maps(const Node& first, const Node& second, Level level, const std::string& path,
                  int depth) {
    std::vector<Entry> out(first.entries().begin(), first.entries().end());
    for (const Entry& entry : second.entries()) {
      const Entry* known = first.find_entry(entry.key.as_string());
      if (known == nullptr) {
        out.push_back(entry);
        continue;
      }
      const std::string_view key = entry.key.as_string();
      // `properties` says nothing to the reader of a path.
      const bool silent = level == Level::schema && key == "properties";
      const std::string below =
          silent ? path : (path.empty() ? std::string(key) : path + "." + std::string(key));
      out[static_cast<std::size_t>(known - first.entries().data())].value =
          merge(*known, entry, level, below, depth + 1);
    }
    return arena_.map(out, first.origin());
  }

 private:
  static Level below(Level level, std::string_view key) {
    if (level == Level::fields) return Level::schema;
    if (level == Level::plain) return Level::plain;
    if (key == "properties") return Level::fields;
    if (key == "items" || key == "additionalProperties" || key == "not") return Level::schema;
    return Level::plain;
  }

  Node merge(const Entry& first, const Entry& second, Level level, const std::string& path,
             int depth) {
    const std::string_view key = first.key.as_string();
    const Node& a = first.value;
    const Node& b = second.value;
    if (a.is_map() && b.is_map() && depth < 2 * kMostSchemaDepth) {
      return merge_maps(a, b, below(level, key), path, depth);
    }
    if (level == Level::schema && a.is_list() && b.is_list() &&
        (key == "required" || key == "enum" || key == "x-kubernetes-validations")) {
      return concatenate(a, b);
    }
    if (!yaml::equal(a, b)) {
      diag::Diagnostic& finding =
          sink_.error(kContradiction, place(second),
                      "schema fragments contradict each other at `" + path + "`");
      finding.label("differs from the other fragment").also(place(first), "the other fragment");
      if (a.is_scalar() && b.is_scalar() && a.kind() == b.kind() && a.is_string()) {
        finding.expect("`" + std::string(a.as_string()) + "`")
            .got("`" + std::string(b.as_string()) + "`");
      } else if (a.kind() != b.kind()) {
        finding.expect(std::string(yaml::kind_name(a.kind())))
            .got(std::string(yaml::kind_name(b.kind())));
      }
    }
    return a;
  }

  Node concatenate(const Node& a, const Node& b) {
    std::vector<Node> items(a.items().begin(), a.items().end());
    for (const Node& item : b.items()) {
      const bool known = std::any_of(items.begin(), items.end(),
                                     [&](const Node& other) { return yaml::equal(other, item); });
      if (!known) items.push_back(item);
    }
    return arena_.list(items, a.origin());
  }

  Arena& arena_;
  diag::Sink& sink_;
};

}  // namespace

yaml::Node merge_fragments(std::span<const Node> fragments, Arena& arena, diag::Sink& sink) {
  Merger merger(arena, sink);
  Node merged;
  bool first = true;
  for (const Node& fragment : fragments) {
    if (!fragment.is_map()) {
      if (!fragment.is_null()) {
        sink.error(kFaultySchema, fragment.origin(), "a schema fragment must be a map")
            .got(std::string(yaml::kind_name(fragment.kind())));
      }
      continue;
    }
    merged = first ? fragment : merger.merge_maps(merged, fragment, Level::schema, {}, 0);
    first = false;
  }
  return merged;
}

}  // namespace gpuctl::schema
