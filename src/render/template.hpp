// Templates: wrapper and body, compiled once per platform.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/once.hpp"
#include "compose/body.hpp"
#include "derive/environment.hpp"
#include "schema/kind_ref.hpp"

namespace gpuctl::render {

/// What a template writes; compiled when the template is first used.
struct Content {
  struct Local {
    std::string name;
    cel::Text value;
  };
  std::vector<compose::Piece::Loop> loops;
  std::vector<Local> locals;
  std::optional<cel::Text> output;
  std::optional<cel::Text> pool;
  std::unique_ptr<compose::Piece> body;
};

/// When a template runs, and what it sees besides what every template sees.
enum class Phase {
  documents,
  index,     // after all documents, with `layers` and `folders`
  supplies,  // only when somebody asks what the cluster pulls, with `objects`: see supplies.hpp
  mirror,    // only when a tool is to copy that, with `supplies`
};

class Template {
 public:
  std::string path;  // "templates/area/name.yaml"
  Phase phase = Phase::documents;
  bool raw = false;
  bool is_private = false;  // holds a secret, and exists only where secrets may be
  std::optional<cel::Text> include_when;
  std::string layer;  // this, `folder` or Content::output says where
  std::string folder;
  schema::KindRef schema_of;  // the published schema, when the document does not say it itself
  diag::Origin origin = diag::kNoOrigin;

  /// Compiles at first use; nullptr after diagnostics. Thread-safe: most templates of a platform
  /// are not used by a given cluster, so none is compiled before it is wanted.
  const Content* content(diag::Sink& sink) const;

 private:
  friend class TemplateCompiler;
  yaml::Node spec_;
  std::shared_ptr<const cel::Environment> environment_;
  diag::Sources* sources_ = nullptr;  // of the library
  mutable base::Once once_;
  mutable diag::Sink findings_;
  mutable std::optional<Content> content_;
};

using Templates = std::vector<std::unique_ptr<const Template>>;

/// Compiles the heads of all templates of a platform, and with `thorough` their contents too;
/// nullptr after diagnostics (GPU03xx, GPU0411). `environment` is base_environment() of the
/// platform.
std::shared_ptr<const Templates> compile(const catalog::Platform& platform,
                                         std::shared_ptr<const cel::Environment> environment,
                                         catalog::Library& library, bool thorough,
                                         diag::Sink& sink);

}  // namespace gpuctl::render
