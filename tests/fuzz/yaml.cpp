// Any bytes as YAML, as a document of the user and as a published stream. What loads is written
// again and must read back as the same tree, from the same bytes; what does not load has a
// diagnostic with a place.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "diag/diagnostic.hpp"
#include "diag/print.hpp"
#include "diag/sources.hpp"
#include "yaml/emit.hpp"
#include "yaml/node.hpp"
#include "yaml/read.hpp"
#include "yaml/same.hpp"

namespace {

using namespace gpuctl;
using yaml::Node;

void require(bool good, std::string_view what, std::string_view text) {
  if (good) return;
  std::cerr << what << "\n" << text << "\n";
  std::abort();
}

struct Reading {
  Reading(std::string text, const yaml::ReadLimits& limits, bool stream)
      : file(sources.add_file("input.yaml", std::move(text))) {
    if (stream) {
      if (const auto all = read_all(file, sources, arena, sink, limits)) documents = *all;
    } else if (const auto root = read(file, sources, arena, sink, limits)) {
      documents.push_back(*root);
    }
  }

  std::string_view text() const { return sources.file_text(file); }

  diag::Sources sources;
  diag::Sink sink;
  yaml::Arena arena;
  std::vector<Node> documents;
  diag::FileId file;
};

// What is written may be longer than what was read, and is as deep.
yaml::ReadLimits roomy() {
  yaml::ReadLimits limits;
  limits.bytes = limits.scalar_bytes = limits.nodes = std::size_t{1} << 30;
  return limits;
}

void check_findings(const Reading& reading) {
  std::string shown;
  for (const diag::Diagnostic& finding : reading.sink.sorted(reading.sources)) {
    const diag::Span* span = reading.sources.span(finding.primary.at);
    require(finding.code.starts_with("GPU01"), "another code", finding.code);
    require(span != nullptr && span->begin <= span->end && span->end <= reading.text().size(),
            "no place: " + finding.message, reading.text());
    print_text(finding, reading.sources, true, shown);
    print_json(finding, reading.sources, shown);
  }
}

// Every string's bytes are found in the text that it was read from.
void check_offsets(const Reading& reading, const Node& node) {
  if (node.is_string()) {
    for (const std::uint32_t offset : scalar_offsets(reading.sources, node)) {
      require(offset <= reading.text().size(), "an offset outside", reading.text());
    }
  }
  for (const Node& item : node.items()) check_offsets(reading, item);
  for (const yaml::Entry& entry : node.entries()) {
    check_offsets(reading, entry.key);
    check_offsets(reading, entry.value);
  }
}

bool is_finite(const Node& node) {
  if (node.is_real()) return std::isfinite(node.as_real());
  for (const Node& item : node.items()) {
    if (!is_finite(item)) return false;
  }
  for (const yaml::Entry& entry : node.entries()) {
    if (!is_finite(entry.value)) return false;
  }
  return true;
}

void check_document(const Reading& reading, const Node& node) {
  check_offsets(reading, node);
  const std::string text = emit(node);
  const Reading again(text, roomy(), false);
  require(again.documents.size() == 1, "what was written is refused", text);
  require(yaml::test::same(node, again.documents.front()), "what was written is read as another",
          text);
  require(emit(again.documents.front()) == text, "it is written in another way again", text);
  // JSON may hold characters, and be so long on one line, that YAML refuses it.
  const std::string json = emit_json(node);
  const Reading from_json(json, roomy(), false);
  require(from_json.documents.empty() || !is_finite(node) ||
              yaml::test::same(node, from_json.documents.front()),
          "the JSON is read as another", json);
}

void check(const std::string& text, const yaml::ReadLimits& limits, bool stream) {
  const Reading reading(text, limits, stream);
  require(reading.documents.empty() || !reading.sink.has_errors(), "read and refused", text);
  require(stream || !reading.documents.empty() || reading.sink.has_errors(), "refused silently",
          text);
  check_findings(reading);
  for (const Node& node : reading.documents) check_document(reading, node);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check(text, {}, false);
  check(text, yaml::published_limits(), true);
  return 0;
}
