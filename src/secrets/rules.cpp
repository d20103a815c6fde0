#include "secrets/rules.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "secrets/codes.hpp"
#include "secrets/decode.hpp"

namespace gpuctl::secrets {

namespace {

constexpr std::size_t kLeastKeyword = 3;
constexpr std::size_t kMostName = 128;  // of bytes in the name of a field

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

re2::StringPiece piece(std::string_view text) {
  return {text.data(), text.size()};
}

// The words of an identifier in lower case, without digits at their ends: `dbAPIKey2` is db, api,
// key. They stand one behind the other; every key of every document is looked at, so nothing is
// allocated.
class Words {
 public:
  // `identifier` has at most kMostName bytes.
  explicit Words(std::string_view identifier) {
    for (std::size_t i = 0; i < identifier.size(); ++i) {
      const char c = identifier[i];
      if (!is_upper(c) && !is_lower(c) && !is_digit(c)) {
        end_word();
        continue;
      }
      const char before = i > 0 ? identifier[i - 1] : '\0';
      const bool begins =
          is_upper(c) &&
          (is_lower(before) || is_digit(before) ||
           (is_upper(before) && i + 1 < identifier.size() && is_lower(identifier[i + 1])));
      if (begins) end_word();
      text_[size_++] = lower(c);
    }
    end_word();
  }

  std::size_t count() const { return count_; }
  std::string_view last() const {
    return {text_.data() + begins_[count_ - 1], size_ - begins_[count_ - 1]};
  }
  std::string_view all() const { return {text_.data(), size_}; }
  void pop_word() { size_ = begins_[--count_]; }
  void pop_letter() { --size_; }

 private:
  void end_word() {
    const std::size_t begin = begin_of_next_;
    // `base64` is a word, `password2` is not.
    while (size_ > begin && is_digit(text_[size_ - 1])) {
      const std::string_view word(text_.data() + begin, size_ - begin);
      if (word == "base64" || word == "b64") break;
      --size_;
    }
    if (size_ > begin) begins_[count_++] = static_cast<std::uint8_t>(begin);
    begin_of_next_ = size_;
  }

  std::array<char, kMostName> text_{};            // size_ of them count
  std::array<std::uint8_t, kMostName> begins_{};  // of words in it; count_ of them count
  std::size_t size_ = 0;
  std::size_t count_ = 0;
  std::size_t begin_of_next_ = 0;
};

// The characters of a class such as `A-Za-z0-9_-`.
std::bitset<256> characters_of(std::string_view text) {
  std::bitset<256> out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool range = i + 2 < text.size() && text[i + 1] == '-';
    const auto first = static_cast<unsigned char>(text[i]);
    const auto last = static_cast<unsigned char>(range ? text[i + 2] : text[i]);
    for (unsigned c = first; c <= last; ++c) out.set(c);
    if (range) i += 2;
  }
  return out;
}

// How `keyword` is written in an expression that does not take it otherwise; empty when it does, or
// when that cannot be seen.
std::string_view only_spelling(std::string_view keyword, std::string_view expression) {
  if (expression.find("(?i") != std::string_view::npos) return {};
  const auto same = [](char a, char b) { return lower(a) == lower(b); };
  std::string_view spelling;
  for (auto at = expression.begin();; ++at) {
    at = std::search(at, expression.end(), keyword.begin(), keyword.end(), same);
    if (at == expression.end()) return spelling;
    const std::string_view found =
        expression.substr(static_cast<std::size_t>(at - expression.begin()), keyword.size());
    if (!spelling.empty() && found != spelling) return {};
    spelling = found;
  }
}

// Only names that end in the same letter can be the end of one.
struct ByLastLetter {
  static char last(std::string_view text) { return text.empty() ? '\0' : text.back(); }
  static char last(const NamedSecret& named) { return last(named.ending); }
  template <typename A, typename B>
  bool operator()(const A& a, const B& b) const {
    return last(a) < last(b);
  }
};

// The fields of a pattern, read in one pass.
struct Fields {
  yaml::Node name, pattern, keywords, entropy, decodes, words, only, begins, beside, random,
      severity;
};
constexpr std::pair<std::string_view, yaml::Node Fields::*> kFields[] = {
    {"name", &Fields::name},       {"pattern", &Fields::pattern},  {"keywords", &Fields::keywords},
    {"entropy", &Fields::entropy}, {"decodes", &Fields::decodes},  {"words", &Fields::words},
    {"only", &Fields::only},       {"begins", &Fields::begins},    {"beside", &Fields::beside},
    {"random", &Fields::random},   {"severity", &Fields::severity}};

Fields fields_of(const yaml::Node& row) {
  Fields fields;
  for (const auto& [key, value] : row.entries()) {
    for (const auto& [name, field] : kFields) {
      if (name == key.as_string()) {
        fields.*field = value;
        break;
      }
    }
  }
  return fields;
}

}  // namespace

