#include "install/ensuring.hpp"

#include <poll.h>
#include <re2/re2.h>

#include <algorithm>

#include "base/text.hpp"
#include "install/codes.hpp"
#include "install/driver.hpp"
#include "live/ask.hpp"
#include "yaml/emit.hpp"

namespace gpuctl::install {

namespace {

constexpr std::chrono::minutes kOneCall{10};
constexpr std::size_t kMostReasons = 10;
constexpr std::size_t kMostLines = 3;

bool fits(const std::vector<std::string>& patterns, const base::Ended& ended) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return re2::RE2::PartialMatch(ended.errors, pattern);
  });
}

// As messages have a value: texts as they are, all else as JSON.
std::string text_of(const yaml::Node& node) {
  return node.is_string() ? std::string(node.as_string()) : yaml::emit_json(node);
}

}  // namespace

Ensuring::Ensuring(const steps::Step& step, const Surroundings& around, diag::Sink& sink)
    : step_(step), things_(*step.ensure), around_(around), sink_(sink) {}

bool Ensuring::run() {
  const auto each = around_.scene.value(things_.each, &sink_);
  if (!each) return false;
  const std::vector<yaml::Node> items(each->node().items().begin(), each->node().items().end());
  if (items.empty()) around_.say("   nothing to do");
  for (const yaml::Node& item : items) {
    around_.scene.set_item(item);
    name_ = around_.scene.text(things_.called, sink_);
    if (sink_.has_errors()) return false;
    limit_ = Clock::now() + step_.limit.value_or(kDefaultLimit);
    said_.clear();
    created_ = false;
    if (!(things_.gone ? take_away() : make())) return false;
  }
  return true;
}

// Where it could not be told whether it is there: once that was known, it may be again.
bool Ensuring::may_look_again(bool first) {
  if (sink_.has_errors()) return false;
  if (!first) return true;
  report(kNotLookedAt, "whether " + name_ + " is there cannot be told").note("it said: " + words_);
  show_cause();
  return false;
}

// Until it is there and ready.
bool Ensuring::make() {
  bool first = true;
  bool compared = false;
  for (;; first = false) {
    const Found found = look();
    if (found == Found::unknown) {
      if (!may_look_again(first)) return false;
    } else if (found == Found::absent) {
      if (!create()) return false;
    } else {
      const std::vector<std::string> why = failures();
      const bool ours = around_.journal.story().made.contains(name_);
      if (!why.empty() && first && ours && things_.remove) {
        // What goes is not compared: it may have another place by now.
        if (!make_anew(why)) return false;
        continue;
      }
      if (!why.empty() && ours && things_.remove && goes_otherwise(why)) return false;
      const bool done = around_.scene.is_true(things_.done, true, nullptr);
      // What a run of ours began to take away is still there, and as it was.
      if (!compared && (!ours || done)) {
        if (!is_same()) return false;
        compared = true;
      }
      if (!why.empty()) return broken(why, ours);
      if (done && first) around_.say("   " + name_ + ": there before");
      if (!done || !first) say_state();
      if (done) return true;
    }
    if (!pause()) return late();
  }
}

// Until it is away.
bool Ensuring::take_away() {
  bool asked = false;
  for (bool first = true;; first = false) {
    const Found found = look();
    if (found == Found::absent) {
      around_.say("   " + name_ + (asked ? ": gone" : ": not there"));
      return true;
    }
    if (found == Found::unknown) {
      if (!may_look_again(first)) return false;
    } else if (!things_.whoever && !around_.journal.story().made.contains(name_)) {
      around_.say("   " + name_ + ": was there before, and stays");
      return true;
    } else if (!asked) {
      const Ran ran = call(*things_.remove);
      if (ran == Ran::stop) return false;
      asked = ran == Ran::good;
      if (ran == Ran::failed && look() == Found::there) {
        report(kNotDestroyed, name_ + " cannot be taken away")
            .note("it said: " + words_)
            .note("it is paid for until it is gone")
            .suggest("mend it, and run the same command again");
        show_cause();
        return false;
      }
      // What was taken away at once needs no second look after a pause.
      if (asked && look() == Found::absent) continue;
    } else {
      say_state();
    }
    if (!pause()) return late();
  }
}

