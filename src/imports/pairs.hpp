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
};

struct Pair {
  std::size_t object = 0;
  std::size_t made = 0;
};

/// Pairs by kind (any version of it) and name; what is left by kind and likeness, when more than
/// half of both is the same. Each object and document is in one pair at most. `left_out` says of
/// the position of an object whether it is left out on purpose: likeness alone pairs it with nothing.
std::vector<Pair> pair_up(const std::vector<Object>& objects, const std::vector<Made>& made,
                          const std::function<bool(std::size_t)>& left_out);

}  // namespace gpuctl::imports
