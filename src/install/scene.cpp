#include "install/scene.hpp"

#include "pipeline/manifests.hpp"

namespace gpuctl::install {

namespace {

// Words that a shell would not take as they are stand in single quotes.
std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,@%+";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

Scene::Scene(pipeline::Result& result, const steps::Steps& steps, const live::Programs& programs,
             const AttemptView& attempt)
    : result_(result), steps_(steps), programs_(programs) {
  values_ = result.expression_inputs().values();
  steps_.scope.variables->bind(values_);
  own_ = values_.size();
  yaml::MapBuilder identity;
  for (const auto& [name, value] : attempt.identity) {
    identity.set(arena(), name, arena().string(value));
  }
  yaml::MapBuilder view;
  view.set(arena(), "number", yaml::Node::integer(static_cast<std::int64_t>(attempt.number)));
  view.set(arena(), "directory", arena().string(attempt.directory));
  view.set(arena(), "place", arena().string(attempt.place));
  view.set(arena(), "identity", identity.build(arena()));
  std::vector<yaml::Node> made;
  for (const std::string& thing : attempt.made) made.push_back(arena().string(thing));
  view.set(arena(), "made", arena().list(made));
  values_.emplace_back(view.build(arena()));
  values_.emplace_back(arena().map(std::span<const yaml::Entry>()));  // documents
  values_.emplace_back();                                             // answer
  values_.emplace_back(arena().string(""));                           // folder
  values_.emplace_back();                                             // item
}

void Scene::set(steps::Variable variable, const yaml::Node& value) {
  values_[own_ + variable] = cel::Value(value);
}

void Scene::set_folder(const std::string& folder) {
  set(steps::kFolder, arena().string(folder));
}

std::optional<cel::Value> Scene::value(const cel::LazyExpression& expression, diag::Sink* sink) {
  const cel::Expression& compiled = expression.get();
  cel::Outcome outcome = cel::evaluate(*compiled.program, values_, arena());
  if (outcome.ok()) return outcome.value;
  if (sink != nullptr) cel::report(*outcome.error, compiled, *result_.sources, *sink);
  return std::nullopt;
}

bool Scene::is_true(const cel::LazyExpression& expression, bool otherwise, diag::Sink* sink) {
  if (!expression) return otherwise;
  const auto found = value(expression, sink);
  return found && found->is_node() && found->node().as_boolean();
}

std::string Scene::text(const cel::LazyText& text, diag::Sink& sink) {
  if (!text) return {};
  const cel::TextOutcome outcome = cel::evaluate(text.get(), values_, arena());
  if (outcome.error) {
    cel::report(*outcome.error, *outcome.at, *result_.sources, sink);
    return {};
  }
  return std::string(outcome.value.node().as_string());
}

std::vector<std::string> Scene::texts(const cel::LazyExpression& expression) {
  std::vector<std::string> out;
  if (!expression) return out;
  const auto found = value(expression, nullptr);
  if (!found || !found->is_node()) return out;
  for (const yaml::Node& item : found->node().items()) out.emplace_back(item.as_string());
  return out;
}

std::vector<std::string> Scene::words(const steps::Call& call, diag::Sink& sink) {
  std::vector<std::string> out;
  for (const cel::LazyText& word : call.arguments) {
    const cel::TextOutcome outcome = cel::evaluate(word.get(), values_, arena());
    if (outcome.error) {
      cel::report(*outcome.error, *outcome.at, *result_.sources, sink);
    } else if (outcome.value.is_omit()) {
      continue;
    } else if (outcome.value.node().is_list()) {
      for (const yaml::Node& one : outcome.value.node().items()) out.emplace_back(one.as_string());
    } else {
      out.emplace_back(outcome.value.node().as_string());
    }
  }
  return out;
}

std::optional<base::Process> Scene::process(const steps::Call& call, diag::Sink& sink) {
  const std::size_t errors_before = sink.error_count();
  base::Process process;
  const auto path = programs_.locate(call.role, sink);
  if (path) process.program = *path;
  process.arguments = words(call, sink);
  for (const std::string& name : programs_.find(call.role) != nullptr
                                     ? programs_.find(call.role)->without
                                     : std::vector<std::string>()) {
    process.environment.push_back({name, std::nullopt});
  }
  for (const auto& [name, value] : call.environment) {
    if (!value) {
      process.environment.push_back({name, std::nullopt});
      continue;
    }
    const cel::TextOutcome outcome = cel::evaluate(value.get(), values_, arena());
    if (outcome.error) {
      cel::report(*outcome.error, *outcome.at, *result_.sources, sink);
    } else if (!outcome.value.is_omit()) {
      process.environment.push_back({name, std::string(outcome.value.node().as_string())});
    }
  }
  if (sink.error_count() != errors_before) return std::nullopt;
  return process;
}

std::string Scene::shown(const steps::Call& call, diag::Sink& sink) {
  const live::Program* program = programs_.find(call.role);
  std::string out = program == nullptr ? call.role : program->names.front();
  for (const std::string& word : words(call, sink)) out += " " + quoted(word);
  return out;
}

}  // namespace gpuctl::install
