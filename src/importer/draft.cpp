#include "importer/draft.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "importer/attempt.hpp"
#include "imports/difference.hpp"
#include "imports/list_patch.hpp"
#include "imports/patch.hpp"
#include "imports/tidy.hpp"
#include "yaml/emit.hpp"

namespace gpuctl::importer {

namespace {

using imports::Object;
using yaml::Node;

// Additions that are refused are looked for one by one, but not forever.
constexpr std::size_t kMostAttempts = 400;
// Layer of manifests whose place says none: after all that gpuctl renders.
constexpr std::string_view kOwnLayer = "90-imported";

class Drafting {
 public:
  explicit Drafting(const ImportContext& context)
      : context_(context), arena_(context.arena), attempts_(context) {}

  Draft run() {
    Attempt best = choose();
    Draft draft;
    draft.assumptions = best.proposal.assumptions;
    find_manifests(best, draft);
    find_overrides(best);
    errors_ = best.errors();
    for (const diag::Diagnostic& finding : best.result.sink.all()) known_.insert(finding.message);
    Attempt last = additions_.empty() ? std::move(best) : attempts_.make(best.proposal, additions_);
    if (last.errors() > errors_) last = without_refused(last.proposal);
    finish(last, draft);
    return draft;
  }

 private:
  // The attempt with the fewest differences, over all releases that come into question.
  Attempt choose() {
    const std::string newest = context_.releases.empty() ? "" : context_.releases.back();
    imports::Proposal first = attempts_.propose(newest);
    if (context_.releases.size() > 1 && first.release != newest) {
      first = attempts_.propose(first.release);
    }
    Attempt best = attempts_.make(first, {});
    if (context_.releases.size() < 2 || first.release != newest) return best;
    for (auto release = context_.releases.rbegin() + 1; release != context_.releases.rend();
         ++release) {
      Attempt next = attempts_.make(attempts_.propose(*release), {});
      if (next.score < best.score) best = std::move(next);
    }
    return best;
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
      if (const auto left = attempts_.left_out(object, attempt.proposal)) {
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
             object.name.empty() ? "it has no name" : "secrets do not belong in Git"});
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
      manifest.text = yaml::emit(attempts_.placed(attempt, i));
      additions_.manifests.push_back(std::move(manifest));
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

  // A pair of an object and a document that differ, and the patch that makes them equal.
  struct Patched {
    imports::Pair pair;
    imports::SplitPatch patch;
    const render::Document* document = nullptr;

    bool of_same_pool(const render::Document& other) const {
      return other.pool == document->pool &&
             other.body.get("kind").as_string() == document->body.get("kind").as_string();
    }
  };

  void find_overrides(const Attempt& attempt) {
    std::vector<Patched> all;
    for (const imports::Pair& pair : attempt.pairs) {
      const imports::Made& made = attempt.made[pair.made];
      if (made.only_by_name || attempts_.alike(attempt, pair)) continue;
      const imports::SplitPatch patch = attempts_.patch(attempt, pair);
      if (patch.empty()) continue;
      all.push_back({pair, patch, &attempt.document_of(pair)});
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Patched& one = all[i];
      // One override for all documents of a kind in a pool, when they differ in the same way.
      std::size_t in_pool = 0;
      for (const render::Document& other : attempt.result.rendered().documents) {
        in_pool += one.of_same_pool(other) ? 1 : 0;
      }
      std::size_t same = 0;
      bool first = true;
      for (std::size_t j = 0; j < all.size(); ++j) {
        if (!one.of_same_pool(*all[j].document) || !(all[j].patch == one.patch)) continue;
        if (j < i) first = false;
        ++same;
      }
      const bool whole_pool = !one.document->pool.empty() && in_pool > 1 && same == in_pool;
      const Node target = target_of(attempt, one, whole_pool);
      for (const Node& patch : {one.patch.operations, one.patch.merge}) {
        if (patch.size() == 0) continue;
        const Node item = whole_pool && !first ? Node() : item_of(target, patch);
        additions_.overrides.push_back({one.pair.object, item, patch});
      }
    }
    // Objects that another's override covers have none of their own.
    for (const Override& one : additions_.overrides) {
      std::vector<std::string>& paths = by_object_[one.object];
      for (const std::string& path : paths_of(one.patch)) {
        if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
      }
    }
    std::erase_if(additions_.overrides, [](const Override& one) { return one.item.is_null(); });
  }

  // The places that a patch changes.
  static std::vector<std::string> paths_of(const Node& patch) {
    if (patch.is_list()) return imports::changed_by(patch);
    std::vector<std::string> out;
    for (const imports::Leaf& leaf : imports::leaves_of(patch)) {
      out.push_back(base::join(leaf.steps, "."));
    }
    return out;
  }

