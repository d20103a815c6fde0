#include "yaml/tree_builder.hpp"

#include <algorithm>

#include "yaml/codes.hpp"
#include "yaml/scan.hpp"
#include "yaml/syntax_error.hpp"
#include "yaml/text_check.hpp"

namespace gpuctl::yaml {

namespace {

constexpr std::string_view kStringTag = "tag:yaml.org,2002:str";
constexpr std::string_view kMapTag = "tag:yaml.org,2002:map";
constexpr std::string_view kListTag = "tag:yaml.org,2002:seq";

}  // namespace

TreeBuilder::TreeBuilder(diag::FileId file, diag::Sources& sources, Arena& arena, diag::Sink& sink,
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
      last_end_(start_),
      gaps_(text_, start_, limits.kubectl_scalars) {}

// yaml-cpp counts bytes, without the byte order mark.
std::size_t TreeBuilder::offset(const YAML::Mark& mark) const {
  if (mark.pos < 0) return text_.size();
  return std::min(start_ + static_cast<std::size_t>(mark.pos), text_.size());
}

Origin TreeBuilder::open_collection() const {
  for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
    if (frame->flow) return span(frame->begin, frame->begin + 1);
  }
  return kNoOrigin;
}

void TreeBuilder::OnDocumentStart(const YAML::Mark& mark) {
  const std::size_t at = offset(mark);
  only_end_ = is_marker(at, "...");
  if (!documents_.empty()) {
    // yaml-cpp starts a document of its own where the root node ends too early.
    if (!is_marker(at, "---") && !ended_by_dots(at)) {
      sink_.error(kSyntax, line_span(at), "this line belongs to nothing above it")
          .suggest("check the indentation, or start a new document with `---`");
      throw StopReading();
    }
    if (one_document_) {
      sink_
          .error(kManyDocuments, span(at, word_end(at, kSpace)),
                 "more than one document in the file")
          .label("the second document starts here")
          .expect("one document")
          .suggest("put each document into a file of its own");
      throw StopReading();
    }
  }
  last_end_ = at;
  anchors_.clear();
  anchor_names_.clear();
}

void TreeBuilder::OnDocumentEnd() {
  if (!only_end_ || !values_.back().is_null())
    documents_.push_back(values_.empty() ? Node() : values_.back());
  values_.clear();
}

void TreeBuilder::OnAnchor(const YAML::Mark& mark, const std::string& name) {
  const std::size_t at = offset(mark);
  const std::size_t sign = text_.find('&', at);
  const std::size_t begin = sign == std::string_view::npos ? at : sign;
  const Origin origin = span(begin, std::min(begin + name.size() + 1, text_.size()));
  if (anchors_.size() >= limits_.anchors) {
    stop(origin, "the document has too many anchors", limits_.anchors, "anchors");
  }
  check_anchor_name(begin + 1, origin);
  const auto [known, inserted] = anchor_names_.emplace(name, origin);
  if (!inserted) {
    error(kAlias, origin, "anchor `" + name + "` is defined twice")
        .also(known->second, "first defined here");
  }
  anchors_.push_back({.origin = origin, .open = true, .node = Node(), .nodes = 0, .height = 0});
}

void TreeBuilder::OnAlias(const YAML::Mark& mark, YAML::anchor_t id) {
  const std::size_t at = offset(mark);
  const std::size_t end = word_end(at, " \t\r\n,[]{}");
  const Origin origin = span(at, end);
  last_end_ = end;
  check_indentation(at);
  gaps_.scalar(at, end);
  check_anchor_name(at + 1, origin);
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
    stop(origin, "the file has too many aliases", limits_.aliases, "aliases");
  } else if (key_expected()) {
    error(kBadKey, origin, "an alias is used as a key").expect("a string");
  } else {
    count_nodes(anchor->nodes, origin);
    height = anchor->height;
    if (frames_.size() + height > limits_.depth) {
      stop(origin, "the file is nested too deeply", limits_.depth, "levels");
    }
    node = anchor->node.with_origin(origin);
  }
  if (key_expected()) node = arena_.string(name, origin);
  push(node, at, end, height);
}

