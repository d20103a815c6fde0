#include "net/web.hpp"

#include <curl/curl.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "base/file.hpp"
#include "base/freed.hpp"
#include "base/text.hpp"
#include "net/names.hpp"
#include "net/roots.hpp"

namespace gpuctl::net {

namespace {

constexpr std::size_t kMostHeaders = 200;
constexpr std::size_t kMostBundleBytes = std::size_t{8} << 20U;

using Easy = std::unique_ptr<CURL, base::FreedBy<curl_easy_cleanup>>;
using List = std::unique_ptr<curl_slist, base::FreedBy<curl_slist_free_all>>;

std::size_t take_body(const char* bytes, std::size_t size, std::size_t count, void* given) {
  auto& answer = *static_cast<WebAnswer*>(given);
  const std::size_t all = size * count;
  answer.body.append(bytes, std::min(all, kMostBodyBytes - answer.body.size()));
  return answer.body.size() < kMostBodyBytes ? all : 0;  // no more is read
}

std::size_t take_header(const char* bytes, std::size_t size, std::size_t count, void* given) {
  auto& answer = *static_cast<WebAnswer*>(given);
  std::string_view line(bytes, size * count);
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || answer.headers.size() > kMostHeaders) return size * count;
  const std::string name = base::to_lower(line.substr(0, colon));
  line.remove_prefix(colon + 1);
  const std::size_t begin = line.find_first_not_of(" \t\r\n");
  const std::size_t end = line.find_last_not_of(" \t\r\n");
  answer.headers[name] =
      begin == std::string_view::npos ? "" : std::string(line.substr(begin, end - begin + 1));
  return size * count;
}

bool is_about_certificates(CURLcode code) {
  return code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CERTPROBLEM ||
         code == CURLE_SSL_CACERT_BADFILE || code == CURLE_SSL_ISSUER_ERROR;
}

// What all requests have. `said` outlives the handle.
void prepare(CURL* handle, std::array<char, CURL_ERROR_SIZE>& said, Deadline deadline) {
  const auto left = std::max<std::int64_t>(1, left_until(deadline).count());
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, said.data());
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(left));
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(left));
#if LIBCURL_VERSION_NUM >= 0x075500
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
  curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(handle, CURLOPT_USERAGENT, "gpuctl");
}

// The certificates that the system trusts: the same for all that asks, whatever libcurl looks at.
std::string system_bundle() {
  if (std::string roots = system_roots(); !roots.empty()) return roots;
  const curl_version_info_data* version = curl_version_info(CURLVERSION_NOW);
  const bool says = version->age >= CURLVERSION_SEVENTH && version->cainfo != nullptr;
  return says ? version->cainfo : "";
}

// Which option names a file of authorities, and which their bytes.
struct TrustOptions {
  CURLoption file;
  CURLoption bytes;
};

void trust(CURL* handle, const std::string& authorities, const TrustOptions& options) {
  const std::string bundle = system_bundle();
  if (authorities.empty()) {
    if (!bundle.empty()) curl_easy_setopt(handle, options.file, bundle.c_str());
    return;
  }
  // Bytes take the place of the file, so they have to hold what is in it.
  const auto read = base::read_file(bundle, kMostBundleBytes);
  const auto* text = std::get_if<std::string>(&read);
  std::string all = (text == nullptr ? "" : *text + "\n") + authorities;
  curl_blob blob{all.data(), all.size(), CURL_BLOB_COPY};
  curl_easy_setopt(handle, options.bytes, &blob);
}

using Url = std::unique_ptr<CURLU, base::FreedBy<curl_url_cleanup>>;

// Looks up the host of an address within the deadline; libcurl would wait for the resolver of the
// system as long as that takes. Gives "HOST:PORT:ADDRESS,..." as CURLOPT_RESOLVE has it, or nothing
// with the reason.
std::string resolved(const std::string& address, Deadline deadline, std::string& why) {
  const Url url(curl_url());
  char* host = nullptr;
  char* port = nullptr;
  const bool good =
      curl_url_set(url.get(), CURLUPART_URL, address.c_str(), CURLU_DEFAULT_SCHEME) == CURLUE_OK &&
      curl_url_get(url.get(), CURLUPART_HOST, &host, 0) == CURLUE_OK &&
      curl_url_get(url.get(), CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK;
  std::string out;
  if (good && *host != '[') {
    std::vector<std::string> addresses = addresses_of(host, deadline, why);
    if (!addresses.empty()) {
      for (std::string& one : addresses) {
        if (one.find(':') != std::string::npos) one = "[" + one + "]";
      }
      out = std::string(host) + ":" + port + ":" + base::join(addresses, ",");
    }
  } else if (!good) {
    why = "it is no address of a web server";
  }
  curl_free(host);
  curl_free(port);
  return out;
}

// The proxy that the environment names for an address; empty: none.
std::string proxy_of_environment(const std::string& url) {
  const bool secure = url.starts_with("https://");
  for (const char* name : {secure ? "https_proxy" : "http_proxy", secure ? "HTTPS_PROXY" : ""}) {
    const char* value = std::getenv(name);  // NOLINT: nothing here sets the environment
    if (value != nullptr && *value != '\0') return value;
  }
  return {};
}

// Tells a handle where its server, or the proxy before it, is. False, with the reason, when nobody
// knows.
bool place(CURL* handle, const std::string& url, const std::string& proxy, Deadline deadline,
           List& kept, std::string& why) {
  const std::string hosts = resolved(proxy.empty() ? url : proxy, deadline, why);
  if (hosts.empty()) return why.empty();  // addresses need no looking up
  kept.reset(curl_slist_append(nullptr, hosts.c_str()));
  curl_easy_setopt(handle, CURLOPT_RESOLVE, kept.get());
  return true;
}

std::string words(CURLcode code, const std::array<char, CURL_ERROR_SIZE>& said) {
  if (code == CURLE_OPERATION_TIMEDOUT) return "no answer in time";
  return said.front() != '\0' ? said.data() : curl_easy_strerror(code);
}

}  // namespace

