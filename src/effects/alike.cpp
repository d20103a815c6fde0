#include "effects/alike.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/text.hpp"
#include "yaml/emit.hpp"

namespace gpuctl::effects {

namespace {

bool is_part_of_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// `text` with a placeholder for each of `names`, where it stands as a whole word or as a part of a
// name with hyphens.
std::string without(std::string_view text, const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const bool begins = i == 0 || !is_part_of_word(text[i - 1]);
    const auto found = !begins
                           ? names.end()
                           : std::find_if(names.begin(), names.end(), [&](const std::string& name) {
                               const std::size_t end = i + name.size();
                               return text.substr(i, name.size()) == name &&
                                      (end >= text.size() || !is_part_of_word(text[end]));
                             });
    if (found == names.end()) {
      out += text[i++];
    } else {
      out += '\0';
      out += std::to_string(found - names.begin());
      i += found->size();
    }
  }
  return out;
}

// Everything that is said of a change, without the cluster's own names.
std::string likeness(const ClusterChange& change) {
  // Most clusters of a fleet have no change, and then nothing else is said.
  if (!change.changed) return {};
  std::vector<std::string> names = change.own_names;
  std::erase(names, "");
  // The longer of two names may begin with the other.
  std::stable_sort(names.begin(), names.end(),
                   [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
  ClusterChange anonymous = change;
  anonymous.cluster.clear();
  yaml::Arena arena;
  return without(yaml::emit_json(json(anonymous, arena)), names) + change.choices;
}

}  // namespace

std::vector<std::vector<std::size_t>> alike(const std::vector<ClusterChange>& changes) {
  std::vector<std::vector<std::size_t>> out;
  std::unordered_map<std::string, std::size_t> groups;  // looked up only
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const auto [found, is_new] = groups.emplace(likeness(changes[i]), out.size());
    if (is_new) out.emplace_back();
    out[found->second].push_back(i);
  }
  return out;
}

}  // namespace gpuctl::effects
