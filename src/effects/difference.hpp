// Which fields of a document are not as they were.
#pragma once

#include <string>
#include <vector>

#include "yaml/node.hpp"

namespace gpuctl::effects {

/// One step into a document: a key, or an item of a list.
struct Step {
  std::string text;
  bool item = false;

  friend bool operator==(const Step&, const Step&) = default;
};

/// The path of these steps as people read it: `spec.taints[example.com/gpu:NoSchedule].effect`.
std::string written(const std::vector<Step>& steps);

/// A field that differs. Maps and lists that are there on one side only are taken apart down to
/// their scalars, because what they do depends on what is in them.
struct Field {
  std::vector<Step> steps;
  yaml::Node from;  // null: absent
  yaml::Node to;    // null: absent
  /// Number of leading steps of the largest part that came or went as a whole; all of them when
  /// this field alone did.
  std::size_t whole = 0;
};

/// All fields that differ, in the order of the documents. Null and absent are the same. Items of
/// lists are matched by `name`, by `key` and `effect`, or by another key that all of them have and
/// no two share (Kubernetes API conventions, "lists of named subobjects preferred over maps");
/// other lists of maps by position when they are equally long; all others are one value. Texts
/// that hold YAML are compared as what they hold. `arena` receives that.
std::vector<Field> differences(const yaml::Node& from, const yaml::Node& to, yaml::Arena& arena);

}  // namespace gpuctl::effects
