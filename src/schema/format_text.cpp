#include "schema/format_text.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

namespace gpuctl::schema {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// Numbers without their leading zeros.
std::string without_zeros(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool starts = i == 0 || !is_hex(text[i - 1]);
    const bool more = i + 1 < text.size() && is_hex(text[i + 1]);
    if (starts && text[i] == '0' && more) {
      while (i + 1 < text.size() && text[i] == '0' && is_hex(text[i + 1])) ++i;
    }
    out.push_back(text[i]);
  }
  return out;
}

/// Reads an e-mail address from the front of a text; every take_... gives false when what it is
/// after is not there.
class MailReader {
 public:
  explicit MailReader(std::string_view text) : rest_(text) {}

  bool read() {
    const std::string_view all = rest_;
    if (!take_mailbox()) {
      // A group of one: `Name: a@b;`.
      rest_ = all;
      if (!take_phrase() || !take(':') || !take_mailbox() || !skip_comments() || !take(';')) {
        return false;
      }
    }
    return skip_comments() && rest_.empty();
  }

 private:
  static bool is_visible(char c) { return static_cast<unsigned char>(c) > 0x20 && c != 0x7f; }
  static bool is_atom(char c) {
    return is_visible(c) && std::string_view("()<>[]:;@\\,\"").find(c) == std::string_view::npos;
  }

  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void skip_space() {
    while (rest_.starts_with(' ') || rest_.starts_with('\t')) rest_.remove_prefix(1);
  }
  bool skip_comments() {
    for (skip_space(); take('('); skip_space()) {
      int depth = 1;
      while (depth > 0) {
        if (rest_.empty()) return false;
        const char c = rest_.front();
        rest_.remove_prefix(1);
        if (c == '(') ++depth;
        if (c == ')') --depth;
        if (c == '\\') {
          if (rest_.empty()) return false;
          rest_.remove_prefix(1);
        }
      }
    }
    return true;
  }
  std::string_view take_atoms() {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_atom);
    const std::string_view atoms = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    rest_.remove_prefix(atoms.size());
    return atoms;
  }
  bool take_dotted() {
    const std::string_view atoms = take_atoms();
    return !atoms.empty() && !atoms.starts_with('.') && !atoms.ends_with('.') &&
           atoms.find("..") == std::string_view::npos;
  }
  /// `size` becomes the number of bytes between the quotes.
  bool take_quoted(std::size_t& size) {
    if (!take('"')) return false;
    for (size = 0; !rest_.empty(); ++size) {
      char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '"') return true;
      if (c == '\\') {
        if (rest_.empty()) return false;
        c = rest_.front();
        rest_.remove_prefix(1);
      }
      if (!is_visible(c) && c != ' ' && c != '\t') return false;
    }
    return false;
  }
  bool take_phrase() {
    std::size_t words = 0;
    for (;; ++words) {
      if (words > 0 && !skip_comments()) return false;
      skip_space();
      std::size_t size = 0;
      const std::string_view before = rest_;
      const bool word = rest_.starts_with('"') ? take_quoted(size) : !take_atoms().empty();
      if (!word) {
        rest_ = before;
        return words > 0;
      }
    }
  }
  bool take_mailbox() {
    const std::string_view all = rest_;
    if (take_address()) return true;
    rest_ = all;
    skip_space();
    if (!rest_.starts_with('<') && !take_phrase()) return false;
    skip_space();
    return take('<') && take_address() && take('>');
  }
  bool take_address() {
    skip_space();
    std::size_t size = 0;
    const bool local = rest_.starts_with('"') ? take_quoted(size) && size > 0 : take_dotted();
    if (!local || !take('@')) return false;
    skip_space();
    if (!take('[')) return take_dotted();
    const std::string_view literal = rest_.substr(0, rest_.find(']'));
    rest_.remove_prefix(literal.size());
    return take(']') && is_address(literal, false);
  }

  std::string_view rest_;
};

}  // namespace

std::string without(std::string_view text, std::string_view unwanted) {
  std::string out;
  for (const char c : text) {
    if (unwanted.find(c) == std::string_view::npos) out.push_back(c);
  }
  return out;
}

bool is_address(std::string_view text, bool zeros) {
  // The longest address has 45 characters; zeros may make it longer.
  if (text.size() > 4096 || text.find('\0') != std::string_view::npos) return false;
  const std::string plain = zeros ? without_zeros(text) : std::string(text);
  std::array<unsigned char, 16> bytes{};
  const int family = plain.find(':') == std::string::npos ? AF_INET : AF_INET6;
  return inet_pton(family, plain.c_str(), bytes.data()) == 1;
}

bool is_cidr(std::string_view text, bool zeros) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view host = text.substr(0, slash);
  std::string_view bits = text.substr(slash + 1);
  if (bits.empty() || !std::all_of(bits.begin(), bits.end(), is_digit)) return false;
  while (zeros && bits.size() > 1 && bits.front() == '0') bits.remove_prefix(1);
  if (bits.size() > 3 || (bits.size() > 1 && bits.front() == '0')) return false;
  const bool six = host.find(':') != std::string_view::npos;
  return std::stoi(std::string(bits)) <= (six ? 128 : 32) && is_address(host, zeros);
}

bool is_email(std::string_view text) {
  return MailReader(text).read();
}

}  // namespace gpuctl::schema
