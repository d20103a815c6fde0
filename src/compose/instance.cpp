#include <utility>

#include "cel/collections.hpp"
#include "cel/opaque.hpp"
#include "compose/body.hpp"
#include "compose/codes.hpp"
#include "yaml/emit.hpp"
#include "yaml/merge_patch.hpp"

namespace gpuctl::compose {

namespace {

void add_secret_paths(const Piece& piece, const std::string& path, std::vector<std::string>& out) {
  if (!piece.has_secret) return;
  if (piece.kind == Piece::Kind::secret) out.push_back(path);
  for (const std::unique_ptr<Piece>& item : piece.items) add_secret_paths(*item, path, out);
  for (const std::unique_ptr<Piece>& item : piece.merged) add_secret_paths(*item, path, out);
  for (const Piece::Field& field : piece.fields) {
    const std::string key(field.key.as_string());
    add_secret_paths(*field.value, path.empty() ? key : path + "." + key, out);
  }
}

}  // namespace

std::vector<std::string> secret_paths(const Piece& piece) {
  std::vector<std::string> out;
  add_secret_paths(piece, "", out);
  return out;
}

std::optional<cel::Value> Instance::value(const cel::Text& text, std::span<const cel::Value> values,
                                          bool unwrap) {
  std::vector<diag::Origin> reads;
  cel::TextOutcome outcome =
      cel::evaluate(text, values, arena_, provenance_ == nullptr ? nullptr : &reads);
  if (outcome.error) {
    if (fault_) return std::nullopt;
    fault_ = Fault{std::move(*outcome.error), *outcome.at};
    if (provenance_ != nullptr) {
      fault_->evaluation = provenance_->add({text.scalar, "", std::move(reads)});
    }
    return std::nullopt;
  }
  if (unwrap) outcome.value = cel::unwrapped(std::move(outcome.value));
  if (provenance_ != nullptr && outcome.value.is_node()) {
    reads_.insert(reads_.end(), reads.begin(), reads.end());
    return provenance_->mark_result({text.scalar, "", std::move(reads)}, outcome.value.node(),
                                    arena_);
  }
  return std::move(outcome.value);
}

std::optional<yaml::Node> Instance::make(const Piece& piece, std::vector<cel::Value>& values) {
  if (piece.condition) {
    const std::optional<cel::Value> condition = value(*piece.condition, values);
    if (!condition || !condition->is_node() || !condition->node().as_boolean()) return std::nullopt;
  }
  switch (piece.kind) {
    case Piece::Kind::constant:
      return piece.written;
    case Piece::Kind::text: {
      const std::optional<cel::Value> made = value(piece.text, values, true);
      if (!made || made->is_omit()) return std::nullopt;
      if (!made->is_node()) {
        cel::EvalError error;
        error.message = "a document cannot hold a value of type " + cel::foreign_type(*made);
        if (!fault_) fault_ = Fault{std::move(error), piece.text.parts.front().expression};
        return std::nullopt;
      }
      return placed(made->node(), piece.written.origin());
    }
    case Piece::Kind::lines:
      return make_lines(piece, values);
    case Piece::Kind::list:
      return make_list(piece, values);
    case Piece::Kind::map: {
      const std::optional<yaml::Node> made = make_map(piece, values);
      if (!made || piece.patch == nullptr) return made;
      const std::optional<yaml::Node> patch = make(*piece.patch, values);
      if (!patch) return fault_ ? std::nullopt : made;
      return yaml::merge_patch(*made, *patch, arena_);
    }
    case Piece::Kind::value:
      return make(*piece.items.front(), values);
    case Piece::Kind::yaml_text:
    case Piece::Kind::json_text:
      return make_text(piece, values);
    case Piece::Kind::secret: {
      if (!resolve_) return std::nullopt;
      const std::optional<cel::Value> reference = value(piece.text, values);
      if (!reference || !reference->is_node()) return std::nullopt;
      const std::optional<std::string> secret = resolve_(reference->node(), piece.checked_as);
      if (!secret) return std::nullopt;
      return arena_.string(*secret, piece.written.origin());
    }
  }
  return std::nullopt;
}

std::optional<yaml::Node> Instance::make_text(const Piece& piece, std::vector<cel::Value>& values) {
  std::vector<diag::Origin> before = std::exchange(reads_, {});
  const std::optional<yaml::Node> node = make(*piece.items.front(), values);
  const std::vector<diag::Origin> reads = std::exchange(reads_, std::move(before));
  if (!node) return std::nullopt;
  const std::string text =
      piece.kind == Piece::Kind::yaml_text ? yaml::emit(*node) : yaml::emit_json(*node);
  const yaml::Node made = arena_.string(text, piece.written.origin());
  if (provenance_ == nullptr) return made;
  reads_.insert(reads_.end(), reads.begin(), reads.end());
  return provenance_->mark_result({piece.written, "", reads}, made, arena_);
}

std::optional<yaml::Node> Instance::make_lines(const Piece& piece,
                                               std::vector<cel::Value>& values) {
  LineWriter writer(arena_, sources_, provenance_);
  const std::optional<std::string> text = writer.write(piece.lines, values);
  reads_.insert(reads_.end(), writer.reads().begin(), writer.reads().end());
  if (!text) {
    if (!fault_) fault_ = writer.fault();
    return std::nullopt;
  }
  const yaml::Node made = arena_.string(*text, piece.written.origin());
  if (provenance_ == nullptr) return made;
  return provenance_->mark_result({piece.written, "", writer.reads()}, made, arena_);
}

std::optional<yaml::Node> Instance::make_map(const Piece& piece, std::vector<cel::Value>& values) {
  yaml::MapBuilder merged;
  for (const std::unique_ptr<Piece>& item : piece.merged) {
    std::vector<yaml::Node> parts;
    repeat(*item, 0, values, parts);
    if (fault_) return std::nullopt;
    for (const yaml::Node& part : parts) {
      for (const yaml::Entry& entry : part.entries()) merged.set(entry.key, entry.value);
    }
  }
  std::vector<yaml::Entry> entries;
  entries.reserve(piece.fields.size());
  bool computed = !piece.merged.empty();
  for (const Piece::Field& field : piece.fields) {
    yaml::Node key = field.key;
    if (field.text) {
      const std::optional<cel::Value> made = value(*field.text, values);
      if (!made) return std::nullopt;
      if (made->is_omit()) continue;
      key = placed(made->node(), field.key.origin());
      computed = true;
    }
    const std::optional<yaml::Node> made = make(*field.value, values);
    if (fault_) return std::nullopt;
    if (!made) continue;
    if (piece.merged.empty()) {
      entries.push_back({key, *made});
    } else {
      merged.set(key, *made);
    }
  }
  if (!piece.merged.empty()) return merged.build(arena_, piece.written.origin());
  if (computed) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (!yaml::equal(entries[i].key, entries[j].key)) continue;
        sink_
            .error(kDuplicateKey, entries[i].key.origin(),
                   "computed key `" + std::string(entries[i].key.as_string()) + "` twice")
            .also(entries[j].key.origin(), "first here");
        return std::nullopt;
      }
    }
  }
  return arena_.map(entries, piece.written.origin());
}

std::optional<yaml::Node> Instance::make_list(const Piece& piece, std::vector<cel::Value>& values) {
  std::vector<yaml::Node> items;
  items.reserve(piece.items.size());
  for (const std::unique_ptr<Piece>& item : piece.items) {
    repeat(*item, 0, values, items);
    if (fault_) return std::nullopt;
  }
  return arena_.list(items, piece.written.origin());
}

void Instance::repeat(const Piece& piece, std::size_t loop, std::vector<cel::Value>& values,
                      std::vector<yaml::Node>& out) {
  if (loop == piece.loops.size()) {
    const std::optional<yaml::Node> made = make(piece, values);
    if (made) out.push_back(*made);
    return;
  }
  const std::optional<cel::Value> list = value(piece.loops[loop].list, values);
  if (!list || !list->is_node()) return;
  for (const yaml::Node& item : list->node().items()) {
    values.emplace_back(item);
    repeat(piece, loop + 1, values, out);
    values.pop_back();
    if (fault_) return;
  }
}

}  // namespace gpuctl::compose
