// pem.certificates and ssh.publicKey: what a trust bundle or a key holds, without trusting it.
#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <memory>
#include <optional>

#include "base/freed.hpp"
#include "base/text.hpp"
#include "cel/encoding.hpp"
#include "cel/functions.hpp"

namespace gpuctl::cel::lib {

namespace {

using Bio = std::unique_ptr<BIO, base::FreedBy<BIO_free_all>>;
using Certificate = std::unique_ptr<X509, base::FreedBy<X509_free>>;
using AltNames = std::unique_ptr<GENERAL_NAMES, base::FreedBy<GENERAL_NAMES_free>>;
using Number = std::unique_ptr<BIGNUM, base::FreedBy<BN_free>>;

std::string drain(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return size > 0 ? std::string(data, static_cast<std::size_t>(size)) : std::string();
}

/// A distinguished name as RFC 2253 writes it: `CN=example,O=Example`.
std::string name_text(const X509_NAME* name) {
  const Bio bio(BIO_new(BIO_s_mem()));
  if (bio == nullptr || X509_NAME_print_ex(bio.get(), name, 0, XN_FLAG_RFC2253) < 0) return {};
  std::string text = drain(bio.get());
  return base::valid_utf8(text) ? text : std::string();
}

/// RFC 3339 in UTC: `2026-11-21T10:00:00Z`.
std::string time_text(const ASN1_TIME* time) {
  std::tm fields{};
  if (time == nullptr || ASN1_TIME_to_tm(time, &fields) != 1) return {};
  const auto pad = [](int value, std::size_t width) {
    std::string digits = std::to_string(value);
    return digits.size() < width ? std::string(width - digits.size(), '0') + digits : digits;
  };
  return pad(fields.tm_year + 1900, 4) + "-" + pad(fields.tm_mon + 1, 2) + "-" +
         pad(fields.tm_mday, 2) + "T" + pad(fields.tm_hour, 2) + ":" + pad(fields.tm_min, 2) + ":" +
         pad(fields.tm_sec, 2) + "Z";
}

yaml::Node dns_names(const X509* certificate, yaml::Arena& arena) {
  std::vector<yaml::Node> names;
  const AltNames all(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  const int count = all == nullptr ? 0 : sk_GENERAL_NAME_num(all.get());
  for (int i = 0; i < count; ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(all.get(), i);
    if (name->type != GEN_DNS) continue;
    const std::string text(reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName)),
                           static_cast<std::size_t>(ASN1_STRING_length(name->d.dNSName)));
    if (base::valid_utf8(text)) names.push_back(arena.string(text));
  }
  return arena.list(names);
}

std::string serial_text(const X509* certificate) {
  const Number number(ASN1_INTEGER_to_BN(X509_get0_serialNumber(certificate), nullptr));
  if (number == nullptr) return {};
  char* const hex = BN_bn2hex(number.get());
  std::string text = hex == nullptr ? std::string() : base::to_lower(hex);
  OPENSSL_free(hex);
  return text;
}

yaml::Node describe(X509* certificate, yaml::Arena& arena) {
  const auto text = [&](const char* key, const std::string& value) {
    return arena.entry(key, arena.string(value));
  };
  const std::vector<yaml::Entry> entries = {
      text("subject", name_text(X509_get_subject_name(certificate))),
      text("issuer", name_text(X509_get_issuer_name(certificate))),
      text("serial", serial_text(certificate)),
      text("notBefore", time_text(X509_get0_notBefore(certificate))),
      text("notAfter", time_text(X509_get0_notAfter(certificate))),
      arena.entry("isCA", yaml::Node::boolean(X509_check_ca(certificate) != 0)),
      arena.entry("dnsNames", dns_names(certificate, arena)),
  };
  return arena.map(entries);
}

/// Every CERTIFICATE block of a PEM text; other blocks and text between them are passed over.
Outcome certificates(Arguments args, CallContext& context) {
  static constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----";
  static constexpr std::string_view kEnd = "-----END CERTIFICATE-----";
  const std::string_view text = args[0].node().as_string();
  std::vector<yaml::Node> found;
  std::size_t at = 0;
  while ((at = text.find(kBegin, at)) != std::string_view::npos) {
    const std::size_t end = text.find(kEnd, at);
    const std::string ordinal = "certificate " + std::to_string(found.size() + 1);
    if (end == std::string_view::npos) return fail(ordinal + " has no end line");
    const std::string_view block = text.substr(at, end + kEnd.size() - at);
    // Decoding a certificate is far dearer than reading its bytes.
    if (!context.charge(1000 + block.size())) return exhausted();
    const Bio bio(BIO_new_mem_buf(
        block.data(), static_cast<int>(std::min<std::size_t>(block.size(), 1U << 20U))));
    const Certificate certificate(
        bio == nullptr ? nullptr : PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
    ERR_clear_error();
    if (certificate == nullptr) return fail(ordinal + " cannot be decoded");
    found.push_back(describe(certificate.get(), context.arena));
    at = end + kEnd.size();
  }
  return give(context.arena.list(found));
}

// --- SSH public keys: RFC 4253 section 6.6, RFC 5656, RFC 8709 ---

/// Takes a length-prefixed field from the front of the key blob.
std::optional<std::string_view> take_field(std::string_view& blob) {
  if (blob.size() < 4) return std::nullopt;
  std::size_t length = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    length = (length << 8U) | static_cast<unsigned char>(blob[i]);
  }
  if (length > blob.size() - 4) return std::nullopt;
  const std::string_view field = blob.substr(4, length);
  blob.remove_prefix(4 + length);
  return field;
}

std::int64_t bits_of_number(std::string_view number) {
  while (!number.empty() && number.front() == '\0') number.remove_prefix(1);
  if (number.empty()) return 0;
  std::int64_t bits = static_cast<std::int64_t>(number.size() - 1) * 8;
  for (auto top = static_cast<unsigned char>(number.front()); top != 0; top >>= 1U) ++bits;
  return bits;
}

/// Key size in bits; nothing when the blob is not what the type says.
std::optional<std::int64_t> key_bits(std::string_view type, std::string_view blob) {
  const auto named = take_field(blob);
  if (!named || *named != type) return std::nullopt;
  const auto first = take_field(blob);
  if (!first) return std::nullopt;
  if (type == "ssh-rsa") {
    const auto modulus = take_field(blob);
    if (!modulus || !blob.empty()) return std::nullopt;
    return bits_of_number(*modulus);
  }
  if (type == "ssh-dss") return bits_of_number(*first);
  if (type == "ssh-ed25519") {
    return first->size() == 32 && blob.empty() ? std::optional<std::int64_t>(256) : std::nullopt;
  }
  if (type == "sk-ssh-ed25519@openssh.com") return 256;
  for (const auto& [curve, bits] : {std::pair<std::string_view, std::int64_t>{"nistp256", 256},
                                    {"nistp384", 384},
                                    {"nistp521", 521}}) {
    if (*first != curve) continue;
    if (type == "ecdsa-sha2-" + std::string(curve)) return bits;
    if (type == "sk-ecdsa-sha2-nistp256@openssh.com" && bits == 256) return bits;
  }
  return std::nullopt;
}

/// What stands behind the options that may begin a line: `from="10.0.0.0/8",no-pty ssh-rsa AAAA`.
/// Blanks in quotes belong to the options.
std::string_view behind_options(std::string_view text) {
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"' && (i == 0 || text[i - 1] != '\\')) quoted = !quoted;
    if (!quoted && (text[i] == ' ' || text[i] == '\t')) return text.substr(i);
  }
  return {};
}