Ensuring::Found Ensuring::look() {
  auto process = around_.scene.process(things_.look, sink_);
  if (!process) return Found::unknown;
  process->deadline = Clock::now() + kOneQuestion;
  const live::Answer answer = live::ask(std::move(*process), around_.scene.arena());
  if (!answer.good()) {
    hear(answer.ended);
    if (answer.ended.good()) words_ = shown(answer.why);
    return fits(things_.absent, answer.ended) ? Found::absent : Found::unknown;
  }
  around_.scene.set_answer(*answer.tree);
  return around_.scene.is_true(things_.exists, true, nullptr) ? Found::there : Found::absent;
}

Ensuring::Ran Ensuring::call(const steps::Call& call) {
  auto process = around_.scene.process(call, sink_);
  if (!process) return Ran::stop;
  const std::string command = around_.scene.shown(call, sink_);
  if (command != command_) around_.say("   " + command);
  command_ = command;
  process->deadline = Clock::now() + kOneCall;
  const base::Ended ended = base::run_process(*process);
  if (ended.good()) return Ran::good;
  hear(ended);
  if (fits(things_.retry, ended)) {
    if (words_ != said_) around_.say("   too early: " + words_);
    said_ = words_;
    return Ran::early;
  }
  return fits(things_.taken, ended) ? Ran::taken : Ran::failed;
}

bool Ensuring::create() {
  if (created_) return true;  // it was begun, and is not to be seen yet
  const bool ours = around_.journal.story().made.contains(name_);
  if (!around_.journal.making(name_, sink_)) return false;
  const Ran ran = call(*things_.create);
  switch (ran) {
    case Ran::stop:
      return false;
    case Ran::early:
      return true;
    case Ran::good:
      created_ = true;
      return true;
    case Ran::taken:
      // Somebody else was faster: it is compared as any other that is there.
      return ours || around_.journal.adopted(name_, sink_);
    case Ran::failed:
      break;
  }
  // It may have been begun all the same.
  const std::string refusal = words_;
  const std::optional<Cause> cause = cause_;
  if (look() == Found::there) {
    around_.say("   " + name_ + " was begun all the same: " + refusal);
    created_ = true;
    return true;
  }
  words_ = refusal;
  cause_ = cause;
  return !goes_otherwise({refusal}) && not_made();
}

bool Ensuring::is_same() {
  bool same = true;
  for (const steps::Sameness& one : things_.same) {
    const auto wanted = around_.scene.value(one.wanted, nullptr);
    if (!wanted || wanted->is_omit()) continue;
    const auto found = around_.scene.value(one.found, nullptr);
    const std::string is = found && !found->is_omit() ? text_of(found->node()) : "nothing";
    const std::string shall = text_of(wanted->node());
    if (is == shall) continue;
    report(kDiffers, name_ + " is there, and its " + one.what + " is `" + shown(is) + "`, not `" +
                         shown(shall) + "`")
        .note("what is there is never changed")
        .suggest(
            "let the blueprint say what is there, or take it away or give the new one another "
            "name");
    same = false;
  }
  return same;
}

std::vector<std::string> Ensuring::failures() {
  std::vector<std::string> out = around_.scene.texts(things_.failed);
  if (!out.empty()) {
    cause_ = find_cause(base::join(out, "\n"), around_.signatures, around_.redact);
  }
  if (out.size() > kMostReasons) out.resize(kMostReasons);
  for (std::string& line : out) line = shown(line);
  return out;
}

// Whether it failed for a reason that another way may not have, and there is one left. Each way is
// tried once a run; what has failed goes when the step is taken again.
bool Ensuring::goes_otherwise(const std::vector<std::string>& why) {
  if (!things_.otherwise || sink_.has_errors()) return false;
  const std::vector<std::string>& patterns = things_.otherwise->failures;
  const auto fits_one = [&](const std::string& text) {
    return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
      return re2::RE2::PartialMatch(text, pattern);
    });
  };
  if (std::none_of(why.begin(), why.end(), fits_one)) return false;
  if (!around_.ways_left.contains(name_)) {
    std::vector<Way>& ways = around_.ways_left[name_];
    const auto listed = around_.scene.value(things_.otherwise->ways, &sink_);
    if (!listed) return false;
    for (const yaml::Node& way : listed->node().items()) {
      ways.push_back({std::string(way.get("says").as_string()), yaml::emit_json(way.get("facts"))});
    }
    std::reverse(ways.begin(), ways.end());
  }
  std::vector<Way>& ways = around_.ways_left[name_];
  if (ways.empty()) return false;
  const Way way = ways.back();
  ways.pop_back();
  around_.say("   " + name_ + " has failed (" + why.front() + "): the next try is " + way.says);
  if (!around_.journal.otherwise(name_, way.says, sink_)) return false;
  otherwise_ = way.facts;
  return true;
}

