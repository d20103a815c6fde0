// Trees written in every style that YAML has are read as what they were written from.
#include <gtest/gtest.h>

#include <random>

#include "fixture.hpp"
#include "same.hpp"

namespace gpuctl::yaml {
namespace {

using test::same;

// Writes a tree, choosing a style anew for each node. Knows YAML from its specification alone, not
// from the emitter.
class AnyStyle {
 public:
  explicit AnyStyle(unsigned seed) : random_(seed) {}

  std::string write(const Node& node) {
    out_.clear();
    if (below(8) == 0) out_ += "%YAML 1.2\n---\n";
    if (below(4) == 0) out_ += "# a comment\n";
    block(node, 0, Place::line);
    if (below(8) == 0) out_ += "...\n# the end\n";
    return out_;
  }

  Node tree(Arena& arena, int depth) {
    switch (below(depth > 0 ? 8 : 5)) {
      case 0:
        return Node();
      case 1:
        return Node::integer(static_cast<std::int64_t>(below(100)) - 50);
      case 2:
        return Node::boolean(below(2) == 0);
      case 5: {
        std::vector<Node> items;
        for (unsigned i = 0, n = below(4); i < n; ++i) items.push_back(tree(arena, depth - 1));
        return arena.list(items);
      }
      case 6:
      case 7: {
        MapBuilder builder;
        for (unsigned i = 0, n = below(4); i < n; ++i) {
          builder.set(arena, text(false), tree(arena, depth - 1));
        }
        return builder.build(arena);
      }
      default:
        return arena.string(text(true));
    }
  }

 private:
  enum class Place { line, behind_key, behind_dash };

  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }

  std::string text(bool lines) {
    static constexpr std::string_view kPieces[] = {
        "a",   "b",  "word", "é",    "日", "x1", "'", "\"", "\\", "#", " #",
        ":",   ": ", "-",    ",",    "[",  "}",  "!", "&",  "*",  "@", "%",
        "yes", "12", "{{",   "${v}", " ",  "\t", "😀", "=",  "---"};
    std::string out;
    for (unsigned i = 0, n = 1 + below(5); i < n; ++i) {
      out += kPieces[below(std::size(kPieces))];
      if (lines && below(5) == 0) out += below(3) == 0 ? "\n\n" : "\n";
    }
    return out;
  }

  void indent(std::size_t columns) { out_.append(columns, ' '); }

  // A line break, perhaps with a comment or an empty line.
  void end_line() {
    if (below(10) == 0) out_ += " # comment";
    out_ += '\n';
    if (below(12) == 0) out_ += '\n';
  }

  // Writes the node, and ends its line. `column`: where a block collection would stand.
  void block(const Node& node, std::size_t column, Place place) {
    const bool collection = (node.is_list() || node.is_map()) && node.size() != 0;
    if (!collection || below(4) == 0) {
      if (place != Place::line) out_ += ' ';
      if (node.is_string() && place != Place::line && below(3) == 0 && block_text(node, column)) {
        return;
      }
      flow(node, column);
      end_line();
      return;
    }
    bool first_on_line = place == Place::behind_dash && below(2) == 0;
    if (first_on_line) {
      out_ += ' ';
    } else if (place != Place::line) {
      end_line();
    }
    const std::size_t at = column;
    for (const Node& item : node.items()) {
      if (!first_on_line) indent(at);
      first_on_line = false;
      out_ += '-';
      block(item, at + 2, Place::behind_dash);
    }
    for (const Entry& entry : node.entries()) {
      if (!first_on_line) indent(at);
      first_on_line = false;
      if (below(8) == 0) {
        out_ += "? ";
        quoted(entry.key.as_string());
        end_line();
        indent(at);
      } else {
        scalar(entry.key, at, true);
      }
      out_ += ':';
      // A list may stand in the column of its key.
      const bool aligned = entry.value.is_list() && below(2) == 0;
      block(entry.value, at + (aligned ? 0 : 1 + below(4)), Place::behind_key);
    }
  }

  void flow(const Node& node, std::size_t column) {
    if (!node.is_list() && !node.is_map()) {
      scalar(node, column, false);
      return;
    }
    out_ += node.is_list() ? '[' : '{';
    bool first = true;
    const auto separate = [&] {
      if (!first) out_ += below(2) == 0 ? "," : " , ";
      if (below(5) == 0) {
        end_line();
        indent(column + 1 + below(3));
      } else {
        out_ += ' ';
      }
      first = false;
    };
    for (const Node& item : node.items()) {
      separate();
      flow(item, column);
    }
    for (const Entry& entry : node.entries()) {
      separate();
      scalar(entry.key, column, true);
      out_ += ": ";
      flow(entry.value, column);
    }
    if (!first && below(4) == 0) out_ += ',';
    out_ += node.is_list() ? " ]" : " }";
  }

