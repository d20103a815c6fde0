// Texts by line: a text of several lines, some of which are directives (`$if: EXPR`, `$else`,
// `$forEach: NAME in EXPR`, `$let: NAME = EXPR`, `$end`). A directive leaves no line behind.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cel/provenance.hpp"
#include "cel/scalar.hpp"
#include "diag/diagnostic.hpp"
#include "yaml/node.hpp"

namespace gpuctl::compose {

/// A fault while instantiating, and the expression it belongs to.
struct Fault {
  cel::EvalError error;
  cel::Expression at;
  /// The failed evaluation, when provenance is wanted.
  diag::Origin evaluation = diag::kNoOrigin;
};

/// A compiled text by line.
struct Lines {
  struct Part {
    enum class Kind : std::uint8_t { text, condition, loop, binding };
    Kind kind = Kind::text;
    cel::Text text;               // text: lines without directives between them
    cel::Expression expression;   // of a directive
    std::vector<Part> inside;     // condition and loop: the lines up to `$else` or `$end`
    std::vector<Part> otherwise;  // condition: those behind `$else`
  };
  std::vector<Part> parts;
  /// The last line is a directive without a line break: nor is there one behind the line above.
  bool ends_open = false;
};

/// True when a text has several lines and one of them is a directive, well formed or not.
bool has_directives(std::string_view text);

/// Compiles a text that has directives. Nothing after diagnostics: GPU0411 for directives that are
/// malformed or do not match, GPU03xx for expressions.
std::optional<Lines> compile_lines(const yaml::Node& scalar, const cel::Environment& environment,
                                   diag::Sources& sources, diag::Sink& sink);

/// Writes one text by line.
class LineWriter {
 public:
  /// With a `provenance`, every expression is noted there with its place in `sources`.
  LineWriter(yaml::Arena& arena, diag::Sources& sources, cel::Provenance* provenance)
      : arena_(arena), sources_(sources), provenance_(provenance) {}

  /// The text; nothing after a fault. `values` are those of the environment of compile_lines(),
  /// and are left as they were. Repetitions and bytes count as steps of one evaluation.
  std::optional<std::string> write(const Lines& lines, std::vector<cel::Value>& values);
  /// Marks of what decided about the text: its conditions, lists and inserted values.
  const std::vector<diag::Origin>& reads() const { return reads_; }
  const std::optional<Fault>& fault() const { return fault_; }

 private:
  // False after a fault.
  bool block(const std::vector<Lines::Part>& parts, std::vector<cel::Value>& values);
  bool insert(const cel::Text& text, std::span<const cel::Value> values);
  bool condition(const Lines::Part& part, std::vector<cel::Value>& values);
  bool loop(const Lines::Part& part, std::vector<cel::Value>& values);

  // The value of an expression whose evaluation gave `outcome` and read `reads`.
  std::optional<cel::Value> noted(cel::Outcome outcome, const cel::Expression& expression,
                                  std::vector<diag::Origin> reads);
  std::optional<cel::Value> value(const cel::Expression& expression,
                                  std::span<const cel::Value> values);
  // Counts what was written since the last call, and one step.
  bool charge(const cel::Expression& expression);
  /// `given` is what the expression gave.
  bool fail(const cel::Expression& expression, std::string message, const cel::Value& given);

  yaml::Arena& arena_;
  diag::Sources& sources_;
  cel::Provenance* provenance_;
  std::string out_;
  std::size_t charged_ = 0;  // bytes of `out_` that were counted
  std::uint64_t steps_left_ = cel::kMostSteps;
  std::vector<diag::Origin> reads_;
  std::optional<Fault> fault_;
};

}  // namespace gpuctl::compose
