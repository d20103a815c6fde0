#include "base/text.hpp"
#include "report/drawings.hpp"

namespace gpuctl::report {

namespace {

constexpr int kLineHeight = 19;
constexpr int kBoxGap = 14;
constexpr int kTrunk = 10;
constexpr int kBox = 30;  // where boxes begin

struct BoxLine {
  std::string text;
  bool dim = false;
};

void wrap(const std::string& text, bool dim, std::vector<BoxLine>& out) {
  for (std::string& line : wrapped(text)) out.push_back({std::move(line), dim});
}

std::vector<BoxLine> lines_of(const Network& network) {
  std::vector<BoxLine> out;
  wrap(network.name, false, out);
  wrap(network.kind, true, out);
  for (const std::string& range : network.ranges) wrap(range, false, out);
  if (!network.pools.empty()) wrap("pools: " + base::join(network.pools, ", "), true, out);
  return out;
}

std::string said(const Network& network) {
  std::string out = network.name + " (" + network.kind + ")";
  if (!network.ranges.empty()) out += ": " + base::join(network.ranges, ", ");
  if (!network.pools.empty()) out += ", of pools " + base::join(network.pools, ", ");
  return out;
}

int height_of(std::size_t lines) {
  return static_cast<int>(lines) * kLineHeight + 14;
}

}  // namespace

void draw_networks(const Cluster& cluster, const std::string& id, Markup& out) {
  std::string description;
  std::vector<std::vector<BoxLine>> boxes;
  int height = 0;
  int last = 0;  // where the last wire leaves the trunk
  for (const Network& network : cluster.networks) {
    description += (description.empty() ? "" : "; ") + said(network);
    boxes.push_back(lines_of(network));
    last = height + 18;
    height += height_of(boxes.back().size()) + kBoxGap;
  }
  out.open("figure");
  open_drawing(id, "Networks of " + cluster.name, description + ".", 0, height, out);
  const std::string trunk = std::to_string(kTrunk);
  out.open("line", {{"x1", trunk},
                    {"x2", trunk},
                    {"y1", "4"},
                    {"y2", std::to_string(last)},
                    {"class", "wire"}})
      .close();
  int top = 0;
  for (const std::vector<BoxLine>& lines : boxes) {
    const std::string middle = std::to_string(top + 18);
    out.open("line", {{"x1", trunk},
                      {"x2", std::to_string(kBox)},
                      {"y1", middle},
                      {"y2", middle},
                      {"class", "wire"}})
        .close();
    out.open("circle", {{"cx", trunk}, {"cy", middle}, {"r", "6"}}).close();
    // The width of SVG 2: what is left beside the trunk, but never wider than is good to read.
    out.open("rect", {{"x", std::to_string(kBox)},
                      {"y", std::to_string(top + 1)},
                      {"style", "width:min(calc(100% - 31px),420px)"},
                      {"height", std::to_string(height_of(lines.size()) - 2)},
                      {"rx", "6"},
                      {"class", "box"}})
        .close();
    int y = top + 22;
    for (const BoxLine& line : lines) {
      out.element("text", line.text,
                  {{"x", std::to_string(kBox + 12)},
                   {"y", std::to_string(y)},
                   {"class", line.dim ? "dim" : "plain"}});
      y += kLineHeight;
    }
    top += height_of(lines.size()) + kBoxGap;
  }
  out.close().close();
}

}  // namespace gpuctl::report
