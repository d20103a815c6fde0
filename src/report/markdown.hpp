// The report for places that show Markdown.
#pragma once

#include <string>
#include <string_view>

#include "report/model.hpp"

namespace gpuctl::report {

/// `text` so that Markdown takes it for text, also in the cell of a table.
std::string markdown_text(std::string_view text);

/// The same content as the page of HTML, with tables in the place of drawings.
std::string markdown(const Page& page);

}  // namespace gpuctl::report
