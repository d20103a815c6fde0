#include "document/decode.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "document/codes.hpp"
#include "yaml/held.hpp"
#include "yaml/path.hpp"
#include "yaml/read.hpp"

namespace gpuctl::document {

namespace {

using yaml::Entry;
using yaml::Node;

constexpr std::string_view kReader = "x-gpuctl-reader";
constexpr std::string_view kSecret = "x-gpuctl-secret";
constexpr std::string_view kText = "x-gpuctl-text";
// A text is read in a copy of its file only when that is not so many times longer: many small texts
// in a large file would cost its square.
constexpr std::size_t kMostAround = 64;

// What YAML 1.1 readers take for a boolean when it stands without quotes.
std::optional<bool> old_boolean(std::string_view text) {
  constexpr std::string_view kTrue[] = {"y", "Y", "yes", "Yes", "YES", "on", "On", "ON"};
  constexpr std::string_view kFalse[] = {"n", "N", "no", "No", "NO", "off", "Off", "OFF"};
  if (std::find(std::begin(kTrue), std::end(kTrue), text) != std::end(kTrue)) return true;
  if (std::find(std::begin(kFalse), std::end(kFalse), text) != std::end(kFalse)) return false;
  return std::nullopt;
}

// A text of a format has a decoder of its own in the reader, which takes texts alone.
bool has_own_decoder(const Node& schema) {
  return schema.get("type").as_string() == "string" && schema.find("format") != nullptr;
}

// Whether the reader cannot tell the value from none. Of another type than the field's it is no
// empty value but a mistake, and where at least one is asked for, none is one, too.
bool is_empty(const Node& schema, const Node& value) {
  const std::string_view type = schema.get("type").as_string();
  if (value.is_string() && value.size() == 0) {
    return type.empty() ||
           (type == "string" && schema.find("minLength") == nullptr && !has_own_decoder(schema));
  }
  if (value.is_list() && value.size() == 0) {
    return type.empty() || (type == "array" && schema.find("minItems") == nullptr);
  }
  return value.is_null();
}

// How the value of a document becomes one of the reader's types.
struct Reader {
  bool go = false;        // as Go's decoder: other case, null and empty as absent
  bool converts = false;  // numbers and booleans become text where text is wanted

  Reader below(const Node& schema) const {
    const std::string_view written = schema.get(kReader).as_string();
    if (written == "go") return {true, true};
    if (written == "json") return {true, false};
    return *this;
  }
};

class Decoder {
 public:
  Decoder(yaml::Context context, Texts texts)
      : sources_(context.sources), arena_(context.arena), sink_(context.sink), texts_(texts) {}

  Node decode(const Node& schema, const Node& value, Reader reader) {
    reader = reader.below(schema);
    if (schema.get(kSecret).as_boolean()) {
      sources_.hide(value.origin());
      has_secrets_ = true;
    }
    if (texts_ != Texts::closed && value.is_string() && schema.get(kText).as_string() == "yaml") {
      const std::optional<Node> tree = held(value);
      return !tree || tree->is_string() ? value : decode(schema, *tree, reader);
    }
    if (value.is_map()) return map(schema, value, reader);
    if (value.is_list()) return list(schema, value, reader);
    if (reader.go && schema.get("format").as_string() == "cidr") return network(value);
    return reader.converts && !has_own_decoder(schema) ? scalar(schema, value) : value;
  }

  bool has_secrets() const { return has_secrets_; }

 private:
  // The tree in a text. Where the text stands in its file as it is (a block `|`), what is around it
  // is blanked, so that every place in the tree is a place in that file. An empty text is an empty
  // map, as Go decodes it.
  std::optional<Node> held(const Node& value) {
    std::string name = path_.substr(path_.starts_with('.') ? 1 : 0);
    std::string text(value.as_string());
    const std::vector<std::uint32_t> offsets = texts_ == Texts::in_place
                                                   ? yaml::scalar_offsets(sources_, value)
                                                   : std::vector<std::uint32_t>();
    const diag::Span* span = sources_.span(value.origin());
    if (span != nullptr) name = std::string(sources_.file_name(span->file)) + ", " + name;
    if (span != nullptr && !offsets.empty() &&
        sources_.file_text(span->file).size() <= kMostAround * (text.size() + kMostAround)) {
      const std::string_view file = sources_.file_text(span->file);
      std::string blanked(file);
      for (char& c : blanked) c = c == '\n' ? c : ' ';
      bool verbatim = true;
      for (std::size_t i = 0; i < text.size(); ++i) {
        verbatim = verbatim && offsets[i] < file.size() && file[offsets[i]] == text[i];
        if (verbatim) blanked[offsets[i]] = text[i];
      }
      if (verbatim) {
        name = sources_.file_name(span->file);
        text = std::move(blanked);
      }
    }
    const std::optional<Node> tree =
        yaml::read(sources_.add_file(name, text), sources_, arena_, sink_, yaml::held_limits());
    if (tree && tree->is_null()) return arena_.map(std::span<const Entry>(), value.origin());
    return tree;
  }

  // The declared field that a reader takes the key for: the same, or the first in another case.
  static const Entry* field_for(const Node& properties, std::string_view key, bool go) {
    const Entry* same = properties.find_entry(key);
    if (same != nullptr || !go) return same;
    const std::string folded = base::to_lower(key);
    for (const Entry& entry : properties.entries()) {
      if (base::to_lower(entry.key.as_string()) == folded) return &entry;
    }
    return nullptr;
  }

