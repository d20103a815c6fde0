// A reader for protocol buffer text format, as far as the CEL conformance suite uses it.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuctl::test {

struct ProtoMessage;

/// One field: a scalar (quoted or not), or a message.
struct ProtoField {
  std::string name;
  std::string scalar;
  bool quoted = false;
  std::shared_ptr<ProtoMessage> message;
};

struct ProtoMessage {
  std::vector<ProtoField> fields;

  const ProtoField* find(std::string_view name) const {
    for (const ProtoField& field : fields) {
      if (field.name == name) return &field;
    }
    return nullptr;
  }
  std::string text(std::string_view name) const {
    const ProtoField* field = find(name);
    return field == nullptr ? std::string() : field->scalar;
  }
  const ProtoMessage* message(std::string_view name) const {
    const ProtoField* field = find(name);
    return field == nullptr ? nullptr : field->message.get();
  }
};

class ProtoReader {
 public:
  explicit ProtoReader(std::string_view text) : text_(text) {}

  ProtoMessage read() {
    ProtoMessage message = fields('\0');
    if (at_ != text_.size()) fail("unexpected text");
    return message;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(what + " at byte " + std::to_string(at_));
  }

  void skip() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == ',' || c == ';') {
        ++at_;
      } else {
        return;
      }
    }
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  ProtoMessage fields(char close) {
    if (++depth_ > kDeepest) fail("messages nested too deep");
    ProtoMessage message = fields_within(close);
    --depth_;
    return message;
  }

  ProtoMessage fields_within(char close) {
    ProtoMessage message;
    while (true) {
      skip();
      if (at_ >= text_.size() || (close != '\0' && text_[at_] == close)) return message;
      ProtoField field;
      field.name = name();
      skip();
      const bool colon = at_ < text_.size() && text_[at_] == ':';
      if (colon) ++at_;
      skip();
      if (at_ >= text_.size()) fail("a field without value");
      if (text_[at_] == '[') {  // a repeated field in short form
        ++at_;
        for (skip(); peek() != ']'; skip()) {
          ProtoField item{field.name, {}, false, nullptr};
          value(item);
          message.fields.push_back(std::move(item));
        }
        ++at_;
        continue;
      }
      value(field);
      message.fields.push_back(std::move(field));
    }
  }

  std::string name() {
    const std::size_t begin = at_;
    if (peek() == '[') {  // [type.googleapis.com/...]
      while (at_ < text_.size() && text_[at_] != ']') ++at_;
      if (at_ >= text_.size()) fail("a name without `]`");
      ++at_;
    } else {
      while (at_ < text_.size() &&
             (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_')) {
        ++at_;
      }
    }
    if (at_ == begin) fail("no field name");
    return std::string(text_.substr(begin, at_ - begin));
  }

  void value(ProtoField& field) {
    const char c = peek();
    if (c == '{' || c == '<') {
      ++at_;
      const char close = c == '{' ? '}' : '>';
      field.message = std::make_shared<ProtoMessage>(fields(close));
      if (at_ >= text_.size()) fail("a message without end");
      ++at_;
      return;
    }
    if (c == '"' || c == '\'') {
      field.quoted = true;
      while (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
        field.scalar += string();
        skip();
      }
      return;
    }
    const std::size_t begin = at_;
    while (at_ < text_.size() &&
           std::string_view(" \n\t\r,;}>]#").find(text_[at_]) == std::string_view::npos) {
      ++at_;
    }
    if (at_ == begin) fail("no value");
    field.scalar = std::string(text_.substr(begin, at_ - begin));
  }

  std::uint32_t digits(int base, std::size_t most) {
    std::uint32_t value = 0;
    const std::size_t begin = at_;
    for (std::size_t i = 0; i < most && at_ < text_.size(); ++i) {
      const char c = text_[at_];
      int digit = -1;
      if (c >= '0' && c <= '9') digit = c - '0';
      if (c >= 'a' && c <= 'f') digit = c - 'a' + 10;
      if (c >= 'A' && c <= 'F') digit = c - 'A' + 10;
      if (digit < 0 || digit >= base) break;
      value = value * static_cast<std::uint32_t>(base) + static_cast<std::uint32_t>(digit);
      ++at_;
    }
    if (at_ == begin) fail("an escape without digits");
    return value;
  }

  static void put_code_point(std::string& out, std::uint32_t code) {
    const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
    if (code < 0x80) {
      put(code);
    } else if (code < 0x800) {
      put(0xC0U | (code >> 6));
      put(0x80U | (code & 0x3FU));
    } else if (code < 0x10000) {
      put(0xE0U | (code >> 12));
      put(0x80U | ((code >> 6) & 0x3FU));
      put(0x80U | (code & 0x3FU));
    } else {
      put(0xF0U | (code >> 18));
      put(0x80U | ((code >> 12) & 0x3FU));
      put(0x80U | ((code >> 6) & 0x3FU));
      put(0x80U | (code & 0x3FU));
    }
  }

  std::string string() {
    const char quote = text_[at_++];
    std::string out;
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] != '\\') {
        out.push_back(text_[at_++]);
        continue;
      }
      ++at_;
      const char c = peek();
      static constexpr std::string_view kLetters = "abfnrtv\\?\"'";
      static constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\\?\"'";
      if (const std::size_t known = kLetters.find(c); known != std::string_view::npos) {
        out.push_back(kMeanings[known]);
        ++at_;
      } else if (c >= '0' && c <= '7') {
        out.push_back(static_cast<char>(digits(8, 3)));
      } else if (c == 'x' || c == 'X') {
        ++at_;
        out.push_back(static_cast<char>(digits(16, 2)));
      } else if (c == 'u' || c == 'U') {
        ++at_;
        put_code_point(out, digits(16, c == 'u' ? 4 : 8));
      } else {
        fail("unknown escape");
      }
    }
    if (at_ >= text_.size()) fail("a string without end");
    ++at_;
    return out;
  }

  static constexpr int kDeepest = 200;
  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace gpuctl::test
