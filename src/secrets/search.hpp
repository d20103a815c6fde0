// Looks for secrets in texts and trees, also in what they are wrapped in.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "secrets/rules.hpp"

namespace gpuctl::secrets {

/// How a secret was known.
enum class Sign { object, pattern, name, randomness, unsearched };

/// A piece of a text that is a secret, or looks like one.
struct Hit {
  std::size_t begin = 0;
  std::size_t end = 0;
  Sign sign = Sign::pattern;
  bool sure = true;
  std::string what;  // follows "what looks like" or "holds"
  std::string how;   // " in gzip in base64", or empty
};

/// A value, or a key, in a tree.
struct Finding {
  diag::Origin at = diag::kNoOrigin;
  std::string path;  // "spec.template.data.token"
  yaml::Node node;   // what is to be hidden: the value, the key, or all of a tree
  Hit hit;
};

/// What one run may spend: bytes that are looked at, wrappings included.
struct Budget {
  std::size_t bytes = 64 * 1024 * 1024;
};

/// What a text is: in a file of settings the rest of a line is the value of its name; in prose only
/// what cannot be a word.
enum class Form { prose, file };

/// One search. Not for several threads; the rules are.
class Search {
 public:
  Search(const Rules& rules, Budget& budget) : rules_(rules), budget_(budget) {}

  /// Hits in a text, in no order; they may overlap.
  std::vector<Hit> text(std::string_view text, Form form = Form::prose) const;

  /// All findings in a tree, at most one a value and one a key. `root` begins the paths.
  std::vector<Finding> tree(const yaml::Node& root, const std::string& path) const;

 private:
  const Rules& rules_;
  Budget& budget_;
};

}  // namespace gpuctl::secrets
