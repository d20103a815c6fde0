#include "render/shadow.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "render/codes.hpp"
#include "render/origin.hpp"
#include "render/overrides.hpp"

namespace gpuctl::render {

namespace {

using cel::Provenance;
using diag::Origin;

// All places of the inputs that values go back to, each step of the way gone once.
class Reach {
 public:
  explicit Reach(const Provenance& provenance) : provenance_(provenance) {}

  void add(Origin origin) {
    std::vector<Origin> open = {origin};
    while (!open.empty()) {
      const Origin at = open.back();
      open.pop_back();
      if (!cel::is_mark(at) || !visited_.insert(at).second) continue;
      if (const auto* evaluation = provenance_.evaluation(at)) {
        open.insert(open.end(), evaluation->reads.begin(), evaluation->reads.end());
      } else if (const Provenance::Place* place = provenance_.place(at)) {
        follow(at, *place, open);
      }
    }
  }

  bool contains(Origin mark) const { return visited_.contains(mark); }
  const std::set<Origin>& places() const { return places_; }

 private:
  void follow(Origin at, const Provenance::Place& place, std::vector<Origin>& open) {
    Origin above = at;
    while (const Provenance::Place* one = provenance_.place(above)) above = one->parent;
    if (above == diag::kNoOrigin) {
      places_.insert(at);
      open.push_back(provenance_.behind(at));
    } else {
      // A part of a result: where it was taken from, or all that the expression read.
      const Origin inner = place.value.origin();
      open.push_back(inner == diag::kNoOrigin ? above : inner);
    }
  }

  const Provenance& provenance_;
  std::set<Origin> visited_;
  std::set<Origin> places_;  // in named trees
};

template <typename Visit>
void for_each_leaf(const yaml::Node& node, const std::string& path, const Visit& visit) {
  if (node.is_map() && node.size() > 0) {
    for (const yaml::Entry& field : node.entries()) {
      const std::string key(field.key.as_string());
      for_each_leaf(field.value, path.empty() ? key : path + "." + key, visit);
    }
  } else if (node.is_list() && node.size() > 0) {
    for (std::size_t i = 0; i < node.size(); ++i) {
      for_each_leaf(node.items()[i], path + "[" + std::to_string(i) + "]", visit);
    }
  } else {
    visit(node, path);
  }
}

// A value of a document that is not what its template wrote.
struct Overridden {
  const Document* document = nullptr;
  std::string path;
};

// Texts for people and the summary of the cluster may say what is no longer so. Commands for nodes
// that nothing committed can mark are no such text: they make it so.
bool has_effect(const Document& document) {
  constexpr std::string_view kNodeCommands = "install/nodes.md";
  if (!document.raw || !document.schema_of.empty()) return true;
  return document.body.is_string() &&
         (!document.path.ends_with(".md") || document.path.ends_with(kNodeCommands));
}

// Where the value stands in the blueprint; kNoOrigin when nobody wrote it there.
Origin written_at(const Provenance& provenance, Origin place, const diag::Sources& sources) {
  if (provenance.root_of(place) != "spec") return diag::kNoOrigin;
  // A mapping was read for what it lacks, and an empty list shows by what is not there.
  const yaml::Node& value = provenance.place(place)->value;
  if (value.size() > 0 || value.is_list()) return diag::kNoOrigin;
  const Origin behind = provenance.behind(place);
  const bool written = !cel::is_mark(behind) && sources.owns(behind) && sources.span(behind);
  return written ? behind : diag::kNoOrigin;
}

// Of one value in the blueprint.
void report(const std::string& path, Origin at, const std::vector<const Overridden*>& places,
            const Provenance& provenance, yaml::Context context) {
  const Overridden& first = *places.front();
  diag::Diagnostic& diagnostic =
      context.sink
          .warning(kShadowed, at,
                   "`" + path + "` has no effect: overrides replace what comes of it")
          .label("would be `" + first.path + "` of " + title_of(first.document->unpatched))
          .expect("the value in the override, or no override of the field");
  diagnostic.also(first.document->patched_at, "replaces it");
  resolve(provenance, context.sources, diagnostic);
}

}  // namespace

void report_shadowed(std::span<const Document> documents, const Provenance& provenance,
                     yaml::Context context) {
  Reach live(provenance);
  std::map<Origin, std::vector<const Overridden*>> lost;
  std::vector<std::unique_ptr<Overridden>> overridden;
  std::vector<Origin> marks;
  for (const Document& document : documents) {
    if (!has_effect(document)) continue;
    std::set<Origin> kept;
    for_each_leaf(document.body, "", [&](const yaml::Node& leaf, const std::string&) {
      live.add(leaf.origin());
      kept.insert(leaf.origin());
    });
    if (document.patched_at == diag::kNoOrigin) continue;
    for_each_leaf(document.unpatched, "", [&](const yaml::Node& leaf, const std::string& path) {
      if (kept.contains(leaf.origin())) return;
      overridden.push_back(std::make_unique<Overridden>(Overridden{&document, path}));
      marks.push_back(leaf.origin());
    });
  }
  for (std::size_t i = 0; i < marks.size(); ++i) {
    Reach one(provenance);
    one.add(marks[i]);
    for (const Origin place : one.places()) lost[place].push_back(overridden[i].get());
  }
  // A list that is read as a whole is read with its items. Of a mapping that means only that a
  // field was looked for, and each value that is taken is noted by itself.
  std::set<Origin> touched;
  for (const Origin place : live.places()) {
    for (Origin above = place; above != diag::kNoOrigin;) {
      if (!touched.insert(above).second) break;
      const Provenance::Place* one = provenance.place(above);
      above = one == nullptr ? diag::kNoOrigin : one->parent;
    }
  }
  const auto is_live = [&](Origin place) {
    if (touched.contains(place)) return true;
    for (Origin above = place; above != diag::kNoOrigin;) {
      const Provenance::Place* one = provenance.place(above);
      if (one == nullptr) break;
      if ((above == place || one->value.is_list()) && live.contains(above)) return true;
      above = one->parent;
    }
    return false;
  };
  for (const auto& [place, places] : lost) {
    const Origin at = written_at(provenance, place, context.sources);
    if (at != diag::kNoOrigin && !is_live(place)) {
      report(provenance.path(place), at, places, provenance, context);
    }
  }
}

}  // namespace gpuctl::render
