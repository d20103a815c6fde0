// Addresses of repositories elsewhere.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "diag/diagnostic.hpp"

namespace gpuctl::git {

/// An address that the git program can be given. None of its texts holds a password; the user of
/// an http(s) address, which some servers take for a token, stands in `user` alone.
struct Address {
  std::string url;     // as the git program takes it
  std::string scheme;  // "https"; "ssh" for `user@host:path` too
  std::string user;    // of an http(s) address; "" when it has none
  std::string shown;   // for people
  /// One file name for one place, readable: host and path cut short, then a digest of the address.
  std::string name;
};

/// True for what is no path: `SCHEME://...`, `user@host:path`, and `HELPER::...` and
/// `user:password@host`, which read_address() refuses. A directory with such a name is `./NAME`.
bool is_address(std::string_view text);

/// Takes an address apart. Refused, with a diagnostic: schemes other than ssh, https, http, git and
/// file, hosts and paths that start with `-` (ssh would take them for options), passwords
/// (everybody on the machine can read the arguments of programs), control characters.
std::optional<Address> read_address(const std::string& text, diag::Sink& sink);

/// `text` without what stands between `//` and `@` in the addresses it holds.
std::string without_user(std::string_view text);

}  // namespace gpuctl::git
