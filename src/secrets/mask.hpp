// What may be shown of a text.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "diag/mask.hpp"
#include "secrets/rules.hpp"

namespace gpuctl::secrets {

/// `text` with everything that looks like a secret replaced by `*`, byte for byte, so that marks
/// below it stay where they are: passwords in addresses, and long words that mix upper case, lower
/// case and digits, as keys and tokens do. Names and paths that people write stay readable.
std::string masked(std::string_view text);

/// The same, and whatever the rules know.
class RulesMask : public diag::Mask {
 public:
  explicit RulesMask(std::shared_ptr<const Rules> rules) : rules_(std::move(rules)) {}
  std::string shown(std::string_view text) const override;

 private:
  std::shared_ptr<const Rules> rules_;
};

/// masked() where there are no rules yet.
class PlainMask : public diag::Mask {
 public:
  std::string shown(std::string_view text) const override { return masked(text); }
};

/// Hides in excerpts, and in messages, whatever looks like a secret in a file: before it is read,
/// since it may be no YAML.
void hide(diag::FileId file, const Rules& rules, diag::Sources& sources);

}  // namespace gpuctl::secrets
