// What the tree builder refuses although the parser lets it through.
#include <algorithm>

#include "base/text.hpp"
#include "diag/character.hpp"
#include "yaml/codes.hpp"
#include "yaml/scalar.hpp"
#include "yaml/syntax_error.hpp"
#include "yaml/tree_builder.hpp"

namespace gpuctl::yaml {

namespace {

constexpr std::size_t kMostErrors = 50;  // of one file
constexpr std::size_t kSmallMap = 12;    // up to here a scan finds duplicate keys faster

void describe_ambiguity(diag::Diagnostic& diagnostic, Plain kind, std::string_view value) {
  const std::string quote = "write `\"" + std::string(value) + "\"` for the text";
  switch (kind) {
    case Plain::other_truth:
      diagnostic.label("a truth value for YAML 1.1, text for YAML 1.2")
          .suggest(quote + ", or `true` or `false`");
      return;
    case Plain::other_date:
      diagnostic.label("a date for YAML 1.1, text for YAML 1.2").suggest(quote);
      return;
    case Plain::other_real:
      diagnostic.label("a number for YAML 1.2, text for some YAML 1.1 readers")
          .suggest(quote + ", or the number without exponent and plus sign");
      return;
    case Plain::other_word:
      diagnostic.label("special in YAML 1.1, text for YAML 1.2").suggest(quote);
      return;
    default:
      diagnostic.label("YAML 1.1 and 1.2 do not agree on this number")
          .suggest(quote + ", or a plain decimal number");
      return;
  }
}

}  // namespace

// Which other characters belong to a name depends on the reader.
void TreeBuilder::check_anchor_name(std::size_t begin, Origin origin) {
  const std::size_t end = text_.find_first_not_of(
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-", begin);
  if (end >= text_.size() ||
      std::string_view(" \t\r\n,[]{}").find(text_[end]) != std::string_view::npos) {
    return;
  }
  error(kAlias, origin, "the name of this anchor is read in different ways")
      .expect("letters, digits, `-` and `_`")
      .suggest("rename it, or quote a text that starts with `&` or `*`");
}

diag::Diagnostic& TreeBuilder::error(std::string_view code, Origin at, std::string message) {
  if (sink_.error_count() - errors_before_ >= kMostErrors) throw StopReading();
  return sink_.error(code, at, std::move(message));
}

void TreeBuilder::stop(Origin at, std::string message, std::size_t limit, std::string_view unit) {
  sink_.error(kInputLimit, at, std::move(message))
      .expect("at most " + std::to_string(limit) + " " + std::string(unit));
  throw StopReading();
}

void TreeBuilder::count_nodes(std::size_t count, Origin at) {
  nodes_ += count;
  if (nodes_ > limits_.nodes) stop(at, "the file has too many values", limits_.nodes, "values");
}

void TreeBuilder::report(const Fault& fault) {
  diag::Diagnostic& diagnostic =
      error(kSyntax, span(fault.begin, fault.end), std::string(fault.message));
  diagnostic.also(open_collection(), "opened here");
  if (!fault.help.empty()) diagnostic.suggest(std::string(fault.help));
}

// Looks at how the scalar that was read last is written, and at what stands in front of it.
void TreeBuilder::note_scalar(const ScalarPlace& place) {
  const char sign = gaps_.scalar(place.begin, place.end);
  for (const Fault& fault : gaps_.take_faults()) report(fault);
  const Surroundings around = surroundings();
  last_scalar_ = place;
  last_column_ = around.column;
  if (sign == '?' && !around.flow && starts_line(place.begin) &&
      column(place.begin) <= around.column) {
    report({place.begin, place.begin + 1, "a key behind `?` is not indented far enough",
            "put it on the line of the `?`"});
    throw StopReading();
  }
  if (place.match != Match::yes) return;
  if (const auto fault = check_scalar(text_, place, around)) {
    const bool tab = text_.substr(fault->begin).starts_with('\t');
    if (fault->indentation && !tab && place.style != Style::plain) {
      report_broken_quote(file_, place.begin,
                          {span(fault->begin, fault->end), "this would belong to the text"},
                          sources_, sink_);
    } else {
      report(*fault);
    }
    throw StopReading();  // what follows is likely to be misunderstood
  }
}

void TreeBuilder::finish_stream() {
  gaps_.finish();
  for (const Fault& fault : gaps_.take_faults()) report(fault);
  if (const auto fault = check_last_line(text_, last_scalar_, last_column_)) report(*fault);
}

std::size_t TreeBuilder::broken_quote() const {
  const bool quoted =
      last_scalar_.style == Style::single_quoted || last_scalar_.style == Style::double_quoted;
  const std::string_view scalar =
      text_.substr(last_scalar_.begin, last_scalar_.end - last_scalar_.begin);
  return quoted && last_scalar_.end == last_end_ && scalar.find('\n') != std::string_view::npos
             ? last_scalar_.begin
             : std::string_view::npos;
}

Surroundings TreeBuilder::surroundings() const {
  if (frames_.empty()) return {};
  return {.column = frames_.back().column, .flow = frames_.back().in_flow};
}

// Bytes in front of `at` on its line.
std::ptrdiff_t TreeBuilder::column(std::size_t at) const {
  const std::size_t line = at == start_ ? std::string_view::npos : text_.rfind('\n', at - 1);
  return static_cast<std::ptrdiff_t>(
      at - (line == std::string_view::npos || line < start_ ? start_ : line + 1));
}

bool TreeBuilder::starts_line(std::size_t at) const {
  while (at > start_ && (text_[at - 1] == ' ' || text_[at - 1] == '\t')) --at;
  return at == start_ || text_[at - 1] == '\n';
}

// For a value that is the first on its line. Only spaces indent, and all that belongs to a block
// collection stands further right than it; yaml-cpp lets tabs pass in front of a value, and any
// column inside brackets and for anchors and tags.
void TreeBuilder::check_indentation(std::size_t begin) {
  std::size_t line = begin;
  std::size_t tab = std::string_view::npos;
  while (line > start_ && (text_[line - 1] == ' ' || text_[line - 1] == '\t')) {
    if (text_[--line] == '\t') tab = line;
  }
  if (line > start_ && text_[line - 1] != '\n') return;
  const Surroundings around = surroundings();
  std::optional<Fault> fault;
  if (around.flow || (!frames_.empty() && !key_expected())) {
    // A list may stand in the column of its key.
    const bool item = !around.flow && frames_.back().map && text_.substr(begin, 1) == "-";
    fault = check_line(text_, line, around.column - (item ? 1 : 0));
  }
  if (!fault && !around.flow && tab != std::string_view::npos) {
    fault = Fault{tab, tab + 1, "a tab in the indentation", "indent with spaces"};
  }
  if (!fault) return;
  report(*fault);
  throw StopReading();  // the parser is likely to stumble over it too
}

Node TreeBuilder::check_key(Node key, bool plain) {
  const std::string_view name = key.as_string();
  if (plain && name == "<<") {
    if (limits_.kubectl_scalars) return merge_key(key.origin());
    error(kMergeKey, key.origin(), "merge keys are not accepted")
        .suggest("write the entries out, or quote the key if `<<` is meant as text");
  }
  for (std::size_t i = 0; i < name.size();) {
    if (static_cast<unsigned char>(name[i]) < 0x80) {
      ++i;
      continue;
    }
    const char32_t c = diag::next_code_point(name, i);
    if (!diag::is_hidden(c)) continue;
    error(kBadKey, key.origin(),
          "a key contains the invisible character " + diag::code_point_name(c))
        .suggest("type the key anew");
    break;
  }
  return key;
}

// Called when the collection is complete: yaml-cpp takes a bracket that is never closed for a key.
void TreeBuilder::refuse_key(const Frame& frame) {
  diag::Diagnostic& diagnostic =
      error(kBadKey, span(frame.begin, std::max(frame.end, frame.begin + 1)),
            frame.map ? "a mapping is used as a key" : "a list is used as a key");
  diagnostic.expect("a string");
  const std::size_t pair = frame.begin > 0 && text_[frame.begin - 1] == '{' ? 1 : 0;
  if (text_.substr(frame.begin - pair).starts_with("{{")) {
    diagnostic.suggest("expressions are written `${...}`; quote a text that starts with `{{`");
  } else {
    diagnostic.suggest("quote a text that starts with `{` or `[`");
  }
}

void TreeBuilder::refuse_tag(std::size_t at) {
  at = std::min(text_.find('!', at), text_.size());
  const std::size_t end = word_end(at, kSpace);
  error(kTag, span(at, end),
        "tag `" + std::string(text_.substr(at, end - at)) + "` is not accepted")
      .expect("no tag, or `!!str`")
      .suggest("remove the tag, or quote a text that starts with `!`");
}

Node TreeBuilder::plain_value(std::string_view value, Origin origin) {
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
      error(kIntegerRange, origin, "integer `" + std::string(value) + "` does not fit 64 bits")
          .expect("-9223372036854775808 to 9223372036854775807")
          .suggest("quote it if a text is meant");
      return Node::null(origin);
    default:
      if (!limits_.ambiguous_scalars) {
        describe_ambiguity(
            error(kAmbiguousScalar, origin,
                  "`" + std::string(value) + "` without quotes is read in different ways"),
            kind, value);
      } else if (kind == Plain::other_real) {
        return Node::real(parse_real(value), origin);
      } else if (limits_.kubectl_scalars && kind == Plain::other_truth) {
        return Node::boolean(is_truth(value), origin);
      } else if (limits_.kubectl_scalars) {
        if (const auto number = parse_other_number(value)) return Node::integer(*number, origin);
      }
      return arena_.string(value, origin);
  }
}

// Reports keys of entries_ that were there before. True when there are any; then unique_ holds the
// entries without them.
bool TreeBuilder::remove_duplicates() {
  const auto same_key_before = [&](std::size_t i) {
    const auto end = entries_.begin() + static_cast<std::ptrdiff_t>(i);
    const auto first = std::find_if(entries_.begin(), end, [&](const Entry& entry) {
      return entry.key.as_string() == entries_[i].key.as_string();
    });
    return first == end ? nullptr : &*first;
  };
  unique_.clear();
  std::unordered_map<std::string_view, const Entry*> seen;
  if (entries_.size() > kSmallMap) seen.reserve(entries_.size());
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Node& key = entries_[i].key;
    const Entry* first = nullptr;
    if (entries_.size() <= kSmallMap) {
      first = same_key_before(i);
    } else if (const auto [known, inserted] = seen.emplace(key.as_string(), &entries_[i]);
               !inserted) {
      first = known->second;
    }
    if (first == nullptr) {
      unique_.push_back(entries_[i]);
      continue;
    }
    error(kDuplicateKey, key.origin(), "key `" + std::string(key.as_string()) + "` is given twice")
        .label("again here")
        .also(first->key.origin(), "first defined here");
  }
  return unique_.size() != entries_.size();
}

}  // namespace gpuctl::yaml
