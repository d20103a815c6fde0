// A body of knowledge that is compiled when it is first asked for.
#pragma once

#include <memory>

#include "base/once.hpp"
#include "compose/body.hpp"

namespace gpuctl::compose {

/// As cel::Lazy is for expressions. Thread-safe once it is shared.
class LazyBody {
 public:
  /// Nothing written.
  LazyBody() = default;
  /// `sources` holds the text of `written`, and must live as long as this.
  LazyBody(const yaml::Node& written, std::shared_ptr<const cel::Environment> environment,
           diag::Sources& sources);

  explicit operator bool() const { return state_ != nullptr; }
  /// Compiles now; what is wrong goes to `sink` (GPU03xx, GPU0411). For knowledge that nobody has
  /// checked yet.
  void check(diag::Sink& sink) { compile(sink); }
  /// The compiled form of what is written. Only for knowledge that passed check() here or in an
  /// earlier run: a fault is std::logic_error.
  const Piece& get() const;

 private:
  struct State {
    yaml::Node written;
    std::shared_ptr<const cel::Environment> environment;
    diag::Sources* sources = nullptr;
    base::Once once;
    std::unique_ptr<Piece> made;
  };
  void compile(diag::Sink& sink) const;
  std::unique_ptr<State> state_;
};

}  // namespace gpuctl::compose
