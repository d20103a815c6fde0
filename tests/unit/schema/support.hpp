// What the tests of this library share: reading YAML with positions, and finding diagnostics.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "diag/diagnostic.hpp"
#include "diag/sources.hpp"
#include "schema/schema.hpp"
#include "yaml/emit.hpp"
#include "yaml/node.hpp"
#include "yaml/read.hpp"

namespace gpuctl::schema {

/// Sources, arena and sink of one test.
struct Bench {
  diag::Sources sources;
  yaml::Arena arena;
  diag::Sink sink;

  yaml::Node read(std::string_view text, const std::string& name = "test.yaml") {
    diag::Sink findings;
    const diag::FileId file = sources.add_file(name, std::string(text));
    const auto node = yaml::read(file, sources, arena, findings);
    for (const auto& finding : findings.all()) {
      ADD_FAILURE() << "the test's own YAML: " << finding.message << "\n" << text;
    }
    return node.value_or(yaml::Node());
  }
  /// Compiles; faults in the schema fail the test.
  SchemaPtr schema(std::string_view text) {
    diag::Sink faults;
    SchemaPtr out = compile(read(text, "schema.yaml"), sources, faults);
    for (const auto& fault : faults.all()) ADD_FAILURE() << fault.message << "\n" << text;
    return out;
  }
  /// Compiles `schema_text` and validates `document_text`.
  void check(std::string_view schema_text, std::string_view document_text,
             const ValidateOptions& options = {}) {
    const SchemaPtr compiled = schema(schema_text);
    validate(*compiled, read(document_text), arena, sources, sink, options);
  }
  /// Code, text under the caret and message of every finding, a line each.
  std::string found() const {
    std::string out;
    for (const auto& finding : sink.all()) {
      out += finding.code + " [" + std::string(sources.text(finding.primary.at)) + "] " +
             finding.message + "\n";
    }
    return out;
  }
};

}  // namespace gpuctl::schema
