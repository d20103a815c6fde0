#include "net/names.hpp"

#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <netdb.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "base/freed.hpp"
#include "base/text.hpp"
#include "net/channel.hpp"

namespace gpuctl::net {

namespace {

using Status = NameAnswer::Status;

constexpr int kMostAddresses = 64;

using Host = std::unique_ptr<hostent, base::FreedBy<ares_free_hostent>>;

std::string text_of(int family, const void* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(family, address, text.data(), text.size());
  return text.data();
}

std::string without_dot(std::string name) {
  if (name.size() > 1 && name.ends_with('.')) name.pop_back();
  return base::to_lower(name);
}

Status status_of(int code) {
  switch (code) {
    case ARES_SUCCESS:
      return Status::found;
    case ARES_ENODATA:
      return Status::no_data;
    case ARES_ENOTFOUND:
      return Status::no_name;
    case ARES_ESERVFAIL:
    case ARES_EREFUSED:
    case ARES_ENOTIMP:
    case ARES_EFORMERR:
      return Status::refused;
    case ARES_ETIMEOUT:
    case ARES_ECANCELLED:
    case ARES_ECONNREFUSED:
      return Status::silent;
    default:
      return Status::failed;
  }
}

int class_type(RecordType type) {
  switch (type) {
    case RecordType::a:
      return ns_t_a;
    case RecordType::aaaa:
      return ns_t_aaaa;
    case RecordType::ns:
      return ns_t_ns;
    case RecordType::ptr:
      return ns_t_ptr;
    case RecordType::soa:
      return ns_t_soa;
  }
  return ns_t_a;
}

// Takes the records out of an answer; gives a status of c-ares.
int parse(RecordType type, const unsigned char* bytes, int size, std::vector<std::string>& out) {
  hostent* raw = nullptr;
  if (type == RecordType::a) {
    std::array<ares_addrttl, kMostAddresses> found{};
    int count = kMostAddresses;
    const int code = ares_parse_a_reply(bytes, size, nullptr, found.data(), &count);
    for (int i = 0; code == ARES_SUCCESS && i < count; ++i) {
      out.push_back(text_of(AF_INET, &found[static_cast<std::size_t>(i)].ipaddr));
    }
    return code;
  }
  if (type == RecordType::aaaa) {
    std::array<ares_addr6ttl, kMostAddresses> found{};
    int count = kMostAddresses;
    const int code = ares_parse_aaaa_reply(bytes, size, nullptr, found.data(), &count);
    for (int i = 0; code == ARES_SUCCESS && i < count; ++i) {
      out.push_back(text_of(AF_INET6, &found[static_cast<std::size_t>(i)].ip6addr));
    }
    return code;
  }
  if (type == RecordType::soa) {
    ares_soa_reply* found = nullptr;
    const int code = ares_parse_soa_reply(bytes, size, &found);
    if (code == ARES_SUCCESS) out.push_back(without_dot(found->nsname));
    if (found != nullptr) ares_free_data(found);
    return code;
  }
  const int code = type == RecordType::ns
                       ? ares_parse_ns_reply(bytes, size, &raw)
                       : ares_parse_ptr_reply(bytes, size, nullptr, 0, AF_INET, &raw);
  const Host host(raw);
  if (code != ARES_SUCCESS) return code;
  for (char** alias = host->h_aliases; alias != nullptr && *alias != nullptr; ++alias) {
    out.push_back(without_dot(*alias));
  }
  if (out.empty() && host->h_name != nullptr && type == RecordType::ptr) {
    out.push_back(without_dot(host->h_name));
  }
  return code;
}

// One question and its answer.
struct Exchange {
  RecordType type = RecordType::a;
  NameAnswer answer;
};

void take(void* given, int code, int /*timeouts*/, unsigned char* bytes, int size) {
  auto& exchange = *static_cast<Exchange*>(given);
  NameAnswer& answer = exchange.answer;
  if (code == ARES_SUCCESS) code = parse(exchange.type, bytes, size, answer.records);
  answer.status = status_of(code);
  if (answer.status == Status::found && answer.records.empty()) answer.status = Status::no_data;
  if (answer.status == Status::silent) {
    answer.why = code == ARES_ECONNREFUSED
                     ? "no name server can be reached, or none wants to answer"
                     : "no answer in time";
  } else if (!answer.told()) {
    answer.why = base::to_lower(ares_strerror(code));
  }
  std::sort(answer.records.begin(), answer.records.end());
  const auto repeated = std::unique(answer.records.begin(), answer.records.end());
  answer.records.erase(repeated, answer.records.end());
}

struct Resolved {
  std::vector<std::string> addresses;
  std::string why;
};

void take_addresses(void* given, int code, int /*timeouts*/, ares_addrinfo* found) {
  auto& resolved = *static_cast<Resolved*>(given);
  const std::unique_ptr<ares_addrinfo, void (*)(ares_addrinfo*)> owned(found, [](auto* info) {
    if (info != nullptr) ares_freeaddrinfo(info);
  });
  if (code != ARES_SUCCESS) {
    const Status status = status_of(code);
    resolved.why = status == Status::no_name || status == Status::no_data
                       ? "there is no such host"
                       : "its name cannot be looked up: " +
                             (status == Status::silent ? std::string("no answer in time")
                                                       : base::to_lower(ares_strerror(code)));
    return;
  }
  for (const ares_addrinfo_node* node = found->nodes; node != nullptr; node = node->ai_next) {
    if (node->ai_family == AF_INET) {
      sockaddr_in address{};
      std::memcpy(&address, node->ai_addr, sizeof address);
      resolved.addresses.push_back(text_of(AF_INET, &address.sin_addr));
    } else if (node->ai_family == AF_INET6) {
      sockaddr_in6 address{};
      std::memcpy(&address, node->ai_addr, sizeof address);
      resolved.addresses.push_back(text_of(AF_INET6, &address.sin6_addr));
    }
  }
  if (resolved.addresses.empty()) resolved.why = "it has no address";
}

}  // namespace

std::optional<RecordType> record_type(const std::string& name) {
  if (name == "A") return RecordType::a;
  if (name == "AAAA") return RecordType::aaaa;
  if (name == "NS") return RecordType::ns;
  if (name == "PTR") return RecordType::ptr;
  if (name == "SOA") return RecordType::soa;
  return std::nullopt;
}

NameAnswer ask_names(const std::string& name, RecordType type, const std::string& server,
                     Deadline deadline) {
  Exchange exchange{type, {}};
  Channel channel(server, deadline);
  if (!channel.good()) {
    exchange.answer.why = channel.why();
    return exchange.answer;
  }
  ares_query(channel.get(), name.c_str(), ns_c_in, class_type(type), take, &exchange);
  channel.drive();
  return exchange.answer;
}

std::string reverse_name(const std::string& address) {
  std::array<unsigned char, 16> bytes{};
  if (::inet_pton(AF_INET, address.c_str(), bytes.data()) == 1) {
    return std::to_string(bytes[3]) + "." + std::to_string(bytes[2]) + "." +
           std::to_string(bytes[1]) + "." + std::to_string(bytes[0]) + ".in-addr.arpa";
  }
  if (::inet_pton(AF_INET6, address.c_str(), bytes.data()) != 1) return {};
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (auto byte = bytes.rbegin(); byte != bytes.rend(); ++byte) {
    out += kDigits[*byte & 0xfU];
    out += '.';
    out += kDigits[*byte >> 4U];
    out += '.';
  }
  return out + "ip6.arpa";
}

Zone zone_of(const std::string& name, const std::string& server, Deadline deadline) {
  Zone zone;
  std::string candidate = name;
  // The name itself may be one; the root and top-level domains are nobody's cluster.
  while (std::count(candidate.begin(), candidate.end(), '.') >= 1) {
    const NameAnswer answer = ask_names(candidate, RecordType::ns, server, deadline);
    if (answer.status == Status::found) {
      zone.name = candidate;
      for (const std::string& host : answer.records) {
        const NameAnswer found = ask_names(host, RecordType::a, server, deadline);
        zone.servers.insert(zone.servers.end(), found.records.begin(), found.records.end());
      }
      std::sort(zone.servers.begin(), zone.servers.end());
      if (zone.servers.empty()) zone.why = "no address of its name servers is known";
      return zone;
    }
    if (!answer.told()) {
      zone.why = answer.why;
      return zone;
    }
    candidate.erase(0, candidate.find('.') + 1);
  }
  zone.why = "no name above it has name servers";
  return zone;
}

std::vector<std::string> addresses_of(const std::string& host, Deadline deadline,
                                      std::string& why) {
  std::array<unsigned char, 16> ignored{};
  if (::inet_pton(AF_INET, host.c_str(), ignored.data()) == 1 ||
      ::inet_pton(AF_INET6, host.c_str(), ignored.data()) == 1) {
    return {host};
  }
  Channel channel("", deadline);
  Resolved resolved;
  if (!channel.good()) {
    why = channel.why();
    return {};
  }
  ares_addrinfo_hints hints{};
  hints.ai_family = AF_UNSPEC;
  ares_getaddrinfo(channel.get(), host.c_str(), nullptr, &hints, take_addresses, &resolved);
  channel.drive();
  why = resolved.why;
  return resolved.addresses;
}

}  // namespace gpuctl::net
