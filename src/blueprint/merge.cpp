#include "blueprint/merge.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "blueprint/codes.hpp"
#include "yaml/emit.hpp"
#include "yaml/path.hpp"

namespace gpuctl::blueprint {

namespace {

using yaml::Entry;
using yaml::Node;

// What the schema says of a value.
struct Part {
  Node definition;    // null: it is not declared
  bool open = false;  // the schema leaves to others what stands here

  Part field(std::string_view name) const {
    const Node* declared = definition.get("properties").find(name);
    if (declared != nullptr) return {*declared, false};
    const Node others = definition.get("additionalProperties");
    if (others.is_map()) return {others, false};
    return {Node(), true};
  }
  Part item() const { return {definition.get("items"), open}; }
  std::span<const Node> keys() const {
    const bool named = definition.get("x-kubernetes-list-type").as_string() == "map";
    return named ? definition.get("x-kubernetes-list-map-keys").items() : std::span<const Node>();
  }
};

// The keys of an item as one text; empty when one is absent.
std::string name_of(const Node& item, std::span<const Node> keys) {
  std::string out;
  for (const Node& key : keys) {
    const Node* value = item.find(key.as_string());
    if (value == nullptr || !value->is_scalar() || value->is_null()) return {};
    out += yaml::emit_json(*value) + "\n";
  }
  return out;
}

std::string shown_name(const Node& item, std::span<const Node> keys) {
  std::string out;
  for (const Node& key : keys) {
    const Node value = item.get(key.as_string());
    out += (out.empty() ? "" : ", ") + std::string(key.as_string()) + ": " +
           (value.is_string() ? std::string(value.as_string()) : yaml::emit_json(value));
  }
  return out;
}

diag::Origin place_of(const Node& value, const Node& key) {
  return value.is_scalar() || key.origin() == diag::kNoOrigin ? value.origin() : key.origin();
}

class Merge {
 public:
  explicit Merge(yaml::Context context)
      : sources_(context.sources), arena_(context.arena), sink_(context.sink) {}

  Node maps(const Part& part, const Node& base, const Node& over, const std::string& path) {
    std::vector<Entry> out;
    out.reserve(base.size() + over.size());
    for (const Entry& entry : base.entries()) {
      const Entry* change = over.find_entry(entry.key.as_string());
      if (change == nullptr) {
        out.push_back(entry);
        continue;
      }
      const Part field = part.field(entry.key.as_string());
      const bool is_open = part.open || field.open;
      if (change->value.is_null() && !is_open) continue;
      const std::string below = path + yaml::key_step(entry.key.as_string());
      out.push_back({change->key, value({field.definition, is_open}, entry, *change, below)});
    }
    for (const Entry& entry : over.entries()) {
      if (base.find(entry.key.as_string()) != nullptr) continue;
      const Part field = part.field(entry.key.as_string());
      const bool is_open = part.open || field.open;
      if (entry.value.is_null() && !is_open) continue;
      const std::string below = path + yaml::key_step(entry.key.as_string());
      out.push_back({entry.key, added({field.definition, is_open}, entry.value, below)});
    }
    return arena_.map(out, over.origin());
  }

 private:
  // One value over another under the same key.
  Node value(const Part& part, const Entry& base, const Entry& over, const std::string& path) {
    const Node& before = base.value;
    const Node& after = over.value;
    if (before.is_map() && after.is_map()) return maps(part, before, after, path);
    if (part.open) return after;
    if (before.is_list() && after.is_list()) {
      if (part.keys().empty()) return after;
      return named(part, before, after, place_of(after, over.key), path);
    }
    if (before.is_scalar() && after.is_scalar()) return after;
    sink_
        .error(kMergeConflict, place_of(after, over.key),
               "`" + std::string(path.substr(1)) + "` is a " +
                   std::string(yaml::kind_name(after.kind())) + " here, and a " +
                   std::string(yaml::kind_name(before.kind())) + " in what it is laid over")
        .label("cannot be merged")
        .also(place_of(before, base.key), "is merged with this")
        .suggest("write both in the same form");
    return before;
  }

