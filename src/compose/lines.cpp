#include "compose/lines.hpp"

#include <utility>

namespace gpuctl::compose {

std::optional<std::string> LineWriter::write(const Lines& lines, std::vector<cel::Value>& values) {
  const std::size_t count = values.size();
  const bool good = block(lines.parts, values);
  values.resize(count);
  if (!good) return std::nullopt;
  if (lines.ends_open && out_.ends_with('\n')) out_.pop_back();
  return std::move(out_);
}

bool LineWriter::block(const std::vector<Lines::Part>& parts, std::vector<cel::Value>& values) {
  const std::size_t count = values.size();
  bool good = true;
  for (const Lines::Part& part : parts) {
    switch (part.kind) {
      case Lines::Part::Kind::text:
        good = insert(part.text, values);
        break;
      case Lines::Part::Kind::condition:
        good = condition(part, values);
        break;
      case Lines::Part::Kind::loop:
        good = loop(part, values);
        break;
      case Lines::Part::Kind::binding: {
        std::optional<cel::Value> bound = value(part.expression, values);
        good = bound.has_value();
        if (good) values.push_back(std::move(*bound));
        break;
      }
    }
    if (!good) break;
  }
  values.resize(count);
  return good;
}

bool LineWriter::insert(const cel::Text& text, std::span<const cel::Value> values) {
  for (const cel::Text::Part& part : text.parts) {
    if (!part.expression) {
      out_ += part.literal;
      continue;
    }
    std::vector<diag::Origin> reads;
    cel::Outcome outcome = cel::evaluate_inside(text, part.expression, values, arena_,
                                                provenance_ == nullptr ? nullptr : &reads);
    const std::optional<cel::Value> made =
        noted(std::move(outcome), part.expression, std::move(reads));
    if (!made) return false;
    if (provenance_ != nullptr) reads_.push_back(made->node().origin());
    out_ += made->node().as_string();
  }
  return true;
}

bool LineWriter::condition(const Lines::Part& part, std::vector<cel::Value>& values) {
  const std::optional<cel::Value> holds = value(part.expression, values);
  if (!holds) return false;
  if (!holds->is_node() || !holds->node().is_boolean()) {
    return fail(part.expression, "a condition must be a bool", *holds);
  }
  if (provenance_ != nullptr) reads_.push_back(holds->node().origin());
  return block(holds->node().as_boolean() ? part.inside : part.otherwise, values);
}

bool LineWriter::loop(const Lines::Part& part, std::vector<cel::Value>& values) {
  const std::optional<cel::Value> list = value(part.expression, values);
  if (!list) return false;
  if (!list->is_node() || !list->node().is_list()) {
    return fail(part.expression, "what is looped over must be a list", *list);
  }
  if (provenance_ != nullptr) reads_.push_back(list->node().origin());
  for (const yaml::Node& item : list->node().items()) {
    values.emplace_back(item);
    const bool good = block(part.inside, values) && charge(part.expression);
    values.pop_back();
    if (!good) return false;
  }
  return true;
}

std::optional<cel::Value> LineWriter::noted(cel::Outcome outcome, const cel::Expression& expression,
                                            std::vector<diag::Origin> reads) {
  cel::Provenance::Evaluation evaluation;
  if (provenance_ != nullptr) {
    const auto length = static_cast<std::uint32_t>(cel::source(*expression.program).size());
    evaluation = {expression.scalar.with_origin(cel::place(expression, 0, length, sources_)), "",
                  std::move(reads)};
  }
  if (outcome.error) {
    fault_ = Fault{std::move(*outcome.error), expression};
    if (provenance_ != nullptr) fault_->evaluation = provenance_->add(std::move(evaluation));
    return std::nullopt;
  }
  if (provenance_ == nullptr || !outcome.value.is_node()) return std::move(outcome.value);
  return provenance_->mark_result(std::move(evaluation), outcome.value.node(), arena_);
}

std::optional<cel::Value> LineWriter::value(const cel::Expression& expression,
                                            std::span<const cel::Value> values) {
  std::vector<diag::Origin> reads;
  cel::Outcome outcome =
      cel::evaluate(*expression.program, values, arena_, provenance_ == nullptr ? nullptr : &reads);
  return noted(std::move(outcome), expression, std::move(reads));
}

bool LineWriter::charge(const cel::Expression& expression) {
  const std::uint64_t steps = 1 + (out_.size() - charged_) / 8;
  charged_ = out_.size();
  if (steps > steps_left_) {
    fail(expression, "the text needs more than " + std::to_string(cel::kMostSteps) + " steps", {});
    fault_->error.kind = cel::EvalError::Kind::budget;
    return false;
  }
  steps_left_ -= steps;
  return true;
}

bool LineWriter::fail(const cel::Expression& expression, std::string message,
                      const cel::Value& given) {
  cel::EvalError error;
  error.end = static_cast<std::uint32_t>(cel::source(*expression.program).size());
  error.message = std::move(message);
  fault_ = Fault{std::move(error), expression};
  if (provenance_ != nullptr && given.is_node()) fault_->evaluation = given.node().origin();
  return false;
}

}  // namespace gpuctl::compose
