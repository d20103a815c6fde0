#include "net/clock.hpp"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/file.hpp"
#include "net/connection.hpp"
#include "net/names.hpp"

namespace gpuctl::net {

namespace {

using Packet = std::array<unsigned char, 48>;

constexpr double kEpoch = 2208988800.0;     // seconds from 1900 to 1970, RFC 4330
constexpr double kFraction = 4294967296.0;  // 2^32
constexpr unsigned char kAsk = 0x23;        // version 4, mode client
constexpr unsigned kModeServer = 4;
constexpr std::size_t kReceived = 32;   // when the server got the question
constexpr std::size_t kSent = 40;       // when it answered; of a question: our time
constexpr std::size_t kOriginate = 24;  // our time, as the server gives it back

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void put_time(Packet& packet, std::size_t at, double seconds) {
  const double since = seconds + kEpoch;
  const auto whole = static_cast<std::uint32_t>(static_cast<std::uint64_t>(since));
  const auto part = static_cast<std::uint32_t>((since - std::floor(since)) * kFraction);
  const std::array<std::uint32_t, 2> bytes = {htonl(whole), htonl(part)};
  std::memcpy(packet.data() + at, bytes.data(), sizeof bytes);
}

double time_in(const Packet& packet, std::size_t at) {
  std::array<std::uint32_t, 2> bytes{};
  std::memcpy(bytes.data(), packet.data() + at, sizeof bytes);
  // Times before 1968 are those of the era that begins in 2036.
  const double era = (ntohl(bytes[0]) & 0x80000000U) != 0 ? 0 : kFraction;
  return ntohl(bytes[0]) + era + ntohl(bytes[1]) / kFraction - kEpoch;
}

base::FileDescriptor open_socket(const std::string& address, int port) {
  sockaddr_storage to{};
  socklen_t size = sizeof(sockaddr_in);
  auto* four = reinterpret_cast<sockaddr_in*>(&to);  // NOLINT
  auto* six = reinterpret_cast<sockaddr_in6*>(&to);  // NOLINT
  if (::inet_pton(AF_INET, address.c_str(), &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(static_cast<std::uint16_t>(port));
  } else {
    ::inet_pton(AF_INET6, address.c_str(), &six->sin6_addr);
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(static_cast<std::uint16_t>(port));
    size = sizeof(sockaddr_in6);
  }
  base::FileDescriptor socket(::socket(to.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (socket &&
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), size) != 0) {  // NOLINT
    const int code = errno;
    socket.reset();
    errno = code;
  }
  return socket;
}

// One datagram there and one back.
bool exchange(int socket, Deadline deadline, ClockAnswer& out) {
  Packet question{};
  question.front() = kAsk;
  const double sent = now();
  put_time(question, kSent, sent);
  if (::send(socket, question.data(), question.size(), MSG_NOSIGNAL) < 0) {
    out.why = base::errno_text(errno);
    return false;
  }
  while (wait_for(socket, false, deadline)) {
    Packet answer{};
    const ssize_t count = ::recv(socket, answer.data(), answer.size(), 0);
    const double received = now();
    if (count < 0) {
      out.why = errno == ECONNREFUSED ? "nobody listens there" : base::errno_text(errno);
      return false;
    }
    const bool ours = std::memcmp(answer.data() + kOriginate, question.data() + kSent, 8) == 0;
    if (count < static_cast<ssize_t>(answer.size()) || (answer[0] & 7U) != kModeServer || !ours) {
      continue;
    }
    out.stratum = answer[1];
    if (out.stratum == 0 || (answer[0] >> 6U) == 3) {
      out.why = "it says that it has no time itself";
      return false;
    }
    out.seconds = ((time_in(answer, kReceived) - sent) + (time_in(answer, kSent) - received)) / 2;
    out.told = true;
    return true;
  }
  out.why = "no answer in time";
  return false;
}

}  // namespace

ClockAnswer ask_clock(const std::string& host, int port, Deadline deadline) {
  ClockAnswer out;
  const std::vector<std::string> addresses = addresses_of(host, deadline, out.why);
  if (addresses.empty()) return out;
  const base::FileDescriptor socket = open_socket(addresses.front(), port);
  if (!socket) {
    out.why = base::errno_text(errno);
    return out;
  }
  const Deadline half = Clock::now() + left_until(deadline) / 2;
  if (!exchange(socket.get(), half, out) && out.stratum == 0) {
    exchange(socket.get(), deadline, out);
  }
  return out;
}

ClockAnswer compare_date(const std::string& date) {
  ClockAnswer out;
  const time_t read = curl_getdate(date.c_str(), nullptr);
  if (read == -1) {
    out.why = "it names no date";
    return out;
  }
  out.told = true;
  out.seconds = std::round(static_cast<double>(read) - now());
  return out;
}

}  // namespace gpuctl::net
