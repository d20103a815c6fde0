// Numbers as text, the way CEL's conversions read and write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpuctl::cel {

/// What `string(double)` gives: shortest digits that read back the same, no needless point.
std::string double_text(double value);
/// What `double(string)` takes: decimal notation, `NaN`, `Infinity`; an optional sign.
std::optional<double> parse_double(std::string_view text);
/// What `int(string)` takes: decimal digits with an optional sign.
std::optional<std::int64_t> parse_int(std::string_view text);
/// Towards zero; nothing when the result is no 64-bit integer.
std::optional<std::int64_t> truncate(double value);

}  // namespace gpuctl::cel
