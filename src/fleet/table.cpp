#include "fleet/table.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "fleet/codes.hpp"
#include "yaml/read.hpp"

namespace gpuctl::fleet {

namespace {

bool is_letter(char c) {
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Names that expressions can write behind `item.`.
bool is_name(std::string_view text) {
  return !text.empty() && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

class Csv {
 public:
  Csv(diag::FileId file, yaml::Context context)
      : file_(file),
        context_(context),
        text_(context.sources.file_text(file)),
        at_(text_.size() - diag::without_byte_order_mark(text_).size()) {}

  std::optional<yaml::Node> read() {
    if (!check_bytes()) return std::nullopt;
    std::vector<yaml::Node> names;
    std::vector<yaml::Node> rows;
    while (at_ < text_.size()) {
      const std::size_t begin = at_;
      std::vector<yaml::Node> cells;
      if (!line(cells)) return std::nullopt;
      if (cells.empty()) continue;
      if (names.empty()) {
        if (!check_names(cells)) return std::nullopt;
        names = std::move(cells);
        continue;
      }
      if (cells.size() != names.size()) {
        error(begin, begin, "this row has " + base::counted(cells.size(), "cell"))
            .expect(base::counted(names.size(), "cell") + ", as in the first line")
            .suggest("cells that hold commas stand in quotes");
        return std::nullopt;
      }
      if (rows.size() == kMostRows) {
        error(begin, begin, "too many rows").expect("at most " + std::to_string(kMostRows));
        return std::nullopt;
      }
      rows.push_back(row(names, cells, begin));
    }
    if (names.empty()) {
      error(0, 0, "this table has no line").expect("the names of the columns in the first one");
      return std::nullopt;
    }
    return context_.arena.list(rows, span(0, 0));
  }

 private:
  diag::Origin span(std::size_t begin, std::size_t end) const {
    return context_.sources.add_span(file_, static_cast<std::uint32_t>(begin),
                                     static_cast<std::uint32_t>(end));
  }

  diag::Diagnostic& error(std::size_t begin, std::size_t end, std::string message) const {
    return context_.sink.error(kFaultyTable, span(begin, end), std::move(message));
  }

  bool check_bytes() const {
    if (!base::valid_utf8(text_)) {
      error(0, 0, "this table is no text in UTF-8").suggest("save it as CSV in UTF-8");
      return false;
    }
    const auto odd = std::find_if(text_.begin(), text_.end(), [](char c) {
      return static_cast<unsigned char>(c) < ' ' && c != '\t' && c != '\n' && c != '\r';
    });
    if (odd == text_.end()) return true;
    const auto at = static_cast<std::size_t>(odd - text_.begin());
    error(at, at + 1, "a control character stands in this table").suggest("remove it");
    return false;
  }

  // Reads the cells of a line, and what ends it; an empty line has none.
  bool line(std::vector<yaml::Node>& cells) {
    if (end_of_line()) return true;
    while (true) {
      const std::size_t begin = at_;
      std::string value;
      if (!(is('"') ? quoted(value) : plain(value))) return false;
      if (value.size() > kMostCellBytes || cells.size() == kMostColumns) {
        error(begin, at_, "this row is too large")
            .expect("at most " + std::to_string(kMostColumns) + " cells of " +
                    std::to_string(kMostCellBytes) + " bytes");
        return false;
      }
      cells.push_back(context_.arena.string(value, span(begin, at_)));
      if (at_ == text_.size() || end_of_line()) return true;
      ++at_;  // the comma
    }
  }

  bool is(char c) const { return at_ < text_.size() && text_[at_] == c; }

  bool end_of_line() {
    if (is('\r') && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') ++at_;
    if (!is('\n')) return false;
    ++at_;
    return true;
  }

  // Up to what ends the cell.
  bool plain(std::string& value) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '\n') {
      if (is('\r') && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') break;
      if (is('\r')) {
        error(at_, at_ + 1, "a line of this table ends with CR alone").expect("LF or CRLF");
        return false;
      }
      if (is('"')) {
        error(at_, at_ + 1, "a quote stands in a cell without quotes")
            .suggest("put the whole cell in quotes, and write this one twice: `\"a \"\"b\"\"\"`");
        return false;
      }
      ++at_;
    }
    value = text_.substr(begin, at_ - begin);
    return true;
  }

  bool quoted(std::string& value) {
    const std::size_t begin = at_++;
    while (true) {
      const std::size_t quote = text_.find('"', at_);
      if (quote == std::string_view::npos) {
        error(begin, begin + 1, "the quote that opens this cell is not closed");
        return false;
      }
      value += text_.substr(at_, quote - at_);
      at_ = quote + 1;
      if (!is('"')) break;
      value += '"';
      ++at_;
    }
    const bool ends = at_ == text_.size() || is(',') || is('\n') ||
                      (is('\r') && at_ + 1 < text_.size() && text_[at_ + 1] == '\n');
    if (ends) return true;
    error(at_, at_ + 1, "text stands behind the closing quote of a cell")
        .label("expected a comma or the end of the line")
        .suggest("a quote within quotes is written twice");
    return false;
  }

  bool check_names(const std::vector<yaml::Node>& names) const {
    const std::size_t errors_before = context_.sink.error_count();
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string_view name = names[i].as_string();
      if (!is_name(name)) {
        context_.sink
            .error(kFaultyTable, names[i].origin(),
                   "`" + std::string(name) + "` is no name for a column")
            .expect("letters, digits and `_`, as behind `item.`");
        continue;
      }
      const auto before =
          std::find_if(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i),
                       [&](const yaml::Node& one) { return one.as_string() == name; });
      if (before == names.begin() + static_cast<std::ptrdiff_t>(i)) continue;
      context_.sink
          .error(kFaultyTable, names[i].origin(), "a second column `" + std::string(name) + "`")
          .also(before->origin(), "the first");
    }
    return context_.sink.error_count() == errors_before;
  }

  yaml::Node row(const std::vector<yaml::Node>& names, const std::vector<yaml::Node>& cells,
                 std::size_t begin) const {
    std::vector<yaml::Entry> entries;
    entries.reserve(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) entries.push_back({names[i], cells[i]});
    return context_.arena.map(entries, span(begin, begin));
  }

  diag::FileId file_;
  yaml::Context context_;
  std::string_view text_;
  std::size_t at_;
};

}  // namespace

std::optional<yaml::Node> read_csv(diag::FileId file, yaml::Context context) {
  return Csv(file, context).read();
}

std::optional<yaml::Node> read_table(diag::FileId file, const yaml::ReadLimits& limits,
                                     yaml::Context context) {
  diag::Sources& sources = context.sources;
  diag::Sink& sink = context.sink;
  if (sources.file_name(file).ends_with(".csv")) return read_csv(file, context);
  const std::optional<yaml::Node> rows = yaml::read(file, sources, context.arena, sink, limits);
  if (!rows) return std::nullopt;
  const auto refuse = [&](const yaml::Node& found) {
    sink.error(kFaultyTable,
               found.origin() == diag::kNoOrigin ? sources.add_span(file, 0, 0) : found.origin(),
               "this table is no list of maps")
        .expect("a list with a map for each row; CSV in a file `NAME.csv`")
        .got(std::string(yaml::kind_name(found.kind())));
    return std::nullopt;
  };
  if (!rows->is_list()) return refuse(*rows);
  for (const yaml::Node& row : rows->items()) {
    if (!row.is_map()) return refuse(row);
  }
  return rows;
}

}  // namespace gpuctl::fleet
