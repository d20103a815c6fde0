// Users and passwords in addresses.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gpuctl::secrets {

/// The secret part of an address; offsets in the text.
struct Credentials {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool user_only = false;  // a token in the place of the user's name
};

/// Passwords, and tokens instead of users, in all addresses of a text: any scheme in any case, none
/// at all (`user:password@host`), and those of data sources (`user:password@tcp(host)`).
std::vector<Credentials> credentials_in_urls(std::string_view text);

/// The text with its addresses, but without a user and a password in them. A user alone is none in
/// `ssh://`.
std::string without_credentials(std::string_view text);

}  // namespace gpuctl::secrets
