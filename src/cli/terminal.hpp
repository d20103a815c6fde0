// What the terminal behind standard error is asked to show.
#pragma once

#include <string>

#include "diag/print.hpp"

namespace gpuctl::cli {

/// Whether texts have colours. `wanted` is `--color`: with `auto` a terminal has them, unless
/// NO_COLOR is set (no-color.org) or TERM says that it can show none.
bool shows_colour(const std::string& wanted);

/// Where the pages of diagnostic codes are, for links (OSC 8); empty where there shall be none.
/// Only a terminal gets links, only one that is known to show them, and never with NO_COLOR or a
/// dumb TERM; FORCE_HYPERLINK=1 and =0 overrule what is known. Pages are those installed with this
/// program, or below the address in GPUCTL_DOCS.
diag::PageAddress linked_pages(const std::string& wanted);

/// The address that GPUCTL_DOCS says the pages of codes are below, with a slash at its end; empty
/// without one, or when it would break a link.
std::string published_pages();

}  // namespace gpuctl::cli
