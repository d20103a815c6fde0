// Structural defaulting, as apiextensions-apiserver does it: first nulls go that nothing allows,
// then absent fields and nulls with a default get it, outside in, so that a default that is an
// object is completed from the schema below it.
#include <cmath>
#include <utility>

#include "schema/compiled.hpp"

namespace gpuctl::schema {

namespace {

using yaml::Arena;
using yaml::Entry;
using yaml::Node;

/// The schema of the value under `key`, or nullptr.
const Schema* child_of(const Schema& schema, std::string_view key) {
  if (const Schema* own = schema.property(key)) return own;
  return schema.additional ? &schema.additional->get() : nullptr;
}

class Filler {
 public:
  explicit Filler(Arena& arena) : arena_(arena) {}

  /// The filled node; nothing when it stays as it is.
  std::optional<Node> fill(const Schema& schema, const Node& node) {
    if (node.is_map()) return fill_map(schema, node);
    if (node.is_list() && schema.items) return fill_list(schema.items->get(), node);
    return std::nullopt;
  }

 private:
  /// The value of a default. Those of a CRD lie in another table of sources than the document, so
  /// they have no place.
  Node value_of(const Schema& schema) {
    return schema.shared.published ? yaml::without_origins(*schema.default_value, arena_)
                                   : arena_.clone(*schema.default_value);
  }
  std::optional<Node> fill_value(const Schema& schema, const Node& value) {
    if (!value.is_null() || schema.nullable || !schema.default_value) return fill(schema, value);
    const Node given = value_of(schema);
    return fill(schema, given).value_or(given);
  }
  std::optional<Node> fill_map(const Schema& schema, const Node& node) {
    std::vector<Entry> entries;
    bool changed = false;
    const auto begin_change = [&] {
      if (changed) return;
      changed = true;
      entries.assign(node.entries().begin(), node.entries().end());
    };
    std::size_t index = 0;
    for (const Entry& entry : node.entries()) {
      if (const Schema* child = child_of(schema, entry.key.as_string())) {
        if (const auto filled = fill_value(*child, entry.value)) {
          begin_change();
          entries[index].value = *filled;
        }
      }
      ++index;
    }
    for (const std::size_t property : schema.defaulted) {
      const std::string_view name = schema.properties.entries()[property].key.as_string();
      if (node.find(name) != nullptr) continue;
      const Schema& child = schema.property_slots[property].get();
      if (!child.default_value) continue;
      begin_change();
      const Node given = value_of(child);
      entries.push_back(arena_.entry(name, fill(child, given).value_or(given)));
    }
    if (!changed) return std::nullopt;
    return arena_.map(entries, node.origin());
  }
  std::optional<Node> fill_list(const Schema& items, const Node& node) {
    std::vector<Node> out;
    std::size_t index = 0;
    for (const Node& item : node.items()) {
      if (const auto filled = fill_value(items, item)) {
        if (out.empty()) out.assign(node.items().begin(), node.items().end());
        out[index] = *filled;
      }
      ++index;
    }
    if (out.empty()) return std::nullopt;
    return arena_.list(out, node.origin());
  }

  Arena& arena_;
};

class Pruner {
 public:
  Pruner(Arena& arena, std::vector<RemovedNull>* removed) : arena_(arena), removed_(removed) {}

  std::optional<Node> prune(const Schema& schema, const Node& node, const std::string& path) {
    if (node.is_map()) return prune_map(schema, node, path);
    if (node.is_list() && schema.items) return prune_list(schema.items->get(), node, path);
    return std::nullopt;
  }

