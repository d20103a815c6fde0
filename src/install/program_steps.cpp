// Steps that run programs to their end, and how to go on after one that did not get there.
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "base/text.hpp"
#include "install/codes.hpp"
#include "install/driver.hpp"
#include "live/ask.hpp"

namespace gpuctl::install {

namespace {

constexpr std::chrono::minutes kOneOfMany{10};
constexpr std::size_t kMostKeptBytes = std::size_t{4} << 20U;

std::string log_of(const steps::Step& step, const std::string& directory) {
  return step.log.empty() ? std::string() : directory + "/" + step.log;
}

const steps::Exit* exit_of(const steps::Step& step, const base::Ended& ended) {
  if (ended.how != base::Ended::How::exited) return nullptr;
  const auto found = std::find_if(step.exits.begin(), step.exits.end(),
                                  [&](const steps::Exit& exit) { return exit.code == ended.code; });
  return found == step.exits.end() ? nullptr : &*found;
}

/// Whether the last run of a program was killed, or its end was never recorded.
bool was_cut(const StepStory& told) {
  return told.outcome == Outcome::started || told.outcome == Outcome::interrupted ||
         (told.outcome == Outcome::failed && told.process.id != 0 && !told.exit);
}

}  // namespace

Driver::Next Driver::program(const steps::Step& step) {
  if (step.over) return run_for_each(step) || step.lenient ? Next::on : Next::stop;
  if (!has_needs(step)) {
    doors_.say("   nothing was made");
    return sink_.has_errors() ? Next::stop : Next::on;
  }
  const StepStory told = story().step(step.name);
  const std::string resume =
      told.outcome == Outcome::none ? std::string(steps::kAgain) : resume_of(step, told);
  if (resume == steps::kDiscard) {
    return journal_.discard(sink_) ? Next::anew : Next::stop;
  }
  std::vector<const steps::Call*> calls;
  if (resume == steps::kAgain) calls.push_back(&step.call);
  for (const steps::Way& way : step.ways) {
    if (way.name != resume) continue;
    for (const steps::Call& call : way.calls) calls.push_back(&call);
  }
  if (resume != steps::kAgain && resume != steps::kDone) {
    doors_.say("   goes on where the last run ended");
  }
  if (!run_calls(step, calls)) return Next::stop;
  return has_yields(step, true) && journal_.result(step.name, Outcome::done, 0, "", "", sink_)
             ? Next::on
             : Next::stop;
}

bool Driver::has_needs(const steps::Step& step) {
  const std::string attempt = "attempt-" + std::to_string(story().attempt);
  for (const std::string& name : step.needs) {
    if (::access((directory() + "/" + name).c_str(), F_OK) == 0) continue;
    auto kept = base::read_file(place_.directory() + "/" + attempt + "." + name, kMostKeptBytes);
    const auto* text = std::get_if<std::string>(&kept);
    if (text == nullptr || !place_.write(attempt + "/" + name, *text, sink_)) return false;
  }
  return true;
}

std::string Driver::resume_of(const steps::Step& step, const StepStory& told) {
  LogStory log(step, *known_.signatures, [](std::string_view) { return std::nullopt; });
  LogReader reader(log_of(step, directory()), 0);
  for (const LogLine& line : reader.last()) log.take(line);
  const steps::Phase* phase = log.phase();
  if (phase != nullptr && phase->resume == steps::kDone) return phase->resume;
  if (log.refusal() != nullptr) return std::string(steps::kDiscard);
  if (step.local && was_cut(told)) return std::string(steps::kDiscard);
  if (!told.resume.empty()) return told.resume;
  return phase == nullptr ? std::string(steps::kAgain) : phase->resume;
}

bool Driver::run_calls(const steps::Step& step, const std::vector<const steps::Call*>& calls) {
  LogStory log(step, *known_.signatures, redaction());
  if (!journal_.intend(step.name, sink_)) return false;
  for (const steps::Call* call : calls) {
    const auto process = scene_->process(*call, sink_);
    if (!process) return false;
    const std::string words = scene_->shown(*call, sink_);
    doors_.say("   " + words);
    RunOptions options;
    options.log = log_of(step, directory());
    options.output = place_.directory() + "/attempt-" + std::to_string(story().attempt) + "." +
                     step.name + ".log";
    options.stalls = step.stalls;
    options.started = [&](const base::ProcessIdentity& identity, std::int64_t offset) {
      return journal_.started(step.name, identity, offset, sink_);
    };
    options.phase = [&](const steps::Phase& phase, std::chrono::seconds since) {
      doors_.say("   " + time_text(since) + "  " + phase.name +
                 (phase.limit ? " (at most " + time_text(*phase.limit) + ")" : ""));
    };
    const Ran ran = run_watched(*process, options, log);
    if (ran.good() && log.refusal() == nullptr) continue;
    const steps::Exit* exit = exit_of(step, ran.ended);
    const bool over = log.phase() != nullptr && log.phase()->resume == steps::kDone;
    std::string resume = over                                       ? std::string(steps::kDone)
                         : exit != nullptr && !exit->resume.empty() ? exit->resume
                                                                    : resume_of(step, StepStory{});
    if (log.refusal() != nullptr) resume = steps::kDiscard;
    if (sink_.has_errors()) return false;
    std::optional<std::int64_t> code;
    if (ran.ended.how == base::Ended::How::exited) code = ran.ended.code;
    const bool written =
        journal_.result(step.name, ran.signal != 0 ? Outcome::interrupted : Outcome::failed, code,
                        log.phase() == nullptr ? "" : log.phase()->name,
                        exit != nullptr && !exit->resume.empty() ? exit->resume : "", sink_);
    report_run(step, words, ran, log, resume);
    if (ran.signal != 0 && written) {
      fail();
      ::raise(ran.signal);  // after which we are mostly no more
    }
    return false;
  }
  return true;
}

void Driver::report_run(const steps::Step& step, const std::string& words, const Ran& ran,
                        const LogStory& log, const std::string& resume) {
  if (ran.not_started) {
    sink_.error(kProgramFailed, diag::kNoOrigin,
                "`" + words + "` cannot be started: " + ran.not_started->text);
    return;
  }
  std::string how = live::last_words(ran.ended);
  std::string_view code = kProgramFailed;
  if (ran.signal != 0) {
    code = kInterrupted;
    how = "was interrupted by signal " + std::to_string(ran.signal);
  } else if (ran.stalled) {
    code = kNotDestroyed;
    how = "has said nothing new for " + time_text(*step.stalls) + ", and was ended";
  } else if (log.refusal() != nullptr) {
    code = kRefusedByLog;
    how = "cannot be relied on: " + log.refusal()->means;
  } else if (const steps::Exit* exit = exit_of(step, ran.ended)) {
    how = "ended with exit code " + std::to_string(exit->code) + ": " + exit->means;
  } else if (how.starts_with("it ")) {
    how.erase(0, 3);
  }
  diag::Diagnostic& failed = sink_.error(code, diag::kNoOrigin, "`" + words + "` " + how);
  if (log.phase() != nullptr) failed.note("it was in phase " + log.phase()->name);
  // A program that ends before it has its log says why where people would see it.
  for (const std::string& line : log.trouble()) failed.note("it said: " + line);
  if (log.trouble().empty() && !ran.printed.empty()) {
    failed.note("it said: " + redact(ran.printed.back()).value_or("(not shown)"));
  }
  const std::string file = log_of(step, directory());
  if (!file.empty()) failed.note("all it said is in `" + file + "`");
  if (const steps::Exit* exit = exit_of(step, ran.ended);
      exit != nullptr && !exit->remedy.empty()) {
    failed.suggest(exit->remedy);
  }
  const std::optional<Cause> cause =
      log.cause() ? log.cause()
                  : find_cause(base::join(ran.printed, "\n"), *known_.signatures, redaction());
  if (cause) failed.note("the cause is known, see below");
  if (story().destroying || story().discarding) {
    failed.note("what is left is paid for until it is gone");
    failed.suggest(story().destroying ? "mend it, and the next `gpuctl destroy` goes on"
                                      : "mend it, and the next `gpuctl install` goes on");
  } else if (resume == steps::kDiscard) {
    failed.note("what was made so far is paid for until it is destroyed");
    failed.suggest(
        "mend the cause; the next `gpuctl install` destroys what there is and begins anew, "
        "`gpuctl destroy` only destroys");
  } else {
    if (resume != steps::kAgain) failed.note("what was made so far is paid for");
    failed.suggest("mend the cause; the next `gpuctl install` goes on from here");
  }
  if (cause) report_cause(*cause, sink_);
}

// The things that a program is to be run for; nothing with `why` when they cannot be told.
std::optional<std::vector<yaml::Node>> Driver::items_of(const steps::Step& step, std::string& why) {
  const Reply reply = answer(*step.over);
  if (!reply.tree) {
    why = reply.why.empty() ? "the program is not there" : reply.why;
    sink_ = {};
    return std::nullopt;
  }
  scene_->set_answer(*reply.tree);
  const auto listed = scene_->value(step.items, nullptr);
  if (!listed) return std::vector<yaml::Node>();
  return std::vector<yaml::Node>(listed->node().items().begin(), listed->node().items().end());
}

std::vector<std::string> Driver::at_stake() {
  std::vector<std::string> lines;
  for (const steps::Step& step : known_.steps->destroy) {
    if (!step.over || !applies(step)) continue;
    diag::Sink unknown;
    const std::string title = scene_->text(step.title, unknown);
    std::string why;
    const auto items = items_of(step, why);
    if (!items) {
      lines.push_back(title + ": not known (" + why + ")");
      continue;
    }
    for (const yaml::Node& item : *items) {
      scene_->set_item(item);
      lines.push_back(title + ": " + scene_->shown(step.call, unknown));
    }
  }
  return lines;
}

// Runs the program of a step for each thing that another one names.
bool Driver::run_for_each(const steps::Step& step) {
  std::string why;
  const auto items = items_of(step, why);
  if (!items) {
    doors_.say("   skipped: " + why);
    return false;
  }
  if (items->empty()) doors_.say("   nothing to do");
  bool good = true;
  for (const yaml::Node& item : *items) {
    scene_->set_item(item);
    auto process = scene_->process(step.call, sink_);
    if (!process) return false;
    const std::string words = scene_->shown(step.call, sink_);
    doors_.say("   " + words);
    process->deadline = std::chrono::steady_clock::now() + kOneOfMany;
    const base::Ended ended = base::run_process(*process);
    if (ended.good()) continue;
    good = false;
    diag::Diagnostic& failed =
        step.lenient ? sink_.warning(kProgramFailed, diag::kNoOrigin, "`" + words + "` failed")
                     : sink_.error(kProgramFailed, diag::kNoOrigin, "`" + words + "` failed");
    const std::optional<Cause> cause = find_cause(ended, *known_.signatures, redaction());
    failed.note("it said: " + (cause && !cause->line.empty()
                                   ? cause->line
                                   : redact(live::last_words(ended)).value_or("(not shown)")));
    if (!cause) continue;
    if (step.lenient) {
      failed.note("the cause is known: " + cause->signature->cause)
          .suggest(cause->signature->remedy);
    } else {
      report_cause(*cause, sink_);
    }
  }
  return good;
}

std::optional<std::pair<std::string, std::string>> Driver::log_now(const steps::Step& step) {
  if (step.log.empty()) return std::nullopt;
  LogStory log(step, *known_.signatures, redaction());
  LogReader reader(log_of(step, directory()), 0);
  for (const LogLine& line : reader.last()) log.take(line);
  if (log.phase() == nullptr) return std::nullopt;
  return std::pair(log.phase()->name, log.last());
}

}  // namespace gpuctl::install
