// The `format` keyword: which texts are well-formed dates, addresses and so on.
#pragma once

#include <cstdint>
#include <string_view>

namespace gpuctl::schema {

/// Formats that the API server checks (apiextensions-apiserver, validation/formats.go, Kubernetes
/// 1.34), and that of 32-bit integers; all others are `none` and pass.
enum class Format : std::uint8_t {
  none,
  int32,
  date_time,
  date,
  duration,
  ipv4,
  ipv6,
  cidr,
  mac,
  uri,
  uuid,
  uuid3,
  uuid4,
  uuid5,
  hostname,
  email,
  byte,
  object_id,
  isbn,
  isbn10,
  isbn13,
  credit_card,
  social_security,
  hex_color,
  rgb_color,
  short_name,
  long_name,
};

/// The format called `name`, dashes in it aside; `none` for names that nobody checks.
Format format_named(std::string_view name);

/// How the format is called in messages: "IPv4 address".
std::string_view format_text(Format format);

/// True when `text` is well-formed, as kube-openapi's strfmt judges it; always true for formats of
/// numbers and `none`. Addresses of schemas that are not `published` must have no leading zeros:
/// the API server reads 010 as 10, others as 8.
bool conforms(Format format, std::string_view text, bool published);

}  // namespace gpuctl::schema
