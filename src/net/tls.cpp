#include "net/tls.hpp"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>
#include <memory>

#include "base/freed.hpp"
#include "net/roots.hpp"

namespace gpuctl::net {

namespace {

using Context = std::unique_ptr<SSL_CTX, base::FreedBy<SSL_CTX_free>>;
using Session = std::unique_ptr<SSL, base::FreedBy<SSL_free>>;
using Certificate = std::unique_ptr<X509, base::FreedBy<X509_free>>;
using Text = std::unique_ptr<BIO, base::FreedBy<BIO_free_all>>;

bool is_address(const std::string& host) {
  std::array<unsigned char, 16> bytes{};
  return ::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

std::string last_fault() {
  const unsigned long code = ERR_get_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  ERR_clear_error();
  return reason == nullptr ? "the server ended the connection" : reason;
}

void trust(SSL_CTX* context, const std::string& authorities) {
  SSL_CTX_set_default_verify_paths(context);
  const std::string roots = system_roots();
  if (!roots.empty()) SSL_CTX_load_verify_locations(context, roots.c_str(), nullptr);
  const Text text(BIO_new_mem_buf(authorities.data(), static_cast<int>(authorities.size())));
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  while (text != nullptr && !authorities.empty()) {
    const Certificate one(PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr));
    if (one == nullptr) break;
    X509_STORE_add_cert(store, one.get());
  }
  ERR_clear_error();
}

// Text of what a function of OpenSSL writes into a BIO.
template <typename Write>
std::string written(Write write) {
  const Text out(BIO_new(BIO_s_mem()));
  write(out.get());
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(out.get(), &bytes);
  return size > 0 ? std::string(bytes, static_cast<std::size_t>(size)) : std::string();
}

std::string name_text(const X509_NAME* name) {
  return written([&](BIO* out) { X509_NAME_print_ex(out, name, 0, XN_FLAG_RFC2253); });
}

// "DNS:a, DNS:b, IP Address:10.0.0.1" without the kinds.
std::string names_of(const X509* certificate) {
  const int at = X509_get_ext_by_NID(certificate, NID_subject_alt_name, -1);
  if (at < 0) return {};
  std::string text =
      written([&](BIO* out) { X509V3_EXT_print(out, X509_get_ext(certificate, at), 0, 0); });
  for (const std::string_view kind : {"DNS:", "IP Address:", "email:", "URI:"}) {
    for (std::size_t i = text.find(kind); i != std::string::npos; i = text.find(kind)) {
      text.erase(i, kind.size());
    }
  }
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

bool shake(SSL* session, int socket, Deadline deadline, std::string& why) {
  while (true) {
    const int done = SSL_connect(session);
    if (done == 1) return true;
    const int wanted = SSL_get_error(session, done);
    if (wanted != SSL_ERROR_WANT_READ && wanted != SSL_ERROR_WANT_WRITE) {
      why = last_fault();
      return false;
    }
    if (wait_for(socket, wanted == SSL_ERROR_WANT_WRITE, deadline)) continue;
    why = "no answer in time";
    return false;
  }
}

void judge(SSL* session, const std::string& host, TlsAnswer& out) {
  const Certificate certificate(SSL_get1_peer_certificate(session));
  if (certificate == nullptr) {
    out.fault = "it shows no certificate";
    return;
  }
  const long result = SSL_get_verify_result(session);
  out.trusted = result == X509_V_OK;
  if (!out.trusted) out.fault = X509_verify_cert_error_string(result);
  out.expired = result == X509_V_ERR_CERT_HAS_EXPIRED || result == X509_V_ERR_CERT_NOT_YET_VALID;
  out.unknown = result == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY ||
                result == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT ||
                result == X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN ||
                result == X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT ||
                result == X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE;
  out.named = is_address(host)
                  ? X509_check_ip_asc(certificate.get(), host.c_str(), 0) == 1
                  : X509_check_host(certificate.get(), host.c_str(), host.size(), 0, nullptr) == 1;
  out.subject = name_text(X509_get_subject_name(certificate.get()));
  out.issuer = name_text(X509_get_issuer_name(certificate.get()));
  out.names = names_of(certificate.get());
  int days = 0;
  int seconds = 0;
  if (ASN1_TIME_diff(&days, &seconds, nullptr, X509_get0_notAfter(certificate.get())) == 1) {
    out.days = days;
    if (days == 0 && seconds < 0) out.days = -1;
  }
}

}  // namespace

TlsAnswer ask_tls(const std::string& host, int port, const std::string& authorities,
                  Deadline deadline) {
  TlsAnswer out;
  const Connection connection = connect_to(host, port, deadline);
  out.outcome = connection.outcome;
  if (connection.outcome != Connection::Outcome::open) {
    out.why = connection.why;
    return out;
  }
  const Context context(SSL_CTX_new(TLS_client_method()));
  if (context == nullptr) {
    out.why = last_fault();
    return out;
  }
  trust(context.get(), authorities);
  // The handshake goes on with a certificate that nobody trusts: it is to be told what is wrong.
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_NONE, nullptr);
  const Session session(SSL_new(context.get()));
  if (session == nullptr || SSL_set_fd(session.get(), connection.socket.get()) != 1) {
    out.why = last_fault();
    return out;
  }
  if (!is_address(host)) {
    SSL_ctrl(session.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
             const_cast<char*>(host.c_str()));  // NOLINT: it only reads
  }
  out.shaken = shake(session.get(), connection.socket.get(), deadline, out.why);
  if (!out.shaken) return out;
  out.version = SSL_get_version(session.get());
  judge(session.get(), host, out);
  return out;
}

}  // namespace gpuctl::net
