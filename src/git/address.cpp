#include "git/address.hpp"

#include <algorithm>
#include <array>

#include "base/digest.hpp"
#include "base/text.hpp"
#include "git/codes.hpp"

namespace gpuctl::git {
namespace {

constexpr auto kNone = std::string_view::npos;
constexpr std::size_t kLongestAddress = 4096;
constexpr std::size_t kSlugBytes = 60;
constexpr std::size_t kDigestDigits = 16;
constexpr std::array<std::string_view, 5> kSchemes = {"ssh", "https", "http", "git", "file"};

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Parts of an address, before they are checked.
struct Parts {
  std::string_view scheme;
  std::string_view user;
  std::string_view host;  // with the port
  std::string_view path;  // with the slash, but for `user@host:path`
  bool short_form = false;
};

// Never with the text itself: it may hold a secret.
diag::Diagnostic& refuse(const std::string& reason, diag::Sink& sink) {
  return sink.error(kBadAddress, diag::kNoOrigin, "the address of the repository " + reason)
      .suggest("give it as `git clone` takes it; a directory of such a name is `./NAME`");
}

bool refuse_password(diag::Sink& sink) {
  sink.error(kPasswordInAddress, diag::kNoOrigin, "the address of the repository holds a password")
      .note("arguments of programs can be read by everybody on the machine")
      .suggest(
          "take it out of the address and let git know it through a credential helper "
          "(`git help credentials`), or use ssh with a key")
      .suggest("it has been seen by now: replace it on the server");
  return false;
}

std::optional<Parts> split(std::string_view text) {
  Parts parts;
  const std::size_t colon = text.find(':');
  if (text.substr(colon, 3) != "://") {
    const std::size_t at = text.find('@');
    parts.short_form = true;
    parts.scheme = "ssh";
    parts.user = text.substr(0, at);
    std::size_t end = colon;
    if (text.substr(at + 1, 1) == "[") {  // user@[::1]:path
      end = text.find("]:", at);
      if (end == kNone) return std::nullopt;
      ++end;
    }
    parts.host = text.substr(at + 1, end - at - 1);
    parts.path = text.substr(end + 1);
    return parts;
  }
  parts.scheme = text.substr(0, colon);
  const std::string_view rest = text.substr(colon + 3);
  const std::size_t slash = rest.find('/');
  std::string_view authority = rest.substr(0, slash);
  if (const std::size_t at = authority.rfind('@'); at != kNone) {
    parts.user = authority.substr(0, at);
    authority.remove_prefix(at + 1);
  }
  parts.host = authority;
  if (slash != kNone) parts.path = rest.substr(slash);
  return parts;
}

bool good_host(std::string_view host) {
  std::string_view port;
  bool has_port = false;
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    if (end == kNone || end == 1) return false;
    port = host.substr(end + 1);
    if (!port.empty() && !port.starts_with(':')) return false;
    has_port = !port.empty();
    if (has_port) port.remove_prefix(1);
    host = host.substr(1, end - 1);
    if (host.find_first_not_of("0123456789abcdefABCDEF:.%") != kNone) return false;
  } else {
    const std::size_t colon = host.find(':');
    has_port = colon != kNone;
    if (has_port) port = host.substr(colon + 1);
    host = host.substr(0, colon);
    if (host.empty() || host.starts_with('-') || !std::all_of(host.begin(), host.end(), [](char c) {
          return is_letter_or_digit(c) || c == '.' || c == '-' || c == '_';
        })) {
      return false;
    }
  }
  if (!has_port) return true;
  const auto number = base::parse_integer(port);
  return number && *number >= 1 && *number <= 65535;
}

bool check(const Parts& parts, std::string_view scheme, diag::Sink& sink) {
  if (scheme == "file") {
    if (parts.host.empty() && parts.user.empty() && parts.path.size() > 1) return true;
    refuse("is no usable `file://` address", sink).expect("`file:///absolute/path`");
    return false;
  }
  if (!good_host(parts.host)) {
    refuse("has no usable host", sink).expect("`" + std::string(scheme) + "://HOST[:PORT]/PATH`");
    return false;
  }
  const std::string_view path = parts.path;
  if (path.empty() || path == "/" || path.starts_with('-')) {
    refuse("has no usable path behind the host", sink)
        .suggest("a path on the server must not start with `-`");
    return false;
  }
  if (parts.user.starts_with('-') || (parts.short_form && parts.user.empty()) ||
      (scheme == "git" && !parts.user.empty())) {
    refuse("has an unusable user", sink);
    return false;
  }
  if (scheme.starts_with("http") && path.find_first_of("?#") != kNone) {
    refuse("has a `?` or `#` in it", sink)
        .suggest("tokens go into a credential helper (`git help credentials`)");
    return false;
  }
  return true;
}

std::string slug(std::string_view host, std::string_view path) {
  std::string out;
  for (const char c : base::to_lower(std::string(host) + "/" + std::string(path))) {
    if (is_letter_or_digit(c)) {
      out += c;
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  if (out.size() > kSlugBytes) out.erase(0, out.size() - kSlugBytes);  // the end tells more
  while (out.starts_with('-')) out.erase(0, 1);
  while (out.ends_with('-')) out.pop_back();
  return out;
}

}  // namespace

bool is_address(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::size_t slash = text.find('/');
  if (colon == kNone || slash < colon) return false;
  const std::string_view behind = text.substr(colon);
  if (behind.starts_with("://") || behind.starts_with("::")) return true;
  const std::size_t at = text.find('@');
  return at != kNone && at < slash;
}

std::optional<Address> read_address(const std::string& text, diag::Sink& sink) {
  if (text.size() > kLongestAddress || !base::valid_utf8(text) ||
      std::any_of(text.begin(), text.end(),
                  [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; })) {
    refuse("is too long, or holds control characters", sink);
    return std::nullopt;
  }
  const std::size_t colon = text.find(':');
  if (text.compare(colon, 2, "::") == 0 && text.find('@') > colon) {
    refuse("asks for a remote helper", sink)
        .note("such addresses (`ext::...`) run programs")
        .expect("an address with ssh, https, http, git or file");
    return std::nullopt;
  }
  const std::optional<Parts> parts = split(text);
  const bool short_password =
      text.compare(colon, 3, "://") != 0 && colon < text.find('@');  // user:password@host
  if (short_password || (parts && parts->user.find(':') != kNone)) {
    refuse_password(sink);
    return std::nullopt;
  }
  const std::string scheme = parts ? base::to_lower(parts->scheme) : "";
  if (std::find(kSchemes.begin(), kSchemes.end(), scheme) == kSchemes.end()) {
    diag::Diagnostic& error = refuse("is of no kind that is known here", sink);
    error.expect("`ssh://`, `https://`, `http://`, `git://`, `file://` or `user@host:path`");
    error.did_you_mean(scheme, {kSchemes.begin(), kSchemes.end()});
    return std::nullopt;
  }
  if (!check(*parts, scheme, sink)) return std::nullopt;
  const bool http = scheme.starts_with("http");
  Address address;
  address.scheme = scheme;
  const std::string host = base::to_lower(parts->host);
  if (http) {
    address.user = parts->user;
    address.url = scheme + "://" + host + std::string(parts->path);
  } else if (parts->short_form) {
    address.url = text;
  } else {
    address.url = scheme + "://" + (parts->user.empty() ? "" : std::string(parts->user) + "@") +
                  host + std::string(parts->path);
  }
  address.shown = address.url;
  address.name =
      slug(parts->host, parts->path) + "-" + base::sha256_hex(address.url).substr(0, kDigestDigits);
  return address;
}

std::string without_user(std::string_view text) {
  std::string out;
  while (true) {
    const std::size_t start = text.find("://");
    if (start == kNone) break;
    out += text.substr(0, start + 3);
    text.remove_prefix(start + 3);
    const std::string_view authority = text.substr(0, text.find_first_of("/ \t\n'\"`"));
    if (const std::size_t at = authority.rfind('@'); at != kNone) text.remove_prefix(at + 1);
  }
  return out + std::string(text);
}

}  // namespace gpuctl::git
