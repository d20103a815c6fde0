// The rules by which secrets are known: data (kind SecretRules), compiled so that a run which meets
// no secret pays for hardly any of them.
#pragma once

#include <re2/re2.h>

#include <bitset>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diag/diagnostic.hpp"
#include "yaml/node.hpp"

namespace gpuctl::secrets {

/// An expression of RE2 that is compiled when it is first needed. For several threads.
class LazyExpression {
 public:
  explicit LazyExpression(std::string_view text) : text_(text) {}
  const re2::RE2& get() const;
  bool is_in(std::string_view text) const;

 private:
  std::string_view text_;
  mutable std::once_flag once_;
  mutable std::unique_ptr<re2::RE2> compiled_;
};

/// True when `encoded` is base64 of a readable text that `expression` is in.
bool decodes_to(std::string_view encoded, const LazyExpression& expression);

/// A kind of credential that shows by its form.
struct Pattern {
  Pattern(std::string_view name_, std::string_view expression_)
      : name(name_), expression(expression_) {}
  std::string_view name;  // follows "what looks like"
  LazyExpression expression;
  std::unique_ptr<LazyExpression> decodes;  // what the first group holds in base64, or nullptr
  double least_entropy = 0;                 // of the first group, otherwise of all
  bool random = false;                      // that it is random, too
  bool sure = true;                         // otherwise a warning
  // No fixed text: tried where a word of such a length looks random. Otherwise 0.
  std::size_t least_word = 0;
  std::size_t most_word = 0;
  std::bitset<256> only;    // characters that such a word has; none: any
  std::bitset<256> begins;  // the ones that it begins with; none: any
  char beside = '\0';       // what stands before or behind it; none: anything
};

/// What the name of a field says of its value.
struct NamedSecret {
  std::string_view ending;  // lower case, without separators: "apikey"
  std::string_view name;    // follows "holds": "a password"
  std::unique_ptr<LazyExpression> decodes;
  bool whole = false;  // the last word itself, and not only its end
  bool any = false;    // whatever the value is; otherwise not what reads as a name
};

/// Thread-safe once made.
class Rules {
 public:
  /// `specs`: `spec` of each file of kind SecretRules, which must outlive this. With `thorough`,
  /// every expression is compiled, and one that cannot be is GPU0656 and left out.
  Rules(std::span<const yaml::Node> specs, bool thorough, diag::Sink& sink);
  Rules(const Rules&) = delete;
  Rules& operator=(const Rules&) = delete;

  const std::vector<std::unique_ptr<Pattern>>& patterns() const { return patterns_; }
  /// Those without a fixed text.
  const std::vector<const Pattern*>& patterns_of_words() const { return patterns_of_words_; }

  /// What `identifier` (`dbPassword`, `WANDB_API_KEY`, `spring.token`) says of its value; nullptr:
  /// nothing.
  const NamedSecret* named(std::string_view identifier) const;

  /// True for a value that stands for another: `${PASSWORD}`, `<token>`, `REDACTED`.
  bool is_placeholder(std::string_view value) const;

  /// True for a word that is known to be none, such as `sha256:` and a digest.
  bool is_harmless(std::string_view word) const;

  /// What a fixed text that was found leads to.
  struct Keyword {
    std::string_view text;   // lower case
    std::int32_t pattern;    // index; -1: the name of a field may be around it
    std::string_view exact;  // the only way to write it that the pattern takes, or empty
  };

  /// Calls `found(keyword, offset)` for each fixed text of a rule in `text`, in any case.
  template <typename Found>
  void for_each_keyword(std::string_view text, const Found& found) const {
    std::uint32_t window = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      window = next_window(window, text[i]);
      if (i >= 2 && starts_[window]) look_up(window, text, i - 2, found);
    }
  }

 private:
  // Three characters, five bits each: case does not count.
  static constexpr std::uint32_t kWindows = 1U << 15U;
  static std::uint32_t next_window(std::uint32_t window, char c) {
    return ((window << 5U) | (static_cast<unsigned char>(c) & 31U)) & (kWindows - 1);
  }
  struct Slot {
    std::uint32_t window = 0;
    Keyword keyword;
  };
  template <typename Found>
  void look_up(std::uint32_t window, std::string_view text, std::size_t at,
               const Found& found) const {
    auto slot = first_of(window);
    for (; slot != slots_.end() && slot->window == window; ++slot) {
      const Keyword& keyword = slot->keyword;
      if (keyword.exact.empty() ? stands_at(keyword.text, text, at)
                                : text.substr(at).starts_with(keyword.exact)) {
        found(keyword, at);
      }
    }
  }
  std::vector<Slot>::const_iterator first_of(std::uint32_t window) const;
  static bool stands_at(std::string_view keyword, std::string_view text, std::size_t at);

  void add_pattern(const yaml::Node& row, bool thorough, diag::Sink& sink);
  void add_name(const yaml::Node& row);
  void add_keyword(std::string_view text, std::int32_t pattern, std::string_view exact = {});
  bool compiles(const yaml::Node& expression, bool thorough, diag::Sink& sink) const;

  std::vector<std::unique_ptr<Pattern>> patterns_;
  std::vector<const Pattern*> patterns_of_words_;
  std::vector<NamedSecret> names_;         // by the last letter
  std::vector<std::string_view> neutral_;  // words behind a name that change nothing
  std::vector<std::unique_ptr<LazyExpression>> placeholders_;
  std::vector<std::unique_ptr<LazyExpression>> harmless_;
  std::vector<Slot> slots_;  // by window
  std::bitset<kWindows> starts_;
};

}  // namespace gpuctl::secrets
