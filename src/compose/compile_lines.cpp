#include "compose/lines.hpp"

#include <algorithm>
#include <utility>

#include "cel/codes.hpp"
#include "cel/definitions.hpp"
#include "compose/codes.hpp"
#include "yaml/read.hpp"

namespace gpuctl::compose {

namespace {

constexpr std::string_view kDirectives[] = {"$if", "$else", "$forEach", "$let", "$end"};
constexpr std::string_view kBlank = " \t";
constexpr std::size_t kDeepest = yaml::ReadLimits().depth;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// A line that begins with `$word`, in bytes of the text.
struct Directive {
  std::string_view word;  // "$if"
  std::size_t begin = 0;  // of the word
  std::size_t rest = 0;   // behind the word, and behind its colon
  std::size_t end = 0;    // of the line, white space at its end left out
  bool colon = false;

  bool is_known() const {
    return std::find(std::begin(kDirectives), std::end(kDirectives), word) != std::end(kDirectives);
  }
};

// The line [begin, end) as a directive, known or not; nothing when it is a line of the text.
std::optional<Directive> read_directive(std::string_view text, std::size_t begin, std::size_t end) {
  const std::string_view line = text.substr(begin, end - begin);
  const std::size_t first = line.find_first_not_of(kBlank);
  if (first == std::string_view::npos || line[first] != '$') return std::nullopt;
  std::size_t behind = first + 1;
  while (behind < line.size() && is_letter(line[behind])) ++behind;
  Directive out;
  out.word = line.substr(first, behind - first);
  out.begin = begin + first;
  out.end = begin + line.find_last_not_of(kBlank) + 1;
  const std::string_view rest = line.substr(behind, out.end - begin - behind);
  out.colon = rest.starts_with(':');
  out.rest = begin + behind + (out.colon ? 1 : 0);
  // A word of another kind is one of ours misspelt only where no shell would have it.
  const bool stands_alone = rest.empty() || kBlank.find(rest.front()) != std::string_view::npos;
  const bool is_ours = out.is_known()
                           ? out.colon || stands_alone
                           : out.word.size() > 1 && (rest == ":" || rest.starts_with(": "));
  return is_ours ? std::optional(out) : std::nullopt;
}

// The end of the line at `begin`, without its line break. A `${...}` may span several.
std::size_t line_end(std::string_view text, std::size_t begin) {
  return cel::find_outside(text, begin, '\n');
}

class LinesCompiler {
 public:
  LinesCompiler(const yaml::Node& scalar, const cel::Environment& environment,
                diag::Sources& sources, diag::Sink& sink)
      : scalar_(scalar),
        text_(scalar.as_string()),
        environment_(environment),
        sources_(sources),
        sink_(sink) {}

  std::optional<Lines> compile() {
    Lines out;
    const std::size_t errors_before = sink_.error_count();
    block(out.parts, nullptr);
    out.ends_open = !text_.ends_with('\n') && !out.parts.empty() &&
                    out.parts.back().kind != Lines::Part::Kind::text;
    if (sink_.error_count() != errors_before) return std::nullopt;
    return out;
  }

 private:
  // Lines up to the `$end` of `opener`, or to its `$else`, or to the end of the text. Gives the
  // directive that ends them. After a mistake goes on, so that all are found.
  std::optional<Directive> block(std::vector<Lines::Part>& out, const Directive* opener) {
    if (++depth_ > kDeepest) {
      error(*opener, "directives are nested deeper than " + std::to_string(kDeepest));
      gave_up_ = true;
      at_ = text_.size();
      --depth_;
      return std::nullopt;
    }
    const std::size_t variables = environment_.variables.size();
    std::optional<Directive> closing;
    std::size_t waiting = at_;  // the first line of text that is not compiled yet
    while (at_ < text_.size() && !closing) {
      const std::size_t line = at_;
      const std::size_t end = line_end(text_, line);
      at_ = std::min(end + 1, text_.size());
      const std::optional<Directive> found = read_directive(text_, line, end);
      if (!found) continue;
      add_text(waiting, line, out);
      closing = directive(*found, opener, out);
      waiting = at_;
    }
    if (!closing) {
      add_text(waiting, at_, out);
      if (opener != nullptr && !gave_up_) {
        error(*opener, "`" + std::string(opener->word) + "` without its `$end`")
            .suggest("write `$end` on a line behind the last one it is about");
      }
    }
    environment_.variables.shrink(variables);
    --depth_;
    return closing;
  }

  void add_text(std::size_t begin, std::size_t end, std::vector<Lines::Part>& out) {
    if (begin == end) return;
    std::optional<cel::Text> text =
        cel::compile_text(scalar_, begin, end, environment_, sources_, sink_);
    if (!text) return;
    Lines::Part part;
    part.text = std::move(*text);
    out.push_back(std::move(part));
  }

  // Gives the directive back when it ends the block of `opener`.
  std::optional<Directive> directive(const Directive& found, const Directive* opener,
                                     std::vector<Lines::Part>& out) {
    if (!found.is_known()) {
      error(found, "unknown directive `" + std::string(found.word) + "`")
          .did_you_mean(found.word, {std::begin(kDirectives), std::end(kDirectives)})
          .suggest("a line of the text that begins so is written `${'$'}...`");
      return std::nullopt;
    }
    if (found.word == "$end" || found.word == "$else") return ending(found, opener);
    if (!found.colon || found.rest == found.end) {
      error(found, "`" + std::string(found.word) + "` is incomplete").expect(form(found.word));
    }
    if (found.word == "$if") {
      condition(found, out);
    } else {
      named(found, out);
    }
    return std::nullopt;
  }

