#include "net/reach.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <fstream>
#include <sstream>

#include "net/connection.hpp"

namespace gpuctl::net {

namespace {

// One echo request through a socket that needs no rights (Linux, net.ipv4.ping_group_range).
bool echoes(const std::string& address, Deadline deadline) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  if (::inet_pton(AF_INET, address.c_str(), &to.sin_addr) != 1) return false;
  const base::FileDescriptor socket(
      ::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_ICMP));
  if (!socket) return false;
  icmphdr question{};
  question.type = ICMP_ECHO;
  question.un.echo.sequence = htons(1);
  if (::sendto(socket.get(), &question, sizeof question, MSG_NOSIGNAL,
               reinterpret_cast<const sockaddr*>(&to), sizeof to) < 0) {  // NOLINT
    return false;
  }
  if (!wait_for(socket.get(), false, deadline)) return false;
  icmphdr answer{};
  const ssize_t count = ::recv(socket.get(), &answer, sizeof answer, 0);
  return count >= static_cast<ssize_t>(sizeof answer) && answer.type == ICMP_ECHOREPLY;
}

// Lines of /proc/net/arp: address, hardware type, flags, hardware address, mask, device.
bool is_neighbour(const std::string& address) {
  constexpr unsigned long kComplete = 2;  // ATF_COM of linux/if_arp.h
  std::ifstream table("/proc/net/arp");
  std::string line;
  while (std::getline(table, line)) {
    std::istringstream words(line);
    std::string known;
    std::string type;
    std::string flags;
    words >> known >> type >> flags;
    if (known == address) return (std::strtoul(flags.c_str(), nullptr, 16) & kComplete) != 0;
  }
  return false;
}

}  // namespace

Reach reach(const std::string& address, const std::vector<int>& ports, Deadline deadline) {
  Reach out;
  const auto share = left_until(deadline) / static_cast<long>(ports.size() + 1);
  for (const int port : ports) {
    const Connection connection = connect_to(address, port, Clock::now() + share);
    if (connection.outcome == Connection::Outcome::open ||
        connection.outcome == Connection::Outcome::refused) {
      out.in_use = true;
      out.sign = "port " + std::to_string(port) +
                 (connection.outcome == Connection::Outcome::open ? " answers"
                                                                  : " is refused by a host there");
      return out;
    }
    if (connection.outcome == Connection::Outcome::failed) out.why = connection.why;
  }
  out.in_use = echoes(address, deadline);
  if (out.in_use) out.sign = "it answers to ping";
  if (!out.in_use && is_neighbour(address)) {
    out.in_use = true;
    out.sign = "a host on this link has it (ARP)";
  }
  if (out.in_use) out.why.clear();
  return out;
}

}  // namespace gpuctl::net
