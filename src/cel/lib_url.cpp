// url() and isURL() as in the Kubernetes CEL library: an absolute URI, or an absolute path.
#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "cel/functions.hpp"
#include "cel/url.hpp"

namespace gpuctl::cel::lib {

namespace {

struct Parts {
  std::string scheme;
  std::string host;  // with port and brackets, escapes resolved
  std::string path;  // escaped
  std::string query;
  std::string text;
};

bool is_alpha(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
int hex(char c) {
  if (base::is_digit(c)) return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

bool escapes_are_valid(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') continue;
    if (i + 2 >= text.size() || hex(text[i + 1]) < 0 || hex(text[i + 2]) < 0) return false;
  }
  return true;
}

/// Resolves escapes; `plus` is what `+` means.
std::string unescape(std::string_view text, char plus) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      out.push_back(static_cast<char>(hex(text[i + 1]) * 16 + hex(text[i + 2])));
      i += 2;
    } else {
      out.push_back(text[i] == '+' ? plus : text[i]);
    }
  }
  return out;
}

/// A path as written when it may be written so, otherwise with everything escaped that should be.
std::string escaped_path(std::string_view path) {
  constexpr std::string_view kKept = "$&+,/:;=@";
  const bool good = std::all_of(path.begin(), path.end(), [&](char c) {
    return is_alpha(c) || base::is_digit(c) || kKept.find(c) != std::string_view::npos ||
           std::string_view("-_.~!'()*[]%").find(c) != std::string_view::npos;
  });
  if (good) return std::string(path);
  return base::percent_encoded(unescape(path, '+'), kKept);
}

/// Escapes in a host stand for characters beyond ASCII only; in the zone of an address for any.
bool host_escapes_are_valid(std::string_view host) {
  bool zone = false;
  for (std::size_t i = 0; i + 2 < host.size(); ++i) {
    if (host[i] != '%') continue;
    const int byte = hex(host[i + 1]) * 16 + hex(host[i + 2]);
    if (host.front() == '[' && byte == '%') zone = true;
    if (byte < 0x80 && !zone) return false;
  }
  return true;
}

/// An IPv6 address, with a zone behind `%25`.
bool is_ipv6(std::string_view text) {
  if (const std::size_t zone = text.find("%25"); zone != std::string_view::npos) {
    if (zone + 3 == text.size()) return false;
    text = text.substr(0, zone);
  }
  std::array<unsigned char, 16> bytes{};
  return inet_pton(AF_INET6, std::string(text).c_str(), bytes.data()) == 1;
}

/// `host`, `host:port`, `[v6]`, `[v6]:port`; the port may be empty.
bool host_is_valid(std::string_view host) {
  if (!escapes_are_valid(host) || !host_escapes_are_valid(host)) return false;
  std::string_view port;
  if (!host.empty() && host.front() == '[') {
    const std::size_t close = host.find(']');
    if (close == std::string_view::npos || !is_ipv6(host.substr(1, close - 1))) return false;
    port = host.substr(close + 1);
  } else {
    const std::size_t colon = std::min(host.find(':'), host.size());
    port = host.substr(colon);
    const std::string_view name = host.substr(0, colon);
    const bool clean = std::all_of(name.begin(), name.end(), [](char c) {
      return static_cast<unsigned char>(c) >= 0x80 || is_alpha(c) || base::is_digit(c) ||
             std::string_view("-._~!$&'()*+,;=%<>\"").find(c) != std::string_view::npos;
    });
    if (!clean) return false;
  }
  if (port.empty()) return true;
  return port.front() == ':' && std::all_of(port.begin() + 1, port.end(), base::is_digit);
}

bool user_is_valid(std::string_view user) {
  return escapes_are_valid(user) && std::all_of(user.begin(), user.end(), [](char c) {
           return is_alpha(c) || base::is_digit(c) ||
                  std::string_view("-._:~!$&'()*+,;=%@").find(c) != std::string_view::npos;
         });
}

/// `http:`, in lower case; nothing when there is no scheme, "" when it is wrong.
std::optional<std::string> take_scheme(std::string_view& rest) {
  if (rest.empty() || !is_alpha(rest.front())) return std::nullopt;
  std::size_t end = 0;
  while (end < rest.size() && (is_alpha(rest[end]) || base::is_digit(rest[end]) ||
                               rest[end] == '+' || rest[end] == '-' || rest[end] == '.')) {
    ++end;
  }
  if (end >= rest.size() || rest[end] != ':') return "";
  std::string scheme = base::to_lower(rest.substr(0, end));
  rest.remove_prefix(end + 1);
  return scheme;
}

