// What YAML 1.1 has and readers such as kubectl take: merge keys and tags of the core types.
#include <algorithm>

#include "base/text.hpp"
#include "yaml/codes.hpp"
#include "yaml/scalar.hpp"
#include "yaml/tree_builder.hpp"

namespace gpuctl::yaml {

namespace {

constexpr std::string_view kCoreTags = "tag:yaml.org,2002:";
// Tells a merge key from a text that reads like one: by where it lies.
constexpr char kMergeWord[] = "<<";

}  // namespace

Node TreeBuilder::merge_key(Origin origin) {
  return Node::view(kMergeWord, origin);
}

// Replaces merge keys in entries_ by what they bring. What is written wins, then what comes first.
void TreeBuilder::merge_entries() {
  const auto is_merge = [](const Entry& entry) {
    return entry.key.as_string().data() == kMergeWord;
  };
  if (std::none_of(entries_.begin(), entries_.end(), is_merge)) return;
  std::vector<Entry> out;
  std::copy_if(entries_.begin(), entries_.end(), std::back_inserter(out),
               [&](const Entry& entry) { return !is_merge(entry); });
  const auto add = [&](const Entry& merge, const Node& map) {
    if (!map.is_map()) {
      error(kMergeKey, merge.key.origin(), "a merge key without a mapping")
          .expect("a mapping, or a list of mappings");
      return;
    }
    for (const Entry& entry : map.entries()) {
      const auto known = std::find_if(out.begin(), out.end(), [&](const Entry& other) {
        return other.key.as_string() == entry.key.as_string();
      });
      if (known == out.end()) {
        out.push_back(entry);
        continue;
      }
      sink_
          .warning(kMergeKey, known->key.origin(),
                   "`" + std::string(entry.key.as_string()) + "` is merged in, too")
          .label("this one counts; strict readers refuse both")
          .also(merge.key.origin(), "merged here")
          .suggest("write the entries out instead of the merge key");
    }
  };
  for (const Entry& merge : entries_) {
    if (!is_merge(merge)) continue;
    if (!merge.value.is_list()) add(merge, merge.value);
    for (const Node& item : merge.value.items()) add(merge, item);
  }
  entries_ = std::move(out);
}

// A scalar with the tag of a core type, when it has a value of that type.
std::optional<Node> TreeBuilder::tagged_value(std::string_view tag, std::string_view value,
                                              Origin origin) {
  if (!limits_.kubectl_scalars || !tag.starts_with(kCoreTags)) return std::nullopt;
  const std::string_view type = tag.substr(kCoreTags.size());
  if (type == "str") return arena_.string(value, origin);
  const Node node = plain_value(value, origin);
  if (type == "int" && node.is_integer()) return node;
  if (type == "float" && node.is_number()) return Node::real(node.as_real(), origin);
  if (type == "bool" && node.is_boolean()) return node;
  if (type == "null" && node.is_null()) return node;
  return std::nullopt;
}

}  // namespace gpuctl::yaml
