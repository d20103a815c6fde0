// Builds nodes from the events of yaml-cpp, refusing what the parser lets through.
#pragma once

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/mark.h>

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "diag/diagnostic.hpp"
#include "diag/sources.hpp"
#include "yaml/gap_check.hpp"
#include "yaml/node.hpp"
#include "yaml/read.hpp"
#include "yaml/scalar_check.hpp"

namespace gpuctl::yaml {

/// What ends a word.
inline constexpr std::string_view kSpace = " \t\r\n";

/// Thrown out of the parser after a diagnostic that ends the reading; caught in read.cpp.
struct StopReading {};

/// Receives the events of one text. Values wait on one stack until their collection ends.
/// Mistakes that leave the structure clear are reported and reading goes on; others throw
/// StopReading.
class TreeBuilder : public YAML::EventHandler {
 public:
  /// `one_document`: a second document is an error.
  TreeBuilder(diag::FileId file, diag::Sources& sources, Arena& arena, diag::Sink& sink,
              const ReadLimits& limits, bool one_document);

  const std::vector<Node>& documents() const { return documents_; }
  /// Byte offset in the file of a position of the parser.
  std::size_t offset(const YAML::Mark& mark) const;
  /// End of what the events so far covered.
  std::size_t progress() const { return last_end_; }
  /// The innermost `[` or `{` that is not closed yet.
  Origin open_collection() const;

  /// Where the quote stands that opens the text read last, when it is closed on another line;
  /// npos otherwise.
  std::size_t broken_quote() const;

  /// To be called when the parser has no more documents.
  void finish_stream();

  void OnDocumentStart(const YAML::Mark& mark) override;
  void OnDocumentEnd() override;
  void OnAnchor(const YAML::Mark& mark, const std::string& name) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& parsed) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override;
  void OnSequenceEnd() override;
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override;
  void OnMapEnd() override;

 private:
  struct Frame {
    bool map = false;
    bool flow = false;           // has brackets
    bool in_flow = false;        // stands inside brackets, its own or others
    std::ptrdiff_t column = -1;  // of the innermost block collection, itself included
    bool in_key = false;         // is used as a key, or is part of one
    YAML::anchor_t anchor = 0;
    std::size_t begin = 0;  // byte offsets in the file
    std::size_t end = 0;
    std::size_t first = 0;         // index of its first value on the stack
    std::size_t nodes_before = 0;  // to count what it contains
    std::size_t height = 1;        // levels of collections in it, itself included
  };
  struct Anchor {
    Origin origin = kNoOrigin;
    bool open = true;  // its value is not complete yet
    Node node;
    std::size_t nodes = 0;
    std::size_t height = 0;
  };

  Origin span(std::size_t begin, std::size_t end) const;
  Origin line_span(std::size_t at) const;
  std::size_t word_end(std::size_t at, std::string_view stops) const;
  std::size_t skip_word(std::size_t at) const;
  diag::Diagnostic& error(std::string_view code, Origin at, std::string message);
  [[noreturn]] void stop(Origin at, std::string message, std::size_t limit, std::string_view unit);
  void count_nodes(std::size_t count, Origin at);

  void report(const Fault& fault);
  void note_scalar(const ScalarPlace& place);
  Surroundings surroundings() const;
  std::ptrdiff_t column(std::size_t at) const;
  bool starts_line(std::size_t at) const;
  void check_indentation(std::size_t begin);
  void check_text(const ScalarPlace& place, std::string_view value, Origin origin);
  void check_anchor_name(std::size_t begin, Origin origin);
  bool is_marker(std::size_t at, std::string_view marker) const;
  bool ended_by_dots(std::size_t at) const;
  bool key_expected() const;
  std::size_t null_word(std::size_t at) const;
  std::size_t absent_value();

  Node check_key(Node key, bool plain);
  void refuse_key(const Frame& frame);
  void refuse_tag(std::size_t at);
  Node plain_value(std::string_view value, Origin origin);
  Node merge_key(Origin origin);
  void merge_entries();
  std::optional<Node> tagged_value(std::string_view tag, std::string_view value, Origin origin);
  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
            YAML::EmitterStyle::value style, bool map);
  Frame close();
  void finish(const Frame& frame, const Node& node);
  void define(YAML::anchor_t anchor, const Node& node, std::size_t height, std::size_t nodes);
  void push(const Node& node, std::size_t begin, std::size_t end, std::size_t height);
  bool remove_duplicates();

  diag::FileId file_;
  diag::Sources& sources_;
  Arena& arena_;
  diag::Sink& sink_;
  const ReadLimits& limits_;
  bool one_document_;
  std::string_view text_;
  std::size_t start_;  // behind the byte order mark
  std::size_t errors_before_;
  std::size_t last_end_;  // end of what was read last
  GapCheck gaps_;
  ScalarPlace last_scalar_;
  std::ptrdiff_t last_column_ = -1;  // Surroundings of the last scalar
  bool only_end_ = false;            // the document is no more than a `...`
  std::size_t nodes_ = 0;
  std::size_t aliases_ = 0;
  std::vector<Node> documents_;
  std::vector<Node> values_;
  std::vector<Frame> frames_;
  std::vector<Anchor> anchors_;
  std::unordered_map<std::string, Origin> anchor_names_;
  std::vector<Entry> entries_;  // of the mapping that ends
  std::vector<Entry> unique_;   // the same without duplicate keys
};

}  // namespace gpuctl::yaml
