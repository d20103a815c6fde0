// The bytes of an input before any parser sees them.
#pragma once

#include <string_view>

#include "diag/diagnostic.hpp"
#include "diag/sources.hpp"
#include "yaml/read.hpp"

namespace gpuctl::yaml {

/// True when the text of `file` is UTF-8 without control characters (tab, line feed and CR LF are
/// allowed), a byte order mark at most at its start, and no larger than `limits.bytes`. Otherwise
/// reports the first offence. U+2028 and U+2029, which break lines for YAML 1.1 alone, count as
/// offence unless `limits.ambiguous_scalars`.
bool check_text(diag::FileId file, diag::Sources& sources, diag::Sink& sink,
                const ReadLimits& limits);

/// Number of bytes of the byte order mark at the start of `text`: 0 or 3.
std::size_t byte_order_mark(std::string_view text);

}  // namespace gpuctl::yaml
