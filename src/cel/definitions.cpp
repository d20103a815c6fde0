#include "cel/definitions.hpp"

#include <algorithm>
#include <typeinfo>

#include "cel/ast.hpp"
#include "cel/codes.hpp"
#include "cel/opaque.hpp"

namespace gpuctl::cel {

namespace {

constexpr std::string_view kKeywords[] = {"in", "true", "false", "null"};

}  // namespace

bool is_variable_name(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto further = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  return !text.empty() && letter(text.front()) && std::all_of(text.begin(), text.end(), further) &&
         !is_reserved(text) &&
         std::find(std::begin(kKeywords), std::end(kKeywords), text) == std::end(kKeywords);
}

void check_name(const yaml::Node& name, const Environment& environment, diag::Sink& sink) {
  const std::string text(name.as_string());
  if (!is_variable_name(text)) {
    sink.error(kDoesNotParse, name.origin(), "`" + text + "` cannot be the name of a variable")
        .expect("letters and digits, a letter first");
  }
  if (environment.variables.contains(text)) {
    sink.error(kDoesNotCheck, name.origin(), "`" + text + "` stands for something else here")
        .suggest("take another name");
  }
}

const Deferred* as_deferred(const Value& value) {
  // Nothing derives from it: to compare types is enough, and this is asked for every variable.
  const Opaque* opaque = value.is_node() ? nullptr : value.opaque();
  return opaque != nullptr && typeid(*opaque) == typeid(Deferred)
             ? static_cast<const Deferred*>(opaque)
             : nullptr;
}

const Outcome& Deferred::evaluate(std::span<const Value> values, yaml::Arena& arena,
                                  std::vector<yaml::Origin>* reads, bool explain) const {
  const bool told = !explain || explained_ || outcome_.ok();
  if (!known_) reads_.reset();
  if (!known_ || !told || (reads != nullptr && !reads_)) {
    const Expression& expression = definition_->get();
    const std::span<const Value> seen = values.first(visible_);
    if (reads != nullptr) reads_.emplace();
    std::vector<yaml::Origin>* own = reads == nullptr ? nullptr : &*reads_;
    outcome_ = explain ? cel::evaluate(*expression.program, seen, arena, own)
                       : attempt(*expression.program, seen, arena, own);
    if (outcome_.error && outcome_.error->inside == nullptr) outcome_.error->inside = &expression;
    known_ = true;
    explained_ = explain;
  }
  if (reads != nullptr) reads->insert(reads->end(), reads_->begin(), reads_->end());
  return outcome_;
}

Definitions::Definitions(const yaml::Node& written, std::shared_ptr<const Environment>& environment,
                         bool thorough, diag::Sources& sources, diag::Sink& sink) {
  expressions_.reserve(written.size());
  for (const yaml::Entry& entry : written.entries()) {
    if (thorough) check_name(entry.key, *environment, sink);
    LazyExpression& expression = expressions_.emplace_back(entry.value, environment, sources);
    LazyType type([expression] { return type_of(*expression.get().program); });
    if (thorough) {
      const std::size_t errors_before = sink.error_count();
      expression.check(sink);
      // A faulty one has any type: only its own fault is reported.
      if (sink.error_count() != errors_before) type = LazyType(Type::dyn());
    }
    auto behind = std::make_shared<Environment>(*environment);
    behind->variables.push_back({std::string(entry.key.as_string()), std::move(type)},
                                entry.value.as_string());
    environment = std::move(behind);
  }
}

void Definitions::forget(std::span<const Value> values) const {
  for (std::size_t i = 0; i < expressions_.size(); ++i) {
    static_cast<const Deferred*>(values[i].opaque())->forget();
  }
}

void Definitions::bind(std::vector<Value>& values) const {
  if (expressions_.empty()) return;
  // One allocation for all of them.
  const auto bound = std::make_shared<std::vector<std::optional<Deferred>>>(expressions_.size());
  for (std::size_t i = 0; i < expressions_.size(); ++i) {
    const Deferred& made = (*bound)[i].emplace(expressions_[i], values.size());
    values.emplace_back(std::shared_ptr<const Opaque>(bound, &made));
  }
}

}  // namespace gpuctl::cel
