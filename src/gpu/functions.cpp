#include "gpu/functions.hpp"

#include <algorithm>
#include <utility>

namespace gpuctl::gpu {
namespace {

using cel::Type;
using cel::TypeKind;
using yaml::Node;

constexpr std::int64_t kMostNumber = 1'000;  // more than any of these numbers can be

// Reads rows; keeps the first fault.
class RowReader {
 public:
  MigClass read(const Node& row) {
    MigClass gpu;
    if (!row.is_map()) {
      fail("is no row of the catalogue");
      return gpu;
    }
    gpu.name = name(row);
    gpu.units = integer(row, "units");
    gpu.slices = integer(row, "slices");
    gpu.media = media(row);
    for (const Node& profile : row.get("profiles").items())
      gpu.profiles.push_back(read_profile(profile));
    if (fault_.empty()) fault_ = fault_of(gpu);
    return gpu;
  }
  const std::string& fault() const { return fault_; }

 private:
  void fail(std::string text) {
    if (fault_.empty()) fault_ = std::move(text);
  }

  int integer(const Node& map, std::string_view key) {
    return small(map.get(key),
                 [&] { return "`" + std::string(key) + "` is missing or not a small integer"; });
  }

  template <typename Fault>
  int small(const Node& value, const Fault& fault) {
    const std::int64_t number = value.as_integer();
    if (value.is_integer() && number >= 0 && number <= kMostNumber) return static_cast<int>(number);
    fail(fault());
    return 0;
  }

  std::string name(const Node& map) {
    const Node value = map.get("name");
    if (!value.is_string()) fail("`name` is missing or no string");
    return std::string(value.as_string());
  }

  std::map<std::string, int> media(const Node& map) {
    std::map<std::string, int> engines;
    for (const yaml::Entry& entry : map.get("media").entries()) {
      engines[std::string(entry.key.as_string())] =
          small(entry.value, [] { return "an engine of `media` is no small integer"; });
    }
    return engines;
  }

  MigProfile read_profile(const Node& row) {
    MigProfile profile;
    profile.name = name(row);
    profile.slices = integer(row, "slices");
    profile.units = integer(row, "units");
    profile.most = integer(row, "most");
    profile.media = media(row);
    for (const Node& start : row.get("starts").items()) {
      profile.starts.push_back(small(
          start, [&] { return "profile `" + profile.name + "`: a start is no small integer"; }));
    }
    return profile;
  }

  std::string fault_;
};

cel::Outcome fail(std::string message) {
  cel::Outcome outcome;
  outcome.error = cel::EvalError{cel::EvalError::Kind::general, 0, 0, std::move(message), ""};
  return outcome;
}

cel::Outcome give(Node node) {
  cel::Outcome outcome;
  outcome.value = cel::Value(node);
  return outcome;
}

Type integer_type() {
  return Type::simple(TypeKind::integer);
}
Type string_type() {
  return Type::simple(TypeKind::string);
}
Type row_type() {
  return Type::map(string_type(), Type::dyn());
}
Type layout_type() {
  return Type::map(string_type(), integer_type());
}

Type object_type(std::string name, std::vector<cel::Field> fields) {
  auto object = std::make_shared<cel::ObjectType>();
  object->name = std::move(name);
  object->fields = std::move(fields);
  return Type::object(std::move(object));
}

Type placement_type() {
  const Type boolean = Type::simple(TypeKind::boolean);
  const Type instance = object_type("MigInstance", {{"profile", string_type(), true},
                                                    {"start", integer_type(), true},
                                                    {"size", integer_type(), true}});
  return object_type("MigPlacement", {{"ok", boolean, true},
                                      {"reason", string_type(), true},
                                      {"placements", Type::list(instance), true},
                                      {"maximal", boolean, true},
                                      {"lostCompute", integer_type(), true},
                                      {"lostMemory", integer_type(), true},
                                      {"freeCompute", integer_type(), true},
                                      {"freeMemory", integer_type(), true},
                                      {"nearest", Type::list(layout_type()), true}});
}

Node layout_node(const MigLayout& layout, yaml::Arena& arena) {
  std::vector<yaml::Entry> entries;
  for (const auto& [name, count] : layout)
    entries.push_back(arena.entry(name, Node::integer(count)));
  return arena.map(entries);
}

Node placement_node(const MigPlacement& placement, yaml::Arena& arena) {
  std::vector<Node> instances;
  for (const MigInstance& instance : placement.placements) {
    const std::vector<yaml::Entry> entries = {
        arena.entry("profile", arena.string(instance.profile)),
        arena.entry("start", Node::integer(instance.start)),
        arena.entry("size", Node::integer(instance.size))};
    instances.push_back(arena.map(entries));
  }
  std::vector<Node> nearest;
  for (const MigLayout& layout : placement.nearest) nearest.push_back(layout_node(layout, arena));
  const std::vector<yaml::Entry> entries = {
      arena.entry("ok", Node::boolean(placement.ok)),
      arena.entry("reason", arena.string(placement.reason)),
      arena.entry("placements", arena.list(instances)),
      arena.entry("maximal", Node::boolean(placement.maximal)),
      arena.entry("lostCompute", Node::integer(placement.lost_compute)),
      arena.entry("lostMemory", Node::integer(placement.lost_memory)),
      arena.entry("freeCompute", Node::integer(placement.free_compute)),
      arena.entry("freeMemory", Node::integer(placement.free_memory)),
      arena.entry("nearest", arena.list(nearest))};
  return arena.map(entries);
}

cel::Outcome call_place(std::span<const cel::Value> arguments, cel::CallContext& context) {
  const auto row = read_class(arguments[0].node());
  if (const auto* fault = std::get_if<std::string>(&row)) return fail("MIG class: " + *fault);
  MigLayout layout;
  for (const yaml::Entry& entry : arguments[1].node().entries()) {
    const std::int64_t count = entry.value.as_integer();
    if (!entry.key.is_string() || !entry.value.is_integer()) {
      return fail("MIG layout: needs a map from profile names to integers");
    }
    // Beyond a million the answer is the same.
    layout[std::string(entry.key.as_string())] =
        static_cast<int>(std::clamp<std::int64_t>(count, -1, 1'000'000));
  }
  return give(placement_node(place(std::get<MigClass>(row), layout), context.arena));
}

cel::Outcome call_list(std::span<const cel::Value> arguments, cel::CallContext& context) {
  const auto row = read_class(arguments[0].node());
  if (const auto* fault = std::get_if<std::string>(&row)) return fail("MIG class: " + *fault);
  std::vector<Node> names;
  for (const std::string& name : list(std::get<MigClass>(row))) {
    names.push_back(context.arena.string(name));
  }
  return give(context.arena.list(names));
}

}  // namespace

std::variant<MigClass, std::string> read_class(const yaml::Node& row) {
  RowReader reader;
  MigClass gpu = reader.read(row);
  if (!reader.fault().empty()) return reader.fault();
  return gpu;
}

std::vector<cel::Function> functions() {
  std::vector<cel::Function> all;
  all.push_back({"mig.place", false, {row_type(), layout_type()}, placement_type(), call_place});
  all.push_back({"mig.list", false, {row_type()}, Type::list(string_type()), call_list});
  return all;
}

}  // namespace gpuctl::gpu
