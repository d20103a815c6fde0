#include "render/origin.hpp"

#include <algorithm>
#include <set>

#include "yaml/path.hpp"

namespace gpuctl::render {

namespace {

using cel::Provenance;
using diag::Origin;
using Kind = Link::Kind;

// Chains of derivations are short; this only bounds the recursion.
constexpr std::size_t kDeepest = 64;
// What a diagnostic shows at most; `explain --origin` shows everything.
constexpr std::size_t kMostSources = 4;
constexpr std::size_t kMostReasons = 2;

bool is_leaf(Kind kind) {
  return kind != Kind::place && kind != Kind::expression;
}

// The evaluation in whose result a place is; kNoOrigin when it is in a named tree.
Origin evaluation_above(const Provenance& provenance, Origin mark) {
  while (const Provenance::Place* at = provenance.place(mark)) mark = at->parent;
  return mark;
}

class Tracer {
 public:
  Tracer(const Provenance& provenance, const diag::Sources& sources)
      : provenance_(provenance), sources_(sources) {}

  // The way back, with the expression that wrote the node as first link.
  Link from_document(Origin origin) {
    const Provenance::Place* place = provenance_.place(origin);
    if (place == nullptr) return link(origin, 0);
    const Origin evaluation = evaluation_above(provenance_, origin);
    if (evaluation == diag::kNoOrigin) return link(origin, 0);
    return part(*place, evaluation, 0);
  }

  Link link(Origin origin, std::size_t depth) {
    if (!cel::is_mark(origin)) return in_file(origin, "");
    if (const auto* evaluation = provenance_.evaluation(origin)) {
      return expression(origin, *evaluation, depth);
    }
    const Provenance::Place* place = provenance_.place(origin);
    if (place == nullptr) return {};
    const Origin evaluation = evaluation_above(provenance_, origin);
    if (evaluation == diag::kNoOrigin) return named(origin, *place, depth);
    // Loops and locals of templates only pass on; derivations say why.
    const bool passes = provenance_.evaluation(evaluation)->because.empty();
    const Origin inner = place->value.origin();
    return passes && inner != diag::kNoOrigin ? link(inner, depth + 1)
                                              : part(*place, evaluation, depth);
  }

 private:
  // A part of an expression's result: when it was just taken from somewhere, only that counts.
  Link part(const Provenance::Place& place, Origin evaluation, std::size_t depth) {
    const Origin inner = place.value.origin();
    const Provenance::Evaluation& above = *provenance_.evaluation(evaluation);
    if (inner == diag::kNoOrigin || depth >= kDeepest) return expression(evaluation, above, depth);
    Link out = head(above);
    out.reads.push_back(link(inner, depth + 1));
    return out;
  }

  static Link head(const Provenance::Evaluation& evaluation) {
    Link out;
    const bool kept = evaluation.kept != diag::kNoOrigin;
    out.kind = kept ? Kind::kept : Kind::expression;
    out.at = kept ? evaluation.kept : evaluation.scalar.origin();
    out.because = evaluation.because;
    return out;
  }

  Link expression(Origin origin, const Provenance::Evaluation& evaluation, std::size_t depth) {
    Link out = head(evaluation);
    if (depth >= kDeepest || !seen_.insert(origin).second) return out;
    for (const Origin read : evaluation.reads) out.reads.push_back(link(read, depth + 1));
    return out;
  }

  Link named(Origin origin, const Provenance::Place& place, std::size_t depth) {
    Link out;
    const std::string path = provenance_.path(origin);
    const Origin behind = provenance_.behind(origin);
    if (!cel::is_mark(behind)) {
      out = in_file(behind, provenance_.root_of(origin));
    } else {
      out.kind = Kind::place;
      if (depth < kDeepest && seen_.insert(origin).second) {
        out.reads.push_back(link(behind, depth + 1));
      }
    }
    out.path = path;
    out.value = place.value;
    return out;
  }

  Link in_file(Origin origin, std::string_view root) {
    Link out;
    out.at = origin;
    if (sources_.span(origin) == nullptr) {
      out.kind = Kind::computed;
    } else if (root == "catalog") {
      out.kind = Kind::catalogue;
    } else if (root == "facts") {
      out.kind = Kind::fact;
    } else if (sources_.owns(origin)) {
      out.kind = Kind::blueprint;
    } else {
      out.kind = root.empty() ? Kind::constant : Kind::default_value;
    }
    return out;
  }

