#include "cli/import_draft.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "imports/difference.hpp"
#include "imports/tidy.hpp"
#include "render/overrides.hpp"
#include "yaml/emit.hpp"
#include "yaml/path.hpp"

namespace gpuctl::cli {

namespace {

using imports::Object;
using yaml::Node;

// A blueprint whose values break its schema in more places than this is not mended.
constexpr int kMostRepairs = 40;
// Layer of manifests whose place says none: after all that gpuctl renders.
constexpr std::string_view kOwnLayer = "90-imported";

// An override that brings a document back to its object.
struct Override {
  std::size_t object = 0;
  Node item;  // {target, patch}; null: another one covers the object, too
  Node patch;
};

// A manifest that is kept as it is.
struct Manifest {
  std::size_t object = 0;
  std::string layer;
  std::string path;  // relative to the blueprint
  std::string text;
};

// One rendering of a proposal.
struct Attempt {
  imports::Proposal proposal;
  Node blueprint;
  Result result;
  std::vector<imports::Made> made;
  std::vector<std::size_t> document;  // of `made`: position in the rendered documents
  std::vector<imports::Pair> pairs;
  std::size_t score = 0;  // the lower, the more alike
};

// A regular expression for just this text.
std::string exactly(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_';
    if (!plain) out += '\\';
    out += c;
  }
  return out;
}

std::string name_of(const Node& body) {
  const std::string space(body.get({"metadata", "namespace"}).as_string());
  return (space.empty() ? "" : space + "/") +
         std::string(body.get({"metadata", "name"}).as_string());
}

class Drafting {
 public:
  explicit Drafting(const ImportContext& context) : context_(context), arena_(context.arena) {}

  Draft run() {
    Attempt best = choose();
    Draft draft;
    draft.assumptions = best.proposal.assumptions;
    find_manifests(best, draft);
    find_overrides(best);
    errors_ = best.result.sink.error_count();
    for (const diag::Diagnostic& finding : best.result.sink.all()) known_.insert(finding.message);
    Attempt last =
        overrides_.empty() && manifests_.empty() ? std::move(best) : attempt(best.proposal);
    if (last.result.sink.error_count() > errors_) last = without_refused(last.proposal);
    finish(last, draft);
    return draft;
  }

 private:
  // The attempt with the fewest differences, over all releases that come into question.
  Attempt choose() {
    const std::string newest = context_.releases.empty() ? "" : context_.releases.back();
    imports::Proposal first = propose(newest);
    if (context_.releases.size() < 2) return attempt(std::move(first));
    if (first.release != newest) return attempt(propose(first.release));
    std::optional<Attempt> best;
    for (auto release = context_.releases.rbegin(); release != context_.releases.rend();
         ++release) {
      Attempt next = attempt(propose(*release));
      if (!best || next.score < best->score) best = std::move(next);
    }
    return std::move(*best);
  }

  imports::Proposal propose(const std::string& release) {
    std::vector<Node> documents;
    for (const Object& object : context_.objects) {
      if (!object.twin) documents.push_back(read(object, release));
    }
    imports::Proposal proposal = context_.mapping.propose(arena_.list(documents), release, arena_);
    if (proposal.release.empty()) proposal.release = release;
    return proposal;
  }

  Node read(const Object& object, const std::string& release) {
    return imports::read(object, release, *context_.platform.documents, context_.sources, arena_);
  }

  std::optional<imports::LeftOut> left_out(const Object& object,
                                           const imports::Proposal& proposal) {
    return context_.mapping.left_out(read(object, proposal.release), proposal, arena_);
  }

