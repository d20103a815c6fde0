// CEL in YAML scalars: a bare expression (`check: a > b`), or `${...}` inside text. Positions of
// faults are mapped back through the scalar's style to the file.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/once.hpp"
#include "cel/program.hpp"
#include "diag/diagnostic.hpp"
#include "yaml/node.hpp"

namespace gpuctl::cel {

/// A compiled expression and where its text stands.
struct Expression {
  std::shared_ptr<const Program> program;
  yaml::Node scalar;        // the string that holds it
  std::uint32_t begin = 0;  // offset of the expression in the scalar's value

  explicit operator bool() const { return program != nullptr; }
};

/// A scalar that is a `${...}` template: literals and expressions in turn.
struct Text {
  struct Part {
    std::string literal;  // when there is no expression
    Expression expression;
  };
  std::vector<Part> parts;
  yaml::Node scalar;

  /// True when the scalar is exactly one `${...}`: the value keeps its type.
  bool is_whole() const { return parts.size() == 1 && parts.front().expression; }
};

/// True when `text` contains `${`, so that it must be compiled as a template.
bool has_expression(std::string_view text);

/// Compiles the scalar's whole text as an expression. Faults: GPU0301, GPU0302.
Expression compile_bare(const yaml::Node& scalar, const Environment& environment,
                        diag::Sources& sources, diag::Sink& sink);

/// Compiles bytes [begin, end) of the scalar's value as an expression. Faults: GPU0301, GPU0302.
Expression compile_part(const yaml::Node& scalar, std::size_t begin, std::size_t end,
                        const Environment& environment, diag::Sources& sources, diag::Sink& sink);

/// Compiles a scalar with `${...}`. In a mixed text each expression must be a string (or dyn).
std::optional<Text> compile_text(const yaml::Node& scalar, const Environment& environment,
                                 diag::Sources& sources, diag::Sink& sink);

/// The same for bytes [begin, end) of the scalar's value, which are always a mixed text.
std::optional<Text> compile_text(const yaml::Node& scalar, std::size_t begin, std::size_t end,
                                 const Environment& environment, diag::Sources& sources,
                                 diag::Sink& sink);

/// The offset of the first `stop` in `text` from `begin` on that is not inside of a `${...}`, or
/// the end of the text.
std::size_t find_outside(std::string_view text, std::size_t begin, char stop);

/// An expression, or a text with expressions, of knowledge. Most of a platform's are not needed for
/// a given cluster, so it is compiled when it is first asked for. Thread-safe from there on; copies
/// share what was compiled.
template <typename T>
class Lazy {
 public:
  /// Nothing written.
  Lazy() = default;
  /// `sources` holds the text of `scalar`, and must live as long as this.
  Lazy(const yaml::Node& scalar, const std::shared_ptr<const Environment>& environment,
       diag::Sources& sources);

  explicit operator bool() const { return state_ != nullptr; }
  /// Compiles now; what is wrong goes to `sink`. For knowledge that nobody has checked yet.
  void check(diag::Sink& sink);
  /// The compiled form of what is written. Only for knowledge that passed check() here or in an
  /// earlier run: a fault is std::logic_error.
  const T& get() const;
  const yaml::Node& written() const { return state_->scalar; }

 private:
  struct State {
    yaml::Node scalar;
    std::shared_ptr<const Environment> environment;
    diag::Sources* sources = nullptr;
    base::Once once;
    std::optional<T> made;
  };
  void compile(diag::Sink& sink) const;
  std::shared_ptr<State> state_;
};
using LazyExpression = Lazy<Expression>;
using LazyText = Lazy<Text>;

/// Origin of bytes [begin, end) of an expression's text.
diag::Origin place(const Expression& expression, std::uint32_t begin, std::uint32_t end,
                   diag::Sources& sources);

/// Turns a run-time fault into a diagnostic (GPU0303, GPU0304) at its place.
diag::Diagnostic& report(const EvalError& error, const Expression& expression,
                         diag::Sources& sources, diag::Sink& sink);

/// Evaluates an expression that stands inside of a mixed text: a string, or a fault.
Outcome evaluate_inside(const Text& text, const Expression& expression,
                        std::span<const Value> values, yaml::Arena& arena,
                        std::vector<yaml::Origin>* reads = nullptr);

/// Result of evaluating a Text: a value, or a fault and the expression it belongs to.
struct TextOutcome {
  Value value;
  std::optional<EvalError> error;
  const Expression* at = nullptr;
};

/// Evaluates; a whole template gives its value as it is, a mixed one a string. `reads` as in
/// evaluate() of a program.
TextOutcome evaluate(const Text& text, std::span<const Value> values, yaml::Arena& arena,
                     std::vector<yaml::Origin>* reads = nullptr);

}  // namespace gpuctl::cel
