// The pre-parsed image: all files of providers/ and templates/ as text (for excerpts), spans and
// node trees in one byte string that is linked into the program. Nothing is parsed at start; a tree
// is decoded when it is first asked for.
//
// Layout, little-endian: header, file table, span table, texts and trees, compiled expressions. The
// image is made and read by the same build, so the format has no version of its own beyond a magic
// word.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diag/sources.hpp"
#include "yaml/node.hpp"

namespace gpuctl::catalog {

/// One file as it goes into an image.
struct ImageFile {
  std::string name;  // "providers/name/rules.yaml"
  std::string text;
  yaml::Node tree;  // origins as `sources` numbers them
};

/// By platform, what cel::Store::packed() gave of its expressions; under kProgramRecords the bytes
/// of their records; and by other names, as Library::prepared() has them, packed trees.
using Programs = std::map<std::string, std::string>;

/// No platform has this name.
inline constexpr std::string_view kProgramRecords = "#records";

/// Serialises. `sources` holds exactly these files, in this order, as its only files.
std::string write_image(std::span<const ImageFile> files, const diag::Sources& sources,
                        const Programs& programs = {});

/// Reads an image that lives for the whole run.
class Image {
 public:
  /// Nothing when the bytes are no image.
  static std::optional<Image> open(std::string_view bytes);

  std::span<const diag::FileView> files() const { return files_; }
  std::span<const diag::Span> spans() const { return spans_; }
  /// The tree of a file, decoded into `arena` as far as somebody looks into it; strings refer to
  /// the image.
  yaml::Node tree(std::size_t file, yaml::SharedArena& arena) const;
  /// The compiled expressions of a platform; empty when there are none.
  std::string_view programs(std::string_view platform) const;
  /// Hex SHA-256 of all names and texts: what the lock calls the catalogue version.
  std::string_view digest() const { return digest_; }

 private:
  std::vector<diag::FileView> files_;
  std::vector<std::string_view> trees_;
  std::map<std::string_view, std::string_view> programs_;
  std::span<const diag::Span> spans_;
  std::string_view digest_;
};

}  // namespace gpuctl::catalog
