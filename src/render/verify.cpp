#include "render/verify.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "render/codes.hpp"
#include "schema/codes.hpp"

namespace gpuctl::render {

namespace {

// Groups that the API server has built in, so that no CRD describes them.
bool is_built_in_group(std::string_view group) {
  return group.find('.') == std::string_view::npos || group.ends_with(".k8s.io");
}

// Every value we wrote must survive defaulting. Gives the first path that does not, or "".
std::string changed_by_defaults(const yaml::Node& written, const yaml::Node& defaulted,
                                const std::string& path) {
  if (written.is_map() && defaulted.is_map()) {
    for (const yaml::Entry& entry : written.entries()) {
      std::string below = path + "." + std::string(entry.key.as_string());
      const yaml::Node* other = defaulted.find(entry.key);
      if (other == nullptr) return below;
      std::string changed = changed_by_defaults(entry.value, *other, below);
      if (!changed.empty()) return changed;
    }
    return "";
  }
  if (written.is_list() && defaulted.is_list() && written.size() == defaulted.size()) {
    for (std::size_t i = 0; i < written.size(); ++i) {
      std::string changed = changed_by_defaults(written.items()[i], defaulted.items()[i],
                                                path + "[" + std::to_string(i) + "]");
      if (!changed.empty()) return changed;
    }
    return "";
  }
  return yaml::equal(written, defaulted) ? "" : path;
}

// Fewer are mistakes in a template.
constexpr std::size_t kFewestFields = 3;

// Fields that a template writes and no schema of documents knows, in one finding: it is the schema
// that is not there. `told` has the places of such findings: one for all documents of a template.
void add_findings(const Document& document, const diag::Sink& findings,
                  const diag::Sources& sources, std::set<diag::Origin>& told, diag::Sink& sink) {
  const diag::Span* made_at = sources.span(document.origin);
  const auto is_unknown = [&](const diag::Diagnostic& finding) {
    const diag::Span* at = sources.span(finding.primary.at);
    return document.made_by != nullptr && finding.code == schema::kUnknownField && at != nullptr &&
           made_at != nullptr && at->file == made_at->file;
  };
  const std::vector<diag::Diagnostic>& all = findings.all();
  const auto unknown = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), is_unknown));
  std::vector<std::string> paths;
  diag::Origin first = diag::kNoOrigin;
  for (const diag::Diagnostic& finding : all) {
    if (unknown < kFewestFields || !is_unknown(finding)) {
      sink.add(finding);
      continue;
    }
    if (paths.empty()) first = finding.primary.at;
    paths.push_back("`" + finding.path + "`");
  }
  if (paths.empty() || !told.insert(first).second) return;
  sink.error(schema::kUnknownField, first,
             document.path + ": the platform has no documents/ with " + base::join(paths, ", "))
      .expect("a DocumentSchema that declares them, of this kind or one that extends it");
}

yaml::Node objects_among(const std::vector<Document>& documents, yaml::Arena& arena) {
  std::vector<document::Placed> objects;
  for (const Document& document : documents) {
    if (!document.raw) objects.push_back({document.body, document.layer});
  }
  return document::objects_of(objects, arena);
}

// All that the verdict on a rendered document depends on: its content and how it is checked. It is
// told nothing of its cluster, and a run has one knowledge.
base::Sha256 verdict_on(const Document& document, const document::Context& about,
                        const document::Kinds& kinds) {
  std::string key = "verify_as_read\n" + kinds.platform().name + "\n" + about.release + "\n";
  for (const std::string& path : about.exempt) key += path + "\n";
  key.append(reinterpret_cast<const char*>(document.digest->data()), document.digest->size());
  return base::sha256(key);
}

}  // namespace

void verify(const std::vector<Document>& documents, const document::Kinds& kinds,
            schema::Crds& crds, bool secrets_left_out, yaml::Context context,
            schema::RuleCounts* counts) {
  std::set<std::string> reported;
  for (const Document& document : documents) {
    if (document.leaving) continue;  // it was verified when it came
    schema::KindRef wanted = document.schema_of;
    if (wanted.empty()) {
      if (document.raw) continue;
      wanted = schema::KindRef::of(document.body);
      if (is_built_in_group(wanted.group)) continue;
    }
    const schema::Crd* crd = crds.find(wanted.group, wanted.version, wanted.kind, context.sink);
    if (crd == nullptr || crd->schema == nullptr) {
      const std::string name = wanted.group + "/" + wanted.version + " " + wanted.kind;
      if (reported.insert(name).second) {
        context.sink.note(schema::kNoCrd, document.origin, "no CRD for " + name + ": not checked")
            .suggest("export it from a cluster that has it and give its directory with `--crds`");
      }
      continue;
    }
    schema::ValidateOptions options;
    options.subject = document.path + ": ";
    options.counts = counts;
    if (secrets_left_out) options.exempt = secret_paths(document);
    diag::Sink findings;
    schema::validate(*crd->schema, document.body, context.arena, context.sources, findings,
                     options);
    const bool advice = !findings.all().empty() && kinds.published_is_advice(document.body);
    for (diag::Diagnostic finding : findings.all()) {
      if (advice) document::make_advice(finding);
      context.sink.add(std::move(finding));
    }
    const yaml::Node defaulted = schema::apply_defaults(*crd->schema, document.body, context.arena);
    const std::string changed = changed_by_defaults(document.body, defaulted, "");
    if (!changed.empty()) {
      context.sink
          .error(kFaultyDocument, document.origin,
                 document.path + ": the API server would change `" + changed.substr(1) + "`")
          .suggest("leave the field out, or give it the value the CRD defaults to");
    }
  }
}

void verify_as_read(const std::vector<Document>& documents, const document::Kinds& kinds,
                    const std::string& release, const yaml::Node& cluster, bool secrets_left_out,
                    base::CleanRecord* clean, yaml::Context context) {
  document::Context about;
  about.release = release;
  yaml::Node objects;
  std::set<diag::Origin> told;
  for (const Document& document : documents) {
    if (!document.body.is_map() || document.leaving) continue;
    if (document.authentic) continue;  // its reader is a program; it was verified in clear
    const bool extra = document.made_by == nullptr;
    if (extra && objects.is_null()) objects = objects_among(documents, context.arena);
    about.rendered = !extra;
    about.cluster = extra ? cluster : yaml::Node();
    about.objects = extra ? objects : yaml::Node();
    about.prefix = extra ? std::string() : document.path + ": ";
    about.fallback = document.origin;
    about.exempt.clear();
    if (secrets_left_out) about.exempt = secret_paths(document);
    std::optional<base::Sha256> verdict;
    if (clean != nullptr && !extra && document.digest) {
      verdict = verdict_on(document, about, kinds);
      if (clean->cost_of(*verdict)) continue;
    }
    diag::Sink findings;
    const auto checked = kinds.check(document.body, about, context.into(findings));
    // What is hidden has to be hidden in the sources of each cluster.
    if (verdict && findings.all().empty() && !checked.has_secrets) clean->add(*verdict);
    add_findings(document, findings, context.sources, told, context.sink);
  }
}

}  // namespace gpuctl::render
