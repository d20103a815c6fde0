#include "render/documents.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "base/path_check.hpp"
#include "base/text.hpp"
#include "compose/body.hpp"
#include "render/codes.hpp"
#include "render/leaving.hpp"
#include "render/objects.hpp"
#include "render/origin.hpp"
#include "render/overrides.hpp"
#include "secrets/ciphertext.hpp"
#include "secrets/fields.hpp"
#include "secrets/mask.hpp"
#include "yaml/emit.hpp"
#include "yaml/packed.hpp"

namespace gpuctl::render {

namespace {

constexpr std::string_view kFactsPrefix = "facts.";

// What stands for a secret where it is not known: plans show it.
std::string stand_in(const yaml::Node& reference) {
  const std::string_view variable = reference.get("env").as_string();
  if (!variable.empty()) return "(encrypted from variable " + std::string(variable) + ")";
  return "(encrypted from file " + secrets::masked(reference.get("file").as_string()) + ")";
}

// Instantiates templates one after the other into `out_`.
class Renderer {
 public:
  Renderer(const Cluster& cluster, const compose::ResolveSecret& resolve, yaml::Context context,
           Rendered& out)
      : cluster_(cluster), resolve_(resolve), context_(context), out_(out) {}

  // `lists`: the values of `layers` and `folders`, for the index phase.
  void run(const Template& made_by, const std::vector<yaml::Node>& lists) {
    std::vector<cel::Value> values = inputs().values();
    for (const yaml::Node& list : lists) values.emplace_back(list);
    compose::Instance instance(context_.arena, resolve_, context_.sources, context_.sink,
                               cluster_.provenance);
    if (made_by.include_when) {
      const std::optional<cel::Value> include = instance.value(*made_by.include_when, values);
      if (!include) {
        fault(made_by, *instance.fault());
        return;
      }
      if (!include->is_node() || !include->node().as_boolean()) return;
    }
    content_ = made_by.content(context_.sink);
    if (content_ != nullptr) loop(made_by, 0, values);
  }

  /// Documents with stand-ins for secrets, among no others yet.
  std::vector<Document>& to_encrypt() { return to_encrypt_; }

 private:
  derive::Inputs inputs() const {
    if (const cel::Provenance* from = cluster_.provenance) {
      return {from->root("metadata"), from->root("spec"), from->root("cluster"),
              from->root("catalog"), from->root("facts")};
    }
    return {cluster_.blueprint.metadata, cluster_.blueprint.spec, cluster_.derived.cluster,
            cluster_.blueprint.platform->catalog, cluster_.facts};
  }

  void loop(const Template& made_by, std::size_t depth, std::vector<cel::Value>& values) {
    if (depth == content_->loops.size()) {
      const std::size_t count = values.size();
      document(made_by, values);
      values.resize(count);
      return;
    }
    compose::Instance instance(context_.arena, resolve_, context_.sources, context_.sink,
                               cluster_.provenance);
    const std::optional<cel::Value> list = instance.value(content_->loops[depth].list, values);
    if (!list) {
      fault(made_by, *instance.fault());
      return;
    }
    if (!list->is_node()) return;
    for (const yaml::Node& item : list->node().items()) {
      values.emplace_back(item);
      loop(made_by, depth + 1, values);
      values.pop_back();
    }
  }

  void document(const Template& made_by, std::vector<cel::Value>& values) {
    // A private document is made without its secrets, to know which one it is, or to encrypt it.
    std::vector<Held> held;
    const compose::ResolveSecret note = [&](const yaml::Node& written, std::string_view as) {
      held.push_back({stand_in(written), written, std::string(as)});
      return held.back().stand_in;
    };
    const bool left_out = made_by.is_private && !resolve_;
    compose::Instance instance(context_.arena, left_out ? note : resolve_, context_.sources,
                               context_.sink, cluster_.provenance);
    for (const Content::Local& local : content_->locals) {
      std::optional<cel::Value> made = instance.value(local.value, values);
      if (!made) {
        fault(made_by, *instance.fault());
        return;
      }
      values.push_back(std::move(*made));
    }
    Document document;
    document.made_by = &made_by;
    document.origin = made_by.origin;
    document.raw = made_by.raw;
    document.layer = made_by.layer;
    document.folder = made_by.folder;
    document.schema_of = made_by.schema_of;
    document.body_of = content_->body.get();
    if (content_->pool) {
      const std::optional<yaml::Node> pool = text(instance, made_by, *content_->pool, values);
      if (!pool) return;
      document.pool = pool->as_string();
    }
    if (content_->output) {
      const std::optional<yaml::Node> path = text(instance, made_by, *content_->output, values);
      if (!path) return;
      document.path = path->as_string();
      document.path_at = path->origin();
    }
    const std::size_t errors_before = context_.sink.error_count();
    const std::optional<yaml::Node> body = instance.make(*content_->body, values);
    if (instance.fault()) {
      fault(made_by, *instance.fault());
      return;
    }
    if (!body || context_.sink.error_count() != errors_before) return;
    document.body = *body;
    if (document.raw ? document.path.empty() : !identify(document)) return;
    if (left_out) return leave_out(std::move(document), std::move(held));
    out_.documents.push_back(std::move(document));
  }

