#include "importer/attempt.hpp"

#include <algorithm>

#include "imports/absent.hpp"
#include "imports/difference.hpp"
#include "imports/tidy.hpp"
#include "render/overrides.hpp"
#include "yaml/emit.hpp"

namespace gpuctl::importer {

namespace {

using imports::Object;
using yaml::Node;

// A blueprint whose values break its schema in more places than this is not mended.
constexpr int kMostRepairs = 40;

// The blueprint without a value, or, when just that is missing, without what misses it.
Node mended_at(const Node& blueprint, std::string path, yaml::Arena& arena) {
  while (path.find('.') != std::string::npos) {
    const Node out = imports::without(blueprint, path, arena);
    if (!yaml::equal(out, blueprint)) return out;
    path.erase(path.find_last_of(".["));
  }
  return blueprint;
}

// The name by which a document finds its object: rows may know which it is (`found.pairs`).
std::string name_to_pair(const imports::Proposal& proposal, const schema::KindRef& kind,
                         std::string name) {
  for (const Node& pair : proposal.found.get("pairs").items()) {
    if (pair.get("kind").as_string() == kind.kind && pair.get("document").as_string() == name) {
      return std::string(pair.get("object").as_string());
    }
  }
  return name;
}

// A manifest without a namespace takes the one of whoever applies it; in Git it has to have one.
Node with_namespace(const Node& patch, yaml::Arena& arena) {
  const Node metadata = patch.get("metadata");
  const Node* space = metadata.find("namespace");
  if (space == nullptr || !space->is_null()) return patch;
  yaml::MapBuilder kept(metadata);
  kept.remove("namespace");
  yaml::MapBuilder out(patch);
  if (kept.empty()) {
    out.remove("metadata");
  } else {
    out.set(arena, "metadata", kept.build(arena));
  }
  return out.build(arena);
}

}  // namespace

std::string name_in(const Node& blueprint) {
  const std::string name(blueprint.get({"metadata", "name"}).as_string());
  return name.empty() ? "imported" : name;
}

imports::Proposal Attempts::propose(const std::string& release) {
  std::vector<Node> documents;
  for (const Object& object : context_.objects) {
    if (!object.twin) documents.push_back(read(object, release));
  }
  imports::Proposal proposal = context_.mapping.propose(arena_.list(documents), release, arena_);
  if (proposal.release.empty()) proposal.release = release;
  return proposal;
}

Node Attempts::read(const Object& object, const std::string& release) {
  return imports::read(object, release, *context_.platform.documents, context_.sources, arena_);
}

std::optional<imports::LeftOut> Attempts::left_out(const Object& object,
                                                   const imports::Proposal& proposal) {
  return context_.mapping.left_out(read(object, proposal.release), proposal, arena_);
}

Node Attempts::with_additions(const Node& blueprint, const Additions& additions) {
  yaml::MapBuilder spec(blueprint.get("spec"));
  std::vector<Node> items;
  for (const Override& one : additions.overrides) items.push_back(one.item);
  if (!items.empty()) spec.set(arena_, "overrides", arena_.list(items));
  items.clear();
  for (const Manifest& manifest : additions.manifests) {
    yaml::MapBuilder item;
    item.set(arena_, "layer", arena_.string(manifest.layer));
    item.set(arena_, "path", arena_.string(manifest.path));
    items.push_back(item.build(arena_));
  }
  if (!items.empty()) spec.set(arena_, "extraManifests", arena_.list(items));
  yaml::MapBuilder out(blueprint);
  out.set(arena_, "spec", spec.build(arena_));
  return out.build(arena_);
}

void Attempts::render(Attempt& attempt, const Additions& additions) {
  const std::string file = context_.directory + name_in(attempt.blueprint) + ".yaml";
  attempt.files.clear();
  attempt.files[file] = yaml::emit(attempt.blueprint);
  if (attempt.proposal.facts.size() != 0) {
    yaml::MapBuilder facts;
    facts.set(arena_, "apiVersion", attempt.blueprint.get("apiVersion"));
    facts.set(arena_, "kind", arena_.string("Facts"));
    facts.set(arena_, "metadata", attempt.blueprint.get("metadata"));
    facts.set(arena_, "spec", attempt.proposal.facts);
    attempt.files[pipeline::facts_beside(file)] = yaml::emit(facts.build(arena_));
  }
  for (const Manifest& manifest : additions.manifests) {
    attempt.files[context_.directory + manifest.path] = manifest.text;
  }
  pipeline::Request request{.date = context_.date};
  request.given = attempt.files;
  request.despite_rules = true;
  request.shadowed = false;
  attempt.result = pipeline::run(file, request, context_.knowledge);
}

void Attempts::find_shadowed(Attempt& attempt) {
  if (attempt.blueprint.get({"spec", "overrides"}).size() == 0 || attempt.errors() > 0) return;
  pipeline::Request request{.date = context_.date};
  request.given = attempt.files;
  const std::string file = context_.directory + name_in(attempt.blueprint) + ".yaml";
  attempt.result = pipeline::run(file, request, context_.knowledge);
  attempt.made.clear();
  attempt.document.clear();
  compare(attempt);
}

Attempt Attempts::make(imports::Proposal proposal, const Additions& additions) {
  Attempt out;
  const schema::Schema& schema = *context_.platform.platform->blueprint;
  out.blueprint =
      with_additions(imports::without_defaults(schema, proposal.blueprint, arena_), additions);
  out.proposal = std::move(proposal);
  render(out, additions);
  // Values that the manifests have and a blueprint cannot: without them the rest can be rendered,
  // and the comparison shows what they were.
  for (int i = 0; i < kMostRepairs && !out.result.opened; ++i) {
    Node mended = out.blueprint;
    for (const diag::Diagnostic& finding : out.result.sink.all()) {
      if (finding.severity == diag::Severity::error) {
        mended = mended_at(mended, finding.path, arena_);
      }
    }
    if (yaml::equal(mended, out.blueprint)) break;
    out.blueprint = mended;
    render(out, additions);
  }
  compare(out);
  return out;
}

void Attempts::compare(Attempt& attempt) {
  const std::vector<render::Document>& documents = attempt.result.rendered().documents;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const render::Document& document = documents[i];
    imports::Made made;
    made.kind = document.raw ? document.schema_of : schema::KindRef::of(document.body);
    if (made.kind.empty()) continue;
    made.name = name_to_pair(attempt.proposal, made.kind, imports::name_of(document.body));
    made.body = document.body;
    made.only_by_name =
        document.made_by != nullptr && document.made_by->phase == render::Phase::index;
    if (document.kind != nullptr) made.identity = document.kind->row.get("identity").as_string();
    attempt.made.push_back(std::move(made));
    attempt.document.push_back(i);
  }
  attempt.pairs = imports::pair_up(context_.objects, attempt.made, [&](std::size_t object) {
    return left_out(context_.objects[object], attempt.proposal).has_value();
  });
  // Documents of others leave much to the defaults of their readers, which says nothing of a
  // release: what they say counts, and which documents are just alike.
  constexpr std::size_t kMissing = 20'000;
  constexpr std::size_t kUnlike = 5'000;
  constexpr std::size_t kOther = 1'000;
  attempt.score = (context_.objects.size() - attempt.pairs.size()) * kMissing;
  for (const diag::Diagnostic& finding : attempt.result.sink.all()) {
    if (finding.severity == diag::Severity::error) attempt.score += kUnlike;
    if (finding.severity == diag::Severity::warning) ++attempt.score;
  }
  for (const imports::Pair& pair : attempt.pairs) {
    if (alike(attempt, pair)) continue;
    attempt.score += kUnlike;
    for (const imports::Difference& difference :
         imports::differences(wanted(attempt, pair), attempt.made[pair.made].body)) {
      if (!difference.wanted.is_null()) attempt.score += kOther;
    }
  }
}

