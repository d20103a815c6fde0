#include "diag/concealed.hpp"

#include <algorithm>
#include <cstring>

namespace gpuctl::diag {

namespace {

constexpr std::size_t kWindow = sizeof(std::uint64_t);
constexpr std::size_t kLeast = 4;
// So many bytes of a secret in a row are shown when they are plain words.
constexpr std::size_t kMostPlain = 9;

std::uint64_t window_at(std::string_view text, std::size_t at) {
  std::uint64_t out = 0;
  std::memcpy(&out, text.data() + at, kWindow);
  return out;
}

bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Words of names and paths: a few of them in a row say nothing of the secret that has them, too.
bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || c == '.' || c == '-' || c == '_' || c == '/' || c == ' ';
  });
}

}  // namespace

void Concealed::add(std::string_view secret) {
  if (secret.size() < kLeast) return;
  if (secret.size() < kWindow) {
    short_.emplace_back(secret);
    return;
  }
  if (secret.size() <= kMostPlain && is_plain(secret)) short_.emplace_back(secret);
  for (std::size_t at = 0; at + kWindow <= secret.size(); ++at) {
    windows_.insert(window_at(secret, at));
  }
}

std::string Concealed::shown(std::string_view text) const {
  std::string out(text);
  const auto hide_run = [&](std::size_t from, std::size_t to) {
    const std::string_view run = text.substr(from, to - from);
    if (run.size() > kMostPlain || !is_plain(run)) out.replace(from, run.size(), run.size(), '*');
  };
  std::size_t begin = 0;
  std::size_t reach = 0;
  for (std::size_t at = 0; !windows_.empty() && at + kWindow <= text.size(); ++at) {
    if (!windows_.contains(window_at(text, at))) continue;
    if (at > reach) {
      hide_run(begin, reach);
      begin = at;
    }
    reach = at + kWindow;
  }
  hide_run(begin, reach);
  for (const std::string& secret : short_) {
    for (std::size_t at = text.find(secret); at != std::string_view::npos;
         at = text.find(secret, at + 1)) {
      const std::size_t end = at + secret.size();
      const bool word =
          (at == 0 || !in_word(text[at - 1])) && (end == text.size() || !in_word(text[end]));
      if (word) out.replace(at, secret.size(), secret.size(), '*');
    }
  }
  return out;
}

}  // namespace gpuctl::diag
