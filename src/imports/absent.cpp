#include "imports/absent.hpp"

#include "imports/difference.hpp"

namespace gpuctl::imports {

namespace {

using yaml::Node;

class Walk {
 public:
  Walk(yaml::Arena& arena, std::vector<std::string>* restated)
      : arena_(arena), restated_(restated) {}

  Node map(const Node& absent, const Node& wanted, const Node& made, const std::string& path) {
    yaml::MapBuilder out(wanted);
    for (const yaml::Entry& field : absent.entries()) {
      const std::string_view key = field.key.as_string();
      const Node* had = wanted.find(key);
      const Node* has = made.find(key);
      if (had == nullptr && has == nullptr) continue;
      const std::string below = step_below(path, key);
      if (field.value.is_map() && field.value.size() != 0) {
        if ((had != nullptr && !had->is_map()) || (has != nullptr && !has->is_map())) continue;
        const Node empty = arena_.map(std::span<const yaml::Entry>());
        const Node value =
            map(field.value, had == nullptr ? empty : *had, has == nullptr ? empty : *has, below);
        if (value.size() == 0 && has == nullptr) {
          out.remove(key);
        } else if (had != nullptr || value.size() != 0) {
          out.set(arena_, key, value);
        }
      } else if (had != nullptr && has == nullptr && yaml::equal(*had, field.value)) {
        out.remove(key);
        differ(below);
      } else if (had == nullptr && has != nullptr && yaml::equal(*has, field.value)) {
        out.set(arena_, key, *has);
        differ(below);
      }
    }
    return out.build(arena_, wanted.origin());
  }

 private:
  void differ(const std::string& path) {
    if (restated_ != nullptr) restated_->push_back(path);
  }

  yaml::Arena& arena_;
  std::vector<std::string>* restated_;
};

}  // namespace

Node without_restated(const Node& absent, const Node& wanted, const Node& made, yaml::Arena& arena,
                      std::vector<std::string>* restated) {
  if (!absent.is_map() || !wanted.is_map() || !made.is_map()) return wanted;
  return Walk(arena, restated).map(absent, wanted, made, {});
}

}  // namespace gpuctl::imports
