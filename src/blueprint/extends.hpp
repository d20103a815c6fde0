// `extends`: the documents that a blueprint is laid over.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "yaml/context.hpp"

namespace gpuctl::blueprint {

/// Bases that one blueprint may have, and how far one may be away.
inline constexpr std::size_t kMostBases = 64;
inline constexpr std::size_t kMostBaseDepth = 16;

/// Adds the file of this name, which a document names at `path`, to the sources; nothing after a
/// diagnostic.
using ReadBase =
    std::function<std::optional<diag::FileId>(const std::string& name, const yaml::Node& path)>;

/// True when the document of `file` is of this kind; reports otherwise, with `code`.
bool check_kind(const yaml::Node& document, std::string_view kind, std::string_view code,
                diag::FileId file, diag::Sources& sources, diag::Sink& sink);

/// The path of a file as another one names it, which is relative to its directory: without `.`
/// and, as far as that goes, without `..`.
std::string beside(const std::string& file, std::string_view path);

/// The bases that `extends` in a document of this file asks for, theirs before them, each once and
/// without its `extends`; then nothing else. Nothing after GPU0800 to GPU0803, or what `read`
/// reports.
std::optional<std::vector<yaml::Node>> bases_of(const std::string& file, const yaml::Node& extends,
                                                const ReadBase& read, yaml::Context context);

/// The document of a file behind its bases: in the order in which they are merged. Nothing when it
/// is no Blueprint (GPU0601), or as bases_of().
std::optional<std::vector<yaml::Node>> read_layers(diag::FileId file, const ReadBase& read,
                                                   yaml::Context context);

/// The field at the top of a document.
inline constexpr std::string_view kExtends = "extends";

/// The document with the paths that are relative to the file they were written in
/// (`x-gpuctl-relative`) as they are relative to `directory` ("" or with a slash at its end).
yaml::Node with_paths_from(const yaml::Node& definition, const yaml::Node& document,
                           const std::string& directory, yaml::Context context);

}  // namespace gpuctl::blueprint
