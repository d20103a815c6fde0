#include "secrets/search.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "diag/sources.hpp"
#include "secrets/assignments.hpp"
#include "secrets/ciphertext.hpp"
#include "secrets/decode.hpp"
#include "secrets/urls.hpp"
#include "secrets/words.hpp"
#include "yaml/path.hpp"
#include "yaml/read.hpp"

namespace gpuctl::secrets {

namespace {

constexpr std::size_t kMostDepth = 6;      // of wrappings
constexpr std::size_t kLeastSecret = 6;    // a shorter text without a name says nothing
constexpr std::size_t kLeastWrapped = 12;  // of base64
constexpr std::size_t kWholeLine = 56;     // wrapped base64 has lines of 60, 64 or 76
constexpr std::size_t kMostMatches = 64;   // of one pattern in one text
constexpr std::size_t kMostUnpacked = 8 * 1024 * 1024;
constexpr std::size_t kMostDocument = 1024 * 1024;
constexpr std::size_t kContext = 24;  // before a word, that says what it is

struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t size() const { return end - begin; }
};

re2::StringPiece subject_of(std::string_view text) {
  return {text.data(), text.size()};
}

std::string_view slice(std::string_view text, Range range) {
  return text.substr(range.begin, range.size());
}

// What is public and yet looks random: certificates and public keys between their lines.
std::vector<Range> public_blocks(std::string_view text) {
  constexpr std::string_view kBegin = "-----BEGIN ";
  constexpr std::string_view kEnd = "-----END ";
  std::vector<Range> out;
  for (std::size_t at = text.find(kBegin); at != std::string_view::npos;
       at = text.find(kBegin, at + kBegin.size())) {
    const std::size_t title_end = text.find("-----", at + kBegin.size());
    const std::string_view title = text.substr(at, title_end - at);
    if (title_end == std::string_view::npos || title.find("PRIVATE") != std::string_view::npos) {
      continue;
    }
    out.push_back({at, std::min(text.find(kEnd, title_end), text.size())});
  }
  return out;
}

// Words of what base64 is made of; lines of wrapped base64 are one.
std::vector<Range> long_words(std::string_view text, const std::vector<Range>& skipped) {
  std::vector<Range> out;
  for (std::size_t begin = 0; begin < text.size();) {
    if (!in_token(text[begin])) {
      ++begin;
      continue;
    }
    Range word{begin, begin};
    while (word.end < text.size() && in_token(text[word.end])) ++word.end;
    begin = word.end;
    if (word.size() < kLeastWrapped) continue;
    const bool skip = std::any_of(skipped.begin(), skipped.end(), [&](const Range& range) {
      return word.begin >= range.begin && word.begin < range.end;
    });
    if (skip) continue;
    if (!out.empty() && out.back().end < word.begin && out.back().size() >= kWholeLine) {
      const std::string_view between = text.substr(out.back().end, word.begin - out.back().end);
      if (between.find('\n') != std::string_view::npos &&
          between.find_first_not_of(" \t\r\n") == std::string_view::npos) {
        out.back().end = word.end;
        continue;
      }
    }
    out.push_back(word);
  }
  return out;
}

// False when no document of the YAML `text` is a map or a list: the first line of one has its first
// key, or begins with an indicator. Scripts and most prose are told from YAML by that.
bool may_hold_collection(std::string_view text) {
  bool begins = true;  // no line of this document was seen yet
  text = diag::without_byte_order_mark(text);
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.starts_with("---") || line.starts_with("...")) {
      begins = true;
      line.remove_prefix(3);
    }
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (!begins || first == std::string_view::npos || line[first] == '#' || line[0] == '%') {
      continue;
    }
    if (line.find(':') != std::string_view::npos ||
        std::string_view("-?{[!&*\"'").find(line[first]) != std::string_view::npos) {
      return true;
    }
    begins = false;
  }
  return false;
}

bool is_secret_object(const yaml::Node& map) {
  if (map.get("kind").as_string() != "Secret" ||
      map.get("apiVersion").as_string().find('/') != std::string_view::npos) {
    return false;
  }
  const auto holds = [](const yaml::Node& values) {
    return !values.is_null() && !(values.is_map() && values.size() == 0);
  };
  // SOPS leaves the form of the object and encrypts its values, each by itself.
  return (holds(map.get("data")) || holds(map.get("stringData"))) && !is_sops_object(map);
}

