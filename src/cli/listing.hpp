// Tables as commands print them: to be read, and for programs.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "yaml/node.hpp"

namespace gpuctl::cli {

/// Lines of cells under titles; each line has a node that says the same, perhaps more.
struct Listing {
  std::string heading;  // stands above it where there are several; may be empty
  std::vector<std::string> titles;
  std::vector<std::size_t> shown;  // columns that fit a terminal; empty: all
  std::vector<std::vector<std::string>> lines;
  std::vector<yaml::Node> rows;
};

/// What `-o` of a listing may be.
inline constexpr const char* kTable = "table";

/// Adds `-o,--output` with the forms of a listing.
void add_listing_output(Options& command, std::string& output);

/// Adds the words that choose lines by what stands in them.
void add_filters(Options& command, std::vector<std::string>& filters);

/// What a person sees in a cell: scalars as they are, lists by their names.
std::string cell_of(const yaml::Node& value);

/// The listings as `output` says: a table with the columns that fit, `wide` with all, `json`,
/// `yaml` and `csv` with all that is known of each row. An empty cell of a table is a `-`.
std::string text_of(const std::vector<Listing>& listings, const std::string& output,
                    yaml::Arena& arena);

/// The rows of all listings.
yaml::Node rows_of(const std::vector<Listing>& listings, yaml::Arena& arena);

/// Prints the lines in which each of the words stands, in any column that fits a terminal, in any
/// case of letters, as text_of(); they are the `rows` of the result. When that are none of any
/// listing, GPU0012. Gives the exit code.
int show_listings(std::vector<Listing>& listings, const std::vector<std::string>& words,
                  const std::string& output, Report& report, const GlobalOptions& global,
                  yaml::Arena& arena);

}  // namespace gpuctl::cli
