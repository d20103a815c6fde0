#include "diag/concealed.hpp"

#include <algorithm>
#include <cstring>

namespace gpuctl::diag {

namespace {

constexpr std::size_t kWindow = sizeof(std::uint64_t);
constexpr std::size_t kLeast = 4;
// Of `not-my-password` it says nothing, and every second message has it.
constexpr std::string_view kWord = "password";

std::uint64_t window_at(std::string_view text, std::size_t at) {
  std::uint64_t out = 0;
  std::memcpy(&out, text.data() + at, kWindow);
  return out;
}

bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

void blot(std::string& text, std::size_t begin, std::size_t size) {
  std::fill_n(text.begin() + static_cast<std::ptrdiff_t>(begin), size, '*');
}

}  // namespace

void Concealed::add(std::string_view secret) {
  if (secret.size() < kLeast) return;
  if (secret.size() < kWindow) {
    short_.emplace_back(secret);
    return;
  }
  for (std::size_t at = 0; at + kWindow <= secret.size(); ++at) {
    if (secret.substr(at, kWindow) == kWord) continue;
    windows_.push_back(window_at(secret, at));
  }
  std::sort(windows_.begin(), windows_.end());
  windows_.erase(std::unique(windows_.begin(), windows_.end()), windows_.end());
}

std::string Concealed::shown(std::string_view text) const {
  std::string out(text);
  for (std::size_t at = 0; !windows_.empty() && at + kWindow <= text.size(); ++at) {
    if (std::binary_search(windows_.begin(), windows_.end(), window_at(text, at))) {
      blot(out, at, kWindow);
    }
  }
  for (const std::string& secret : short_) {
    for (std::size_t at = text.find(secret); at != std::string_view::npos;
         at = text.find(secret, at + 1)) {
      const std::size_t end = at + secret.size();
      const bool word =
          (at == 0 || !in_word(text[at - 1])) && (end == text.size() || !in_word(text[end]));
      if (word) blot(out, at, secret.size());
    }
  }
  return out;
}

}  // namespace gpuctl::diag
