#include "cel/program.hpp"

#include <algorithm>
#include <cassert>
#include <stdexcept>

#include "cel/checker.hpp"
#include "cel/code.hpp"
#include "cel/evaluator.hpp"
#include "cel/store.hpp"

namespace gpuctl::cel {

namespace {

struct Size {
  std::size_t codes = 0;
  std::size_t candidates = 0;
};

Size size_of(const Draft& draft) {
  Size size{1, draft.candidates.size()};
  for (const Draft& arg : draft.args) {
    const Size below = size_of(arg);
    size.codes += below.codes;
    size.candidates += below.candidates;
  }
  return size;
}

void place_code(Draft& draft, Program& program, Code& code) {
  static_cast<Operation&>(code) = std::move(static_cast<Operation&>(draft));
  const auto candidates = program.add_candidates(draft.candidates.size());
  std::copy(draft.candidates.begin(), draft.candidates.end(), candidates.begin());
  code.candidates = candidates;
  const auto args = program.add_codes(draft.args.size());
  code.args = args;
  for (std::size_t i = 0; i < args.size(); ++i) place_code(draft.args[i], program, args[i]);
}

void lay_out(Draft draft, Program& program) {
  const Size size = size_of(draft);
  program.reserve(size.codes, size.candidates);
  place_code(draft, program, program.add_codes(1).front());
}

std::shared_ptr<const Program> build(std::string_view text, const Environment& environment,
                                     std::vector<Problem>& problems, bool lenient) {
  auto program = std::make_shared<Program>();
  program->own_text = text;
  program->text = program->own_text;
  program->functions = environment.functions;
  program->variable_count = environment.variables.size();
  program->expr = parse(program->text, problems);
  if (program->expr == nullptr) return nullptr;
  std::vector<Problem> found;
  Checker checker(environment, *program, found, lenient);
  Checked checked = checker.check(*program->expr);
  problems.insert(problems.end(), found.begin(), found.end());
  if (!found.empty()) return nullptr;
  lay_out(std::move(checked.code), *program);
  program->type = std::move(checked.type);
  program->local_count = checker.local_count();
  program->reads = checker.reads();
  return program;
}

}  // namespace

void Program::reserve(std::size_t operations, std::size_t functions_called) {
  codes = std::vector<Code>(operations);
  if (functions_called != 0) candidates = std::vector<const Function*>(functions_called);
}

std::span<Code> Program::add_codes(std::size_t count) {
  assert(codes_given_ + count <= codes.size());
  const std::span<Code> given(codes.data() + codes_given_, count);
  codes_given_ += count;
  return given;
}

std::span<const Function*> Program::add_candidates(std::size_t count) {
  assert(candidates_given_ + count <= candidates.size());
  const std::span<const Function*> given(candidates.data() + candidates_given_, count);
  candidates_given_ += count;
  return given;
}

const Program& Program::full() const {
  if (environment == nullptr) return *this;
  full_once_.call([this] {
    std::vector<Problem> problems;
    full_ = build(text, *environment, problems, false);
  });
  if (full_ == nullptr)
    throw std::logic_error("a stored program does not compile: " + std::string(text));
  return *full_;
}

std::shared_ptr<const Program> compile(std::string_view text, const Environment& environment,
                                       std::vector<Problem>& problems) {
  if (environment.store == nullptr) return build(text, environment, problems, false);
  std::shared_ptr<const Program> program = environment.store->find(text, environment);
  if (program != nullptr) return program;
  program = build(text, environment, problems, false);
  if (program != nullptr) environment.store->record(environment, *program);
  return program;
}

std::shared_ptr<const Program> compile_unchecked(std::string_view text,
                                                 const Environment& environment,
                                                 std::vector<Problem>& problems) {
  return build(text, environment, problems, true);
}

Type type_of(const Program& program) {
  return program.full().type;
}

bool is_stored(const Program& program) {
  return program.environment != nullptr;
}

std::string written(const Operation& code) {
  return code.expr == nullptr ? std::string() : print(*code.expr);
}

std::string name_of(const Operation& code) {
  return code.expr == nullptr ? std::string() : code.expr->text;
}

std::string_view source(const Program& program) {
  return program.text;
}

std::string print(const Program& program) {
  return print(*program.full().expr);
}

const Expr& tree(const Program& program) {
  return *program.full().expr;
}

std::vector<std::string> variables_of(const Program& program) {
  return program.full().reads;
}

namespace {

Outcome run(const Program& program, std::span<const Value> values, yaml::Arena& arena,
            std::vector<yaml::Origin>* reads) {
  Evaluator evaluator(program, values, arena, reads);
  Outcome outcome;
  if (!evaluator.run(program.code(), outcome.value) ||
      (program.builds && !evaluator.charge_result(outcome.value))) {
    outcome.value = Value();
    outcome.error = std::move(evaluator.error());
  }
  return outcome;
}

}  // namespace

Outcome attempt(const Program& program, std::span<const Value> values, yaml::Arena& arena,
                std::vector<yaml::Origin>* reads) {
  return run(program, values, arena, reads);
}

Outcome evaluate(const Program& program, std::span<const Value> values, yaml::Arena& arena,
                 std::vector<yaml::Origin>* reads) {
  const std::size_t reads_before = reads == nullptr ? 0 : reads->size();
  Outcome outcome = run(program, values, arena, reads);
  if (outcome.ok() || !is_stored(program)) return outcome;
  // What there is to say about a fault is not stored: the same once more, from the text.
  if (reads != nullptr) reads->resize(reads_before);
  return run(program.full(), values, arena, reads);
}

}  // namespace gpuctl::cel