const re2::RE2& LazyExpression::get() const {
  std::call_once(once_,
                 [&] { compiled_ = std::make_unique<re2::RE2>(piece(text_), re2::RE2::Quiet); });
  return *compiled_;
}

bool LazyExpression::is_in(std::string_view text) const {
  return re2::RE2::PartialMatch(piece(text), get());
}

bool decodes_to(std::string_view encoded, const LazyExpression& expression) {
  const std::optional<std::string> held = from_base64(encoded);
  return held && is_readable(*held) && expression.is_in(*held);
}

Rules::Rules(std::span<const yaml::Node> specs, bool thorough, diag::Sink& sink) {
  for (const yaml::Node& spec : specs) {
    for (const yaml::Node& row : spec.get("patterns").items()) add_pattern(row, thorough, sink);
    for (const yaml::Node& row : spec.get("names").items()) add_name(row);
    for (const yaml::Node& word : spec.get("neutralWords").items()) {
      neutral_.push_back(word.as_string());
    }
    const auto add = [&](const char* field, auto& to) {
      for (const yaml::Node& expression : spec.get(field).items()) {
        if (!compiles(expression, thorough, sink)) continue;
        to.push_back(std::make_unique<LazyExpression>(expression.as_string()));
      }
    };
    add("placeholders", placeholders_);
    add("harmless", harmless_);
  }
  std::stable_sort(slots_.begin(), slots_.end(),
                   [](const Slot& a, const Slot& b) { return a.window < b.window; });
  std::stable_sort(names_.begin(), names_.end(), ByLastLetter());
}

bool Rules::compiles(const yaml::Node& expression, bool thorough, diag::Sink& sink) const {
  if (!thorough) return true;
  const re2::RE2 compiled(piece(expression.as_string()), re2::RE2::Quiet);
  if (compiled.ok()) return true;
  sink.error(kFaultyRule, expression.origin(), "this rule on secrets is no regular expression")
      .got(compiled.error())
      .expect("an expression of RE2");
  return false;
}

void Rules::add_pattern(const yaml::Node& row, bool thorough, diag::Sink& sink) {
  const Fields fields = fields_of(row);
  if (!compiles(fields.pattern, thorough, sink)) return;
  if (!fields.decodes.is_null() && !compiles(fields.decodes, thorough, sink)) return;
  const std::string_view pattern = fields.pattern.as_string();
  auto made = std::make_unique<Pattern>(fields.name.as_string(), pattern);
  made->least_entropy = fields.entropy.as_real();
  if (const auto words = fields.words.items(); words.size() == 2) {
    made->least_word = static_cast<std::size_t>(std::max<std::int64_t>(words[0].as_integer(), 1));
    made->most_word = static_cast<std::size_t>(std::max<std::int64_t>(words[1].as_integer(), 1));
  }
  made->only = characters_of(fields.only.as_string());
  made->begins = characters_of(fields.begins.as_string());
  if (const std::string_view beside = fields.beside.as_string(); !beside.empty()) {
    made->beside = beside.front();
  }
  made->random = fields.random.as_boolean();
  made->sure = fields.severity.as_string() != "warning";
  if (fields.decodes.is_string()) {
    made->decodes = std::make_unique<LazyExpression>(fields.decodes.as_string());
  }
  const auto index = static_cast<std::int32_t>(patterns_.size());
  for (const yaml::Node& keyword : fields.keywords.items()) {
    add_keyword(keyword.as_string(), index, only_spelling(keyword.as_string(), pattern));
  }
  if (made->least_word != 0) patterns_of_words_.push_back(made.get());
  patterns_.push_back(std::move(made));
}

