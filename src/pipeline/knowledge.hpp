// The knowledge a run works with: built-in image plus overlays, compiled per platform at first use.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "pipeline/compile.hpp"
#include "secrets/rules.hpp"

namespace gpuctl::pipeline {

class Knowledge {
 public:
  /// `image` must outlive the knowledge. `providers` and `templates` are directories laid over its
  /// files, or empty. Unreadable ones are GPU0002.
  Knowledge(const catalog::Image& image, const std::string& providers, const std::string& templates,
            diag::Sink& sink);

  /// Compiles at first use. Thread-safe, with overlays once preload() ran.
  const Compiled* platform(const std::string& name, diag::Origin asked_at, diag::Sink& sink);
  /// False after GPU0403. Thread-safe.
  bool is_platform(const std::string& name, diag::Origin asked_at, diag::Sink& sink);
  /// The platforms whose knowledge fits a document best, by name; none when no platform has any of
  /// it. Thread-safe.
  std::vector<std::string> platforms_for(const yaml::Node& document);
  /// The first of them, or empty.
  std::string platform_for(const yaml::Node& document);
  /// The apiVersions of this group in which a kind is known; empty when it is not. Thread-safe.
  std::set<std::string> versions_of(std::string_view kind, std::string_view group);
  /// Names of all platforms.
  const std::vector<std::string>& names() const { return names_; }
  /// Names of secret fields of all kinds of documents. Thread-safe.
  const std::vector<std::string>& secret_fields();
  /// The rules by which secrets are known. Thread-safe.
  std::shared_ptr<const secrets::Rules> secret_rules();
  /// Hides in the excerpts of a file that no schema is known for what looks like a secret, and what
  /// stands behind the names of secret fields. Thread-safe.
  void hide_secrets(diag::FileId file, diag::Sources& sources);
  /// The releases that an option of the command line may name, oldest first.
  std::vector<std::string> releases(const std::string& option);
  /// With overlays, compiles every platform, so that several threads may ask afterwards: what is
  /// wrong with them goes into sources that the other threads read.
  void preload();

  /// Codes that have a page, and so exist on some platform.
  std::set<std::string, std::less<>> codes() const;

  catalog::Library& library() { return *library_; }
  /// Digest of all knowledge, overlays included.
  std::string digest() const { return library_->digest(); }

 private:
  struct Slot {
    Compiled compiled;
    diag::Sink findings;  // faults of the knowledge itself
  };
  Slot& compile(const std::string& name);
  void load_document_kinds();
  void make_secret_rules(diag::Sink& sink);

  const catalog::Image& image_;
  std::unique_ptr<catalog::Library> library_;
  std::mutex one_at_a_time_;
  std::map<std::string, Slot> platforms_;
  std::vector<std::string> names_;
  bool document_kinds_loaded_ = false;
  // By platform, in the order of names_; only to recognise documents.
  std::vector<std::pair<std::string, std::vector<catalog::DocumentKind>>> document_kinds_;
  std::vector<std::string> secret_fields_;
  std::shared_ptr<const secrets::Rules> secret_rules_;
  std::unique_ptr<diag::Mask> mask_;
};

}  // namespace gpuctl::pipeline
