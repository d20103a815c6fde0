#include "secrets/urls.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "secrets/words.hpp"

namespace gpuctl::secrets {

namespace {

constexpr std::string_view kSchemeEnd = "//";
constexpr std::string_view kEndOfWord = " \t\r\n\"'<>`,;|";
constexpr std::size_t kLeastToken = 16;

// Before a colon and an address of mail these are no users.
constexpr std::array<std::string_view, 8> kMailWords = {"mailto", "acct", "sip",   "sips",
                                                        "xmpp",   "mail", "email", "contact"};

bool in_host(char c) {
  return in_word(c) || c == '.' || c == '-' || c == '[' || c == '(';
}

// Everything between the slashes and `@host`: passwords may hold slashes, although they should not.
std::size_t sign_of(std::string_view text, std::size_t begin) {
  const std::size_t stop = std::min(text.find_first_of(kEndOfWord, begin), text.size());
  const std::size_t slash = std::min(text.find_first_of("/?#", begin), stop);
  const std::size_t sign = text.substr(0, slash).rfind('@');
  if (sign != std::string_view::npos && sign >= begin) return sign;
  const std::size_t colon = text.find(':', begin);
  if (colon == std::string_view::npos || colon > slash || slash == stop) return stop;
  const std::string_view port = text.substr(colon + 1, slash - colon - 1);
  const bool number = port.find_first_not_of("0123456789") == std::string_view::npos;
  if (number) return stop;
  const std::size_t later = text.substr(0, stop).rfind('@');
  return later == std::string_view::npos || later < slash ? stop : later;
}

void add_with_scheme(std::string_view text, std::vector<Credentials>& out) {
  for (std::size_t mark = text.find(kSchemeEnd); mark != std::string_view::npos;
       mark = text.find(kSchemeEnd, mark + kSchemeEnd.size())) {
    const std::size_t begin = mark + kSchemeEnd.size();
    const std::size_t sign = sign_of(text, begin);
    if (sign >= text.size() || text[sign] != '@') continue;
    const std::string_view user = text.substr(begin, sign - begin);
    const std::size_t colon = user.find(':');
    if (colon == std::string_view::npos) {
      if (user.size() >= kLeastToken && is_suspicious(user) && !is_name(user)) {
        out.push_back({begin, sign, true});
      }
    } else if (colon + 1 < user.size()) {
      out.push_back({begin + colon + 1, sign, false});
    }
  }
}

// `user:password@host.example.com` and `user:password@tcp(...)`, as proxies and drivers take it.
void add_without_scheme(std::string_view text, std::vector<Credentials>& out) {
  for (std::size_t sign = text.find('@'); sign != std::string_view::npos;
       sign = text.find('@', sign + 1)) {
    const std::size_t before = text.find_last_of(kEndOfWord, sign);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    const std::string_view left = text.substr(begin, sign - begin);
    const std::size_t colon = left.find(':');
    if (colon == std::string_view::npos || colon == 0 || colon + 4 > left.size()) continue;
    if (left.find('/') != std::string_view::npos) continue;
    const std::string user = base::to_lower(left.substr(0, colon));
    if (std::find(kMailWords.begin(), kMailWords.end(), user) != kMailWords.end()) continue;
    std::size_t end = sign + 1;
    while (end < text.size() && in_host(text[end])) ++end;
    const std::string_view host = text.substr(sign + 1, end - sign - 1);
    const bool address = host.find_first_of(".(") != std::string_view::npos ||
                         (end < text.size() && text[end] == ':' && !host.starts_with("sha"));
    if (host.empty() || !address || is_name(left.substr(colon + 1))) continue;
    out.push_back({begin + colon + 1, sign, false});
  }
}

}  // namespace

std::vector<Credentials> credentials_in_urls(std::string_view text) {
  std::vector<Credentials> out;
  if (text.find('@') == std::string_view::npos) return out;
  add_with_scheme(text, out);
  add_without_scheme(text, out);
  return out;
}

std::string without_credentials(std::string_view text) {
  constexpr std::string_view kMark = "://";
  std::string out;
  std::size_t done = 0;
  for (std::size_t mark = text.find(kMark); mark != std::string_view::npos;
       mark = text.find(kMark, mark + 1)) {
    const std::size_t begin = mark + kMark.size();
    const std::size_t end = std::min(text.find_first_of("/?# \t\n\"'<>,;", begin), text.size());
    const std::string_view authority = text.substr(begin, end - begin);
    const std::size_t at = authority.rfind('@');
    if (at == std::string_view::npos || begin < done) continue;
    const std::string scheme = base::to_lower(text.substr(0, mark));
    const bool web = scheme.ends_with("http") || scheme.ends_with("https");
    if (!web && authority.substr(0, at).find(':') == std::string_view::npos) continue;
    out += text.substr(done, begin - done);
    done = begin + at + 1;
  }
  return out.append(text.substr(done));
}

}  // namespace gpuctl::secrets
