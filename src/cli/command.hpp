// What the commands share: global options, exit codes, how diagnostics and messages are shown.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "cli/options.hpp"
#include "cli/result_document.hpp"
#include "diag/character.hpp"
#include "diag/diagnostic.hpp"
#include "diag/print.hpp"
#include "pipeline/codes.hpp"
#include "pipeline/run.hpp"

namespace gpuctl::cli {

using base::counted;
using diag::shown;
using pipeline::Knowledge;
using pipeline::kUnreadable;
using pipeline::Request;
using pipeline::Result;

/// The image that was linked into the program.
const catalog::Image& built_in_image();

/// Exit codes, documented in the README. kChanges is given by `--detailed-exitcode` alone.
enum ExitCode : int { kOk = 0, kFindings = 1, kChanges = 2, kUsageError = 64 };

struct GlobalOptions {
  std::string providers;  // --providers DIR
  std::string templates;  // --templates DIR
  std::string format = "text";
  std::string color = "auto";
  bool verbose = false;
  bool quiet = false;  // say nothing but warnings and errors
  bool profile = false;
  /// Asked on behalf of somebody who must not get at more than files that are named: no secret is
  /// read, no program run, and no server asked.
  bool confined = false;
  /// What the command did, for programs; shared by all copies of these options.
  std::shared_ptr<ResultDocument> result = std::make_shared<ResultDocument>();
};

/// Diagnostics as they will be printed.
struct Shown {
  /// One of them, and where in the text it stands.
  struct Piece {
    std::size_t begin = 0;
    std::size_t end = 0;
    diag::Severity severity = diag::Severity::error;
    bool elsewhere = false;  // it points to a file that the blueprint shares with others
    std::string digest;      // of a note: what it says, wherever it points to
    std::string alike;       // of a note: all it says but its place; empty: not known
  };

  std::string text;
  std::size_t errors = 0;
  std::size_t warnings = 0;
  std::vector<Piece> pieces;  // in order

  /// How many notes the text has, without those that were taken out.
  std::size_t count_notes() const;
  /// Takes those notes out of the text that `told` has; it stays known what they were.
  void leave_out(const std::set<std::string>& told);
  /// Takes all notes out of the text.
  void leave_out_notes();
};

/// What is said of a cluster.
struct NamedShown {
  std::string_view name;
  const Shown* shown = nullptr;
};

/// Shows diagnostics on standard error as the global options say, and counts. At its end it says
/// "2 errors, 1 warning" when there was anything.
class Report {
 public:
  explicit Report(const GlobalOptions& options);
  ~Report();
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  /// What show() would print. `own`: the file of a blueprint among many; what points to others is
  /// marked. Thread-safe.
  Shown prepare(const diag::Sink& sink, const diag::Sources& sources,
                std::string_view own = {}) const;
  /// Shows what several clusters have to say; what is the same of some of them, once, with their
  /// names.
  void show_grouped(std::span<const NamedShown> all);
  void show(const Shown& shown);
  void show(const diag::Sink& sink, const diag::Sources& sources);
  /// Shows what somebody is asked to correct at once: it does not count as a finding of the run.
  void remark(const diag::Sink& sink, const diag::Sources& sources);
  /// A message for people on standard error; silent with `--format json`.
  void say(const std::string& line) const;
  /// From now on neither notes nor messages are shown.
  void keep_quiet() { quiet_ = true; }
  /// True when people watch who want to hear how far it is.
  bool is_watched() const;
  /// "colour" or "plain", and whether codes are links: how prepare() writes.
  std::string colouring() const {
    return std::string(colour_ ? "colour" : "plain") + (pages_ ? " with links" : "");
  }
  std::size_t errors() const { return errors_; }
  std::size_t warnings() const { return warnings_; }

 private:
  std::string named(std::string_view piece, const std::vector<std::string_view>& names) const;