  // What holds secrets is encrypted, or is no document of Git.
  void leave_out(Document document, std::vector<Held> held) {
    if (cluster_.encrypt != nullptr && !document.layer.empty()) {
      document.held = std::move(held);
      to_encrypt_.push_back(std::move(document));
      return;
    }
    const diag::Origin reference =
        held.empty() ? diag::kNoOrigin : secrets::place_of_secret(held.back().reference);
    const std::string kind(document.body.get("kind").as_string());
    const std::string name(document.body.get({"metadata", "name"}).as_string());
    out_.left_out.push_back({kind + " `" + name + "`", reference});
  }

  // The string that a text gives; nothing after a fault.
  std::optional<yaml::Node> text(compose::Instance& instance, const Template& made_by,
                                 const cel::Text& text, const std::vector<cel::Value>& values) {
    const std::optional<cel::Value> made = instance.value(text, values);
    if (!made) {
      fault(made_by, *instance.fault());
      return std::nullopt;
    }
    return made->is_node() ? instance.placed(made->node(), text.scalar.origin()) : yaml::Node();
  }

  // Checks that the document is an object of a known kind.
  bool identify(Document& document) {
    const yaml::Node& body = document.body;
    const std::string_view kind = body.get("kind").as_string();
    const std::string_view name = body.get({"metadata", "name"}).as_string();
    if (kind.empty() || name.empty() || body.get("apiVersion").as_string().empty()) {
      context_.sink.error(kFaultyDocument, document.origin, "the document is no object")
          .expect("apiVersion, kind and metadata.name");
      return false;
    }
    document.kind = cluster_.blueprint.platform->kind(body.get("apiVersion").as_string(), kind);
    if (document.kind == nullptr) {
      context_.sink
          .error(kUnknownKind, body.get("kind").origin(),
                 "no facts about kind `" + std::string(kind) + "` (" +
                     std::string(body.get("apiVersion").as_string()) + ")")
          .suggest("add a row to a `kinds.yaml`");
      return false;
    }
    return true;
  }

  void fault(const Template& made_by, const compose::Fault& fault) {
    if (fault.error.path.starts_with(kFactsPrefix)) {
      Withheld withheld;
      withheld.template_name = made_by.path;
      withheld.fact = fault.error.path.substr(kFactsPrefix.size());
      // The nearest schema above that says where the fact comes from.
      for (std::string at = withheld.fact; withheld.obtain.empty() && !at.empty();) {
        const schema::Schema* schema = schema::at(*cluster_.blueprint.platform->facts, at);
        if (schema != nullptr) {
          withheld.obtain = schema::definition(*schema).get("x-gpuctl-obtain").as_string();
        }
        const std::size_t dot = at.rfind('.');
        at = dot == std::string::npos ? "" : at.substr(0, dot);
      }
      out_.withheld.push_back(std::move(withheld));
      return;
    }
    diag::Diagnostic& diagnostic =
        cel::report(fault.error, fault.at, context_.sources, context_.sink);
    diagnostic.note("in template `" + made_by.path + "`");
    if (cluster_.provenance != nullptr) {
      add_sources(*cluster_.provenance, fault.evaluation, context_.sources, diagnostic);
    }
  }

