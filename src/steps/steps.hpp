// The steps of a platform: files install.yaml of the folders that it builds on.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "catalog/library.hpp"
#include "derive/environment.hpp"

namespace gpuctl::steps {

/// What steps see besides what expressions on a platform see, in this order: the attempt, documents
/// that were read, the answer of a program, the path of a folder that is applied, and one of
/// several things that a program is run for or that are made.
enum Variable : std::size_t { kAttempt, kDocuments, kAnswer, kFolder, kItem };

/// A program by its role, and its words.
struct Call {
  std::string role;
  std::vector<cel::LazyText> arguments;
  std::vector<std::pair<std::string, cel::LazyText>> environment;  // no text: taken away
};

struct Phase {
  std::string name;
  std::string starts;  // regular expression for the message that begins it
  std::optional<std::chrono::milliseconds> limit;  // that the program gives itself
  std::string resume;                              // kAgain, kDiscard, kDone, or the name of a way
};

inline constexpr std::string_view kAgain = "again";
inline constexpr std::string_view kDiscard = "discard";
inline constexpr std::string_view kDone = "done";

/// A message that means failure.
struct Refusal {
  std::string pattern;
  std::string means;
};

struct Way {
  std::string name;
  std::vector<Call> calls;
};

struct Exit {
  std::int64_t code = 0;
  std::string means;
  std::string remedy;
  std::string resume;
};

enum class StepKind : std::uint8_t { write, program, learn, place, commit, apply, ask, ensure };

/// What has to be equal in a thing that is there.
struct Sameness {
  std::string what;
  cel::LazyExpression wanted;
  cel::LazyExpression found;
};

/// How else a thing can be made once that failed for certain reasons: facts change, the blueprint
/// is run with them, and the step is taken again.
struct Otherwise {
  std::vector<std::string> failures;  // regular expressions for what says why
  cel::LazyExpression ways;           // in order: a list of {says, facts}
};

/// Things that are to be there, or gone.
struct Ensure {
  cel::LazyExpression each;  // the list
  cel::LazyText called;      // what the journal calls one of it
  Call look;
  std::vector<std::string> absent;  // regular expressions
  cel::LazyExpression exists;
  std::vector<Sameness> same;
  std::optional<Call> create;
  std::vector<std::string> retry;  // regular expressions
  std::vector<std::string> taken;  // regular expressions
  cel::LazyExpression done;
  cel::LazyText state;
  cel::LazyExpression failed;
  std::optional<Call> remove;
  cel::LazyText advice;
  std::optional<Otherwise> otherwise;
  bool gone = false;     // they are to be away
  bool whoever = false;  // also those that no run of the journal made
};

using Named = std::vector<std::pair<std::string, std::string>>;

struct Step {
  StepKind kind = StepKind::commit;
  std::string name;
  std::int64_t order = 0;
  cel::LazyText title;
  cel::LazyExpression when;
  bool repeat = false;
  std::vector<std::string> yields;  // below the directory of the attempt
  Call call;                        // of program, apply and ask
  std::optional<Call> over;         // whose answer says what to run the program for
  cel::LazyExpression items;
  std::vector<std::string> needs;  // files without which there is nothing to do
  bool lenient = false;            // a failure is a warning
  std::string log;                 // of a program that runs for long
  std::optional<std::chrono::milliseconds> stalls;
  bool local = false;  // makes files of the attempt alone; one that was killed is begun anew
  std::vector<Phase> phases;
  std::vector<Refusal> refused;
  std::vector<Way> ways;
  std::vector<Exit> exits;
  Named documents;  // name, pattern of the path
  std::vector<std::pair<std::string, cel::LazyExpression>> identity;
  std::vector<std::pair<std::string, cel::LazyExpression>> facts;
  Named keep;                      // path below the attempt, name
  std::vector<std::string> kinds;  // of documents that are placed
  std::string folder;
  std::string prefix;
  cel::LazyText applied;           // folder of the output
  std::vector<std::string> retry;  // regular expressions
  cel::LazyExpression check;
  cel::LazyExpression missing;
  cel::LazyExpression failed;  // why it will never come true
  std::chrono::milliseconds settle{0};
  std::chrono::milliseconds every{10'000};
  std::optional<std::chrono::milliseconds> limit;  // to wait or try at most
  cel::LazyText show;
  std::optional<Ensure> ensure;
};

/// A command that looks for what is left.
struct Leftover {
  std::string title;
  cel::LazyExpression when;
  cel::LazyText run;
};

struct Steps {
  derive::Scope scope;
  std::vector<Step> install;  // by order
  std::vector<Step> destroy;
  std::vector<Leftover> leftovers;

  const Step* find(std::string_view name) const;
};

/// The steps of a platform. With `thorough` all expressions are compiled at once, and what is wrong
/// is reported (GPU03xx, GPU0401: a pattern that is no regular expression, a way that is not there,
/// a name or an order that stands twice); otherwise at first use.
std::shared_ptr<const Steps> compile(const catalog::Platform& platform, catalog::Library& library,
                                     const derive::Scope& scope, bool thorough, diag::Sink& sink);

}  // namespace gpuctl::steps