WebAnswer ask_web(const WebRequest& request) {
  WebAnswer answer;
  const Easy handle(curl_easy_init());
  if (handle == nullptr) {
    answer.why = "no memory";
    return answer;
  }
  std::array<char, CURL_ERROR_SIZE> said{};
  prepare(handle.get(), said, request.deadline);
  trust(handle.get(), request.authorities, {CURLOPT_CAINFO, CURLOPT_CAINFO_BLOB});
  curl_easy_setopt(handle.get(), CURLOPT_URL, request.url.c_str());
  List hosts;
  const std::string proxy =
      request.proxy.empty() ? proxy_of_environment(request.url) : request.proxy;
  if (!place(handle.get(), request.url, proxy, request.deadline, hosts, answer.why)) return answer;
  if (request.head) curl_easy_setopt(handle.get(), CURLOPT_NOBODY, 1L);
  if (!request.proxy.empty()) {
    curl_easy_setopt(handle.get(), CURLOPT_PROXY, request.proxy.c_str());
    curl_easy_setopt(handle.get(), CURLOPT_NOPROXY, "");
  }
  if (!request.user.empty()) {
    curl_easy_setopt(handle.get(), CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));
    curl_easy_setopt(handle.get(), CURLOPT_USERNAME, request.user.c_str());
    curl_easy_setopt(handle.get(), CURLOPT_PASSWORD, request.password.c_str());
  }
  List headers;
  for (const std::string& header : request.headers) {
    curl_slist* longer = curl_slist_append(headers.get(), header.c_str());
    if (longer == nullptr) continue;
    static_cast<void>(headers.release());
    headers.reset(longer);
  }
  curl_easy_setopt(handle.get(), CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(handle.get(), CURLOPT_WRITEFUNCTION, take_body);
  curl_easy_setopt(handle.get(), CURLOPT_WRITEDATA, &answer);
  curl_easy_setopt(handle.get(), CURLOPT_HEADERFUNCTION, take_header);
  curl_easy_setopt(handle.get(), CURLOPT_HEADERDATA, &answer);
  const CURLcode code = curl_easy_perform(handle.get());
  long status = 0;
  curl_easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &status);
  const bool cut = code == CURLE_WRITE_ERROR && answer.body.size() == kMostBodyBytes;
  if (code == CURLE_OK || cut) {
    answer.status = static_cast<int>(status);
  } else {
    answer.why = words(code, said);
    answer.certificate = is_about_certificates(code);
  }
  return answer;
}

ProxyAnswer ask_proxy(const std::string& proxy, const std::string& authorities,
                      const std::string& host, int port, Deadline deadline) {
  ProxyAnswer answer;
  const Easy handle(curl_easy_init());
  if (handle == nullptr) {
    answer.why = "no memory";
    return answer;
  }
  std::array<char, CURL_ERROR_SIZE> said{};
  prepare(handle.get(), said, deadline);
  trust(handle.get(), authorities, {CURLOPT_PROXY_CAINFO, CURLOPT_PROXY_CAINFO_BLOB});
  // Nothing is sent to the host: the tunnel is all that is wanted.
  const std::string shown = host.find(':') == std::string::npos ? host : "[" + host + "]";
  const std::string url = "http://" + shown + ":" + std::to_string(port);
  curl_easy_setopt(handle.get(), CURLOPT_URL, url.c_str());
  List hosts;
  if (!place(handle.get(), url, proxy, deadline, hosts, answer.why)) return answer;
  curl_easy_setopt(handle.get(), CURLOPT_PROXY, proxy.c_str());
  curl_easy_setopt(handle.get(), CURLOPT_NOPROXY, "");
  curl_easy_setopt(handle.get(), CURLOPT_HTTPPROXYTUNNEL, 1L);
  curl_easy_setopt(handle.get(), CURLOPT_CONNECT_ONLY, 1L);
  curl_easy_setopt(handle.get(), CURLOPT_PROXYAUTH, static_cast<long>(CURLAUTH_ANY));
  const CURLcode code = curl_easy_perform(handle.get());
  long status = 0;
  curl_easy_getinfo(handle.get(), CURLINFO_HTTP_CONNECTCODE, &status);
  answer.status = static_cast<int>(status);
  answer.through = code == CURLE_OK;
  if (!answer.through) answer.why = words(code, said);
  return answer;
}

}  // namespace gpuctl::net
