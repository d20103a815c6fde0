// What the commands share: global options, exit codes, how diagnostics and messages are shown.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/pipeline.hpp"
#include "diag/diagnostic.hpp"

namespace gpuctl::cli {

/// Exit codes, documented in the README.
enum ExitCode : int { kOk = 0, kFindings = 1, kUsageError = 64 };

struct GlobalOptions {
  std::string providers;  // --providers DIR
  std::string templates;  // --templates DIR
  std::string format = "text";
  std::string color = "auto";
  bool verbose = false;
  bool profile = false;
};

/// Diagnostics as they will be printed.
struct Shown {
  std::string text;
  std::size_t errors = 0;
  std::size_t warnings = 0;
};

/// Shows diagnostics on standard error as the global options say, and counts. At its end it says
/// "2 errors, 1 warning" when there was anything.
class Report {
 public:
  explicit Report(const GlobalOptions& options);
  ~Report();
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  /// What show() would print. Thread-safe.
  Shown prepare(const diag::Sink& sink, const diag::Sources& sources) const;
  void show(const Shown& shown);
  void show(const diag::Sink& sink, const diag::Sources& sources);
  /// A message for people on standard error; silent with `--format json`.
  void say(const std::string& line) const;
  /// "colour" or "plain".
  std::string colouring() const { return colour_ ? "colour" : "plain"; }
  std::size_t errors() const { return errors_; }
  std::size_t warnings() const { return warnings_; }

 private:
  static constexpr std::size_t kMostShown = 50;
  bool json_ = false;
  bool colour_ = false;
  std::size_t errors_ = 0;
  std::size_t warnings_ = 0;
};

/// The knowledge of this process, opened at the first call. It lives until the end: taking it apart
/// would cost as much as a small run.
Knowledge& open_knowledge(const GlobalOptions& options, diag::Sink& sink);
/// The same; nullptr after shown errors.
Knowledge* open_knowledge(const GlobalOptions& options, Report& report);

/// Prints to standard output; false when that fails (GPU0003, except that a reader who has gone
/// away is no finding).
bool print(std::string_view text, const GlobalOptions& options);

/// Shows on standard error where the time went since base::start_stages(), as `--format` says.
void show_stages(const GlobalOptions& options);

/// "1 document", "2 documents".
std::string counted(std::size_t number, const std::string& noun);

/// A name of the user's as a message may hold it: in one line, and unable to steer a terminal.
std::string shown(std::string_view name);

/// The inputs that several commands take.
struct BlueprintOptions {
  std::vector<std::string> blueprints;
  std::string facts;
  std::vector<std::string> crds;
  bool facts_replace = false;
  bool strict = false;
  std::string date;   // --date, or empty
  unsigned jobs = 0;  // 0: one a processor

  void add_to(CLI::App& command);
  /// What only commands have that write to a place with earlier output.
  void add_target_options(CLI::App& command);
};

/// The run's request with CRDs opened; nothing after shown errors.
std::optional<Request> make_request(const BlueprintOptions& options, Report& report);

/// The number of threads for `--jobs`.
unsigned thread_count(unsigned jobs);

// Each command adds itself to the application; `exit_code` receives the result of its run.
void add_validate(CLI::App& app, const GlobalOptions& global, int& exit_code);
void add_render(CLI::App& app, const GlobalOptions& global, int& exit_code);
void add_apply(CLI::App& app, const GlobalOptions& global, int& exit_code);
void add_upgrade(CLI::App& app, const GlobalOptions& global, int& exit_code);
void add_import(CLI::App& app, const GlobalOptions& global, int& exit_code);
void add_mig(CLI::App& app, const GlobalOptions& global, int& exit_code);
void add_license(CLI::App& app, const GlobalOptions& global, int& exit_code);
void add_explain(CLI::App& app, const GlobalOptions& global, int& exit_code);
void add_catalog(CLI::App& app, const GlobalOptions& global, int& exit_code);
/// `catalog releases`, below `catalog`.
void add_releases(CLI::App& catalog, const GlobalOptions& global, int& exit_code);
void add_version(CLI::App& app, const GlobalOptions& global, int& exit_code);

}  // namespace gpuctl::cli
