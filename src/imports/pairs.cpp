#include "imports/pairs.hpp"

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "imports/difference.hpp"

namespace gpuctl::imports {

namespace {

// Parts in a thousand that are the same.
std::size_t likeness(const yaml::Node& a, const yaml::Node& b) {
  const std::size_t all = leaves(a) + leaves(b);
  std::size_t other = 0;
  for (const Difference& difference : differences(a, b)) {
    if (!difference.wanted.is_null()) other += leaves(difference.wanted);
    if (!difference.made.is_null()) other += leaves(difference.made);
  }
  return other >= all ? 0 : (all - other) * 1000 / all;
}

// The value at a dotted path.
yaml::Node at(yaml::Node node, std::string_view dotted) {
  for (const std::string_view step : base::split(dotted, '.')) node = node.get(step);
  return node;
}

bool may_be_one(const Object& object, const Made& made) {
  if (made.only_by_name || made.kind.group.empty()) return false;
  return made.identity.empty() ||
         yaml::equal(at(object.written, made.identity), at(made.body, made.identity));
}

std::string key_of(const schema::KindRef& kind) {
  return kind.group + "/" + kind.kind;
}

}  // namespace

std::vector<Pair> pair_up(const std::vector<Object>& objects, const std::vector<Made>& made,
                          const std::function<bool(std::size_t)>& left_out) {
  std::vector<Pair> pairs;
  std::map<std::string, std::size_t> by_name;
  for (std::size_t i = 0; i < made.size(); ++i) {
    by_name.emplace(key_of(made[i].kind) + " " + made[i].name, i);
  }
  std::vector<bool> taken(made.size(), false);
  std::vector<bool> paired(objects.size(), false);
  const auto pair = [&](std::size_t object, std::size_t document) {
    pairs.push_back({object, document});
    paired[object] = true;
    taken[document] = true;
  };
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (objects[i].twin) continue;
    const auto found = by_name.find(key_of(objects[i].kind) + " " + objects[i].name);
    if (found != by_name.end() && !taken[found->second]) pair(i, found->second);
  }
  // A manifest without a namespace goes wherever it is applied: to the only one of its name.
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (objects[i].twin || paired[i] || objects[i].name.find('/') != std::string::npos) continue;
    std::vector<std::size_t> alike;
    for (std::size_t j = 0; j < made.size(); ++j) {
      const bool same = !taken[j] && key_of(made[j].kind) == key_of(objects[i].kind) &&
                        made[j].name.ends_with("/" + objects[i].name);
      if (same) alike.push_back(j);
    }
    if (alike.size() == 1) pair(i, alike.front());
  }
  struct Candidate {
    std::size_t likeness;
    Pair pair;
  };
  constexpr std::size_t kLeastLikeness = 350;
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    for (std::size_t j = 0; !objects[i].twin && !paired[i] && j < made.size(); ++j) {
      if (taken[j] || !may_be_one(objects[i], made[j])) continue;
      if (key_of(objects[i].kind) != key_of(made[j].kind)) continue;
      const std::size_t like = likeness(objects[i].written, made[j].body);
      if (like >= kLeastLikeness) candidates.push_back({like, {i, j}});
    }
  }
  std::erase_if(candidates,
                [&](const Candidate& candidate) { return left_out(candidate.pair.object); });
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.likeness > b.likeness; });
  for (const Candidate& candidate : candidates) {
    if (!paired[candidate.pair.object] && !taken[candidate.pair.made]) {
      pair(candidate.pair.object, candidate.pair.made);
    }
  }
  std::sort(pairs.begin(), pairs.end(),
            [](const Pair& a, const Pair& b) { return a.object < b.object; });
  return pairs;
}

}  // namespace gpuctl::imports
