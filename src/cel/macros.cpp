#include "cel/macros.hpp"

#include <array>

namespace gpuctl::cel {

namespace {
constexpr std::array<MacroShape, 20> kMacros = {{
    {"all", Macro::all, 1, 1},
    {"all", Macro::all, 2, 1},
    {"exists", Macro::exists, 1, 1},
    {"exists", Macro::exists, 2, 1},
    {"exists_one", Macro::exists_one, 1, 1},
    {"exists_one", Macro::exists_one, 2, 1},
    {"existsOne", Macro::exists_one, 1, 1},
    {"existsOne", Macro::exists_one, 2, 1},
    {"map", Macro::map, 1, 1},
    {"map", Macro::map, 1, 2},
    {"filter", Macro::filter, 1, 1},
    {"transformList", Macro::transform_list, 2, 1},
    {"transformList", Macro::transform_list, 2, 2},
    {"transformMap", Macro::transform_map, 2, 1},
    {"transformMap", Macro::transform_map, 2, 2},
    {"transformMapEntry", Macro::transform_map_entry, 2, 1},
    {"transformMapEntry", Macro::transform_map_entry, 2, 2},
    {"sortBy", Macro::sort_by, 1, 1},
    {"optMap", Macro::opt_map, 1, 1},
    {"optFlatMap", Macro::opt_flat_map, 1, 1},
}};
}  // namespace

const MacroShape* find_macro(std::string_view name, std::size_t arguments) {
  for (const MacroShape& shape : kMacros) {
    if (shape.name == name && shape.variables + shape.expressions == arguments) return &shape;
  }
  return nullptr;
}

bool is_macro(std::string_view name) {
  for (const MacroShape& shape : kMacros) {
    if (shape.name == name) return true;
  }
  return false;
}

}  // namespace gpuctl::cel
