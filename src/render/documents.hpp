// From templates and a derived cluster to documents.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/digest.hpp"
#include "derive/derive.hpp"
#include "render/template.hpp"
#include "yaml/context.hpp"

namespace gpuctl::render {

/// A secret that a document is to hold: a text that stands for it in the document, which names its
/// reference.
struct Held {
  std::string stand_in;
  yaml::Node reference;
  std::string checked_as;  // see compose::ResolveSecret
};

/// A rendered document. Raw ones are no Kubernetes objects; a string node is written as it is.
struct Document {
  std::string path;  // below the cluster's directory: "layers/20-machines/machineset-....yaml"
  diag::Origin path_at = diag::kNoOrigin;  // where `output` says so
  std::string layer;                       // "20-machines", or empty
  std::string folder;                      // "management", or empty
  std::string pool;
  yaml::Node body;
  bool raw = false;
  const catalog::KindFacts* kind = nullptr;
  schema::KindRef schema_of;
  const Template* made_by = nullptr;
  const compose::Piece* body_of = nullptr;  // the compiled body it was made from
  diag::Origin origin = diag::kNoOrigin;
  diag::Origin patched_at = diag::kNoOrigin;  // the last override that changed it
  yaml::Node unpatched;                       // as it was before overrides, when there were any
  std::optional<base::Sha256> digest;         // of its content, when the run keeps a CleanRecord
  bool leaving = false;        // of the last commit, and kept for this one: see leaving.hpp
  std::vector<Held> held;      // while it is to be encrypted
  std::string encrypted = {};  // of one that was: what the lock says of it
  bool pending = false;        // stand-ins are in place of what will be encrypted
  bool authentic = false;      // encrypted as a whole: a changed field would break it
};

/// Makes of a document that would hold secrets what may be committed, in its place: it sets `body`,
/// `encrypted`, `pending` and `authentic`. False after diagnostics. See decision 43.
using Encrypt = std::function<bool(Document& document)>;

/// A document that waits for a fact.
struct Withheld {
  std::string template_name;
  std::string fact;  // "infraID"
  std::string obtain;
};

/// A document of a template with `private: true`: it would hold a secret, so it is among no others.
struct Private {
  std::string title;                         // "Secret `name`"
  diag::Origin reference = diag::kNoOrigin;  // of the secret, in the blueprint
};

/// A file of the last commit, as its lock has it.
struct CommittedFile {
  std::string path;  // below the cluster's directory
  std::string made_by;
  std::string pool;
  bool leaving = false;
};

/// What was committed last, of which some may have to leave in steps.
struct Committed {
  std::vector<CommittedFile> files;
  /// The content of one of them; nothing when it is absent.
  std::function<std::optional<std::string>(const std::string& path)> read;
  bool go_on = false;  // what is leaving goes with this commit
};

struct Rendered {
  std::vector<Document> documents;
  std::vector<Withheld> withheld;
  std::vector<Private> left_out;
};

/// What rendering needs of one cluster.
struct Cluster {
  const blueprint::Blueprint& blueprint;
  const derive::Derived& derived;
  const yaml::Node& facts;
  /// That of the derivation: what documents carry are then marks of it. Or nullptr.
  cel::Provenance* provenance = nullptr;
  const Committed* committed = nullptr;  // absent: nothing was
  /// How documents of templates with `private: true` get into layers; absent: they do not.
  const Encrypt* encrypt = nullptr;
};

/// Reads an extra manifest relative to the blueprint and adds its documents (or reports).
struct ExtraManifest {
  std::string layer;
  std::string name;  // file name, for the output path
  std::vector<yaml::Node> documents;
};

/// Instantiates the templates, adds extra manifests, applies overrides, adds annotations of the
/// kinds and what has to leave in steps, then the index phase. Faults are diagnostics GPU04xx.
/// `resolve` empty: secrets are left out.
Rendered render(const Templates& templates, const Cluster& cluster,
                const std::vector<ExtraManifest>& extra, const compose::ResolveSecret& resolve,
                yaml::Context context);

/// Renders only the templates that hold secrets, with the secrets in place.
std::vector<Document> render_secret(const Templates& templates, const Cluster& cluster,
                                    const compose::ResolveSecret& resolve, yaml::Context context);

/// Instantiates the templates of a phase that belongs to no tree, `supplies` or `mirror`. `seen` is
/// what it sees besides what every template sees.
Rendered render_phase(const Templates& templates, Phase phase, const Cluster& cluster,
                      const yaml::Node& seen, yaml::Context context);

/// Dotted paths (no indexes) of fields that a committed document leaves out because they are
/// secrets.
std::vector<std::string> secret_paths(const Document& document);

/// Sets the digest of every document.
void digest(std::vector<Document>& documents);

/// Where a document without a path of its own goes: "layers/20-machines/machineset-....yaml".
std::string path_of(const Document& document);

/// The bytes of a document's file.
std::string bytes(const Document& document);

}  // namespace gpuctl::render