// What was found in one text, and in what it wraps.
class TextSearch {
 public:
  TextSearch(const Rules& rules, Budget& budget, Form form)
      : rules_(rules), budget_(budget), form_(form) {}

  std::vector<Hit> search(std::string_view text, std::size_t depth) {
    text_ = text;
    depth_ = depth;
    if (text.size() < kLeastSecret) return {};
    if (budget_.bytes < text.size()) {
      add({0, text.size()}, Sign::unsearched, true, "more than can be searched", "");
      return std::move(hits_);
    }
    budget_.bytes -= text.size();
    look_for_keywords();
    add_urls();
    const std::vector<Range> words = long_words(text, public_blocks(text));
    unwrap(words);
    try_words(words);
    for (const Range& word : words) add_if_random(word);
    return std::move(hits_);
  }

 private:
  void add(Range range, Sign sign, bool sure, std::string_view what, std::string how) {
    hits_.push_back({range.begin, range.end, sign, sure, std::string(what), std::move(how)});
  }

  void look_for_keywords() {
    std::set<std::int32_t> patterns;
    std::size_t named_until = 0;
    rules_.for_each_keyword(text_, [&](const Rules::Keyword& keyword, std::size_t at) {
      if (keyword.pattern >= 0) {
        patterns.insert(keyword.pattern);
        return;
      }
      if (at < named_until) return;
      const auto [begin, end] = identifier_at(text_, at);
      named_until = end;
      const NamedSecret* named = rules_.named(text_.substr(begin, end - begin));
      if (named != nullptr || !is_whole(begin, end)) names_seen_ = true;
      if (named != nullptr) add_assignment(*named, begin, end);
    });
    for (const std::int32_t index : patterns) {
      match(*rules_.patterns()[static_cast<std::size_t>(index)]);
    }
  }

  // Patterns without a fixed text, each where a word has its length.
  void try_words(const std::vector<Range>& words) {
    std::vector<Range> suspicious;
    for (const Range& word : words) {
      // What could be unwrapped is no key, whatever it holds.
      const bool wrapping = std::any_of(readable_.begin(), readable_.end(),
                                        [&](const Range& one) { return one.begin == word.begin; });
      if (!wrapping && is_suspicious(slice(text_, word))) suspicious.push_back(word);
    }
    for (const Pattern* pattern : rules_.patterns_of_words()) {
      const bool fits = std::any_of(suspicious.begin(), suspicious.end(),
                                    [&](const Range& word) { return this->fits(*pattern, word); });
      if (fits) match(*pattern);
    }
  }

  // To look at a word costs less than to compile an expression.
  bool fits(const Pattern& pattern, Range word) const {
    if (word.size() < pattern.least_word || word.size() > pattern.most_word) return false;
    const auto is = [&](std::size_t at) {
      return at < text_.size() && text_[at] == pattern.beside;
    };
    if (pattern.beside != '\0' && !is(word.begin - 1) && !is(word.end)) return false;
    const std::string_view text = slice(text_, word);
    if (pattern.begins.any() && !pattern.begins[static_cast<unsigned char>(text.front())])
      return false;
    return pattern.only.none() || std::all_of(text.begin(), text.end(), [&](char c) {
             return pattern.only[static_cast<unsigned char>(c)];
           });
  }

  void match(const Pattern& pattern) {
    const re2::RE2& expression = pattern.expression.get();
    if (!expression.ok()) return;
    re2::StringPiece groups[2];
    std::size_t from = 0;
    for (std::size_t found = 0; found < kMostMatches && from <= text_.size(); ++found) {
      if (!expression.Match(subject_of(text_), from, text_.size(), re2::RE2::UNANCHORED, groups,
                            expression.NumberOfCapturingGroups() > 0 ? 2 : 1)) {
        return;
      }
      const re2::StringPiece& secret = groups[1].data() != nullptr ? groups[1] : groups[0];
      const Range range{static_cast<std::size_t>(secret.data() - text_.data()),
                        static_cast<std::size_t>(secret.data() - text_.data()) + secret.size()};
      from = std::max<std::size_t>(
          static_cast<std::size_t>(groups[0].data() - text_.data()) + groups[0].size(), from + 1);
      groups[1] = re2::StringPiece();
      if (holds(pattern, slice(text_, range))) {
        add(range, Sign::pattern, pattern.sure, pattern.name, "");
      }
    }
  }

