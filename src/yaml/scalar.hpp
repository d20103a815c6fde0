// What a plain (unquoted) scalar means. Reader and emitter share this one table, so that whatever
// the emitter writes plain is a string for the reader too.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gpuctl::yaml {

enum class Plain : std::uint8_t {
  string,        // a string for YAML 1.1 and 1.2 readers alike
  null,          // empty, ~, null, Null, NULL
  boolean_true,  // true, True, TRUE
  boolean_false,
  integer,       // decimal, fits 64 bits
  too_large,     // decimal integer that does not fit
  real,          // a floating point number for every reader
  other_real,    // a floating point number for YAML 1.2, text for some YAML 1.1 readers: 1e3, +1.5
  other_truth,   // yes, no, on, off, y, n: truth values of YAML 1.1
  other_number,  // 010, 0x1F, 0o17, +5, 1_000, 1:30: numbers for some readers
  other_date,    // 2001-01-01: a timestamp of YAML 1.1
  other_word,    // = and <<: special in YAML 1.1
};

/// Classifies the text of a plain scalar by the YAML 1.2 core schema, with every text that the
/// YAML 1.1 type repository (yaml.org/type) takes for something else set apart.
Plain classify_plain(std::string_view text);

/// The value of a text classified real or other_real.
double parse_real(std::string_view text);

/// The value of a text classified other_truth.
bool is_truth(std::string_view text);

/// The value of an integer with a prefix (0644 and 0o644 are octal, 0x1F, 0b1), with a plus or
/// underscores, as sigs.k8s.io/yaml and so kubectl reads it; nothing for any other text.
std::optional<std::int64_t> parse_other_number(std::string_view text);

}  // namespace gpuctl::yaml