  const Cluster& cluster_;
  const compose::ResolveSecret& resolve_;
  yaml::Context context_;
  Rendered& out_;
  const Content* content_ = nullptr;  // of the template at work
  std::vector<Document> to_encrypt_;
};

std::string file_name(const Document& document) {
  const yaml::Node& body = document.body;
  std::string name = base::to_lower(body.get("kind").as_string());
  const std::string_view space = body.get({"metadata", "namespace"}).as_string();
  if (!space.empty()) name += "-" + std::string(space);
  name += "-" + std::string(body.get({"metadata", "name"}).as_string());
  for (char& c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    if (!plain) c = '-';
  }
  return name + ".yaml";
}

// Annotations that the kind wants on every object; what a template or patch wrote wins.
yaml::Node annotated(const Document& document, yaml::Arena& arena) {
  if (document.kind == nullptr || document.kind->annotations.is_null()) return document.body;
  // What is encrypted already is authenticated as a whole.
  if (secrets::is_sops_object(document.body)) return document.body;
  const yaml::Node metadata = document.body.get("metadata");
  yaml::MapBuilder annotations(metadata.get("annotations"));
  for (const yaml::Entry& entry : document.kind->annotations.entries()) {
    if (annotations.find(entry.key.as_string()) == nullptr) {
      annotations.set(entry.key, entry.value);
    }
  }
  yaml::MapBuilder new_metadata(metadata);
  new_metadata.set(arena, "annotations",
                   annotations.build(arena, document.kind->annotations.origin()));
  yaml::MapBuilder body(document.body);
  body.set(arena, "metadata", new_metadata.build(arena, metadata.origin()));
  return body.build(arena, document.body.origin());
}

// Paths and objects must be unique, namespaced objects need their namespace.
void check_documents(std::vector<Document>& documents, std::size_t from, diag::Sink& sink) {
  std::map<std::string, diag::Origin> paths;
  std::map<std::string, diag::Origin> objects;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    Document& document = documents[i];
    if (document.path.empty()) document.path = path_of(document);
    const diag::Origin at =
        document.path_at != diag::kNoOrigin ? document.path_at : document.origin;
    const auto [first, added] = paths.emplace(document.path, at);
    if (i < from) continue;
    if (const std::string reason = base::unsafe_path_reason(document.path); !reason.empty()) {
      sink.error(kUnsafePath, at, "output path `" + document.path + "` " + reason)
          .expect("a path below the cluster's directory");
    }
    if (!added) {
      sink.error(kDuplicateDocument, at, "a second document for `" + document.path + "`")
          .also(first->second, "first made here");
      continue;
    }
    if (document.raw) continue;
    const yaml::Node& body = document.body;
    const std::string_view space = body.get({"metadata", "namespace"}).as_string();
    if (document.kind != nullptr && document.kind->namespaced && space.empty()) {
      const bool patched = document.patched_at != diag::kNoOrigin;
      sink.error(kFaultyDocument, patched ? document.patched_at : document.origin,
                 "`" + document.path + "` needs `metadata.namespace`");
    }
    if (document.layer.empty() && document.folder.empty()) continue;
    // A folder beside the layers is for another cluster, which may have an object of the same name.
    const std::string object = (document.folder.empty() ? "" : document.folder + ": ") +
                               std::string(body.get("apiVersion").as_string()) + " " +
                               std::string(body.get("kind").as_string()) + " " +
                               std::string(space) + "/" +
                               std::string(body.get({"metadata", "name"}).as_string());
    const auto [same, fresh] = objects.emplace(object, document.origin);
    if (!fresh) {
      sink.error(kDuplicateDocument, document.origin, "a second document for " + object)
          .also(same->second, "first made here");
    }
  }
}

// The variable `layers` of the index phase, or `folders`: what each of them holds. `name_of` is the
// member of a document that names its layer or folder; in those of `emptied` there is none.
yaml::Node describe(const std::vector<Document>& documents, std::string Document::*name_of,
                    const std::set<std::string>& emptied, yaml::Arena& arena) {
  std::map<std::string, std::vector<const Document*>> by_name;
  for (const std::string& name : emptied) by_name[name];
  for (const Document& document : documents) {
    if (!(document.*name_of).empty()) by_name[document.*name_of].push_back(&document);
  }
  const auto string = [&](std::string_view text) { return arena.string(text); };
  std::vector<yaml::Node> described;
  for (auto& [name, members] : by_name) {
    std::sort(members.begin(), members.end(),
              [](const Document* a, const Document* b) { return a->path < b->path; });
    std::vector<yaml::Node> files;
    std::vector<yaml::Node> objects;
    std::map<std::string, yaml::Node> kinds;
    for (const Document* member : members) {
      const std::string file = member->path.substr(member->path.rfind('/') + 1);
      files.push_back(string(file));
      yaml::MapBuilder object;
      object.set(arena, "apiVersion", string(member->body.get("apiVersion").as_string()));
      object.set(arena, "kind", string(member->body.get("kind").as_string()));
      object.set(arena, "namespace",
                 string(member->body.get({"metadata", "namespace"}).as_string()));
      object.set(arena, "name", string(member->body.get({"metadata", "name"}).as_string()));
      object.set(arena, "pool", string(member->pool));
      object.set(arena, "file", string(file));
      objects.push_back(object.build(arena));
      if (member->kind != nullptr) {
        kinds.emplace(member->kind->api_version + "/" + member->kind->kind, member->kind->row);
      }
    }
    std::vector<yaml::Node> rows;
    rows.reserve(kinds.size());
    for (const auto& [key, row] : kinds) rows.push_back(row);
    yaml::MapBuilder one;
    one.set(arena, "name", string(name));
    one.set(arena, "files", arena.list(files));
    one.set(arena, "kinds", arena.list(rows));
    one.set(arena, "objects", arena.list(objects));
    described.push_back(one.build(arena));
  }
  return arena.list(described);
}

std::set<std::string> pool_names(const derive::Derived& derived) {
  std::set<std::string> out;
  for (const std::string_view kind : {"gpuPools", "machinePools"}) {
    for (const yaml::Node& pool : derived.cluster.get(kind).items()) {
      out.emplace(pool.get("name").as_string());
    }
  }
  return out;
}

void add_extra(const std::vector<ExtraManifest>& extra, const catalog::Platform& platform,
               Rendered& out) {
  for (const ExtraManifest& manifest : extra) {
    for (const yaml::Node& body : manifest.documents) {
      Document document;
      document.layer = manifest.layer;
      document.body = body;
      document.origin = body.origin();
      document.kind =
          platform.kind(body.get("apiVersion").as_string(), body.get("kind").as_string());
      out.documents.push_back(std::move(document));
    }
  }
}

// Encrypts documents whose secrets are stand-ins, after their overrides. Those that nothing may
// change any more are given back, the others are added to `out`.
std::vector<Document> encrypt(std::vector<Document>& documents, const Cluster& cluster,
                              Overrides& overrides, std::vector<Document>& out,
                              yaml::Context context) {
  std::vector<Document> authentic;
  if (documents.empty()) return authentic;
  const std::size_t errors_before = context.sink.error_count();
  for (Document& document : documents) document.body = annotated(document, context.arena);
  overrides.apply(documents, context.sink);
  check_objects(documents, *cluster.blueprint.platform, context.arena, context.sources,
                context.sink);
  if (context.sink.error_count() != errors_before) return authentic;
  for (Document& document : documents) {
    if (!(*cluster.encrypt)(document)) continue;
    document.held.clear();
    document.unpatched = {};
    document.kind = cluster.blueprint.platform->kind(document.body.get("apiVersion").as_string(),
                                                     document.body.get("kind").as_string());
    (document.authentic ? authentic : out).push_back(std::move(document));
  }
  return authentic;
}

}  // namespace