std::vector<imports::Ignored> Attempts::ignored(const Attempt& attempt, const imports::Pair& pair) {
  const Object& object = context_.objects[pair.object];
  std::vector<imports::Ignored> out =
      context_.mapping.ignored(read(object, attempt.proposal.release), attempt.proposal, arena_);
  std::erase_if(out, [&](const imports::Ignored& one) {
    return yaml::equal(imports::without(object.written, one.path, arena_), object.written) ||
           !yaml::equal(imports::without(attempt.made[pair.made].body, one.path, arena_),
                        attempt.made[pair.made].body);
  });
  return out;
}

std::vector<imports::Ignored> Attempts::kept(const Attempt& attempt, std::size_t object) {
  const std::string& release = attempt.proposal.release;
  return context_.mapping.kept(read(context_.objects[object], release), attempt.proposal, arena_);
}

Node Attempts::placed(const Attempt& attempt, std::size_t object) {
  const Node& written = context_.objects[object].written;
  const Node metadata = written.get("metadata");
  if (!metadata.is_map() || !metadata.get("namespace").is_null()) return written;
  const std::string space = context_.mapping.namespace_of(
      read(context_.objects[object], attempt.proposal.release), attempt.proposal, arena_);
  if (space.empty()) return written;
  yaml::MapBuilder placed(metadata);
  placed.set(arena_, "namespace", arena_.string(space));
  yaml::MapBuilder out(written);
  out.set(arena_, "metadata", placed.build(arena_));
  return out.build(arena_, written.origin());
}

