#include "cel/program.hpp"

#include "cel/checker.hpp"
#include "cel/code.hpp"
#include "cel/evaluator.hpp"

namespace gpuctl::cel {

namespace {

std::shared_ptr<const Program> build(std::string_view text, const Environment& environment,
                                     std::vector<Problem>& problems, bool lenient) {
  auto program = std::make_shared<Program>();
  program->text = text;
  program->functions = environment.functions;
  program->variable_count = environment.variables.size();
  program->expr = parse(program->text, problems);
  if (program->expr == nullptr) return nullptr;
  std::vector<Problem> found;
  Checker checker(environment, *program, found, lenient);
  Checked checked = checker.check(*program->expr);
  problems.insert(problems.end(), found.begin(), found.end());
  if (!found.empty()) return nullptr;
  program->code = std::move(checked.code);
  program->type = std::move(checked.type);
  program->local_count = checker.local_count();
  for (std::size_t i = 0; i < environment.variables.size(); ++i) {
    if (checker.used()[i]) program->reads.push_back(environment.variables[i].name);
  }
  return program;
}

}  // namespace

std::shared_ptr<const Program> compile(std::string_view text, const Environment& environment,
                                       std::vector<Problem>& problems) {
  return build(text, environment, problems, false);
}

std::shared_ptr<const Program> compile_unchecked(std::string_view text,
                                                 const Environment& environment,
                                                 std::vector<Problem>& problems) {
  return build(text, environment, problems, true);
}

Type type_of(const Program& program) {
  return program.type;
}

std::string_view source(const Program& program) {
  return program.text;
}

std::string print(const Program& program) {
  return print(*program.expr);
}

const Expr& tree(const Program& program) {
  return *program.expr;
}

std::vector<std::string> variables_of(const Program& program) {
  return program.reads;
}

Outcome evaluate(const Program& program, std::span<const Value> values, yaml::Arena& arena,
                 std::vector<yaml::Origin>* reads) {
  Evaluator evaluator(program, values, arena, reads);
  Outcome outcome;
  if (!evaluator.run(program.code, outcome.value) ||
      (program.builds && !evaluator.charge_result(outcome.value))) {
    outcome.value = Value();
    outcome.error = std::move(evaluator.error());
  }
  return outcome;
}

}  // namespace gpuctl::cel
