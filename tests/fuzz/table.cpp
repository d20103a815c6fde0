// Any bytes as a table of clusters: they are refused with a place, or rows come of them that say
// the same when they are written down again, each cell with its text at its place.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "fleet/table.hpp"

namespace {

using namespace gpuctl;

std::string cell(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

std::string written(const yaml::Node& rows) {
  std::string out;
  for (const yaml::Node& row : rows.items()) {
    if (out.empty()) {
      for (const yaml::Entry& entry : row.entries()) {
        out += (out.empty() ? "" : ",") + cell(entry.key.as_string());
      }
      out += "\r\n";
    }
    std::string line;
    for (const yaml::Entry& entry : row.entries()) {
      line += (line.empty() ? "" : ",") + cell(entry.value.as_string());
    }
    out += line + "\r\n";
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  diag::Sources sources;
  yaml::Arena arena;
  diag::Sink sink;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto rows = fleet::read_csv(sources.add_file("t.csv", text), {sources, arena, sink});
  if (rows.has_value() == sink.has_errors()) std::abort();
  if (!rows) {
    for (const diag::Diagnostic& finding : sink.all()) {
      const diag::Span* span = sources.span(finding.primary.at);
      if (span == nullptr || span->end > size || span->begin > span->end) std::abort();
    }
    return 0;
  }
  for (const yaml::Node& row : rows->items()) {
    for (const yaml::Entry& entry : row.entries()) {
      const std::string_view there = sources.text(entry.value.origin());
      if (there != entry.value.as_string() && !there.starts_with('"')) std::abort();
    }
  }
  if (rows->size() == 0) return 0;
  const auto again =
      fleet::read_csv(sources.add_file("u.csv", written(*rows)), {sources, arena, sink});
  if (!again || !yaml::equal(*rows, *again)) std::abort();
  return 0;
}
