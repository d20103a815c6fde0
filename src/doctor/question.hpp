// The questions that checks are made of: one type a kind, read from what a row of knowledge says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "net/names.hpp"
#include "yaml/node.hpp"

namespace gpuctl::doctor {

/// The highest number of a TCP port.
inline constexpr std::int64_t kMostPort = 65535;

/// Records of a name. `by`: "system", "resolver" (the chosen one), "zone" (a name server of the
/// zone itself), or an address.
struct NameQuestion {
  std::string name;
  net::RecordType type = net::RecordType::a;
  std::string by;
};

/// The certificate of a server; authorities in PEM form are trusted besides those of the system.
struct TlsQuestion {
  std::string host;
  int port = 443;
  std::string authorities;
};

/// The status that a web server answers with, and its time.
struct WebQuestion {
  std::string url;
  std::string proxy;
  std::string authorities;
};

/// The registries that a pull secret has accounts for. The reference is that of the blueprint.
struct AccountsQuestion {
  yaml::Node credentials;
};

/// Whether a registry takes the account of a pull secret and, with an image, has it.
struct RegistryQuestion {
  std::string host;
  std::string image;  // REPOSITORY:TAG or REPOSITORY@DIGEST, or empty
  yaml::Node credentials;
  std::string authorities;
};

/// Whether anybody has an IP address.
struct AddressQuestion {
  std::string address;
  std::vector<int> ports;
};

/// The time of a server, by SNTP.
struct ClockQuestion {
  std::string server;
  int port = 123;
};

/// Whether a proxy gives a way to a host.
struct ProxyQuestion {
  std::string proxy;
  std::string host;
  int port = 443;
  std::string authorities;
};

/// Whether a repository can be read and pushed to.
struct GitQuestion {
  std::string address;
};

/// What a program of others says. `secrets`: environment variables and the references of the
/// blueprint to their values.
struct ProgramQuestion {
  std::string role;
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<std::pair<std::string, yaml::Node>> secrets;
  std::string input;  // what it reads; may be empty
  bool json = true;
};

/// The public key of ssh behind a reference of the blueprint.
struct KeyQuestion {
  yaml::Node reference;
};

/// What a directory is like.
struct DirectoryQuestion {
  std::string path;
};

using Ask = std::variant<NameQuestion, TlsQuestion, WebQuestion, AccountsQuestion, RegistryQuestion,
                         AddressQuestion, ClockQuestion, ProxyQuestion, GitQuestion,
                         ProgramQuestion, KeyQuestion, DirectoryQuestion>;

struct Question {
  std::string about;  // for people
  yaml::Node tag;     // comes back with the answer
  Ask ask;
};

/// Reads what a row says; nothing, with the reason, for an unknown kind, an unknown or missing
/// field, or a value that it cannot have.
std::optional<Question> read_question(const yaml::Node& written, std::string& why);

/// What is wrong with the fields of a question before anything is worked out; empty when nothing
/// is.
std::string fault_in(const yaml::Node& written);

}  // namespace gpuctl::doctor
