// IP addresses and prefixes, with the names and the strictness of the Kubernetes CEL library: no
// zones, no leading zeros, no IPv4 inside of IPv6.
#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "cel/functions.hpp"

namespace gpuctl::cel::lib {

namespace {

/// An address; IPv4 uses the first four bytes.
struct Address {
  int family = 4;
  std::array<std::uint8_t, 16> bytes{};

  int bits() const { return family == 4 ? 32 : 128; }
  friend bool operator==(const Address&, const Address&) = default;
};

std::string address_text(const Address& address) {
  if (address.family == 4) {
    std::string text;
    for (std::size_t i = 0; i < 4; ++i) {
      text += (i == 0 ? "" : ".") + std::to_string(address.bytes[i]);
    }
    return text;
  }
  // RFC 5952: lower case, no leading zeros, the longest run of two or more zero groups as `::`.
  std::array<unsigned, 8> groups{};
  for (std::size_t i = 0; i < 8; ++i) {
    groups[i] = static_cast<unsigned>(address.bytes[2 * i] << 8U) | address.bytes[2 * i + 1];
  }
  std::size_t best = 8;
  std::size_t length = 1;
  for (std::size_t i = 0; i < 8; ++i) {
    std::size_t end = i;
    while (end < 8 && groups[end] == 0) ++end;
    if (end - i > length) {
      best = i;
      length = end - i;
    }
  }
  std::string text;
  for (std::size_t i = 0; i < 8; ++i) {
    if (i == best) {
      text += "::";
      i += length - 1;
      continue;
    }
    if (!text.empty() && text.back() != ':') text += ":";
    std::array<char, 8> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), groups[i], 16).ptr;
    text.append(digits.data(), end);
  }
  return text;
}

std::optional<Address> parse_address(std::string_view text) {
  if (text.size() > 45 || text.find('\0') != std::string_view::npos) return std::nullopt;
  const std::string copy(text);
  Address address;
  if (inet_pton(AF_INET, copy.c_str(), address.bytes.data()) == 1) return address;
  address.family = 6;
  if (inet_pton(AF_INET6, copy.c_str(), address.bytes.data()) != 1) return std::nullopt;
  const bool mapped = std::all_of(address.bytes.begin(), address.bytes.begin() + 10,
                                  [](std::uint8_t byte) { return byte == 0; }) &&
                      address.bytes[10] == 0xFF && address.bytes[11] == 0xFF;
  if (mapped) return std::nullopt;
  return address;
}

struct Prefix {
  Address address;
  int length = 0;
};

Address masked(const Prefix& prefix) {
  Address out = prefix.address;
  for (int i = 0; i < 16; ++i) {
    const int keep = std::clamp(prefix.length - i * 8, 0, 8);
    auto& byte = out.bytes[static_cast<std::size_t>(i)];
    byte = static_cast<std::uint8_t>(byte & (0xFF00U >> static_cast<unsigned>(keep)));
  }
  return out;
}

std::optional<Prefix> parse_prefix(std::string_view text) {
  const std::size_t slash = text.rfind('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto address = parse_address(text.substr(0, slash));
  const std::string_view digits = text.substr(slash + 1);
  if (!address || digits.empty() || digits.size() > 3 || (digits.size() > 1 && digits[0] == '0')) {
    return std::nullopt;
  }
  Prefix prefix{*address, 0};
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), prefix.length);
  if (read.ec != std::errc() || read.ptr != digits.data() + digits.size() || prefix.length < 0 ||
      prefix.length > address->bits()) {
    return std::nullopt;
  }
  return prefix;
}

bool contains(const Prefix& outer, const Address& address) {
  return outer.address.family == address.family && masked({address, outer.length}) == masked(outer);
}

bool contains(const Prefix& outer, const Prefix& inner) {
  return inner.length >= outer.length && contains(outer, inner.address);
}

struct Ip final : Opaque {
  explicit Ip(const Address& value) : address(value) {}
  std::string type_name() const override { return "ip"; }
  bool equals(const Opaque& other) const override {
    const auto* ip = dynamic_cast<const Ip*>(&other);
    return ip != nullptr && ip->address == address;
  }
  const Address address;
};

struct Cidr final : Opaque {
  explicit Cidr(const Prefix& value) : prefix(value) {}
  std::string type_name() const override { return "cidr"; }
  bool equals(const Opaque& other) const override {
    const auto* cidr = dynamic_cast<const Cidr*>(&other);
    return cidr != nullptr && cidr->prefix.address == prefix.address &&
           cidr->prefix.length == prefix.length;
  }
  const Prefix prefix;
};

Outcome give_ip(const Address& address) {
  return give(Value(std::make_shared<const Ip>(address)));
}
Outcome give_cidr(const Prefix& prefix) {
  return give(Value(std::make_shared<const Cidr>(prefix)));
}

Outcome no_address(std::string_view text) {
  return fail("`" + std::string(text) + "` is no IP address");
}
Outcome no_prefix(std::string_view text) {
  return fail("`" + std::string(text) + "` is no CIDR");
}

/// An address or prefix argument, given as such or as text.
std::optional<Address> address_of(const Value& value) {
  return value.is_node() ? parse_address(value.node().as_string()) : as<Ip>(value).address;
}
std::optional<Prefix> prefix_of(const Value& value) {
  return value.is_node() ? parse_prefix(value.node().as_string()) : as<Cidr>(value).prefix;
}

bool all_zero(const Address& address) {
  return std::all_of(address.bytes.begin(), address.bytes.end(),
                     [](std::uint8_t byte) { return byte == 0; });
}

