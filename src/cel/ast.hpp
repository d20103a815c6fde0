// The syntax tree of an expression, for tools that look at expressions instead of running them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cel/program.hpp"

namespace gpuctl::cel {

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

enum class ExprKind : std::uint8_t {
  null,
  boolean,
  integer,
  real,
  string,       // text
  identifier,   // text
  select,       // children[0].text, or children[0].?text
  has,          // has(children[0].text)
  index,        // children[0][children[1]], or children[0][?children[1]]
  call,         // text(children...)
  method,       // children[0].text(children[1...])
  unary,        // text is `!` or `-`
  binary,       // text is the operator
  logic,        // children joined by text, `&&` or `||`
  conditional,  // children[0] ? children[1] : children[2]
  list,
  map,    // key, value, key, value, ...
  macro,  // children[0].text(variables..., children[1...])
  bind,   // cel.bind(variables[0], children[0], children[1])
};

/// A name with the place where it stands.
struct Name {
  std::string text;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

/// A node of the tree. [begin, end) is its byte range in the expression's text, without
/// surrounding parentheses.
struct Expr {
  ExprKind kind = ExprKind::null;
  bool boolean = false;
  bool absolute = false;  // identifier or call written with a leading dot
  bool optional = false;  // select or index written with `?`
  /// Item of a list, or key of a map entry, written with `?`: left out when its optional is empty.
  bool optional_entry = false;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t depth = 1;  // of the tree below and including this node
  std::int64_t integer = 0;
  double real = 0;
  std::string text;
  std::uint32_t text_begin = 0;  // where `text` stands, for names
  std::uint32_t text_end = 0;
  std::vector<Name> variables;
  std::vector<ExprPtr> children;
};

/// True for words that the language definition keeps for itself: no names of variables or
/// functions, but fine as fields.
bool is_reserved(std::string_view word);

/// Parses only. nullptr and at least one problem when `text` is no expression.
ExprPtr parse(std::string_view text, std::vector<Problem>& problems);

/// Canonical text: parse(print(x)) has the same tree as x.
std::string print(const Expr& expr);

/// The tree as one line of S-expressions, for tests: `(+ a (. b "c"))`.
std::string dump(const Expr& expr);

/// The syntax tree of a program.
const Expr& tree(const Program& program);

/// Like compile(), but whatever the checker objects to becomes an error at run time, as the
/// conformance suite wants it for `disable_check`. Nothing else should need it.
std::shared_ptr<const Program> compile_unchecked(std::string_view text,
                                                 const Environment& environment,
                                                 std::vector<Problem>& problems);

}  // namespace gpuctl::cel
