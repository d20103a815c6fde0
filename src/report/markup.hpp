// HTML and SVG that cannot be broken by what they show.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuctl::report {

/// `text` so that it is nothing but text, between tags and in quoted attributes alike: characters
/// with a meaning become references, what is unprintable or hidden U+FFFD.
std::string escaped(std::string_view text);

using Attributes = std::initializer_list<std::pair<std::string_view, std::string>>;

/// Writes elements; every text and every value of an attribute passes escaped(). Names of elements
/// and attributes are of this program.
class Markup {
 public:
  /// Opens an element; close() ends the innermost open one.
  Markup& open(std::string_view name, Attributes attributes = {});
  Markup& close();
  /// An element with nothing but text in it.
  Markup& element(std::string_view name, std::string_view text, Attributes attributes = {});
  /// An element that has no content and no end.
  Markup& single(std::string_view name, Attributes attributes = {});
  Markup& text(std::string_view text);
  /// What is markup already: a style sheet of this program.
  Markup& constant(std::string_view markup);

  const std::string& written() const { return out_; }

 private:
  void begin(std::string_view name, Attributes attributes);

  std::string out_;
  std::vector<std::string> open_;
};

}  // namespace gpuctl::report
