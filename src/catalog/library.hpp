// All knowledge files by path: the built-in image with files of --providers and --templates
// directories laid over it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/image.hpp"
#include "cel/store.hpp"
#include "diag/diagnostic.hpp"
#include "yaml/node.hpp"

namespace gpuctl::catalog {

/// The folder of the templates, in paths of files.
inline constexpr std::string_view kTemplates = "templates/";

/// A file that replaces a built-in one, or adds one.
struct Overlay {
  std::string path;  // "providers/name/rules.yaml"
  std::string name;  // as shown to the user: the path on disk
  std::string text;
};

class Library {
 public:
  /// `image` must outlive the library; nullptr: nothing is built in. Overlays that are no
  /// acceptable YAML are reported.
  Library(const Image* image, std::vector<Overlay> overlays, diag::Sink& sink);
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  /// The tree of a file, or nullptr. Decoded once, as far as somebody looks into it. A template
  /// that extends a base has taken over what the base says; where there is no such base, `extends`
  /// is left in it.
  const yaml::Node* file(std::string_view path);
  /// The same as it is written; without overlays, as `file` gives it.
  const yaml::Node* written(std::string_view path);
  bool has(std::string_view path) const;
  /// True when the file comes from the image (so the build has checked it).
  bool is_built_in(std::string_view path) const;
  /// True when a file comes from an overlay, so that the build has not checked everything.
  bool has_overlays() const { return !overlays_.empty(); }
  /// Paths that start with `prefix` and have `part` in them, sorted.
  std::vector<std::string> list(std::string_view prefix, std::string_view part = {}) const;
  /// The expressions of a platform that the build has compiled; nothing with overlays, which may
  /// change types and with them what an expression means.
  std::shared_ptr<cel::Store> programs(std::string_view platform) const;
  /// What the build has put together under this name, such as "x#documents" or the path of a
  /// template that extends a base; nothing with overlays, which may change it.
  std::optional<yaml::Node> prepared(std::string_view name);
  /// Digest of everything: the image's, with the overlays' mixed in when there are any.
  std::string digest() const;

  diag::Sources& sources() { return *sources_; }
  yaml::Arena& arena() { return arena_; }
  /// For what is made when somebody looks into it, on whichever thread.
  yaml::SharedArena& shared_arena() { return shared_arena_; }

 private:
  struct Overlaid {
    yaml::Node tree;
    std::string text_digest;
  };
  /// Place among the files of the image of the first that is not before `path`.
  std::size_t first_from(std::string_view path) const;
  /// Place of a file in the image.
  std::optional<std::size_t> built_in(std::string_view path) const;

  const Image* image_;
  std::unique_ptr<diag::Sources> root_;     // of the image
  std::unique_ptr<diag::Sources> sources_;  // on top of it
  yaml::Arena arena_;
  yaml::SharedArena shared_arena_;
  std::vector<std::optional<yaml::Node>> built_in_;  // trees of the image's files, as far as known
  std::map<std::string, Overlaid, std::less<>> overlays_;
  std::map<std::string, yaml::Node, std::less<>> extended_;  // templates with their bases
};

/// Names of all provider folders, sorted: those with a `provider.yaml`.
std::vector<std::string> provider_folders(const Library& library);

/// The platforms that providers offer (`platform: true`), sorted by name.
std::vector<std::string> platforms(Library& library);

}  // namespace gpuctl::catalog
