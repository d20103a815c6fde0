// Steps that ask a running cluster, and apply to it.
#include <poll.h>
#include <re2/re2.h>

#include <algorithm>

#include "base/text.hpp"
#include "install/codes.hpp"
#include "install/driver.hpp"
#include "live/ask.hpp"
#include "yaml/json.hpp"

namespace gpuctl::install {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostMissing = 10;
constexpr std::string_view kApplied = "applied";

void pause(std::chrono::milliseconds time, Clock::time_point limit) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(limit - Clock::now());
  const auto wait =
      std::min<std::chrono::milliseconds>(time, std::max(left, std::chrono::milliseconds(0)));
  ::poll(nullptr, 0, static_cast<int>(wait.count()));
}

}  // namespace

Driver::Reply Driver::answer(const steps::Call& call) {
  Reply reply;
  auto process = scene_->process(call, sink_);
  if (!process) return reply;
  process->deadline = Clock::now() + kOneQuestion;
  const live::Answer found = live::ask(std::move(*process), scene_->arena());
  reply.tree = found.tree;
  if (found.good()) return reply;
  reply.cause = find_cause(found.ended, *known_.signatures, redaction());
  reply.why = reply.cause && !reply.cause->line.empty() ? reply.cause->line
                                                        : redact(found.why).value_or("it failed");
  return reply;
}

// What a step that waits says of the cluster, each behind `what`, and the command that shows more.
void Driver::add_state(const steps::Step& step, std::string_view what,
                       const std::vector<std::string>& state, diag::Diagnostic& diagnostic) {
  for (std::size_t i = 0; i < std::min(state.size(), kMostMissing); ++i) {
    diagnostic.note(std::string(what) + ": " + redact(state[i]).value_or("(not shown)"));
  }
  if (state.size() > kMostMissing) {
    diagnostic.note("and " + std::to_string(state.size() - kMostMissing) + " more");
  }
  diag::Sink unknown;
  const std::string show = scene_->text(step.show, unknown);
  if (!show.empty()) diagnostic.suggest("`" + show + "` shows more");
}

void Driver::report_late(const steps::Step& step, const Reply& last) {
  const std::vector<std::string> missing = scene_->texts(step.missing);
  const std::string limit = time_text(step.limit.value_or(kDefaultLimit));
  diag::Diagnostic& late = sink_.error(kWaitedLong, diag::kNoOrigin,
                                       "`" + step.name + "` did not come true within " + limit);
  if (!last.tree) late.note("the last question was not answered: " + last.why);
  add_state(step, "missing", missing, late);
  late.suggest("the next `gpuctl install` waits on from here");
  const std::optional<Cause> cause =
      last.tree ? find_cause(base::join(missing, "\n"), *known_.signatures, redaction())
                : last.cause;
  if (cause) report_cause(*cause, sink_);
}

// More than one question would only be asked in vain.
bool Driver::report_hopeless(const steps::Step& step) {
  const std::vector<std::string> why = scene_->texts(step.failed);
  if (why.empty()) return false;
  diag::Diagnostic& hopeless =
      sink_.error(kHopeless, diag::kNoOrigin, "what `" + step.name + "` waits for has failed");
  add_state(step, "failed", why, hopeless);
  hopeless.suggest("when that is mended, the next `gpuctl install` goes on from here");
  return true;
}

bool Driver::ask(const steps::Step& step) {
  const auto limit = Clock::now() + step.limit.value_or(kDefaultLimit);
  auto good_since = Clock::time_point::max();  // not good now
  std::string said;
  for (;;) {
    const Reply reply = answer(step.call);
    const std::optional<yaml::Node>& found = reply.tree;
    if (sink_.has_errors()) return false;  // no such program: it will not come
    bool good = false;
    if (found) {
      scene_->set_answer(*found);
      good = scene_->is_true(step.check, true, nullptr);
    }
    const auto now = Clock::now();
    if (found && !good && report_hopeless(step)) return false;
    if (!good) {
      good_since = Clock::time_point::max();
      const std::vector<std::string> missing = scene_->texts(step.missing);
      const std::string first = !found ? reply.why : missing.empty() ? "" : missing.front();
      if (!first.empty() && first != said) {
        said = first;
        doors_.say("   waiting: " + redact(first).value_or("(not shown)") +
                   (found && missing.size() > 1
                        ? " (and " + std::to_string(missing.size() - 1) + " more)"
                        : ""));
      }
    } else if (good_since == Clock::time_point::max()) {
      good_since = now;
    }
    if (good && now - good_since >= step.settle) return true;
    if (now >= limit) {
      report_late(step, reply);
      return false;
    }
    pause(good ? std::min(step.every, step.settle) : step.every, limit);
  }
}

