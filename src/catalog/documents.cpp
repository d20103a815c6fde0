#include "catalog/documents.hpp"

#include <algorithm>
#include <map>

#include "catalog/codes.hpp"
#include "catalog/shared.hpp"
#include "catalog/wrapper.hpp"

namespace gpuctl::catalog {

namespace {

// No kind is that special; this ends a circle.
constexpr std::size_t kDeepest = 8;

/// What the files say of one kind.
struct Parts {
  std::string extends;
  diag::Origin extends_at = diag::kNoOrigin;
  std::vector<yaml::Node> matches;
  std::vector<yaml::Node> fragments;
  std::vector<yaml::Node> conversions;
  yaml::Node published;
  yaml::Node judged_as;
};

// A schema that was checked before, with what it shares.
struct WithShared : yaml::Deferred {
  WithShared(const yaml::Node& written, const yaml::Node& parts, yaml::SharedArena& arena)
      : Deferred(make), schema(written), shared(parts), home(arena) {}

  static yaml::Node make(const yaml::Deferred& self) {
    const auto& parts = static_cast<const WithShared&>(self);
    diag::Sink none;
    return with_shared(parts.schema, parts.shared, parts.home, none);
  }

  yaml::Node schema;
  yaml::Node shared;
  yaml::SharedArena& home;
};

class DocumentLoader {
 public:
  DocumentLoader(Library& library, diag::Sink& sink) : library_(library), sink_(sink) {}

  std::vector<DocumentKind> load(const std::vector<std::string>& folders) {
    for (const std::string& folder : folders) {
      for (const std::string& path : library_.list("providers/" + folder + "/documents/")) {
        read(*library_.file(path));
      }
    }
    for (const auto& [name, at] : rules_for_) {
      if (!parts_.contains(name)) {
        std::vector<std::string> known;
        for (const auto& [other, parts] : parts_) known.push_back(other);
        sink_.error(kUnknownName, at, "no document kind `" + name + "`").did_you_mean(name, known);
      }
    }
    std::vector<DocumentKind> out;
    for (const auto& [name, parts] : parts_) {
      DocumentKind kind;
      kind.name = name;
      kind.extends = parts.extends;
      kind.matches = parts.matches;
      if (inherit(name, kind)) out.push_back(std::move(kind));
    }
    return out;
  }

 private:
  void read(const yaml::Node& tree) {
    const std::string_view kind = tree.get("kind").as_string();
    const yaml::Node spec = tree.get("spec");
    const bool schema = kind == "DocumentSchema";
    const bool releases = kind == "DocumentReleases";
    if (schema) {
      add_schema(tree.get({"metadata", "name"}), spec);
    } else if (releases) {
      add_releases(spec);
    } else {
      add_rules(spec);
    }
  }

  void add_releases(const yaml::Node& spec) {
    const yaml::Node on = spec.get("on");
    rules_for_.emplace(on.as_string(), on.origin());
    availability_[std::string(on.as_string())].push_back(spec);
  }

  void add_schema(const yaml::Node& name, const yaml::Node& spec) {
    Parts& parts = parts_[std::string(name.as_string())];
    if (const yaml::Node extends = spec.get("extends"); extends.is_string()) {
      parts.extends = extends.as_string();
      parts.extends_at = extends.origin();
    }
    append(parts.matches, spec.get("match"));
    if (const yaml::Node* published = spec.find("published")) parts.published = *published;
    if (const yaml::Node* other = spec.find("judgedAs")) parts.judged_as = *other;
    append(parts.conversions, spec.get("convert"));
    parts.fragments.push_back(schema_at(spec.get("at").as_string(),
                                        fragment(spec.get("schema"), spec.get("shared")),
                                        library_.arena()));
  }

  // The build has checked what is built in: it is put together when the kind is first met.
  yaml::Node fragment(const yaml::Node& schema, const yaml::Node& shared) {
    if (library_.has_overlays() || schema.find(kTakesShared) != nullptr) {
      return with_shared(schema, shared, library_.shared_arena(), sink_);
    }
    if (!shared.is_map()) return schema;
    const auto& later = library_.arena().make<WithShared>(schema, shared, library_.shared_arena());
    return yaml::Node::later(yaml::Kind::map, schema.size(), later, schema.origin());
  }

  void add_rules(const yaml::Node& spec) {
    std::map<std::string, std::vector<yaml::Node>> by_kind;
    for (const yaml::Node& rule : spec.get("rules").items()) {
      const yaml::Node* own = rule.find("on");
      const yaml::Node on = own == nullptr ? spec.get("on") : *own;
      rules_for_.emplace(on.as_string(), on.origin());
      by_kind[std::string(on.as_string())].push_back(rule);
    }
    for (const auto& [kind, rules] : by_kind) {
      pending_[kind].push_back({{}, spec.get("variables"), library_.arena().list(rules)});
    }
  }

  static void append(std::vector<yaml::Node>& to, const yaml::Node& list) {
    to.insert(to.end(), list.items().begin(), list.items().end());
  }

