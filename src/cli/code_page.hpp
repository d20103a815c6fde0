// The pages on diagnostic codes, docs/codes/, which are part of the program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpuctl::cli {

/// The page of a code ("GPU0201") in Markdown; empty when it has none. It lives for the whole run.
std::string_view code_page(std::string_view code);

/// What it is called: "unknown code"; empty when it has none.
std::string code_title(std::string_view code);

/// All codes that have a page.
std::vector<std::string> codes_with_pages();

}  // namespace gpuctl::cli
