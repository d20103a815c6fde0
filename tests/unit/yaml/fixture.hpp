// Reads texts in tests and shows what came of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diag/diagnostic.hpp"
#include "diag/sources.hpp"
#include "yaml/emit.hpp"
#include "yaml/node.hpp"
#include "yaml/read.hpp"

namespace gpuctl::yaml::test {

struct Text {
  explicit Text(std::string text, ReadLimits read_limits = {})
      : limits(read_limits), file(sources.add_file("test.yaml", std::move(text))) {
    root = read(file, sources, arena, sink, limits);
  }

  /// "2:4 GPU0104 [text of the span]" of each diagnostic, in order of position.
  std::vector<std::string> findings() const {
    std::vector<std::string> out;
    for (const diag::Diagnostic& diagnostic : sink.sorted(sources)) {
      out.push_back(place(diagnostic.primary.at) + " " + diagnostic.code + " [" +
                    std::string(sources.text(diagnostic.primary.at)) + "]");
    }
    return out;
  }

  std::string place(diag::Origin origin) const {
    const diag::Span* span = sources.span(origin);
    if (span == nullptr) return "nowhere";
    const diag::Position at = sources.position(span->file, span->begin);
    return std::to_string(at.line) + ":" + std::to_string(at.column);
  }

  std::string text(const Node& node) const { return std::string(sources.text(node.origin())); }
  std::string json() const { return root ? emit_json(*root) : "refused"; }

  ReadLimits limits;
  diag::Sources sources;
  Arena arena;
  diag::Sink sink;
  diag::FileId file;
  std::optional<Node> root;
};

}  // namespace gpuctl::yaml::test