  Node map(const Node& schema, const Node& value, Reader reader) {
    const Node properties = schema.get("properties");
    const Node additional = schema.get("additionalProperties");
    yaml::MapBuilder out;
    for (const Entry& entry : value.entries()) {
      const std::size_t length = path_.size();
      path_ += yaml::key_step(entry.key.as_string());
      const Entry* field = field_for(properties, entry.key.as_string(), reader.go);
      if (field != nullptr) {
        declared(*field, entry, reader, out);
      } else {
        out.set(entry.key, member(additional, entry.value, reader));
      }
      path_.resize(length);
    }
    return out.build(arena_, value.origin());
  }

  void declared(const Entry& field, const Entry& entry, Reader reader, yaml::MapBuilder& out) {
    const std::string_view name = field.key.as_string();
    const std::string_view written = entry.key.as_string();
    if (name != written) {
      diag::Diagnostic& warning =
          sink_.warning(kOtherCase, entry.key.origin(),
                        "`" + std::string(written) + "` is read as `" + std::string(name) + "`");
      warning.path = path_.substr(path_.starts_with('.') ? 1 : 0);
      warning.label("another case than the field's")
          .expect("`" + std::string(name) + "`")
          .suggest("write `" + std::string(name) + "`: other tools compare letter by letter");
    }
    const Node value = decode(field.value, entry.value, reader);
    if (reader.below(field.value).go && is_empty(field.value, value)) return;
    const Node key = name == written ? entry.key : Node::view(name, entry.key.origin());
    out.set(key, value);
  }

  // An item of a list, or a value of a map with arbitrary keys: Go has no absent ones, and null
  // leaves the zero value of the type.
  Node member(const Node& schema, const Node& value, Reader reader) {
    if (!reader.below(schema).go || !value.is_null()) return decode(schema, value, reader);
    const std::string_view type = schema.get("type").as_string();
    if (type == "string" && !has_own_decoder(schema)) return arena_.string("", value.origin());
    if (type == "object") return arena_.map(std::span<const Entry>(), value.origin());
    if (type == "integer") return Node::integer(0, value.origin());
    if (type == "boolean") return Node::boolean(false, value.origin());
    return value;
  }

  Node list(const Node& schema, const Node& value, Reader reader) {
    const Node items = schema.get("items");
    std::vector<Node> out;
    for (const Node& item : value.items()) {
      const std::size_t length = path_.size();
      path_ += "[" + std::to_string(out.size()) + "]";
      out.push_back(member(items, item, reader));
      path_.resize(length);
    }
    return arena_.list(out, value.origin());
  }

  // Go reads `10.0.0.0/016`, and writes it back as others do.
  Node network(const Node& value) {
    const std::string_view text = value.as_string();
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) return value;
    std::string_view length = text.substr(slash + 1);
    while (length.size() > 1 && length.front() == '0') length.remove_prefix(1);
    if (length.size() == text.size() - slash - 1) return value;
    return arena_.string(std::string(text.substr(0, slash + 1)) + std::string(length),
                         value.origin());
  }

  Node scalar(const Node& schema, const Node& value) {
    const std::string_view type = schema.get("type").as_string();
    if (type == "string" && (value.is_number() || value.is_boolean())) return text(schema, value);
    if (type == "integer" && value.is_real()) {
      const double real = value.as_real();
      constexpr double kExact = 9007199254740992.0;  // 2^53
      if (std::trunc(real) == real && std::abs(real) <= kExact) {
        return Node::integer(static_cast<std::int64_t>(real), value.origin());
      }
    }
    if (value.is_string()) {
      const std::string_view written = sources_.text(value.origin());
      const std::optional<bool> old =
          written == value.as_string() ? old_boolean(written) : std::nullopt;
      if (old && type == "boolean") return Node::boolean(*old, value.origin());
    }
    return value;
  }

  Node text(const Node& schema, const Node& value) {
    const std::string written(sources_.text(value.origin()));
    std::string taken = value.is_boolean()   ? (value.as_boolean() ? "true" : "false")
                        : value.is_integer() ? std::to_string(value.as_integer())
                                             : base::format_real(value.as_real());
    if (taken != written && !written.empty() && !schema.get(kSecret).as_boolean()) {
      diag::Diagnostic& warning = sink_.warning(
          kTakenAsText, value.origin(), "`" + written + "` is read as the text `" + taken + "`");
      warning.path = path_.substr(path_.starts_with('.') ? 1 : 0);
      warning.suggest("put it in quotes: `\"" + written + "\"`");
    }
    return arena_.string(taken, value.origin());
  }

  diag::Sources& sources_;
  yaml::Arena& arena_;
  diag::Sink& sink_;
  Texts texts_;
  bool has_secrets_ = false;
  std::string path_;
};

}  // namespace

Decoded decode(const yaml::Node& definition, const yaml::Node& document, yaml::Context context,
               Texts texts) {
  Decoder decoder(context, texts);
  const Node tree = decoder.decode(definition, document, Reader());
  return {tree, decoder.has_secrets()};
}

}  // namespace gpuctl::document
