// Money: whole millionths of a unit, so that sums do not depend on their order, and are rounded
// only when they are printed.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "yaml/node.hpp"

namespace gpuctl::cost {

/// An amount of some currency. What does not fit (above nine million million units) stays at the
/// largest amount there is.
class Amount {
 public:
  constexpr Amount() = default;
  static constexpr Amount of_micros(std::int64_t micros) {
    Amount out;
    out.micros_ = micros;
    return out;
  }
  /// A number of a document, to the nearest millionth.
  static Amount of(const yaml::Node& number);

  std::int64_t micros() const { return micros_; }
  Amount operator+(Amount other) const;
  Amount operator-(Amount other) const;
  Amount times(std::int64_t factor) const;
  /// This times `numerator` over `denominator`, which is above zero, to the nearest millionth;
  /// what is in the middle goes away from zero.
  Amount share(std::int64_t numerator, std::int64_t denominator) const;
  /// To the nearest hundredth, in hundredths; what is in the middle goes away from zero.
  std::int64_t hundredths() const;
  /// "1234.57": rounded to hundredths, what is in the middle away from zero.
  std::string text() const;
  /// The same with all six decimals that are not zero, and two at least: "0.526", "1.00".
  std::string exact() const;

  friend auto operator<=>(const Amount&, const Amount&) = default;

 private:
  std::int64_t micros_ = 0;
};

/// A number of a document in thousandths, to the nearest.
std::int64_t thousandths(const yaml::Node& number);

}  // namespace gpuctl::cost
