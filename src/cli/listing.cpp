#include "cli/listing.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "cli/codes.hpp"
#include "cli/columns.hpp"
#include "yaml/emit.hpp"

namespace gpuctl::cli {

namespace {

// Whether the word stands in a column that a table shows by itself.
bool contains(const Listing& listing, const std::vector<std::string>& line,
              const std::string& word) {
  const auto in = [&](const std::string& cell) {
    return base::to_lower(cell).find(word) != std::string::npos;
  };
  if (listing.shown.empty()) return std::any_of(line.begin(), line.end(), in);
  return std::any_of(listing.shown.begin(), listing.shown.end(),
                     [&](std::size_t column) { return in(line[column]); });
}

std::string table_of(const Listing& listing, bool wide) {
  std::vector<std::size_t> columns = listing.shown;
  if (wide || columns.empty()) {
    columns.resize(listing.titles.size());
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i] = i;
  }
  const auto pick = [&](const std::vector<std::string>& from) {
    std::vector<std::string> line;
    for (const std::size_t i : columns) line.push_back(from[i].empty() ? "-" : from[i]);
    return line;
  };
  std::vector<std::vector<std::string>> lines = {pick(listing.titles)};
  for (const std::vector<std::string>& line : listing.lines) lines.push_back(pick(line));
  return in_columns(lines, wide ? 0 : kColumns);
}

// A cell of RFC 4180.
std::string quoted(std::string text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  for (std::size_t at = text.find('"'); at != std::string::npos; at = text.find('"', at + 2)) {
    text.insert(at, 1, '"');
  }
  return "\"" + text + "\"";
}

// A line for each row; columns are the fields that any row has.
std::string csv_of(const yaml::Node& rows) {
  std::vector<std::string> fields;
  for (const yaml::Node& row : rows.items()) {
    for (const yaml::Entry& entry : row.entries()) {
      const std::string field(entry.key.as_string());
      if (std::find(fields.begin(), fields.end(), field) == fields.end()) fields.push_back(field);
    }
  }
  std::string out;
  for (const std::string& field : fields) out += (out.empty() ? "" : ",") + quoted(field);
  out += '\n';
  for (const yaml::Node& row : rows.items()) {
    std::string line;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const yaml::Node* value = row.find(fields[i]);
      line += (i == 0 ? "" : ",") + (value == nullptr ? std::string() : quoted(cell_of(*value)));
    }
    out += line + "\n";
  }
  return out;
}

// Leaves the lines in which each word stands.
void filter(std::vector<Listing>& listings, const std::vector<std::string>& words,
            diag::Sink& sink) {
  std::vector<std::string> known;
  std::size_t left = 0;
  for (Listing& listing : listings) {
    Listing kept = listing;
    kept.lines.clear();
    kept.rows.clear();
    for (std::size_t i = 0; i < listing.lines.size(); ++i) {
      if (!listing.lines[i].empty()) known.push_back(listing.lines[i].front());
      const bool fits = std::all_of(words.begin(), words.end(), [&](const std::string& word) {
        return contains(listing, listing.lines[i], base::to_lower(word));
      });
      if (!fits) continue;
      kept.lines.push_back(std::move(listing.lines[i]));
      kept.rows.push_back(listing.rows[i]);
    }
    left += kept.lines.size();
    listing = std::move(kept);
  }
  if (words.empty() || left != 0) return;
  sink.error(kNoSuchRow, diag::kNoOrigin,
             "no row contains `" + diag::shown(base::join(words, "` and `")) + "`")
      .expect(
          "words that one row contains, in any of its columns; without words, all rows are shown")
      .did_you_mean(words.front(), known);
}

}  // namespace

void add_listing_output(Options& command, std::string& output) {
  command.add_option("-o,--output", output, "Form; wide: a table with all columns")
      .one_of({kTable, "wide", "json", "yaml", "csv"})
      .type_name("FORM");
}

void add_filters(Options& command, std::vector<std::string>& filters) {
  command.add_option("FILTER", filters, "Only rows that contain each of these words");
}

std::string cell_of(const yaml::Node& value) {
  switch (value.kind()) {
    case yaml::Kind::null:
      return "";
    case yaml::Kind::string:
      return std::string(value.as_string());
    case yaml::Kind::list: {
      std::vector<std::string> parts;
      for (const yaml::Node& item : value.items()) {
        parts.push_back(item.is_map() ? cell_of(item.get("name")) : cell_of(item));
      }
      return base::join(parts, ", ");
    }
    default:
      return yaml::emit_json(value);
  }
}

std::string text_of(const std::vector<Listing>& listings, const std::string& output,
                    yaml::Arena& arena) {
  if (output == "json") return yaml::emit_json(rows_of(listings, arena)) + "\n";
  if (output == "yaml") return yaml::emit(rows_of(listings, arena));
  if (output == "csv") return csv_of(rows_of(listings, arena));
  std::string out;
  for (const Listing& listing : listings) {
    if (listing.lines.empty() && listings.size() > 1) continue;
    if (!out.empty()) out += '\n';
    if (listings.size() > 1 && !listing.heading.empty()) out += "# " + listing.heading + "\n";
    out += table_of(listing, output == "wide");
  }
  return out;
}

yaml::Node rows_of(const std::vector<Listing>& listings, yaml::Arena& arena) {
  std::vector<yaml::Node> rows;
  for (const Listing& listing : listings) {
    rows.insert(rows.end(), listing.rows.begin(), listing.rows.end());
  }
  return arena.list(rows);
}

int show_listings(std::vector<Listing>& listings, const std::vector<std::string>& words,
                  const std::string& output, Report& report, const GlobalOptions& global,
                  yaml::Arena& arena) {
  diag::Sink sink;
  filter(listings, words, sink);
  report.show(sink, diag::Sources());
  if (sink.has_errors()) return kFindings;
  global.result->set("rows", rows_of(listings, arena));
  return print(text_of(listings, output, arena), global) ? kOk : kFindings;
}

}  // namespace gpuctl::cli
