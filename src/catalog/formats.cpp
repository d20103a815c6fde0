#include "catalog/formats.hpp"

#include <fnmatch.h>

#include <algorithm>

#include "base/text.hpp"
#include "catalog/codes.hpp"
#include "catalog/shared.hpp"
#include "catalog/wrapper.hpp"
#include "yaml/read.hpp"

namespace gpuctl::catalog {

namespace {

using yaml::Node;

constexpr std::string_view kFolder = "providers/formats/";
constexpr std::string_view kFormat = "x-gpuctl-format";
constexpr std::string_view kWrapper = "Wrapper";
constexpr std::string_view kAnything = "/**";

bool fits(const std::string& pattern, const std::string& path) {
  if (pattern.ends_with(kAnything)) {
    return path.starts_with(pattern.substr(0, pattern.size() - kAnything.size() + 1));
  }
  return ::fnmatch(pattern.c_str(), path.c_str(), FNM_PATHNAME) == 0;
}

// The schema of an entry of a map, or null.
Node field_of(const Node& definition, const Node& key) {
  if (const Node* field = definition.get("properties").find(key.as_string())) return *field;
  return definition.get("additionalProperties");
}

// A schema that asks for a field, and says nothing else.
Node requires_field(std::string_view name, yaml::Arena& arena) {
  const Node names[] = {Node::view(name)};
  const yaml::Entry required = arena.entry("required", arena.list(names));
  return arena.map({&required, 1});
}

}  // namespace

Formats::Formats(Library& library, diag::Sink& sink) : library_(library) {
  const Node wrapper = spec_of(library_, std::string(kFolder) + "wrapper.yaml");
  for (const std::string& path : library_.list(kFolder)) {
    const Node spec = spec_of(library_, path);
    Format format;
    format.kind = library_.file(path)->get({"metadata", "name"}).as_string();
    for (const Node& pattern : spec.get("files").items()) {
      format.files.emplace_back(pattern.as_string());
    }
    const std::string file = path.substr(kFolder.size());
    format.page = "docs/knowledge/" + file.substr(0, file.rfind('.')) + ".md";
    format.built_in = library_.is_built_in(path);
    format.definition =
        with_shared(spec.get("schema"), wrapper.get("shared"), library_.shared_arena(), sink);
    if (!format.files.empty()) {
      std::vector<Node> fragments = {wrapper.get("schema")};
      if (spec.get("named").as_boolean()) {
        fragments.push_back(requires_field("metadata", library_.arena()));
        fragments.push_back(
            schema_at("metadata", requires_field("name", library_.arena()), library_.arena()));
      }
      fragments.push_back(schema_at("spec", format.definition, library_.arena()));
      format.definition = schema::merge_fragments(fragments, library_.arena(), sink);
    }
    if (format.kind != kWrapper) formats_.push_back(std::move(format));
  }
}

const Format* Formats::find(std::string_view kind) const {
  const auto found = std::find_if(formats_.begin(), formats_.end(),
                                  [&](const Format& format) { return format.kind == kind; });
  return found == formats_.end() ? nullptr : &*found;
}

std::vector<const Format*> Formats::of_path(const std::string& path) const {
  std::vector<const Format*> out;
  for (const Format& format : formats_) {
    if (path.starts_with(kFolder) != (format.kind == "Format")) continue;
    if (std::any_of(format.files.begin(), format.files.end(),
                    [&](const std::string& pattern) { return fits(pattern, path); })) {
      out.push_back(&format);
    }
  }
  return out;
}

// A file that nothing would ever read.
void Formats::refuse_path(const std::string& path, const Node& document, diag::Sink& sink) const {
  const std::size_t folder = path.find('/', path.find('/') + 1);
  std::vector<std::string> known;
  for (const Format& format : formats_) {
    for (const std::string& pattern : format.files) {
      if (!pattern.starts_with("providers/*/")) continue;
      known.push_back(pattern.substr(std::string_view("providers/*/").size()));
    }
  }
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  sink.error(kKnowledgeFile, document.origin(), "no knowledge is read from `" + path + "`")
      .expect("providers/NAME/ with one of " + base::join(known, ", "))
      .did_you_mean(folder == std::string::npos ? path : path.substr(folder + 1), known);
}

void Formats::check(const std::string& path, const Node& document, diag::Sink& sink) {
  const std::vector<const Format*> possible = of_path(path);
  if (possible.empty()) return refuse_path(path, document, sink);
  const Node kind = document.get("kind");
  std::vector<std::string> kinds;
  for (const Format* format : possible) {
    if (format->kind == kind.as_string()) {
      return check_part(*format, format->kind + ": ", document, sink);
    }
    kinds.push_back(format->kind);
  }
  sink.error(kKnowledgeFile, kind.is_null() ? document.origin() : kind.origin(),
             "`" + path + "` is no " + base::join(kinds, " or "))
      .expect("kind " + base::join(kinds, " or "))
      .did_you_mean(kind.as_string(), kinds);
}

const schema::Schema& Formats::schema_of(const Format& format, diag::Sink& sink) {
  schema::SchemaPtr& schema = schemas_[format.kind];
  if (schema == nullptr) {
    schema = format.built_in ? schema::compile_checked(format.definition, library_.sources())
                             : schema::compile(format.definition, library_.sources(), sink);
  }
  return *schema;
}

void Formats::check_part(const Format& format, const std::string& subject, const Node& value,
                         diag::Sink& sink) {
  diag::Sink findings;
  schema::ValidateOptions options;
  options.subject = subject;
  schema::validate(schema_of(format, sink), value, library_.arena(), library_.sources(), findings,
                   options);
  for (const diag::Diagnostic& finding : findings.all()) {
    diag::Diagnostic& added = sink.add(finding);
    added.code = kKnowledgeFile;
    if (format.files.empty()) added.primary.text.clear();  // it speaks of a whole document
    added.note("the fields of this format: " + format.page);
  }
  check_parts_below(format.definition, value, subject, sink);
}

void Formats::check_parts_below(const Node& definition, const Node& value,
                                const std::string& subject, diag::Sink& sink) {
  if (const Node* other = definition.find(kFormat)) {
    const Format* format = find(other->as_string());
    if (format != nullptr && value.is_map()) check_part(*format, subject, value, sink);
    return;
  }
  for (const yaml::Entry& entry : value.entries()) {
    check_parts_below(field_of(definition, entry.key), entry.value, subject, sink);
  }
  for (const Node& item : value.items()) {
    check_parts_below(definition.get("items"), item, subject, sink);
  }
}

void Formats::visit(std::string_view kind, const Node& document, const Visitor& visitor) const {
  if (const Format* format = find(kind)) visit_below(format->definition, document, visitor);
}

void Formats::visit_below(const Node& definition, const Node& value, const Visitor& visitor) const {
  if (!definition.is_map()) return;
  visitor(definition, value);
  for (const yaml::Entry& entry : value.entries()) {
    visit_below(field_of(definition, entry.key), entry.value, visitor);
  }
  for (const Node& item : value.items()) visit_below(definition.get("items"), item, visitor);
}

void Formats::check_format(const std::string& path, diag::Sink& sink) {
  const Format* format = find(library_.file(path)->get({"metadata", "name"}).as_string());
  if (format == nullptr) return;
  schema_of(*format, sink);
  const std::string_view text = spec_of(library_, path).get("example").as_string();
  if (text.empty()) return;
  diag::Sources& sources = library_.sources();
  const diag::FileId file = sources.add_file(path + ", example", std::string(text));
  const std::optional<Node> document = yaml::read(file, sources, library_.arena(), sink);
  if (document) check_part(*format, format->kind + ": ", *document, sink);
}

namespace {

// Nothing reads a folder without a provider.yaml, except rules on secrets, which hold everywhere.
// One finding for each folder.
void check_providers(Library& library, diag::Sink& sink) {
  std::string reported;
  for (const std::string& path : library.list("providers/")) {
    const std::string folder = path.substr(0, path.find('/', path.find('/') + 1) + 1);
    if (library.is_built_in(path) || folder == kFolder || folder == reported ||
        library.has(folder + "provider.yaml") || path.starts_with(folder + "secrets/")) {
      continue;
    }
    sink.error(kUnknownName, library.file(path)->origin(),
               "`" + folder + "` has no provider.yaml: nothing reads what it holds")
        .expect(folder + "provider.yaml");
    reported = folder;
  }
}

bool is_base(Library& library, const std::string& path) {
  return library.file(path)->get("kind").as_string() == kTemplateBase;
}

// Templates that extend what is no base. Of the others nothing is left of `extends`.
void check_bases(Library& library, diag::Sink& sink) {
  std::vector<std::string> bases;
  for (const std::string& path : library.list(kTemplates)) {
    if (is_base(library, path)) bases.push_back(path.substr(kTemplates.size()));
  }
  for (const std::string& path : library.list(kTemplates)) {
    const Node base = spec_of(library, path).get("extends");
    if (!base.is_string()) continue;
    sink.error(kUnknownName, base.origin(),
               "no " + std::string(kTemplateBase) + " `" + std::string(base.as_string()) + "`")
        .did_you_mean(base.as_string(), bases);
  }
}

// Templates that no provider lists would never be rendered. Not asked while a provider lists one
// that is not there: that is said where the provider is read, and probably means this one.
void check_listed(Library& library, diag::Sink& sink) {
  std::vector<std::string> listed;
  for (const std::string& folder : provider_folders(library)) {
    const Node spec = spec_of(library, "providers/" + folder + "/provider.yaml");
    for (const Node& name : spec.get("templates").items()) {
      listed.push_back("templates/" + std::string(name.as_string()));
      if (library.file(listed.back()) == nullptr) return;
    }
  }
  for (const std::string& path : library.list("templates/")) {
    if (library.is_built_in(path) || is_base(library, path) ||
        std::find(listed.begin(), listed.end(), path) != listed.end()) {
      continue;
    }
    sink.error(kUnknownName, library.file(path)->origin(), "no provider lists `" + path + "`")
        .did_you_mean(path, listed);
  }
}

}  // namespace

bool check_formats(Library& library, diag::Sink& sink) {
  const std::size_t errors_before = sink.error_count();
  Formats formats(library, sink);
  check_bases(library, sink);
  if (sink.error_count() != errors_before) return false;
  for (const char* folder : {"providers/", "templates/"}) {
    for (const std::string& path : library.list(folder)) {
      if (library.is_built_in(path)) continue;
      formats.check(path, *library.file(path), sink);
      if (path.starts_with(kFolder)) formats.check_format(path, sink);
    }
  }
  if (sink.error_count() == errors_before) check_providers(library, sink);
  if (sink.error_count() == errors_before) check_listed(library, sink);
  return sink.error_count() == errors_before;
}

}  // namespace gpuctl::catalog
