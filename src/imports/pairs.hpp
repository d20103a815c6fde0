// Which existing object a rendered document takes the place of.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "imports/objects.hpp"

namespace gpuctl::imports {

/// A document as far as it matters for finding its object.
struct Made {
  schema::KindRef kind;
  std::string name;  // as Object::name
  yaml::Node body;
  bool only_by_name = false;  // it belongs to no object of another name
  /// Dotted path of a field that tells such objects apart better than their names, or empty.
  std::string identity = {};
};

struct Pair {
  std::size_t object = 0;
  std::size_t made = 0;
};

/// Pairs by kind (any version of it) and name; what is left by kind and likeness, when more than
/// half of both is the same. Objects of the core group have meaning by their names alone, and are
/// never paired by likeness; neither are those of which `left_out` says, by their position, that
/// they are left out on purpose. Each object and document is in one pair at most, an object
/// with a twin in none.
std::vector<Pair> pair_up(const std::vector<Object>& objects, const std::vector<Made>& made,
                          const std::function<bool(std::size_t)>& left_out);

}  // namespace gpuctl::imports
