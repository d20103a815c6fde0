// A platform with everything compiled: at run time from the image, and by the build to check it.
#pragma once

#include <memory>
#include <string>

#include "derive/derive.hpp"
#include "document/document.hpp"
#include "effects/rows.hpp"
#include "plan/plan.hpp"
#include "render/template.hpp"
#include "rule/rule.hpp"

namespace gpuctl::pipeline {

struct Compiled {
  std::shared_ptr<const catalog::Platform> platform;
  std::shared_ptr<const derive::Derivation> derivation;
  std::shared_ptr<const rule::Rules> rules;
  std::shared_ptr<const render::Templates> templates;
  std::shared_ptr<const document::Kinds> documents;
  std::shared_ptr<const effects::Rows> effects;
  explicit operator bool() const { return templates != nullptr; }
};

/// Where compiled programs are found, or recorded by the build.
struct Stores {
  std::shared_ptr<cel::Store> platform;
  document::StoreOf of_kind;
};

/// Those of the image; empty ones when the library has none.
Stores built_in_stores(const catalog::Library& library, const std::string& platform);

/// Compiles a platform from a library; empty after diagnostics. With `thorough` everything is
/// compiled at once, imports included; otherwise at first use, which is for knowledge that the
/// build has checked.
Compiled compile_platform(catalog::Library& library, const std::string& name, const Stores& stores,
                          bool thorough, diag::Sink& sink);

}  // namespace gpuctl::pipeline
