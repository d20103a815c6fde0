// Questions by HTTP, through libcurl.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "net/time.hpp"

namespace gpuctl::net {

struct WebRequest {
  std::string url;
  bool head = false;                 // otherwise GET
  std::vector<std::string> headers;  // "Name: value"
  std::string user;                  // with `password`: basic authentication
  std::string password;
  std::string proxy;        // "http://host:port"; empty: as the environment says
  std::string authorities;  // in PEM form, trusted besides those of the system
  Deadline deadline = Deadline::max();
};

struct WebAnswer {
  int status = 0;                              // 0: there was no answer
  std::map<std::string, std::string> headers;  // names in lower case; of one that repeats, the last
  std::string body;                            // at most kMostBodyBytes of it
  std::string why;                             // when there was no answer; without user or password
  bool certificate = false;                    // because the certificate is not trusted
};

inline constexpr std::size_t kMostBodyBytes = std::size_t{1} << 20U;

/// Asks once; no redirects are followed, so that nothing secret goes elsewhere. Only http and
/// https.
WebAnswer ask_web(const WebRequest& request);

/// What a proxy says to CONNECT.
struct ProxyAnswer {
  int status = 0;  // of the proxy; 0: none
  bool through = false;
  std::string why;  // unless `through`
};

/// Asks a proxy ("http://[user:password@]host:port", https too) for a way to `host:port`, and
/// closes it at once.
ProxyAnswer ask_proxy(const std::string& proxy, const std::string& authorities,
                      const std::string& host, int port, Deadline deadline);

}  // namespace gpuctl::net
