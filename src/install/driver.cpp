#include "install/driver.hpp"

#include <unistd.h>

#include <algorithm>

#include "base/text.hpp"
#include "install/codes.hpp"
#include "secrets/mask.hpp"

namespace gpuctl::install {

std::string time_text(std::chrono::milliseconds time) {
  if (time.count() > 0 && time < std::chrono::seconds(1))
    return std::to_string(time.count()) + "ms";
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time).count();
  if (seconds < 60) return std::to_string(seconds) + "s";
  if (seconds < 3600) {
    return std::to_string(seconds / 60) + "m" +
           (seconds % 60 == 0 ? "" : " " + std::to_string(seconds % 60) + "s");
  }
  return std::to_string(seconds / 3600) + "h" +
         (seconds / 60 % 60 == 0 ? "" : " " + std::to_string(seconds / 60 % 60) + "m");
}

Known know(const pipeline::Result& result, pipeline::Knowledge& knowledge) {
  Known known;
  const pipeline::Compiled& compiled = *result.opened->compiled;
  diag::Sink checked;  // the build has checked what is built in, and overlays were just now
  known.steps = steps::compile(*compiled.platform, knowledge.library(), compiled.effects->scope(),
                               false, checked);
  known.programs = live::Programs(*compiled.platform, knowledge.library());
  known.signatures =
      std::make_unique<signature::Signatures>(*compiled.platform, knowledge.library());
  known.rules = knowledge.secret_rules();
  return known;
}

Driver::Driver(Place& place, Journal& journal, const Doors& doors, pipeline::Knowledge& knowledge)
    : place_(place), journal_(journal), doors_(doors), knowledge_(knowledge) {}

std::string Driver::facts_path() const {
  return place_.directory() + "/attempt-" + std::to_string(story().attempt) + ".facts.yaml";
}

std::string Driver::learned_facts() const {
  const bool learned = story().attempt > 0 && ::access(facts_path().c_str(), F_OK) == 0;
  return learned ? facts_path() : std::string();
}

bool Driver::open() {
  if (!refresh()) return false;
  known_ = know(*result_, knowledge_);
  return true;
}

// Runs the blueprint anew, with what is known of the attempt.
bool Driver::refresh() {
  scene_.reset();
  result_ = doors_.run(learned_facts(), false);
  return result_ != nullptr;
}

std::optional<std::string> Driver::redact(std::string_view line) const {
  // The installer prints the administrator's password; whoever drives it drops such lines.
  if (base::to_lower(line).find("password") != std::string::npos) return std::nullopt;
  const secrets::RulesMask mask(known_.rules);
  std::string shown = mask.shown(line);
  constexpr std::size_t kMostShown = 300;
  if (shown.size() > kMostShown) {
    shown.resize(base::character_limit(shown, kMostShown));
    shown += "...";
  }
  return shown;
}

Redact Driver::redaction() const {
  return [this](std::string_view line) { return redact(line); };
}

void Driver::show_findings() {
  doors_.show(sink_, result_ == nullptr ? diag::Sources() : *result_->sources);
  sink_ = {};
}

bool Driver::fail() {
  show_findings();
  return false;
}

bool Driver::applies(const steps::Step& step) {
  if (scene_ == nullptr) {
    const std::size_t attempt = story().attempt == 0 ? place_.next_attempt() : story().attempt;
    scene_ =
        std::make_unique<Scene>(*result_, *known_.steps, known_.programs,
                                AttemptView{attempt, place_.attempt_directory(attempt),
                                            place_.directory(), story().identity, story().made});
  }
  return scene_->is_true(step.when, true, &sink_);
}

std::vector<std::string> Driver::step_names() {
  std::vector<std::string> names;
  for (const steps::Step& step : known_.steps->install) names.push_back(step.name);
  return names;
}

// What a run that was killed has left may still make things.
void Driver::end_last_run() {
  std::size_t left = 0;
  for (const auto& [name, step] : story().steps) {
    if (step.process.id != 0) left += base::end_leftovers(step.process, directory(), kGrace);
  }
  if (left > 0) doors_.say("ended " + base::counted(left, "process") + " of the last run");
}

bool Driver::install(const std::string& until) {
  end_last_run();
  for (;;) {
    if (story().discarding) {
      if (!discard()) return false;
    } else if (story().attempt == 0) {
      if (!journal_.begin_attempt(place_.next_attempt(), sink_)) return fail();
    }
    scene_.reset();
    if (!place_.make_attempt(story().attempt, sink_)) return fail();
    Next next = Next::on;
    number_ = 0;
    for (const steps::Step& step : known_.steps->install) {
      if (!applies(step)) {
        if (sink_.has_errors()) return fail();
        continue;
      }
      ++number_;
      next = take(step);
      if (next != Next::on) break;
      if (step.name == until) return true;
    }
    if (next == Next::stop) return fail();
    show_findings();
    if (next == Next::on) return true;
  }
}