  bool holds(const Pattern& pattern, std::string_view secret) const {
    if (pattern.least_entropy > 0 && entropy(secret) < pattern.least_entropy) return false;
    if (pattern.random && !is_random(secret)) return false;
    if (pattern.least_word != 0 && is_public(secret)) return false;
    return pattern.decodes == nullptr || decodes_to(secret, *pattern.decodes);
  }

  // `word` is a part of the text; what stands before it says what it is.
  bool is_public(std::string_view word) const {
    const auto begin = static_cast<std::size_t>(word.data() - text_.data());
    const std::size_t before = std::min(begin, kContext);
    return rules_.is_harmless(text_.substr(begin - before, before + word.size()));
  }

  // Whether it can be no part of a longer name, which may be written with other characters.
  bool is_whole(std::size_t begin, std::size_t end) const {
    constexpr std::string_view kEnds = " \t\r\n\"'";
    const auto ends = [&](char c) { return kEnds.find(c) != std::string_view::npos; };
    return (begin == 0 || ends(text_[begin - 1])) && (end == text_.size() || ends(text_[end]));
  }

  void add_assignment(const NamedSecret& named, std::size_t begin, std::size_t end) {
    const std::optional<Assignment> found = assigned(text_, begin, end);
    if (!found) return;
    const std::string_view value = text_.substr(found->begin, found->end - found->begin);
    if (!is_secret_value(rules_, named, value)) return;
    if (!found->quoted) {
      // Code calls and selects; prose goes on.
      if (value.find_first_of("([{$") != std::string_view::npos) return;
      if (form_ == Form::prose && (found->prose || value.find('.') != std::string_view::npos) &&
          is_name(value)) {
        return;
      }
    }
    add({found->begin, found->end}, Sign::name, true, named.name, "");
  }

  void add_urls() {
    if (text_.find('@') == std::string_view::npos) return;
    for (const Credentials& found : credentials_in_urls(text_)) {
      const std::string_view secret = text_.substr(found.begin, found.end - found.begin);
      if (rules_.is_placeholder(secret)) continue;
      add({found.begin, found.end}, Sign::pattern, true,
          found.user_only ? "a URL with a token" : "a URL with a password", "");
    }
  }

  // Looks into `inner`, which stands in `range` of this text, wrapped.
  void look_into(Range range, std::string_view inner, const std::string& how) {
    if (depth_ == kMostDepth) {
      add(range, Sign::unsearched, true, "something wrapped too often", "");
      return;
    }
    for (Hit& hit : TextSearch(rules_, budget_, Form::prose).search(inner, depth_ + 1)) {
      add(range, hit.sign, hit.sure, hit.what, hit.how + how);
    }
  }

  void unwrap(const std::vector<Range>& words) {
    for (const Range& word : words) unwrap_base64(word);
    const Range all{0, text_.size()};
    if (text_.find('%') != std::string_view::npos) {
      if (const std::string plain = from_percent(text_); plain != text_) {
        look_into(all, plain, " in percent-encoding");
      }
    }
    if (std::string_view lines = escaped_lines(text_); !lines.empty()) {
      if (may_hold_collection(text_)) lines = text_;  // no part of a document is one
      const auto begin = static_cast<std::size_t>(lines.data() - text_.data());
      look_into({begin, begin + lines.size()}, from_escapes(lines), "");
    }
    // A file is read as a tree by whoever asks for its text.
    if (form_ == Form::prose && may_be_document()) look_into_documents();
  }

  void unwrap_base64(Range word) {
    const std::string_view text = slice(text_, word);
    const std::optional<std::string> held =
        may_wrap(text) ? from_base64(text) : std::optional<std::string>();
    if (!held) return;
    if (is_gzip(*held)) {
      bool cut = false;
      const std::optional<std::string> open = from_gzip(*held, kMostUnpacked, cut);
      if (cut) add(word, Sign::unsearched, true, "a large archive", "");
      if (open) look_into(word, *open, " in gzip in base64");
      readable_.push_back(word);
    } else if (is_readable(*held)) {
      look_into(word, *held, " in base64");
      readable_.push_back(word);
    }
  }

