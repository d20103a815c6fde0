// Rows that say what a change does: files effects.yaml of the folders that a platform builds on.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/once.hpp"
#include "catalog/library.hpp"
#include "cel/definitions.hpp"
#include "derive/environment.hpp"
#include "effects/effect.hpp"
#include "effects/pattern.hpp"

namespace gpuctl::effects {

/// What happens to an object or to a field.
enum class Operation : std::uint8_t { created, removed, moved, added, taken, changed };

/// What rows see besides what expressions on a platform see, in this order: the two commits, the
/// object in both (null: absent), the name of its pool, the field's two values (null: absent), and
/// what the wildcards of a path stood for: the texts of its steps.
enum Variable : std::size_t { kEarlier, kLater, kOld, kNew, kPool, kFrom, kTo, kSteps };

struct Row {
  std::vector<Operation> operations;  // empty: all on fields
  std::vector<Pattern> fields;        // empty: the row is on the object
  cel::Definitions variables;
  cel::LazyExpression when;
  Effect effect = Effect::unknown;
  bool latent = false;     // it happens at a later occasion
  bool held = false;       // it happens when somebody approves
  bool data_loss = false;  // local data of workloads go
  std::string actor;
  cel::LazyExpression pools;  // a list of names; absent: the object's own
  cel::LazyExpression nodes;  // how many, if not all of these pools
  cel::LazyText reason;
  std::string parallel;  // how many at a time
  std::string takes;     // for each
  std::string source;
  std::string sequence;
  std::size_t step = 0;  // of the sequence that such a commit is, from 1; 0: it is none
};

/// The rows on one kind, or on all.
struct Kind {
  std::string group;
  std::string name;                                // "*": of any group and name
  std::shared_ptr<const cel::Definitions> shared;  // of the file
  std::vector<Row> rows;
};

/// A step on the way: a commit, or what people do in between.
struct SequenceStep {
  bool is_commit = false;
  std::string text;
  std::vector<std::string> commands;  // that do it, where there are some
};

/// A way to bring about what cannot be done in one commit.
struct Sequence {
  std::string name;
  std::string title;
  std::vector<SequenceStep> steps;

  /// The number of its first step that is a commit, or of its last one; 0 when there is none.
  std::size_t first_commit() const;
  std::size_t last_commit() const;
};

/// Files that no engine applies as objects.
struct FileRow {
  std::string path;  // `*` is any text: "install/*"
  Effect effect = Effect::unknown;
  std::string reason;
};

/// The rows of a platform; shareable among threads.
class Rows {
 public:
  /// `scope` is scope_of() the platform. With `thorough` all is compiled at once, and what is
  /// wrong is reported (GPU03xx, GPU0440); the result is then nullptr. Otherwise at first use.
  static std::shared_ptr<const Rows> compile(const catalog::Platform& platform,
                                             catalog::Library& library, const derive::Scope& scope,
                                             bool thorough, diag::Sink& sink);

  /// What is known of a kind, and of kinds of any name: files of later folders first, because they
  /// know better.
  const std::vector<const Kind*>& of(std::string_view group, std::string_view kind) const;
  /// True when some row is about a field, under whatever condition.
  bool covers(std::string_view group, std::string_view kind, const std::vector<Step>& field) const;
  const Sequence* sequence(std::string_view name) const;
  /// The first row that is about the file; nullptr when none is. `path` is below the cluster's
  /// directory.
  const FileRow* file(std::string_view path) const;
  /// Variables of the platform; rows see them.
  const derive::Scope& scope() const { return scope_; }

 private:
  class Compiler;
  struct Content {
    std::vector<std::unique_ptr<const Kind>> kinds;  // in order
    // By group and name.
    std::map<std::pair<std::string, std::string>, std::vector<const Kind*>, std::less<>> by_name;
    std::vector<const Kind*> any;  // of those without a name
    std::vector<Sequence> sequences;
    std::vector<FileRow> files;
  };
  const Content& content() const;
  void read(Content& content, bool thorough, diag::Sink& sink) const;

  derive::Scope scope_;
  std::vector<yaml::Node> written_;  // spec of each file
  diag::Sources* sources_ = nullptr;
  mutable base::Once once_;
  mutable Content content_;
};

}  // namespace gpuctl::effects
