// The compiled form of an expression: names resolved, operations chosen, constants computed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/once.hpp"
#include "cel/ast.hpp"
#include "cel/functions.hpp"
#include "cel/macros.hpp"
#include "cel/pattern.hpp"
#include "cel/program.hpp"

namespace gpuctl::cel {

enum class Op : std::uint8_t {
  constant,
  variable,  // slot: of the environment
  local,     // slot: of the loop variables
  select,
  has,
  index,
  call,
  matches,  // with a constant pattern
  conditional,
  logical_and,
  logical_or,
  logical_not,
  negate,
  add,
  concat,  // two or more strings
  subtract,
  multiply,
  divide,
  modulo,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  in,
  list,
  map,
  macro,
  bind,      // slot: of the name
  or_else,   // a.or(b): the second is looked at only when the first is empty
  or_value,  // a.orValue(b)
  fault,     // what compile_unchecked() let pass: fails with `text`
};

/// What an operation says of itself.
struct Operation {
  Op op = Op::fault;
  Macro macro = Macro::all;
  /// The operation's static type is double: an integer from a document counts as one.
  bool real = false;
  /// A constant that its parent only looks at: need not be copied out of the program.
  bool transient = false;
  bool filtered = false;  // macro: args[1] is a filter
  bool optional = false;  // select, index: what is missing gives an empty optional
  /// As an argument: needs a full look at run time, because its static type has dyn in it.
  bool inspect = false;
  /// As an argument: a double by its static type; an integer from a document becomes one.
  bool widen = false;
  bool optional_entry = false;  // item of a list or key of a map, written with `?`
  std::uint8_t variables = 0;
  std::uint32_t slot = 0;  // of the (first) variable; a second one follows
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint64_t cost = 0;      // constant: steps to copy it
  const Expr* expr = nullptr;  // nullptr in a stored program, whose faults nobody gets to see
  std::string_view text;       // field name, message
  Value constant;
  std::shared_ptr<const Pattern> pattern;
};

/// An operation while it is checked.
struct Draft : Operation {
  /// Also of a constant that no document can hold: of the call that makes it.
  std::vector<Draft> args;
  /// call: overloads that may fit; the values decide when there are several.
  std::vector<const Function*> candidates;
};

/// An operation of a program, in which all of them stand one after the other.
struct Code : Operation {
  std::span<const Code> args;
  std::span<const Function* const> candidates;
};

inline constexpr std::size_t kConstantBytes = 256;

class Program {
 public:
  std::string_view text;
  std::string own_text;  // empty when `text` is of a store
  ExprPtr expr;
  /// The first is the whole; those below one operation stand together.
  std::vector<Code> codes;
  std::vector<const Function*> candidates;  // of all of them
  Type type;
  std::vector<std::string> reads;  // variables, in order of declaration
  std::size_t variable_count = 0;
  std::uint32_t local_count = 0;
  bool builds = false;  // lists or maps, so that the result may be larger than its inputs
  std::shared_ptr<const Functions> functions;  // keeps the candidates alive
  std::vector<std::unique_ptr<const std::string>> texts;
  yaml::Arena constants{kConstantBytes};  // most expressions have a constant or two
  /// Of a program from a Store, which has neither `expr` nor `type`.
  std::shared_ptr<const Environment> environment;

  const Code& code() const { return codes.front(); }
  /// Makes all of them, once, for add_codes() and add_candidates() to give out.
  void reserve(std::size_t operations, std::size_t functions_called);
  /// The next `count` operations or functions, for the spans of one above them.
  std::span<Code> add_codes(std::size_t count);
  std::span<const Function*> add_candidates(std::size_t count);

  /// The program with all parts: itself, or compiled from the text when it comes from a Store.
  const Program& full() const;

 private:
  std::size_t codes_given_ = 0;
  std::size_t candidates_given_ = 0;
  mutable base::Once full_once_;
  mutable std::shared_ptr<const Program> full_;
};

/// For messages: the expression as written, and the name that it calls. Empty in a stored program.
std::string written(const Operation& code);
std::string name_of(const Operation& code);

/// Steps that copying `node` takes.
std::uint64_t cost_of(const yaml::Node& node);

}  // namespace gpuctl::cel
