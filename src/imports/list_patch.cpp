#include "imports/list_patch.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <span>

#include "base/text.hpp"
#include "imports/difference.hpp"
#include "imports/patch.hpp"
#include "yaml/emit.hpp"
#include "yaml/item_names.hpp"

namespace gpuctl::imports {

using yaml::Node;

namespace {

// RFC 6901.
std::string pointer_below(const std::string& pointer, std::string_view token) {
  std::string out = pointer + "/";
  for (const char c : token) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

std::string pointer_below(const std::string& pointer, std::size_t index) {
  return pointer + "/" + std::to_string(index);
}

bool all_scalars(const Node& list) {
  const auto items = list.items();
  return std::all_of(items.begin(), items.end(),
                     [](const Node& item) { return item.is_scalar() && !item.is_null(); });
}

// Scalars are their own names, unless one is there twice.
std::optional<yaml::ItemNames> value_names(const Node& made, const Node& wanted) {
  if (!all_scalars(made) || !all_scalars(wanted)) return std::nullopt;
  yaml::ItemNames out;
  const auto names = [](const Node& list, std::vector<std::string>& into) {
    for (const Node& item : list.items()) into.push_back(yaml::emit_json(item));
    std::vector<std::string> sorted = into;
    std::sort(sorted.begin(), sorted.end());
    return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
  };
  if (!names(made, out.first) || !names(wanted, out.second)) return std::nullopt;
  return out;
}

// RFC 6901, the other way.
std::string unescaped(std::string_view token) {
  std::string out;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] == '~' && i + 1 < token.size()) {
      out += token[++i] == '1' ? '/' : '~';
    } else {
      out += token[i];
    }
  }
  return out;
}

// The most names that both have and that follow each other in both; of several choices, one of
// those that begin with the earliest names of `others`.
std::vector<std::string> in_order(const std::vector<std::string>& names,
                                  const std::vector<std::string>& others) {
  // length[i][j]: how many there are in the rest of one list from i on, and of the other from j on.
  std::vector<std::vector<std::size_t>> length(names.size() + 1,
                                               std::vector<std::size_t>(others.size() + 1, 0));
  for (std::size_t i = names.size(); i-- > 0;) {
    for (std::size_t j = others.size(); j-- > 0;) {
      length[i][j] = names[i] == others[j] ? length[i + 1][j + 1] + 1
                                           : std::max(length[i + 1][j], length[i][j + 1]);
    }
  }
  std::vector<std::string> out;
  for (std::size_t i = 0, j = 0; i < names.size() && j < others.size();) {
    if (names[i] == others[j]) {
      out.push_back(names[i++]);
      ++j;
    } else if (length[i + 1][j] >= length[i][j + 1]) {
      ++i;
    } else {
      ++j;
    }
  }
  return out;
}

// Operations on one list; `weight` is what they put there, in scalars. What they take away says
// nothing of what stays.
class Operations {
 public:
  explicit Operations(yaml::Arena& arena) : arena_(arena) {}

  // Makes `wanted` of `made`. False when that is no less than all of the list.
  bool lists(const Node& wanted, const Node& made, const std::string& pointer) {
    const std::size_t known = out_.size();
    const std::size_t weight = weight_;
    if (items(wanted, made, pointer) && weight_ - weight < leaves(wanted)) return true;
    out_.resize(known);
    weight_ = weight;
    return false;
  }

  std::span<const Node> all() const { return out_; }

 private:
  bool items(const Node& wanted, const Node& made, const std::string& pointer) {
    if (wanted.size() == 0 || made.size() == 0) return false;
    auto names = yaml::item_names(made, wanted);
    if (!names) names = value_names(made, wanted);
    if (names && named(wanted, made, *names, pointer)) return true;
    if (names && (names->fields.empty() || surely_named(*names))) return false;
    const std::size_t both = std::min(wanted.size(), made.size());
    for (std::size_t i = 0; i < both; ++i) {
      value(wanted.items()[i], made.items()[i], pointer_below(pointer, i));
    }
    for (std::size_t i = made.size(); i > both; --i) remove(pointer_below(pointer, i - 1));
    for (std::size_t i = both; i < wanted.size(); ++i) {
      set("add", pointer_below(pointer, "-"), wanted.items()[i]);
    }
    return true;
  }

  // Other fields may just happen to differ.
  static bool surely_named(const yaml::ItemNames& names) {
    return names.fields.front() == "name" || names.fields.front() == "key";
  }

