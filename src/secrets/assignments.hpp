// Names and their values in texts: `password: x`, `TOKEN=x`, `--api-key x`, `<password>x</...`.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "secrets/rules.hpp"

namespace gpuctl::secrets {

/// A value behind a name; offsets in the text.
struct Assignment {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool quoted = false;
  bool prose = false;  // behind a colon or a blank, without quotes
};

/// The identifier around an offset: letters, digits, `_`, `-`, `.`.
std::pair<std::size_t, std::size_t> identifier_at(std::string_view text, std::size_t at);

/// What is assigned to the identifier that ends at `name_end`, if anything is.
std::optional<Assignment> assigned(std::string_view text, std::size_t name_begin,
                                   std::size_t name_end);

/// Whether a value can be the secret that its name says, and is none of a placeholder, a name of
/// something else, a path, or an address.
bool is_secret_value(const Rules& rules, const NamedSecret& named, std::string_view value);

}  // namespace gpuctl::secrets
