#include "git/transport.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "git/environment.hpp"

namespace gpuctl::git {

namespace {

// What may carry the exchange: nothing that runs programs, and what the user allows of the rest.
std::string allowed_protocols(const std::string& scheme) {
  const std::string given = variable("GIT_ALLOW_PROTOCOL");
  const std::vector<std::string_view> own = base::split(given, ':');
  std::vector<std::string> allowed;
  for (const std::string_view protocol : {"file", "git", "http", "https", "ssh"}) {
    if (protocol == "http" && scheme == "https") continue;  // no way down by a redirect
    if (given.empty() || std::find(own.begin(), own.end(), protocol) != own.end()) {
      allowed.emplace_back(protocol);
    }
  }
  return base::join(allowed, ":");
}

}  // namespace

std::vector<base::Setting> transport_environment(const Address& address,
                                                 const std::function<bool()>& chooses_ssh) {
  std::vector<base::Setting> environment;
  // Where we work is ours to say; tracing would mix with what git says, and may hold secrets.
  for (const char* name : {"GIT_DIR",
                           "GIT_WORK_TREE",
                           "GIT_COMMON_DIR",
                           "GIT_INDEX_FILE",
                           "GIT_OBJECT_DIRECTORY",
                           "GIT_ALTERNATE_OBJECT_DIRECTORIES",
                           "GIT_NAMESPACE",
                           "GIT_GRAFT_FILE",
                           "GIT_SHALLOW_FILE",
                           "GIT_PREFIX",
                           "GIT_REPLACE_REF_BASE",
                           "GIT_QUARANTINE_PATH",
                           "GIT_CONFIG",
                           "GIT_DEFAULT_HASH",
                           "GIT_TRACE",
                           "GIT_TRACE2",
                           "GIT_TRACE2_EVENT",
                           "GIT_TRACE2_PERF",
                           "GIT_TRACE_CURL",
                           "GIT_TRACE_PACKET",
                           "GIT_TRACE_SETUP",
                           "GIT_CURL_VERBOSE",
                           "GIT_TRACE_PERFORMANCE",
                           "GIT_TRACE_PACK_ACCESS",
                           "GIT_TRACE_PACKFILE",
                           "GIT_TRACE_REFS",
                           "GIT_PUSH_CERT",
                           "LANGUAGE",
                           "SSH_ASKPASS"}) {
    environment.push_back({name, std::nullopt});
  }
  environment.push_back({"LC_ALL", "C"});
  environment.push_back({"GIT_TERMINAL_PROMPT", "0"});
  environment.push_back({"SSH_ASKPASS_REQUIRE", "never"});
  environment.push_back({"GIT_ALLOW_PROTOCOL", allowed_protocols(address.scheme)});
  if (!address.user.empty()) {
    // Not among the arguments: the user of an address may be a token.
    const auto count = base::parse_integer(variable("GIT_CONFIG_COUNT")).value_or(0);
    const std::string number = std::to_string(count);
    environment.push_back({"GIT_CONFIG_KEY_" + number, "credential." + address.url + ".username"});
    environment.push_back({"GIT_CONFIG_VALUE_" + number, address.user});
    environment.push_back({"GIT_CONFIG_COUNT", std::to_string(count + 1)});
  }
  if (address.scheme == "ssh" && variable("GIT_SSH_COMMAND").empty() &&
      variable("GIT_SSH").empty() && !chooses_ssh()) {
    environment.push_back({"GIT_SSH_COMMAND", "ssh -o BatchMode=yes"});
  }
  return environment;
}

}  // namespace gpuctl::git
