#include "yaml/read.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <istream>
#include <streambuf>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "base/text.hpp"
#include "yaml/codes.hpp"
#include "yaml/scalar.hpp"
#include "yaml/scan.hpp"
#include "yaml/syntax_error.hpp"
#include "yaml/text_check.hpp"

namespace gpuctl::yaml {

namespace {

constexpr std::size_t kMostErrors = 50;  // of one file
constexpr std::size_t kSmallMap = 12;    // up to here a scan finds duplicate keys faster
constexpr std::string_view kStringTag = "tag:yaml.org,2002:str";

// Ends the parse after a diagnostic; never leaves this file.
struct Stop {};

// Lets yaml-cpp read a text where it lies.
class ViewBuffer : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    // The get area is not written to: nothing here or in std::istream puts characters back.
    char* begin = const_cast<char*>(text.data());
    setg(begin, begin, begin + text.size());
  }
};

// Builds nodes from the events of yaml-cpp. Values wait on one stack until their collection ends.
class Builder : public YAML::EventHandler {
 public:
  Builder(diag::FileId file, diag::Sources& sources, Arena& arena, diag::Sink& sink,
          const ReadLimits& limits, bool one_document)
      : file_(file),
        sources_(sources),
        arena_(arena),
        sink_(sink),
        limits_(limits),
        one_document_(one_document),
        text_(sources.file_text(file)),
        start_(byte_order_mark(text_)),
        errors_before_(sink.error_count()),
        last_end_(start_) {}

  const std::vector<Node>& documents() const { return documents_; }

  // Byte offset in the file of a position of the parser.
  std::size_t offset(const YAML::Mark& mark) const {
    if (mark.pos < 0) return text_.size();
    return std::min(start_ + static_cast<std::size_t>(mark.pos), text_.size());
  }

