#include "cli/columns.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "base/text.hpp"

namespace gpuctl::cli {

namespace {

constexpr std::size_t kBetween = 2;  // spaces from a column to the next

// What may not be broken: up to a space, or with the comma at its end.
std::vector<std::string_view> pieces_of(std::string_view cell) {
  std::vector<std::string_view> out;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < cell.size(); ++i) {
    if (cell[i] != ' ' && cell[i] != ',') continue;
    out.push_back(cell.substr(begin, i + 1 - begin));
    begin = i + 1;
  }
  if (begin < cell.size() || out.empty()) out.push_back(cell.substr(begin));
  return out;
}

// Columns of a piece at the end of a line.
std::size_t width_at_end(std::string_view piece) {
  while (piece.ends_with(' ')) piece.remove_suffix(1);
  return base::code_points(piece);
}

// A cell in lines of at most `width` columns.
std::vector<std::string> broken(std::string_view cell, std::size_t width) {
  if (base::code_points(cell) <= width) return {std::string(cell)};
  std::vector<std::string> out(1);
  for (const std::string_view piece : pieces_of(cell)) {
    if (!out.back().empty() && base::code_points(out.back()) + width_at_end(piece) > width) {
      out.emplace_back();
    }
    if (out.back().empty() && piece == " ") continue;
    out.back() += piece;
  }
  for (std::string& line : out) {
    while (line.ends_with(' ')) line.pop_back();
  }
  return out;
}

// Takes columns away from the widest column that can give some, until a line fits. Where none can
// fit all stay as wide as they are.
void narrow(std::vector<std::size_t>& widths, const std::vector<std::size_t>& least,
            std::size_t most) {
  const auto total = [](const std::vector<std::size_t>& columns) {
    return std::accumulate(columns.begin(), columns.end(), kBetween * (columns.size() - 1));
  };
  if (total(least) > most) return;
  while (total(widths) > most) {
    std::size_t* widest = nullptr;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (widths[i] > least[i] && (widest == nullptr || widths[i] > *widest)) widest = &widths[i];
    }
    if (widest == nullptr) return;
    --*widest;
  }
}

}  // namespace

std::string in_columns(const std::vector<std::vector<std::string>>& lines, std::size_t most) {
  if (lines.empty() || lines.front().empty()) return {};
  std::vector<std::size_t> widths(lines.front().size(), 0);
  std::vector<std::size_t> least(widths.size(), 0);
  for (const std::vector<std::string>& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      widths[i] = std::max(widths[i], base::code_points(line[i]));
      for (const std::string_view piece : pieces_of(line[i])) {
        least[i] = std::max(least[i], width_at_end(piece));
      }
    }
  }
  if (most != 0) narrow(widths, least, most);
  std::string out;
  for (const std::vector<std::string>& line : lines) {
    std::vector<std::vector<std::string>> cells;
    std::size_t height = 1;
    for (std::size_t i = 0; i < line.size(); ++i) {
      cells.push_back(broken(line[i], widths[i]));
      height = std::max(height, cells.back().size());
    }
    for (std::size_t row = 0; row < height; ++row) {
      std::string text;
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string part = row < cells[i].size() ? cells[i][row] : std::string();
        text += part;
        if (i + 1 < cells.size()) text.append(widths[i] - base::code_points(part) + kBetween, ' ');
      }
      while (text.ends_with(' ')) text.pop_back();
      out += text + "\n";
    }
  }
  return out;
}

std::string wrapped(const std::string& text, std::size_t width, const std::string& indent) {
  std::string out;
  std::string line;
  std::string words = text;
  std::replace(words.begin(), words.end(), '\n', ' ');
  for (const std::string_view word : base::split(words, ' ')) {
    if (word.empty()) continue;
    if (!line.empty() && base::code_points(line) + 1 + base::code_points(word) > width) {
      out += indent + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + std::string(word);
  }
  return line.empty() ? out : out + indent + line + "\n";
}

}  // namespace gpuctl::cli
