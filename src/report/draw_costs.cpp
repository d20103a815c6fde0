#include <algorithm>

#include "base/text.hpp"
#include "cost/words.hpp"
#include "report/drawings.hpp"

namespace gpuctl::report {

namespace {

using cost::Figure;
using cost::Figures;

constexpr int kLine = 18;
constexpr int kDescent = 3;  // of letters, above a bar
constexpr int kBar = 12;
constexpr int kGap = 14;
constexpr long kWhole = 10'000;  // hundredths of a per cent

// "734 to 2938, typically 1007": whole units do for a drawing.
std::string whole(const Figure& figure) {
  if (figure.is_unknown()) return "unknown";
  return (figure.complete ? "" : "at least ") +
         std::to_string((figure.known.hundredths() + 50) / 100);
}

std::string said(const Figures& month, const cost::Hours& hours) {
  std::string least = whole(month[cost::kMin]);
  const std::string most = whole(month[cost::kMax]);
  if (least == most) return least;
  return least + " to " + most +
         (hours.has_typical() ? ", typically " + whole(month[cost::kTypical]) : "");
}

// A share of the largest amount, in hundredths of a per cent.
long share_of(const Figure& figure, cost::Amount largest) {
  if (largest <= cost::Amount()) return 0;
  return std::clamp<long>(figure.known.share(kWhole, largest.micros()).micros(), 0, kWhole);
}

void bar(long from, long to, int y, std::string_view kind, Markup& out) {
  if (to <= from) return;
  out.open("rect", {{"x", percent(from)},
                    {"y", std::to_string(y)},
                    {"width", percent(to - from)},
                    {"height", std::to_string(kBar)},
                    {"class", std::string(kind)}})
      .close();
}

}  // namespace

void draw_costs(const std::vector<Priced>& all, const std::string& title, const cost::Hours& hours,
                const std::string& id, Markup& out) {
  cost::Amount largest;
  std::string description;
  std::vector<std::vector<std::string>> labels;
  int height = 0;
  for (const Priced& one : all) {
    for (const Figure& figure : one.month) largest = std::max(largest, figure.known);
    description += (description.empty() ? "" : "; ") + one.name + ": " + said(one.month, hours);
    labels.push_back(wrapped(one.name + ": " + said(one.month, hours)));
    height += static_cast<int>(labels.back().size()) * kLine + kDescent + kBar + kGap;
  }
  if (largest == cost::Amount()) return;  // there is nothing to compare
  out.open("figure");
  open_drawing(id, title, description + ".", 0, height, out);
  int top = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const std::string& line : labels[i]) {
      out.element("text", line, {{"x", "0"}, {"y", std::to_string(top + 14)}, {"class", "plain"}});
      top += kLine;
    }
    top += kDescent;
    const Figures& month = all[i].month;
    const long least = share_of(month[cost::kMin], largest);
    bar(0, kWhole, top, "track", out);
    bar(0, least, top, "term", out);
    bar(least, share_of(month[cost::kMax], largest), top, "reach", out);
    if (hours.has_typical()) {
      const std::string x = percent(share_of(month[cost::kTypical], largest));
      out.open("line", {{"x1", x},
                        {"x2", x},
                        {"y1", std::to_string(top - 2)},
                        {"y2", std::to_string(top + kBar + 2)},
                        {"class", "typical"}})
          .close();
    }
    top += kBar + kGap;
  }
  out.close();
  out.element("figcaption",
              std::string("Solid bars show the minimum, outlined bars the maximum") +
                  (hours.has_typical() ? "; the upright line is a typical month." : ".") +
                  " Unknown amounts are in no bar.");
  out.close();
}

}  // namespace gpuctl::report
