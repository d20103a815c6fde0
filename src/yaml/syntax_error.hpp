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
};

/// Reports the parser's `message` as a diagnostic with the likely cause.
void report_syntax_error(std::string_view message, const SyntaxErrorPlace& place,
                         diag::Sources& sources, diag::Sink& sink);

}  // namespace gpuctl::yaml
