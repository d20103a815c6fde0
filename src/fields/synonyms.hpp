// Which field of the blueprint is meant by one that it does not have (files synonyms.yaml).
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "catalog/platform.hpp"
#include "diag/diagnostic.hpp"

namespace gpuctl::fields {

/// What the build keeps the rows of a platform under.
inline constexpr std::string_view kPreparedSynonyms = "#synonyms";

/// The rows of all folders that the platform builds on, those of later folders first. Thread-safe.
std::vector<yaml::Node> synonyms_of(const catalog::Platform& platform, catalog::Library& library);

/// Adds to the finding about the unknown field `name` which field of the platform is meant: by its
/// synonyms (synonyms_of), or because that is the name of a field somewhere else. `at` is the path
/// of the map that has the field. False when nothing is known of the name, or one that is there is
/// so near that it is a slip of the pen.
bool name_what_is_meant(const catalog::Platform& platform, std::span<const yaml::Node> synonyms,
                        std::string_view at, std::string_view name, diag::Diagnostic& finding);

/// The findings on a blueprint, with what is meant by the fields that it does not have.
diag::Sink with_what_is_meant(const diag::Sink& found, const catalog::Platform& platform,
                              catalog::Library& library);

/// The path of the field that is meant by one as people write it: names in any case, with `-` and
/// `_` or without, by a synonym, or, alone, of the only field anywhere that is called so. Empty:
/// nothing is known of it.
std::string path_meant(const catalog::Platform& platform, std::span<const yaml::Node> synonyms,
                       std::string_view path);

}  // namespace gpuctl::fields
