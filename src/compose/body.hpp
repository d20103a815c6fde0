// Bodies: YAML with `${CEL}` and structural keys, compiled once. The manifest of a template is one,
// and the value of a row of a derivation. Parts without expressions are shared by all they make.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cel/provenance.hpp"
#include "cel/scalar.hpp"
#include "compose/lines.hpp"
#include "diag/diagnostic.hpp"
#include "yaml/node.hpp"

namespace gpuctl::compose {

/// A compiled piece of a body.
struct Piece {
  enum class Kind : std::uint8_t {
    constant,
    text,
    lines,
    list,
    map,
    value,  // `$value`: its one item
    yaml_text,
    json_text,
    secret,
  };

  struct Field {
    yaml::Node key;                 // constant key
    std::optional<cel::Text> text;  // computed key
    std::unique_ptr<Piece> value;
  };

  Kind kind = Kind::constant;
  yaml::Node written;                          // where it stands; the value of a constant
  cel::Text text;                              // text; `secret`: the reference
  Lines lines;                                 // lines: text with directives between its lines
  std::string checked_as;                      // `secret`: see ResolveSecret
  std::vector<std::unique_ptr<Piece>> items;   // list; the node of yaml_text and json_text
  std::vector<Field> fields;                   // map
  std::vector<std::unique_ptr<Piece>> merged;  // map: `$merge`, before the fields
  std::unique_ptr<Piece> patch;                // map: `$patch`, RFC 7386, after the fields
  std::optional<cel::Text> condition;          // `$if`
  struct Loop {
    std::string variable;
    cel::Text list;
  };
  std::vector<Loop> loops;  // `$forEach`, only on list items
  bool has_secret = false;  // itself or below
};

/// Compiles a body. nullptr after diagnostics (GPU03xx, GPU0411, GPU0412).
std::unique_ptr<Piece> compile_body(const yaml::Node& body, const cel::Environment& environment,
                                    diag::Sources& sources, diag::Sink& sink);

/// Dotted paths (no indexes) of the `$secret`s of a body, with constant keys only.
std::vector<std::string> secret_paths(const Piece& piece);

/// Gives the value behind a secret reference; nothing when it cannot (reported by the resolver).
/// `checked_as`: the kind of document that says what is right for the value, or empty.
using ResolveSecret = std::function<std::optional<std::string>(const yaml::Node& reference,
                                                               std::string_view checked_as)>;

/// Instantiates bodies. One object for each that is made: keeps its fault instead of throwing.
class Instance {
 public:
  /// `resolve` empty: secrets are left out. With a `provenance`, values carry marks of it, which
  /// lead to places in `sources`.
  Instance(yaml::Arena& arena, const ResolveSecret& resolve, diag::Sources& sources,
           diag::Sink& sink, cel::Provenance* provenance)
      : arena_(arena), resolve_(resolve), sources_(sources), sink_(sink), provenance_(provenance) {}

  /// The document; nothing when it was omitted or a fault happened.
  std::optional<yaml::Node> make(const Piece& piece, std::vector<cel::Value>& values);
  /// Evaluates a text; nothing on a fault. With `unwrap` an optional gives what is in it, or
  /// omit().
  std::optional<cel::Value> value(const cel::Text& text, std::span<const cel::Value> values,
                                  bool unwrap = false);
  /// The node as a part of a document: it points at the place in the template that `written` has,
  /// which is what a fault in the document shows; with provenance it keeps its mark.
  yaml::Node placed(const yaml::Node& node, diag::Origin written) const {
    return provenance_ != nullptr ? node : node.with_origin(written);
  }
  const std::optional<Fault>& fault() const { return fault_; }

 private:
  std::optional<yaml::Node> make_text(const Piece& piece, std::vector<cel::Value>& values);
  std::optional<yaml::Node> make_lines(const Piece& piece, std::vector<cel::Value>& values);
  std::optional<yaml::Node> make_map(const Piece& piece, std::vector<cel::Value>& values);
  std::optional<yaml::Node> make_list(const Piece& piece, std::vector<cel::Value>& values);
  void repeat(const Piece& piece, std::size_t loop, std::vector<cel::Value>& values,
              std::vector<yaml::Node>& out);

  yaml::Arena& arena_;
  const ResolveSecret& resolve_;
  diag::Sources& sources_;
  diag::Sink& sink_;
  cel::Provenance* provenance_;
  std::vector<diag::Origin> reads_;  // of all evaluations since it was last cleared
  std::optional<Fault> fault_;
};

}  // namespace gpuctl::compose
