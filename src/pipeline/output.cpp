#include "pipeline/output.hpp"

#include <utility>

#include "base/stages.hpp"
#include "pipeline/codes.hpp"
#include "pipeline/encryption.hpp"
#include "pipeline/version.hpp"
#include "secrets/codes.hpp"
#include "secrets/fields.hpp"
#include "secrets/reference.hpp"

namespace gpuctl::pipeline {

namespace {

// Documents that would hold a secret in clear: never in Git, and elsewhere only on demand.
void report_left_out(const render::Rendered& rendered, const Request& request, diag::Sink& sink) {
  for (const render::Private& one : rendered.left_out) {
    if (request.install_dir.empty()) {
      sink.error(kSecretInClear, one.reference, one.title + " would hold its secret in clear")
          .label("only for `render --install-dir`")
          .expect("`externalSecret`, `sealedSecret` or `existing`")
          .suggest("what goes to Git names a secret or holds it encrypted")
          .suggest("or let gpuctl encrypt it: `gitops.secrets`, with `sops` or `sealedSecrets`")
          .suggest(
              "a cluster without Git: `gpuctl render --install-dir DIR` writes it to a private "
              "directory");
    } else {
      sink.note(kLeftOutOfGit, one.reference, one.title + " is not among the manifests")
          .label("holds a secret in clear")
          .suggest(
              "it is in the private directory: create it in the cluster yourself; `validate` and "
              "`apply` refuse this reference");
    }
  }
}

std::vector<SecretFile> secret_files(const Compiled& compiled, const render::Cluster& cluster,
                                     const std::string& directory, const Request& request,
                                     yaml::Context context) {
  const auto& [sources, arena, sink] = context;
  const compose::ResolveSecret resolve = [&](const yaml::Node& reference,
                                             std::string_view checked_as) {
    return resolve_secret(reference, checked_as, directory, compiled, context);
  };
  const std::vector<render::Document> documents =
      render::render_secret(*compiled.templates, cluster, resolve, context);
  if (sink.has_errors()) return {};
  // Messages about a value that breaks its schema would quote it.
  diag::Sink hidden;
  verify(documents, compiled, cluster, false, request, context.into(hidden));
  if (hidden.has_errors()) {
    sink.error(secrets::kSecretUnavailable, diag::kNoOrigin,
               "a document does not pass its checks once the secrets are in place")
        .suggest("check the referenced secrets: a pull secret is one JSON object with `auths`");
    return {};
  }
  std::vector<SecretFile> out;
  for (const render::Document& document : documents) {
    const std::size_t slash = document.path.rfind('/');
    const std::size_t name = slash == std::string::npos ? 0 : slash + 1;
    out.push_back(
        {cluster.blueprint.name + "/" + document.path.substr(name), render::bytes(document)});
  }
  return out;
}

// What templates and overrides made of the inputs, and what the lock says.
void search(const Manifests& manifests, const std::vector<derive::Choice>& choices,
            const plan::ClusterFiles& files, secrets::Guard& guard, yaml::Context context) {
  const base::StageScope searching(base::Stage::secrets);
  const auto& [sources, arena, sink] = context;
  for (const render::Document& document : manifests.rendered.documents) {
    if (document.pending) continue;  // it is not what will be committed, and holds no secret
    guard.check_output(document.body, secrets::subject_of(document.body),
                       files.directory + "/" + document.path, files.files.at(document.path),
                       sources, sink, document.digest);
  }
  for (const derive::Choice& choice : choices) {
    guard.check_output(choice.value, choice.path + ":",
                       files.directory + "/" + std::string(plan::kLockFile), "", sources, sink);
  }
  // What waits for a fact may need an exception later.
  if (manifests.rendered.withheld.empty()) guard.report_idle(sink);
}

}  // namespace

std::optional<Output> assemble(const Opened& opened, Loaded& loaded, const derive::Derived& derived,
                               const Manifests& manifests, const std::string& directory,
                               const Request& request, const std::string& knowledge_digest,
                               yaml::Context context) {
  const base::StageScope assembling(base::Stage::assemble);
  const blueprint::Blueprint& blueprint = opened.blueprint;
  report_left_out(manifests.rendered, request, context.sink);
  Output out;
  if (!request.install_dir.empty()) {
    render::Cluster cluster = cluster_of(opened, loaded, derived);
    const render::Encrypt elsewhere;
    if (encrypts(derived)) cluster.encrypt = &elsewhere;
    out.secret_files = secret_files(*opened.compiled, cluster, directory, request, context);
  }
  plan::Lock lock;
  lock.tool = kVersion;
  lock.catalog = knowledge_digest;
  lock.choices = derived.choices;
  lock.names = derived.names;
  out.files = plan::assemble(manifests.rendered, blueprint.stage, blueprint.name, std::move(lock));
  search(manifests, derived.choices, out.files, loaded.guard, context);
  if (context.sink.has_errors()) return std::nullopt;
  return out;
}

}  // namespace gpuctl::pipeline
