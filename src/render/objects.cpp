#include "render/objects.hpp"

#include <array>
#include <string>

#include "base/text.hpp"
#include "render/codes.hpp"
#include "render/limits.hpp"
#include "render/overrides.hpp"
#include "schema/schema.hpp"

namespace gpuctl::render {

namespace {

// What every object has, and nothing else: apiVersion, kind, and metadata as the API server checks
// it.
const schema::Schema& any_object() {
  static const diag::Sources sources;
  static yaml::Arena arena;
  static const schema::SchemaPtr schema = [] {
    const std::array entries = {
        arena.entry("type", yaml::Node::view("object")),
        arena.entry("x-kubernetes-embedded-resource", yaml::Node::boolean(true)),
        arena.entry("x-kubernetes-preserve-unknown-fields", yaml::Node::boolean(true))};
    return schema::compile_checked(arena.map(entries), sources);
  }();
  return *schema;
}

class Check {
 public:
  Check(const catalog::Platform& platform, yaml::Arena& arena, const diag::Sources& sources,
        diag::Sink& sink)
      : free_names_(platform.catalog.get("freeNames")),
        platform_(platform),
        arena_(arena),
        sources_(sources),
        sink_(sink) {}

  void document(Document& document) {
    if (!fits(document)) return;
    if (!document.body.is_map()) {
      refuse(document, document.body.origin(), "is no mapping any more")
          .got(std::string(yaml::kind_name(document.body.kind())));
      return;
    }
    if (document.raw || !is_object(document)) return;
    const schema::KindRef now = schema::KindRef::of(document.body);
    const schema::KindRef before = schema::KindRef::of(document.unpatched);
    if (is_patched(document) && (now.group != before.group || now.kind != before.kind)) {
      refuse(document, document.body.get("kind").origin(), "becomes a " + now.kind)
          .suggest(
              "an override changes fields; another kind of object belongs in a file of its "
              "own, named in `extraManifests`");
      return;
    }
    const catalog::KindFacts* kind =
        platform_.kind(document.body.get("apiVersion").as_string(), now.kind);
    if (kind != nullptr) document.kind = kind;
  }

 private:
  static bool is_patched(const Document& document) {
    return document.patched_at != diag::kNoOrigin;
  }

  // An override is to blame where it stands; a document of the user is there at the value.
  diag::Diagnostic& refuse(const Document& document, diag::Origin at, const std::string& what) {
    const bool patched = is_patched(document);
    if (patched || at == diag::kNoOrigin) at = patched ? document.patched_at : document.origin;
    const std::string title = title_of(patched ? document.unpatched : document.body);
    return sink_.error(kBrokenDocument, at,
                       patched ? "with this override " + title + " " + what
                               : "this extra manifest, " + title + ", " + what);
  }

  bool is_object(const Document& document) {
    diag::Sink faults;
    schema::validate(any_object(), document.body, arena_, sources_, faults);
    for (const diag::Diagnostic& fault : faults.all()) {
      diag::Diagnostic& refused =
          refuse(document, fault.primary.at, "is no object: " + fault.message);
      refused.expected = fault.expected;
      refused.found = fault.found;
    }
    const yaml::Node name = document.body.get({"metadata", "name"});
    const schema::KindRef kind = schema::KindRef::of(document.body);
    const bool free = free_names_.find(kind.group) != nullptr;
    if (faults.has_errors()) return false;
    const bool good = name.is_string() && !name.as_string().empty() &&
                      (free || base::is_dns1123_subdomain(name.as_string()));
    if (good) return true;
    diag::Diagnostic& refused =
        refuse(document, name.origin(), name.is_null() ? "has no name" : "has no valid name")
            .expect(
                "`metadata.name` with at most 253 lower-case letters, digits, `-` and `.`, and "
                "a letter or digit at both ends");
    if (!name.is_null()) refused.got(std::string(name.as_string()));
    return false;
  }

  bool fits(const Document& document) {
    const Extent extent = extent_of(document.body);
    total_ += extent.bytes;
    if (extent.fits && total_ <= kMostChangedBytes) return true;
    if (total_reported_) return false;
    const bool patched = is_patched(document);
    const diag::Origin at = patched ? document.patched_at : document.origin;
    const std::string title = title_of(patched ? document.unpatched : document.body);
    if (extent.fits) {
      total_reported_ = true;
      sink_.error(kTooLarge, at, "what overrides changed and extra manifests bring is too much")
          .expect("at most " + std::to_string(kMostChangedBytes) + " bytes for one cluster")
          .note("the limit is passed by " + title);
    } else if (extent.bytes > kMostDocumentBytes) {
      sink_.error(kTooLarge, at, title + " is too large")
          .expect("at most " + std::to_string(kMostDocumentBytes) + " bytes")
          .note(
              "source: etcd, system limits: it takes no larger request, so no cluster can store it")
          .suggest("split the object, or keep its data elsewhere and refer to it");
    } else {
      sink_.error(kTooLarge, at, title + " is nested too deeply")
          .expect("at most " + std::to_string(kMostDocumentDepth) +
                  " mappings and lists in each other");
    }
    return false;
  }

  const yaml::Node free_names_;
  const catalog::Platform& platform_;
  yaml::Arena& arena_;
  const diag::Sources& sources_;
  diag::Sink& sink_;
  std::size_t total_ = 0;
  bool total_reported_ = false;
};

}  // namespace

void check_objects(std::span<Document> documents, const catalog::Platform& platform,
                   yaml::Arena& arena, const diag::Sources& sources, diag::Sink& sink) {
  Check check(platform, arena, sources, sink);
  for (Document& document : documents) {
    const bool changed = document.patched_at != diag::kNoOrigin;
    if (changed || document.made_by == nullptr) check.document(document);
  }
}

}  // namespace gpuctl::render