  static constexpr std::size_t kMostShown = 50;
  ResultDocument& result_;
  bool json_ = false;
  bool colour_ = false;
  bool quiet_ = false;
  diag::PageAddress pages_;  // of codes; empty: they are no links
  std::size_t errors_ = 0;
  std::size_t warnings_ = 0;
};

/// The knowledge of this process, opened at the first call. It lives until the end: taking it apart
/// would cost as much as a small run.
Knowledge& open_knowledge(const GlobalOptions& options, diag::Sink& sink);
/// The same; nullptr after shown errors.
Knowledge* open_knowledge(const GlobalOptions& options, Report& report);

/// Prints to standard output; false when that fails (GPU0003, except that a reader who has gone
/// away is no finding). Prints nothing when standard output is for the result as JSON.
bool print(std::string_view text, const GlobalOptions& options);

/// Prints the result as JSON when that is wanted; false as print().
bool print_result(int exit_code, const GlobalOptions& options);

/// Shows on standard error where the time went since base::start_stages(), as `--format` says.
void show_stages(const GlobalOptions& options);

/// Where a cluster of a fleet stands among the waves of its stage.
struct WavePlace {
  std::string stage;
  std::string wave;
  std::size_t index = 0;
  std::int64_t soak = 0;  // seconds from its last change to the next wave
};

/// The inputs that several commands take.
struct BlueprintOptions {
  std::vector<std::string> blueprints;  // fleets among them until choose_clusters()
  std::vector<std::string> clusters;    // of the fleets: names, `stage/name`, globs; empty: all
  std::vector<std::string> stages;      // of the fleets; empty: all
  std::vector<std::string> waves;       // of their stages; empty: all
  /// Clusters of stages with waves, by "stage/name"; those that were not chosen among them. Set
  /// when fleets are expanded, as is what follows.
  std::map<std::string, WavePlace> places;
  /// Clusters that were not chosen and come before some that were.
  std::vector<std::string> before;
  std::string facts;
  std::vector<std::string> crds;
  bool facts_replace = false;
  int step = 1;  // of what leaves in steps
  bool refresh_secrets = false;
  bool strict = false;
  std::string date;   // --date, or empty
  unsigned jobs = 0;  // 0: one a processor

  void add_to(Options& command);
  /// The options that choose among the clusters of a fleet.
  void add_choice(Options& command);
  /// What only commands have that write to a place with earlier output.
  void add_target_options(Options& command);
};

/// The run's request with CRDs opened; nothing after shown errors.
std::optional<Request> make_request(const BlueprintOptions& options, Report& report);

/// The number of threads for `--jobs`.
unsigned thread_count(unsigned jobs);

/// What a command does once its options are parsed; gives the exit code.
using RunFunction = std::function<int()>;

/// A command: what `--help` says of it, its options, and what it does.
struct Command {
  std::string name;
  std::string summary;
  std::string manual;  // below the options; ends with an example
  /// Adds the options to the command. Absent when there are commands below.
  std::function<RunFunction(Options& command, const GlobalOptions& global)> setup;
  std::vector<Command> below = {};  // of which one must be given
  /// It can give its result as one document (`-o json`) in place of text. What has an option
  /// `--output` of its own says there what forms it has.
  bool has_forms = true;
};

Command init_command();
Command validate_command();
Command render_command();
Command apply_command();
Command plan_command();
Command diff_command();
Command doctor_command();
Command mirror_command();
Command cost_command();
Command report_command();
Command promote_command();
Command retire_command();
Command upgrade_command();
Command install_command();
Command destroy_command();
Command status_command();
Command import_command();
Command diagnose_command();
Command facts_command();
Command fleet_command();
Command facts_import_command();  // below `facts`
Command facts_show_command();    // below `facts`
Command mcp_command();
Command mig_command();
Command mig_plan_command();  // below `mig`
Command license_command();
Command explain_command();
Command schema_command();
Command catalog_command();
Command releases_command();  // below `catalog`
Command completion_command();
Command help_command();
Command man_command();
Command version_command();

}  // namespace gpuctl::cli
