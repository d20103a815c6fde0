// Says in our words what yaml-cpp stumbled over.
#pragma once

#include <cstddef>
#include <string_view>

#include "diag/diagnostic.hpp"
#include "diag/sources.hpp"

namespace gpuctl::yaml {

/// Where the parser was when it gave up.
struct SyntaxErrorPlace {
  diag::FileId file = 0;
  std::size_t at = 0;                              // byte offset in the file
  std::size_t progress = 0;                        // offset up to which values were read
  diag::Origin open_collection = diag::kNoOrigin;  // innermost `[` or `{` not closed yet
  // The quote that opens the text read last, when it is closed on another line; npos otherwise.
  std::size_t broken_quote = std::string_view::npos;
};

/// Reports the parser's `message` as a diagnostic with the likely cause.
void report_syntax_error(std::string_view message, const SyntaxErrorPlace& place,
                         diag::Sources& sources, diag::Sink& sink);

/// Says that the quote at `quote` should have been closed before `witness`.
void report_broken_quote(diag::FileId file, std::size_t quote, const diag::Label& witness,
                         diag::Sources& sources, diag::Sink& sink);

/// Reports the first marker of a merge conflict (`<<<<<<<`, `=======` and `>>>>>>>` at the start of
/// lines, in this order). False when the file has none.
bool report_merge_conflict(diag::FileId file, diag::Sources& sources, diag::Sink& sink);

/// True when `line` starts with one of the three markers of a merge conflict.
bool is_conflict_marker(std::string_view line);

/// Says that the bytes [at, at + 7) are such a marker.
void report_conflict_marker(diag::FileId file, std::size_t at, diag::Sources& sources,
                            diag::Sink& sink);

}  // namespace gpuctl::yaml