bool is_key_type(std::string_view word) {
  return word.starts_with("ssh-") || word.starts_with("ecdsa-") || word.starts_with("sk-");
}

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

std::string_view without_leading_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  return text;
}

/// The next word of `text`, which then begins behind it; empty at the end.
std::string_view take_word(std::string_view& text) {
  text = without_leading_blanks(text);
  std::size_t length = 0;
  while (length < text.size() && !is_blank(text[length])) ++length;
  const std::string_view word = text.substr(0, length);
  text.remove_prefix(length);
  return word;
}

Outcome public_key(Arguments args, CallContext& context) {
  const std::string_view given = args[0].node().as_string();
  if (!context.charge(1 + given.size() / 8)) return exhausted();
  const std::string_view text = without_leading_blanks(given);
  std::string_view rest = text;
  std::string_view type = take_word(rest);
  if (!is_key_type(type)) {
    if (const std::string_view behind = behind_options(text); !behind.empty()) {
      rest = behind;
      type = take_word(rest);
    }
  }
  const auto blob = base64_decode(take_word(rest));
  std::string_view comment = without_leading_blanks(rest);
  while (!comment.empty() && is_blank(comment.back())) comment.remove_suffix(1);
  // A second line would be a second key.
  const bool one_line = comment.find('\n') == std::string_view::npos;
  const auto bits = blob && one_line ? key_bits(type, *blob) : std::nullopt;
  yaml::Arena& arena = context.arena;
  std::vector<yaml::Entry> entries = {arena.entry("type", arena.string(type)),
                                      arena.entry("valid", yaml::Node::boolean(bits.has_value()))};
  if (bits) entries.push_back(arena.entry("bits", yaml::Node::integer(*bits)));
  entries.push_back(arena.entry("comment", arena.string(comment)));
  return give(arena.map(entries));
}

Type record(const char* name, std::vector<Field> fields) {
  auto object = std::make_shared<ObjectType>();
  object->name = name;
  object->fields = std::move(fields);
  return Type::object(std::move(object));
}

}  // namespace

void add_certificates(Functions& to) {
  const Type certificate = record("Certificate", {{"subject", string(), true},
                                                  {"issuer", string(), true},
                                                  {"serial", string(), true},
                                                  {"notBefore", string(), true},
                                                  {"notAfter", string(), true},
                                                  {"isCA", boolean(), true},
                                                  {"dnsNames", Type::list(string()), true}});
  const Type key = record("PublicKey", {{"type", string(), true},
                                        {"valid", boolean(), true},
                                        {"bits", integer(), false},
                                        {"comment", string(), true}});
  function(to, "pem.certificates", {string()}, Type::list(certificate), certificates);
  function(to, "ssh.publicKey", {string()}, key, public_key);
}

}  // namespace gpuctl::cel::lib
