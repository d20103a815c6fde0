#include "derive/path.hpp"

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
  yaml::MapBuilder builder(tree);
  builder.set(arena, step.key, after);
  return builder.build(arena, tree.origin() == yaml::kNoOrigin ? after.origin() : tree.origin());
}

}  // namespace gpuctl::derive