  // The target of an override: one document, or all of its kind in its pool.
  Node target_of(const Attempt& attempt, const Patched& one, bool whole_pool) {
    yaml::MapBuilder target;
    const auto set = [&](const char* field, std::string_view value) {
      target.set(arena_, field, arena_.string(imports::exactly(value)));
    };
    set("kind", attempt.made[one.pair.made].kind.kind);
    if (whole_pool) {
      set("pool", one.document->pool);
    } else {
      const Node metadata = one.document->body.get("metadata");
      if (const Node space = metadata.get("namespace"); space.is_string()) {
        set("namespace", space.as_string());
      }
      set("name", metadata.get("name").as_string());
    }
    return target.build(arena_);
  }

  Node item_of(const Node& target, const Node& patch) {
    yaml::MapBuilder item;
    item.set(arena_, "target", target);
    item.set(arena_, "patch", patch);
    return item.build(arena_);
  }

  // True when gpuctl refuses the addition that was made last, of this object and path; the reason
  // is kept.
  bool refuses(const imports::Proposal& proposal, std::size_t object, const std::string& path) {
    if (++tried_ > kMostAttempts) {
      refused_[object][path] = "too many values are refused to find those that are not";
      return true;
    }
    const Attempt next = attempts_.make(proposal, additions_);
    if (next.errors() <= errors_) return false;
    std::string why;
    for (const diag::Diagnostic& finding : next.result.sink.all()) {
      if (finding.severity != diag::Severity::error) continue;
      const bool fresh = !known_.contains(finding.message);
      if (why.empty() || fresh) why = finding.message;
      if (fresh) break;
    }
    refused_[object][path] = "gpuctl refuses it: " + why;
    return true;
  }

  // Some of the additions make gpuctl refuse a document. Adds them one by one, and of an override
  // what is not refused.
  Attempt without_refused(const imports::Proposal& proposal) {
    const Additions all = std::exchange(additions_, {});
    for (const Override& one : all.overrides) by_object_.erase(one.object);
    for (const Override& one : all.overrides) {
      additions_.overrides.push_back(one);
      if (one.patch.is_list()) {
        take_operations(proposal, one);
      } else {
        take_values(proposal, one);
      }
    }
    for (const Manifest& one : all.manifests) {
      additions_.manifests.push_back(one);
      if (refuses(proposal, one.object, "")) additions_.manifests.pop_back();
    }
    return attempts_.make(proposal, additions_);
  }

  // Of the override that was added last the values that are not refused.
  void take_values(const imports::Proposal& proposal, const Override& one) {
    std::vector<std::string> kept;
    Node patch = arena_.map(std::span<const yaml::Entry>());
    // Takes a value, or of a map what is not refused. True when all of it was taken.
    const std::function<bool(const imports::Leaf&)> take = [&](const imports::Leaf& part) {
      const std::string path = imports::path_of(part.steps);
      const Node longer = imports::with_leaf(patch, part.steps, part.value, arena_);
      additions_.overrides.back() = with_patch(one, longer);
      if (!refuses(proposal, one.object, path)) {
        refused_[one.object].erase(path);
        patch = longer;
        for (const imports::Leaf& leaf : imports::leaves_of(part.value)) {
          std::vector<std::string> steps = part.steps;
          steps.insert(steps.end(), leaf.steps.begin(), leaf.steps.end());
          kept.push_back(base::join(steps, "."));
        }
        return true;
      }
      if (!part.value.is_map() || part.value.size() == 0) return false;
      refused_[one.object].erase(path);
      std::vector<imports::Leaf> parts;
      for (const yaml::Entry& entry : part.value.entries()) {
        parts.push_back({part.steps, entry.value});
        parts.back().steps.emplace_back(entry.key.as_string());
      }
      // What a field replaces has to go before it, and what a field needs may come after it.
      std::stable_partition(parts.begin(), parts.end(),
                            [](const imports::Leaf& leaf) { return leaf.value.is_null(); });
      for (std::size_t before = parts.size() + 1; !parts.empty() && before > parts.size();) {
        before = parts.size();
        std::erase_if(parts, take);
      }
      return parts.empty();
    };
    take({{}, one.patch});
    if (refused_[one.object].empty()) refused_.erase(one.object);
    additions_.overrides.back() = with_patch(one, patch);
    keep(one, kept);
  }

  // The same with operations, each with the tests before it.
  void take_operations(const imports::Proposal& proposal, const Override& one) {
    std::vector<Node> taken;
    std::vector<Node> next;
    for (const Node& operation : one.patch.items()) {
      next.push_back(operation);
      if (operation.get("op").as_string() == "test") continue;
      std::vector<Node> longer = taken;
      longer.insert(longer.end(), next.begin(), next.end());
      additions_.overrides.back() = with_patch(one, arena_.list(longer));
      const std::vector<std::string> path = imports::changed_by(arena_.list(next));
      if (!refuses(proposal, one.object, path.back())) taken = std::move(longer);
      next.clear();
    }
    const Node patch = arena_.list(taken);
    additions_.overrides.back() = with_patch(one, patch);
    keep(one, imports::changed_by(patch));
  }

