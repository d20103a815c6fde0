#include "cel/variables.hpp"

#include "base/digest.hpp"

namespace gpuctl::cel {

LazyType::LazyType(Type type) : state_(std::make_shared<State>()) {
  state_->type = std::move(type);
}

const Type& LazyType::get() const {
  state_->once.call([this] { state_->type = state_->make(); });
  return state_->type;
}

Variables::Variables(std::initializer_list<Variable> variables) {
  for (const Variable& variable : variables) push_back(variable);
}

void Variables::push_back(Variable variable, std::string_view definition) {
  constexpr std::uint64_t kOneAfterAnother = 31;
  const std::uint64_t named = (digest() * kOneAfterAnother) ^ base::quick_digest(variable.name);
  const std::uint64_t defined = (named * kOneAfterAnother) ^ base::quick_digest(definition);
  last_ = std::make_shared<const Link>(Link{last_, size() + 1, defined, std::move(variable)});
}

void Variables::shrink(std::size_t size) {
  while (this->size() > size) last_ = last_->before;
}

bool Variables::contains(std::string_view name) const {
  for (const Link* at = last_.get(); at != nullptr; at = at->before.get()) {
    if (at->variable.name == name) return true;
  }
  return false;
}

const Variable& Variables::at(std::size_t i) const {
  const Link* link = last_.get();
  while (link->size > i + 1) link = link->before.get();
  return link->variable;
}

std::vector<const Variable*> Variables::all() const {
  std::vector<const Variable*> variables(size());
  for (const Link* at = last_.get(); at != nullptr; at = at->before.get()) {
    variables[at->size - 1] = &at->variable;
  }
  return variables;
}

}  // namespace gpuctl::cel