  Origin open_collection() const {
    for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
      if (frame->flow) return span(frame->begin, frame->begin + 1);
    }
    return kNoOrigin;
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    const std::size_t at = offset(mark);
    if (!documents_.empty()) {
      // yaml-cpp starts a document of its own where the root node ends too early.
      if (!text_.substr(at).starts_with("---") && !ended_by_dots(at)) {
        sink_.error(kSyntax, line_span(at), "this line belongs to nothing above it")
            .suggest("check the indentation, or start a new document with `---`");
        throw Stop();
      }
      if (one_document_) {
        sink_
            .error(kManyDocuments, span(at, std::min(at + 3, text_.size())),
                   "more than one document in the file")
            .label("the second document starts here")
            .expect("one document")
            .suggest("put each document into a file of its own");
        throw Stop();
      }
    }
    last_end_ = at;
    anchors_.clear();
    anchor_names_.clear();
  }

  void OnDocumentEnd() override {
    documents_.push_back(values_.empty() ? Node() : values_.back());
    values_.clear();
  }

  void OnAnchor(const YAML::Mark& mark, const std::string& name) override {
    const std::size_t at = offset(mark);
    std::size_t begin = text_.find('&', at);
    if (begin == std::string_view::npos) begin = at;
    const Origin origin = span(begin, std::min(begin + name.size() + 1, text_.size()));
    const auto [known, inserted] = anchor_names_.emplace(name, origin);
    if (!inserted) {
      error(kAlias, origin, "anchor `" + name + "` is defined twice")
          .also(known->second, "first defined here");
    }
    anchors_.push_back({origin, name, true, Node(), 0, 0});
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t id) override {
    const std::size_t at = offset(mark);
    std::size_t end = at;
    while (end < text_.size() &&
           std::string_view(" \t\r\n,[]{}").find(text_[end]) == std::string_view::npos) {
      ++end;
    }
    const Origin origin = span(at, end);
    last_end_ = end;
    const std::string name(text_.substr(at, end - at));
    const Anchor* anchor = id >= 1 && id <= anchors_.size() ? &anchors_[id - 1] : nullptr;
    Node node = Node::null(origin);
    std::size_t height = 0;
    if (anchor == nullptr || anchor->open) {
      error(kAlias, origin, "alias `" + name + "` refers to a value that contains it")
          .also(anchor == nullptr ? kNoOrigin : anchor->origin, "the value starts here");
    } else if (limits_.aliases == 0) {
      error(kAlias, origin, "alias `" + name + "` is not accepted")
          .label("an alias")
          .also(anchor->origin, "its anchor")
          .suggest("write the value out, or quote a text that starts with `*`");
    } else if (++aliases_ > limits_.aliases) {
      stop(kInputLimit, origin, "too many aliases", limits_.aliases, "aliases");
    } else if (key_expected()) {
      error(kBadKey, origin, "an alias is used as a key").expect("a string");
    } else {
      count_nodes(anchor->nodes, origin);
      height = anchor->height;
      if (frames_.size() + height > limits_.depth) too_deep(origin);
      node = anchor->node.with_origin(origin);
    }
    push(node, at, end, height);
  }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    count_nodes(1, kNoOrigin);
    std::size_t at = skip_properties(text_, offset(mark));
    const std::size_t size = null_word(at);
    if (size == 0) at = absent_value();
    const Origin origin = span(at, at + size);
    if (size != 0) last_end_ = at + size;
    Node node = Node::null(origin);
    if (key_expected()) {
      if (size == 0) error(kBadKey, origin, "a key is missing before `:`");
      node = check_key(arena_.string(text_.substr(at, size), origin), true);
    }
    define(anchor, node, 0, 1);
    push(node, at, at + size, 0);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    const std::size_t property = offset(mark);
    std::size_t at = property;
    const bool has_properties = at < text_.size() && (text_[at] == '!' || text_[at] == '&');
    if (has_properties) at = skip_properties(text_, at);
    ScalarPlace place = locate_scalar(text_, at, value);
    if (place.match == Match::no) {  // an empty value behind a tag, or a case not thought of
      place.begin = static_cast<std::uint32_t>(property);
      place.end = place.begin;
      while (place.end < text_.size() &&
             std::string_view(" \t\r\n").find(text_[place.end]) == std::string_view::npos) {
        ++place.end;
      }
    }
    const Origin origin = span(place.begin, place.end);
    last_end_ = place.end;
    count_nodes(1, origin);
    if (place.match == Match::unterminated) {
      sink_.error(kUnterminated, span(place.begin, place.begin + 1), "this quote is never closed")
          .label("opened here");
      throw Stop();
    }
    if (value.size() > limits_.scalar_bytes) {
      stop(kInputLimit, origin, "the text is too long", limits_.scalar_bytes, "bytes");
    }
    if (value.find('\0') != std::string::npos) {
      error(kBadCharacter, origin, "a NUL character in a text").suggest("remove the escape");
    }
    const bool string_tag = tag == kStringTag;
    if (tag != "?" && !string_tag &&
        (tag != "!" || text_.substr(property).starts_with('!') || place.match == Match::no)) {
      refuse_tag(property, tag);
    }
    const bool plain = tag == "?" && place.style == Style::plain;
    Node node;
    if (key_expected()) {
      node = check_key(arena_.string(value, origin), plain);
    } else {
      node = plain ? plain_value(value, origin) : arena_.string(value, origin);
    }
    define(anchor, node, 0, 1);
    push(node, place.begin, place.end, 0);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    open(mark, tag, anchor, style, false);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    open(mark, tag, anchor, style, true);
  }

  void OnSequenceEnd() override {
    const Frame frame = close();
    const std::span<const Node> items = std::span(values_).subspan(frame.first);
    finish(frame, arena_.list(items, span(frame.begin, frame.end)));
  }

  void OnMapEnd() override {
    const Frame frame = close();
    entries_.clear();
    for (std::size_t i = frame.first; i + 1 < values_.size(); i += 2) {
      entries_.push_back({values_[i], values_[i + 1]});
    }
    if (remove_duplicates()) {
      finish(frame, arena_.map(unique_, span(frame.begin, frame.end)));
    } else {
      finish(frame, arena_.map(entries_, span(frame.begin, frame.end)));
    }
  }

 private:
  struct Frame {
    bool map = false;
    bool flow = false;
    YAML::anchor_t anchor = 0;
    std::size_t begin = 0;  // byte offsets in the file
    std::size_t end = 0;
    std::size_t first = 0;         // index of its first value on the stack
    std::size_t nodes_before = 0;  // to count what it contains
    std::size_t height = 1;        // levels of collections in it, itself included
  };
  struct Anchor {
    Origin origin = kNoOrigin;
    std::string name;
    bool open = true;  // its value is not complete yet
    Node node;
    std::size_t nodes = 0;
    std::size_t height = 0;
  };

  Origin span(std::size_t begin, std::size_t end) const {
    return sources_.add_span(file_, static_cast<std::uint32_t>(begin),
                             static_cast<std::uint32_t>(end));
  }

  Origin line_span(std::size_t at) const {
    std::size_t end = std::min(text_.find('\n', at), text_.size());
    while (end > at && (text_[end - 1] == ' ' || text_[end - 1] == '\r')) --end;
    return span(at, end);
  }

  diag::Diagnostic& error(std::string_view code, Origin at, std::string message) {
    if (sink_.error_count() - errors_before_ >= kMostErrors) throw Stop();
    return sink_.error(code, at, std::move(message));
  }

  [[noreturn]] void stop(std::string_view code, Origin at, std::string message, std::size_t limit,
                         std::string_view unit) {
    sink_.error(code, at, std::move(message))
        .expect("at most " + std::to_string(limit) + " " + std::string(unit));
    throw Stop();
  }

  [[noreturn]] void too_deep(Origin at) {
    stop(kInputLimit, at, "the document is nested too deeply", limits_.depth, "levels");
  }

  void count_nodes(std::size_t count, Origin at) {
    nodes_ += count;
    if (nodes_ > limits_.nodes) {
      stop(kInputLimit, at, "the document has too many values", limits_.nodes, "values");
    }
  }

  bool ended_by_dots(std::size_t at) const {
    const std::string_view between = text_.substr(last_end_, at - std::min(at, last_end_));
    return between.starts_with("...") || between.find("\n...") != std::string_view::npos;
  }

  bool key_expected() const {
    return !frames_.empty() && frames_.back().map &&
           (values_.size() - frames_.back().first) % 2 == 0;
  }

  // Length of the word for null at `at`; 0 when the value is left out. What stands there may also
  // be the next key.
  std::size_t null_word(std::size_t at) const {
    if (at < last_end_ && at != start_) return 0;
    for (const std::string_view word : {"null", "~", "Null", "NULL"}) {
      if (!text_.substr(at).starts_with(word)) continue;
      if (key_expected()) return word.size();
      std::size_t after = at + word.size();
      while (after < text_.size() && text_[after] == ' ') ++after;
      const bool next_key =
          after < text_.size() && text_[after] == ':' && !frames_.empty() &&
          text_.substr(last_end_, at - last_end_).find('\n') != std::string_view::npos;
      return next_key ? 0 : word.size();
    }
    return 0;
  }

  // Where a value would stand that is left out: behind the `:` of its key or the `-` of its item.
  std::size_t absent_value() {
    const char sign = !frames_.empty() && !frames_.back().map ? '-' : ':';
    std::size_t at = skip_separation(text_, last_end_);
    if (at >= text_.size() || text_[at] != sign) return last_end_;
    last_end_ = at + 1;
    return at + 1;
  }

  Node check_key(Node key, bool plain) {
    const std::string_view name = key.as_string();
    if (plain && name == "<<") {
      error(kMergeKey, key.origin(), "merge keys are not accepted")
          .suggest("write the entries out, or quote the key if `<<` is meant as text");
    }
    for (std::size_t i = 0; i < name.size();) {
      if (static_cast<unsigned char>(name[i]) < 0x80) {
        ++i;
        continue;
      }
      const char32_t c = next_code_point(name, i);
      if (!is_hidden(c)) continue;
      error(kBadKey, key.origin(), "a key contains the invisible character " + code_point_name(c))
          .suggest("type the key anew");
      break;
    }
    return key;
  }

  void refuse_tag(std::size_t at, const std::string& tag) {
    if (const std::size_t found = text_.substr(at, 4096).find('!');
        found != std::string_view::npos) {
      at += found;
    }
    std::size_t end = at;
    while (end < text_.size() &&
           std::string_view(" \t\r\n").find(text_[end]) == std::string_view::npos) {
      ++end;
    }
    (void)tag;
    error(kTag, span(at, end),
          "tag `" + std::string(text_.substr(at, end - at)) + "` is not accepted")
        .expect("no tag, or `!!str`")
        .suggest("remove the tag, or quote a text that starts with `!`");
  }

  Node plain_value(const std::string& value, Origin origin) {
    switch (const Plain kind = classify_plain(value)) {
      case Plain::string:
        return arena_.string(value, origin);
      case Plain::null:
        return Node::null(origin);
      case Plain::boolean_true:
        return Node::boolean(true, origin);
      case Plain::boolean_false:
        return Node::boolean(false, origin);
      case Plain::integer:
        return Node::integer(base::parse_integer(value).value_or(0), origin);
      case Plain::real:
        return Node::real(parse_real(value), origin);
      case Plain::too_large:
        if (limits_.ambiguous_scalars) return Node::real(parse_real(value), origin);
        error(kIntegerRange, origin, "integer `" + value + "` does not fit 64 bits")
            .expect("-9223372036854775808 to 9223372036854775807")
            .suggest("quote it if a text is meant");
        return Node::null(origin);
      default:
        if (limits_.ambiguous_scalars) {
          return kind == Plain::other_real ? Node::real(parse_real(value), origin)
                                           : arena_.string(value, origin);
        }
        refuse_ambiguous(kind, value, origin);
        return arena_.string(value, origin);
    }
  }

  void refuse_ambiguous(Plain kind, const std::string& value, Origin origin) {
    diag::Diagnostic& diagnostic =
        error(kAmbiguousScalar, origin, "`" + value + "` without quotes is read in different ways");
    const std::string text = "write `\"" + value + "\"` for the text";
    switch (kind) {
      case Plain::other_truth:
        diagnostic.label("a truth value for YAML 1.1, text for YAML 1.2")
            .suggest(text + ", or `true` or `false`");
        break;
      case Plain::other_date:
        diagnostic.label("a date for YAML 1.1, text for YAML 1.2").suggest(text);
        break;
      case Plain::other_real:
        diagnostic.label("a number for YAML 1.2, text for some YAML 1.1 readers")
            .suggest(text + ", or a number without exponent and plus sign");
        break;
      case Plain::other_word:
        diagnostic.label("special in YAML 1.1, text for YAML 1.2").suggest(text);
        break;
      default:
        diagnostic.label("YAML 1.1 and 1.2 do not agree on this number")
            .suggest(text + ", or a plain decimal number");
        break;
    }
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
            YAML::EmitterStyle::value style, bool map) {
    Frame frame;
    frame.map = map;
    frame.flow = style == YAML::EmitterStyle::Flow;
    frame.anchor = anchor;
    const std::size_t at = offset(mark);
    frame.begin = skip_properties(text_, at);
    // `[a: b]` and `{a: b}` differ only in the text: the mapping in the former has no bracket.
    const char first = frame.begin < text_.size() ? text_[frame.begin] : '\0';
    frame.flow = frame.flow && first == (map ? '{' : '[');
    frame.end = frame.begin + (frame.flow ? 1 : 0);
    if (tag != "?") refuse_tag(at, tag);
    if (frames_.size() >= limits_.depth) too_deep(span(frame.begin, frame.begin + 1));
    if (key_expected()) {
      const Origin origin = line_span(frame.begin);
      diag::Diagnostic& diagnostic =
          error(kBadKey, origin, map ? "a mapping is used as a key" : "a list is used as a key");
      diagnostic.expect("a string");
      if (text_.substr(frame.begin > 0 ? frame.begin - 1 : 0).starts_with("{{")) {
        diagnostic.suggest("expressions are written `${...}`; quote a text that starts with `{{`");
      } else {
        diagnostic.suggest("quote a text that starts with `{` or `[`");
      }
    }
    count_nodes(1, kNoOrigin);
    frame.nodes_before = nodes_ - 1;
    frame.first = values_.size();
    frames_.push_back(frame);
    last_end_ = frame.end;
  }

  Frame close() {
    Frame frame = frames_.back();
    frames_.pop_back();
    if (frame.flow) {
      std::size_t at = skip_separation(text_, last_end_);
      while (at < text_.size() && text_[at] == ',') at = skip_separation(text_, at + 1);
      if (at < text_.size() && text_[at] == (frame.map ? '}' : ']')) {
        last_end_ = frame.end = at + 1;
      }
    }
    return frame;
  }

  void finish(const Frame& frame, const Node& node) {
    values_.resize(frame.first);
    Node value = node;
    if (key_expected()) value = arena_.string("", node.origin());  // already reported
    define(frame.anchor, value, frame.height, nodes_ - frame.nodes_before);
    push(value, frame.begin, frame.end, frame.height);
  }

  void define(YAML::anchor_t id, const Node& node, std::size_t height, std::size_t nodes) {
    if (id == 0 || id > anchors_.size()) return;
    Anchor& anchor = anchors_[id - 1];
    anchor.node = node;
    anchor.height = height;
    anchor.nodes = nodes;
    anchor.open = false;
  }

  void push(const Node& node, std::size_t begin, std::size_t end, std::size_t height) {
    if (!frames_.empty()) {
      Frame& frame = frames_.back();
      frame.height = std::max(frame.height, height + 1);
      // A block collection is shown by what stands on its first line.
      const std::size_t position = values_.size() - frame.first;
      if (!frame.flow && position < (frame.map ? 2U : 1U) &&
          text_.substr(frame.begin, begin - std::min(begin, frame.begin)).find('\n') ==
              std::string_view::npos) {
        frame.end = std::max(frame.end, end);
      }
    }
    values_.push_back(node);
  }

  // Reports keys of entries_ that were there before; when there are any, the entries without them
  // are in unique_.
  bool remove_duplicates() {
    bool found = false;
    const auto report = [&](const Node& key, const Node& first) {
      found = true;
      error(kDuplicateKey, key.origin(),
            "key `" + std::string(key.as_string()) + "` is given twice")
          .label("again here")
          .also(first.origin(), "first defined here");
    };
    if (entries_.size() <= kSmallMap) {
      for (std::size_t i = 1; i < entries_.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          if (entries_[i].key.as_string() != entries_[j].key.as_string()) continue;
          report(entries_[i].key, entries_[j].key);
          break;
        }
      }
    } else {
      std::unordered_map<std::string_view, const Node*> seen;
      seen.reserve(entries_.size());
      for (const Entry& entry : entries_) {
        const auto [first, inserted] = seen.emplace(entry.key.as_string(), &entry.key);
        if (!inserted) report(entry.key, *first->second);
      }
    }
    if (!found) return false;
    unique_.clear();
    std::unordered_set<std::string_view> seen;
    for (const Entry& entry : entries_) {
      if (seen.insert(entry.key.as_string()).second) unique_.push_back(entry);
    }
    return true;
  }

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
  std::size_t nodes_ = 0;
  std::size_t aliases_ = 0;
  std::vector<Node> documents_;
  std::vector<Node> values_;
  std::vector<Frame> frames_;
  std::vector<Anchor> anchors_;
  std::unordered_map<std::string, Origin> anchor_names_;
  std::vector<Entry> entries_;
  std::vector<Entry> unique_;
};

std::optional<std::vector<Node>> parse(diag::FileId file, diag::Sources& sources, Arena& arena,
                                       diag::Sink& sink, const ReadLimits& limits,
                                       bool one_document) {
  const std::size_t errors_before = sink.error_count();
  if (!check_text(file, sources, sink, limits)) return std::nullopt;
  const std::string_view text = sources.file_text(file);
  ViewBuffer buffer(text.substr(byte_order_mark(text)));
  std::istream stream(&buffer);
  Builder builder(file, sources, arena, sink, limits, one_document);
  const auto syntax_error = [&](std::string_view message, std::size_t at) {
    report_syntax_error(message, {file, at, builder.open_collection()}, sources, sink);
  };
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Stop&) {
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
  limits.aliases = 1000;
  limits.ambiguous_scalars = true;
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

}  // namespace gpuctl::yaml
