// Any text as a template of a small platform, and any text as the rest of the blueprint (after a
// line `%%%`). What is rendered must read back as it was, and be the same with provenance.
#include <cstdint>
#include <cstdlib>

#include "derive/derive.hpp"
#include "diag/print.hpp"
#include "render/documents.hpp"
#include "render/origin.hpp"
#include "support/scope.hpp"

namespace gpuctl {
namespace {

constexpr std::string_view kDivider = "\n%%%\n";

void require(bool holds) {
  if (!holds) std::abort();
}

bool same(const yaml::Node& a, const yaml::Node& b) {
  return yaml::emit(a) == yaml::emit(b);  // yaml::equal tells NaN from itself
}

void try_template(const std::string& text, const std::string& spec) {
  testing::Files files = testing::lab();
  files["providers/lab/provider.yaml"] = testing::wrap(
      "Provider", "  title: Lab\n  platform: true\n  builds: [lab]\n  templates: [t.yaml]\n");
  files["providers/lab/derive.yaml"] = testing::wrap("Derivation", R"(  rows:
    - set: name
      value: metadata.name
    - set: size
      value: spec.size
    - set: pools
      value: 'spec.pools.map(p, {"name": p.name, "cores": 4})'
)");
  files["templates/t.yaml"] = text;
  testing::Lab lab(files);
  if (lab.platform == nullptr || lab.sink.has_errors()) return;
  diag::Sink& sink = lab.sink;
  diag::Sources& sources = lab.library->sources();
  yaml::Arena& arena = lab.library->arena();
  const auto templates = render::compile(*lab.platform, derive::base_environment(*lab.platform),
                                         *lab.library, true, sink);
  const auto derivation =
      derive::compile(*lab.platform, testing::scope_of(lab), true, sources, sink);
  const auto blueprint = lab.blueprint(spec);
  if (templates == nullptr || derivation == nullptr || !blueprint) return;
  const yaml::Node facts = lab.parse("{infraID: one-x}");

  const auto derived =
      derive::derive(*derivation, *blueprint, facts, derive::Earlier(), {sources, arena, sink});
  if (!derived) return;
  const render::Cluster cluster{*blueprint, *derived, facts};
  const render::Rendered out = render::render(*templates, cluster, {}, {}, {sources, arena, sink});
  const bool good = !sink.has_errors();

  diag::Sink traced_sink;
  cel::Provenance provenance;
  const auto traced = derive::derive(*derivation, *blueprint, facts, derive::Earlier(),
                                     {sources, arena, traced_sink}, &provenance);
  require(traced.has_value());
  const render::Cluster marked{*blueprint, *traced, facts, &provenance};
  const render::Rendered again =
      render::render(*templates, marked, {}, {}, {sources, arena, traced_sink});
  require(traced_sink.has_errors() != good);
  for (diag::Diagnostic diagnostic : traced_sink.all()) {
    render::resolve(provenance, sources, diagnostic);
    std::string shown;
    diag::print_text(diagnostic, sources, false, shown);
    diag::print_json(diagnostic, sources, shown);
  }
  if (!good) return;
  require(out.documents.size() == again.documents.size());
  for (std::size_t i = 0; i < out.documents.size(); ++i) {
    const render::Document& document = out.documents[i];
    require(same(document.body, again.documents[i].body));
    render::trace(provenance, again.documents[i].body.origin(), sources);
    if (document.body.is_string()) continue;
    diag::Sink faults;
    const diag::FileId file = sources.add_file("out.yaml", render::bytes(document));
    const auto read = yaml::read(file, sources, arena, faults, yaml::published_limits());
    // Our own limits on input may be narrower than what a template can make.
    if (read) require(same(*read, document.body));
  }
}

}  // namespace
}  // namespace gpuctl

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t divider = input.find(gpuctl::kDivider);
  const std::string spec = divider == std::string_view::npos
                               ? "  pools: [{name: a}, {name: b}]\n"
                               : std::string(input.substr(divider + gpuctl::kDivider.size()));
  gpuctl::try_template(std::string(input.substr(0, divider)), spec);
  return 0;
}
