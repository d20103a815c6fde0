#include "render/template.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "render/codes.hpp"

namespace gpuctl::render {

namespace {

const std::vector<std::string> kKeys = {"includeWhen", "forEach", "locals", "layer",
                                        "output",      "phase",   "raw",    "pool",
                                        "schemaOf",    "template"};

// Type of `layers` in the index phase.
cel::Type layers_type() {
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

class Compiler {
 public:
  Compiler(const catalog::Platform& platform, catalog::Library& library, diag::Sink& sink)
      : base_(derive::base_environment(platform)), library_(library), sink_(sink) {}

  std::optional<Template> compile(const std::string& path) {
    const std::size_t errors_before = sink_.error_count();
    const yaml::Node tree = *library_.file(path);
    const yaml::Node spec = tree.get("spec");
    if (tree.get("kind").as_string() != "Template" || !spec.is_map() ||
        spec.find("template") == nullptr) {
      sink_.error(kFaultyTemplate, tree.origin(), "`" + path + "` is no template")
          .expect("`kind: Template` and `spec.template`");
      return std::nullopt;
    }
    for (const yaml::Entry& entry : spec.entries()) {
      const std::string key(entry.key.as_string());
      if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) {
        sink_.error(kFaultyTemplate, entry.key.origin(), "unknown key `" + key + "` in a template")
            .did_you_mean(key, kKeys);
      }
    }
    Template out;
    out.path = path;
    out.name = tree.get({"metadata", "name"}).as_string();
    out.origin = tree.get({"metadata", "name"}).origin();
    const std::string_view phase = spec.get("phase").as_string();
    if (!phase.empty() && phase != "documents" && phase != "index") {
      sink_.error(kFaultyTemplate, spec.get("phase").origin(),
                  "unknown phase `" + std::string(phase) + "`")
          .expect("documents or index");
    }
    out.index = phase == "index";
    out.raw = spec.get("raw").as_boolean();
    out.layer = spec.get("layer").as_string();
    const yaml::Node schema_of = spec.get("schemaOf");
    out.schema_of = {std::string(schema_of.get("group").as_string()),
                     std::string(schema_of.get("version").as_string()),
                     std::string(schema_of.get("kind").as_string())};
    cel::Environment environment = base_;
    if (out.index) environment.variables.push_back({"layers", layers_type()});
    out.include_when = text(spec, "includeWhen", environment);
    add_loops(spec.get("forEach"), environment, out);
    for (const yaml::Entry& local : spec.get("locals").entries()) {
      if (!local.value.is_string()) {
        sink_.error(kFaultyTemplate, local.value.origin(), "a local must be text or `${...}`");
        continue;
      }
      std::optional<cel::Text> value =
          cel::compile_text(local.value, environment, library_.sources(), sink_);
      if (!value) continue;
      const cel::Type type = value->is_whole()
                                 ? cel::type_of(*value->parts.front().expression.program)
                                 : cel::Type::simple(cel::TypeKind::string);
      environment.variables.push_back({std::string(local.key.as_string()), type});
      out.locals.push_back({std::string(local.key.as_string()), std::move(*value)});
    }
    out.output = text(spec, "output", environment);
    out.pool = text(spec, "pool", environment);
    if (out.layer.empty() == !out.output.has_value()) {
      sink_.error(kFaultyTemplate, tree.origin(),
                  "a template needs either `layer` or `output`");
    }
    if (sink_.error_count() != errors_before) return std::nullopt;
    out.body = compile_body(spec.get("template"), environment, library_.sources(), sink_);
    if (out.body == nullptr || sink_.error_count() != errors_before) return std::nullopt;
    return out;
  }

 private:
  std::optional<cel::Text> text(const yaml::Node& spec, std::string_view key,
                                const cel::Environment& environment) {
    const yaml::Node* scalar = spec.find(key);
    if (scalar == nullptr) return std::nullopt;
    if (!scalar->is_string()) {
      sink_.error(kFaultyTemplate, scalar->origin(),
                  "`" + std::string(key) + "` must be text or `${...}`");
      return std::nullopt;
    }
    return cel::compile_text(*scalar, environment, library_.sources(), sink_);
  }

  void add_loops(const yaml::Node& written, cel::Environment& environment, Template& out) {
    if (!written.is_null() && !written.is_list()) {
      sink_.error(kFaultyTemplate, written.origin(), "`forEach` of a template is a list")
          .expect("`- variable: ${list}` for each loop");
    }
    for (const yaml::Node& item : written.items()) {
      for (const yaml::Entry& loop : item.entries()) {
        if (!loop.value.is_string()) {
          sink_.error(kFaultyTemplate, loop.value.origin(), "a loop wants `${list}`");
          continue;
        }
        std::optional<cel::Text> list =
            cel::compile_text(loop.value, environment, library_.sources(), sink_);
        if (!list) continue;
        cel::Type element;
        if (list->is_whole()) {
          element = cel::type_of(*list->parts.front().expression.program).element();
        }
        environment.variables.push_back({std::string(loop.key.as_string()), element});
        out.loops.push_back({std::string(loop.key.as_string()), std::move(*list)});
      }
    }
  }

  cel::Environment base_;
  catalog::Library& library_;
  diag::Sink& sink_;
};

}  // namespace

std::shared_ptr<const Templates> compile(const catalog::Platform& platform,
                                         catalog::Library& library, diag::Sink& sink) {
  Compiler compiler(platform, library, sink);
  auto templates = std::make_shared<Templates>();
  bool good = true;
  for (const std::string& path : platform.templates) {
    std::optional<Template> compiled = compiler.compile(path);
    good = good && compiled;
    if (compiled) templates->push_back(std::move(*compiled));
  }
  return good ? templates : nullptr;
}

}  // namespace gpuctl::render
