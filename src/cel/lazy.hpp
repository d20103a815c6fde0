// How expressions of knowledge are compiled.
#pragma once

#include <memory>

#include "cel/scalar.hpp"

namespace gpuctl::cel {

/// An expression (T = Expression) or a text (T = Text) of knowledge; nothing for null. With
/// `thorough` it is compiled at once and what is wrong goes to `sink`: for the build, and what is
/// laid over. Otherwise at first use.
template <typename T>
Lazy<T> lazy(const yaml::Node& scalar, const std::shared_ptr<const Environment>& environment,
             bool thorough, diag::Sources& sources, diag::Sink& sink) {
  if (scalar.is_null()) return {};
  Lazy<T> out(scalar, environment, sources);
  if (thorough) out.check(sink);
  return out;
}

}  // namespace gpuctl::cel
