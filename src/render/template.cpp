#include "render/template.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "document/document.hpp"
#include "render/codes.hpp"
#include "render/supplies.hpp"

namespace gpuctl::render {

namespace {

// Type of `layers` and `folders` in the index phase.
cel::Type lists_type() {
  const cel::Type string = cel::Type::simple(cel::TypeKind::string);
  auto object = std::make_shared<cel::ObjectType>();
  object->name = "object";
  object->fields = {{"apiVersion", string, true}, {"kind", string, true},
                    {"namespace", string, true},  {"name", string, true},
                    {"pool", string, true},       {"file", string, true}};
  auto layer = std::make_shared<cel::ObjectType>();
  layer->name = "layer";
  layer->fields = {{"name", string, true},
                   {"files", cel::Type::list(string), true},
                   {"kinds", cel::Type::list(cel::Type::dyn()), true},
                   {"objects", cel::Type::list(cel::Type::object(object)), true}};
  return cel::Type::list(cel::Type::object(layer));
}

// Type of `supplies` in the phase `mirror`.
cel::Type supplies_type() {
  auto all = std::make_shared<cel::ObjectType>();
  all->name = "supplies";
  for (const SupplyKind& kind : supply_kinds()) {
    auto one = std::make_shared<cel::ObjectType>();
    one->name = kind.name;
    for (const std::string_view field : kind.fields) {
      one->fields.push_back({std::string(field), cel::Type::simple(cel::TypeKind::string), true});
    }
    all->fields.push_back({std::string(kind.name), cel::Type::list(cel::Type::object(one)), true});
  }
  return cel::Type::object(all);
}

Phase phase_of(std::string_view written) {
  if (written == "index") return Phase::index;
  if (written == "supplies") return Phase::supplies;
  return written == "mirror" ? Phase::mirror : Phase::documents;
}

std::optional<cel::Text> compile_field(const yaml::Node& spec, std::string_view key,
                                       const cel::Environment& environment, diag::Sources& sources,
                                       diag::Sink& sink) {
  const yaml::Node* scalar = spec.find(key);
  if (scalar == nullptr) return std::nullopt;
  return cel::compile_text(*scalar, environment, sources, sink);
}

// The type of the value that a text gives.
cel::LazyType type_of(const cel::Text& text) {
  if (!text.is_whole()) return cel::Type::simple(cel::TypeKind::string);
  return cel::LazyType(
      [program = text.parts.front().expression.program] { return cel::type_of(*program); });
}

// The type of the items of the list that a text gives.
cel::LazyType element_of(const cel::Text& text) {
  return cel::LazyType([list = type_of(text)] { return list.get().element(); });
}

// Loops and locals extend `environment`, in order.
void add_loops(const yaml::Node& written, cel::Environment& environment, diag::Sources& sources,
               diag::Sink& sink, Content& out) {
  for (const yaml::Node& item : written.items()) {
    for (const yaml::Entry& loop : item.entries()) {
      std::optional<cel::Text> list = cel::compile_text(loop.value, environment, sources, sink);
      if (!list) continue;
      environment.variables.push_back({std::string(loop.key.as_string()), element_of(*list)},
                                      loop.value.as_string());
      out.loops.push_back({std::string(loop.key.as_string()), std::move(*list)});
    }
  }
}

void add_locals(const yaml::Node& written, cel::Environment& environment, diag::Sources& sources,
                diag::Sink& sink, Content& out) {
  for (const yaml::Entry& local : written.entries()) {
    std::optional<cel::Text> value = cel::compile_text(local.value, environment, sources, sink);
    if (!value) continue;
    environment.variables.push_back({std::string(local.key.as_string()), type_of(*value)},
                                    local.value.as_string());
    out.locals.push_back({std::string(local.key.as_string()), std::move(*value)});
  }
}

}  // namespace

const Content* Template::content(diag::Sink& sink) const {
  once_.call([&] {
    Content made;
    cel::Environment environment = *environment_;
    add_loops(spec_.get("forEach"), environment, *sources_, findings_, made);
    add_locals(spec_.get("locals"), environment, *sources_, findings_, made);
    made.output = compile_field(spec_, "output", environment, *sources_, findings_);
    made.pool = compile_field(spec_, "pool", environment, *sources_, findings_);
    if (findings_.has_errors()) return;
    made.body = compose::compile_body(spec_.get("template"), environment, *sources_, findings_);
    if (made.body != nullptr && !findings_.has_errors()) content_ = std::move(made);
  });
  diag::Sink copy = findings_;
  sink.take(std::move(copy));
  return content_ ? &*content_ : nullptr;
}

// Reads the heads of templates.
class TemplateCompiler {
 public:
  TemplateCompiler(std::shared_ptr<const cel::Environment> environment, catalog::Library& library,
                   bool thorough, diag::Sink& sink)
      : base_(std::move(environment)), library_(library), thorough_(thorough), sink_(sink) {
    environments_ = {{Phase::documents, base_},
                     {Phase::index, with({{"layers", lists_type()}, {"folders", lists_type()}})},
                     {Phase::supplies, with({{"objects", cel::LazyType(document::objects_type)}})},
                     {Phase::mirror, with({{"supplies", cel::LazyType(supplies_type)}})}};
  }

