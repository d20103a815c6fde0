// RFC 6902 on nodes.
#include <algorithm>

#include "base/text.hpp"
#include "render/codes.hpp"
#include "render/limits.hpp"
#include "render/overrides.hpp"

namespace gpuctl::render {

namespace {

using Tokens = std::vector<std::string>;

constexpr std::size_t kBytesPerStep = 16;

// RFC 6901: "/a~1b/0" -> {"a/b", "0"}; nothing when malformed.
std::optional<Tokens> parse_pointer(std::string_view text) {
  if (text.empty()) return Tokens{};
  if (text.front() != '/') return std::nullopt;
  Tokens tokens;
  for (const std::string_view part : base::split(text.substr(1), '/')) {
    std::string token;
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (part[i] != '~') {
        token += part[i];
      } else if (i + 1 < part.size() && (part[i + 1] == '0' || part[i + 1] == '1')) {
        token += part[++i] == '0' ? '~' : '/';
      } else {
        return std::nullopt;
      }
    }
    tokens.push_back(std::move(token));
  }
  return tokens;
}

std::optional<std::size_t> parse_index(const std::string& token, std::size_t size) {
  const std::optional<std::int64_t> index = base::parse_integer(token);
  if (!index || *index < 0 || static_cast<std::size_t>(*index) >= size) return std::nullopt;
  return static_cast<std::size_t>(*index);
}

const yaml::Node* at_pointer(const yaml::Node& root, std::span<const std::string> tokens) {
  const yaml::Node* at = &root;
  for (const std::string& token : tokens) {
    if (at->is_list()) {
      const std::optional<std::size_t> index = parse_index(token, at->size());
      if (!index) return nullptr;
      at = &at->items()[*index];
    } else {
      at = at->find(token);
      if (at == nullptr) return nullptr;
    }
  }
  return at;
}

enum class Edit { add, replace, remove };

// `root` with an edit at `tokens`; nothing when the place does not exist, or when the budget is
// used up.
std::optional<yaml::Node> edited(const yaml::Node& root, std::span<const std::string> tokens,
                                 Edit edit, const yaml::Node& value, yaml::Arena& arena,
                                 yaml::PatchBudget& budget) {
  if (!budget.spend(1 + (root.is_scalar() ? 0 : root.size()))) return std::nullopt;
  if (tokens.empty()) return edit == Edit::remove ? std::nullopt : std::optional(value);
  const std::string& token = tokens.front();
  const bool last = tokens.size() == 1;
  if (root.is_list()) {
    std::vector<yaml::Node> items(root.items().begin(), root.items().end());
    const bool append =
        last && edit == Edit::add && (token == "-" || token == std::to_string(items.size()));
    if (append) {
      items.push_back(value);
      return arena.list(items, root.origin());
    }
    const std::optional<std::size_t> index = parse_index(token, items.size());
    if (!index) return std::nullopt;
    const auto at = items.begin() + static_cast<std::ptrdiff_t>(*index);
    if (last && edit == Edit::remove) {
      items.erase(at);
    } else if (last && edit == Edit::add) {
      items.insert(at, value);
    } else {
      const std::optional<yaml::Node> child =
          edited(*at, tokens.subspan(1), edit, value, arena, budget);
      if (!child) return std::nullopt;
      *at = *child;
    }
    return arena.list(items, root.origin());
  }
  if (!root.is_map()) return std::nullopt;
  const yaml::Node* before = root.find(token);
  if (before == nullptr && !(last && edit == Edit::add)) return std::nullopt;
  yaml::MapBuilder builder(root);
  if (last && edit == Edit::remove) {
    builder.remove(token);
  } else {
    const std::optional<yaml::Node> child =
        last ? std::optional(value)
             : edited(*before, tokens.subspan(1), edit, value, arena, budget);
    if (!child) return std::nullopt;
    builder.set(arena, token, *child, value.origin());
  }
  return builder.build(arena, root.origin());
}

// The one place a document path is given by the user: says what is wrong with it.
std::optional<Tokens> pointer(const yaml::Node& operation, std::string_view key, diag::Sink& sink) {
  const yaml::Node written = operation.get(key);
  std::optional<Tokens> tokens =
      written.is_string() ? parse_pointer(written.as_string()) : std::nullopt;
  if (!tokens) {
    sink.error(kFaultyPatch, written.is_null() ? operation.origin() : written.origin(),
               "a patch operation needs `" + std::string(key) + "`")
        .expect("a JSON pointer such as `/spec/replicas`");
  }
  return tokens;
}

// Whether a document can hold the value at the path. A value may be a part of the document, and so
// twice as large after each operation: what is counted is the value as it would be written.
bool may_hold(const yaml::Node& value, const Tokens& path, const yaml::Node& operation,
              yaml::PatchBudget& budget, diag::Sink& sink) {
  const Extent extent = extent_of(value);
  if (extent.fits && path.size() + extent.depth <= kMostDocumentDepth) {
    budget.spend(extent.bytes / kBytesPerStep);
    return true;
  }
  const yaml::Node op = operation.get("op");
  const bool deep = extent.bytes <= kMostDocumentBytes;
  sink.error(kTooLarge, op.origin(),
             std::string("this operation makes the document too ") + (deep ? "deep" : "large"))
      .expect(deep ? "at most " + std::to_string(kMostDocumentDepth) + " levels"
                   : "at most " + std::to_string(kMostDocumentBytes) + " bytes");
  return false;
}

std::optional<yaml::Node> apply(const yaml::Node& target, const yaml::Node& operation,
                                yaml::Arena& arena, yaml::PatchBudget& budget, diag::Sink& sink) {
  static const std::vector<std::string> kOperations = {"add",  "remove", "replace",
                                                       "move", "copy",   "test"};
  const std::string name(operation.get("op").as_string());
  if (std::find(kOperations.begin(), kOperations.end(), name) == kOperations.end()) {
    const yaml::Node op = operation.get("op");
    sink.error(kFaultyPatch, op.is_null() ? operation.origin() : op.origin(),
               "unknown patch operation `" + name + "`")
        .expect("one of " + base::join(kOperations, ", "))
        .did_you_mean(name, kOperations);
    return std::nullopt;
  }
  const std::optional<Tokens> path = pointer(operation, "path", sink);
  if (!path) return std::nullopt;
  const yaml::Node path_node = operation.get("path");
  const auto missing = [&](const yaml::Node& at) {
    if (budget.exhausted()) return std::optional<yaml::Node>();  // said once, by the caller
    sink.error(kFaultyPatch, at.origin(),
               "`" + std::string(at.as_string()) + "` is not in the document")
        .label("nothing here to " + name);
    return std::optional<yaml::Node>();
  };
  yaml::Node value = operation.get("value");
  yaml::Node from_removed = target;
  if (name == "move" || name == "copy") {
    const std::optional<Tokens> from = pointer(operation, "from", sink);
    if (!from) return std::nullopt;
    const yaml::Node* source = at_pointer(target, *from);
    if (source == nullptr) return missing(operation.get("from"));
    value = *source;
    if (name == "move") {
      const std::optional<yaml::Node> rest =
          edited(target, *from, Edit::remove, value, arena, budget);
      if (!rest) return missing(operation.get("from"));
      from_removed = *rest;
    }
  } else if (name != "remove" && operation.find("value") == nullptr) {
    sink.error(kFaultyPatch, operation.origin(), "operation `" + name + "` needs `value`");
    return std::nullopt;
  }
  if (name == "test") {
    const yaml::Node* found = at_pointer(target, *path);
    if (found != nullptr && yaml::equal(*found, value)) return target;
    sink.error(kFaultyPatch, path_node.origin(), "the test of this patch failed")
        .label(found == nullptr ? "no such value" : "has another value");
    return std::nullopt;
  }
  const Edit edit = name == "remove" ? Edit::remove : name == "replace" ? Edit::replace : Edit::add;
  if (edit != Edit::remove && !may_hold(value, *path, operation, budget, sink)) return std::nullopt;
  std::optional<yaml::Node> out = edited(from_removed, *path, edit, value, arena, budget);
  if (!out) return missing(path_node);
  return out;
}

}  // namespace

std::optional<yaml::Node> json_patch(const yaml::Node& target, const yaml::Node& operations,
                                     yaml::Arena& arena, yaml::PatchBudget& budget,
                                     diag::Sink& sink) {
  if (!operations.is_list()) {
    sink.error(kFaultyPatch, operations.origin(),
               "a patch must be a mapping or a list of operations");
    return std::nullopt;
  }
  yaml::Node out = target;
  for (const yaml::Node& operation : operations.items()) {
    const std::optional<yaml::Node> next = apply(out, operation, arena, budget, sink);
    if (!next) return std::nullopt;
    out = *next;
  }
  return out;
}

}  // namespace gpuctl::render
