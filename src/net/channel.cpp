#include "net/channel.hpp"

#include <poll.h>

#include <array>

namespace gpuctl::net {

namespace {

// A server that does not answer is asked again once within the time of a question.
constexpr int kTryMilliseconds = 1500;
constexpr int kTries = 2;
constexpr int kMostWait = 100;  // milliseconds between looks at timeouts

}  // namespace

Channel::Channel(const std::string& server, Deadline deadline) : deadline_(deadline) {
  ares_options options{};
  options.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES;
  // A chosen server that refuses has answered; of those of the system, another may know more.
  if (!server.empty()) options.flags |= ARES_FLAG_NOCHECKRESP;
  options.timeout = kTryMilliseconds;
  options.tries = kTries;
  const int mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES;
  if (const int status = ares_init_options(&channel_, &options, mask); status != ARES_SUCCESS) {
    channel_ = nullptr;
    why_ = ares_strerror(status);
    return;
  }
  if (server.empty()) return;
  if (const int status = ares_set_servers_ports_csv(channel_, server.c_str());
      status != ARES_SUCCESS) {
    why_ = "`" + server + "` is no address of a name server";
  }
}

Channel::~Channel() {
  if (channel_ != nullptr) ares_destroy(channel_);
}

void Channel::drive() {
  while (true) {
    std::array<ares_socket_t, ARES_GETSOCK_MAXNUM> sockets{};
    const int wanted = ares_getsock(channel_, sockets.data(), ARES_GETSOCK_MAXNUM);
    if (wanted == 0) return;
    if (left_until(deadline_).count() == 0) {
      ares_cancel(channel_);
      return;
    }
    std::array<pollfd, ARES_GETSOCK_MAXNUM> polled{};
    nfds_t count = 0;
    const auto mask = static_cast<unsigned>(wanted);
    for (unsigned i = 0; i < ARES_GETSOCK_MAXNUM; ++i) {
      const bool reads = (mask & (1U << i)) != 0;
      const bool writes = (mask & (1U << (i + ARES_GETSOCK_MAXNUM))) != 0;
      if (!reads && !writes) continue;
      polled[count].fd = sockets[i];
      polled[count].events = static_cast<short>((reads ? POLLIN : 0) | (writes ? POLLOUT : 0));
      ++count;
    }
    const auto left = std::min<std::int64_t>(kMostWait, left_until(deadline_).count());
    ::poll(polled.data(), count, static_cast<int>(left));
    for (nfds_t i = 0; i < count; ++i) {
      const short got = polled[i].revents;
      const bool reads = (got & (POLLIN | POLLERR | POLLHUP)) != 0;
      const bool writes = (got & POLLOUT) != 0;
      ares_process_fd(channel_, reads ? polled[i].fd : ARES_SOCKET_BAD,
                      writes ? polled[i].fd : ARES_SOCKET_BAD);
    }
    ares_process_fd(channel_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);  // timeouts
  }
}

}  // namespace gpuctl::net
