#include "compose/lazy_body.hpp"

#include <stdexcept>
#include <utility>

namespace gpuctl::compose {

LazyBody::LazyBody(const yaml::Node& written, std::shared_ptr<const cel::Environment> environment,
                   diag::Sources& sources)
    : state_(std::make_unique<State>()) {
  state_->written = written;
  state_->environment = std::move(environment);
  state_->sources = &sources;
}

void LazyBody::compile(diag::Sink& sink) const {
  state_->once.call([&] {
    state_->made = compile_body(state_->written, *state_->environment, *state_->sources, sink);
  });
}

const Piece& LazyBody::get() const {
  diag::Sink unexpected;
  compile(unexpected);
  if (state_->made == nullptr) throw std::logic_error("a body of the knowledge does not compile");
  return *state_->made;
}

}  // namespace gpuctl::compose
