#include "pipeline/manifests.hpp"

#include <utility>

#include "base/stages.hpp"
#include "base/text.hpp"
#include "render/origin.hpp"
#include "render/shadow.hpp"
#include "render/verify.hpp"

namespace gpuctl::pipeline {

namespace {

// The release that reads the documents of this cluster; empty when the platform has none.
std::string release_of(const Compiled& compiled, const render::Cluster& cluster) {
  if (!compiled.platform->releases) return {};
  yaml::Node node = cluster.derived.cluster;
  for (const std::string_view step : base::split(compiled.platform->releases->derived, '.')) {
    node = node.get(step);
  }
  return std::string(node.as_string());
}

Manifests write_once(const Opened& opened, const Loaded& loaded, const render::Cluster& cluster,
                     const Request& request, yaml::Context context) {
  const base::StageScope rendering(base::Stage::render);
  Manifests out;
  out.rendered = render::render(*opened.compiled->templates, cluster, loaded.extra, {}, context);
  if (request.clean) render::digest(out.rendered.documents);
  const base::StageScope verifying(base::Stage::verify);
  if (!context.sink.has_errors()) {
    out.crd_rules =
        verify(out.rendered.documents, *opened.compiled, cluster, true, request, context);
  }
  return out;
}

// Derives, renders and verifies with provenance: documents carry marks instead of origins.
Manifests trace(const Opened& opened, const Loaded& loaded, const Request& request,
                yaml::Context context) {
  auto provenance = std::make_unique<cel::Provenance>();
  const auto derived = derive::derive(*opened.compiled->derivation, opened.blueprint, loaded.facts,
                                      loaded.earlier, context, provenance.get());
  Manifests out;
  if (derived) {
    render::Cluster cluster = cluster_of(opened, loaded, *derived);
    cluster.provenance = provenance.get();
    out = write_once(opened, loaded, cluster, request, context);
  }
  out.provenance = std::move(provenance);
  return out;
}

// Takes over the findings of a stage. Errors among them are found once more with provenance, to
// say what is behind the values; not in an attempt, of which nobody reads more than the messages.
void take(diag::Sink findings, const Opened& opened, const Loaded& loaded, const Request& request,
          yaml::Context context) {
  if (findings.has_errors() && !request.despite_rules) {
    diag::Sink again;
    const Manifests traced = trace(opened, loaded, request, context.into(again));
    if (again.has_errors()) {
      findings = {};
      for (diag::Diagnostic diagnostic : again.all()) {
        render::resolve(*traced.provenance, context.sources, diagnostic);
        findings.add(std::move(diagnostic));
      }
    }
  }
  context.sink.take(std::move(findings));
}

}  // namespace

render::Cluster cluster_of(const Opened& opened, const Loaded& loaded,
                           const derive::Derived& derived) {
  return {opened.blueprint, derived, loaded.facts, nullptr, &loaded.committed};
}

std::optional<schema::RuleCounts> verify(const std::vector<render::Document>& documents,
                                         const Compiled& compiled, const render::Cluster& cluster,
                                         bool secrets_left_out, const Request& request,
                                         yaml::Context context) {
  const auto& [sources, arena, sink] = context;
  render::verify_as_read(documents, *compiled.documents, release_of(compiled, cluster),
                         cluster.derived.cluster, secrets_left_out, request.clean.get(), context);
  if (!request.crds || sink.has_errors()) return std::nullopt;
  const std::lock_guard<std::mutex> one_at_a_time(request.crds->mutex);
  schema::RuleCounts counts;
  render::verify(documents, *compiled.documents, request.crds->crds, secrets_left_out, context,
                 &counts);
  return counts;
}

std::optional<derive::Derived> derive(const Opened& opened, const Loaded& loaded,
                                      const Request& request, yaml::Context context) {
  diag::Sink findings;
  std::optional<derive::Derived> derived;
  {
    const base::StageScope deriving(base::Stage::derive);
    derived = derive::derive(*opened.compiled->derivation, opened.blueprint, loaded.facts,
                             loaded.earlier, context.into(findings));
  }
  take(std::move(findings), opened, loaded, request, context);
  return derived;
}

Manifests write(const Opened& opened, const Loaded& loaded, const derive::Derived& derived,
                const Request& request, yaml::Context context) {
  diag::Sink findings;
  Manifests out = write_once(opened, loaded, cluster_of(opened, loaded, derived), request,
                             context.into(findings));
  take(std::move(findings), opened, loaded, request, context);
  const bool overridden =
      opened.blueprint.spec.get("overrides").size() > 0 && !request.despite_rules;
  if (context.sink.has_errors() || !(request.provenance || overridden)) return out;
  diag::Sink said;
  Manifests traced = trace(opened, loaded, request, context.into(said));
  if (request.provenance) return traced;
  render::report_shadowed(traced.rendered.documents, *traced.provenance, context);
  return out;
}

}  // namespace gpuctl::pipeline
