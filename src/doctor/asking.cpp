#include "doctor/asking.hpp"

#include <algorithm>
#include <chrono>

namespace gpuctl::doctor {

namespace {

constexpr std::chrono::seconds kNetLimit{5};
constexpr std::chrono::seconds kProgramLimit{60};
// A registry is asked three times: itself, for a token, for an image.
constexpr std::chrono::seconds kRegistryLimit{15};
constexpr std::size_t kLeastSecretBytes = 4;

std::chrono::seconds limit_of(const Ask& ask) {
  if (std::holds_alternative<ProgramQuestion>(ask) || std::holds_alternative<GitQuestion>(ask)) {
    return kProgramLimit;
  }
  return std::holds_alternative<RegistryQuestion>(ask) ? kRegistryLimit : kNetLimit;
}

}  // namespace

void Secrets::add(const std::string& value) {
  if (value.size() < kLeastSecretBytes) return;  // would hide parts of innocent words
  const std::lock_guard<std::mutex> guard(mutex_);
  values_.insert(value);
}

std::string Secrets::without(std::string text) const {
  const std::lock_guard<std::mutex> guard(mutex_);
  // Longer ones first: one may be a part of another.
  std::vector<std::string_view> values(values_.begin(), values_.end());
  std::sort(values.begin(), values.end(),
            [](std::string_view a, std::string_view b) { return a.size() > b.size(); });
  for (const std::string_view value : values) {
    for (std::size_t at = text.find(value); at != std::string::npos; at = text.find(value, at)) {
      text.replace(at, value.size(), "***");
    }
  }
  return text;
}

Answer put(const Question& question, Asking& asking) {
  const net::Deadline deadline =
      std::min(asking.deadline, net::Clock::now() + limit_of(question.ask));
  Answer answer;
  if (net::left_until(asking.deadline).count() == 0) {
    answer.not_asked("the time of the whole run was over");
  } else {
    answer = std::visit([&](const auto& one) { return ask(one, asking, deadline); }, question.ask);
  }
  answer.set("about", question.about);
  answer.set("tag", answer.arena().clone(question.tag));
  return answer;
}

}  // namespace gpuctl::doctor
