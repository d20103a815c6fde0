// matches, and find and findAll of the Kubernetes regex library.
#include <re2/re2.h>

#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>

#include "cel/functions.hpp"
#include "cel/pattern.hpp"
#include "cel/utf8.hpp"

namespace gpuctl::cel {

namespace {

/// `\C` matches a byte of a character: RE2 has it, Go and with it CEL has not.
bool matches_bytes(std::string_view pattern) {
  bool quoted = false;  // between \Q and \E
  for (std::size_t i = 0; i + 1 < pattern.size(); ++i) {
    if (pattern[i] != '\\') continue;
    const char letter = pattern[i + 1];
    if (quoted) {
      quoted = letter != 'E';
      continue;
    }
    if (letter == 'C') return true;
    quoted = letter == 'Q';
    ++i;
  }
  return false;
}

// The compiled expressions that were asked for last. What each may grow to is bounded, and with it
// what all take.
class KnownRegexes {
 public:
  std::shared_ptr<const re2::RE2> find(std::string_view text) {
    const std::lock_guard<std::mutex> guard(mutex_);
    const auto found = by_text_.find(text);
    return found == by_text_.end() ? nullptr : found->second;
  }
  void keep(std::string_view text, const std::shared_ptr<const re2::RE2>& regex) {
    const std::lock_guard<std::mutex> guard(mutex_);
    if (by_text_.size() == kMost) by_text_.clear();
    by_text_.emplace(text, regex);
  }

 private:
  static constexpr std::size_t kMost = 32;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const re2::RE2>, std::less<>> by_text_;
};

}  // namespace

std::shared_ptr<const re2::RE2> compiled_regex(std::string_view text) {
  constexpr std::size_t kShort = 64;
  static KnownRegexes known;
  const bool kept = text.size() <= kShort;
  if (kept) {
    if (auto found = known.find(text)) return found;
  }
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMostPatternBytes);
  auto compiled =
      std::make_shared<const re2::RE2>(re2::StringPiece(text.data(), text.size()), options);
  if (kept && compiled->ok()) known.keep(text, compiled);
  return compiled;
}

std::shared_ptr<const re2::RE2> compile_pattern(std::string_view pattern, std::string& fault) {
  if (matches_bytes(pattern)) {
    fault = "the pattern is no regular expression: invalid escape sequence: \\C";
    return nullptr;
  }
  auto compiled = compiled_regex(pattern);
  if (compiled->ok()) return compiled;
  fault = compiled->error_code() == re2::RE2::ErrorPatternTooLarge
              ? "the pattern is too large when its repetitions are written out"
              : "the pattern is no regular expression: " + compiled->error();
  return nullptr;
}

Pattern::Pattern(std::string_view text, std::shared_ptr<const re2::RE2> compiled)
    : text_(text), regex_(std::move(compiled)) {
  once_.call([] {});
}

const re2::RE2& Pattern::regex() const {
  once_.call([this] {
    std::string fault;
    regex_ = compile_pattern(text_, fault);
  });
  if (regex_ == nullptr) throw std::logic_error("a stored pattern does not compile: " + text_);
  return *regex_;
}

std::uint64_t pattern_cost(const re2::RE2* pattern) {
  constexpr std::uint64_t kTooLarge = 100'000;
  constexpr std::uint64_t kStatesPerStep = 4;
  return pattern == nullptr
             ? kTooLarge
             : 100 + static_cast<std::uint64_t>(pattern->ProgramSize()) / kStatesPerStep;
}

std::uint64_t match_cost(const re2::RE2& pattern, std::size_t bytes) {
  // Without room for its automaton RE2 follows all states of the program for each byte.
  constexpr std::uint64_t kStatesPerStep = 512;
  return bytes / 8 + bytes * static_cast<std::uint64_t>(pattern.ProgramSize()) / kStatesPerStep;
}

namespace lib {

namespace {

/// Calls `use` with the compiled pattern of args[1].
template <typename Use>
Outcome with_pattern(Arguments args, CallContext& context, const Use& use) {
  if (!context.charge(text_of(args[1]).size())) return exhausted();
  std::string fault;
  const auto pattern = compile_pattern(text_of(args[1]), fault);
  if (!context.charge(pattern_cost(pattern.get()))) return exhausted();
  if (pattern == nullptr) return fail(std::move(fault));
  if (!context.charge(match_cost(*pattern, text_of(args[0]).size()))) return exhausted();
  return use(*pattern);
}

struct Match {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// The first match at or after `from`.
std::optional<Match> match_from(const re2::RE2& pattern, std::string_view subject,
                                std::size_t from) {
  // The library tells "no match" from "an empty one" by a null pointer.
  const std::string_view text = subject.data() == nullptr ? std::string_view("") : subject;
  re2::StringPiece match;
  if (!pattern.Match(re2::StringPiece(text.data(), text.size()), from, text.size(),
                     re2::RE2::UNANCHORED, &match, 1)) {
    return std::nullopt;
  }
  const auto begin = static_cast<std::size_t>(match.data() - text.data());
  return Match{begin, begin + match.size()};
}

Outcome matches(Arguments args, CallContext& context) {
  const std::string_view subject = text_of(args[0]);
  return with_pattern(args, context, [&](const re2::RE2& pattern) {
    return give(re2::RE2::PartialMatch(re2::StringPiece(subject.data(), subject.size()), pattern));
  });
}

Outcome find(Arguments args, CallContext& context) {
  return with_pattern(args, context, [&](const re2::RE2& pattern) {
    const auto match = match_from(pattern, text_of(args[0]), 0);
    return give(yaml::Node::view(
        match ? text_of(args[0]).substr(match->begin, match->end - match->begin) : ""));
  });
}

/// Matches from left to right; an empty one right after another match does not count.
Outcome find_all(Arguments args, CallContext& context) {
  const std::string_view subject = text_of(args[0]);
  std::int64_t left = args.size() > 2 ? args[2].node().as_integer() : -1;
  if (left < 0) left = std::numeric_limits<std::int64_t>::max();
  return with_pattern(args, context, [&](const re2::RE2& pattern) {
    std::vector<yaml::Node> found;
    std::size_t at = 0;
    std::optional<std::size_t> last_end;
    while (left > 0 && at <= subject.size()) {
      if (!context.charge(kStepsPerItem + match_cost(pattern, 8))) return exhausted();
      const auto match = match_from(pattern, subject, at);
      if (!match) break;
      const bool empty = match->end == at;
      if (!empty || match->begin != last_end) {
        found.push_back(yaml::Node::view(subject.substr(match->begin, match->end - match->begin)));
        --left;
      }
      last_end = match->end;
      at = match->end;
      if (empty) at += at < subject.size() ? utf8_length(subject[at]) : 1;
    }
    return give(context.arena.list(found));
  });
}

}  // namespace

void add_regex(Functions& to) {
  both(to, "matches", {string(), string()}, boolean(), matches);
  method(to, "find", {string(), string()}, string(), find);
  method(to, "findAll", {string(), string()}, Type::list(string()), find_all);
  method(to, "findAll", {string(), string(), integer()}, Type::list(string()), find_all);
}

}  // namespace lib
}  // namespace gpuctl::cel
