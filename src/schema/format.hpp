// The `format` keyword: which texts are well-formed dates, addresses and so on.
#pragma once

#include <cstdint>
#include <string_view>

namespace gpuctl::schema {

/// Formats that the API server checks; all others are `none` and pass.
enum class Format : std::uint8_t {
  none,
  int32,
  int64,
  date_time,
  date,
  duration,
  ipv4,
  ipv6,
  cidr,
  mac,
  uri,
  uuid,
  hostname,
  email,
  byte,
};

/// The format called `name`; `none` for names that nobody checks.
Format format_named(std::string_view name);

/// How the format is called in messages: "IPv4 address".
std::string_view format_text(Format format);

/// True when `text` is well-formed; always true for formats of numbers and `none`.
bool conforms(Format format, std::string_view text);

}  // namespace gpuctl::schema