  // Parsing is dear: only what has names or wrapped values in it is worth it.
  bool may_be_document() const {
    if (text_.size() > kMostDocument) return false;
    const std::size_t first = text_.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return false;
    const bool json = text_[first] == '{' || text_[first] == '[';
    if (!json && text_.find('\n') == std::string_view::npos) return false;
    if (!names_seen_ && text_.find("Secret") == std::string_view::npos) return false;
    return json || may_hold_collection(text_);
  }

  void look_into_documents() {
    diag::Sources sources;
    yaml::Arena arena;
    diag::Sink unreadable;
    const diag::FileId file = sources.add_file("", std::string(text_));
    const auto documents = yaml::read_all(file, sources, arena, unreadable, yaml::kubectl_limits());
    if (!documents) return;
    if (depth_ == kMostDepth) {
      add({0, text_.size()}, Sign::unsearched, true, "something wrapped too often", "");
      return;
    }
    for (const yaml::Node& document : *documents) {
      if (!document.is_map() && !document.is_list()) continue;
      for (const Finding& finding : tree(document, "")) {
        const diag::Span* span = sources.span(finding.at);
        const Range range = span == nullptr || finding.hit.sign == Sign::object
                                ? Range{0, text_.size()}
                                : Range{span->begin, span->end};
        add(range, finding.hit.sign, finding.hit.sure, finding.hit.what, finding.hit.how);
      }
    }
  }

  std::vector<Finding> tree(const yaml::Node& document, const std::string& path) const;

  void add_if_random(Range word) {
    const auto covers = [&](const auto& range) {
      return range.begin < word.end && word.begin < range.end;
    };
    const std::string_view text = slice(text_, word);
    if (!is_random(text) || std::any_of(hits_.begin(), hits_.end(), covers) ||
        std::any_of(readable_.begin(), readable_.end(), covers)) {
      return;
    }
    if (is_public(text)) return;
    add(word, Sign::randomness, false, "a key or token", "");
  }

  const Rules& rules_;
  Budget& budget_;
  Form form_;
  std::string_view text_;
  std::size_t depth_ = 0;
  std::vector<Hit> hits_;
  std::vector<Range> readable_;  // words whose content was looked at
  bool names_seen_ = false;
};

// Where a value stands, as a chain on the stack: paths are needed only for findings.
struct Step {
  const Step* up = nullptr;
  std::string_view text;  // a key, or the beginning of the path
  const yaml::Node* item = nullptr;
  std::size_t index = 0;
};

std::string path_of(const Step* step) {
  if (step == nullptr) return {};
  std::string before = path_of(step->up);
  if (step->item != nullptr) return before + yaml::item_step(*step->item, step->index);
  if (step->up == nullptr) return std::string(step->text);
  const std::string key = yaml::key_step(step->text);
  const bool first = before.empty() || before.ends_with(':');
  return first && key.starts_with('.') ? before + key.substr(1) : before + key;
}

class TreeSearch {
 public:
  TreeSearch(const Rules& rules, Budget& budget, std::size_t depth)
      : rules_(rules), budget_(budget), depth_(depth) {}

  std::vector<Finding> search(const yaml::Node& root, const std::string& path) {
    const Step first{.text = path};
    node(root, "", first);
    return std::move(findings_);
  }

 private:
  void node(const yaml::Node& value, std::string_view name, const Step& here) {
    if (value.is_map()) return map(value, here);
    if (value.is_list()) return list(value, name, here);
    if (value.is_string()) scalar(value, name, value.as_string(), here);
  }