  // Fills in what comes from the kinds that it extends, the most general first.
  bool inherit(const std::string& name, DocumentKind& kind) {
    std::vector<const Parts*> chain;
    for (std::string next = name; !next.empty(); next = chain.back()->extends) {
      const auto found = parts_.find(next);
      if (found == parts_.end() || chain.size() == kDeepest) {
        sink_.error(kUnknownName, chain.back()->extends_at,
                    "no document kind `" + next + "` that `" + name + "` could extend");
        return false;
      }
      chain.push_back(&found->second);
    }
    kind.depth = chain.size() - 1;
    for (auto parts = chain.rbegin(); parts != chain.rend(); ++parts) {
      kind.fragments.insert(kind.fragments.end(), (*parts)->fragments.begin(),
                            (*parts)->fragments.end());
      kind.conversions.insert(kind.conversions.end(), (*parts)->conversions.begin(),
                              (*parts)->conversions.end());
      if ((*parts)->published.is_map()) kind.published = (*parts)->published;
      if ((*parts)->judged_as.is_map()) kind.judged_as = (*parts)->judged_as;
    }
    kind.rules = pending_[name];
    kind.availability = availability_[name];
    return true;
  }

  Library& library_;
  diag::Sink& sink_;
  std::map<std::string, Parts> parts_;
  std::map<std::string, std::vector<RuleFile>> pending_;
  std::map<std::string, std::vector<yaml::Node>> availability_;
  std::map<std::string, diag::Origin> rules_for_;
};

}  // namespace

std::vector<DocumentKind> load_documents(Library& library, const std::vector<std::string>& folders,
                                         diag::Sink& sink) {
  return DocumentLoader(library, sink).load(folders);
}

namespace {

yaml::Node prepared_rules(const std::vector<RuleFile>& files, yaml::Arena& arena) {
  std::vector<yaml::Node> out;
  for (const RuleFile& file : files) {
    const yaml::Entry entries[] = {arena.entry("variables", file.variables),
                                   arena.entry("rules", file.rules)};
    out.push_back(arena.map(entries));
  }
  return arena.list(out);
}

}  // namespace

yaml::Node prepared_documents(const std::vector<DocumentKind>& kinds, yaml::Arena& arena) {
  std::vector<yaml::Node> all;
  for (const DocumentKind& kind : kinds) {
    yaml::MapBuilder out;
    out.set(arena, "name", arena.string(kind.name));
    out.set(arena, "extends", arena.string(kind.extends));
    out.set(arena, "depth", yaml::Node::integer(static_cast<std::int64_t>(kind.depth)));
    out.set(arena, "matches", arena.list(kind.matches));
    out.set(arena, "definition", kind.fragments.front());
    out.set(arena, "conversions", arena.list(kind.conversions));
    out.set(arena, "rules", prepared_rules(kind.rules, arena));
    out.set(arena, "availability", arena.list(kind.availability));
    out.set(arena, "published", kind.published);
    out.set(arena, "judgedAs", kind.judged_as);
    all.push_back(out.build(arena));
  }
  return arena.list(all);
}

std::vector<DocumentKind> documents_of(Library& library, const std::string& platform,
                                       const std::vector<std::string>& folders, diag::Sink& sink) {
  const std::optional<yaml::Node> ready = library.prepared(platform + "#documents");
  if (!ready) return load_documents(library, folders, sink);
  const auto list = [](const yaml::Node& node) {
    return std::vector<yaml::Node>(node.items().begin(), node.items().end());
  };
  std::vector<DocumentKind> out;
  out.reserve(ready->size());
  for (const yaml::Node& written : ready->items()) {
    DocumentKind& kind = out.emplace_back();
    kind.name = written.get("name").as_string();
    kind.extends = written.get("extends").as_string();
    kind.depth = static_cast<std::size_t>(written.get("depth").as_integer());
    kind.matches = list(written.get("matches"));
    kind.fragments = {written.get("definition")};
    kind.whole = true;
    kind.conversions = list(written.get("conversions"));
    for (const yaml::Node& file : written.get("rules").items()) {
      kind.rules.push_back({{}, file.get("variables"), file.get("rules")});
    }
    kind.availability = list(written.get("availability"));
    kind.published = written.get("published");
    kind.judged_as = written.get("judgedAs");
  }
  return out;
}

Releases read_releases(const yaml::Node& written) {
  const auto text = [&](const char* key) { return std::string(written.get(key).as_string()); };
  Releases out;
  out.option = text("option");
  out.table = text("table");
  out.features = text("features");
  out.derived = text("derived");
  out.unnamed = text("unnamed");
  out.oldest = text("oldest");
  out.title = text("title");
  out.gates = text("gates");
  out.custom_set = text("customFeatureSet");
  for (const yaml::Node& set : written.get("featureSets").items()) {
    out.feature_sets.emplace_back(set.as_string());
  }
  return out;
}

std::vector<Releases> all_releases(Library& library) {
  std::map<std::string, Releases> out;
  for (const std::string& folder : provider_folders(library)) {
    const yaml::Node written =
        spec_of(library, "providers/" + folder + "/provider.yaml").get("releases");
    if (!written.is_map()) continue;
    Releases releases = read_releases(written);
    out.emplace(releases.option, std::move(releases));
  }
  std::vector<Releases> list;
  for (auto& [option, releases] : out) list.push_back(std::move(releases));
  return list;
}

}  // namespace gpuctl::catalog
