#include "pipeline/foreign.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "document/codes.hpp"
#include "document/match.hpp"
#include "schema/kind_ref.hpp"
#include "secrets/fields.hpp"
#include "secrets/mask.hpp"
#include "yaml/read.hpp"

namespace gpuctl::pipeline {

namespace {

// Stands in every document of our own.
constexpr std::string_view kOwnGroup = "gpuctl.dev/";
// Others use anchors; few, and small ones.
constexpr std::size_t kMostAliases = 200;

bool is_object(const yaml::Node& document) {
  return document.get("apiVersion").is_string() && document.get("kind").is_string();
}

class DocumentChecker {
 public:
  /// `objects`: all documents of the file and of those beside it, as document::objects_of() lists
  /// them.
  DocumentChecker(const Request& request, Knowledge& knowledge, yaml::Node objects,
                  yaml::Context context)
      : request_(request),
        knowledge_(knowledge),
        objects_(objects),
        sources_(context.sources),
        arena_(context.arena),
        sink_(context.sink) {}

  void check(const yaml::Node& document) {
    const std::string name = knowledge_.platform_for(document);
    const Compiled* compiled =
        name.empty() ? nullptr : knowledge_.platform(name, diag::kNoOrigin, sink_);
    diag::Sink findings;
    bool known = false;
    bool advice = false;
    yaml::Node published;
    if (compiled != nullptr) {
      document::Context context;
      context.objects = objects_;
      const auto& releases = compiled->platform->releases;
      if (releases) {
        const auto given = request_.releases.find(releases->option);
        if (given != request_.releases.end()) context.release = given->second;
      }
      known = compiled->documents->check(document, context, {sources_, arena_, findings}).known;
      if (const auto found = document::match(compiled->platform->documents, document)) {
        published = compiled->platform->documents[found->kind].published;
        advice = compiled->documents->published_is_advice(document);
      }
    }
    known = check_published(document, published, advice, findings) || known;
    sink_.take(std::move(findings));
    if (known || !name.empty()) return;
    if (!is_object(document)) {
      const bool no_kind = !document.get("kind").is_string();
      sink_
          .error(document::kNoKind, document::start_of(document),
                 std::string("a document without `") + (no_kind ? "kind" : "apiVersion") + "`")
          .label("nobody can know what it is")
          .expect("`apiVersion` and `kind`")
          .suggest("add them, or keep it in a file of its own if it is no Kubernetes object");
      return;
    }
    const std::string_view version = document.get("apiVersion").as_string();
    const std::set<std::string> versions =
        knowledge_.versions_of(document.get("kind").as_string(), base::split(version, '/').front());
    if (!versions.empty() && !versions.contains(std::string(version))) {
      diag::Diagnostic& unknown =
          sink_.error(document::kNoVersion, document.get("apiVersion").origin(),
                      "`" + std::string(document.get("kind").as_string()) + "` has no version `" +
                          std::string(version) + "`");
      unknown.path = "apiVersion";
      unknown.label("not known")
          .expect(base::join(std::vector<std::string>(versions.begin(), versions.end()), " or "));
      return;
    }
    sink_
        .note(document::kNotChecked, document::start_of(document),
              "`" + std::string(document.get("kind").as_string()) + "` of `" +
                  std::string(document.get("apiVersion").as_string()) + "` is not checked")
        .label("gpuctl has no rules for this kind")
        .suggest("give the directory of its CRD with `--crds` to check its schema");
  }

 private:
  bool check_published(const yaml::Node& document, const yaml::Node& published, bool advice,
                       diag::Sink& findings) {
    if (!request_.crds) return false;
    const schema::KindRef wanted =
        published.is_map() ? schema::KindRef::written(published) : schema::KindRef::of(document);
    if (wanted.group.empty()) return false;
    diag::Sink more;
    {
      const std::lock_guard<std::mutex> one_at_a_time(request_.crds->mutex);
      const schema::Crd* crd =
          request_.crds->crds.find(wanted.group, wanted.version, wanted.kind, more);
      if (crd == nullptr || crd->schema == nullptr) {
        findings.take(std::move(more));
        return false;
      }
      schema::validate(*crd->schema, document, arena_, sources_, more);
    }
    for (diag::Diagnostic finding : more.all()) {
      const bool said = std::any_of(
          findings.all().begin(), findings.all().end(), [&](const diag::Diagnostic& other) {
            return other.primary.at == finding.primary.at && other.path == finding.path;
          });
      if (said) continue;
      if (advice) document::make_advice(finding);
      findings.add(std::move(finding));
    }
    return true;
  }

  const Request& request_;
  Knowledge& knowledge_;
  yaml::Node objects_;
  diag::Sources& sources_;
  yaml::Arena& arena_;
  diag::Sink& sink_;
};

}  // namespace

bool is_own(std::string_view text) {
  return text.find(kOwnGroup) != std::string_view::npos;
}

yaml::ReadLimits foreign_limits() {
  yaml::ReadLimits out = yaml::kubectl_limits();
  out.aliases = kMostAliases;
  return out;
}

std::optional<std::size_t> check_foreign(const std::string& name, const std::string& text,
                                         const Request& request, Knowledge& knowledge,
                                         yaml::Context context) {
  const auto& [sources, arena, sink] = context;
  if (is_own(text)) return std::nullopt;
  const diag::FileId file = sources.add_file(name, text);
  knowledge.hide_secrets(file, sources);
  diag::Sink findings;
  const std::optional<std::vector<yaml::Node>> documents =
      yaml::read_all(file, sources, arena, findings, foreign_limits());
  if (!documents) {
    sink.take(std::move(findings));
    return 0;
  }
  const auto counts = [&](const yaml::Node& document) {
    return is_object(document) || !knowledge.platform_for(document).empty();
  };
  if (std::none_of(documents->begin(), documents->end(), counts)) return std::nullopt;
  sink.take(std::move(findings));
  std::vector<document::Placed> placed;
  for (const yaml::Node& document : *documents) placed.push_back({document, {}});
  yaml::Node objects = document::objects_of(placed, arena);
  if (request.neighbours) {
    std::vector<yaml::Node> all = request.neighbours->beside(name);
    all.insert(all.begin(), objects.items().begin(), objects.items().end());
    objects = arena.list(all);
  }
  DocumentChecker checker(request, knowledge, objects, context);
  std::size_t number = 0;
  for (const yaml::Node& document : *documents) {
    if (document.is_null()) continue;
    ++number;
    checker.check(document);
  }
  return number;
}

}  // namespace gpuctl::pipeline
