// A document as its reader decodes it.
#pragma once

#include "yaml/context.hpp"

namespace gpuctl::document {

/// What becomes of a text that holds YAML.
enum class Texts {
  closed,    // it stays a text
  in_place,  // it is the tree that it holds, with places in its file where that can be
  alone,     // the same, read by itself: where the text came from makes no difference
};

struct Decoded {
  yaml::Node tree;
  bool has_secrets = false;  // a value was there whose schema has `x-gpuctl-secret`
};

/// The tree that a reader in Go gets (encoding/json behind sigs.k8s.io/yaml), below every schema
/// node with `x-gpuctl-reader: go`: keys in another case are the field (warning GPU0622), a number
/// or boolean where text is wanted becomes text (GPU0623 when that may surprise), whole numbers
/// written with a point are integers, nulls are absent, and so are empty texts and lists of
/// declared fields. Elsewhere the tree stays as it is. Values keep their origins. What cannot be
/// decoded stays for the schema to report. `definition` is the schema as written.
///
/// Values whose schema has `x-gpuctl-secret` are hidden in the sources. Texts whose schema has
/// `x-gpuctl-text: yaml` are treated as `texts` says; what is no YAML is an error (GPU01xx).
Decoded decode(const yaml::Node& definition, const yaml::Node& document, yaml::Context context,
               Texts texts);

}  // namespace gpuctl::document
