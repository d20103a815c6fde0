#include "secrets/seal.hpp"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include <memory>
#include <random>

#include "base/freed.hpp"
#include "secrets/ciphertext.hpp"
#include "secrets/decode.hpp"

namespace gpuctl::secrets {
namespace {

using Key = std::unique_ptr<EVP_PKEY, base::FreedBy<EVP_PKEY_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, base::FreedBy<EVP_PKEY_CTX_free>>;
using Cipher = std::unique_ptr<EVP_CIPHER_CTX, base::FreedBy<EVP_CIPHER_CTX_free>>;
using Certificate = std::unique_ptr<X509, base::FreedBy<X509_free>>;
using Text = std::unique_ptr<BIO, base::FreedBy<BIO_free_all>>;

Key rsa_key(unsigned bits) {
  return Key(EVP_RSA_gen(bits));
}

// Self-signed, from the first day to the second, in seconds from now.
std::string certificate_of(EVP_PKEY* key, long from, long until) {
  const Certificate made(X509_new());
  X509_set_version(made.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), from);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), until);
  X509_set_pubkey(made.get(), key);
  EXPECT_NE(X509_sign(made.get(), key, EVP_sha256()), 0);
  const Text out(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(out.get(), made.get());
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(out.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

const unsigned char* bytes_of(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// What the controller does; nothing when it cannot open it.
std::optional<std::string> opened(EVP_PKEY* key, const std::string& base64,
                                  const std::string& label) {
  const std::optional<std::string> sealed = from_base64(base64);
  if (!sealed || sealed->size() < 2) return std::nullopt;
  const std::size_t length = static_cast<std::size_t>(bytes_of(*sealed)[0]) * 256 +
                             static_cast<std::size_t>(bytes_of(*sealed)[1]);
  if (sealed->size() < 2 + length + 16) return std::nullopt;
  const KeyContext context(EVP_PKEY_CTX_new(key, nullptr));
  EVP_PKEY_decrypt_init(context.get());
  EVP_PKEY_CTX_set_rsa_padding(context.get(), RSA_PKCS1_OAEP_PADDING);
  EVP_PKEY_CTX_set_rsa_oaep_md(context.get(), EVP_sha256());
  EVP_PKEY_CTX_set_rsa_mgf1_md(context.get(), EVP_sha256());
  if (!label.empty()) {
    EVP_PKEY_CTX_set0_rsa_oaep_label(context.get(), OPENSSL_memdup(label.data(), label.size()),
                                     static_cast<int>(label.size()));
  }
  std::string session(512, '\0');
  std::size_t size = session.size();
  if (EVP_PKEY_decrypt(context.get(), reinterpret_cast<unsigned char*>(session.data()), &size,
                       bytes_of(*sealed) + 2, length) != 1 ||
      size != 32) {
    return std::nullopt;
  }
  const std::string content = sealed->substr(2 + length);
  std::string out(content.size() - 16, '\0');
  std::string tag = content.substr(out.size());
  const std::string nonce(12, '\0');
  const Cipher cipher(EVP_CIPHER_CTX_new());
  int written = 0;
  int rest = 0;
  EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, bytes_of(session), bytes_of(nonce));
  EVP_DecryptUpdate(cipher.get(), reinterpret_cast<unsigned char*>(out.data()), &written,
                    bytes_of(content), static_cast<int>(out.size()));
  EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, 16, tag.data());
  unsigned char end[16];
  if (EVP_DecryptFinal_ex(cipher.get(), end, &rest) != 1) return std::nullopt;
  return out;
}

class SealTest : public testing::Test {
 protected:
  SealTest() : key_(rsa_key(2048)) {
    auto read = SealingKey::read(certificate_of(key_.get(), -86400, 86400 * 40L));
    EXPECT_TRUE(std::holds_alternative<SealingKey>(read));
    sealing_ = std::make_unique<SealingKey>(std::get<SealingKey>(std::move(read)));
  }

  std::string sealed(const std::string& value, const std::string& label) {
    const std::optional<std::string> made = sealing_->seal(value, label);
    EXPECT_TRUE(made.has_value());
    return made.value_or("");
  }

  Key key_;
  std::unique_ptr<SealingKey> sealing_;
};

std::string reason(const std::string& pem) {
  const auto read = SealingKey::read(pem);
  const auto* text = std::get_if<std::string>(&read);
  return text == nullptr ? "" : *text;
}

TEST_F(SealTest, TheHolderOfTheKeyOpensAnyValueUnderItsLabel) {
  std::mt19937 random(20251201);  // values only; the library has random numbers of its own
  std::uniform_int_distribution<int> byte(0, 255);
  for (const std::size_t size : {0U, 1U, 15U, 16U, 17U, 31U, 32U, 33U, 255U, 4096U, 200'000U}) {
    std::string value(size, '\0');
    for (char& c : value) c = static_cast<char>(byte(random));
    for (const std::string& label : {std::string("space/name"), std::string("space"), std::string(),
                                     std::string(253, 'n') + "/" + std::string(63, 's')}) {
      const std::string made = sealed(value, label);
      EXPECT_TRUE(is_sealed_value(made)) << size;
      EXPECT_EQ(opened(key_.get(), made, label), value) << size << " " << label;
      EXPECT_EQ(opened(key_.get(), made, label + "x"), std::nullopt);
    }
  }
}

TEST_F(SealTest, NoTwoAreAlike) {
  EXPECT_NE(sealed("same", "a/b"), sealed("same", "a/b"));
}

TEST_F(SealTest, AChangedByteIsNoticed) {
  const std::string made = sealed("value", "a/b");
  for (std::size_t at = 4; at < made.size() - 4; at += 37) {
    std::string other = made;
    other[at] = other[at] == 'A' ? 'B' : 'A';
    EXPECT_EQ(opened(key_.get(), other, "a/b"), std::nullopt) << at;
  }
}

TEST_F(SealTest, AnotherCertificateOfTheSameKeyHasItsFingerprint) {
  const auto again = SealingKey::read(certificate_of(key_.get(), 0, 86400 * 400L));
  ASSERT_TRUE(std::holds_alternative<SealingKey>(again));
  EXPECT_EQ(std::get<SealingKey>(again).fingerprint(), sealing_->fingerprint());
  EXPECT_GT(std::get<SealingKey>(again).end(), sealing_->end());
  EXPECT_LE(sealing_->begin() + std::chrono::days(41), sealing_->end());
}

TEST_F(SealTest, TheFirstOfSeveralCertificatesCounts) {
  const Key other = rsa_key(2048);
  const auto read = SealingKey::read(certificate_of(key_.get(), 0, 86400) +
                                     certificate_of(other.get(), 0, 86400));
  ASSERT_TRUE(std::holds_alternative<SealingKey>(read));
  EXPECT_EQ(std::get<SealingKey>(read).fingerprint(), sealing_->fingerprint());
}

TEST(Seal, OnlyLargeRsaKeysServe) {
  EXPECT_EQ(reason(""), "holds no certificate in PEM");
  EXPECT_EQ(reason("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
            "holds no certificate in PEM");
  EXPECT_EQ(reason(certificate_of(rsa_key(1024).get(), 0, 86400)), "has an RSA key of 1024 bits");
  EXPECT_EQ(reason(certificate_of(Key(EVP_EC_gen("P-256")).get(), 0, 86400)), "has no RSA key");
}

TEST(Seal, LabelsNameWhereAValueMayBeOpened) {
  EXPECT_EQ(sealing_label(SealingScope::strict, "space", "name"), "space/name");
  EXPECT_EQ(sealing_label(SealingScope::space, "space", "name"), "space");
  EXPECT_EQ(sealing_label(SealingScope::cluster, "space", "name"), "");
}

}  // namespace
}  // namespace gpuctl::secrets
