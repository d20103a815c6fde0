// The macros that loop over a list or a map, or look into an optional.
#pragma once

#include <cstdint>
#include <string_view>

namespace gpuctl::cel {

enum class Macro : std::uint8_t {
  all,
  exists,
  exists_one,
  map,
  filter,
  transform_list,
  transform_map,
  transform_map_entry,
  sort_by,
  opt_map,
  opt_flat_map,
};

/// One form of a macro: how many loop variables, and how many expressions after them.
struct MacroShape {
  std::string_view name;
  Macro macro;
  std::size_t variables;
  std::size_t expressions;  // the last is the body, one before it is a filter
};

/// The form with `arguments` arguments, or nullptr when `name` is no macro or has no such form.
const MacroShape* find_macro(std::string_view name, std::size_t arguments);

/// True when `name` is the name of a macro in any form.
bool is_macro(std::string_view name);

}  // namespace gpuctl::cel
