#include "base/text.hpp"
#include "report/drawings.hpp"

namespace gpuctl::report {

namespace {

constexpr std::size_t kColumns = 36;  // that fit on the narrowest screen

}  // namespace

void open_drawing(const std::string& id, const std::string& title, const std::string& description,
                  int width, int height, Markup& out) {
  out.open("svg", {{"role", "img"},
                   {"aria-labelledby", id + "-t " + id + "-d"},
                   {"width", width == 0 ? "100%" : std::to_string(width)},
                   {"height", std::to_string(height)}});
  out.element("title", title, {{"id", id + "-t"}});
  out.element("desc", description, {{"id", id + "-d"}});
}

std::string percent(long hundredths) {
  const long rest = hundredths % 100;
  return std::to_string(hundredths / 100) + (rest < 10 ? ".0" : ".") + std::to_string(rest) + "%";
}

std::vector<std::string> wrapped(const std::string& text) {
  std::vector<std::string> out;
  std::string line;
  for (const std::string_view word : base::split(text, ' ')) {
    std::string rest(word);
    if (!line.empty() && base::code_points(line) + 1 + base::code_points(rest) > kColumns) {
      out.push_back(line);
      line.clear();
    }
    while (rest.size() > kColumns) {
      const std::size_t cut = base::character_limit(rest, kColumns);
      out.push_back(rest.substr(0, cut));
      rest.erase(0, cut);
    }
    line += (line.empty() ? "" : " ") + rest;
  }
  if (!line.empty()) out.push_back(line);
  return out;
}

}  // namespace gpuctl::report
