// What random text looks like, and what names look like.
#pragma once

#include <array>
#include <string_view>

namespace gpuctl::secrets {

/// Letters, digits and `+/=_-`: what base64, base64url and hexadecimal are made of. Asked of every
/// character that is searched.
inline bool in_token(char c) {
  static constexpr auto kInToken = [] {
    std::array<bool, 256> out{};
    for (const char one : std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                           "0123456789+/=_-")) {
      out[static_cast<unsigned char>(one)] = true;
    }
    return out;
  }();
  return kInToken[static_cast<unsigned char>(c)];
}

/// Letters, digits and underscores.
bool in_word(char c);

/// Shannon entropy of the bytes, in bits a byte; 0 for an empty text.
double entropy(std::string_view text);

/// True for a word of upper case, lower case and digits such as keys have; not for names, paths,
/// and text of one case. It decides what is masked, so it may be wrong in a harmless way.
bool looks_random(std::string_view word);

/// True when a word of 20 to 256 bytes can hardly be anything but a key: of three classes of
/// characters that change often. Digests and identifiers, which have two, are not. It decides what
/// is warned of.
bool is_random(std::string_view word);

/// True when a word is worth trying the patterns that have no fixed text in them: some length, and
/// a change between kinds of characters.
bool is_suspicious(std::string_view word);

/// True for what people and programs write as names: words of letters, with few digits behind them,
/// separated by `-`, `.`, `_`, `/`, `:` or `@`.
bool is_name(std::string_view text);

}  // namespace gpuctl::secrets
