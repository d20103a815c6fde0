// Seals values for a controller in a cluster by the certificate that it publishes, without a
// network.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace gpuctl::secrets {

/// The public key of a controller. What is sealed for it only the controller opens.
class SealingKey {
 public:
  /// Reads the first certificate in a text of PEM, or says why it cannot be used: an RSA key of
  /// 2048 bits at least is needed. Its dates are not judged.
  static std::variant<SealingKey, std::string> read(std::string_view pem);

  SealingKey(SealingKey&&) noexcept;
  SealingKey& operator=(SealingKey&&) noexcept;
  ~SealingKey();

  /// The day on which the certificate ends.
  std::chrono::sys_days end() const { return end_; }
  /// The day on which it begins.
  std::chrono::sys_days begin() const { return begin_; }
  /// SHA-256 of the public key (its DER form) in hex: another certificate for the same key has the
  /// same.
  const std::string& fingerprint() const { return fingerprint_; }

  /// Base64 of `value`, sealed: a random session key by RSA-OAEP (SHA-256, `label`), the value by
  /// AES-256-GCM under it. Each call gives other bytes. Nothing when the library fails, such as
  /// without random numbers. The controller opens it only under the same label.
  std::optional<std::string> seal(std::string_view value, std::string_view label) const;

 private:
  struct Key;
  explicit SealingKey(std::unique_ptr<Key> key);

  std::unique_ptr<Key> key_;
  std::chrono::sys_days begin_;
  std::chrono::sys_days end_;
  std::string fingerprint_;
};

/// Where a sealed value may be opened.
enum class SealingScope { strict, space, cluster };

/// The label of a scope: "NAMESPACE/NAME" (strict), "NAMESPACE", or nothing.
std::string sealing_label(SealingScope scope, std::string_view space, std::string_view name);

}  // namespace gpuctl::secrets