bool within(const Address& address, std::string_view prefix) {
  const auto range = parse_prefix(prefix);
  return range && contains(*range, address);
}

bool is_loopback(const Address& ip) {
  return within(ip, "127.0.0.0/8") || within(ip, "::1/128");
}
bool is_link_local_unicast(const Address& ip) {
  return within(ip, "169.254.0.0/16") || within(ip, "fe80::/10");
}
bool is_link_local_multicast(const Address& ip) {
  return within(ip, "224.0.0.0/24") ||
         (ip.family == 6 && ip.bytes[0] == 0xFF && (ip.bytes[1] & 0x0FU) == 0x02);
}
bool is_global_unicast(const Address& ip) {
  const bool multicast = within(ip, "224.0.0.0/4") || within(ip, "ff00::/8");
  return !all_zero(ip) && !within(ip, "255.255.255.255/32") && !is_loopback(ip) && !multicast &&
         !is_link_local_unicast(ip);
}

template <bool (*Test)(const Address&)>
Outcome address_test(Arguments args, CallContext&) {
  return give(Test(as<Ip>(args[0]).address));
}

Outcome contains_ip(Arguments args, CallContext&) {
  const auto address = address_of(args[1]);
  if (!address) return no_address(args[1].node().as_string());
  return give(contains(as<Cidr>(args[0]).prefix, *address));
}

Outcome contains_cidr(Arguments args, CallContext&) {
  const auto prefix = prefix_of(args[1]);
  if (!prefix) return no_prefix(args[1].node().as_string());
  return give(contains(as<Cidr>(args[0]).prefix, *prefix));
}

Outcome overlaps(Arguments args, CallContext&) {
  const auto other = prefix_of(args[1]);
  if (!other) return no_prefix(args[1].node().as_string());
  const Prefix& own = as<Cidr>(args[0]).prefix;
  return give(contains(own, *other) || contains(*other, own));
}

void add_ip(Functions& to) {
  const Type ip = Type::opaque("ip");
  function(to, "ip", {string()}, ip, [](Arguments args, CallContext&) {
    const auto address = parse_address(args[0].node().as_string());
    return address ? give_ip(*address) : no_address(args[0].node().as_string());
  });
  function(to, "isIP", {string()}, boolean(), [](Arguments args, CallContext&) {
    return give(parse_address(args[0].node().as_string()).has_value());
  });
  function(to, "ip.isCanonical", {string()}, boolean(), [](Arguments args, CallContext&) {
    const auto address = parse_address(args[0].node().as_string());
    if (!address) return no_address(args[0].node().as_string());
    return give(address_text(*address) == args[0].node().as_string());
  });
  method(to, "family", {ip}, integer(), [](Arguments args, CallContext&) {
    return give(std::int64_t{as<Ip>(args[0]).address.family});
  });
  method(to, "isUnspecified", {ip}, boolean(), address_test<all_zero>);
  method(to, "isLoopback", {ip}, boolean(), address_test<is_loopback>);
  method(to, "isLinkLocalMulticast", {ip}, boolean(), address_test<is_link_local_multicast>);
  method(to, "isLinkLocalUnicast", {ip}, boolean(), address_test<is_link_local_unicast>);
  method(to, "isGlobalUnicast", {ip}, boolean(), address_test<is_global_unicast>);
  function(to, "string", {ip}, string(), [](Arguments args, CallContext& context) {
    return give_text(context, address_text(as<Ip>(args[0]).address));
  });
}

void add_cidr(Functions& to) {
  const Type ip = Type::opaque("ip");
  const Type cidr = Type::opaque("cidr");
  function(to, "cidr", {string()}, cidr, [](Arguments args, CallContext&) {
    const auto prefix = parse_prefix(args[0].node().as_string());
    return prefix ? give_cidr(*prefix) : no_prefix(args[0].node().as_string());
  });
  function(to, "isCIDR", {string()}, boolean(), [](Arguments args, CallContext&) {
    return give(parse_prefix(args[0].node().as_string()).has_value());
  });
  method(to, "containsIP", {cidr, string()}, boolean(), contains_ip);
  method(to, "containsIP", {cidr, ip}, boolean(), contains_ip);
  method(to, "containsCIDR", {cidr, string()}, boolean(), contains_cidr);
  method(to, "containsCIDR", {cidr, cidr}, boolean(), contains_cidr);
  method(to, "overlaps", {cidr, string()}, boolean(), overlaps);
  method(to, "overlaps", {cidr, cidr}, boolean(), overlaps);
  method(to, "ip", {cidr}, ip,
         [](Arguments args, CallContext&) { return give_ip(as<Cidr>(args[0]).prefix.address); });
  method(to, "masked", {cidr}, cidr, [](Arguments args, CallContext&) {
    const Prefix& prefix = as<Cidr>(args[0]).prefix;
    return give_cidr({masked(prefix), prefix.length});
  });
  method(to, "prefixLength", {cidr}, integer(), [](Arguments args, CallContext&) {
    return give(std::int64_t{as<Cidr>(args[0]).prefix.length});
  });
  function(to, "string", {cidr}, string(), [](Arguments args, CallContext& context) {
    const Prefix& prefix = as<Cidr>(args[0]).prefix;
    return give_text(context, address_text(prefix.address) + "/" + std::to_string(prefix.length));
  });
}

}  // namespace

void add_network(Functions& to) {
  add_ip(to);
  add_cidr(to);
}

}  // namespace gpuctl::cel::lib
