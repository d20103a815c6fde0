// Code points: decoding, what must not be shown or written as it is, and columns on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gpuctl::diag {

/// Decodes the code point at `at` (below the size of `text`) and moves `at` behind it. A byte that
/// belongs to no character counts as U+FFFD.
char32_t next_code_point(std::string_view text, std::size_t& at);

/// Appends the code point in UTF-8.
void append_code_point(std::string& out, char32_t c);

/// The text in UTF-8, with U+FFFD for each byte that belongs to no character.
std::string well_formed(std::string_view text);

/// True for what must not stand in a text file as it is: C0 and C1 controls (tab and line feed
/// too), DEL, U+2028, U+2029, U+FEFF, U+FFFE, U+FFFF.
bool is_unprintable(char32_t c);

/// True for characters nobody sees: bidirectional controls, zero-width characters, soft hyphen.
bool is_hidden(char32_t c);

/// Columns on a terminal: 0 for combining marks, 2 for wide East Asian characters and pictographs.
std::size_t display_width(char32_t c);

/// "U+00AD".
std::string code_point_name(char32_t c);

/// Appends `text` so that it can neither steer a terminal nor hide anything: unprintable and hidden
/// characters and bad bytes become U+FFFD, tabs a space. Line feeds stay.
void append_visible(std::string& out, std::string_view text);

/// The text for XML and HTML, between tags or in an attribute that stands in double quotes. It is
/// visible as above: what XML 1.0 cannot hold is replaced.
std::string escaped_markup(std::string_view text);

/// A name of the user's as a message may hold it: visible as above, and in one line.
std::string shown(std::string_view name);

}  // namespace gpuctl::diag