  std::optional<Directive> ending(const Directive& found, const Directive* opener) {
    const std::string word(found.word);
    if (found.colon || found.rest != found.end) {
      error(found, "`" + word + "` stands alone on its line");
    }
    if (opener == nullptr) {
      error(found,
            "`" + word + "` without its `" + (word == "$end" ? "$if` or `$forEach`" : "$if`"));
      return std::nullopt;
    }
    if (word == "$else" && opener->word != "$if") {
      error(found, "`$else` without its `$if`")
          .also(place(*opener), "this `" + std::string(opener->word) + "` is not ended");
      return std::nullopt;
    }
    return found;
  }

  void condition(const Directive& found, std::vector<Lines::Part>& out) {
    Lines::Part part;
    part.kind = Lines::Part::Kind::condition;
    part.expression = expression(found.rest, found.end, cel::TypeKind::boolean, "a condition");
    const std::optional<Directive> closing = block(part.inside, &found);
    // Behind `$else` there is only the `$end`.
    if (closing && closing->word == "$else") block(part.otherwise, &*closing);
    out.push_back(std::move(part));
  }

  // `$forEach: NAME in EXPR` and `$let: NAME = EXPR`.
  void named(const Directive& found, std::vector<Lines::Part>& out) {
    const bool loops = found.word == "$forEach";
    const std::string_view rest = text_.substr(found.rest, found.end - found.rest);
    const std::size_t first = std::min(rest.find_first_not_of(kBlank), rest.size());
    const std::size_t behind = std::min(rest.find_first_of(" \t=", first), rest.size());
    const std::string_view name = rest.substr(first, behind - first);
    const std::size_t joint = std::min(rest.find_first_not_of(kBlank, behind), rest.size());
    const std::string_view sign = loops ? "in " : "=";
    const std::string_view joined = rest.substr(joint);
    const bool good = cel::is_variable_name(name) && joined.starts_with(sign) &&
                      joined.size() > sign.size() && !joined.starts_with("==");
    if (!good && found.colon && found.rest != found.end) {
      error(found, "`" + std::string(found.word) + "` is malformed").expect(form(found.word));
    }
    if (good && environment_.variables.contains(name)) {
      error(found, "`" + std::string(name) + "` is the name of something else here")
          .suggest("choose another name: a text means one thing by each");
    }
    Lines::Part part;
    part.kind = loops ? Lines::Part::Kind::loop : Lines::Part::Kind::binding;
    cel::LazyType type{cel::Type()};
    if (good) {
      part.expression =
          expression(found.rest + joint + sign.size(), found.end,
                     loops ? cel::TypeKind::list : cel::TypeKind::dyn, "what is looped over");
    }
    if (part.expression) {
      type = cel::LazyType([program = part.expression.program, loops] {
        const cel::Type made = cel::type_of(*program);
        return loops ? made.element() : made;
      });
    }
    const std::size_t outside = environment_.variables.size();
    if (cel::is_variable_name(name)) {
      environment_.variables.push_back({std::string(name), std::move(type)}, rest);
    }
    if (loops) {
      block(part.inside, &found);
      environment_.variables.shrink(outside);
    }
    out.push_back(std::move(part));
  }

  // Bytes [begin, end) as an expression whose type is `wanted`; dyn: any.
  cel::Expression expression(std::size_t begin, std::size_t end, cel::TypeKind wanted,
                             std::string_view what) {
    begin = std::min(text_.find_first_not_of(kBlank, begin), end);
    if (begin == end) return {};
    cel::Expression out = cel::compile_part(scalar_, begin, end, environment_, sources_, sink_);
    if (!out || wanted == cel::TypeKind::dyn || cel::is_stored(*out.program)) return out;
    const cel::Type type = cel::type_of(*out.program);
    if (type.is_dyn() || type.kind() == wanted) return out;
    sink_
        .error(
            cel::kDoesNotCheck,
            cel::place(out, 0, static_cast<std::uint32_t>(end - begin), sources_),
            std::string(what) + " must be a " + (wanted == cel::TypeKind::list ? "list" : "bool"))
        .got(type.text());
    return out;
  }

  static std::string form(std::string_view word) {
    if (word == "$if") return "`$if: EXPRESSION`";
    return word == "$let" ? "`$let: NAME = EXPRESSION`" : "`$forEach: NAME in EXPRESSION`";
  }

  diag::Origin place(const Directive& at) {
    return cel::place({nullptr, scalar_, 0}, static_cast<std::uint32_t>(at.begin),
                      static_cast<std::uint32_t>(at.end), sources_);
  }

  diag::Diagnostic& error(const Directive& at, std::string message) {
    return sink_.error(kFaultyBody, place(at), std::move(message));
  }

  const yaml::Node& scalar_;
  std::string_view text_;
  cel::Environment environment_;
  diag::Sources& sources_;
  diag::Sink& sink_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  bool gave_up_ = false;  // nested too deep
};

}  // namespace

bool has_directives(std::string_view text) {
  const std::size_t first_break = text.find('\n');
  if (first_break == std::string_view::npos || text.find('$') == std::string_view::npos) {
    return false;
  }
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = line_end(text, begin);
    const std::optional<Directive> found = read_directive(text, begin, end);
    if (found && found->is_known()) return true;
    begin = end + 1;
  }
  return false;
}

std::optional<Lines> compile_lines(const yaml::Node& scalar, const cel::Environment& environment,
                                   diag::Sources& sources, diag::Sink& sink) {
  return LinesCompiler(scalar, environment, sources, sink).compile();
}

}  // namespace gpuctl::compose
