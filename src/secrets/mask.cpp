#include "secrets/mask.hpp"

#include <algorithm>

#include "secrets/search.hpp"
#include "secrets/urls.hpp"
#include "secrets/words.hpp"

namespace gpuctl::secrets {

namespace {

// A message is short, and so is a line of a file; more is not worth looking at.
constexpr std::size_t kMostBytes = 4 * 1024 * 1024;
// What is longer, or has blanks in it, is a text that holds the secret somewhere.
constexpr std::size_t kMostConcealed = 4096;

void blot(std::string& text, std::size_t begin, std::size_t end) {
  std::fill(text.begin() + static_cast<std::ptrdiff_t>(begin),
            text.begin() + static_cast<std::ptrdiff_t>(std::min(end, text.size())), '*');
}

}  // namespace

std::string masked(std::string_view text) {
  std::string out(text);
  for (const Credentials& found : credentials_in_urls(text)) blot(out, found.begin, found.end);
  for (std::size_t begin = 0; begin < out.size();) {
    if (!in_token(out[begin])) {
      ++begin;
      continue;
    }
    std::size_t end = begin;
    while (end < out.size() && in_token(out[end])) ++end;
    if (looks_random(std::string_view(out).substr(begin, end - begin))) blot(out, begin, end);
    begin = end;
  }
  return out;
}

std::string RulesMask::shown(std::string_view text) const {
  std::string out = masked(text);
  Budget budget{kMostBytes};
  for (const Hit& hit : Search(*rules_, budget).text(text)) {
    if (hit.sign == Sign::unsearched) continue;
    blot(out, hit.begin, hit.end);
  }
  return out;
}

void hide(diag::FileId file, const Rules& rules, diag::Sources& sources) {
  const std::string_view text = sources.file_text(file);
  Budget budget;
  for (const Hit& hit : Search(rules, budget).text(text, Form::file)) {
    if (hit.sign == Sign::unsearched || hit.sign == Sign::object) continue;
    // A finding in all of the file says nothing about where.
    if (hit.begin == 0 && hit.end == text.size() && text.find('\n') != std::string_view::npos) {
      continue;
    }
    sources.hide(file, static_cast<std::uint32_t>(hit.begin), static_cast<std::uint32_t>(hit.end));
    const std::string_view secret = text.substr(hit.begin, hit.end - hit.begin);
    if (secret.size() > kMostConcealed || secret.find(' ') != std::string_view::npos) continue;
    sources.conceal(secret);
  }
}

}  // namespace gpuctl::secrets
