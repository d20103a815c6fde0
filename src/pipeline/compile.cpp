#include "pipeline/compile.hpp"

#include <utility>

#include "facts/rows.hpp"
#include "imports/mapping.hpp"
#include "signature/signatures.hpp"
#include "steps/steps.hpp"
#include "versions/versions.hpp"

namespace gpuctl::pipeline {

Stores built_in_stores(const catalog::Library& library, const std::string& platform) {
  return {library.programs(platform), [&library, platform](const std::string& kind) {
            return library.programs(platform + "/" + kind);
          }};
}

Compiled compile_platform(catalog::Library& library, const std::string& name, const Stores& stores,
                          bool thorough, diag::Sink& sink) {
  Compiled compiled;
  compiled.platform = catalog::load_platform(library, name, diag::kNoOrigin, sink);
  if (compiled.platform == nullptr) return {};
  const std::shared_ptr<const cel::Environment> environment =
      derive::base_environment(*compiled.platform, stores.platform);
  diag::Sources& sources = library.sources();
  const std::size_t errors_before = sink.error_count();
  const derive::Scope scope =
      derive::scope_of(*compiled.platform, environment, thorough, sources, sink);
  if (sink.error_count() != errors_before) return {};
  compiled.rules = rule::compile(*compiled.platform, scope, thorough, sources, sink);
  std::shared_ptr<const derive::Chooser> chooser;
  if (compiled.rules != nullptr) {
    chooser =
        versions::compile(*compiled.platform, environment, compiled.rules, thorough, sources, sink);
  }
  compiled.derivation =
      derive::compile(*compiled.platform, scope, thorough, sources, sink, std::move(chooser));
  compiled.templates = render::compile(*compiled.platform, environment, library, thorough, sink);
  compiled.documents =
      document::Kinds::compile(compiled.platform, stores.of_kind, thorough, sources, sink);
  compiled.effects = effects::Rows::compile(*compiled.platform, library, scope, thorough, sink);
  if (thorough) {
    signature::check(*compiled.platform, library, sink);
    steps::compile(*compiled.platform, library, scope, true, sink);
    facts::compile(*compiled.platform, library, scope, true, sink);
  }
  const bool imports_fault =
      thorough && imports::Mapping::compile(*compiled.platform, library, true, sink) == nullptr;
  if (compiled.effects == nullptr || compiled.derivation == nullptr || compiled.rules == nullptr ||
      compiled.documents == nullptr || compiled.derivation->chooser == nullptr || imports_fault) {
    return {};
  }
  return compiled;
}

}  // namespace gpuctl::pipeline
