// Formats that take more than a pattern to check.
#pragma once

#include <string>
#include <string_view>

namespace gpuctl::schema {

/// `text` without the characters of `unwanted`.
std::string without(std::string_view text, std::string_view unwanted);

/// An IPv4 or IPv6 address without a zone. With `zeros`, numbers may have leading zeros, which mean
/// nothing (k8s.io/utils/net, ParseIPSloppy).
bool is_address(std::string_view text, bool zeros);

/// An address and a prefix length.
bool is_cidr(std::string_view text, bool zeros);

/// An address of RFC 5322 as Go's net/mail reads it: `a@b`, `"a b"@[10.0.0.1]`, `Name <a@b>`.
bool is_email(std::string_view text);

}  // namespace gpuctl::schema
