#include "yaml/read.hpp"

#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <istream>
#include <streambuf>

#include "yaml/scan.hpp"
#include "yaml/syntax_error.hpp"
#include "yaml/text_check.hpp"
#include "yaml/tree_builder.hpp"

namespace gpuctl::yaml {

namespace {

// Lets yaml-cpp read a text where it lies.
class ViewBuffer : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    // The get area is not written to: nothing here or in std::istream puts characters back.
    char* begin = const_cast<char*>(text.data());
    setg(begin, begin, begin + text.size());
  }
};

// Without the byte order mark, and without blanks on a last line of their own that has no end:
// yaml-cpp would fold them into a block scalar in front of them.
std::string_view parsed_part(std::string_view text) {
  text.remove_prefix(byte_order_mark(text));
  const std::size_t content = text.find_last_not_of(" \t");
  return content != std::string_view::npos && text[content] == '\n' ? text.substr(0, content + 1)
                                                                    : text;
}

std::optional<std::vector<Node>> parse(diag::FileId file, diag::Sources& sources, Arena& arena,
                                       diag::Sink& sink, const ReadLimits& limits,
                                       bool one_document) {
  const std::size_t errors_before = sink.error_count();
  if (!check_text(file, sources, sink, limits)) return std::nullopt;
  if (report_merge_conflict(file, sources, sink)) return std::nullopt;
  const std::string_view text = sources.file_text(file);
  ViewBuffer buffer(parsed_part(text));
  std::istream stream(&buffer);
  TreeBuilder builder(file, sources, arena, sink, limits, one_document);
  const auto syntax_error = [&](std::string_view message, std::size_t at) {
    report_syntax_error(
        message, {file, at, builder.progress(), builder.open_collection(), builder.broken_quote()},
        sources, sink);
  };
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
    builder.finish_stream();
  } catch (const StopReading&) {
    return std::nullopt;
  } catch (const YAML::Exception& exception) {
    syntax_error(exception.msg, builder.offset(exception.mark));
  } catch (const std::exception& exception) {
    syntax_error(exception.what(), text.size());
  }
  if (sink.error_count() != errors_before) return std::nullopt;
  return builder.documents();
}

}  // namespace

ReadLimits published_limits() {
  ReadLimits limits;
  limits.bytes = 16 * 1024 * 1024;
  limits.depth = 64;
  limits.nodes = 2'000'000;
  limits.scalar_bytes = 4 * 1024 * 1024;
  limits.anchors = 1000;
  limits.aliases = 1000;
  limits.ambiguous_scalars = true;
  return limits;
}

ReadLimits kubectl_limits() {
  ReadLimits limits;
  limits.ambiguous_scalars = true;
  limits.kubectl_scalars = true;
  return limits;
}

std::optional<Node> read(diag::FileId file, diag::Sources& sources, Arena& arena, diag::Sink& sink,
                         const ReadLimits& limits) {
  const auto documents = parse(file, sources, arena, sink, limits, true);
  if (!documents) return std::nullopt;
  return documents->empty() ? Node() : documents->front();
}

std::optional<std::vector<Node>> read_all(diag::FileId file, diag::Sources& sources, Arena& arena,
                                          diag::Sink& sink, const ReadLimits& limits) {
  return parse(file, sources, arena, sink, limits, false);
}

std::vector<std::uint32_t> scalar_offsets(const diag::Sources& sources, const Node& scalar) {
  const diag::Span* span = sources.span(scalar.origin());
  if (span == nullptr || !scalar.is_string()) return {};
  const std::string_view text = sources.file_text(span->file);
  std::vector<std::uint32_t> offsets;
  const ScalarPlace place = locate_scalar(text, span->begin, scalar.as_string(), &offsets);
  if (place.match != Match::yes || place.end != span->end) return {};
  return offsets;
}

diag::Origin comment_behind(diag::Sources& sources, const Node& scalar) {
  const diag::Span* span = sources.span(scalar.origin());
  if (span == nullptr || !scalar.is_string() || span->begin == span->end) return diag::kNoOrigin;
  const diag::FileId file = span->file;
  const std::string_view text = sources.file_text(file);
  if (std::string_view("\"'|>").find(text[span->begin]) != std::string_view::npos) {
    return diag::kNoOrigin;
  }
  const std::size_t at = text.find_first_not_of(" \t", span->end);
  if (at == span->end || !text.substr(std::min(at, text.size())).starts_with('#')) {
    return diag::kNoOrigin;
  }
  const std::size_t end = std::min(text.find_first_of("\r\n", at), text.size());
  return sources.add_span(file, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end));
}

}  // namespace gpuctl::yaml