  void scalar(const Node& node, std::size_t column, bool key) {
    if (node.is_null()) {
      out_ += below(2) == 0 ? "null" : "~";
    } else if (node.is_boolean()) {
      out_ += node.as_boolean() ? "true" : "False";
    } else if (node.is_integer()) {
      out_ += std::to_string(node.as_integer());
    } else if (const std::string_view text = node.as_string(); is_word(text) && below(2) == 0) {
      out_ += text;
    } else if (text.find('\n') == std::string_view::npos && below(2) == 0) {
      single_quoted(text);
    } else if (!key && below(3) == 0) {
      folded_quoted(text, column);
    } else {
      quoted(text);
    }
  }

  static bool is_word(std::string_view text) {
    return text.find_first_not_of("abwordx") == std::string_view::npos && text != "o" &&
           text != "or" && text.size() > 2;
  }

  void single_quoted(std::string_view text) {
    out_ += '\'';
    for (const char c : text) {
      if (c == '\'') out_ += '\'';
      out_ += c;
    }
    out_ += '\'';
  }

  void quoted(std::string_view text) {
    out_ += '"';
    for (const char c : text) character(c);
    out_ += '"';
  }

  void character(char c) {
    if (c == '"' || c == '\\') {
      out_ += '\\';
      out_ += c;
    } else if (c == '\n') {
      out_ += below(2) == 0 ? "\\n" : "\\x0a";
    } else if (c == '\t') {
      out_ += below(2) == 0 ? "\\t" : "\\u0009";
    } else if (c == 'a' && below(4) == 0) {
      out_ += below(2) == 0 ? "\\x61" : "\\U00000061";
    } else {
      out_ += c;
    }
  }

  // In double quotes over several lines: joined by a backslash, or folded where a space stands
  // between two words.
  void folded_quoted(std::string_view text, std::size_t column) {
    out_ += '"';
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool inside = i > 0 && i + 1 < text.size();
      const auto is_letter = [&](std::size_t at) { return text[at] >= 'a' && text[at] <= 'z'; };
      if (inside && text[i] == ' ' && is_letter(i - 1) && is_letter(i + 1) && below(2) == 0) {
        out_ += '\n';
        indent(column + 1 + below(3));
        continue;
      }
      if (inside && is_letter(i) && below(6) == 0) {
        out_ += "\\\n";
        indent(column + 1 + below(3));
      }
      character(text[i]);
    }
    out_ += '"';
  }

  // As `|` or `>`; false when the text cannot stand there.
  bool block_text(const Node& node, std::size_t column) {
    const std::string_view text = node.as_string();
    const bool blank_line =
        text.find(" \n") != std::string_view::npos || text.find("\t\n") != std::string_view::npos;
    const std::size_t last = text.find_last_not_of('\n');
    if (blank_line || last == std::string_view::npos || text[last] == ' ' || text[last] == '\t' ||
        text.find("\n ") != std::string_view::npos || text.find("\n\t") != std::string_view::npos ||
        text.front() == '\n' || text.front() == ' ' || text.front() == '\t') {
      return false;
    }
    const bool folded = below(2) == 0;
    const std::size_t more = 1 + below(3);
    out_ += folded ? '>' : '|';
    const std::size_t breaks = text.size() - last - 1;
    if (breaks != 1) out_ += breaks == 0 ? '-' : '+';
    out_ += '\n';
    std::size_t at = 0;
    while (at < text.size()) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      if (end > at) indent(column + more);
      out_ += text.substr(at, end - at);
      out_ += '\n';
      // Folding takes one line break away from those between two lines.
      if (folded && end < last) out_ += '\n';
      at = end + 1;
      while (folded && end < last && at < text.size() && text[at] == '\n') {
        out_ += '\n';
        ++at;
      }
    }
    return true;
  }

  std::mt19937 random_;
  std::string out_;
};

TEST(Styles, AllAreReadAlike) {
  for (unsigned seed = 1; seed <= 20000; ++seed) {
    AnyStyle style(seed);
    Arena arena;
    const Node tree = style.tree(arena, 4);
    const std::string source = style.write(tree);
    const test::Text text(source);
    ASSERT_TRUE(text.root) << "seed " << seed << ": " << text.findings().front() << ": "
                           << text.sink.all().front().message << "\n"
                           << source;
    ASSERT_TRUE(same(tree, *text.root)) << "seed " << seed << "\n"
                                        << source << "\n"
                                        << emit_json(tree) << "\n"
                                        << text.json();
    ASSERT_EQ(emit(*text.root), emit(tree));
  }
}

}  // namespace
}  // namespace gpuctl::yaml
