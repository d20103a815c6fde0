#include "net/connection.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "net/names.hpp"

namespace gpuctl::net {

namespace {

using Outcome = Connection::Outcome;

Outcome outcome_of(int code) {
  switch (code) {
    case ECONNREFUSED:
      return Outcome::refused;
    case ETIMEDOUT:
      return Outcome::silent;
    case EHOSTUNREACH:
    case ENETUNREACH:
    case EHOSTDOWN:
    case ENETDOWN:
      return Outcome::unreachable;
    default:
      return Outcome::failed;
  }
}

int start(int socket, const std::string& address, int port) {
  sockaddr_in four{};
  if (::inet_pton(AF_INET, address.c_str(), &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    four.sin_port = htons(static_cast<std::uint16_t>(port));
    return ::connect(socket, reinterpret_cast<const sockaddr*>(&four), sizeof four);  // NOLINT
  }
  sockaddr_in6 six{};
  ::inet_pton(AF_INET6, address.c_str(), &six.sin6_addr);
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(static_cast<std::uint16_t>(port));
  return ::connect(socket, reinterpret_cast<const sockaddr*>(&six), sizeof six);  // NOLINT
}

void connect_address(const std::string& address, int port, Deadline deadline, Connection& out) {
  const int family = address.find(':') == std::string::npos ? AF_INET : AF_INET6;
  out.address = address;
  base::FileDescriptor socket(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  int code = 0;
  if (!socket) {
    code = errno;
  } else if (start(socket.get(), address, port) != 0) {
    code = errno;
    if (code == EINPROGRESS) {
      code = ETIMEDOUT;
      socklen_t size = sizeof code;
      if (wait_for(socket.get(), true, deadline)) {
        ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &code, &size);
      }
    }
  }
  if (code == 0) {
    out.outcome = Outcome::open;
    out.socket = std::move(socket);
    out.why.clear();
    return;
  }
  out.outcome = outcome_of(code);
  out.why = code == ETIMEDOUT ? "no answer in time" : base::errno_text(code);
}

}  // namespace

bool wait_for(int socket, bool to_write, Deadline deadline) {
  while (true) {
    pollfd polled{socket, static_cast<short>(to_write ? POLLOUT : POLLIN), 0};
    const int found = ::poll(&polled, 1, static_cast<int>(left_until(deadline).count()));
    if (found > 0) return true;
    if (found == 0 || errno != EINTR) return false;
  }
}

Connection connect_to(const std::string& host, int port, Deadline deadline) {
  Connection out;
  const std::vector<std::string> addresses = addresses_of(host, deadline, out.why);
  if (addresses.empty()) {
    out.outcome = Outcome::no_address;
    return out;
  }
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    // A silent address leaves time for those behind it.
    const auto share = left_until(deadline) / (addresses.size() - i);
    connect_address(addresses[i], port, Clock::now() + share, out);
    if (out.outcome == Outcome::open) break;
  }
  return out;
}

}  // namespace gpuctl::net