Rendered render(const Templates& templates, const Cluster& cluster,
                const std::vector<ExtraManifest>& extra, const compose::ResolveSecret& resolve,
                yaml::Context context) {
  Rendered out;
  const std::size_t errors_before = context.sink.error_count();
  Renderer renderer(cluster, resolve, context, out);
  for (const std::unique_ptr<const Template>& made_by : templates) {
    if (made_by->phase == Phase::documents) renderer.run(*made_by, {});
  }
  add_extra(extra, *cluster.blueprint.platform, out);
  if (context.sink.error_count() != errors_before) return out;
  const yaml::Node spec =
      cluster.provenance != nullptr ? cluster.provenance->root("spec") : cluster.blueprint.spec;
  Overrides overrides(spec.get("overrides"), context.arena);
  std::vector<Document> authentic =
      encrypt(renderer.to_encrypt(), cluster, overrides, out.documents, context);
  if (context.sink.error_count() != errors_before) return out;
  for (Document& document : out.documents) {
    if (!document.raw) document.body = annotated(document, context.arena);
  }
  overrides.apply(out.documents, context.sink);
  std::move(authentic.begin(), authentic.end(), std::back_inserter(out.documents));
  const NoMatch no_match =
      out.withheld.empty() && out.left_out.empty() ? NoMatch::error : NoMatch::warning;
  overrides.report_unmatched(out.documents, true, no_match, context.sink);
  check_objects(out.documents, *cluster.blueprint.platform, context.arena, context.sources,
                context.sink);
  if (context.sink.error_count() != errors_before) return out;
  check_documents(out.documents, 0, context.sink);
  if (context.sink.error_count() != errors_before) return out;
  std::set<std::string> emptied;
  if (cluster.committed != nullptr) {
    add_leaving(*cluster.committed, *cluster.blueprint.platform, pool_names(cluster.derived), out,
                context.arena);
    emptied = emptied_layers(*cluster.committed, out);
  }
  const std::size_t documents = out.documents.size();
  const std::vector<yaml::Node> lists = {
      describe(out.documents, &Document::layer, emptied, context.arena),
      describe(out.documents, &Document::folder, {}, context.arena)};
  for (const std::unique_ptr<const Template>& made_by : templates) {
    if (made_by->phase == Phase::index) renderer.run(*made_by, lists);
  }
  const std::span<Document> indexes = std::span(out.documents).subspan(documents);
  for (Document& document : indexes) {
    if (!document.raw) document.body = annotated(document, context.arena);
    document.leaving = emptied.contains(layer_of(document.path));
  }
  overrides.apply(indexes, context.sink);
  overrides.report_unmatched(out.documents, false, no_match, context.sink);
  check_objects(indexes, *cluster.blueprint.platform, context.arena, context.sources, context.sink);
  if (context.sink.error_count() != errors_before) return out;
  check_documents(out.documents, documents, context.sink);
  return out;
}

