// The time of others.
#pragma once

#include <string>

#include "net/time.hpp"

namespace gpuctl::net {

/// What a time server says.
struct ClockAnswer {
  bool told = false;
  double seconds = 0;  // by which the other clock is ahead of ours
  int stratum = 0;
  std::string why;  // unless it was told
};

/// Asks a server by SNTP (RFC 4330): one datagram, and one more when there is no answer.
ClockAnswer ask_clock(const std::string& host, int port, Deadline deadline);

/// By which a date in an HTTP header ("Tue, 15 Nov 1994 08:12:31 GMT") is ahead of our clock, in
/// seconds; the header has whole seconds. `told` is false when it is no date.
ClockAnswer compare_date(const std::string& date);

}  // namespace gpuctl::net
