// Examples of fields of the blueprint, out of files that are built in.
#pragma once

#include <string>
#include <vector>

#include "diag/diagnostic.hpp"
#include "fields/field.hpp"

namespace gpuctl::cli {

/// Built-in examples of fields that no sample has; made by tests/structure/field_examples.py.
inline constexpr std::string_view kFieldExamples = "docs/reference/examples.yaml";

struct FieldExample {
  std::string from;  // the file; empty: made of what the definition says
  bool sample = false;
  yaml::Node value;  // with everything around it; null: there is none
};

/// Looks for examples; the files are read once.
class FieldExamples {
 public:
  /// The arena must outlive what is found.
  explicit FieldExamples(yaml::Arena& arena);

  /// The shortest sample on one of the platforms, else an excerpt of a tested blueprint, else what
  /// the definition allows. What does not conform to the definition, because parts are left out, is
  /// none.
  FieldExample find(const fields::Field& field, const std::vector<std::string>& platforms) const;

 private:
  struct Source {
    std::string from;
    bool sample = false;
    std::string platform;
    yaml::Node document;
  };

  void add(const std::string& from, bool sample, const yaml::Node& document);

  yaml::Arena& arena_;
  diag::Sources files_;
  std::vector<Source> sources_;
};

}  // namespace gpuctl::cli
