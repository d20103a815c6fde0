#include "report/html_parts.hpp"

#include "base/text.hpp"

namespace gpuctl::report {

namespace {

constexpr std::size_t kFewColumns = 2;    // that fit on every screen
constexpr std::size_t kShortColumns = 4;  // of numbers, which do as well
constexpr std::size_t kManyColumns = 5;   // more do not fit on half a screen

std::string kind_of(const Table& table) {
  const std::size_t columns = table.heads.size();
  const bool numbers = table.numbers_from != Table::kNoNumbers;
  if (columns <= (numbers ? kShortColumns : kFewColumns)) return "plain";
  return columns > kManyColumns ? "wide many" : "wide";
}

}  // namespace

void prose(std::string_view text, Markup& out) {
  const std::vector<std::string_view> parts = base::split(text, '`');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool code = i % 2 == 1 && i + 1 < parts.size();
    if (code) {
      out.element("code", parts[i]);
    } else {
      out.text(i % 2 == 1 ? "`" + std::string(parts[i]) : std::string(parts[i]));
    }
  }
}

void details(const std::vector<Detail>& all, std::string_view kind, Markup& out) {
  out.open("dl", {{"class", std::string(kind)}});
  for (const Detail& detail : all) {
    out.open("div").element("dt", detail.name).element("dd", detail.value).close();
  }
  out.close();
}

void write_table(const Table& table, const std::string& of, Markup& out) {
  if (table.rows.empty()) return;
  const auto alignment = [&](std::size_t column) {
    return std::string(column >= table.numbers_from ? "n" : "t");
  };
  out.open("table", {{"role", "table"}, {"class", kind_of(table)}});
  out.element("caption", table.caption + " (" + of + ")");
  out.open("thead", {{"role", "rowgroup"}}).open("tr", {{"role", "row"}});
  for (std::size_t column = 0; column < table.heads.size(); ++column) {
    out.element("th", table.heads[column],
                {{"role", "columnheader"}, {"scope", "col"}, {"class", alignment(column)}});
  }
  out.close().close().open("tbody", {{"role", "rowgroup"}});
  for (const Cells& cells : table.rows) {
    out.open("tr", {{"role", "row"}});
    out.element("th", cells.front(), {{"role", "rowheader"}, {"scope", "row"}});
    for (std::size_t column = 1; column < cells.size(); ++column) {
      const std::string& cell = cells[column];
      out.open("td", {{"role", "cell"},
                      {"data-label", table.heads[column]},
                      {"class", cell.empty() ? "empty" : alignment(column)}});
      prose(cell, out);
      out.close();
    }
    out.close();
  }
  out.close().close();
}

}  // namespace gpuctl::report