// One that an earlier run left half made goes, and another comes.
bool Ensuring::make_anew(const std::vector<std::string>& why) {
  around_.say("   " + name_ + " has failed (" + why.front() + "): it is taken away and made again");
  for (;;) {
    const Ran ran = call(*things_.remove);
    if (ran == Ran::stop) return false;
    if (ran == Ran::good) break;
    if (ran == Ran::failed) return not_made();
    if (!pause()) return late();
  }
  said_.clear();
  while (look() != Found::absent) {
    say_state();
    if (!pause()) return late();
  }
  return create();
}

void Ensuring::say_state() {
  diag::Sink unknown;
  const std::string state = shown(around_.scene.text(things_.state, unknown));
  if (state.empty() || state == said_) return;
  said_ = state;
  around_.say("   " + name_ + ": " + state);
}

// False when the time is up.
bool Ensuring::pause() {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(limit_ - Clock::now());
  if (left.count() <= 0) return false;
  ::poll(nullptr, 0, static_cast<int>(std::min(step_.every, left).count()));
  return true;
}

bool Ensuring::late() {
  const std::string limit = time_text(step_.limit.value_or(kDefaultLimit));
  diag::Diagnostic& late = things_.gone
                               ? report(kNotDestroyed, name_ + " was not gone within " + limit)
                               : report(kWaitedLong, name_ + " was not ready within " + limit);
  if (!said_.empty()) late.note("it is " + said_);
  if (said_.empty() && !words_.empty()) late.note("it said: " + words_);
  diag::Sink unknown;
  const std::string show = around_.scene.text(step_.show, unknown);
  if (!show.empty()) late.suggest("`" + show + "` shows more");
  late.suggest("run the same command again: it goes on from here");
  return false;
}

bool Ensuring::not_made() {
  diag::Diagnostic& refused = report(kNotMade, name_ + " cannot be made");
  refused.note("it said: " + words_);
  diag::Sink unknown;
  const std::string advice = around_.scene.text(things_.advice, unknown);
  if (!advice.empty()) refused.suggest(advice);
  refused.suggest("mend the cause; the next `gpuctl install` goes on from here");
  show_cause();
  return false;
}

bool Ensuring::broken(const std::vector<std::string>& why, bool ours) {
  diag::Diagnostic& failed = report(kMadeBroken, name_ + " is there, but has failed");
  for (const std::string& line : why) failed.note("it said: " + line);
  diag::Sink unknown;
  const std::string advice = around_.scene.text(things_.advice, unknown);
  if (!advice.empty()) failed.suggest(advice);
  if (ours) {
    failed.note("what of it runs is paid for");
    failed.suggest(
        things_.remove
            ? "mend the cause; the next `gpuctl install` takes it away and makes it again"
            : "mend the cause; the next `gpuctl install` goes on from here");
  } else {
    failed.note("no run of this journal made it, so none takes it away");
    failed.suggest(
        "mend it, or take it away yourself; the next `gpuctl install` goes on from here");
  }
  show_cause();
  return false;
}

diag::Diagnostic& Ensuring::report(std::string_view code, const std::string& message) {
  return sink_.error(code, diag::kNoOrigin, message);
}

// What a program said: the line that is known, or the last ones.
void Ensuring::hear(const base::Ended& ended) {
  cause_ = find_cause(ended, around_.signatures, around_.redact);
  if (cause_) {
    words_ = cause_->line.empty() ? shown(live::last_words(ended)) : cause_->line;
    return;
  }
  std::vector<std::string> lines;
  for (const std::string_view line : base::split(ended.errors, '\n')) {
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) lines.emplace_back(line);
  }
  if (lines.empty() || ended.how != base::Ended::How::exited) {
    words_ = shown(live::last_words(ended));
    return;
  }
  const std::size_t first = lines.size() - std::min(lines.size(), kMostLines);
  words_ = shown(base::join(
      std::vector<std::string>(lines.begin() + static_cast<std::ptrdiff_t>(first), lines.end()),
      " "));
}

void Ensuring::show_cause() {
  if (cause_) report_cause(*cause_, sink_);
}

std::string Ensuring::shown(std::string_view text) const {
  return around_.redact(text).value_or("(not shown)");
}

}  // namespace gpuctl::install
