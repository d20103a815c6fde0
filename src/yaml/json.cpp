#include "yaml/json.hpp"

#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

namespace gpuctl::yaml {

namespace {

using Json = nlohmann::json;

// Builds nodes from the parser's events.
class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(Arena& arena, std::string& why) : arena_(arena), why_(why) {}

  bool null() override { return add(Node::null()); }
  bool boolean(bool value) override { return add(Node::boolean(value)); }
  bool number_integer(number_integer_t value) override { return add(Node::integer(value)); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max())) {
      return add(Node::real(static_cast<double>(value)));
    }
    return add(Node::integer(static_cast<std::int64_t>(value)));
  }
  bool number_float(number_float_t value, const string_t& /*text*/) override {
    return add(Node::real(value));
  }
  bool string(string_t& text) override { return add(arena_.string(text)); }
  bool binary(binary_t& /*bytes*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return open(); }
  bool key(string_t& text) override {
    levels_.back().key = text;
    return true;
  }
  bool end_object() override {
    const Node made = levels_.back().map.build(arena_);
    levels_.pop_back();
    return add(made);
  }
  bool start_array(std::size_t /*size*/) override { return open(); }
  bool end_array() override {
    const Node made = arena_.list(levels_.back().items);
    levels_.pop_back();
    return add(made);
  }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    why_ = "is no JSON from byte " + std::to_string(position) + " on";
    return false;
  }

  std::optional<Node> result;

 private:
  struct Level {
    std::vector<Node> items;
    MapBuilder map;
    std::optional<std::string> key;
  };

  bool open() {
    if (levels_.size() == kMostJsonDepth) {
      why_ = "nests deeper than " + std::to_string(kMostJsonDepth) + " levels";
      return false;
    }
    levels_.emplace_back();
    return true;
  }

  bool add(const Node& node) {
    if (levels_.empty()) {
      result = node;
    } else if (Level& level = levels_.back(); level.key) {
      level.map.set(arena_, *level.key, node);
      level.key.reset();
    } else {
      level.items.push_back(node);
    }
    return true;
  }

  Arena& arena_;
  std::string& why_;
  std::vector<Level> levels_;
};

}  // namespace

std::optional<Node> read_json(std::string_view text, Arena& arena, std::string& why) {
  Builder builder(arena, why);
  if (!Json::sax_parse(text.begin(), text.end(), &builder)) return std::nullopt;
  return builder.result;
}

}  // namespace gpuctl::yaml
