#include "fields/rules_about.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"

namespace gpuctl::fields {

namespace {

using Chain = std::vector<std::string>;  // `pool.scaling.min`, its names

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Behind the text that begins with the quote at `at`.
std::size_t behind_text(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (++at; at < text.size() && text[at] != quote; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

// All names with the selections behind them: `a.?b.c(d)` has a.b.c and d.
void chains_in(std::string_view text, std::vector<Chain>& out) {
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '"' || text[at] == '\'') {
      at = behind_text(text, at);
      continue;
    }
    if (!is_name(text[at])) {
      ++at;
      continue;
    }
    Chain chain;
    for (;;) {
      const std::size_t begin = at;
      while (at < text.size() && is_name(text[at])) ++at;
      chain.emplace_back(text.substr(begin, at - begin));
      std::size_t next = at;
      if (next >= text.size() || text[next] != '.') break;
      ++next;
      if (next < text.size() && text[next] == '?') ++next;
      if (next >= text.size() || !is_name(text[next])) break;
      at = next;
    }
    out.push_back(std::move(chain));
  }
}

// What is one chain from its beginning to its end.
bool is_chain(std::string_view text, Chain& chain) {
  std::vector<Chain> found;
  chains_in(text, found);
  std::string plain;
  for (const char c : text) {
    if (c != '?' && c != ' ' && c != '\n') plain += c;
  }
  if (found.size() != 1 || base::join(found.front(), ".") != plain) return false;
  chain = std::move(found.front());
  return true;
}

using Names = std::map<std::string, yaml::Node>;  // variable -> its expression

void add_names(const yaml::Node& variables, Names& names) {
  for (const yaml::Entry& entry : variables.entries()) {
    names[std::string(entry.key.as_string())] = entry.value;
  }
}

// The chains of a rule, its variables followed as far as they are chains themselves.
class Reader {
 public:
  explicit Reader(Names names) : names_(std::move(names)) {}

  void read(const yaml::Node& expression) {
    if (!expression.is_string()) return;
    std::vector<Chain> found;
    chains_in(expression.as_string(), found);
    for (Chain& chain : found) {
      const auto variable = names_.find(chain.front());
      if (variable != names_.end()) {
        if (seen_.insert(chain.front()).second) read(variable->second);
        Chain front;
        if (is_chain(variable->second.as_string(), front)) {
          front.insert(front.end(), chain.begin() + 1, chain.end());
          chains_.push_back(std::move(front));
        }
      }
      chains_.push_back(std::move(chain));
    }
  }

  const std::vector<Chain>& chains() const { return chains_; }

 private:
  Names names_;
  std::set<std::string> seen_;
  std::vector<Chain> chains_;
};

// The wanted field as expressions have it.
struct Wanted {
  std::string list;  // name of the innermost list that it is in; empty: none
  Chain tail;        // behind the list, or the whole path
};

Wanted wanted_of(std::string_view path) {
  Wanted out;
  for (const std::string_view part : base::split(path, '.')) {
    const std::string name(part.substr(0, part.find('[')));
    if (name != "*") out.tail.push_back(name);
    if (part.ends_with("[]")) {
      out.list = name;
      out.tail.clear();
    }
  }
  return out;
}

bool is_read(const Wanted& wanted, const std::vector<Chain>& chains) {
  const auto has = [](const Chain& chain, const std::string& name) {
    return std::find(chain.begin(), chain.end(), name) != chain.end();
  };
  if (wanted.tail.empty()) return false;  // the items of a list
  const bool in_list = !wanted.list.empty();
  if (in_list && std::none_of(chains.begin(), chains.end(),
                              [&](const Chain& chain) { return has(chain, wanted.list); })) {
    return false;
  }
  return std::any_of(chains.begin(), chains.end(), [&](const Chain& chain) {
    if (chain.front() == "catalog" || chain.front() == "facts") return false;
    if (!in_list) {
      return chain.size() >= wanted.tail.size() &&
             std::equal(wanted.tail.begin(), wanted.tail.end(), chain.begin());
    }
    // Behind the name of the item, or behind what the item was written as.
    for (std::size_t begin = 1; begin <= 2 && begin + wanted.tail.size() <= chain.size(); ++begin) {
      if (begin == 2 && chain[1] != "written") break;
      if (std::equal(wanted.tail.begin(), wanted.tail.end(),
                     chain.begin() + static_cast<std::ptrdiff_t>(begin))) {
        return chain.front() != "spec" && chain.front() != "metadata";
      }
    }
    return false;
  });
}

void add_checks(const yaml::Node& definition, std::map<std::string, RuleAbout>& out) {
  if (!definition.is_map()) return;
  for (const yaml::Entry& check : definition.get("x-gpuctl-checks").entries()) {
    const std::string code(check.key.as_string());
    out.try_emplace(code, RuleAbout{code, std::string(check.value.as_string()), {}});
  }
  for (const yaml::Entry& field : definition.get("properties").entries()) {
    add_checks(field.value, out);
  }
  for (const char* key : {"items", "additionalProperties"}) add_checks(definition.get(key), out);
}

std::vector<RuleAbout> sorted(const std::map<std::string, RuleAbout>& found) {
  std::vector<RuleAbout> out;
  for (const auto& [code, rule] : found) out.push_back(rule);
  return out;
}

}  // namespace

std::vector<RuleAbout> checks_about(const Field& field) {
  std::map<std::string, RuleAbout> found;
  add_checks(field.definition, found);
  return sorted(found);
}

std::vector<RuleAbout> rules_about(const catalog::Platform& platform, std::string_view path) {
  const Wanted wanted = wanted_of(path);
  std::map<std::string, RuleAbout> found;
  Names of_platform;
  add_names(platform.variables, of_platform);
  for (const catalog::RuleFile& file : platform.rules) {
    Names of_file = of_platform;
    add_names(file.variables, of_file);
    for (const yaml::Node& rule : file.rules.items()) {
      Names names = of_file;
      add_names(rule.get("variables"), names);
      Reader reader(std::move(names));
      for (const char* key : {"when", "check", "at"}) reader.read(rule.get(key));
      for (const yaml::Entry& loop : rule.get("forEach").entries()) reader.read(loop.value);
      if (!is_read(wanted, reader.chains())) continue;
      std::string code(rule.get("code").as_string());
      found.try_emplace(code, RuleAbout{code, std::string(rule.get("severity").as_string()),
                                        std::string(rule.get("message").as_string())});
    }
  }
  return sorted(found);
}

}  // namespace gpuctl::fields
