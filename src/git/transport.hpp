// How the git program is started when it talks to a server.
#pragma once

#include <functional>
#include <vector>

#include "base/process.hpp"
#include "git/address.hpp"

namespace gpuctl::git {

/// Changes to the environment of a git program that talks to `address`: nothing can ask on a
/// terminal, nothing but its protocol carries the exchange, and the user of the address is no
/// argument. `chooses_ssh` says whether the configuration names a program for ssh.
std::vector<base::Setting> transport_environment(const Address& address,
                                                 const std::function<bool()>& chooses_ssh);

}  // namespace gpuctl::git
