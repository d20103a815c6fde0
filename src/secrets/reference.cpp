#include "secrets/reference.hpp"

#include <cstdlib>

#include "base/file.hpp"
#include "base/text.hpp"
#include "secrets/codes.hpp"
#include "secrets/fields.hpp"
#include "secrets/mask.hpp"

namespace gpuctl::secrets {

bool is_text(const std::string& value) {
  return !value.empty() && base::valid_utf8(value) && value.find('\0') == std::string::npos;
}

std::string without_line_end(std::string value) {
  while (value.ends_with('\n') || value.ends_with('\r')) value.pop_back();
  return value;
}

std::optional<std::string> read_secret(const yaml::Node& reference, const std::string& directory,
                                       diag::Sink& sink) {
  const diag::Origin at = place_of_secret(reference);
  const yaml::Node variable = reference.get("env");
  const yaml::Node path = reference.get("file");
  std::string value;
  if (variable.is_string()) {
    const std::string name(variable.as_string());
    const char* found = std::getenv(name.c_str());
    if (found == nullptr) {
      sink.error(kSecretUnavailable, at, "the environment variable `" + name + "` is not set");
      return std::nullopt;
    }
    value = found;
  } else if (path.is_string()) {
    std::string name(path.as_string());
    if (name.starts_with("~/")) {
      const char* home = std::getenv("HOME");
      name = (home == nullptr ? std::string() : std::string(home)) + name.substr(1);
    } else if (!name.starts_with('/')) {
      name = directory + name;
    }
    auto content = base::read_file(name, kMostSecretBytes);
    if (const auto* error = std::get_if<base::FileError>(&content)) {
      // A secret may stand in the place of its file by mistake.
      sink.error(kSecretUnavailable, at, "cannot read `" + masked(name) + "`: " + error->text);
      return std::nullopt;
    }
    value = std::move(std::get<std::string>(content));
  } else {
    sink.error(kSecretUnavailable, at,
               "this secret lives in a cluster or a secret store and cannot be read here")
        .expect("`env` or `file` for what the installer needs");
    return std::nullopt;
  }
  value = without_line_end(std::move(value));
  if (is_text(value)) return value;
  sink.error(kSecretUnavailable, at,
             value.empty() ? "this secret is empty" : "this secret is no text in UTF-8");
  return std::nullopt;
}

}  // namespace gpuctl::secrets
