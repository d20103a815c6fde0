// TCP connections with a deadline.
#pragma once

#include <string>

#include "base/file.hpp"
#include "net/time.hpp"

namespace gpuctl::net {

/// What became of an attempt to connect.
struct Connection {
  enum class Outcome {
    open,
    refused,      // somebody is there, and nobody listens
    silent,       // no answer in time
    unreachable,  // the network, or a host on the same link, is not there
    no_address,   // the name has none
    failed,       // anything else
  };
  Outcome outcome = Outcome::failed;
  base::FileDescriptor socket;  // open: it does not block
  std::string address;          // that was tried last
  std::string why;              // unless it is open
};

/// Connects to the first address of a host that takes the connection.
Connection connect_to(const std::string& host, int port, Deadline deadline);

/// Waits until a socket can be read (or written); false at the deadline.
bool wait_for(int socket, bool to_write, Deadline deadline);

}  // namespace gpuctl::net
