// Checks as knowledge: files doctor.yaml of the folders that a platform builds on.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "catalog/library.hpp"
#include "cel/definitions.hpp"
#include "compose/lazy_body.hpp"
#include "derive/environment.hpp"
#include "doctor/verdict.hpp"

namespace gpuctl::doctor {

/// What rows see besides what expressions on a platform see, in this order: the answers to `ask`,
/// those to `then`, and what the command line says.
enum Variable : std::size_t { kAsked, kFurther, kRun, kVariables };

/// What is concluded from the answers.
struct Judgement {
  std::vector<std::pair<std::string, cel::LazyExpression>> loops;
  cel::Definitions variables;  // they see the items of the loops
  cel::LazyExpression when;    // otherwise there is no such finding
  Verdict verdict = Verdict::fail;
  cel::LazyText evidence;
  cel::LazyText remedy;  // absent: that of the check
};

struct Check {
  std::string id;
  std::string title;
  std::string source;
  bool fatal = false;
  bool judges_unanswered = false;  // otherwise a question without an answer is `unknown`
  std::shared_ptr<const cel::Definitions> shared;  // of the file
  cel::Definitions variables;
  cel::LazyExpression when;
  cel::LazyText skipped;   // why, where `when` is not true
  compose::LazyBody ask;   // a list of questions
  compose::LazyBody then;  // further ones, which see the answers to these
  std::vector<Judgement> judgements;
  cel::LazyText passed;  // what was seen when there is no finding
  cel::LazyText remedy;

  /// "D4" of "D4-hosts".
  std::string number() const { return id.substr(0, id.find('-')); }
};

/// The checks of a platform; shareable among threads.
class Checks {
 public:
  /// Compiles the files of all folders that the platform builds on; a check of a later folder takes
  /// the place of one with the same id. With `thorough` all is compiled at once, and what is wrong
  /// is reported (GPU03xx, GPU0900); nullptr then. Otherwise at first use, for knowledge that the
  /// build has checked. `platform` and `library` must outlive the checks.
  static std::shared_ptr<const Checks> compile(const catalog::Platform& platform,
                                               catalog::Library& library, bool thorough,
                                               diag::Sink& sink);

  /// By their numbers.
  const std::vector<Check>& all() const { return checks_; }
  const derive::Scope& scope() const { return scope_; }

 private:
  class Compiler;
  derive::Scope scope_;
  std::vector<Check> checks_;
};

}  // namespace gpuctl::doctor
