#include <algorithm>

#include "base/text.hpp"
#include "compose/body.hpp"
#include "compose/codes.hpp"

namespace gpuctl::compose {

namespace {

const std::vector<std::string> kStructural = {"$if",   "$forEach", "$merge",     "$patch", "$yaml",
                                              "$json", "$secret",  "$checkedAs", "$value"};

using PiecePtr = std::unique_ptr<Piece>;

// A key of ours, known or not, and no key that is computed.
bool is_structural(std::string_view key) {
  return key.starts_with('$') && !key.starts_with("${");
}

class BodyCompiler {
 public:
  BodyCompiler(diag::Sources& sources, diag::Sink& sink) : sources_(sources), sink_(sink) {}

  PiecePtr piece(const yaml::Node& node, const cel::Environment& environment, bool is_item) {
    switch (node.kind()) {
      case yaml::Kind::string:
        return scalar(node, environment);
      case yaml::Kind::list:
        return list(node, environment);
      case yaml::Kind::map:
        return map(node, environment, is_item);
      default:
        return constant(node);
    }
  }

 private:
  static PiecePtr constant(const yaml::Node& node) {
    auto piece = std::make_unique<Piece>();
    piece->written = node;
    return piece;
  }

  std::optional<cel::Text> text(const yaml::Node& node, const cel::Environment& environment) {
    if (node.is_string()) return cel::compile_text(node, environment, sources_, sink_);
    sink_.error(kFaultyBody, node.origin(), "an expression is needed here")
        .expect("`${...}`")
        .got(std::string(yaml::kind_name(node.kind())));
    return std::nullopt;
  }

  PiecePtr scalar(const yaml::Node& node, const cel::Environment& environment) {
    if (has_directives(node.as_string())) {
      std::optional<Lines> lines = compile_lines(node, environment, sources_, sink_);
      if (!lines) return nullptr;
      auto piece = std::make_unique<Piece>();
      piece->kind = Piece::Kind::lines;
      piece->written = node;
      piece->lines = std::move(*lines);
      return piece;
    }
    if (!cel::has_expression(node.as_string())) return constant(node);
    std::optional<cel::Text> compiled = cel::compile_text(node, environment, sources_, sink_);
    if (!compiled) return nullptr;
    auto piece = std::make_unique<Piece>();
    piece->kind = Piece::Kind::text;
    piece->written = node;
    piece->text = std::move(*compiled);
    return piece;
  }

  PiecePtr list(const yaml::Node& node, const cel::Environment& environment) {
    auto out = std::make_unique<Piece>();
    out->kind = Piece::Kind::list;
    out->written = node;
    bool all_constant = true;
    for (const yaml::Node& item : node.items()) {
      PiecePtr compiled = piece(item, environment, true);
      if (compiled == nullptr) return nullptr;
      all_constant = all_constant && compiled->kind == Piece::Kind::constant;
      out->has_secret = out->has_secret || compiled->has_secret;
      out->items.push_back(std::move(compiled));
    }
    if (all_constant) return constant(node);
    return out;
  }

  PiecePtr map(const yaml::Node& node, const cel::Environment& outer, bool is_item) {
    const bool directed =
        std::any_of(node.entries().begin(), node.entries().end(),
                    [](const yaml::Entry& entry) { return is_structural(entry.key.as_string()); });
    std::optional<cel::Environment> inner;  // with the variables of `$forEach`
    if (directed && node.find("$forEach") != nullptr) inner = outer;
    auto out = std::make_unique<Piece>();
    out->kind = Piece::Kind::map;
    out->written = node;
    if (directed && !structural(node, outer, inner, is_item, *out)) return nullptr;
    const cel::Environment& environment = inner ? *inner : outer;
    if (out->kind != Piece::Kind::map) return out;
    bool all_constant =
        !out->condition && out->loops.empty() && out->merged.empty() && out->patch == nullptr;
    for (const yaml::Entry& entry : node.entries()) {
      const std::string_view key = entry.key.as_string();
      if (is_structural(key)) {
        if (std::find(kStructural.begin(), kStructural.end(), key) != kStructural.end()) continue;
        sink_
            .error(kFaultyBody, entry.key.origin(),
                   "unknown structural key `" + std::string(key) + "`")
            .did_you_mean(key, kStructural);
        return nullptr;
      }
      Piece::Field field;
      field.key = entry.key;
      if (cel::has_expression(key)) {
        field.text = cel::compile_text(entry.key, environment, sources_, sink_);
        if (!field.text || !check_key(*field.text)) return nullptr;
        all_constant = false;
      }
      field.value = piece(entry.value, environment, false);
      if (field.value == nullptr) return nullptr;
      all_constant = all_constant && field.value->kind == Piece::Kind::constant;
      out->has_secret = out->has_secret || field.value->has_secret;
      out->fields.push_back(std::move(field));
    }
    if (all_constant) return constant(node);
    return out;
  }