  // Items that leave the order of the others go and come again. False, and no operation, when
  // none keeps its place.
  bool named(const Node& wanted, const Node& made, const yaml::ItemNames& names,
             const std::string& pointer) {
    const bool tell = names.fields.empty() || surely_named(names) || made.size() > 1;
    const std::vector<std::string> kept = in_order(names.first, names.second);
    if (kept.empty()) return false;
    const auto keeps = [&](const std::string& name) {
      return std::find(kept.begin(), kept.end(), name) != kept.end();
    };
    std::map<std::string_view, Node> by_name;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (keeps(names.second[i])) by_name[names.second[i]] = wanted.items()[i];
    }
    for (std::size_t i = 0; i < made.size(); ++i) {
      const auto same = by_name.find(names.first[i]);
      if (same == by_name.end() || differences(same->second, made.items()[i]).empty()) continue;
      if (tell) test(made.items()[i], names.fields, pointer_below(pointer, i));
      value(same->second, made.items()[i], pointer_below(pointer, i));
    }
    for (std::size_t i = made.size(); i > 0; --i) {
      if (by_name.contains(names.first[i - 1])) continue;
      if (tell) test(made.items()[i - 1], names.fields, pointer_below(pointer, i - 1));
      remove(pointer_below(pointer, i - 1));
    }
    std::size_t length = kept.size();
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (keeps(names.second[i])) continue;
      const std::string at = i == length ? pointer_below(pointer, "-") : pointer_below(pointer, i);
      set("add", at, wanted.items()[i]);
      ++length;
    }
    return true;
  }

  void value(const Node& wanted, const Node& made, const std::string& pointer) {
    if (wanted.is_map() && made.is_map()) return maps(wanted, made, pointer);
    if (wanted.is_list() && made.is_list() && lists(wanted, made, pointer)) return;
    if (!differences(wanted, made).empty()) set("replace", pointer, wanted);
  }

  void maps(const Node& wanted, const Node& made, const std::string& pointer) {
    for (const yaml::Entry& entry : wanted.entries()) {
      const std::string_view key = entry.key.as_string();
      const Node* there = made.find(key);
      if (entry.value.is_null()) continue;
      if (there == nullptr) {
        set("add", pointer_below(pointer, key), entry.value);
      } else {
        value(entry.value, *there, pointer_below(pointer, key));
      }
    }
    for (const yaml::Entry& entry : made.entries()) {
      const std::string_view key = entry.key.as_string();
      if (wanted.get(key).is_null() && !entry.value.is_null()) remove(pointer_below(pointer, key));
    }
  }

  // Without fields the item itself is what it must be.
  void test(const Node& item, const std::vector<std::string_view>& fields,
            const std::string& pointer) {
    if (fields.empty()) return operation("test", pointer, &item);
    for (const std::string_view field : fields) {
      const Node name = item.get(field);
      operation("test", pointer_below(pointer, field), &name);
    }
  }

  void set(std::string_view op, const std::string& pointer, const Node& value) {
    weight_ += leaves(value);
    operation(op, pointer, &value);
  }

  void remove(const std::string& pointer) { operation("remove", pointer, nullptr); }

  void operation(std::string_view op, const std::string& pointer, const Node* value) {
    yaml::MapBuilder out;
    out.set(arena_, "op", arena_.string(op));
    out.set(arena_, "path", arena_.string(pointer));
    if (value != nullptr) out.set(arena_, "value", *value);
    out_.push_back(out.build(arena_));
  }

  yaml::Arena& arena_;
  std::vector<Node> out_;
  std::size_t weight_ = 0;
};

// The patch without the lists that operations change; nothing when nothing is left.
std::optional<Node> without_lists(const Node& patch, const Node& made, const std::string& pointer,
                                  Operations& operations, yaml::Arena& arena) {
  if (patch.is_list() && made.is_list() && operations.lists(patch, made, pointer)) {
    return std::nullopt;
  }
  if (!patch.is_map() || !made.is_map()) return patch;
  yaml::MapBuilder out;
  for (const yaml::Entry& entry : patch.entries()) {
    const std::string_view key = entry.key.as_string();
    const auto below =
        without_lists(entry.value, made.get(key), pointer_below(pointer, key), operations, arena);
    if (below) out.set(arena, key, *below);
  }
  if (out.empty() && patch.size() != 0) return std::nullopt;
  return out.build(arena);
}

}  // namespace

bool operator==(const SplitPatch& a, const SplitPatch& b) {
  return yaml::equal(a.merge, b.merge) && yaml::equal(a.operations, b.operations);
}

Node as_written(const Node& patch, const Node& wanted, yaml::Arena& arena) {
  if (patch.is_list() && wanted.is_list()) return wanted;
  if (!patch.is_map() || !wanted.is_map()) return patch;
  yaml::MapBuilder out;
  for (const yaml::Entry& entry : patch.entries()) {
    out.set(arena, entry.key.as_string(),
            as_written(entry.value, wanted.get(entry.key.as_string()), arena));
  }
  return out.build(arena);
}

SplitPatch split_lists(const Node& patch, const Node& made, yaml::Arena& arena) {
  Operations operations(arena);
  SplitPatch out;
  out.merge = without_lists(patch, made, {}, operations, arena).value_or(Node());
  if (!operations.all().empty()) out.operations = arena.list(operations.all());
  return out;
}

std::vector<std::string> changed_by(const Node& operations) {
  std::vector<std::string> out;
  for (const Node& operation : operations.items()) {
    if (operation.get("op").as_string() == "test") continue;
    std::string path;
    const std::string_view pointer = operation.get("path").as_string();
    for (const std::string_view token : base::split(pointer.substr(1), '/')) {
      const bool index =
          !token.empty() && token.find_first_not_of("0123456789") == std::string_view::npos;
      if (index || token == "-") {
        path += index ? "[" + std::string(token) + "]" : "";
      } else {
        path = step_below(path, unescaped(token));
      }
    }
    out.push_back(std::move(path));
  }
  return out;
}

}  // namespace gpuctl::imports
