// The chain from a machine to a GPU that pods can ask for: files diagnosis.yaml of provider
// folders, put together and compiled.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/library.hpp"
#include "cel/definitions.hpp"
#include "cel/scalar.hpp"
#include "diagnose/path_pattern.hpp"

namespace gpuctl::diagnose {

/// The kind of pods.
inline constexpr std::string_view kPod = "Pod";

/// Variables of all expressions, in this order; those of a file follow.
enum Variable : std::size_t { kObject, kLog, kObjects, kKnown, kCluster, kVariables };

/// A kind of object that is looked at.
struct KindRow {
  std::string name;  // as expressions know it
  std::string group;
  std::string kind;
  std::string resource;
  std::vector<std::string> arguments;
};

/// A directory as others gather it.
struct Layout {
  struct None {
    PathPattern file;
    std::string kind;  // name of a KindRow
  };
  std::string name;
  std::vector<PathPattern> objects;
  std::vector<PathPattern> logs;
  std::vector<PathPattern> texts;
  std::vector<None> none;
};

/// Words for the program of the cluster, with `{resource}` and the like in them.
struct Asks {
  std::vector<std::string> list;
  std::vector<std::string> log;
  std::vector<std::string> last_log;
  std::string absent;  // regular expression
};

struct Check {
  std::string name;
  std::string kind;  // name of a KindRow; empty: asked once, or of each item of `each`
  std::shared_ptr<const cel::Definitions> variables;  // of its file
  cel::LazyExpression each;
  cel::LazyExpression when;
  cel::LazyText subject;
  cel::LazyText text;
  cel::LazyExpression says;
  cel::LazyExpression nodes;
  cel::LazyText more;
  std::string remedy;
  std::string source;
};

struct Link {
  std::string name;
  std::string title;
  std::string more;
  std::vector<std::string> after;   // only those that are in the chain
  std::vector<std::string> behind;  // comes later than these, without waiting for them
  std::shared_ptr<const cel::Definitions> variables;  // of its file
  std::vector<std::string> kinds;                     // names of KindRows whose objects tell of it
  cel::LazyExpression pods;
  cel::LazyExpression logs;
  bool watch = false;
  std::vector<Check> checks;
};

/// Shareable among threads.
class Chain {
 public:
  /// Puts together what the folders say. With `thorough` all is compiled at once, and what is wrong
  /// is reported: GPU0301, GPU0302, and GPU0956 for links, kinds and patterns that contradict each
  /// other.
  Chain(std::span<const std::string> folders, catalog::Library& library, bool thorough,
        diag::Sink& sink);

  /// In an order in which each comes behind those it waits for.
  const std::vector<Link>& links() const { return links_; }
  const std::vector<Check>& pod_checks() const { return pod_checks_; }
  const std::vector<KindRow>& kinds() const { return kinds_; }
  const std::vector<Layout>& layouts() const { return layouts_; }
  const Asks& asks() const { return asks_; }
  /// By API group and kind of an object; nullptr for what nobody looks at.
  const KindRow* kind(std::string_view group, std::string_view kind) const;

 private:
  class Compiler;
  std::vector<Link> links_;
  std::vector<Check> pod_checks_;
  std::vector<KindRow> kinds_;
  std::vector<Layout> layouts_;
  Asks asks_;
};

/// Compiles what all folders say together, as without a platform, and whether signatures name links
/// that exist. For the build, and for knowledge that was laid over it.
void check(catalog::Library& library, diag::Sink& sink);

}  // namespace gpuctl::diagnose
