#include "install/watched_run.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <set>

#include "base/held_signals.hpp"

namespace gpuctl::install {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kTick{100};
constexpr std::size_t kMostTrouble = 5;
constexpr std::size_t kMostRemembered = 20'000;  // different lines

re2::StringPiece piece(std::string_view text) {
  return {text.data(), text.size()};
}

bool is_trouble(const LogLine& line) {
  return line.level == "error" || line.level == "fatal" || line.level == "warning";
}

// The same but for its numbers: durations and request ids change although nothing happens.
std::string without_numbers(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) {
      out += c;
    } else if (out.empty() || out.back() != '0') {
      out += '0';
    }
  }
  return out;
}

// One of the held signals that waits; 0 when there is none.
int waiting_signal() {
  const sigset_t set = base::HeldSignals::set();
  const timespec at_once{};
  const int found = ::sigtimedwait(&set, nullptr, &at_once);
  return found > 0 ? found : 0;
}

// The end of what was added to a file since it had this length, a line a message.
std::vector<std::string> last_lines(const std::string& path, std::int64_t since) {
  const std::int64_t most = kMostSearchedBytes;
  LogReader reader(path, std::max(since, length_of(path) - most));
  std::vector<std::string> lines;
  for (LogLine& line : reader.last()) {
    if (!line.message.empty()) lines.push_back(std::move(line.message));
  }
  return lines;
}

}  // namespace

struct LogStory::Patterns {
  std::vector<std::unique_ptr<re2::RE2>> phases;
  std::vector<std::unique_ptr<re2::RE2>> refusals;
  std::set<std::string> said;
};

LogStory::LogStory(const steps::Step& step, const signature::Signatures& signatures, Redact redact)
    : step_(step),
      signatures_(signatures),
      redact_(std::move(redact)),
      patterns_(std::make_unique<Patterns>()) {
  for (const steps::Phase& phase : step.phases) {
    patterns_->phases.push_back(std::make_unique<re2::RE2>(phase.starts));
  }
  for (const steps::Refusal& refusal : step.refused) {
    patterns_->refusals.push_back(std::make_unique<re2::RE2>(refusal.pattern));
  }
}

LogStory::~LogStory() = default;

const steps::Phase* LogStory::phase() const {
  return phase_ ? &step_.phases[*phase_] : nullptr;
}

bool LogStory::take(const LogLine& line) {
  const re2::StringPiece text = piece(line.message);
  bool further = false;
  for (std::size_t i = phase_ ? *phase_ + 1 : 0; i < step_.phases.size(); ++i) {
    if (!re2::RE2::PartialMatch(text, *patterns_->phases[i])) continue;
    phase_ = i;
    further = true;
  }
  for (std::size_t i = 0; i < step_.refused.size() && refusal_ == nullptr; ++i) {
    if (re2::RE2::PartialMatch(text, *patterns_->refusals[i])) refusal_ = &step_.refused[i];
  }
  news_ = patterns_->said.size() < kMostRemembered &&
          patterns_->said.insert(without_numbers(line.message)).second;
  std::optional<std::string> shown = redact_(line.message);
  if (!cause_) {
    for (const bool weak : {false, true}) {
      if (weak && weak_) break;
      const signature::Signature* found = signatures_.match(line.message, weak);
      if (found != nullptr) (weak ? weak_ : cause_) = Cause{found, shown.value_or("")};
      if (cause_) break;
    }
  }
  if (!shown || shown->empty()) return further;
  last_ = *shown;
  if (is_trouble(line)) {
    const auto known = std::find(trouble_.begin(), trouble_.end(), *shown);
    if (known != trouble_.end()) trouble_.erase(known);
    trouble_.push_back(std::move(*shown));
    if (trouble_.size() > kMostTrouble) trouble_.erase(trouble_.begin());
  }
  return further;
}

Ran run_watched(const base::Process& process, const RunOptions& options, LogStory& story) {
  Ran ran;
  const std::string& log = options.log.empty() ? options.output : options.log;
  const std::int64_t offset = length_of(log);
  const std::int64_t printed_before = length_of(options.output);
  base::HeldSignals held;
  auto started = base::Supervised::start(process, options.output);
  if (auto* error = std::get_if<base::FileError>(&started)) {
    ran.not_started = std::move(*error);
    return ran;
  }
  auto& program = std::get<base::Supervised>(started);
  LogReader reader(log, offset);
  const auto began = Clock::now();
  auto news = began;
  const auto take = [&](const std::vector<LogLine>& lines) {
    for (const LogLine& line : lines) {
      const bool further = story.take(line);
      if (story.is_news()) news = Clock::now();
      if (further && options.phase) {
        options.phase(*story.phase(),
                      std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - began));
      }
    }
  };
  const auto end = [&] {
    program.ask_to_end();
    const auto limit = Clock::now() + kGrace;
    while (!program.wait(kTick) && Clock::now() < limit) {
      take(reader.next());
      if (waiting_signal() != 0) break;
    }
    base::end_leftovers(program.identity(), {}, milliseconds(0));
    program.wait(kGrace);
  };
  if (!options.started(program.identity(), offset)) {
    end();
    return ran;
  }
  while (!program.wait(kTick)) {
    take(reader.next());
    ran.signal = waiting_signal();
    ran.stalled = options.stalls && Clock::now() - news > *options.stalls;
    if (ran.signal != 0 || ran.stalled) {
      end();
      break;
    }
  }
  take(reader.last());
  // A program that was killed leaves children; one that ended well has none.
  base::end_leftovers(program.identity(), {}, kGrace);
  ran.ended = program.ended();
  if (!ran.good()) ran.printed = last_lines(options.output, printed_before);
  return ran;
}

}  // namespace gpuctl::install