void TreeBuilder::OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) {
  std::size_t at = skip_properties(text_, offset(mark));
  const std::size_t size = null_word(at);
  if (size == 0) at = absent_value();
  const Origin origin = span(at, at + size);
  count_nodes(1, origin);
  if (size != 0) {
    last_end_ = at + size;
    check_indentation(offset(mark));
    gaps_.scalar(at, at + size);
  }
  Node node = Node::null(origin);
  if (frames_.empty()) {  // the event of an empty document does not tell its tag
    std::size_t tag = offset(mark);
    if (text_.substr(tag).starts_with('&')) tag = skip_word(tag);
    if (text_.substr(tag).starts_with('!')) refuse_tag(tag);
  }
  if (key_expected()) {
    if (size == 0) error(kBadKey, origin, "a key is missing before `:`");
    node = check_key(arena_.string(text_.substr(at, size), origin), true);
  }
  define(anchor, node, 0, 1);
  push(node, at, at + size, 0);
}

void TreeBuilder::check_text(const ScalarPlace& place, std::string_view value, Origin origin) {
  if (place.match == Match::unterminated) {
    sink_.error(kUnterminated, span(place.begin, place.begin + 1), "this quote is never closed")
        .label("opened here");
    throw StopReading();
  }
  if (value.size() > limits_.scalar_bytes) {
    stop(span(place.begin, place.begin), "the text is too long", limits_.scalar_bytes, "bytes");
  }
  if (value.find('\0') != std::string_view::npos) {
    error(kBadCharacter, origin, "a text contains the character U+0000")
        .suggest("remove the escape");
  }
}

void TreeBuilder::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                           const std::string& parsed) {
  const std::size_t property = offset(mark);
  const std::size_t at = skip_properties(text_, property);
  ScalarPlace place = locate_scalar(text_, at, parsed);
  std::string_view value = parsed;
  std::string mended;
  if (place.match == Match::no && text_.substr(at).starts_with('>')) {
    // yaml-cpp drops one of the line breaks that `>+` keeps.
    mended = parsed + "\n";
    place = locate_scalar(text_, at, mended);
    value = mended;
  }
  if (place.match == Match::no && (!value.empty() || at == property)) {
    // What the parser says and what stands there are not the same.
    error(kSyntax, span(at, at + 1), "line breaks in this text are read in different ways")
        .suggest("write `\\n` in double quotes, or a block text that starts with `|`");
    throw StopReading();  // where the text ends is not known
  }
  if (place.match == Match::no) {  // an empty value behind a tag
    place.begin = static_cast<std::uint32_t>(property);
    place.end = static_cast<std::uint32_t>(word_end(property, kSpace));
  }
  const Origin origin = span(place.begin, place.end);
  last_end_ = place.end;
  count_nodes(1, origin);
  check_indentation(property);
  note_scalar(place);
  if (at != property && !value.empty() && surroundings().flow &&
      text_.substr(at).starts_with(':')) {
    // Behind an anchor or tag, some readers take the colon for the end of an empty key.
    error(kSyntax, span(at, at + 1), "a text that starts with `:` is read in different ways here")
        .suggest("quote it");
  }
  check_text(place, value, origin);
  const std::size_t sign = text_.substr(property).starts_with('&') ? skip_word(property) : property;
  std::optional<Node> tagged;
  if (sign < at && text_[sign] == '!') {
    const std::string_view word = text_.substr(sign, word_end(sign, " \t\r\n,[]{}") - sign);
    tagged = word.starts_with("!!") ? tagged_value(tag, value, origin) : std::nullopt;
    if (!tagged && (tag != kStringTag || word != "!!str")) refuse_tag(property);
  }
  // yaml-cpp gives plain scalars the tag "?", others "!".
  const bool plain = tag == "?" && place.style == Style::plain;
  Node node;
  if (key_expected()) {
    node = check_key(arena_.string(value, origin), plain);
  } else if (tagged) {
    node = *tagged;
  } else {
    node = plain ? plain_value(value, origin) : arena_.string(value, origin);
  }
  define(anchor, node, 0, 1);
  push(node, place.begin, place.end, 0);
}