Node Attempts::without_secrets(const Attempt& attempt, const imports::Pair& pair) {
  Node out = context_.objects[pair.object].written;
  for (const std::string& secret : render::secret_paths(attempt.document_of(pair))) {
    out = imports::without_field(out, secret, arena_);
  }
  return out;
}

Node Attempts::wanted(const Attempt& attempt, const imports::Pair& pair,
                      std::vector<std::string>* restated) {
  Node out = without_secrets(attempt, pair);
  for (const imports::Ignored& one : ignored(attempt, pair)) {
    out = imports::without(out, one.path, arena_);
  }
  const Node& made = attempt.made[pair.made].body;
  const Node metadata = out.get("metadata");
  const Node space = made.get({"metadata", "namespace"});
  if (metadata.is_map() && metadata.get("namespace").is_null() && space.is_string()) {
    yaml::MapBuilder placed(metadata);
    placed.set(arena_, "namespace", space);
    yaml::MapBuilder with(out);
    with.set(arena_, "metadata", placed.build(arena_));
    out = with.build(arena_, out.origin());
    if (restated != nullptr) restated->emplace_back("metadata.namespace");
  }
  const Node document = read(context_.objects[pair.object], attempt.proposal.release);
  return imports::without_restated(context_.mapping.absent(document, attempt.proposal, arena_), out,
                                   made, arena_, restated);
}

Node Attempts::completed(const Attempt& attempt, const Node& document) {
  return imports::completed(document, attempt.proposal.release, *context_.platform.documents,
                            context_.sources, arena_);
}

bool Attempts::alike(const Attempt& attempt, const Node& wanted, const Node& made) {
  return imports::differences(wanted, made).empty() ||
         imports::differences(completed(attempt, wanted), completed(attempt, made)).empty();
}

bool Attempts::alike(const Attempt& attempt, const imports::Pair& pair) {
  return alike(attempt, wanted(attempt, pair), attempt.made[pair.made].body);
}

std::vector<imports::Difference> Attempts::remaining(const Attempt& attempt,
                                                     const imports::Pair& pair) {
  const Node object = wanted(attempt, pair);
  const Node& body = attempt.made[pair.made].body;
  std::vector<imports::Difference> out = imports::differences(object, body);
  const std::vector<imports::Difference> read =
      imports::differences(completed(attempt, object), completed(attempt, body));
  const auto filled_in = [&](const imports::Difference& difference) {
    return difference.wanted.is_null() &&
           std::none_of(read.begin(), read.end(), [&](const imports::Difference& other) {
             return other.path.starts_with(difference.path) ||
                    difference.path.starts_with(other.path);
           });
  };
  if (!std::all_of(out.begin(), out.end(), filled_in)) std::erase_if(out, filled_in);
  return out;
}

Node Attempts::merge_patch(const Attempt& attempt, const Node& object, const Node& body) {
  yaml::MapBuilder patch(
      imports::patch_between(completed(attempt, object), completed(attempt, body), arena_));
  // A field at the top that neither has is a reader's own view of others, which nobody can set.
  const std::vector<yaml::Entry> fields(patch.entries().begin(), patch.entries().end());
  for (const yaml::Entry& field : fields) {
    const std::string_view key = field.key.as_string();
    if (object.find(key) == nullptr && body.find(key) == nullptr) patch.remove(key);
  }
  const Node needed = with_namespace(patch.build(arena_), arena_);
  if (alike(attempt, object, yaml::merge_patch(body, needed, arena_))) return needed;
  return with_namespace(imports::patch_between(object, body, arena_), arena_);
}

imports::SplitPatch Attempts::patch(const Attempt& attempt, const imports::Pair& pair) {
  const Node object = wanted(attempt, pair);
  const Node& body = attempt.made[pair.made].body;
  const Node whole = merge_patch(attempt, object, body);
  const imports::SplitPatch split =
      imports::split_lists(imports::as_written(whole, object, arena_), body, arena_);
  if (!split.operations.is_null()) {
    yaml::PatchBudget budget;
    diag::Sink faults;
    const auto patched = render::json_patch(body, split.operations, arena_, budget, faults);
    // Where operations alone do it, there is nothing to merge: null would replace the document.
    const auto merged = [&](const Node& tree) {
      return split.merge.is_map() ? yaml::merge_patch(tree, split.merge, arena_) : tree;
    };
    if (patched && alike(attempt, object, merged(*patched))) return split;
  }
  return {Node(), whole};
}

}  // namespace gpuctl::importer
