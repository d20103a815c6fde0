// One run of a program that takes long: its log is followed, phases are told, and what it says is
// kept as far as it explains a failure.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/supervised.hpp"
#include "install/cause.hpp"
#include "install/log_reader.hpp"
#include "steps/steps.hpp"

namespace gpuctl::install {

/// What is known of a log so far.
class LogStory {
 public:
  LogStory(const steps::Step& step, const signature::Signatures& signatures, Redact redact);
  ~LogStory();
  LogStory(const LogStory&) = delete;
  LogStory& operator=(const LogStory&) = delete;

  /// Takes a line in. True when it begins a phase that was not reached before.
  bool take(const LogLine& line);

  /// The furthest phase; nullptr before the first.
  const steps::Phase* phase() const;
  /// The message that means failure, or nullptr.
  const steps::Refusal* refusal() const { return refusal_; }
  /// What the log shows: a cause, unless there is only a weak one.
  const std::optional<Cause>& cause() const { return cause_ ? cause_ : weak_; }
  /// The last different lines that tell of trouble, oldest first, redacted.
  const std::vector<std::string>& trouble() const { return trouble_; }
  /// The last line of any kind, redacted; "" when there is none.
  const std::string& last() const { return last_; }
  /// True when the last line said something that no line before it said, but for numbers.
  bool is_news() const { return news_; }

 private:
  struct Patterns;
  const steps::Step& step_;
  const signature::Signatures& signatures_;
  Redact redact_;
  std::unique_ptr<Patterns> patterns_;
  std::optional<std::size_t> phase_;
  const steps::Refusal* refusal_ = nullptr;
  std::optional<Cause> cause_;
  std::optional<Cause> weak_;
  std::vector<std::string> trouble_;
  std::string last_;
  bool news_ = false;
};

/// How a run ended.
struct Ran {
  std::optional<base::FileError> not_started;
  base::Ended ended;
  int signal = 0;                    // that we were sent, and why it was ended
  bool stalled = false;              // it said nothing new for too long
  std::vector<std::string> printed;  // last messages, when it did not end well

  bool good() const { return !not_started && signal == 0 && !stalled && ended.good(); }
};

struct RunOptions {
  std::string log;     // absolute; empty: what it prints is its log
  std::string output;  // absolute path of the file for what it prints
  std::optional<std::chrono::milliseconds> stalls;
  /// Told once it runs, with the length that the log had. False: it is ended at once.
  std::function<bool(const base::ProcessIdentity&, std::int64_t)> started;
  /// Told of each phase that begins, with the time since the program began.
  std::function<void(const steps::Phase&, std::chrono::seconds)> phase;
};

/// How long a program has to end after SIGTERM: an installer takes its controllers down first,
/// which takes up to a minute.
inline constexpr std::chrono::milliseconds kGrace{70'000};

/// Runs a program to its end. SIGINT and SIGTERM to us end it (SIGTERM, then SIGKILL after kGrace,
/// or at a second signal) and all that it has left; they take their course with us when the caller
/// lets them.
Ran run_watched(const base::Process& process, const RunOptions& options, LogStory& story);

}  // namespace gpuctl::install
