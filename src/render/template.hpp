// Templates: wrapper and body, compiled once per platform.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "derive/environment.hpp"
#include "render/body.hpp"

namespace gpuctl::render {

/// The published schema a document follows when it does not carry group and kind itself.
struct SchemaRef {
  std::string group, version, kind;
  bool empty() const { return kind.empty(); }
};

struct Template {
  std::string path;  // "templates/aws/machineset.yaml"
  std::string name;
  bool index = false;  // phase: index
  bool raw = false;
  std::optional<cel::Text> include_when;
  std::vector<Piece::Loop> loops;
  struct Local {
    std::string name;
    cel::Text value;
  };
  std::vector<Local> locals;
  std::string layer;               // or:
  std::optional<cel::Text> output;
  std::optional<cel::Text> pool;
  SchemaRef schema_of;
  std::unique_ptr<Piece> body;
  diag::Origin origin = diag::kNoOrigin;
};

using Templates = std::vector<Template>;

/// Compiles all templates of a platform; nullptr after diagnostics (GPU03xx, GPU0411).
std::shared_ptr<const Templates> compile(const catalog::Platform& platform,
                                         catalog::Library& library, diag::Sink& sink);

}  // namespace gpuctl::render