  std::unique_ptr<const Template> compile(const std::string& path) {
    const std::size_t errors_before = sink_.error_count();
    const yaml::Node tree = *library_.file(path);
    const yaml::Node spec = tree.get("spec");
    auto out = std::make_unique<Template>();
    out->path = path;
    out->origin = tree.get({"metadata", "name"}).origin();
    out->phase = phase_of(spec.get("phase").as_string());
    out->raw = spec.get("raw").as_boolean();
    out->layer = spec.get("layer").as_string();
    out->folder = spec.get("folder").as_string();
    out->is_private = spec.get("private").as_boolean();
    out->schema_of = schema::KindRef::written(spec.get("schemaOf"));
    out->spec_ = spec;
    out->environment_ = environments_.at(out->phase);
    out->sources_ = &library_.sources();
    out->include_when =
        compile_field(spec, "includeWhen", *out->environment_, library_.sources(), sink_);
    if (thorough_) out->content(sink_);
    if (sink_.error_count() != errors_before) return nullptr;
    return out;
  }

 private:
  std::shared_ptr<const cel::Environment> with(std::vector<cel::Variable> variables) const {
    auto out = std::make_shared<cel::Environment>(*base_);
    for (cel::Variable& variable : variables) out->variables.push_back(std::move(variable));
    return out;
  }

  std::shared_ptr<const cel::Environment> base_;
  std::map<Phase, std::shared_ptr<const cel::Environment>> environments_;
  catalog::Library& library_;
  bool thorough_;
  diag::Sink& sink_;
};

namespace {

bool is_literal(std::string_view text) {
  return !text.empty() && text.find("${") == std::string_view::npos;
}

// All kinds of objects that templates write and no kinds.yaml knows, in one finding.
void check_kinds(const catalog::Platform& platform, catalog::Library& library, diag::Sink& sink) {
  diag::Diagnostic missing;
  missing.code = kUnknownKind;
  std::set<std::string> named;
  for (const std::string& path : platform.templates) {
    const yaml::Node spec = library.file(path)->get("spec");
    const std::string_view version = spec.get({"template", "apiVersion"}).as_string();
    const yaml::Node kind = spec.get({"template", "kind"});
    if (spec.get("raw").as_boolean() || !is_literal(version) || !is_literal(kind.as_string()) ||
        platform.kind(version, kind.as_string()) != nullptr) {
      continue;
    }
    const std::string name =
        "kind `" + std::string(kind.as_string()) + "` (" + std::string(version) + ")";
    if (named.insert(name).second) {
      missing.message += (missing.message.empty() ? "no facts about " : " and ") + name;
    }
    if (missing.primary.at == diag::kNoOrigin) {
      missing.primary.at = kind.origin();
    } else {
      missing.also(kind.origin(), "");
    }
  }
  if (named.empty()) return;
  missing.suggest(named.size() == 1 ? "add a row to a `kinds.yaml`"
                                    : "add rows to a `kinds.yaml` of the platform");
  sink.add(std::move(missing));
}

}  // namespace

std::shared_ptr<const Templates> compile(const catalog::Platform& platform,
                                         std::shared_ptr<const cel::Environment> environment,
                                         catalog::Library& library, bool thorough,
                                         diag::Sink& sink) {
  TemplateCompiler compiler(std::move(environment), library, thorough, sink);
  auto templates = std::make_shared<Templates>();
  const std::size_t errors_before = sink.error_count();
  if (thorough) check_kinds(platform, library, sink);
  bool good = sink.error_count() == errors_before;
  for (const std::string& path : platform.templates) {
    std::unique_ptr<const Template> compiled = compiler.compile(path);
    good = good && compiled != nullptr;
    if (compiled != nullptr) templates->push_back(std::move(compiled));
  }
  return good ? templates : nullptr;
}

}  // namespace gpuctl::render
