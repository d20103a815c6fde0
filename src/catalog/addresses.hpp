// Where rows of a table come from: the short names in their column `source`, and the addresses that
// the file of the table declares for them.
#pragma once

#include <string>

#include "catalog/library.hpp"
#include "catalog/platform.hpp"

namespace gpuctl::catalog {

class Addresses {
 public:
  Addresses(Library& library, const Table& table);

  /// The `source` of a row, its names ("a; b") replaced by their addresses; empty when it has none.
  [[nodiscard]] std::string source_of(const yaml::Node& row) const;

 private:
  yaml::Node declared_;  // short name -> map of the parts of its address, or null
};

}  // namespace gpuctl::catalog