void TreeBuilder::OnSequenceStart(const YAML::Mark& mark, const std::string& tag,
                                  YAML::anchor_t anchor, YAML::EmitterStyle::value style) {
  open(mark, tag, anchor, style, false);
}

void TreeBuilder::OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                             YAML::EmitterStyle::value style) {
  open(mark, tag, anchor, style, true);
}

void TreeBuilder::OnSequenceEnd() {
  const Frame frame = close();
  const std::span<const Node> items = std::span(values_).subspan(frame.first);
  finish(frame, arena_.list(items, span(frame.begin, frame.end)));
}

void TreeBuilder::OnMapEnd() {
  const Frame frame = close();
  entries_.clear();
  for (std::size_t i = frame.first; i + 1 < values_.size(); i += 2) {
    entries_.push_back({values_[i], values_[i + 1]});
  }
  if (limits_.kubectl_scalars) merge_entries();
  const std::vector<Entry>& entries = remove_duplicates() ? unique_ : entries_;
  finish(frame, arena_.map(entries, span(frame.begin, frame.end)));
}

Origin TreeBuilder::span(std::size_t begin, std::size_t end) const {
  return sources_.add_span(file_, static_cast<std::uint32_t>(begin),
                           static_cast<std::uint32_t>(std::min(end, text_.size())));
}

Origin TreeBuilder::line_span(std::size_t at) const {
  std::size_t end = std::min(text_.find('\n', at), text_.size());
  while (end > at && (text_[end - 1] == ' ' || text_[end - 1] == '\r')) --end;
  return span(at, end);
}

std::size_t TreeBuilder::word_end(std::size_t at, std::string_view stops) const {
  return std::min(text_.find_first_of(stops, at), text_.size());
}

// The start of the word behind the one at `at`.
std::size_t TreeBuilder::skip_word(std::size_t at) const {
  return std::min(text_.find_first_not_of(kSpace, word_end(at, kSpace)), text_.size());
}

bool TreeBuilder::ended_by_dots(std::size_t at) const {
  const std::string_view between = text_.substr(last_end_, at - std::min(at, last_end_));
  return between.starts_with("...") || between.find("\n...") != std::string_view::npos;
}

// `---` or `...` as a word of its own at the start of a line.
bool TreeBuilder::is_marker(std::size_t at, std::string_view marker) const {
  return (at == start_ || text_[at - 1] == '\n') && text_.substr(at).starts_with(marker) &&
         (at + 3 == text_.size() || kSpace.find(text_[at + 3]) != std::string_view::npos);
}

bool TreeBuilder::key_expected() const {
  return !frames_.empty() && frames_.back().map && (values_.size() - frames_.back().first) % 2 == 0;
}

// Length of the word for null at `at`; 0 when the value is left out, and what stands there is the
// next key or anything else.
std::size_t TreeBuilder::null_word(std::size_t at) const {
  if (at < last_end_) return 0;
  for (const std::string_view word : {"null", "~", "Null", "NULL"}) {
    if (!text_.substr(at).starts_with(word)) continue;
    const std::size_t end = at + word.size();
    if (end < text_.size() &&
        std::string_view(" \t\r\n,[]{}:").find(text_[end]) == std::string_view::npos) {
      continue;  // a longer word, the next key
    }
    if (key_expected() || frames_.empty()) return word.size();
    const std::size_t after = std::min(text_.find_first_not_of(' ', end), text_.size());
    const bool next_key = text_.substr(after, 1) == ":" &&
                          text_.substr(last_end_, at - last_end_).find('\n') != std::string::npos;
    return next_key ? 0 : word.size();
  }
  return 0;
}

