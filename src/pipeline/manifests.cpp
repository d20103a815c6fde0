#include "pipeline/manifests.hpp"

#include <functional>
#include <set>
#include <utility>

#include "base/stages.hpp"
#include "base/text.hpp"
#include "document/token.hpp"
#include "pipeline/encryption.hpp"
#include "render/mirrors.hpp"
#include "render/origin.hpp"
#include "render/shadow.hpp"
#include "render/supplies.hpp"
#include "render/verify.hpp"
#include "secrets/fields.hpp"
#include "secrets/reference.hpp"

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

// Where the documents take charts from. What is wrong with templates of supplies is said by those
// who need all of them.
std::set<std::string, std::less<>> charts_of(const Opened& opened, const render::Cluster& cluster,
                                             const render::Rendered& rendered,
                                             yaml::Context context) {
  diag::Sink unsaid;
  std::vector<render::Withheld> waiting;
  const render::Supplies supplies = render::supplies_of(*opened.compiled->templates, cluster,
                                                        rendered, waiting, context.into(unsaid));
  std::set<std::string, std::less<>> out;
  for (const auto& [texts, wanted_by] : supplies.of("charts")) out.insert(texts.front());
  return out;
}

Manifests write_once(const Opened& opened, const Loaded& loaded, const render::Cluster& cluster,
                     const Request& request, yaml::Context context) {
  const base::StageScope rendering(base::Stage::render);
  Manifests out;
  out.rendered = render::render(*opened.compiled->templates, cluster, loaded.extra, {}, context);
  const yaml::Node spec = opened.blueprint.spec;
  if (opened.compiled->platform->names_copies && spec.get({"access", "airGap"}).as_boolean()) {
    render::name_copies(out.rendered.documents, render::Mirrors(spec),
                        charts_of(opened, cluster, out.rendered, context), context.arena);
  }
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
    // Of interest is where values come from, not what they are encrypted to.
    Request without = request;
    without.encrypt = false;
    const render::Encrypt encrypt = encryption(opened, loaded, *derived, "", without, context);
    if (encrypt) cluster.encrypt = &encrypt;
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

// The value behind a reference, right in the eyes of the kind that its template names.
std::optional<std::string> resolve_secret(const yaml::Node& reference, std::string_view checked_as,
                                          const std::string& directory, const Compiled& compiled,
                                          yaml::Context context) {
  std::optional<std::string> value = secrets::read_secret(reference, directory, context.sink);
  if (!value || checked_as.empty()) return value;
  document::Context about;
  about.fallback = secrets::place_of_secret(reference);
  const std::size_t errors_before = context.sink.error_count();
  compiled.documents->check(
      document::token_document(checked_as, *value, document::seconds_now(), context.arena), about,
      context);
  return context.sink.error_count() == errors_before ? value : std::nullopt;
}

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
                const std::string& blueprint_file, const Request& request, yaml::Context context) {
  diag::Sink findings;
  render::Cluster cluster = cluster_of(opened, loaded, derived);
  // What it says has places already, and must not be done a second time.
  const render::Encrypt encrypt =
      encryption(opened, loaded, derived, directory_of(blueprint_file), request, context);
  if (context.sink.has_errors()) return {};
  if (encrypt) cluster.encrypt = &encrypt;
  Manifests out = write_once(opened, loaded, cluster, request, context.into(findings));
  if (context.sink.has_errors()) return out;
  take(std::move(findings), opened, loaded, request, context);
  const bool overridden = opened.blueprint.spec.get("overrides").size() > 0 && request.shadowed;
  if (context.sink.has_errors() || !(request.provenance || overridden)) return out;
  diag::Sink said;
  Manifests traced = trace(opened, loaded, request, context.into(said));
  if (request.provenance) return traced;
  render::report_shadowed(traced.rendered.documents, *traced.provenance, context);
  return out;
}

}  // namespace gpuctl::pipeline
