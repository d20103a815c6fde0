// The knowledge a run works with: built-in image plus overlays, compiled per platform at first use.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "derive/derive.hpp"
#include "document/document.hpp"
#include "plan/plan.hpp"
#include "render/template.hpp"
#include "rule/rule.hpp"

namespace gpuctl::secrets {
class Rules;
}

namespace gpuctl::cli {

/// The image that was linked into the program.
const catalog::Image& built_in_image();

/// A platform with everything compiled.
struct Compiled {
  std::shared_ptr<const catalog::Platform> platform;
  std::shared_ptr<const derive::Derivation> derivation;
  std::shared_ptr<const rule::Rules> rules;
  std::shared_ptr<const render::Templates> templates;
  std::shared_ptr<const document::Kinds> documents;
  explicit operator bool() const { return templates != nullptr; }
};

class Knowledge {
 public:
  /// `providers` and `templates` are directories laid over the built-in files, or empty. Unreadable
  /// ones are GPU0002.
  Knowledge(const std::string& providers, const std::string& templates, diag::Sink& sink);

  /// Compiles at first use. Thread-safe, with overlays once preload() ran.
  const Compiled* platform(const std::string& name, diag::Origin asked_at, diag::Sink& sink);
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

/// Compiles a platform from a library; empty after diagnostics.
Compiled compile_platform(catalog::Library& library, const std::string& name, diag::Sink& sink);

}  // namespace gpuctl::cli
