#include <algorithm>

#include "base/date.hpp"
#include "report/drawings.hpp"

namespace gpuctl::report {

namespace {

using std::chrono::sys_days;

constexpr int kRow = 46;
constexpr int kAxisHeight = 26;
constexpr int kLabel = 18;  // of a row: the name above the bar
constexpr int kBarHeight = 12;
constexpr int kMostTicks = 7;

// A place between the first and the last day, in hundredths of the width.
class TimeScale {
 public:
  TimeScale(sys_days first, sys_days last) : first_(first), days_((last - first).count()) {}

  std::string at(sys_days day) const { return percent(part(day)); }
  std::string between(sys_days from, sys_days to) const { return percent(part(to) - part(from)); }

 private:
  long part(sys_days day) const {
    const long days = std::clamp((day - first_).count(), 0L, days_);
    return days_ == 0 ? 0 : days * 10'000 / days_;
  }

  sys_days first_;
  long days_;
};

sys_days new_year(int year) {
  return std::chrono::year(year) / std::chrono::January / 1;
}

int year_of(sys_days day) {
  return static_cast<int>(std::chrono::year_month_day(day).year());
}

std::string said(const Version& one, sys_days day) {
  return one.component + " " + one.version + (*one.ends < day ? ": ended " : ": until ") +
         base::day_text(*one.ends);
}

// Those whose end is known, the first to end first.
std::vector<const Version*> known_of(const std::vector<Version>& versions) {
  std::vector<const Version*> out;
  for (const Version& one : versions) {
    if (one.ends) out.push_back(&one);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Version* a, const Version* b) { return *a->ends < *b->ends; });
  return out;
}

void bar(const std::string& x, const std::string& width, int y, const std::string& kind,
         Markup& out) {
  out.open("rect", {{"x", x},
                    {"y", std::to_string(y)},
                    {"width", width},
                    {"height", std::to_string(kBarHeight)},
                    {"rx", "3"},
                    {"class", kind}})
      .close();
}

// An upright line through all bars, which spares the labels above them.
void upright(const std::string& x, std::size_t bars, const std::string& kind, Markup& out) {
  for (std::size_t i = 0; i < bars; ++i) {
    const int top = kAxisHeight + static_cast<int>(i) * kRow;
    out.open("line", {{"x1", x},
                      {"x2", x},
                      {"y1", std::to_string(top + kLabel)},
                      {"y2", std::to_string(top + kRow - 2)},
                      {"class", kind}})
        .close();
  }
}

}  // namespace

void draw_timeline(const std::vector<Version>& versions, sys_days day, const std::string& id,
                   Markup& out) {
  const std::vector<const Version*> known = known_of(versions);
  if (known.empty()) return;
  // Room for a support that ended in the same year as the day of the report.
  sys_days first = new_year(year_of(day));
  sys_days last = day;
  std::string description = "The day of the report is " + base::day_text(day) + ".";
  for (const Version* one : known) {
    first = std::min(first, std::min(one->starts.value_or(*one->ends), *one->ends));
    last = std::max(last, *one->ends);
    description += " " + said(*one, day) + ".";
  }
  last = new_year(year_of(last) + 1);
  const TimeScale scale(first, last);
  const int height = kAxisHeight + static_cast<int>(known.size()) * kRow;
  out.open("figure");
  open_drawing(id, "Support of pinned components", description, 0, height, out);
  const int step = (year_of(last) - year_of(first)) / kMostTicks + 1;
  for (int year = year_of(first) + 1; year < year_of(last); year += step) {
    const std::string x = scale.at(new_year(year));
    upright(x, known.size(), "year", out);
    out.element("text", std::to_string(year), {{"x", x}, {"y", "13"}, {"class", "mid dim"}});
  }
  int top = kAxisHeight;
  for (const Version* one : known) {
    out.element("text", said(*one, day),
                {{"x", "0"}, {"y", std::to_string(top + 14)}, {"class", "plain"}});
    const sys_days starts = one->starts ? *one->starts : first;
    bar("0", "100%", top + 20, "track", out);
    bar(scale.at(starts), scale.between(starts, *one->ends), top + 20,
        *one->ends < day ? "over" : "term", out);
    top += kRow;
  }
  upright(scale.at(day), known.size(), "today", out);
  out.close();
  out.element("figcaption", "The dashed line is " + base::day_text(day) +
                                ". A bar whose start is unknown begins at the left edge.");
  out.close();
}

}  // namespace gpuctl::report
