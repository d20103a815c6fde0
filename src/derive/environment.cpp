#include "derive/environment.hpp"

#include "gpu/functions.hpp"

namespace gpuctl::derive {

namespace {

// `spread(total, n)`: how the installer distributes replicas over zones, the first ones get more.
cel::Function spread() {
  const cel::Type integer = cel::Type::simple(cel::TypeKind::integer);
  cel::Function function;
  function.name = "spread";
  function.params = {integer, integer};
  function.result = cel::Type::list(integer);
  function.call = [](std::span<const cel::Value> arguments, cel::CallContext& context) {
    constexpr std::int64_t kMostParts = 10'000;
    const std::int64_t total = arguments[0].node().as_integer();
    const std::int64_t parts = arguments[1].node().as_integer();
    cel::Outcome outcome;
    if (total < 0 || parts < 1 || parts > kMostParts) {
      outcome.error.emplace();
      outcome.error->message = "spread() wants a total of at least 0 and 1 to 10000 parts";
      return outcome;
    }
    std::vector<yaml::Node> shares;
    for (std::int64_t i = 0; i < parts; ++i) {
      shares.push_back(yaml::Node::integer(total / parts + (i < total % parts ? 1 : 0)));
    }
    outcome.value = context.arena.list(shares);
    return outcome;
  };
  return function;
}

// `stableName(name, value, used)`: the name to give a value so that no name ever changes what it
// stands for. `used` is a map of names to `{value}`. Of "name", "name-2", "name-3" ... the first
// that stands for this value already, otherwise the first that is free. At most 63 bytes, which is
// what a label takes (Kubernetes, apimachinery validation).
cel::Outcome stable_name(std::span<const cel::Value> arguments, cel::CallContext& context) {
  constexpr std::size_t kMostLabelBytes = 63;
  const std::string_view name = arguments[0].node().as_string();
  const yaml::Node& used = arguments[2].node();
  const yaml::Node& wanted = arguments[3].node();
  cel::Outcome outcome;
  std::optional<std::string> free;
  // There are no more names than that, so that one of these candidates is free.
  for (std::size_t number = 1; number <= used.size() + wanted.size() + 1; ++number) {
    const std::string suffix = number == 1 ? std::string() : "-" + std::to_string(number);
    std::string candidate(name.substr(0, kMostLabelBytes - suffix.size()));
    candidate += suffix;
    const yaml::Node* other = used.find(candidate);
    if (other == nullptr) {
      const bool of_another = number != 1 && wanted.find(candidate) != nullptr;
      if (!free && !of_another) free = candidate;
      continue;
    }
    const std::optional<bool> same =
        context.equal(cel::Value(other->get("value")), cel::Value(arguments[1].node()));
    if (!same) {
      outcome.error.emplace();
      outcome.error->kind = cel::EvalError::Kind::budget;
      outcome.error->message = "stableName() compares too much";
      return outcome;
    }
    if (!*same) continue;
    free = candidate;
    break;
  }
  outcome.value = context.arena.string(*free);
  return outcome;
}

cel::Function stable_name() {
  const cel::Type text = cel::Type::simple(cel::TypeKind::string);
  cel::Function function;
  function.name = "stableName";
  function.params = {text, cel::Type::dyn(), cel::Type::dyn(), cel::Type::dyn()};
  function.result = text;
  function.call = [](std::span<const cel::Value> arguments, cel::CallContext& context) {
    return stable_name(arguments, context);
  };
  return function;
}

cel::Type field_type(const cel::Type& object, std::string_view name) {
  const cel::ObjectType* fields = object.object();
  const cel::Field* field = fields == nullptr ? nullptr : fields->find(name);
  return field == nullptr ? cel::Type::dyn() : field->type;
}

}  // namespace

std::shared_ptr<const cel::Functions> functions() {
  static const std::shared_ptr<const cel::Functions> all = [] {
    auto made = std::make_shared<cel::Functions>();
    made->add(spread());
    made->add(stable_name());
    for (cel::Function& function : gpu::functions()) made->add(std::move(function));
    return made;
  }();
  return all;
}

std::shared_ptr<const cel::Environment> base_environment(const catalog::Platform& platform,
                                                         std::shared_ptr<cel::Store> store) {
  const auto type_of = [](const schema::SchemaPtr& schema, const char* name) {
    return cel::LazyType([schema, name] { return schema::cel_type(*schema, name); });
  };
  const auto field_of = [document = type_of(platform.blueprint, "blueprint")](const char* name) {
    return cel::LazyType([document, name] { return field_type(document.get(), name); });
  };
  auto environment = std::make_shared<cel::Environment>();
  environment->functions = functions();
  environment->store = std::move(store);
  environment->variables = {
      {"metadata", field_of("metadata")},
      {"spec", field_of("spec")},
      {"cluster", type_of(platform.derived, "cluster")},
      {"catalog", platform.catalog_type},
      {"facts", type_of(platform.facts, "facts")},
  };
  return environment;
}

Scope scope_of(const catalog::Platform& platform,
               std::shared_ptr<const cel::Environment> environment, bool thorough,
               diag::Sources& sources, diag::Sink& sink) {
  Scope scope{std::move(environment), nullptr};
  scope.variables = std::make_shared<const cel::Definitions>(platform.variables, scope.environment,
                                                             thorough, sources, sink);
  return scope;
}

std::vector<cel::Value> Inputs::values() const {
  return {cel::Value(metadata), cel::Value(spec), cel::Value(cluster), cel::Value(catalog),
          cel::Value(facts)};
}

Inputs mark(const Inputs& inputs, cel::Provenance& provenance, yaml::Arena& arena) {
  Inputs marked;
  marked.metadata = provenance.mark("metadata", inputs.metadata, arena);
  marked.spec = provenance.mark("spec", inputs.spec, arena);
  marked.cluster = inputs.cluster;
  marked.catalog = provenance.mark("catalog", inputs.catalog, arena);
  marked.facts = provenance.mark("facts", inputs.facts, arena);
  return marked;
}

}  // namespace gpuctl::derive
