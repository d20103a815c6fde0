// What the commands below `facts` share: the blueprint, the sources, and what these say.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "facts/inquiry.hpp"

namespace gpuctl::cli {

/// The inputs of these commands.
struct FactsOptions {
  std::string blueprint;
  std::string facts;  // --facts
  std::string repository;
  std::string branch;
  std::vector<std::string> sources;
  std::vector<std::string> prefer;
  bool live = false;
  std::string kubeconfig;

  void add_repository(Options& command);
  /// The sources, and how they are read.
  void add_sources(Options& command);
  /// Throws UsageError when there is nothing to ask.
  void check_sources(const std::string& command) const;
};

/// Runs the blueprint as far as it goes, whatever rules say of it, with facts that are committed or
/// stand beside it. nullptr after shown errors: it cannot be read, or not derived. `change` is
/// called on the request.
std::unique_ptr<Result> run_for_facts(const FactsOptions& options, Knowledge& knowledge,
                                      Report& report,
                                      const std::function<void(Request&)>& change = {});

/// What the sources say about a cluster.
struct Inquired {
  facts::Learned learned;
  std::map<std::string, yaml::Node> computed;  // with what was learned
  std::set<std::string> silent;                // names of rows whose question got no answer
};

/// Asks the sources; nothing after shown errors. `strict`: a question without an answer is one.
/// What the sources say lives in the arena of the result.
std::optional<Inquired> inquire(Result& result, const FactsOptions& options, bool strict,
                                Knowledge& knowledge, Report& report);

/// What is taken for facts that nobody gives.
std::map<std::string, yaml::Node> computed_facts(Result& result, Knowledge& knowledge);

/// A value as a person reads it, in one line.
std::string value_text(const yaml::Node& value);

/// The facts of a platform, in the order in which it has them.
std::vector<std::string> fact_names(const Result& result);

}  // namespace gpuctl::cli
