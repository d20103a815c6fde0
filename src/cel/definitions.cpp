#include "cel/definitions.hpp"

#include <algorithm>

#include "base/digest.hpp"
#include "cel/ast.hpp"
#include "cel/codes.hpp"
#include "cel/opaque.hpp"

namespace gpuctl::cel {

namespace {

// Short names stand for many things: what is stored is told apart by how they are defined.
constexpr std::uint64_t kContainerNames = 1'000'000'000;

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
  const auto& known = environment.variables;
  if (std::any_of(known.begin(), known.end(),
                  [&](const Variable& one) { return one.name() == text; })) {
    sink.error(kDoesNotCheck, name.origin(), "`" + text + "` stands for something else here")
        .suggest("take another name");
  }
}

const Deferred* as_deferred(const Value& value) {
  return value.is_node() ? nullptr : dynamic_cast<const Deferred*>(value.opaque());
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

namespace {

// Checks each in an environment that ends before it. False after diagnostics.
bool check_definitions(const yaml::Node& written, const Environment& environment,
                       diag::Sources& sources, diag::Sink& sink) {
  const std::size_t errors_before = sink.error_count();
  auto before = std::make_shared<const Environment>(environment);
  for (const yaml::Entry& entry : written.entries()) {
    check_name(entry.key, *before, sink);
    // In it, and in those before it, the name would stand for itself. Nobody compares with the type
    // of types.
    const std::string_view name = entry.key.as_string();
    if (is_type_name(name) && name != "type") {
      sink.error(kDoesNotCheck, entry.key.origin(),
                 "`" + std::string(name) + "` stands for something else here")
          .suggest("take another name");
    }
    const Expression expression = compile_bare(entry.value, *before, sources, sink);
    auto behind = std::make_shared<Environment>(*before);
    // A faulty one has any type: only its own fault is reported.
    behind->variables.push_back({std::string(entry.key.as_string()),
                                 expression ? type_of(*expression.program) : Type::dyn()});
    before = std::move(behind);
  }
  return sink.error_count() == errors_before;
}

}  // namespace

Definitions::Definitions(const yaml::Node& written, std::shared_ptr<const Environment>& environment,
                         bool thorough, diag::Sources& sources, diag::Sink& sink) {
  if (written.size() == 0) return;
  bool good = true;
  if (thorough) {
    Environment unstored = *environment;
    unstored.store = nullptr;  // what is kept is compiled where it is found again, below
    good = check_definitions(written, unstored, sources, sink);
  }
  // One environment for all: none reads what comes after it, which was checked.
  const auto reader = std::make_shared<Environment>(*environment);
  reader->variables.reserve(environment->variables.size() + written.size());
  std::vector<std::shared_ptr<LazyExpression>> made;
  made.reserve(written.size());
  std::uint64_t digest = base::quick_digest(environment->container);
  for (const yaml::Entry& entry : written.entries()) {
    const auto expression = std::make_shared<LazyExpression>(entry.value, reader, sources);
    // Not owned: the expression owns the environment.
    LazyType type = !good
                        ? LazyType(Type::dyn())
                        : LazyType([weak = std::weak_ptr<const LazyExpression>(expression)] {
                            const auto known = weak.lock();
                            return known == nullptr ? Type::dyn() : type_of(*known->get().program);
                          });
    reader->variables.push_back({std::string(entry.key.as_string()), std::move(type)});
    digest = base::quick_digest(entry.key.as_string()) ^ (digest * 31);
    digest = base::quick_digest(entry.value.as_string()) ^ (digest * 31);
    made.push_back(expression);
  }
  reader->container = "var" + std::to_string(digest % kContainerNames);
  environment = reader;
  for (const auto& expression : made) {
    if (thorough && good) expression->check(sink);
  }
  expressions_.assign(made.begin(), made.end());
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
    const Deferred& made = (*bound)[i].emplace(*expressions_[i], values.size());
    values.emplace_back(std::shared_ptr<const Opaque>(bound, &made));
  }
}

}  // namespace gpuctl::cel
