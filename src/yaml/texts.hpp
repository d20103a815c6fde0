// Texts of trees whose form is known.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "yaml/node.hpp"

namespace gpuctl::yaml {

/// The text of a field of a map; empty when there is none.
std::string text_of(const Node& map, std::string_view field);

/// The items of a list, in order; what is no text is empty. Nothing when it is no list.
std::vector<std::string> texts_of(const Node& list);

/// The same of a field of a map.
std::vector<std::string> texts_of(const Node& map, std::string_view field);

}  // namespace gpuctl::yaml
