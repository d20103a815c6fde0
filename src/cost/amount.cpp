#include "cost/amount.hpp"

#include <cmath>
#include <limits>

namespace gpuctl::cost {

namespace {

__extension__ using Wide = __int128;

constexpr std::int64_t kMicros = 1'000'000;
constexpr Wide kMost = std::numeric_limits<std::int64_t>::max();

Amount fitting(Wide micros) {
  if (micros > kMost) micros = kMost;
  if (micros < -kMost) micros = -kMost;
  return Amount::of_micros(static_cast<std::int64_t>(micros));
}

Wide rounded(Wide numerator, Wide denominator) {
  const Wide half = denominator / 2;
  return (numerator < 0 ? numerator - half : numerator + half) / denominator;
}

std::int64_t scaled(const yaml::Node& number, std::int64_t scale) {
  // The schemas of whatever is read bound it.
  return std::llround(number.as_real() * static_cast<double>(scale));
}

}  // namespace

Amount Amount::of(const yaml::Node& number) {
  return of_micros(scaled(number, kMicros));
}

Amount Amount::operator+(Amount other) const {
  return fitting(Wide{micros_} + other.micros_);
}

Amount Amount::operator-(Amount other) const {
  return fitting(Wide{micros_} - other.micros_);
}

Amount Amount::times(std::int64_t factor) const {
  return fitting(Wide{micros_} * factor);
}

Amount Amount::share(std::int64_t numerator, std::int64_t denominator) const {
  return fitting(rounded(Wide{micros_} * numerator, denominator));
}

std::int64_t Amount::hundredths() const {
  return static_cast<std::int64_t>(rounded(micros_, kMicros / 100));
}

std::string Amount::text() const {
  const std::int64_t signed_size = hundredths();
  const std::int64_t size = signed_size < 0 ? -signed_size : signed_size;
  const std::string cents = std::to_string(size % 100);
  return (signed_size < 0 ? "-" : "") + std::to_string(size / 100) + "." +
         std::string(2 - cents.size(), '0') + cents;
}

std::string Amount::exact() const {
  const std::int64_t size = micros_ < 0 ? -micros_ : micros_;
  std::string decimals = std::to_string(size % kMicros);
  decimals.insert(0, 6 - decimals.size(), '0');
  while (decimals.size() > 2 && decimals.back() == '0') decimals.pop_back();
  return (micros_ < 0 ? "-" : "") + std::to_string(size / kMicros) + "." + decimals;
}

std::int64_t thousandths(const yaml::Node& number) {
  return scaled(number, 1000);
}

}  // namespace gpuctl::cost
