// Known causes of failures by what programs of others print: files signatures.yaml of the folders
// that a platform builds on.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/platform.hpp"

namespace gpuctl::signature {

struct Signature {
  std::string name;
  std::string pattern;
  std::string cause;
  std::string remedy;
  std::string source;
  bool weak = false;            // counts only where no other fits any line
  std::string over;             // pattern of a later line that says that it is over; may be empty
  std::vector<std::string> of;  // links of a diagnosis; empty: what installers print

  bool is_of(std::string_view link) const;
};

/// What signatures are wanted for.
enum class Use { installer, diagnosis };

/// The signatures of a platform, compiled. Shareable among threads.
class Signatures {
 public:
  Signatures(const catalog::Platform& platform, catalog::Library& library);
  /// Those of some folders, later ones first.
  Signatures(std::span<const std::string> folders, catalog::Library& library, Use use);
  ~Signatures();
  Signatures(const Signatures&) = delete;
  Signatures& operator=(const Signatures&) = delete;

  /// Of those for installers the first that fits the line, or nullptr; with `weak` those that are,
  /// otherwise the others.
  const Signature* match(std::string_view line, bool weak) const;
  /// What a text says: signatures that fit it, in order, and those that it says are over.
  struct Matches {
    std::vector<const Signature*> found;
    std::vector<const Signature*> over;
  };
  /// Found in one pass over the text.
  Matches matches(std::string_view text) const;
  const std::vector<Signature>& all() const { return rows_; }

 private:
  struct Compiled;
  std::vector<Signature> rows_;
  std::unique_ptr<Compiled> compiled_;
};

/// Compiles all patterns of a platform; one that is no regular expression, or a name that stands
/// twice, is GPU0401.
void check(const catalog::Platform& platform, catalog::Library& library, diag::Sink& sink);

}  // namespace gpuctl::signature
