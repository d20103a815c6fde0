// Asks expressions of the chain about objects and logs.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/evidence.hpp"
#include "yaml/context.hpp"

namespace gpuctl::diagnose {

/// What a check that is true says of one thing.
struct Said {
  std::string subject;
  std::string text;
  std::vector<std::string> words;  // of the thing itself
  std::string more;
  std::optional<std::vector<std::string>> nodes;
};

/// Evaluates with the values of one cluster. Expressions that fail are false, or say nothing: an
/// object may lack anything.
class Asking {
 public:
  Asking(const Chain& chain, const Evidence& evidence, const yaml::Node& cluster,
         yaml::Arena& arena);

  /// What is given when the check holds of `object` (null: of nothing).
  std::optional<Said> ask(const Check& check, const yaml::Node& object) const;
  /// The items of `each`.
  std::vector<yaml::Node> items(const Check& check) const;
  bool has_pod(const Link& link, const yaml::Node& pod) const;
  bool has_log(const Link& link, const Log& log) const;
  /// The first check on pods that holds, and what it says; nothing for a pod without a fault.
  std::optional<std::pair<const Check*, Said>> fault_of(const yaml::Node& pod) const;
  /// The first link that a pod belongs to, or nullptr.
  const Link* link_of(const yaml::Node& pod) const;

 private:
  std::vector<cel::Value> values(const cel::Definitions& variables, const yaml::Node& object,
                                 const yaml::Node& log) const;
  bool is_true(const cel::LazyExpression& expression, const std::vector<cel::Value>& all) const;
  yaml::Node value(const cel::LazyExpression& expression, const std::vector<cel::Value>& all) const;
  std::string text(const cel::LazyText& written, const std::vector<cel::Value>& all) const;

  const Chain& chain_;
  yaml::Arena& arena_;
  yaml::Node objects_;
  yaml::Node known_;
  yaml::Node cluster_;
};

}  // namespace gpuctl::diagnose
