// Whether anybody has an address.
#pragma once

#include <string>
#include <vector>

#include "net/time.hpp"

namespace gpuctl::net {

/// Signs that an address is in use.
struct Reach {
  bool in_use = false;
  std::string sign;  // by what it was seen: "port 443 answers"
  std::string why;   // it could not be found out
};

/// Looks for somebody at an IP address: TCP on these ports (an answer that refuses counts), ICMP
/// echo where the system allows it to us, and what the kernel knows of neighbours on its links
/// afterwards. Silence proves nothing behind a firewall.
Reach reach(const std::string& address, const std::vector<int>& ports, Deadline deadline);

}  // namespace gpuctl::net