bool Driver::apply(const steps::Step& step) {
  const std::string folder = scene_->text(step.applied, sink_);
  std::size_t files = 0;
  for (const auto& [path, content] : result_->output->files.files) {
    if (!path.starts_with(folder + "/")) continue;
    if (!place_.write(std::string(kApplied) + "/" + path, content, sink_)) return false;
    ++files;
  }
  if (files == 0) {
    sink_.error(kNotApplied, diag::kNoOrigin, "the output has no files in `" + folder + "`");
    return false;
  }
  scene_->set_folder(place_.directory() + "/" + std::string(kApplied) + "/" + folder);
  const auto limit = Clock::now() + step.limit.value_or(kDefaultLimit);
  std::string said;
  for (;;) {
    auto process = scene_->process(step.call, sink_);
    if (!process) return false;
    process->deadline = Clock::now() + kOneQuestion * 2;
    const base::Ended ended = base::run_process(*process);
    if (ended.good()) return true;
    const std::optional<Cause> cause = find_cause(ended, *known_.signatures, redaction());
    const std::string why = cause && !cause->line.empty()
                                ? cause->line
                                : redact(live::last_words(ended)).value_or("it failed");
    const bool early = std::any_of(step.retry.begin(), step.retry.end(), [&](const auto& pattern) {
      return re2::RE2::PartialMatch(ended.errors, pattern);
    });
    if (!early || Clock::now() >= limit) {
      sink_.error(kNotApplied, diag::kNoOrigin, "`" + folder + "` could not be applied")
          .note("it said: " + why)
          .note(early ? "this counts as too early, and was tried for " +
                            time_text(step.limit.value_or(kDefaultLimit))
                      : "nothing of this folder is tried again by itself")
          .suggest("`" + scene_->shown(step.call, sink_) + "` shows all");
      if (cause) report_cause(*cause, sink_);
      return false;
    }
    if (why != said) doors_.say("   too early: " + why);
    said = why;
    pause(step.every, limit);
  }
}

bool Driver::ensure(const steps::Step& step) {
  for (;;) {
    const Surroundings around{*scene_,    journal_,    *known_.signatures,
                              doors_.say, redaction(), ways_left_};
    Ensuring ensuring(step, around, sink_);
    if (ensuring.run()) return true;
    if (!ensuring.otherwise()) return false;
    std::string why;
    const auto facts = yaml::read_json(*ensuring.otherwise(), *result_->arena, why);
    if (!facts || !learn_facts(*facts) || !applies(step)) return false;
  }
}

std::vector<Driver::Standing> Driver::standings() {
  std::vector<Standing> out;
  for (const steps::Step& step : known_.steps->install) {
    if (step.kind != steps::StepKind::ask || !applies(step)) continue;
    diag::Sink unknown;
    Standing standing{step.name, scene_->text(step.title, unknown), {}, {}, ""};
    standing.show = scene_->text(step.show, unknown);
    const Reply reply = answer(step.call);
    if (reply.tree) {
      scene_->set_answer(*reply.tree);
      standing.good = scene_->is_true(step.check, true, nullptr);
      if (!*standing.good) {
        for (const std::string& line : scene_->texts(step.missing)) {
          standing.missing.push_back(redact(line).value_or("(not shown)"));
        }
      }
    } else if (!reply.why.empty()) {
      standing.missing.push_back(reply.why);
    }
    for (const diag::Diagnostic& one : sink_.all()) standing.missing.push_back(one.message);
    sink_ = {};
    out.push_back(std::move(standing));
  }
  return out;
}

}  // namespace gpuctl::install
