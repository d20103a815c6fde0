// json.parse, json.encode, sha256, base64.encode, base64.decode, jwt.claims, shell.quote.
#include <limits>
#include <nlohmann/json.hpp>

#include "base/digest.hpp"
#include "base/text.hpp"
#include "cel/encoding.hpp"
#include "cel/functions.hpp"
#include "yaml/emit.hpp"

namespace gpuctl::cel {

namespace {
constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
}

std::string base64_encode(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k) {
      group = (group << 8U) | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out.push_back(k <= count ? kAlphabet[(group >> (18 - 6 * k)) & 63U] : '=');
    }
  }
  return out;
}

std::optional<std::string> base64_decode(std::string_view text, bool url) {
  std::size_t padding = 0;
  while (padding < 2 && !text.empty() && text.back() == '=') {
    text.remove_suffix(1);
    ++padding;
  }
  if (text.size() % 4 == 1 || (padding != 0 && (text.size() + padding) % 4 != 0)) {
    return std::nullopt;
  }
  std::string out;
  std::uint32_t group = 0;
  unsigned bits = 0;
  for (char c : text) {
    if (url && (c == '+' || c == '/')) return std::nullopt;
    if (url && c == '-') c = '+';
    if (url && c == '_') c = '/';
    const std::size_t value = kAlphabet.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    group = (group << 6U) | static_cast<std::uint32_t>(value);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out.push_back(static_cast<char>((group >> bits) & 0xFFU));
    }
  }
  return out;
}

namespace lib {

namespace {

// As deep as a YAML document may be.
constexpr std::size_t kDeepestJson = 64;

/// Builds nodes from a stream of JSON events; refuses what two readers could understand
/// differently (repeated keys) and what no document may hold.
class JsonReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit JsonReader(CallContext& context) : context_(context) {}

  yaml::Node root;
  std::string fault;
  bool out_of_steps = false;

  bool null() override { return add(yaml::Node::null()); }
  bool boolean(bool value) override { return add(yaml::Node::boolean(value)); }
  bool number_integer(number_integer_t value) override { return add(yaml::Node::integer(value)); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max())) {
      return add(yaml::Node::real(static_cast<double>(value)));
    }
    return add(yaml::Node::integer(static_cast<std::int64_t>(value)));
  }
  bool number_float(number_float_t value, const string_t&) override {
    return add(yaml::Node::real(value));
  }
  bool string(string_t& value) override { return add(context_.arena.string(value)); }
  bool binary(binary_t&) override { return refuse("binary data"); }
  bool start_object(std::size_t) override { return open(true); }
  bool start_array(std::size_t) override { return open(false); }
  bool key(string_t& value) override {
    for (const yaml::Entry& entry : stack_.back().entries) {
      if (entry.key.as_string() == value) return refuse("the key `" + value + "` twice");
    }
    if (!context_.charge(stack_.back().entries.size() / 8)) return stop();
    stack_.back().key = context_.arena.string(value);
    return true;
  }
  bool end_object() override {
    const yaml::Node node = context_.arena.map(stack_.back().entries);
    stack_.pop_back();
    return add(node);
  }
  bool end_array() override {
    const yaml::Node node = context_.arena.list(stack_.back().items);
    stack_.pop_back();
    return add(node);
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    fault = "an error at byte " + std::to_string(position);
    return false;
  }

 private:
  struct Level {
    bool is_map = false;
    yaml::Node key;
    std::vector<yaml::Node> items;
    std::vector<yaml::Entry> entries;
  };

  bool refuse(std::string what) {
    fault = std::move(what);
    return false;
  }
  bool stop() {
    out_of_steps = true;
    return false;
  }
  bool open(bool is_map) {
    if (stack_.size() >= kDeepestJson) return refuse("deeper nesting than 64 levels");
    stack_.emplace_back();
    stack_.back().is_map = is_map;
    return true;
  }
  bool add(const yaml::Node& node) {
    if (!context_.charge(1)) return stop();
    if (stack_.empty()) {
      root = node;
    } else if (stack_.back().is_map) {
      stack_.back().entries.push_back({stack_.back().key, node});
    } else {
      stack_.back().items.push_back(node);
    }
    return true;
  }

  CallContext& context_;
  std::vector<Level> stack_;
};

Outcome parse_json(std::string_view text, CallContext& context) {
  if (!context.charge(text.size() / 8)) return exhausted();
  if (text.starts_with("\xEF\xBB\xBF")) {
    return fail("the text is no acceptable JSON: it starts with a byte order mark");
  }
  JsonReader reader(context);
  bool good = false;
  try {
    good = nlohmann::json::sax_parse(text.begin(), text.end(), &reader);
  } catch (const std::exception& error) {
    reader.fault = error.what();
  }
  if (reader.out_of_steps) return exhausted();
  if (!good) return fail("the text is no acceptable JSON: it has " + reader.fault);
  return give(reader.root);
}

/// Text from decoded bytes: only UTF-8 may become a string.
Outcome decoded(std::optional<std::string> bytes, CallContext& context) {
  if (!bytes) return fail("the text is no base64");
  if (!base::valid_utf8(*bytes)) return fail("the decoded bytes are no UTF-8 text");
  return give_text(context, *bytes);
}

Outcome jwt_claims(Arguments args, CallContext& context) {
  const auto parts = base::split(args[0].node().as_string(), '.');
  if (parts.size() != 3) return fail("the text is no JSON web token: it needs three parts");
  const Outcome payload = decoded(base64_decode(parts[1], true), context);
  if (!payload.ok()) return fail("the text is no JSON web token: its payload is no base64 text");
  Outcome claims = parse_json(payload.value.node().as_string(), context);
  if (!claims.ok()) return claims;
  if (!claims.value.node().is_map()) {
    return fail("the text is no JSON web token: its payload is no object");
  }
  return claims;
}

// One word for a POSIX shell: in single quotes nothing is special but the quote itself (POSIX
// Shell Command Language, 2.2.2).
Outcome shell_quote(Arguments args, CallContext& context) {
  const std::string_view text = args[0].node().as_string();
  if (!context.charge(text.size() / 8)) return exhausted();
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return give_text(context, out + "'");
}

}  // namespace

void add_encoding(Functions& to) {
  function(to, "json.parse", {string()}, dyn(), [](Arguments args, CallContext& context) {
    return parse_json(args[0].node().as_string(), context);
  });
  function(to, "json.encode", {dyn()}, string(), [](Arguments args, CallContext& context) {
    if (!args[0].is_node()) return fail("JSON has no text for a value of this type");
    return give_text(context, yaml::emit_json(args[0].node()));
  });
  function(to, "sha256", {string()}, string(), [](Arguments args, CallContext& context) {
    const std::string_view text = args[0].node().as_string();
    if (!context.charge(text.size() / 8)) return exhausted();
    return give_text(context, base::sha256_hex(text));
  });
  function(to, "base64.encode", {string()}, lib::string(),
           [](Arguments args, CallContext& context) {
             return give_text(context, base64_encode(args[0].node().as_string()));
           });
  function(to, "base64.decode", {string()}, lib::string(),
           [](Arguments args, CallContext& context) {
             return decoded(base64_decode(args[0].node().as_string()), context);
           });
  function(to, "jwt.claims", {string()}, Type::map(string(), dyn()), jwt_claims);
  function(to, "shell.quote", {string()}, string(), shell_quote);
}

}  // namespace lib
}  // namespace gpuctl::cel
