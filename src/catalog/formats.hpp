// The formats of knowledge files (providers/formats/): a structural schema for each kind, the same
// for what is built in and for what is laid over it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/library.hpp"
#include "schema/schema.hpp"

namespace gpuctl::catalog {

/// A kind of knowledge file, or a part that several kinds have in common.
struct Format {
  std::string kind;
  std::vector<std::string> files;  // patterns of paths; none for a part
  std::string page;                // that describes it
  bool built_in = false;           // the build has checked it
  yaml::Node definition;           // of the whole document
};

class Formats {
 public:
  /// Reads the formats of a library; what contradicts the wrapper is reported.
  Formats(Library& library, diag::Sink& sink);

  const Format* find(std::string_view kind) const;
  /// Checks a file against the format of its path and kind. What breaks it is GPU0401.
  void check(const std::string& path, const yaml::Node& document, diag::Sink& sink);

  /// Checks the format that stands in a file: its schema, and the example that it gives of itself.
  void check_format(const std::string& path, diag::Sink& sink);

  /// Is called with the schema of a place as written, and the value there.
  using Visitor = std::function<void(const yaml::Node& definition, const yaml::Node& value)>;
  /// Visits all values that the format of a kind declares itself, outer ones first; what is left to
  /// another format (`x-gpuctl-format`) is one value.
  void visit(std::string_view kind, const yaml::Node& document, const Visitor& visitor) const;

 private:
  void check_part(const Format& format, const std::string& subject, const yaml::Node& value,
                  diag::Sink& sink);
  void check_parts_below(const yaml::Node& definition, const yaml::Node& value,
                         const std::string& subject, diag::Sink& sink);
  void visit_below(const yaml::Node& definition, const yaml::Node& value,
                   const Visitor& visitor) const;
  std::vector<const Format*> of_path(const std::string& path) const;
  void refuse_path(const std::string& path, const yaml::Node& document, diag::Sink& sink) const;

  const schema::Schema& schema_of(const Format& format, diag::Sink& sink);

  Library& library_;
  std::vector<Format> formats_;
  std::map<std::string, schema::SchemaPtr> schemas_;  // by kind, as far as they were needed
};

/// Checks all files that are no built-in ones: false after diagnostics, and nothing may be read
/// from them then.
bool check_formats(Library& library, diag::Sink& sink);

}  // namespace gpuctl::catalog
