// Rules: what an expert would object to, as data. A rule is kept when its `check` is true.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "derive/derive.hpp"

namespace gpuctl::rule {

struct Rule {
  std::string code;
  diag::Severity severity = diag::Severity::error;
  struct Loop {
    std::string variable;
    cel::Expression list;
  };
  std::vector<Loop> loops;
  cel::LazyExpression when;
  cel::LazyExpression check;
  // What a broken rule says is compiled only then: most rules are kept most of the time.
  std::shared_ptr<const cel::Environment> environment;
  std::string source;
  yaml::Node written;
};

using Rules = std::vector<Rule>;

/// Compiles the rules of a platform; nullptr after diagnostics (GPU03xx, GPU0408). `environment` is
/// base_environment() of the platform. With `thorough` all expressions and texts are compiled at
/// once, as the build does for what is built in; otherwise when a rule first needs them.
std::shared_ptr<const Rules> compile(const catalog::Platform& platform,
                                     std::shared_ptr<const cel::Environment> environment,
                                     bool thorough, diag::Sources& sources, diag::Sink& sink);

/// Runs every rule; each broken one is a diagnostic with the rule's code. Rules that read an absent
/// fact are skipped.
void check(const Rules& rules, const blueprint::Blueprint& blueprint,
           const derive::Derived& derived, const yaml::Node& facts, diag::Sources& sources,
           yaml::Arena& arena, diag::Sink& sink);

}  // namespace gpuctl::rule