std::vector<Document> render_secret(const Templates& templates, const Cluster& cluster,
                                    const compose::ResolveSecret& resolve, yaml::Context context) {
  Rendered out;
  Renderer renderer(cluster, resolve, context, out);
  for (const std::unique_ptr<const Template>& made_by : templates) {
    const Content* content =
        made_by->phase == Phase::documents ? made_by->content(context.sink) : nullptr;
    // What is encrypted for Git needs nobody who creates it.
    if (made_by->is_private && cluster.encrypt != nullptr) continue;
    if (content != nullptr && content->body->has_secret) renderer.run(*made_by, {});
  }
  for (Document& document : out.documents) {
    if (document.path.empty()) document.path = file_name(document);
  }
  // The others have been reported when everything was rendered.
  apply_overrides(cluster.blueprint.spec.get("overrides"), out.documents, NoMatch::ignore,
                  context.arena, context.sink);
  return std::move(out.documents);
}

Rendered render_phase(const Templates& templates, Phase phase, const Cluster& cluster,
                      const yaml::Node& seen, yaml::Context context) {
  Rendered out;
  const compose::ResolveSecret no_secrets;
  Renderer renderer(cluster, no_secrets, context, out);
  for (const std::unique_ptr<const Template>& made_by : templates) {
    if (made_by->phase == phase) renderer.run(*made_by, {seen});
  }
  return out;
}

std::vector<std::string> secret_paths(const Document& document) {
  return document.body_of == nullptr ? std::vector<std::string>()
                                     : compose::secret_paths(*document.body_of);
}

void digest(std::vector<Document>& documents) {
  std::string content;
  for (Document& document : documents) {
    content.clear();
    yaml::pack_content(content, document.body);
    document.digest = base::sha256(content);
  }
}

std::string path_of(const Document& document) {
  const std::string folder = document.folder.empty() ? "layers/" + document.layer : document.folder;
  return folder + "/" + file_name(document);
}

std::string bytes(const Document& document) {
  if (document.body.is_string()) return std::string(document.body.as_string());
  return yaml::emit(document.body);
}

}  // namespace gpuctl::render
