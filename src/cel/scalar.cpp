#include "cel/scalar.hpp"

#include <algorithm>
#include <stdexcept>

#include "cel/codes.hpp"
#include "yaml/read.hpp"

namespace gpuctl::cel {

namespace {

constexpr std::string_view kOpen = "${";

// Offset of the `}` that closes an expression starting at `begin`, or npos. Knows CEL strings, so
// that braces inside them do not count.
std::size_t closing_brace(std::string_view text, std::size_t begin) {
  std::size_t depth = 0;
  std::size_t i = begin;
  while (i < text.size()) {
    const char c = text[i];
    if (c == '\'' || c == '"') {
      const bool raw = i > begin && (text[i - 1] == 'r' || text[i - 1] == 'R');
      const std::string_view quote =
          text.substr(i, 3) == std::string(3, c) ? text.substr(i, 3) : text.substr(i, 1);
      i += quote.size();
      while (i < text.size() && text.substr(i, quote.size()) != quote) {
        i += !raw && text[i] == '\\' ? 2 : 1;
      }
      i += quote.size();
      continue;
    }
    if (c == '{') ++depth;
    if (c == '}') {
      if (depth == 0) return i;
      --depth;
    }
    ++i;
  }
  return std::string_view::npos;
}

constexpr std::string_view kWrap = "wrap it in `string(...)`";
constexpr std::string_view kStripBreak =
    "the line break behind it is text too: write `|-` or `>-` to keep the value's type, or wrap it "
    "in `string(...)`";
constexpr std::string_view kQuoteComment =
    "` #` begins a comment: put the whole text in quotes, `\"...\"`, or behind `>-` on a line of "
    "its "
    "own, when it belongs to the expression";

// `${` at `open` has no `}`.
void report_open(const yaml::Node& scalar, std::size_t open, diag::Sources& sources,
                 diag::Sink& sink) {
  const auto begin = static_cast<std::uint32_t>(open);
  const diag::Origin opened =
      place({nullptr, scalar, 0}, begin, begin + static_cast<std::uint32_t>(kOpen.size()), sources);
  if (const diag::Origin comment = yaml::comment_behind(sources, scalar);
      comment != diag::kNoOrigin) {
    sink.error(kDoesNotParse, comment, "a comment cuts the expression off")
        .label("the comment")
        .also(opened, "the expression starts here")
        .suggest(std::string(kQuoteComment));
    return;
  }
  sink.error(kDoesNotParse, opened, "`${` without its `}`")
      .suggest("a literal `${` is written `${'${'}`");
}

// `|` and `>` without `-`: the line break behind the expression makes a text of it.
bool is_expression_and_line_break(const Text& text) {
  if (text.parts.size() != 2 || !text.parts.front().expression) return false;
  const std::size_t length = source(*text.parts.front().expression.program).size();
  return text.parts.back().literal == "\n" &&
         text.scalar.as_string().size() == kOpen.size() + length + std::string_view("}\n").size();
}

// In a mixed text each expression must be a string. Programs that the build compiled are.
bool check_strings(const Text& text, diag::Sources& sources, diag::Sink& sink) {
  bool good = true;
  for (const Text::Part& part : text.parts) {
    if (!part.expression || is_stored(*part.expression.program)) continue;
    const Type type = type_of(*part.expression.program);
    if (type.is_dyn() || type.kind() == TypeKind::string) continue;
    const auto length = static_cast<std::uint32_t>(source(*part.expression.program).size());
    sink.error(kDoesNotCheck, place(part.expression, 0, length, sources),
               "an expression inside text must be a string")
        .expect("string")
        .got(type.text())
        .suggest(std::string(is_expression_and_line_break(text) ? kStripBreak : kWrap));
    good = false;
  }
  return good;
}

}  // namespace

bool has_expression(std::string_view text) {
  return text.find(kOpen) != std::string_view::npos;
}

std::size_t find_outside(std::string_view text, std::size_t begin, char stop) {
  for (std::size_t at = begin; at < text.size(); ++at) {
    if (text[at] == stop) return at;
    if (text.compare(at, kOpen.size(), kOpen) != 0) continue;
    at = closing_brace(text, at + kOpen.size());
    if (at == std::string_view::npos) break;
  }
  return text.size();
}

Expression compile_part(const yaml::Node& scalar, std::size_t begin, std::size_t end,
                        const Environment& environment, diag::Sources& sources, diag::Sink& sink) {
  std::vector<Problem> problems;
  Expression expression{
      compile(scalar.as_string().substr(begin, end - begin), environment, problems), scalar,
      static_cast<std::uint32_t>(begin)};
  for (const Problem& problem : problems) {
    diag::Diagnostic& diagnostic =
        sink.error(problem.syntax ? kDoesNotParse : kDoesNotCheck,
                   place(expression, problem.begin, problem.end, sources), problem.message);
    if (!problem.help.empty()) diagnostic.suggest(problem.help);
    if (problem.syntax && yaml::comment_behind(sources, scalar) != diag::kNoOrigin) {
      diagnostic.suggest(std::string(kQuoteComment));
    }
  }
  return expression;
}

diag::Origin place(const Expression& expression, std::uint32_t begin, std::uint32_t end,
                   diag::Sources& sources) {
  const std::vector<std::uint32_t> offsets = yaml::scalar_offsets(sources, expression.scalar);
  const diag::Span* span = sources.span(expression.scalar.origin());
  const std::size_t from = expression.begin + begin;
  const std::size_t to = expression.begin + std::max(begin + 1, end);
  if (span == nullptr || from >= offsets.size()) return expression.scalar.origin();
  std::uint32_t finish = offsets[std::min(to, offsets.size() - 1)];
  if (to > from && to < offsets.size()) {
    // A line that ends here counts for the next byte of the value, which stands on another line.
    const std::uint32_t last = offsets[to - 1];
    const std::string_view between = sources.file_text(span->file).substr(last, finish - last);
    const std::size_t line_end = between.find_first_of("\r\n", 1);
    if (line_end != std::string_view::npos) finish = last + static_cast<std::uint32_t>(line_end);
  }
  return sources.add_span(span->file, offsets[from], finish);
}

Expression compile_bare(const yaml::Node& scalar, const Environment& environment,
                        diag::Sources& sources, diag::Sink& sink) {
  if (scalar.is_boolean() || scalar.is_number()) {
    // `when: true` and `value: 3` are expressions too.
    std::vector<Problem> problems;
    const std::string text = std::string(sources.text(scalar.origin()));
    return {compile(text, environment, problems), scalar, 0};
  }
  if (!scalar.is_string()) {
    sink.error(kDoesNotParse, scalar.origin(), "an expression must be a string")
        .got(std::string(yaml::kind_name(scalar.kind())))
        .suggest("quote an expression that starts with `{` or `[`, or that is empty");
    return {};
  }
  return compile_part(scalar, 0, scalar.as_string().size(), environment, sources, sink);
}

namespace {

// Bytes [from, end) as literals and expressions in turn, whatever their types.
std::optional<Text> compile_range(const yaml::Node& scalar, std::size_t from, std::size_t end,
                                  const Environment& environment, diag::Sources& sources,
                                  diag::Sink& sink) {
  const std::string_view text = scalar.as_string().substr(0, end);
  Text out;
  out.scalar = scalar;
  bool good = true;
  std::size_t at = from;
  while (at < text.size()) {
    const std::size_t open = text.find(kOpen, at);
    if (open == std::string_view::npos) break;
    if (open > at) out.parts.push_back({std::string(text.substr(at, open - at)), {}});
    const std::size_t begin = open + kOpen.size();
    const std::size_t close = closing_brace(text, begin);
    if (close == std::string_view::npos) {
      report_open(scalar, open, sources, sink);
      return std::nullopt;
    }
    Expression expression = compile_part(scalar, begin, close, environment, sources, sink);
    good = good && expression;
    out.parts.push_back({"", std::move(expression)});
    at = close + 1;
  }
  if (at < text.size()) out.parts.push_back({std::string(text.substr(at)), {}});
  if (!good) return std::nullopt;
  return out;
}

}  // namespace

std::optional<Text> compile_text(const yaml::Node& scalar, const Environment& environment,
                                 diag::Sources& sources, diag::Sink& sink) {
  std::optional<Text> out =
      compile_range(scalar, 0, scalar.as_string().size(), environment, sources, sink);
  if (out && !out->is_whole() && !check_strings(*out, sources, sink)) return std::nullopt;
  return out;
}

std::optional<Text> compile_text(const yaml::Node& scalar, std::size_t begin, std::size_t end,
                                 const Environment& environment, diag::Sources& sources,
                                 diag::Sink& sink) {
  std::optional<Text> out = compile_range(scalar, begin, end, environment, sources, sink);
  if (out && !check_strings(*out, sources, sink)) return std::nullopt;
  return out;
}

template <typename T>
Lazy<T>::Lazy(const yaml::Node& scalar, const std::shared_ptr<const Environment>& environment,
              diag::Sources& sources)
    : state_(std::make_shared<State>()) {
  state_->scalar = scalar;
  state_->environment = environment;
  state_->sources = &sources;
}

template <>
void Lazy<Expression>::compile(diag::Sink& sink) const {
  Expression made = compile_bare(state_->scalar, *state_->environment, *state_->sources, sink);
  if (made) state_->made = std::move(made);
}

template <>
void Lazy<Text>::compile(diag::Sink& sink) const {
  state_->made = compile_text(state_->scalar, *state_->environment, *state_->sources, sink);
}

template <typename T>
void Lazy<T>::check(diag::Sink& sink) {
  state_->once.call([&] { compile(sink); });
}

template <typename T>
const T& Lazy<T>::get() const {
  state_->once.call([&] {
    diag::Sink unexpected;
    compile(unexpected);
  });
  if (!state_->made) throw std::logic_error("an expression of the knowledge does not compile");
  return *state_->made;
}

template class Lazy<Expression>;
template class Lazy<Text>;

diag::Diagnostic& report(const EvalError& error, const Expression& expression,
                         diag::Sources& sources, diag::Sink& sink) {
  const Expression& faulty = error.inside == nullptr ? expression : *error.inside;
  return sink.error(error.kind == EvalError::Kind::budget ? kBudgetExhausted : kEvaluationFailed,
                    place(faulty, error.begin, error.end, sources), error.message);
}

Outcome evaluate_inside(const Text& text, const Expression& expression,
                        std::span<const Value> values, yaml::Arena& arena,
                        std::vector<yaml::Origin>* reads) {
  Outcome outcome = evaluate(*expression.program, values, arena, reads);
  if (!outcome.ok() || (outcome.value.is_node() && outcome.value.node().is_string())) {
    return outcome;
  }
  EvalError error;
  error.end = static_cast<std::uint32_t>(source(*expression.program).size());
  error.message = "an expression inside text must give a string; " +
                  std::string(is_expression_and_line_break(text) ? kStripBreak : kWrap);
  return {{}, std::move(error)};
}

TextOutcome evaluate(const Text& text, std::span<const Value> values, yaml::Arena& arena,
                     std::vector<yaml::Origin>* reads) {
  if (text.is_whole()) {
    const Expression& expression = text.parts.front().expression;
    Outcome outcome = evaluate(*expression.program, values, arena, reads);
    return {std::move(outcome.value), std::move(outcome.error), &expression};
  }
  std::string out;
  for (const Text::Part& part : text.parts) {
    if (!part.expression) {
      out += part.literal;
      continue;
    }
    Outcome outcome = evaluate_inside(text, part.expression, values, arena, reads);
    if (!outcome.ok()) return {{}, std::move(outcome.error), &part.expression};
    out += outcome.value.node().as_string();
  }
  return {Value(arena.string(out, text.scalar.origin())), std::nullopt, nullptr};
}

}  // namespace gpuctl::cel
