// Goes through the steps that install or destroy a cluster, and remembers each in its journal.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "install/ensuring.hpp"
#include "install/scene.hpp"
#include "install/story.hpp"
#include "install/watched_run.hpp"
#include "pipeline/knowledge.hpp"

namespace gpuctl::install {

/// What the driver leaves to the command.
struct Doors {
  /// Runs the blueprint: with these facts ("": those that are found), and with its secrets when
  /// asked. nullptr after shown errors.
  std::function<std::unique_ptr<pipeline::Result>(const std::string& facts, bool secrets)> run;
  /// Commits with these facts; `anew`: they may be of a cluster that replaces another. False after
  /// shown errors.
  std::function<bool(const std::string& facts, bool anew)> commit;
  /// A line for people.
  std::function<void(const std::string&)> say;
  /// Shows findings; of documents in `sources`.
  std::function<void(const diag::Sink&, const diag::Sources&)> show;
};

/// What is known of a cluster's knowledge once its blueprint was run.
struct Known {
  std::shared_ptr<const steps::Steps> steps;
  live::Programs programs;
  std::unique_ptr<const signature::Signatures> signatures;
  std::shared_ptr<const secrets::Rules> rules;
};

/// For the platform of a blueprint that was derived.
Known know(const pipeline::Result& result, pipeline::Knowledge& knowledge);

class Driver {
 public:
  Driver(Place& place, Journal& journal, const Doors& doors, pipeline::Knowledge& knowledge);

  /// Runs the blueprint for the first time; false after shown errors.
  bool open();

  /// From where the journal stands to step `until` ("": the last one). An attempt that cannot go on
  /// is destroyed first, and a new one begins. False after shown errors.
  bool install(const std::string& until);
  /// Takes the cluster away. False after shown errors.
  bool destroy();

  /// The steps that `install` would take, with their commands, and the same for `destroy`.
  std::vector<std::string> rehearse(bool to_destroy);
  /// What goes first when the cluster is destroyed, and its installer does not know of: a command
  /// for each, or why it cannot be told.
  std::vector<std::string> at_stake();
  /// Commands that look for what is left.
  std::vector<std::string> leftovers();
  /// The names of all steps of the installation, in order.
  std::vector<std::string> step_names();

  /// A step that asks: whether all is as it should be, and what is missing. Nothing when the answer
  /// cannot be had.
  struct Standing {
    std::string name;
    std::string title;
    std::optional<bool> good;
    std::vector<std::string> missing;
    std::string show;
  };
  /// Asks once for each step that asks.
  std::vector<Standing> standings();
  /// The last line of the log of the attempt and its phase, when a program runs for long.
  std::optional<std::pair<std::string, std::string>> log_now(const steps::Step& step);

  const Known& known() const { return known_; }
  pipeline::Result& result() { return *result_; }

 private:
  enum class Next : std::uint8_t { on, anew, stop };

  std::string facts_path() const;
  std::string directory() const { return place_.attempt_directory(story().attempt); }
  const Story& story() const { return journal_.story(); }
  /// The file with the facts that the attempt has learned; "" when there are none.
  std::string learned_facts() const;
  bool refresh();
  bool applies(const steps::Step& step);
  Next take(const steps::Step& step);
  bool finish(const steps::Step& step, bool good);
  void show_findings();
  bool fail();
  void end_last_run();
  bool has_yields(const steps::Step& step, bool report);

  bool write(const steps::Step& step);
  bool learn(const steps::Step& step);
  /// Facts of the attempt change, and the blueprint is run with them.
  bool learn_facts(const yaml::Node& learned);
  std::optional<yaml::Node> documents(const steps::Step& step);
  bool place_documents(const steps::Step& step);
  bool commit(const steps::Step& step);
  bool apply(const steps::Step& step);
  bool ask(const steps::Step& step);
  /// What a program answered; without a tree `why`, redacted, and the cause that it printed.
  struct Reply {
    std::optional<yaml::Node> tree;
    std::string why;
    std::optional<Cause> cause;
  };
  Reply answer(const steps::Call& call);
  bool ensure(const steps::Step& step);
  void add_state(const steps::Step& step, std::string_view what,
                 const std::vector<std::string>& state, diag::Diagnostic& diagnostic);
  void report_late(const steps::Step& step, const Reply& last);
  bool report_hopeless(const steps::Step& step);

  Next program(const steps::Step& step);
  std::optional<std::vector<yaml::Node>> items_of(const steps::Step& step, std::string& why);
  bool run_for_each(const steps::Step& step);
  /// Puts back what is needed; false when it is not there, so that nothing was made.
  bool has_needs(const steps::Step& step);
  /// What is to follow: kAgain, kDiscard, kDone or a way.
  std::string resume_of(const steps::Step& step, const StepStory& told);
  bool run_calls(const steps::Step& step, const std::vector<const steps::Call*>& calls);
  void report_run(const steps::Step& step, const std::string& words, const Ran& ran,
                  const LogStory& log, const std::string& resume);
  bool discard();
  bool made_nothing() const;
  bool destroy_attempt();
  std::optional<std::string> redact(std::string_view line) const;
  Redact redaction() const;

  Place& place_;
  Journal& journal_;
  const Doors& doors_;
  pipeline::Knowledge& knowledge_;
  Known known_;
  std::unique_ptr<pipeline::Result> result_;
  std::unique_ptr<Scene> scene_;
  diag::Sink sink_;
  std::size_t number_ = 0;  // of the step, for people
  WaysLeft ways_left_;      // in this run
};

/// "3m 5s"; "250ms" below a second.
std::string time_text(std::chrono::milliseconds time);

}  // namespace gpuctl::install