Driver::Next Driver::take(const steps::Step& step) {
  const StepStory told = story().step(step.name);
  const std::string title = scene_->text(step.title, sink_);
  const std::string head = std::to_string(number_) + ". " + title;
  if (told.outcome == Outcome::done && !step.repeat) {
    doors_.say(head + ": done before");
    return Next::on;
  }
  doors_.say(head);
  if (step.kind == steps::StepKind::program) return program(step);
  if (!journal_.intend(step.name, sink_)) return Next::stop;
  bool good = false;
  switch (step.kind) {
    case steps::StepKind::write:
      good = write(step);
      break;
    case steps::StepKind::learn:
      good = learn(step);
      break;
    case steps::StepKind::place:
      good = place_documents(step);
      break;
    case steps::StepKind::commit:
      good = commit(step);
      break;
    case steps::StepKind::apply:
      good = apply(step);
      break;
    case steps::StepKind::ask:
      good = ask(step);
      break;
    case steps::StepKind::ensure:
      good = ensure(step);
      break;
    case steps::StepKind::program:
      break;
  }
  return finish(step, good) ? Next::on : Next::stop;
}

bool Driver::finish(const steps::Step& step, bool good) {
  const bool written =
      journal_.result(step.name, good ? Outcome::done : Outcome::failed, {}, "", "", sink_);
  return good && written;
}

// Whether the files are there that the step leaves.
bool Driver::has_yields(const steps::Step& step, bool report) {
  for (const std::string& path : step.yields) {
    if (::access((directory() + "/" + path).c_str(), F_OK) == 0) continue;
    if (report) {
      sink_
          .error(
              kNothingYielded, diag::kNoOrigin,
              "`" + step.name + "` ended well, but `" + path + "` is not in `" + directory() + "`")
          .suggest("see that the installer is of the release that the blueprint names");
    }
    return false;
  }
  return true;
}

bool Driver::destroy() {
  end_last_run();
  if (!journal_.destroying(sink_)) return fail();
  if (!destroy_attempt()) return fail();
  if (!journal_.destroyed(sink_) || !place_.put_aside(sink_)) return fail();
  return true;
}

// Whether no step began that makes things outside of the attempt's directory.
bool Driver::made_nothing() const {
  return std::none_of(known_.steps->install.begin(), known_.steps->install.end(),
                      [this](const steps::Step& step) {
                        const bool makes = step.kind == steps::StepKind::apply ||
                                           step.kind == steps::StepKind::ensure ||
                                           (step.kind == steps::StepKind::program && !step.local);
                        return makes && story().step(step.name).outcome != Outcome::none;
                      });
}

// All steps that take the attempt away.
bool Driver::destroy_attempt() {
  if (made_nothing()) {
    doors_.say("nothing was made");
    return true;
  }
  number_ = 0;
  for (const steps::Step& step : known_.steps->destroy) {
    if (!applies(step)) {
      if (sink_.has_errors()) return false;
      continue;
    }
    ++number_;
    doors_.say(std::to_string(number_) + ". " + scene_->text(step.title, sink_));
    const bool good =
        step.kind == steps::StepKind::ensure ? ensure(step) : program(step) == Next::on;
    if (!good) return false;
    show_findings();
  }
  return true;
}

// What a run left half made goes, and the next attempt begins.
bool Driver::discard() {
  doors_.say("attempt " + std::to_string(story().attempt) +
             " cannot go on: what it made is destroyed first");
  if (!destroy_attempt()) return fail();
  const std::size_t next = story().attempt + 1;
  if (!journal_.discarded(sink_) || !journal_.begin_attempt(next, sink_)) return fail();
  doors_.say("attempt " + std::to_string(next) + " begins in a new directory");
  return refresh();
}

std::vector<std::string> Driver::rehearse(bool to_destroy) {
  std::vector<std::string> lines;
  std::size_t number = 0;
  for (const steps::Step& step : to_destroy ? known_.steps->destroy : known_.steps->install) {
    if (!applies(step)) continue;
    lines.push_back(std::to_string(++number) + ". " + scene_->text(step.title, sink_) + " (" +
                    step.name + ")");
    const auto command = [&](const std::string& text) { lines.push_back("     " + text); };
    diag::Sink unknown;  // what only the run will know
    if (step.over) command(scene_->shown(*step.over, unknown));
    if (step.kind == steps::StepKind::apply) {
      scene_->set_folder(scene_->text(step.applied, unknown));
    }
    if (step.ensure) {
      const steps::Ensure& things = *step.ensure;
      const auto each = scene_->value(things.each, nullptr);
      if (each && each->is_node()) {
        for (const yaml::Node& item : each->node().items()) {
          scene_->set_item(item);
          const std::string thing = scene_->text(things.called, unknown);
          if (things.gone && !things.whoever && !story().made.contains(thing)) {
            command(thing + " stays: it was there before, or never made");
          } else {
            command(scene_->shown(things.gone ? *things.remove : *things.create, unknown));
          }
        }
      }
    }
    if (!step.call.role.empty() && !step.over) command(scene_->shown(step.call, unknown));
    if (step.over) {
      command("   for each: " + known_.programs.find(step.call.role)->names.front() + " " +
              std::string(step.call.arguments.front().written().as_string()) + " ...");
    }
    if (step.limit) command("at most " + time_text(*step.limit));
  }
  return lines;
}

std::vector<std::string> Driver::leftovers() {
  std::vector<std::string> lines;
  if (scene_ == nullptr && !known_.steps->destroy.empty()) applies(known_.steps->destroy.front());
  for (const steps::Leftover& leftover : known_.steps->leftovers) {
    diag::Sink unknown;
    if (!scene_->is_true(leftover.when, true, nullptr)) continue;
    const std::string command = scene_->text(leftover.run, unknown);
    if (!command.empty()) lines.push_back(leftover.title + ": " + command);
  }
  return lines;
}

}  // namespace gpuctl::install
