// A CEL value at run time: a Node, or one of the few things that no document can hold.
#pragma once

#include <memory>
#include <string>

#include "yaml/node.hpp"

namespace gpuctl::cel {

/// Base of values that are no Node: ip, cidr, quantity, semver, optional, type, omit, ...
struct Opaque {
  virtual ~Opaque() = default;
  Opaque() = default;
  Opaque(const Opaque&) = delete;
  Opaque& operator=(const Opaque&) = delete;
  /// "ip", "cidr", "quantity", "optional", "omit", ...
  virtual std::string type_name() const = 0;
  virtual bool equals(const Opaque& other) const = 0;
};

class Value {
 public:
  Value() = default;                       // null
  Value(yaml::Node node) : node_(node) {}  // NOLINT: a node is a value
  explicit Value(std::shared_ptr<const Opaque> opaque) : opaque_(std::move(opaque)) {}

  bool is_node() const { return opaque_ == nullptr; }
  const yaml::Node& node() const { return node_; }
  const Opaque* opaque() const { return opaque_.get(); }
  const std::shared_ptr<const Opaque>& shared_opaque() const { return opaque_; }

  /// The result of `omit()`: the field or list item that holds the expression is left out.
  static Value omit();
  bool is_omit() const;

 private:
  yaml::Node node_;
  std::shared_ptr<const Opaque> opaque_;
};

}  // namespace gpuctl::cel
