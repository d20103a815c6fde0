#include "pipeline/air_gap.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "render/codes.hpp"
#include "render/mirrors.hpp"

namespace gpuctl::pipeline {

namespace {

using Texts = std::vector<std::string>;

// The name without tag, digest, and the scheme that charts have.
std::string repository_of(std::string_view name) {
  name = render::without_scheme(name);
  name = name.substr(0, name.find('@'));
  const std::size_t colon = name.rfind(':');
  const std::size_t slash = name.rfind('/');
  const bool tagged =
      colon != std::string_view::npos && slash != std::string_view::npos && colon > slash;
  return std::string(tagged ? name.substr(0, colon) : name);
}

// Of a copy whose original cannot be told nothing is to be copied: it is there.
void lead_back_images(render::Supplies& supplies, const render::Mirrors& mirrors) {
  const render::SuppliesOfKind images = supplies.of("images");
  std::set<std::string> catalogues;  // each is copied with what is in it
  for (const auto& [texts, wanted_by] : supplies.of("packages")) catalogues.insert(texts.front());
  for (const auto& [texts, wanted_by] : images) {
    const Texts originals = mirrors.originals_of(texts.front());
    if (originals.empty() && !catalogues.contains(texts.front())) continue;
    supplies.remove("images", texts);
    if (originals.size() != 1 || catalogues.contains(originals.front())) continue;
    for (const std::string& path : wanted_by) supplies.add("images", {originals.front()}, path);
  }
}

// Charts, and packages of catalogues: the first text is where they are.
void lead_back(const std::string& kind, render::Supplies& supplies,
               const render::Mirrors& mirrors) {
  const render::SuppliesOfKind wanted = supplies.of(kind);
  for (const auto& [texts, wanted_by] : wanted) {
    const Texts originals = mirrors.originals_of(texts.front());
    if (originals.size() != 1) continue;
    supplies.remove(kind, texts);
    Texts original = texts;
    original.front() = originals.front();
    for (const std::string& path : wanted_by) supplies.add(kind, original, path);
  }
}

}  // namespace

render::Supplies supplies_of(const Opened& opened, const Loaded& loaded,
                             const derive::Derived& derived, const render::Rendered& rendered,
                             yaml::Context context) {
  const render::Cluster cluster = cluster_of(opened, loaded, derived);
  std::vector<render::Withheld> withheld;
  render::Supplies out =
      render::supplies_of(*opened.compiled->templates, cluster, rendered, withheld, context);
  const render::Mirrors mirrors(opened.blueprint.spec);
  lead_back("packages", out, mirrors);
  lead_back("charts", out, mirrors);
  lead_back_images(out, mirrors);
  for (const render::Withheld& item : withheld) {
    context.sink
        .warning(
            render::kWithheld, diag::kNoOrigin,
            "what `" + item.template_name + "` would add waits for the fact `" + item.fact + "`")
        .suggest(item.obtain);
  }
  for (const auto& [texts, wanted_by] : out.of("packages")) {
    if (!texts.front().empty()) continue;
    context.sink
        .warning(render::kNoCatalogue, diag::kNoOrigin,
                 "nobody knows which catalogue has the package `" + texts[1] + "`")
        .suggest("copy it by hand, or add the CatalogSource that has it to the extra manifests");
  }
  return out;
}

void check_air_gap(const Opened& opened, const Loaded& loaded, const derive::Derived& derived,
                   const render::Rendered& rendered, yaml::Context context) {
  const yaml::Node gap = opened.blueprint.spec.get({"access", "airGap"});
  if (!gap.as_boolean()) return;
  const render::Supplies supplies = supplies_of(opened, loaded, derived, rendered, context);
  const render::Mirrors mirrors(opened.blueprint.spec);
  std::map<std::string, std::set<std::string>> missing;  // repositories, and who wants them
  for (const render::SupplyKind& kind : render::supply_kinds()) {
    for (const auto& [texts, wanted_by] : supplies.of(kind.name)) {
      if (texts.front().empty() || mirrors.have(texts.front())) continue;
      missing[repository_of(texts.front())].insert(wanted_by.begin(), wanted_by.end());
    }
  }
  for (const auto& [repository, wanted_by] : missing) {
    context.sink.error(render::kNotMirrored, gap.origin(), "no mirror has `" + repository + "`")
        .label("nothing else can be reached")
        .expect("an item of `access.mirrors` whose `source` is `" + repository +
                "`, or what is above it")
        .note("wanted by " + base::join(Texts(wanted_by.begin(), wanted_by.end()), ", "))
        .suggest("`gpuctl mirror` lists all that is to be copied");
  }
}

}  // namespace gpuctl::pipeline
