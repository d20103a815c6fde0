#include "cost/words.hpp"

#include <algorithm>

#include "diag/character.hpp"

namespace gpuctl::cost {

std::string text_of(const Figure& figure) {
  if (figure.is_unknown()) return "unknown";
  return (figure.complete ? "" : "at least ") + figure.known.text();
}

std::string difference_of(const Figure& one, const Figure& other) {
  if (!one.complete || !other.complete) return "unknown";
  const Amount more = other.known - one.known;
  return (more > Amount() ? "+" : "") + more.text();
}

std::string range_of(const std::optional<std::int64_t>& min,
                     const std::optional<std::int64_t>& max) {
  if (!min || !max) return "unknown";
  if (*min == *max) return std::to_string(*min);
  return std::to_string(*min) + "-" + std::to_string(*max);
}

std::string kilowatts(std::int64_t watts) {
  const std::int64_t tenths = (watts + 50) / 100;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
}

std::string most_kilowatts(const Part& part) {
  const std::optional<std::int64_t> watts = part.most_watts();
  return watts ? kilowatts(*watts) : "unknown";
}

std::string watts_text(const Part& part) {
  std::string out;
  if (part.gpu_watts && part.gpus.value_or(0) > 0) {
    out = std::to_string(*part.gpu_watts / *part.gpus) + " W a GPU";
  }
  if (part.watts) {
    out += (out.empty() ? "" : ", ") + std::to_string(*part.watts) + " W the rest of a machine";
  }
  return out;
}

std::optional<std::string> most_kilowatts(const Estimate& estimate) {
  std::int64_t watts = 0;
  bool complete = true;
  bool known = false;
  for (const Part& part : estimate.parts) {
    if (!part.draws()) continue;
    complete = complete && part.most_watts();
    known = known || part.most_watts();
    watts += part.most_watts().value_or(0);
  }
  if (!complete && !known) return std::nullopt;
  return (complete ? "" : "at least ") + kilowatts(watts);
}

std::vector<std::string> unknown_of(const Estimate& estimate) {
  std::vector<std::string> out;
  for (const Part& part : estimate.parts) {
    for (const Line& line : part.lines) {
      if (line.unknown.empty()) continue;
      std::string text = diag::shown(part.name) + ": " + diag::shown(line.unknown);
      if (std::find(out.begin(), out.end(), text) == out.end()) out.push_back(std::move(text));
    }
  }
  return out;
}

}  // namespace gpuctl::cost
