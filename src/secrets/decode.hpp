// Takes apart what values are wrapped in.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace gpuctl::secrets {

/// The bytes of base64 or base64url, with or without padding, white space ignored; nothing for
/// anything else.
std::optional<std::string> from_base64(std::string_view text);

/// False when what base64 holds, if it is any, is neither readable nor an archive: a quick look.
bool may_wrap(std::string_view base64);

/// `%41` becomes `A`; what is no such sequence stays.
std::string from_percent(std::string_view text);

/// `\"`, `\\`, `\/`, `\n`, `\t`, `\u0041` become what they stand for: text of a string in JSON.
std::string from_escapes(std::string_view text);

/// The lines from the first to the last with an escape; empty when there is none. A backslash
/// before white space is none: it continues a line.
std::string_view escaped_lines(std::string_view text);

bool is_gzip(std::string_view bytes);

/// What gzip packed, `most` bytes of it; `cut` says that there is more.
std::optional<std::string> from_gzip(std::string_view bytes, std::size_t most, bool& cut);

/// True when the bytes can be read as text: UTF-8 with hardly any control characters.
bool is_readable(std::string_view bytes);

}  // namespace gpuctl::secrets