  Node with_additions(const Node& blueprint) {
    yaml::MapBuilder spec(blueprint.get("spec"));
    std::vector<Node> items;
    for (const Override& one : overrides_) items.push_back(one.item);
    if (!items.empty()) spec.set(arena_, "overrides", arena_.list(items));
    items.clear();
    for (const Manifest& manifest : manifests_) {
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

  std::string name_in(const Node& blueprint) const {
    const std::string name(blueprint.get({"metadata", "name"}).as_string());
    return name.empty() ? "imported" : name;
  }
  std::string file_of(const Node& blueprint) const {
    return context_.directory + name_in(blueprint) + ".yaml";
  }

  std::map<std::string, std::string> files_of(const Attempt& attempt) const {
    std::map<std::string, std::string> files;
    const std::string file = file_of(attempt.blueprint);
    files[file] = yaml::emit(attempt.blueprint);
    if (attempt.proposal.facts.size() != 0) {
      yaml::MapBuilder facts;
      facts.set(arena_, "apiVersion", attempt.blueprint.get("apiVersion"));
      facts.set(arena_, "kind", arena_.string("Facts"));
      facts.set(arena_, "metadata", attempt.blueprint.get("metadata"));
      facts.set(arena_, "spec", attempt.proposal.facts);
      files[facts_beside(file)] = yaml::emit(facts.build(arena_));
    }
    for (const Manifest& manifest : manifests_) {
      files[context_.directory + manifest.path] = manifest.text;
    }
    return files;
  }

  Result render(const Attempt& attempt) const {
    Request request;
    request.given = files_of(attempt);
    request.despite_rules = true;
    return cli::run(file_of(attempt.blueprint), request, context_.knowledge);
  }

  Attempt attempt(imports::Proposal proposal) {
    Attempt out;
    const schema::Schema& schema = *context_.platform.platform->blueprint;
    out.blueprint = with_additions(imports::without_defaults(schema, proposal.blueprint, arena_));
    out.proposal = std::move(proposal);
    out.result = render(out);
    // Values that the manifests have and a blueprint cannot: without them the rest can be rendered,
    // and the comparison shows what they were.
    for (int i = 0; i < kMostRepairs && !out.result.blueprint; ++i) {
      Node mended = out.blueprint;
      for (const diag::Diagnostic& finding : out.result.sink.all()) {
        if (finding.severity == diag::Severity::error) mended = mended_at(mended, finding.path);
      }
      if (yaml::equal(mended, out.blueprint)) break;
      out.blueprint = mended;
      out.result = render(out);
    }
    compare(out);
    return out;
  }

  // The blueprint without a value, or, when just that is missing, without what misses it.
  Node mended_at(const Node& blueprint, std::string path) {
    while (path.find('.') != std::string::npos) {
      const Node out = imports::without(blueprint, path, arena_);
      if (!yaml::equal(out, blueprint)) return out;
      path.erase(path.find_last_of(".["));
    }
    return blueprint;
  }

  // What somebody in the cluster writes into the object, unless the blueprint has it, too.
  std::vector<imports::Ignored> ignored_in(const Attempt& attempt, const imports::Pair& pair) {
    const Object& object = context_.objects[pair.object];
    std::vector<imports::Ignored> out =
        context_.mapping.ignored(read(object, attempt.proposal.release), attempt.proposal, arena_);
    std::erase_if(out, [&](const imports::Ignored& ignored) {
      return yaml::equal(imports::without(object.written, ignored.path, arena_), object.written) ||
             !yaml::equal(imports::without(attempt.made[pair.made].body, ignored.path, arena_),
                          attempt.made[pair.made].body);
    });
    return out;
  }

  // An object without what the document leaves to a secret.
  Node without_secrets(const Attempt& attempt, const imports::Pair& pair) {
    Node out = context_.objects[pair.object].written;
    const std::size_t document = attempt.document[pair.made];
    for (const std::string& secret :
         render::secret_paths(attempt.result.rendered.documents[document])) {
      out = imports::without_field(out, secret, arena_);
    }
    return out;
  }

  // An object as far as a committed document can, and need, be like it.
  Node wanted(const Attempt& attempt, const imports::Pair& pair) {
    Node out = without_secrets(attempt, pair);
    for (const imports::Ignored& ignored : ignored_in(attempt, pair)) {
      out = imports::without(out, ignored.path, arena_);
    }
    return out;
  }

  void compare(Attempt& attempt) {
    const std::vector<render::Document>& documents = attempt.result.rendered.documents;
    for (std::size_t i = 0; i < documents.size(); ++i) {
      const render::Document& document = documents[i];
      imports::Made made;
      made.kind = document.raw ? document.schema_of : schema::KindRef::of(document.body);
      if (made.kind.empty()) continue;
      made.name = name_of(document.body);
      made.body = document.body;
      made.only_by_name = document.made_by != nullptr && document.made_by->index;
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

  Node completed(const Attempt& attempt, const Node& document) {
    return imports::completed(document, attempt.proposal.release, *context_.platform.documents,
                              context_.sources, arena_);
  }

  // True when both are the same, or are read alike.
  bool alike(const Attempt& attempt, const Node& wanted, const Node& made) {
    return imports::differences(wanted, made).empty() ||
           imports::differences(completed(attempt, wanted), completed(attempt, made)).empty();
  }
  bool alike(const Attempt& attempt, const imports::Pair& pair) {
    return alike(attempt, wanted(attempt, pair), attempt.made[pair.made].body);
  }

  // What makes a document like its object: only what its reader would see, if that is enough.
  Node patch_of(const Attempt& attempt, const imports::Pair& pair) {
    const Node object = wanted(attempt, pair);
    const Node& body = attempt.made[pair.made].body;
    const Node needed =
        imports::patch_between(completed(attempt, object), completed(attempt, body), arena_);
    if (alike(attempt, object, render::merge_patch(body, needed, arena_))) return needed;
    return imports::patch_between(object, body, arena_);
  }

  // Objects without a document become manifests, unless there is a reason to leave them out.
  void find_manifests(const Attempt& attempt, Draft& draft) {
    draft.fates.assign(context_.objects.size(), Fate::lost);
    std::set<std::size_t> paired;
    for (const imports::Pair& pair : attempt.pairs) paired.insert(pair.object);
    std::set<std::string> names;
    for (std::size_t i = 0; i < context_.objects.size(); ++i) {
      if (paired.contains(i)) continue;
      const Object& object = context_.objects[i];
      if (object.twin) {
        const Object& other = context_.objects[*object.twin];
        if (yaml::equal(object.written, other.written)) {
          draft.fates[i] = Fate::left_out;
          draft.reasons[i] = "it is there twice, with the same content";
        } else {
          draft.losses.push_back(
              {i, "", object.written, Node(),
               "`" + place_of(other) + "` says it in another way, and that counts"});
        }
        continue;
      }
      if (const auto left = left_out(object, attempt.proposal)) {
        if (left->lost) {
          draft.losses.push_back({i, "", object.written, Node(), left->because});
        } else {
          draft.fates[i] = Fate::left_out;
          draft.reasons[i] = left->because;
        }
        continue;
      }
      if (object.kind.kind == "Secret" || object.secrets_dropped || object.name.empty()) {
        draft.losses.push_back(
            {i, "", object.written, Node(),
             object.name.empty() ? "it has no name" : "secrets do not belong into Git"});
        continue;
      }
      Manifest manifest;
      manifest.object = i;
      manifest.layer = layer_of(object);
      manifest.path = name_in(attempt.blueprint) + ".manifests/" +
                      base::to_lower(object.kind.kind) + "-" + object.name;
      for (char& c : manifest.path) {
        if (c == ':') c = '-';
      }
      std::replace(manifest.path.begin() + static_cast<std::ptrdiff_t>(manifest.path.find('/')) + 1,
                   manifest.path.end(), '/', '-');
      while (!names.insert(manifest.path).second) manifest.path += "-again";
      manifest.path += ".yaml";
      manifest.text = yaml::emit(object.written);
      manifests_.push_back(std::move(manifest));
    }
  }

  std::string place_of(const Object& object) const {
    const diag::Span* span = context_.sources.span(object.at);
    if (span == nullptr) return object.file;
    return object.file + ":" +
           std::to_string(context_.sources.position(span->file, span->begin).line);
  }

  // The layer that the file of an object lay in: ".../layers/20-machines/x.yaml".
  static std::string layer_of(const Object& object) {
    const std::vector<std::string_view> steps = base::split(object.file, '/');
    for (std::size_t i = 0; i + 2 < steps.size(); ++i) {
      const std::string_view layer = steps[i + 1];
      const bool numbered = layer.size() > 3 && layer[0] >= '0' && layer[0] <= '9' &&
                            layer[1] >= '0' && layer[1] <= '9' && layer[2] == '-';
      if (steps[i] == "layers" && numbered) return std::string(layer);
    }
    return std::string(kOwnLayer);
  }

  void find_overrides(const Attempt& attempt) {
    struct Patched {
      imports::Pair pair;
      Node patch;
      const render::Document* document = nullptr;
    };
    std::vector<Patched> all;
    for (const imports::Pair& pair : attempt.pairs) {
      const imports::Made& made = attempt.made[pair.made];
      if (made.only_by_name || alike(attempt, pair)) continue;
      const Node patch = patch_of(attempt, pair);
      all.push_back({pair, patch, &attempt.result.rendered.documents[attempt.document[pair.made]]});
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Patched& one = all[i];
      const imports::Made& made = attempt.made[one.pair.made];
      yaml::MapBuilder target;
      target.set(arena_, "kind", arena_.string(exactly(made.kind.kind)));
      // One override for all documents of a kind in a pool, when they differ in the same way.
      const auto of_pool = [&](const render::Document& other) {
        return other.pool == one.document->pool &&
               other.body.get("kind").as_string() == one.document->body.get("kind").as_string();
      };
      std::size_t in_pool = 0;
      for (const render::Document& other : attempt.result.rendered.documents) {
        in_pool += of_pool(other) ? 1 : 0;
      }
      std::size_t same = 0;
      bool first = true;
      for (std::size_t j = 0; j < all.size(); ++j) {
        if (!of_pool(*all[j].document) || !yaml::equal(all[j].patch, one.patch)) continue;
        if (j < i) first = false;
        ++same;
      }
      const bool whole_pool = !one.document->pool.empty() && in_pool > 1 && same == in_pool;
      if (whole_pool && !first) {
        overrides_.push_back({one.pair.object, Node(), one.patch});
        continue;
      }
      if (whole_pool) {
        target.set(arena_, "pool", arena_.string(exactly(one.document->pool)));
      } else {
        const Node metadata = one.document->body.get("metadata");
        if (const Node space = metadata.get("namespace"); space.is_string()) {
          target.set(arena_, "namespace", arena_.string(exactly(space.as_string())));
        }
        target.set(arena_, "name", arena_.string(exactly(metadata.get("name").as_string())));
      }
      yaml::MapBuilder item;
      item.set(arena_, "target", target.build(arena_));
      item.set(arena_, "patch", one.patch);
      overrides_.push_back({one.pair.object, item.build(arena_), one.patch});
    }
    // Objects that another's override covers have none of their own.
    for (const Override& one : overrides_) {
      for (const Leaf& leaf : leaves_of(one.patch)) {
        by_object_[one.object].push_back(base::join(leaf.steps, "."));
      }
    }
    std::erase_if(overrides_, [](const Override& one) { return one.item.is_null(); });
  }

  // Some of the additions make gpuctl refuse a document. Adds them one by one, and of an override
  // what is not refused.
  Attempt without_refused(const imports::Proposal& proposal) {
    std::vector<Override> overrides = std::move(overrides_);
    std::vector<Manifest> manifests = std::move(manifests_);
    overrides_.clear();
    manifests_.clear();
    // `path`: of the one value that was tried, or empty.
    const auto refused = [&](std::size_t object, const std::string& path) -> bool {
      const Attempt next = attempt(proposal);
      if (next.result.sink.error_count() <= errors_) return false;
      std::string why;
      for (const diag::Diagnostic& finding : next.result.sink.all()) {
        if (finding.severity != diag::Severity::error) continue;
        const bool fresh = !known_.contains(finding.message);
        if (why.empty() || fresh) why = finding.message;
        if (fresh) break;
      }
      refused_[object].push_back({path, "gpuctl refuses it: " + why});
      return true;
    };
    for (Override& one : overrides) {
      overrides_.push_back(one);
      if (!refused(one.object, {})) continue;
      std::vector<std::string> kept;
      Node patch = arena_.map(std::span<const yaml::Entry>());
      for (const Leaf& leaf : leaves_of(one.patch)) {
        const Node longer = with_leaf(patch, leaf.steps, leaf.value);
        overrides_.back() = with_patch(one, longer);
        if (refused(one.object, path_of(leaf))) continue;
        patch = longer;
        kept.push_back(base::join(leaf.steps, "."));
      }
      overrides_.back() = with_patch(one, patch);
      if (kept.empty()) overrides_.pop_back();
      // What each of its values is refused for says more than the first refusal of all.
      if (refused_[one.object].size() > 1) refused_[one.object].erase(refused_[one.object].begin());
      by_object_[one.object] = kept;
    }
    for (Manifest& one : manifests) {
      manifests_.push_back(std::move(one));
      if (refused(manifests_.back().object, {})) manifests_.pop_back();
    }
    return attempt(proposal);
  }

  // A value in a merge patch.
  struct Leaf {
    std::vector<std::string> steps;
    Node value;
  };

  // As imports::differences() writes it.
  static std::string path_of(const Leaf& leaf) {
    std::string out;
    for (const std::string& step : leaf.steps) out += yaml::key_step(step);
    return out.starts_with('.') ? out.substr(1) : out;
  }

  static std::vector<Leaf> leaves_of(const Node& patch, std::vector<std::string> steps = {}) {
    if (!patch.is_map() || patch.size() == 0) return {{std::move(steps), patch}};
    std::vector<Leaf> out;
    for (const yaml::Entry& entry : patch.entries()) {
      std::vector<std::string> next = steps;
      next.emplace_back(entry.key.as_string());
      for (Leaf& leaf : leaves_of(entry.value, std::move(next))) out.push_back(std::move(leaf));
    }
    return out;
  }

  Node with_leaf(const Node& patch, std::span<const std::string> steps, const Node& value) {
    if (steps.empty()) return value;
    yaml::MapBuilder out(patch);
    out.set(arena_, steps.front(), with_leaf(patch.get(steps.front()), steps.subspan(1), value));
    return out.build(arena_);
  }

  Override with_patch(const Override& one, const Node& patch) {
    yaml::MapBuilder item;
    item.set(arena_, "target", one.item.get("target"));
    item.set(arena_, "patch", patch);
    return {one.object, item.build(arena_), patch};
  }

  // Why the value at a path of an object, or all of it, was refused; empty when it was not.
  std::string why_refused(std::size_t object, const std::string& path) const {
    const auto found = refused_.find(object);
    if (found == refused_.end()) return {};
    for (const Refusal& refusal : found->second) {
      if (path.starts_with(refusal.path) || refusal.path.starts_with(path)) return refusal.why;
    }
    return {};
  }

  // The places in which object and document differ. What only the blueprint says is none when it is
  // what a reader fills in.
  std::vector<imports::Difference> remaining(const Attempt& attempt, const imports::Pair& pair) {
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

  void finish(Attempt& last, Draft& draft) {
    std::set<std::size_t> manifests;
    for (const Manifest& manifest : manifests_) manifests.insert(manifest.object);
    std::set<std::size_t> used;
    std::vector<bool> paired(context_.objects.size(), false);
    for (const imports::Pair& pair : last.pairs) {
      used.insert(last.document[pair.made]);
      paired[pair.object] = true;
      for (const imports::Ignored& ignored : ignored_in(last, pair)) {
        draft.ignored["`" + ignored.path + "`: " + ignored.because].push_back(pair.object);
      }
      const Object& object = context_.objects[pair.object];
      const bool references =
          object.secrets_dropped || !yaml::equal(without_secrets(last, pair), object.written);
      if (references) draft.secrets.insert(pair.object);
      if (alike(last, pair)) {
        const auto patched = by_object_.find(pair.object);
        const bool overridden = patched != by_object_.end() && !refused_.contains(pair.object);
        draft.fates[pair.object] = manifests.contains(pair.object) ? Fate::manifest
                                   : overridden                    ? Fate::overridden
                                                                   : Fate::equal;
        if (overridden) draft.overridden[pair.object] = patched->second;
        continue;
      }
      draft.fates[pair.object] = Fate::lost;
      for (const imports::Difference& difference : remaining(last, pair)) {
        draft.losses.push_back({pair.object, difference.path, difference.wanted, difference.made,
                                why_refused(pair.object, difference.path)});
      }
    }
    for (std::size_t i = 0; i < context_.objects.size(); ++i) {
      const bool said = draft.fates[i] == Fate::left_out ||
                        std::any_of(draft.losses.begin(), draft.losses.end(),
                                    [&](const Loss& loss) { return loss.object == i; });
      if (paired[i] || said) continue;
      draft.losses.push_back({i, "", context_.objects[i].written, Node(),
                              last.result.rendered.documents.empty()
                                  ? "the blueprint cannot be rendered yet"
                                  : why_refused(i, {})});
    }
    const std::vector<render::Document>& documents = last.result.rendered.documents;
    for (std::size_t i = 0; i < documents.size(); ++i) {
      const bool listing = documents[i].made_by != nullptr && documents[i].made_by->index;
      const bool object = !documents[i].raw || !documents[i].schema_of.empty();
      if (!used.contains(i) && !listing && object) {
        draft.added.push_back(documents[i].path);
      }
    }
    const auto gone = [&](const imports::Assumption& assumption) {
      const auto steps = imports::without(last.blueprint, assumption.path, arena_);
      return yaml::equal(steps, last.blueprint);
    };
    std::erase_if(draft.assumptions, gone);
    draft.blueprint_file = file_of(last.blueprint);
    draft.files = files_of(last);
    draft.trial = std::move(last.result);
  }

  const ImportContext& context_;
  yaml::Arena& arena_;
  std::vector<Override> overrides_;
  std::vector<Manifest> manifests_;
  std::map<std::size_t, std::vector<std::string>> by_object_;
  struct Refusal {
    std::string path;  // empty: the whole object
    std::string why;
  };
  std::map<std::size_t, std::vector<Refusal>> refused_;
  // Of the proposal without additions.
  std::size_t errors_ = 0;
  std::set<std::string> known_;
};

}  // namespace

Draft make_draft(const ImportContext& context) {
  return Drafting(context).run();
}

}  // namespace gpuctl::cli
