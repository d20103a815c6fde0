// Why something failed, by what programs of others print.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/process.hpp"
#include "diag/diagnostic.hpp"
#include "signature/signatures.hpp"

namespace gpuctl::install {

/// A line of a program as far as it may be shown; nothing for one with a password in it.
using Redact = std::function<std::optional<std::string>(std::string_view)>;

/// A cause that a line shows.
struct Cause {
  const signature::Signature* signature = nullptr;
  std::string line;  // redacted; "" when it may not be shown
};

/// How much of a text is searched, in bytes from its end: what failed stands there.
inline constexpr std::size_t kMostSearchedBytes = std::size_t{1} << 20U;

/// The first line of a text that shows a cause; one that is weak only when no line shows another.
std::optional<Cause> find_cause(std::string_view text, const signature::Signatures& signatures,
                                const Redact& redact);
/// The same of all that a program printed: its errors count before its output.
std::optional<Cause> find_cause(const base::Ended& ended, const signature::Signatures& signatures,
                                const Redact& redact);

/// GPU0708 with the line, the source and the remedy.
void report_cause(const Cause& cause, diag::Sink& sink);

}  // namespace gpuctl::install
