#include "report/markup.hpp"

#include "diag/character.hpp"

namespace gpuctl::report {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : diag::escaped_markup(text)) {
    if (c == '\'') {
      out += "&#39;";
    } else {
      out += c;
    }
  }
  return out;
}

void Markup::begin(std::string_view name, Attributes attributes) {
  out_ += '<';
  out_ += name;
  for (const auto& [key, value] : attributes) {
    out_ += ' ';
    out_ += key;
    out_ += "=\"" + escaped(value) + "\"";
  }
  out_ += '>';
}

Markup& Markup::open(std::string_view name, Attributes attributes) {
  begin(name, attributes);
  open_.emplace_back(name);
  return *this;
}

Markup& Markup::close() {
  out_ += "</" + open_.back() + ">";
  // A line for each element that is no part of a line keeps differences readable.
  if (open_.back() != "text" && open_.back() != "code") out_ += '\n';
  open_.pop_back();
  return *this;
}

Markup& Markup::element(std::string_view name, std::string_view text, Attributes attributes) {
  return open(name, attributes).text(text).close();
}

Markup& Markup::single(std::string_view name, Attributes attributes) {
  begin(name, attributes);
  return *this;
}

Markup& Markup::text(std::string_view text) {
  out_ += escaped(text);
  return *this;
}

Markup& Markup::constant(std::string_view markup) {
  out_ += markup;
  return *this;
}

}  // namespace gpuctl::report
