#include "secrets/ciphertext.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "secrets/decode.hpp"

namespace gpuctl::secrets {

namespace {

constexpr std::size_t kLeastRsaBytes = 128;  // a key of 1024 bits
constexpr std::size_t kMostRsaBytes = 2048;

bool is_base64(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '/';
  });
}

// Takes `name` and base64 up to a comma off the beginning; false when something else stands there.
bool take(std::string_view& text, std::string_view name, std::size_t least) {
  if (!text.starts_with(name)) return false;
  text.remove_prefix(name.size());
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos || comma < least) return false;
  if (!is_base64(text.substr(0, comma))) return false;
  text.remove_prefix(comma + 1);
  return true;
}

bool all_encrypted(const yaml::Node& values) {
  if (values.is_null()) return true;
  if (!values.is_map()) return false;
  return std::all_of(values.entries().begin(), values.entries().end(), [](const yaml::Entry& one) {
    return one.value.is_string() &&
           (one.value.as_string().empty() || is_sops_value(one.value.as_string()));
  });
}

}  // namespace

bool is_sops_value(std::string_view text) {
  constexpr std::string_view kBegin = "ENC[AES256_GCM,";
  constexpr std::array<std::string_view, 6> kEnds = {"type:str]",   "type:int]",  "type:float]",
                                                     "type:bytes]", "type:bool]", "type:comment]"};
  if (!text.starts_with(kBegin)) return false;
  text.remove_prefix(kBegin.size());
  if (!take(text, "data:", 0) || !take(text, "iv:", kTagBytes) || !take(text, "tag:", kTagBytes)) {
    return false;
  }
  return std::find(kEnds.begin(), kEnds.end(), text) != kEnds.end();
}

bool is_sops_object(const yaml::Node& object) {
  return is_sops_value(object.get({"sops", "mac"}).as_string()) &&
         all_encrypted(object.get("data")) && all_encrypted(object.get("stringData"));
}

bool is_sealed_value(std::string_view text) {
  if (!is_base64(text)) return false;
  const std::optional<std::string> bytes = from_base64(text);
  if (!bytes || bytes->size() < 2) return false;
  const std::size_t key =
      (static_cast<std::size_t>(static_cast<unsigned char>((*bytes)[0])) << 8U) |
      static_cast<unsigned char>((*bytes)[1]);
  return key >= kLeastRsaBytes && key <= kMostRsaBytes && bytes->size() >= 2 + key + kTagBytes;
}

}  // namespace gpuctl::secrets
