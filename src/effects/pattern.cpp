#include "effects/pattern.hpp"

#include "yaml/path.hpp"

namespace gpuctl::effects {

std::optional<Pattern> Pattern::parse(std::string_view text) {
  // What parse_path() reads has a text in each bracket.
  constexpr std::string_view kAnyItem = "[*]";
  std::string whole;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) == "[]") {
      whole += kAnyItem;
      ++i;
    } else {
      whole += text[i];
    }
  }
  const auto steps = yaml::parse_path(whole);
  if (!steps || steps->empty()) return std::nullopt;
  Pattern out;
  for (const yaml::PathStep& step : *steps) {
    out.parts_.push_back({{step.text, step.bracketed}, step.text == "*"});
  }
  return out;
}

bool Pattern::covers(const std::vector<Step>& field) const {
  if (field.size() < parts_.size()) return false;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    if (part.step.item != field[i].item) return false;
    if (!part.any && part.step.text != field[i].text) return false;
  }
  return true;
}

}  // namespace gpuctl::effects