void Rules::add_name(const yaml::Node& row) {
  NamedSecret named;
  named.ending = row.get("ending").as_string();
  named.name = row.get("name").as_string();
  named.whole = row.get("whole").as_boolean();
  named.any = row.get("any").as_boolean();
  if (row.get("decodes").is_string()) {
    named.decodes = std::make_unique<LazyExpression>(row.get("decodes").as_string());
  }
  const yaml::Node keyword = row.get("keyword");
  add_keyword(keyword.is_string() ? keyword.as_string() : named.ending, -1);
  names_.push_back(std::move(named));
}

void Rules::add_keyword(std::string_view text, std::int32_t pattern, std::string_view exact) {
  if (text.size() < kLeastKeyword) return;
  std::uint32_t window = 0;
  for (std::size_t i = 0; i < kLeastKeyword; ++i) window = next_window(window, text[i]);
  const auto same = [&](const Slot& slot) {
    return slot.window == window && slot.keyword.pattern == pattern && slot.keyword.text == text;
  };
  const bool known = starts_[window] && std::any_of(slots_.begin(), slots_.end(), same);
  if (known) return;
  starts_.set(window);
  slots_.push_back({window, {text, pattern, exact}});
}

std::vector<Rules::Slot>::const_iterator Rules::first_of(std::uint32_t window) const {
  return std::lower_bound(
      slots_.begin(), slots_.end(), window,
      [](const Slot& slot, std::uint32_t wanted) { return slot.window < wanted; });
}

bool Rules::stands_at(std::string_view keyword, std::string_view text, std::size_t at) {
  if (text.size() - at < keyword.size()) return false;
  for (std::size_t i = 0; i < keyword.size(); ++i) {
    if (lower(text[at + i]) != lower(keyword[i])) return false;
  }
  return true;
}

const NamedSecret* Rules::named(std::string_view identifier) const {
  if (identifier.size() < kLeastKeyword || identifier.size() > kMostName) return nullptr;
  Words words(identifier);
  while (words.count() > 1 &&
         std::find(neutral_.begin(), neutral_.end(), words.last()) != neutral_.end()) {
    words.pop_word();
  }
  if (words.count() == 0) return nullptr;
  const auto find = [&](std::string_view last, std::string_view whole) -> const NamedSecret* {
    const auto [first, behind] =
        std::equal_range(names_.begin(), names_.end(), whole, ByLastLetter());
    const auto found = std::find_if(first, behind, [&](const NamedSecret& named) {
      return named.whole ? last == named.ending : whole.ends_with(named.ending);
    });
    return found == behind ? nullptr : &*found;
  };
  if (const NamedSecret* found = find(words.last(), words.all())) return found;
  if (!words.all().ends_with('s')) return nullptr;
  words.pop_letter();
  return find(words.last(), words.all());
}

bool Rules::is_placeholder(std::string_view value) const {
  return std::any_of(placeholders_.begin(), placeholders_.end(),
                     [&](const auto& expression) { return expression->is_in(value); });
}

bool Rules::is_harmless(std::string_view word) const {
  return std::any_of(harmless_.begin(), harmless_.end(),
                     [&](const auto& expression) { return expression->is_in(word); });
}

}  // namespace gpuctl::secrets
