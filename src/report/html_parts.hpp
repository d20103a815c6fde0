// Pieces that pages of HTML are made of.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/markup.hpp"
#include "report/table.hpp"

namespace gpuctl::report {

/// Text of a diagnostic: what stands between backticks is code.
void prose(std::string_view text, Markup& out);

/// Names with their values; `kind` is the class in the style sheet.
void details(const std::vector<Detail>& all, std::string_view kind, Markup& out);

/// A table, whose caption says what it is `of`; nothing where it has no rows. Wide ones become
/// lists of labelled values on narrow screens; roles keep them tables there.
void write_table(const Table& table, const std::string& of, Markup& out);

}  // namespace gpuctl::report
