// Lists that must not hold the same thing twice: uniqueItems and x-kubernetes-list-type.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/text.hpp"
#include "schema/walk.hpp"

namespace gpuctl::schema {

using yaml::Node;

namespace {

void write(const Node& node, std::string& out) {
  switch (node.kind()) {
    case yaml::Kind::null:
      out += "null";
      return;
    case yaml::Kind::boolean:
      out += node.as_boolean() ? "true" : "false";
      return;
    case yaml::Kind::integer:
      out += std::to_string(node.as_integer());
      return;
    case yaml::Kind::real: {
      // 1.0 equals 1.
      const double value = node.as_real();
      if (value >= -9e15 && value <= 9e15 &&
          value == static_cast<double>(static_cast<std::int64_t>(value))) {
        out += std::to_string(static_cast<std::int64_t>(value));
      } else {
        out += base::format_real(value);
      }
      return;
    }
    case yaml::Kind::string:
      out.push_back('"');
      for (const char c : node.as_string()) {
        if (c == '"' || c == '\\') out.push_back('\\');
        out.push_back(c);
      }
      out.push_back('"');
      return;
    case yaml::Kind::list: {
      out.push_back('[');
      bool first = true;
      for (const Node& item : node.items()) {
        if (!std::exchange(first, false)) out.push_back(',');
        write(item, out);
      }
      out.push_back(']');
      return;
    }
    case yaml::Kind::map: {
      std::vector<std::string> parts;
      for (const yaml::Entry& entry : node.entries()) {
        std::string part;
        write(entry.key, part);
        part.push_back(':');
        write(entry.value, part);
        parts.push_back(std::move(part));
      }
      std::sort(parts.begin(), parts.end());
      out += "{" + base::join(parts, ",") + "}";
      return;
    }
  }
}

}  // namespace

std::string canonical(const Node& node) {
  std::string out;
  write(node, out);
  return out;
}

bool Walk::check_unique(const Schema& schema, const Node& list, const Place& place) {
  const bool keyed = schema.list_type == ListType::map;
  const auto items = list.items();
  if (keyed && schema.list_map_keys.empty()) return true;  // a fault of the schema
  if (keyed && !std::all_of(items.begin(), items.end(),
                            [](const Node& item) { return item.is_map() || item.is_null(); })) {
    return true;  // a wrong type, which has been reported
  }
  struct Seen {
    std::size_t index = 0;
    bool reported = false;
  };
  std::unordered_map<std::string, Seen> seen;
  bool ok = true;
  std::size_t index = 0;
  for (const Node& item : items) {
    std::string identity;
    if (keyed) {
      for (const std::string_view key : schema.list_map_keys) {
        const Node* value = item.find(key);
        identity += value == nullptr ? "-;" : canonical(*value) + ";";
      }
    } else {
      identity = canonical(item);
    }
    const auto [known, fresh] = seen.emplace(std::move(identity), Seen{index});
    // The API server names the second of many, too.
    if (!fresh && !std::exchange(known->second.reported, true)) {
      ok = duplicate(schema, list, known->second.index, index, place);
    }
    ++index;
  }
  return ok;
}

bool Walk::duplicate(const Schema& schema, const Node& list, std::size_t first, std::size_t second,
                     const Place& place) {
  const Node& one = list.items()[first];
  const Node& two = list.items()[second];
  const bool keyed = schema.list_type == ListType::map;
  const auto origin_of = [&](const Node& item, std::size_t index) {
    const Node key = keyed ? item.get(schema.list_map_keys.front()) : Node();
    return key.origin() != diag::kNoOrigin ? key.origin() : place.item(item, index).at;
  };
  return refuse(kDuplicate, place.item(two, second), origin_of(two, second),
                [&](diag::Diagnostic& finding) {
                  const Schema* items = schema.items ? &schema.items->get() : nullptr;
                  const auto text = [](const Schema* of, const Node& value) {
                    if (of != nullptr && of->secret) return std::string("(secret)");
                    return value.is_string() ? std::string(value.as_string()) : canonical(value);
                  };
                  std::string what;
                  if (keyed) {
                    for (const std::string_view key : schema.list_map_keys) {
                      const Node* value = two.find(key);
                      if (value == nullptr) continue;
                      const Schema* of = items == nullptr ? nullptr : items->property(key);
                      what += (what.empty() ? "`" : ", `") + std::string(key) + ": " +
                              shown_text(text(of, *value)) + "`";
                    }
                  } else {
                    what = "`" + shown_text(text(items, two)) + "`";
                  }
                  finding.message = "duplicate entry " + what + " in " + place.quoted();
                  finding.label("already at index " + std::to_string(first));
                  finding.also(origin_of(one, first), "first here");
                });
}

}  // namespace gpuctl::schema
