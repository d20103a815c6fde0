// Tokens as rules see them: what is right for one is knowledge, as for any document.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "yaml/node.hpp"

namespace gpuctl::document {

/// `{apiVersion, kind, token, now}`: conversions of the kind take the token apart. Nothing in it
/// has a place, so that no message shows a part of the token.
yaml::Node token_document(std::string_view kind, std::string_view token, std::int64_t now,
                          yaml::Arena& arena);

/// Seconds since 1970.
std::int64_t seconds_now();

/// Seconds from 1970 to the beginning of a date such as 2031-12-31, in UTC; nothing when it is
/// none.
std::optional<std::int64_t> seconds_of_date(std::string_view date);

}  // namespace gpuctl::document