// Where a value would stand that is left out: behind the `:` of its key or the `-` of its item.
std::size_t TreeBuilder::absent_value() {
  const std::size_t before = last_end_;
  const char sign = !frames_.empty() && !frames_.back().map ? '-' : ':';
  last_end_ = skip_separation(text_, last_end_);
  if (last_end_ < text_.size() && text_[last_end_] == sign) return ++last_end_;
  if (!frames_.empty() && frames_.back().map && !frames_.back().flow && !key_expected()) {
    const Node& key = values_.back();
    if (is_conflict_marker(key.as_string())) {
      report_conflict_marker(file_, sources_.span(key.origin())->begin, sources_, sink_);
      throw StopReading();
    }
    error(kSyntax, key.origin(), "`:` is missing behind this key")
        .label("neither a key nor part of the value above");
  }
  return before;
}

void TreeBuilder::open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style, bool map) {
  const std::size_t at = offset(mark);
  Frame frame;
  frame.map = map;
  frame.anchor = anchor;
  frame.begin = skip_properties(text_, at);
  // `[a: b]` holds a mapping in flow style that has no brackets of its own.
  frame.flow =
      style == YAML::EmitterStyle::Flow && text_.substr(frame.begin, 1) == (map ? "{" : "[");
  frame.end = frame.begin + (frame.flow ? 1 : 0);
  frame.in_flow = style == YAML::EmitterStyle::Flow;
  frame.column = frame.in_flow ? surroundings().column : std::min(column(at), column(frame.begin));
  const bool core = limits_.kubectl_scalars && tag == (map ? kMapTag : kListTag);
  if (tag != "?" && !core) refuse_tag(at);
  check_indentation(at);
  if (frames_.size() >= limits_.depth) {
    stop(span(frame.begin, frame.begin + 1), "the file is nested too deeply", limits_.depth,
         "levels");
  }
  frame.in_key = key_expected() || (!frames_.empty() && frames_.back().in_key);
  count_nodes(1, kNoOrigin);
  frame.nodes_before = nodes_ - 1;
  frame.first = values_.size();
  frames_.push_back(frame);
  last_end_ = frame.end;
}

TreeBuilder::Frame TreeBuilder::close() {
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

void TreeBuilder::finish(const Frame& frame, const Node& node) {
  values_.resize(frame.first);
  Node value = node;
  if (key_expected()) {
    if (!frames_.back().in_key) refuse_key(frame);
    value = arena_.string(text_.substr(frame.begin, frame.end - frame.begin), node.origin());
  }
  define(frame.anchor, value, frame.height, nodes_ - frame.nodes_before);
  push(value, frame.begin, frame.end, frame.height);
}

void TreeBuilder::define(YAML::anchor_t id, const Node& node, std::size_t height,
                         std::size_t nodes) {
  if (id == 0 || id > anchors_.size()) return;
  Anchor& anchor = anchors_[id - 1];
  anchor.node = node;
  anchor.height = height;
  anchor.nodes = nodes;
  anchor.open = false;
}

void TreeBuilder::push(const Node& node, std::size_t begin, std::size_t end, std::size_t height) {
  if (!frames_.empty()) {
    Frame& frame = frames_.back();
    frame.height = std::max(frame.height, height + 1);
    // A block collection is shown by what stands on its first line.
    const std::size_t position = values_.size() - frame.first;
    if (!frame.flow && position < (frame.map ? 2U : 1U) && begin >= frame.begin &&
        text_.substr(frame.begin, begin - frame.begin).find('\n') == std::string_view::npos) {
      frame.end = std::max(frame.end, end);
    }
  }
  values_.push_back(node);
}

}  // namespace gpuctl::yaml