  const Provenance& provenance_;
  const diag::Sources& sources_;
  std::set<Origin> seen_;
};

// `catalog.machines["g5.xlarge"].gpus` -> row `g5.xlarge` of the table `machines`.
std::string describe_cell(const std::string& path) {
  const std::optional<std::vector<yaml::PathStep>> steps = yaml::parse_path(path);
  if (!steps || steps->size() < 3) return "in the catalogue";
  return "row `" + (*steps)[2].text + "` of the table `" + (*steps)[1].text + "`";
}

std::string describe(const Link& leaf) {
  switch (leaf.kind) {
    case Kind::blueprint:
      return leaf.path.empty() ? "from here" : "from `" + leaf.path + "`";
    case Kind::default_value:
      return "default of `" + leaf.path + "`";
    case Kind::catalogue:
      return describe_cell(leaf.path);
    case Kind::fact:
      return "from the fact `" + leaf.path.substr(leaf.path.find('.') + 1) + "`";
    case Kind::kept:
      return "choice kept in the lock";
    default:
      return "from here";
  }
}

void collect(const Link& link, std::vector<const Link*>& leaves,
             std::vector<std::string>& reasons) {
  if (is_leaf(link.kind) && link.at != diag::kNoOrigin) leaves.push_back(&link);
  for (const Link& read : link.reads) {
    if (link.kind == Kind::place && !read.because.empty()) {
      reasons.push_back("`" + link.path + "` is derived: " + read.because);
    }
    collect(read, leaves, reasons);
  }
}

void add_leaves(const Link& from, diag::Diagnostic& diagnostic) {
  std::vector<const Link*> leaves;
  std::vector<std::string> reasons;
  collect(from, leaves, reasons);
  // What the user wrote comes first, then what was filled in.
  std::stable_sort(leaves.begin(), leaves.end(),
                   [](const Link* a, const Link* b) { return a->kind < b->kind; });
  std::set<Origin> shown = {diagnostic.primary.at};
  for (const diag::Label& label : diagnostic.secondary) shown.insert(label.at);
  std::size_t count = 0;
  for (const Link* leaf : leaves) {
    if (count == kMostSources) break;
    if (leaf->kind == Kind::constant || !shown.insert(leaf->at).second) continue;
    diagnostic.also(leaf->at, describe(*leaf));
    ++count;
  }
  for (std::size_t i = 0; i < std::min(reasons.size(), kMostReasons); ++i) {
    diagnostic.note(reasons[i]);
  }
}

// The place in a file that a mark stands for.
Origin place_in_file(const Provenance& provenance, Origin origin) {
  for (std::size_t i = 0; i < kDeepest && cel::is_mark(origin); ++i) {
    if (const auto* evaluation = provenance.evaluation(origin)) return evaluation->scalar.origin();
    const Origin above = evaluation_above(provenance, origin);
    origin = above != diag::kNoOrigin ? above : provenance.behind(origin);
  }
  return cel::is_mark(origin) ? diag::kNoOrigin : origin;
}

}  // namespace

Link trace(const Provenance& provenance, Origin origin, const diag::Sources& sources) {
  return Tracer(provenance, sources).from_document(origin);
}

std::string_view kind_name(Kind kind) {
  constexpr std::string_view kNames[] = {"value",   "expression", "blueprint", "fact",    "lock",
                                         "default", "catalogue",  "constant",  "computed"};
  return kNames[static_cast<std::size_t>(kind)];
}

void add_sources(const Provenance& provenance, Origin mark, const diag::Sources& sources,
                 diag::Diagnostic& diagnostic) {
  add_leaves(trace(provenance, mark, sources), diagnostic);
}

void resolve(const Provenance& provenance, const diag::Sources& sources,
             diag::Diagnostic& diagnostic) {
  for (diag::Label& label : diagnostic.secondary) label.at = place_in_file(provenance, label.at);
  const Origin mark = diagnostic.primary.at;
  if (!cel::is_mark(mark)) return;
  diagnostic.primary.at = place_in_file(provenance, mark);
  add_sources(provenance, mark, sources, diagnostic);
}

}  // namespace gpuctl::render