  // A value that nothing stands below. Nulls take nothing away then, and are left out.
  Node added(const Part& part, const Node& after, const std::string& path) {
    if (part.open) return after;
    if (after.is_map()) return maps(part, arena_.map({}, after.origin()), after, path);
    if (after.is_list() && !part.keys().empty()) {
      return named(part, arena_.list({}, after.origin()), after, diag::kNoOrigin, path);
    }
    return after;
  }

  Node named(const Part& part, const Node& base, const Node& over, diag::Origin at,
             const std::string& path) {
    const std::span<const Node> keys = part.keys();
    const Part item = part.item();
    if (over.size() == 0 && base.size() != 0 && is_written_empty(over)) {
      sink_
          .warning(kRemovesNothing, at,
                   "an empty list changes nothing in `" + std::string(path.substr(1)) + "`")
          .label("its items are merged by name")
          .also(base.origin(), "these items stay")
          .suggest("null takes all of them away");
    }
    std::vector<Node> out(base.items().begin(), base.items().end());
    std::vector<bool> settled(out.size(), false);
    std::vector<bool> removed(out.size(), false);
    std::unordered_map<std::string, std::size_t> position;
    for (std::size_t i = 0; i < out.size(); ++i) position.emplace(name_of(out[i], keys), i);
    std::size_t index = 0;
    for (const Node& written : over.items()) {
      const std::string below = path + yaml::item_step(written, index++);
      const std::string name = name_of(written, keys);
      const auto found = name.empty() ? position.end() : position.find(name);
      const bool removes = !name.empty() && written.get(kRemove).as_boolean() &&
                           item.field(kRemove).definition.is_null();
      // Twice in one document is a mistake that the schema reports: nothing is merged then.
      const bool is_new = found == position.end() || settled[found->second];
      if (removes) {
        if (!remove(written, keys, below)) continue;
        if (is_new) {
          report_nothing(written, keys, path);
          continue;
        }
        removed[found->second] = true;
      } else if (is_new) {
        out.push_back(added(item, written, below));
        continue;
      } else {
        out[found->second] = maps(item, out[found->second], written, below);
      }
      settled[found->second] = true;
    }
    std::vector<Node> kept;
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (i >= removed.size() || !removed[i]) kept.push_back(out[i]);
    }
    return arena_.list(kept, over.origin());
  }

  // True when the item says nothing but what is removed.
  bool remove(const Node& written, std::span<const Node> keys, const std::string& path) {
    for (const Entry& entry : written.entries()) {
      const std::string_view field = entry.key.as_string();
      const bool is_key = std::any_of(keys.begin(), keys.end(),
                                      [&](const Node& key) { return key.as_string() == field; });
      if (is_key || field == kRemove) continue;
      sink_
          .error(kFaultyRemoval, entry.key.origin(),
                 "`" + std::string(path.substr(1)) + "` is removed, and has `" +
                     std::string(field) + "`")
          .label("of what does not stay")
          .also(written.find_entry(kRemove)->key.origin(), "removed here")
          .suggest("remove one of the two");
      return false;
    }
    return true;
  }

  void report_nothing(const Node& written, std::span<const Node> keys, const std::string& path) {
    sink_
        .warning(kRemovesNothing, written.find_entry(kRemove)->key.origin(),
                 "`" + std::string(path.substr(1)) + "` has no item `" + shown_name(written, keys) +
                     "` to remove")
        .label("removes nothing");
  }

  // One of which an expression made nothing is as it should be.
  bool is_written_empty(const Node& list) const {
    std::string text(sources_.text(list.origin()));
    std::erase_if(text, [](char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; });
    return text == "[]";
  }

  const diag::Sources& sources_;
  yaml::Arena& arena_;
  diag::Sink& sink_;
};

}  // namespace

Node merge(const Node& definition, std::span<const Node> documents, yaml::Context context) {
  Merge merging(context);
  Node merged = context.arena.map(std::span<const Entry>());
  for (const Node& document : documents) {
    merged = merging.maps({definition, false}, merged, document, "");
  }
  return merged;
}

}  // namespace gpuctl::blueprint
