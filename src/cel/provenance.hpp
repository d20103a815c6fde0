// Where values come from. An ordinary run keeps one origin a node, and a computed value has none.
// When somebody asks (a fault in a rendered document, `explain --origin`), the cluster is derived
// and rendered once more with a Provenance: every node of the inputs gets an origin of its own, a
// mark, and every expression notes the marks it read.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "yaml/node.hpp"

namespace gpuctl::cel {

/// Marks are origins from here on; spans of files never reach so far.
inline constexpr diag::Origin kFirstMark = 1U << 31;

/// True when the origin is a mark of a Provenance and no span of a file.
constexpr bool is_mark(diag::Origin origin) {
  return origin >= kFirstMark;
}

class Provenance {
 public:
  /// A node of an input: `spec.gpuPools[large].replicas`.
  struct Place {
    diag::Origin parent = diag::kNoOrigin;  // mark of the tree it is in; none for a root
    std::string step;                       // name of the root, or the step from the parent
    yaml::Node value;  // with the origin it had before: a span, another mark, or none
  };

  /// An expression that was evaluated.
  struct Evaluation {
    yaml::Node scalar;    // the text that holds it
    std::string because;  // of a derivation row
    /// Marks of what it read, the nearest ones only: a node counts only when nothing below it was
    /// read too. In the order of reading.
    std::vector<diag::Origin> reads;
    /// A value kept from the lock was not computed: where it stands there.
    diag::Origin kept = diag::kNoOrigin;
  };

  /// The tree with a mark on every node and key. Nodes that have their mark already keep it, so a
  /// tree that grows can be marked again.
  yaml::Node mark(std::string_view root, const yaml::Node& tree, yaml::Arena& arena);
  /// Notes an evaluation, and marks its result: the result itself gets the evaluation's mark, what
  /// is inside of it gets places below that. `evaluation.reads` may hold marks in any order.
  yaml::Node mark_result(Evaluation evaluation, const yaml::Node& result, yaml::Arena& arena);
  /// Notes an evaluation without a result (it failed).
  diag::Origin add(Evaluation evaluation);
  /// The tree marked under this name last, or null.
  yaml::Node root(std::string_view name) const;

  /// nullptr when the origin is no mark, or one of the other kind.
  const Place* place(diag::Origin mark) const;
  const Evaluation* evaluation(diag::Origin mark) const;
  /// Path of a place from its root: `spec.gpuPools[large].replicas`; below an evaluation's result
  /// relative to it (".name").
  std::string path(diag::Origin place) const;
  /// Name of the root a place is in; empty below an evaluation's result.
  std::string_view root_of(diag::Origin place) const;
  /// The mark or span behind a place: what its value carried, or the nearest of its parents; an
  /// evaluation when it is the result of one. kNoOrigin when nothing is known.
  diag::Origin behind(diag::Origin place) const;

 private:
  using Record = std::variant<Place, Evaluation>;

  yaml::Node mark_below(const yaml::Node& node, diag::Origin mark, yaml::Arena& arena);
  yaml::Node mark_at(const yaml::Node& node, diag::Origin parent, std::string step,
                     yaml::Arena& arena);
  diag::Origin record(Record record);
  const Record* find(diag::Origin mark) const;

  std::vector<Record> records_;
  std::map<std::string, yaml::Node, std::less<>> roots_;
};

}  // namespace gpuctl::cel
