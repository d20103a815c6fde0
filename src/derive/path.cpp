#include "derive/path.hpp"

#include <memory>

#include "base/text.hpp"

namespace gpuctl::derive {

std::optional<std::vector<Step>> parse_path(std::string_view text) {
  std::vector<Step> steps;
  const std::vector<std::string_view> parts = base::split(text, '.');
  steps.reserve(parts.size());
  for (std::string_view part : parts) {
    Step step;
    if (part.ends_with("[]")) {
      step.each = true;
      part.remove_suffix(2);
    }
    if (part.empty() || part.find_first_of("[]") != std::string_view::npos) return std::nullopt;
    step.key = part;
    steps.push_back(std::move(step));
  }
  if (steps.empty() || steps.back().each) return std::nullopt;
  return steps;
}

std::span<const Step> innermost_list(std::span<const Step> path) {
  std::size_t length = path.size();
  while (length > 0 && !path[length - 1].each) --length;
  return path.first(length);
}

namespace {

// `map` with another value under `key`. Every row makes such a map, and the next one replaces it:
// an index would cost more than it spares.
yaml::Node with_entry(const yaml::Node& map, std::string_view key, const yaml::Node& value,
                      yaml::Arena& arena) {
  const std::span<const yaml::Entry> before = map.entries();
  const yaml::Entry* known = map.find_entry(key);
  const std::size_t size = before.size() + (known == nullptr ? 1 : 0);
  yaml::Entry* to = arena.room<yaml::Entry>(size);
  std::uninitialized_copy(before.begin(), before.end(), to);
  if (known == nullptr) {
    std::construct_at(to + before.size(), arena.entry(key, value));
  } else {
    to[known - before.data()].value = value;
  }
  return arena.passing_map({to, size},
                           map.origin() == yaml::kNoOrigin ? value.origin() : map.origin());
}

}  // namespace

yaml::Node set_at(const yaml::Node& tree, std::span<const Step> path, const Placing& placing,
                  yaml::Arena& arena, const std::string& filed) {
  const Step& step = path.front();
  const std::string place = filed + (filed.empty() ? "" : ".") + step.key;
  const yaml::Node before = tree.get(step.key);
  yaml::Node after;
  if (step.each) {
    std::vector<yaml::Node> items(before.items().begin(), before.items().end());
    for (std::size_t i = 0; i < items.size(); ++i) {
      const std::string name(items[i].get("name").as_string());
      placing.enter(items[i], i);
      items[i] = set_at(items[i], path.subspan(1), placing, arena,
                        place + "[" + (name.empty() ? std::to_string(i) : name) + "]");
    }
    if (items.empty()) return tree;
    after = arena.list(items, before.origin());
  } else if (path.size() > 1) {
    after = set_at(before, path.subspan(1), placing, arena, place);
    if (after.is_null()) return tree;
  } else {
    const std::optional<yaml::Node> made = placing.value(place);
    if (!made) return tree;
    after = *made;
  }
  return with_entry(tree, step.key, after, arena);
}

}  // namespace gpuctl::derive
