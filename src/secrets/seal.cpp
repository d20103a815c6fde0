#include "secrets/seal.hpp"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include <array>
#include <cstring>
#include <ctime>
#include <vector>

#include "base/digest.hpp"
#include "base/freed.hpp"
#include "secrets/ciphertext.hpp"

namespace gpuctl::secrets {

namespace {

using Certificate = std::unique_ptr<X509, base::FreedBy<X509_free>>;
using Text = std::unique_ptr<BIO, base::FreedBy<BIO_free_all>>;
using PublicKey = std::unique_ptr<EVP_PKEY, base::FreedBy<EVP_PKEY_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, base::FreedBy<EVP_PKEY_CTX_free>>;
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, base::FreedBy<EVP_CIPHER_CTX_free>>;

constexpr int kLeastBits = 2048;
constexpr std::size_t kSessionBytes = 32;
constexpr std::size_t kNonceBytes = 12;

using Session = std::array<unsigned char, kSessionBytes>;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::optional<std::chrono::sys_days> day_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return std::nullopt;
  return std::chrono::sys_days(std::chrono::year(parts.tm_year + 1900) /
                               std::chrono::month(static_cast<unsigned>(parts.tm_mon + 1)) /
                               std::chrono::day(static_cast<unsigned>(parts.tm_mday)));
}

// The session key under the public one.
std::optional<std::string> wrapped(EVP_PKEY* key, const Session& session, std::string_view label) {
  const KeyContext context(EVP_PKEY_CTX_new(key, nullptr));
  if (context == nullptr || EVP_PKEY_encrypt_init(context.get()) <= 0 ||
      EVP_PKEY_CTX_set_rsa_padding(context.get(), RSA_PKCS1_OAEP_PADDING) <= 0 ||
      EVP_PKEY_CTX_set_rsa_oaep_md(context.get(), EVP_sha256()) <= 0 ||
      EVP_PKEY_CTX_set_rsa_mgf1_md(context.get(), EVP_sha256()) <= 0) {
    return std::nullopt;
  }
  if (!label.empty()) {
    // The context takes it over.
    void* copy = OPENSSL_memdup(label.data(), label.size());
    if (copy == nullptr) return std::nullopt;
    if (EVP_PKEY_CTX_set0_rsa_oaep_label(context.get(), copy, static_cast<int>(label.size())) <=
        0) {
      OPENSSL_free(copy);
      return std::nullopt;
    }
  }
  std::size_t size = 0;
  if (EVP_PKEY_encrypt(context.get(), nullptr, &size, session.data(), session.size()) <= 0) {
    return std::nullopt;
  }
  std::string out(size, '\0');
  if (EVP_PKEY_encrypt(context.get(), reinterpret_cast<unsigned char*>(out.data()), &size,
                       session.data(), session.size()) <= 0) {
    return std::nullopt;
  }
  out.resize(size);
  return out;
}

// The value under the session key, with its tag. A session key serves once, so its nonce is zero.
std::optional<std::string> encrypted(const Session& session, std::string_view value) {
  constexpr std::array<unsigned char, kNonceBytes> kNonce{};
  const CipherContext context(EVP_CIPHER_CTX_new());
  if (context == nullptr || EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr,
                                               session.data(), kNonce.data()) != 1) {
    return std::nullopt;
  }
  std::string out(value.size() + kTagBytes, '\0');
  auto* to = reinterpret_cast<unsigned char*>(out.data());
  int size = 0;
  int rest = 0;
  if (!value.empty() && EVP_EncryptUpdate(context.get(), to, &size, bytes_of(value),
                                          static_cast<int>(value.size())) != 1) {
    return std::nullopt;
  }
  if (EVP_EncryptFinal_ex(context.get(), to + size, &rest) != 1 ||
      static_cast<std::size_t>(size + rest) != value.size() ||
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes, to + value.size()) != 1) {
    return std::nullopt;
  }
  return out;
}

std::string base64(std::string_view bytes) {
  std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');  // and the zero that it writes
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), bytes_of(bytes),
                                   static_cast<int>(bytes.size()));
  out.resize(static_cast<std::size_t>(size));
  return out;
}

}  // namespace

struct SealingKey::Key {
  PublicKey key;
};

SealingKey::SealingKey(std::unique_ptr<Key> key) : key_(std::move(key)) {}
SealingKey::SealingKey(SealingKey&&) noexcept = default;
SealingKey& SealingKey::operator=(SealingKey&&) noexcept = default;
SealingKey::~SealingKey() = default;

std::variant<SealingKey, std::string> SealingKey::read(std::string_view pem) {
  const Text text(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  const Certificate certificate(
      text == nullptr ? nullptr : PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  if (certificate == nullptr) return "holds no certificate in PEM";
  SealingKey out(std::make_unique<Key>());
  out.key_->key.reset(X509_get_pubkey(certificate.get()));
  ERR_clear_error();
  EVP_PKEY* key = out.key_->key.get();
  if (key == nullptr || EVP_PKEY_base_id(key) != EVP_PKEY_RSA) return "has no RSA key";
  if (EVP_PKEY_bits(key) < kLeastBits) {
    return "has an RSA key of " + std::to_string(EVP_PKEY_bits(key)) + " bits";
  }
  const auto begin = day_of(X509_get0_notBefore(certificate.get()));
  const auto end = day_of(X509_get0_notAfter(certificate.get()));
  if (!begin || !end) return "does not say how long it holds";
  out.begin_ = *begin;
  out.end_ = *end;
  unsigned char* encoded = nullptr;
  const int size = i2d_PUBKEY(key, &encoded);
  if (size <= 0) return "has a public key that cannot be read";
  out.fingerprint_ =
      base::sha256_hex({reinterpret_cast<const char*>(encoded), static_cast<std::size_t>(size)});
  OPENSSL_free(encoded);
  return out;
}

std::optional<std::string> SealingKey::seal(std::string_view value, std::string_view label) const {
  Session session{};
  if (RAND_bytes(session.data(), static_cast<int>(session.size())) != 1) return std::nullopt;
  const std::optional<std::string> key = wrapped(key_->key.get(), session, label);
  const std::optional<std::string> content = encrypted(session, value);
  OPENSSL_cleanse(session.data(), session.size());
  ERR_clear_error();
  if (!key || !content) return std::nullopt;
  std::string out;
  out += static_cast<char>(key->size() >> 8U);
  out += static_cast<char>(key->size() & 0xFFU);
  return base64(out + *key + *content);
}

std::string sealing_label(SealingScope scope, std::string_view space, std::string_view name) {
  switch (scope) {
    case SealingScope::strict:
      return std::string(space) + "/" + std::string(name);
    case SealingScope::space:
      return std::string(space);
    case SealingScope::cluster:
      break;
  }
  return {};
}

}  // namespace gpuctl::secrets