 private:
  std::optional<Node> prune_map(const Schema& schema, const Node& node, const std::string& path) {
    std::vector<Entry> kept;
    bool changed = false;
    std::size_t index = 0;
    for (const Entry& entry : node.entries()) {
      const std::string_view name = entry.key.as_string();
      const Schema* child = child_of(schema, name);
      const bool drop =
          child != nullptr && entry.value.is_null() && !child->nullable && !child->default_value;
      std::optional<Node> pruned;
      if (child != nullptr && !drop && !entry.value.is_scalar()) {
        pruned = prune(*child, entry.value, join(path, name));
      }
      if ((drop || pruned) && !changed) {
        changed = true;
        kept.assign(node.entries().begin(),
                    node.entries().begin() + static_cast<std::ptrdiff_t>(index));
      }
      if (drop && removed_ != nullptr) {
        const diag::Origin at = entry.value.origin();
        removed_->push_back({join(path, name), at != diag::kNoOrigin ? at : entry.key.origin()});
      }
      if (changed && !drop) kept.push_back({entry.key, pruned.value_or(entry.value)});
      ++index;
    }
    if (!changed) return std::nullopt;
    return arena_.map(kept, node.origin());
  }
  std::optional<Node> prune_list(const Schema& items, const Node& node, const std::string& path) {
    std::vector<Node> out;
    std::size_t index = 0;
    for (const Node& item : node.items()) {
      if (!item.is_scalar()) {
        if (const auto pruned = prune(items, item, path + "[" + std::to_string(index) + "]")) {
          if (out.empty()) out.assign(node.items().begin(), node.items().end());
          out[index] = *pruned;
        }
      }
      ++index;
    }
    if (out.empty()) return std::nullopt;
    return arena_.list(out, node.origin());
  }
  /// Paths are only made when somebody wants them.
  std::string join(const std::string& path, std::string_view name) const {
    if (removed_ == nullptr) return {};
    return path.empty() ? std::string(name) : path + "." + std::string(name);
  }

  Arena& arena_;
  std::vector<RemovedNull>* removed_;
};

/// The node with reals that are whole as integers; nothing when there are none. They are 1.0 only
/// until YAML is turned into JSON.
std::optional<Node> with_integers(const Node& node, Arena& arena) {
  if (node.is_real()) {
    const double real = node.as_real();
    // 2^63 is the first double that does not fit.
    if (real != std::trunc(real) || real < -9223372036854775808.0 ||
        real >= 9223372036854775808.0) {
      return std::nullopt;
    }
    return Node::integer(static_cast<std::int64_t>(real), node.origin());
  }
  if (node.is_list()) {
    std::vector<Node> items;
    std::size_t index = 0;
    for (const Node& item : node.items()) {
      if (const auto changed = with_integers(item, arena)) {
        if (items.empty()) items.assign(node.items().begin(), node.items().end());
        items[index] = *changed;
      }
      ++index;
    }
    if (items.empty()) return std::nullopt;
    return arena.list(items, node.origin());
  }
  std::vector<Entry> entries;
  std::size_t index = 0;
  for (const Entry& entry : node.entries()) {
    if (const auto changed = with_integers(entry.value, arena)) {
      if (entries.empty()) entries.assign(node.entries().begin(), node.entries().end());
      entries[index].value = *changed;
    }
    ++index;
  }
  if (entries.empty()) return std::nullopt;
  return arena.map(entries, node.origin());
}

}  // namespace

Node as_json(const Node& document, Arena& arena) {
  return with_integers(document, arena).value_or(document);
}

Node fill_defaults(const Schema& schema, const Node& document, Arena& arena) {
  return Filler(arena).fill(schema, document).value_or(document);
}

Node prune_nulls(const Schema& schema, const Node& document, Arena& arena,
                 std::vector<RemovedNull>* removed) {
  return Pruner(arena, removed).prune(schema, document, {}).value_or(document);
}

Node apply_defaults(const Schema& schema, const Node& document, Arena& arena) {
  // A null in a document of ours is a mistake that validate() reports; nobody drops it.
  if (!schema.shared.published) return fill_defaults(schema, document, arena);
  return fill_defaults(schema, prune_nulls(schema, document, arena, nullptr), arena);
}

}  // namespace gpuctl::schema