  // What is left of the override that was added last: the places it changes.
  void keep(const Override& one, const std::vector<std::string>& paths) {
    if (paths.empty()) additions_.overrides.pop_back();
    std::vector<std::string>& all = by_object_[one.object];
    all.insert(all.end(), paths.begin(), paths.end());
  }

  Override with_patch(const Override& one, const Node& patch) {
    return {one.object, item_of(one.item.get("target"), patch), patch};
  }

  // Why the value at a path, or the whole object, is not taken; empty when nothing was refused.
  std::string why_refused(std::size_t object, std::string_view path = {}) const {
    const auto found = refused_.find(object);
    if (found == refused_.end()) return {};
    for (const auto& [refused, reason] : found->second) {
      if (path.starts_with(refused) || refused.starts_with(path)) return reason;
    }
    return {};
  }

  void add_losses(Attempt& last, const imports::Pair& pair, Draft& draft) {
    const std::vector<imports::Ignored> kept = attempts_.kept(last, pair.object);
    for (const imports::Difference& difference : attempts_.remaining(last, pair)) {
      const auto harmed = std::find_if(kept.begin(), kept.end(), [&](const auto& field) {
        return difference.path.starts_with(field.path) || field.path.starts_with(difference.path);
      });
      draft.losses.push_back({pair.object, difference.path, difference.wanted, difference.made,
                              why_refused(pair.object, difference.path),
                              harmed == kept.end() ? std::string() : harmed->because});
    }
  }

  void finish(Attempt& last, Draft& draft) {
    attempts_.find_shadowed(last);  // before anything points into what it rendered
    std::set<std::size_t> manifests;
    for (const Manifest& manifest : additions_.manifests) manifests.insert(manifest.object);
    std::set<std::size_t> used;
    std::vector<bool> paired(context_.objects.size(), false);
    for (const imports::Pair& pair : last.pairs) {
      used.insert(last.document[pair.made]);
      paired[pair.object] = true;
      for (const imports::Ignored& ignored : attempts_.ignored(last, pair)) {
        draft.ignored["`" + ignored.path + "`: " + ignored.because].push_back(pair.object);
      }
      std::vector<std::string> restated;
      static_cast<void>(attempts_.wanted(last, pair, &restated));
      if (!restated.empty()) draft.restated[pair.object] = std::move(restated);
      const Object& object = context_.objects[pair.object];
      const bool references = object.secrets_dropped ||
                              !yaml::equal(attempts_.without_secrets(last, pair), object.written);
      if (references) draft.secrets.insert(pair.object);
      if (attempts_.alike(last, pair)) {
        const auto patched = by_object_.find(pair.object);
        const bool overridden = patched != by_object_.end() && !refused_.contains(pair.object);
        draft.fates[pair.object] = manifests.contains(pair.object) ? Fate::manifest
                                   : overridden                    ? Fate::overridden
                                                                   : Fate::equal;
        if (overridden) draft.overridden[pair.object] = patched->second;
        continue;
      }
      draft.fates[pair.object] = Fate::lost;
      add_losses(last, pair, draft);
    }
    for (std::size_t i = 0; i < context_.objects.size(); ++i) {
      const bool said = draft.fates[i] == Fate::left_out ||
                        std::any_of(draft.losses.begin(), draft.losses.end(),
                                    [&](const Loss& loss) { return loss.object == i; });
      if (paired[i] || said) continue;
      draft.losses.push_back({i, "", context_.objects[i].written, Node(),
                              last.result.rendered().documents.empty()
                                  ? "the blueprint cannot be rendered yet"
                                  : why_refused(i)});
    }
    const std::vector<render::Document>& documents = last.result.rendered().documents;
    for (std::size_t i = 0; i < documents.size(); ++i) {
      const bool listing =
          documents[i].made_by != nullptr && documents[i].made_by->phase == render::Phase::index;
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
    draft.files = std::move(last.files);
    draft.trial = std::move(last.result);
  }

  const ImportContext& context_;
  yaml::Arena& arena_;
  Attempts attempts_;
  Additions additions_;
  std::map<std::size_t, std::vector<std::string>> by_object_;
  std::size_t tried_ = 0;  // additions, one by one
  // By object, and by the path of what was refused; "": all of it.
  std::map<std::size_t, std::map<std::string, std::string>> refused_;
  // Of the proposal without additions.
  std::size_t errors_ = 0;
  std::set<std::string> known_;
};

}  // namespace

Draft make_draft(const ImportContext& context) {
  return Drafting(context).run();
}

}  // namespace gpuctl::importer
