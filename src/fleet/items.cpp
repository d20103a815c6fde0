#include "fleet/items.hpp"

#include <unordered_map>

#include "catalog/wrapper.hpp"
#include "derive/environment.hpp"

namespace gpuctl::fleet {

namespace {

using cel::Type;
using cel::TypeKind;
using yaml::Node;

Type type_of(const Node& value) {
  switch (value.kind()) {
    case yaml::Kind::boolean:
      return Type::simple(TypeKind::boolean);
    case yaml::Kind::integer:
      return Type::simple(TypeKind::integer);
    case yaml::Kind::real:
      return Type::simple(TypeKind::real);
    case yaml::Kind::string:
      return Type::simple(TypeKind::string);
    case yaml::Kind::list: {
      Type element = Type::free();
      for (const Node& item : value.items()) element = cel::join(element, type_of(item));
      return Type::list(element);
    }
    case yaml::Kind::map: {
      auto object = std::make_shared<cel::ObjectType>();
      object->name = "item";
      for (const yaml::Entry& entry : value.entries()) {
        object->fields.push_back({std::string(entry.key.as_string()), type_of(entry.value), true});
      }
      return Type::object(std::move(object));
    }
    default:
      return Type::dyn();
  }
}

std::shared_ptr<const cel::Environment> environment_of(const std::optional<Type>& item,
                                                       bool with_cluster) {
  auto out = std::make_shared<cel::Environment>();
  out->functions = derive::functions();
  if (item) out->variables.push_back({"item", *item});
  if (with_cluster) {
    const Type string = Type::simple(TypeKind::string);
    auto cluster = std::make_shared<cel::ObjectType>();
    cluster->name = "cluster";
    cluster->fields = {{"name", string, true},
                       {"stage", string, true},
                       {"labels", Type::map(string, string), true}};
    out->variables.push_back({"cluster", Type::object(std::move(cluster))});
  }
  return out;
}

}  // namespace

std::optional<Node> combinations(const Node& matrix, std::size_t most, yaml::Arena& arena) {
  std::size_t count = 1;
  for (const yaml::Entry& list : matrix.entries()) {
    if (list.value.size() == 0) return arena.list({}, matrix.origin());
    if (count > most / list.value.size()) return std::nullopt;
    count *= list.value.size();
  }
  std::vector<Node> out;
  out.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<yaml::Entry> fields(matrix.entries().begin(), matrix.entries().end());
    std::size_t rest = i;
    for (auto field = fields.rbegin(); field != fields.rend(); ++field) {
      const std::span<const Node> values = field->value.items();
      const std::size_t at = rest % values.size();
      rest /= values.size();
      field->value = values[at];
    }
    out.push_back(arena.map(fields));
  }
  return arena.list(out, matrix.origin());
}

Type item_type(const Node& rows) {
  // Column by column: most rows add nothing to what is known of them.
  auto object = std::make_shared<cel::ObjectType>();
  object->name = "item";
  std::unordered_map<std::string_view, std::size_t> known;
  std::vector<std::size_t> rows_with;
  for (const Node& row : rows.items()) {
    for (const yaml::Entry& entry : row.entries()) {
      const auto [found, fresh] = known.try_emplace(entry.key.as_string(), object->fields.size());
      if (fresh) {
        object->fields.push_back({std::string(entry.key.as_string()), type_of(entry.value), true});
        rows_with.push_back(1);
        continue;
      }
      ++rows_with[found->second];
      cel::Type& type = object->fields[found->second].type;
      const cel::Type here = type_of(entry.value);
      const bool same = here.kind() == type.kind() && entry.value.is_scalar();
      if (!same) type = cel::join(type, here);
    }
  }
  for (std::size_t i = 0; i < rows_with.size(); ++i) {
    object->fields[i].required = rows_with[i] == rows.size();
  }
  return Type::object(std::move(object));
}

std::shared_ptr<const cel::Environment> name_environment(const std::optional<Type>& item) {
  return environment_of(item, false);
}

std::shared_ptr<const cel::Environment> entry_environment(const std::optional<Type>& item) {
  return environment_of(item, true);
}

std::shared_ptr<const cel::Environment> stage_environment() {
  return environment_of(std::nullopt, true);
}

Node cluster_value(const Cluster& cluster, yaml::Arena& arena) {
  const yaml::Entry fields[] = {{Node::view("name"), Node::view(cluster.name, cluster.at)},
                                {Node::view("stage"), Node::view(cluster.stage, cluster.at)},
                                {Node::view("labels"), cluster.labels}};
  return arena.map(fields);
}

Node own_document(const Cluster& cluster, const Node& spec, const Node& written,
                  yaml::Arena& arena) {
  yaml::MapBuilder metadata;
  const yaml::Entry* name = written.find_entry("name");
  metadata.set(name->key, Node::view(cluster.name, cluster.at));
  if (const yaml::Entry* labels = written.find_entry("labels")) {
    metadata.set(labels->key, cluster.labels);
  }
  yaml::MapBuilder whole(spec);
  const yaml::Node* stage = written.find("stage");
  whole.set(arena, "stage",
            Node::view(cluster.stage, stage == nullptr ? cluster.at : stage->origin()));
  const yaml::Entry fields[] = {
      {Node::view("apiVersion"), Node::view(catalog::kApiVersion)},
      {Node::view("kind"), Node::view("Blueprint")},
      {Node::view("metadata"), metadata.build(arena, name->key.origin())},
      {Node::view("spec"),
       whole.build(arena, spec.origin() == diag::kNoOrigin ? cluster.at : spec.origin())}};
  return arena.map(fields, cluster.at);
}

}  // namespace gpuctl::fleet
