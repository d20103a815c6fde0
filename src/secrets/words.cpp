#include "secrets/words.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace gpuctl::secrets {

namespace {

// Shorter words of mixed case are names; random ones of this length are keys.
constexpr std::size_t kLeastTokenBytes = 20;
// Longer ones are files: pictures, archives, encrypted values.
constexpr std::size_t kMostTokenBytes = 256;
constexpr std::size_t kLeastSuspiciousBytes = 16;
// Of 20 random characters of base64: 4.1 bits on average.
constexpr double kLeastEntropy = 3.6;
// Words of real languages have at most four consonants in a row, with few exceptions.
constexpr std::size_t kMostConsonants = 4;
// `DualStackIPv4Primary` is no key: a digit in it does not make words random.
constexpr std::size_t kLettersOfIdentifier = 4;
constexpr std::size_t kMostLettersOfWord = 22;
constexpr std::size_t kMostDigitsOfName = 4;

enum class Class { upper, lower, digit, other };

Class class_of(char c) {
  if (c >= '0' && c <= '9') return Class::digit;
  if (c >= 'A' && c <= 'Z') return Class::upper;
  if (c >= 'a' && c <= 'z') return Class::lower;
  return Class::other;
}

struct Counts {
  std::size_t upper = 0;
  std::size_t lower = 0;
  std::size_t digits = 0;
  std::size_t separators = 0;
  std::size_t changes = 0;  // between two classes
  std::size_t longest = 0;  // row of lower case
};

Counts count(std::string_view word) {
  Counts out;
  Class before = Class::other;
  std::size_t row = 0;
  for (const char c : word) {
    const Class now = class_of(c);
    row = now == Class::lower ? row + 1 : 0;
    out.longest = std::max(out.longest, row);
    if (now == Class::upper) ++out.upper;
    if (now == Class::lower) ++out.lower;
    if (now == Class::digit) ++out.digits;
    if (now == Class::other) {
      if (c == '/' || c == '-' || c == '_') ++out.separators;
    } else if (before != Class::other && now != before) {
      ++out.changes;
    }
    before = now;
  }
  return out;
}

// A path or a hyphenated name is words; random text seldom has several separators.
bool has_few_separators(const Counts& counts, std::size_t size) {
  return counts.separators * 10 < size;
}

bool is_consonant(char c) {
  constexpr std::string_view kVowels = "aeiouyAEIOUY";
  return class_of(c) != Class::digit && kVowels.find(c) == std::string_view::npos;
}

// Letters, then a few digits: `node`, `gpu01`, `v1`.
bool is_name_part(std::string_view part) {
  std::size_t letters = 0;
  std::size_t row = 0;
  std::size_t changes = 0;
  while (letters < part.size() && class_of(part[letters]) != Class::digit) {
    if (class_of(part[letters]) == Class::other) return false;
    row = is_consonant(part[letters]) ? row + 1 : 0;
    const bool all_upper = class_of(part[letters]) == Class::upper;
    if (row > kMostConsonants && !(all_upper && part.size() <= 8)) return false;
    if (letters > 0 && class_of(part[letters]) != class_of(part[letters - 1])) ++changes;
    ++letters;
  }
  if (letters > kMostLettersOfWord || changes * 3 > letters + 2) return false;
  const std::string_view digits = part.substr(letters);
  return digits.size() <= kMostDigitsOfName &&
         std::all_of(digits.begin(), digits.end(),
                     [](char c) { return class_of(c) == Class::digit; });
}

}  // namespace

bool in_word(char c) {
  return class_of(c) != Class::other || c == '_';
}

double entropy(std::string_view text) {
  std::array<std::size_t, 256> seen{};
  for (const char c : text) ++seen[static_cast<unsigned char>(c)];
  double out = 0;
  const auto size = static_cast<double>(text.size());
  for (const std::size_t number : seen) {
    if (number == 0) continue;
    const double share = static_cast<double>(number) / size;
    out -= share * std::log2(share);
  }
  return out;
}

bool looks_random(std::string_view word) {
  if (word.size() < kLeastTokenBytes) return false;
  const Counts counts = count(word);
  // Identifiers of one case only are no secrets: digests, zone and key names.
  return counts.digits >= 1 && counts.upper >= 2 && counts.lower >= 2 &&
         counts.changes * 4 >= word.size() &&
         (counts.digits >= 2 || counts.longest < kLettersOfIdentifier) &&
         has_few_separators(counts, word.size());
}

bool is_random(std::string_view word) {
  while (word.ends_with('=')) word.remove_suffix(1);
  if (word.size() < kLeastTokenBytes || word.size() > kMostTokenBytes) return false;
  const Counts counts = count(word);
  return counts.digits >= 2 && counts.upper >= 3 && counts.lower >= 3 &&
         counts.changes * 10 >= word.size() * 3 && has_few_separators(counts, word.size()) &&
         entropy(word) >= kLeastEntropy;
}

bool is_suspicious(std::string_view word) {
  if (word.size() < kLeastSuspiciousBytes) return false;
  return count(word).changes * 6 >= word.size();
}

bool is_name(std::string_view text) {
  constexpr std::string_view kSeparators = "-._/:@ ";
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(kSeparators, begin), text.size());
    if (!is_name_part(text.substr(begin, end - begin))) return false;
    begin = end + 1;
  }
  return true;
}

}  // namespace gpuctl::secrets