std::optional<Parts> parse_url(std::string_view text) {
  const bool control = std::any_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
  });
  if (text.empty() || control) return std::nullopt;
  Parts parts;
  parts.text = std::string(text);
  if (text == "*") {
    parts.path = "*";
    return parts;
  }
  std::string_view rest = text;
  if (auto scheme = take_scheme(rest)) {
    if (scheme->empty()) return std::nullopt;
    parts.scheme = std::move(*scheme);
  }
  // A fragment counts for nothing, but its escapes must be right, and a host cannot hold its `#`.
  const std::size_t mark = std::min(rest.find('#'), rest.size());
  const std::size_t query = std::min(rest.find('?'), rest.size());
  const bool rooted = !rest.empty() && rest.front() == '/';
  const std::size_t host_end =
      rest.starts_with("//") ? std::min(rest.find('/', 2), query) : std::size_t{0};
  if (mark < std::min(host_end, rest.size())) return std::nullopt;
  if (mark < rest.size()) {
    if (!escapes_are_valid(rest.substr(mark + 1))) return std::nullopt;
    rest = rest.substr(0, mark);
  }
  if (query < rest.size()) {
    parts.query = std::string(rest.substr(query + 1));
    rest = rest.substr(0, query);
  }
  if (!rooted) {
    // `mailto:x` is a URI without a host; without a scheme this is a relative path.
    return parts.scheme.empty() ? std::nullopt : std::optional(std::move(parts));
  }
  if (rest.substr(0, 2) == "//" && (!parts.scheme.empty() || rest.substr(0, 3) != "///")) {
    rest.remove_prefix(2);
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    std::string_view authority = rest.substr(0, slash);
    rest.remove_prefix(slash);
    if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
      if (!user_is_valid(authority.substr(0, at))) return std::nullopt;
      authority.remove_prefix(at + 1);
    }
    if (!host_is_valid(authority)) return std::nullopt;
    parts.host = unescape(authority, '+');
  }
  if (!escapes_are_valid(rest)) return std::nullopt;
  parts.path = escaped_path(rest);
  return parts;
}

struct Url final : Opaque {
  explicit Url(Parts value) : parts(std::move(value)) {}
  std::string type_name() const override { return "url"; }
  bool equals(const Opaque& other) const override {
    const auto* url = dynamic_cast<const Url*>(&other);
    return url != nullptr && url->parts.text == parts.text;
  }
  const Parts parts;
};

const Parts& parts_of(const Value& value) {
  return as<Url>(value).parts;
}

/// Where the port starts in a host, at its colon; the size when there is none.
std::size_t port_start(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  const std::size_t bracket = host.rfind(']');
  if (colon == std::string_view::npos || (bracket != std::string_view::npos && colon < bracket)) {
    return host.size();
  }
  return colon;
}

Outcome hostname(Arguments args, CallContext& context) {
  std::string_view host = parts_of(args[0]).host;
  host = host.substr(0, port_start(host));
  if (!host.empty() && host.front() == '[') host = host.substr(1, host.size() - 2);
  return give_text(context, host);
}

Outcome port(Arguments args, CallContext& context) {
  const std::string_view host = parts_of(args[0]).host;
  const std::size_t start = port_start(host);
  return give_text(context, start < host.size() ? host.substr(start + 1) : std::string_view());
}

Outcome query(Arguments args, CallContext& context) {
  std::vector<std::pair<std::string, std::vector<yaml::Node>>> values;
  for (const std::string_view pair : base::split(parts_of(args[0]).query, '&')) {
    const bool good = escapes_are_valid(pair) && pair.find(';') == std::string_view::npos;
    if (pair.empty() || !good) continue;
    if (!context.charge(1 + values.size() / 8)) return exhausted();
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const std::string key = unescape(pair.substr(0, equals), ' ');
    const std::string value = unescape(pair.substr(std::min(equals + 1, pair.size())), ' ');
    if (!base::valid_utf8(key) || !base::valid_utf8(value)) {
      return fail("the query of the URL is no UTF-8 text");
    }
    auto known = std::find_if(values.begin(), values.end(),
                              [&](const auto& entry) { return entry.first == key; });
    if (known == values.end()) known = values.insert(values.end(), {key, {}});
    known->second.push_back(context.arena.string(value));
  }
  std::vector<yaml::Entry> entries;
  for (const auto& [key, list] : values) {
    entries.push_back(context.arena.entry(key, context.arena.list(list)));
  }
  return give(context.arena.map(entries));
}

template <std::string Parts::*Part>
Outcome part(Arguments args, CallContext& context) {
  return give_text(context, parts_of(args[0]).*Part);
}

}  // namespace

void add_url(Functions& to) {
  const Type url = Type::opaque("url");
  function(to, "url", {string()}, url, [](Arguments args, CallContext&) {
    const std::string_view text = args[0].node().as_string();
    auto parts = parse_url(text);
    if (!parts) return fail("`" + std::string(text) + "` is no URL");
    return give(Value(std::make_shared<const Url>(std::move(*parts))));
  });
  function(to, "isURL", {string()}, boolean(),
           [](Arguments args, CallContext&) { return give(is_url(args[0].node().as_string())); });
  method(to, "getScheme", {url}, string(), part<&Parts::scheme>);
  method(to, "getHost", {url}, string(), part<&Parts::host>);
  method(to, "getHostname", {url}, string(), hostname);
  method(to, "getPort", {url}, string(), port);
  method(to, "getEscapedPath", {url}, string(), part<&Parts::path>);
  method(to, "getQuery", {url}, Type::map(string(), Type::list(string())), query);
}

}  // namespace gpuctl::cel::lib

namespace gpuctl::cel {

bool is_url(std::string_view text) {
  return lib::parse_url(text).has_value();
}

}  // namespace gpuctl::cel