  bool check_key(const cel::Text& key) {
    if (!key.is_whole() || cel::is_stored(*key.parts.front().expression.program)) return true;
    const cel::Type type = cel::type_of(*key.parts.front().expression.program);
    if (type.is_dyn() || type.kind() == cel::TypeKind::string) return true;
    sink_.error(kFaultyBody, key.scalar.origin(), "a computed key must be a string")
        .got(type.text())
        .suggest("wrap it in `string(...)`");
    return false;
  }

  // Handles the `$` keys of a mapping. `inner`, there when it loops, grows by the loop variables.
  bool structural(const yaml::Node& node, const cel::Environment& outer,
                  std::optional<cel::Environment>& inner, bool is_item, Piece& out) {
    const cel::Environment& environment = inner ? *inner : outer;
    if (const yaml::Node* loops = node.find("$forEach")) {
      if (!is_item || !loops->is_map()) {
        sink_.error(kFaultyBody, loops->origin(), "`$forEach` cannot stand here")
            .expect("a mapping `{variable: ${list}}` on a list item");
        return false;
      }
      for (const yaml::Entry& loop : loops->entries()) {
        std::optional<cel::Text> compiled = text(loop.value, environment);
        if (!compiled) return false;
        cel::LazyType element{cel::Type()};
        if (compiled->is_whole()) {
          element = cel::LazyType([program = compiled->parts.front().expression.program] {
            return cel::type_of(*program).element();
          });
        }
        inner->variables.push_back({std::string(loop.key.as_string()), std::move(element)},
                                   loop.value.as_string());
        out.loops.push_back({std::string(loop.key.as_string()), std::move(*compiled)});
      }
    }
    if (const yaml::Node* condition = node.find("$if")) {
      out.condition = text(*condition, environment);
      if (!out.condition) return false;
    }
    if (const yaml::Node* merged = node.find("$merge")) {
      if (!merged->is_list()) {
        sink_.error(kFaultyBody, merged->origin(), "`$merge` wants a list of mappings");
        return false;
      }
      for (const yaml::Node& item : merged->items()) {
        PiecePtr compiled = piece(item, environment, true);
        if (compiled == nullptr) return false;
        out.has_secret = out.has_secret || compiled->has_secret;
        out.merged.push_back(std::move(compiled));
      }
    }
    if (const yaml::Node* patch = node.find("$patch")) {
      out.patch = piece(*patch, environment, true);
      if (out.patch == nullptr) return false;
    }
    return replacing(node, environment, out);
  }

  // `$value`, `$yaml`, `$json`, `$secret`: the mapping becomes something else and has no other
  // fields.
  bool replacing(const yaml::Node& node, const cel::Environment& environment, Piece& out) {
    constexpr std::string_view kReplacing[] = {"$value", "$yaml", "$json", "$secret"};
    std::string_view found;
    for (const std::string_view key : kReplacing) {
      if (node.find(key) != nullptr) found = key;
    }
    if (found.empty()) return true;
    for (const yaml::Entry& entry : node.entries()) {
      const std::string_view key = entry.key.as_string();
      const bool beside =
          key == "$if" || key == "$forEach" || (key == "$checkedAs" && found == "$secret");
      if (key != found && !beside) {
        sink_
            .error(kFaultyBody, entry.key.origin(),
                   "`" + std::string(key) + "` beside `" + std::string(found) + "`")
            .suggest("`" + std::string(found) +
                     "` replaces the whole mapping; remove the other keys");
        return false;
      }
    }
    const yaml::Node inner = node.get(found);
    if (found == "$secret") {
      std::optional<cel::Text> reference = text(inner, environment);
      if (!reference) return false;
      out.kind = Piece::Kind::secret;
      out.text = std::move(*reference);
      out.checked_as = node.get("$checkedAs").as_string();
      out.has_secret = true;
      return true;
    }
    PiecePtr compiled = piece(inner, environment, true);
    if (compiled == nullptr) return false;
    out.kind = found == "$value"  ? Piece::Kind::value
               : found == "$yaml" ? Piece::Kind::yaml_text
                                  : Piece::Kind::json_text;
    out.has_secret = compiled->has_secret;
    out.items.push_back(std::move(compiled));
    return true;
  }

  diag::Sources& sources_;
  diag::Sink& sink_;
};

}  // namespace

std::unique_ptr<Piece> compile_body(const yaml::Node& body, const cel::Environment& environment,
                                    diag::Sources& sources, diag::Sink& sink) {
  return BodyCompiler(sources, sink).piece(body, environment, false);
}

}  // namespace gpuctl::compose