  void scalar(const yaml::Node& value, std::string_view name, std::string_view text,
              const Step& here) {
    const Hit* best = nullptr;
    std::vector<Hit> hits = TextSearch(rules_, budget_, Form::prose).search(text, depth_);
    if (const NamedSecret* named = rules_.named(name)) {
      // A text that happens to be YAML may be prose: `Password: ask the team`.
      const bool blanks = text.find(' ') != std::string_view::npos;
      const bool prose =
          depth_ > 0 && ((blanks && is_name(text)) || name.find(' ') != std::string_view::npos);
      if (!prose && is_secret_value(rules_, *named, text)) {
        hits.push_back({0, text.size(), Sign::name, true, std::string(named->name), ""});
      }
    }
    const bool encrypted = sealed_ ? is_sealed_value(text) : is_sops_value(text);
    for (const Hit& hit : hits) {
      if (encrypted && (hit.sign == Sign::randomness || hit.sign == Sign::name)) continue;
      if (best == nullptr || (hit.sure && !best->sure)) best = &hit;
    }
    if (best != nullptr) findings_.push_back({value.origin(), path_of(&here), value, *best});
  }

  void list(const yaml::Node& value, std::string_view name, const Step& here) {
    std::size_t index = 0;
    std::string_view option;  // `--password`, whose value is the next item
    for (const yaml::Node& item : value.items()) {
      const Step below{.up = &here, .item = &item, .index = index++};
      node(item, option.empty() ? name : option, below);
      const std::string_view text = item.as_string();
      option = text.starts_with("--") && text.find('=') == std::string_view::npos ? text : "";
    }
  }

  // A secret's field may hold a reference to it: `password: {name: x}`. What stands below has
  // names of its own.
  void map(const yaml::Node& value, const Step& here) {
    if (is_secret_object(value)) {
      const char* field = value.get("data").size() != 0 ? "data" : "stringData";
      const Step below{.up = &here, .text = field};
      findings_.push_back({value.find_entry(field)->key.origin(),
                           path_of(&below),
                           value,
                           {0, 0, Sign::object, true, "a Kubernetes Secret in clear", ""}});
      return;
    }
    const std::string_view entry_name = name_of_entry(value);
    const bool sealed = value.get("kind").as_string() == "SealedSecret";
    for (const yaml::Entry& entry : value.entries()) {
      const std::string_view key = entry.key.as_string();
      const Step below{.up = &here, .text = key};
      if (key.size() >= kLeastWrapped) scalar(entry.key, "", key, below);
      const bool is_value = key == "value" || key == "Value";
      const bool sealed_before = sealed_;
      const bool object_before = std::exchange(in_sealed_object_, in_sealed_object_ || sealed);
      sealed_ = sealed_ || (in_sealed_object_ && key == "encryptedData");
      node(entry.value, is_value && !entry_name.empty() ? entry_name : key, below);
      sealed_ = sealed_before;
      in_sealed_object_ = object_before;
    }
  }

  // The name in `{name: TOKEN, value: x}`, in a tag, or in an operation of a JSON patch.
  static std::string_view name_of_entry(const yaml::Node& map) {
    if (map.find("value") == nullptr && map.find("Value") == nullptr) return {};
    if (map.get("op").is_string() && map.get("path").is_string()) {
      std::string_view path = map.get("path").as_string();
      while (!path.empty()) {
        const std::size_t slash = path.rfind('/');
        const std::string_view last = path.substr(slash == std::string_view::npos ? 0 : slash + 1);
        if (last != "-" && last.find_first_not_of("0123456789") != std::string_view::npos) {
          return last;
        }
        if (slash == std::string_view::npos) break;
        path = path.substr(0, slash);
      }
      return {};
    }
    for (const char* field : {"name", "Name", "key", "Key"}) {
      if (map.get(field).is_string()) return map.get(field).as_string();
    }
    return {};
  }

  const Rules& rules_;
  Budget& budget_;
  std::size_t depth_;
  bool in_sealed_object_ = false;
  bool sealed_ = false;  // below `encryptedData` of one, where values are sealed
  std::vector<Finding> findings_;
};

std::vector<Finding> TextSearch::tree(const yaml::Node& document, const std::string& path) const {
  return TreeSearch(rules_, budget_, depth_ + 1).search(document, path);
}

}  // namespace

std::vector<Hit> Search::text(std::string_view text, Form form) const {
  return TextSearch(rules_, budget_, form).search(text, 0);
}

std::vector<Finding> Search::tree(const yaml::Node& root, const std::string& path) const {
  return TreeSearch(rules_, budget_, 0).search(root, path);
}

}  // namespace gpuctl::secrets
