// One exchange with name servers through c-ares.
#pragma once

#include <ares.h>

#include <string>

#include "net/time.hpp"

namespace gpuctl::net {

/// A c-ares channel that is driven until its deadline. For one thread.
class Channel {
 public:
  /// `server` as in ask_names(). Check good() before anything else.
  Channel(const std::string& server, Deadline deadline);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  bool good() const { return why_.empty(); }
  const std::string& why() const { return why_; }
  ares_channel get() const { return channel_; }
  /// Lets c-ares work until all that was asked is answered; at the deadline the rest is cancelled,
  /// so that every callback has been called when this returns.
  void drive();

 private:
  ares_channel channel_ = nullptr;
  Deadline deadline_;
  std::string why_;
};

}  // namespace gpuctl::net
