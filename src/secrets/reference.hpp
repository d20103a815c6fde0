// Secrets behind references of a blueprint.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "diag/diagnostic.hpp"
#include "yaml/node.hpp"

namespace gpuctl::secrets {

/// The text behind `env` or `file` of a reference, without line breaks at its end; paths are
/// relative to `directory`. The other forms live in a cluster. Nothing after GPU0605; the value
/// enters no message.
std::optional<std::string> read_secret(const yaml::Node& reference, const std::string& directory,
                                       diag::Sink& sink);

/// Longest file that a reference may lead to.
inline constexpr std::size_t kMostSecretBytes = 4 * 1024 * 1024;

/// True when a value can be a secret in a document: some text in UTF-8.
bool is_text(const std::string& value);

/// `value` without line breaks at its end.
std::string without_line_end(std::string value);

}  // namespace gpuctl::secrets
