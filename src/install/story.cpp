#include "install/story.hpp"

#include <array>
#include <chrono>
#include <ctime>
#include <utility>

#include "install/codes.hpp"
#include "yaml/emit.hpp"
#include "yaml/json.hpp"
#include "yaml/texts.hpp"

namespace gpuctl::install {

namespace {

constexpr std::array<std::string_view, 5> kOutcomes = {"none", "started", "done", "failed",
                                                       "interrupted"};

std::optional<std::size_t> attempt_of(const yaml::Node& event) {
  const std::int64_t number = event.get("attempt").as_integer();
  if (number < 1) return std::nullopt;
  return static_cast<std::size_t>(number);
}

}  // namespace

std::string_view name_of(Outcome outcome) {
  return kOutcomes[static_cast<std::size_t>(outcome)];
}

std::string now_text() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), size};
}

const StepStory& Story::step(const std::string& name) const {
  static const StepStory nothing;
  const auto found = steps.find(name);
  return found == steps.end() ? nothing : found->second;
}

std::optional<Journal> Journal::open(Place& place, diag::Sink& sink) {
  const auto lines = place.lines(sink);
  if (!lines) return std::nullopt;
  Journal journal(place);
  for (std::size_t i = 0; i < lines->size(); ++i) {
    if (journal.take((*lines)[i])) continue;
    sink.error(kFaultyJournal, diag::kNoOrigin,
               "line " + std::to_string(i + 1) + " of the journal in `" + place.directory() +
                   "` cannot be read")
        .note("nothing was changed")
        .suggest(
            "restore the file from a backup; what stands in the cloud is tagged with the "
            "infrastructure's name");
    return std::nullopt;
  }
  return journal;
}

// One line; the story goes on with it.
bool Journal::take(const std::string& line) {
  yaml::Arena arena;
  std::string why;
  const auto event = yaml::read_json(line, arena, why);
  if (!event || !event->is_map()) return false;
  const std::string kind = text_of(*event, "event");
  StepStory& step = story_.steps[text_of(*event, "step")];
  if (kind == "begin") {
    story_.cluster = text_of(*event, "cluster");
    story_.platform = text_of(*event, "platform");
    story_.blueprint = text_of(*event, "blueprint");
    story_.repository = text_of(*event, "repository");
    story_.branch = text_of(*event, "branch");
  } else if (kind == "attempt") {
    const auto number = attempt_of(*event);
    if (!number) return false;
    story_.attempt = *number;
    story_.discarding = false;
    story_.steps.clear();
    story_.identity.clear();
    story_.made.clear();
    return true;
  } else if (kind == "intent") {
    step = {};
    step.outcome = Outcome::started;
    step.began = text_of(*event, "time");
  } else if (kind == "started") {
    step.process.id = static_cast<pid_t>(event->get("pid").as_integer());
    step.process.start = text_of(*event, "startTime");
    step.log_offset = event->get("logOffset").as_integer();
  } else if (kind == "result") {
    const std::string outcome = text_of(*event, "outcome");
    for (std::size_t i = 0; i < kOutcomes.size(); ++i) {
      if (outcome == kOutcomes[i]) step.outcome = static_cast<Outcome>(i);
    }
    if (const yaml::Node* exit = event->find("exit")) step.exit = exit->as_integer();
    step.phase = text_of(*event, "phase");
    step.resume = text_of(*event, "resume");
    step.ended = text_of(*event, "time");
  } else if (kind == "identity") {
    story_.identity[text_of(*event, "name")] = text_of(*event, "value");
  } else if (kind == "making") {
    story_.made.insert(text_of(*event, "thing"));
  } else if (kind == "adopted") {
    story_.made.erase(text_of(*event, "thing"));
  } else if (kind == "discard") {
    story_.discarding = true;
  } else if (kind == "destroying") {
    story_.destroying = true;
  } else if (kind == "destroyed") {
    story_.destroyed = true;
  } else if (kind != "discarded" && kind != "otherwise") {
    return false;
  }
  story_.steps.erase("");
  return true;
}

bool Journal::append(const std::string& event, const Fields& texts,
                     const std::vector<std::pair<std::string, std::int64_t>>& numbers,
                     diag::Sink& sink) {
  yaml::Arena arena;
  yaml::MapBuilder out;
  out.set(arena, "event", yaml::Node::view(event));
  out.set(arena, "time", arena.string(now_text()));
  if (story_.attempt > 0 && event != "attempt") {
    out.set(arena, "attempt", yaml::Node::integer(static_cast<std::int64_t>(story_.attempt)));
  }
  for (const auto& [name, value] : texts) out.set(arena, name, yaml::Node::view(value));
  for (const auto& [name, value] : numbers) out.set(arena, name, yaml::Node::integer(value));
  const std::string line = yaml::emit_json(out.build(arena));
  return place_->append(line, sink) && take(line);
}

bool Journal::begin(const std::string& cluster, const std::string& platform,
                    const std::string& blueprint, const std::string& repository,
                    const std::string& branch, diag::Sink& sink) {
  Fields texts = {{"cluster", cluster},
                  {"platform", platform},
                  {"blueprint", blueprint},
                  {"repository", repository}};
  if (!branch.empty()) texts.emplace_back("branch", branch);
  return append("begin", texts, {}, sink);
}

bool Journal::begin_attempt(std::size_t attempt, diag::Sink& sink) {
  return append("attempt", {}, {{"attempt", static_cast<std::int64_t>(attempt)}}, sink);
}

bool Journal::intend(const std::string& step, diag::Sink& sink) {
  return append("intent", {{"step", step}}, {}, sink);
}

bool Journal::started(const std::string& step, const base::ProcessIdentity& process,
                      std::int64_t log_offset, diag::Sink& sink) {
  return append("started", {{"step", step}, {"startTime", process.start}},
                {{"pid", process.id}, {"logOffset", log_offset}}, sink);
}

bool Journal::result(const std::string& step, Outcome outcome, std::optional<std::int64_t> exit,
                     const std::string& phase, const std::string& resume, diag::Sink& sink) {
  Fields texts = {{"step", step}, {"outcome", std::string(name_of(outcome))}};
  if (!phase.empty()) texts.emplace_back("phase", phase);
  if (!resume.empty()) texts.emplace_back("resume", resume);
  std::vector<std::pair<std::string, std::int64_t>> numbers;
  if (exit) numbers.emplace_back("exit", *exit);
  return append("result", texts, numbers, sink);
}

bool Journal::identify(const std::map<std::string, std::string>& identity, diag::Sink& sink) {
  for (const auto& [name, value] : identity) {
    const auto known = story_.identity.find(name);
    if (known == story_.identity.end()) {
      if (!append("identity", {{"name", name}, {"value", value}}, {}, sink)) return false;
    } else if (known->second != value) {
      sink.error(kIdentityChanged, diag::kNoOrigin,
                 "`" + name + "` of this attempt was `" + known->second + "` and is `" + value +
                     "` now")
          .note("what was made under the first name would never be found again")
          .suggest(
              "put the directory of the attempt back as it was, or `gpuctl destroy` the "
              "cluster first");
      return false;
    }
  }
  return true;
}

bool Journal::making(const std::string& thing, diag::Sink& sink) {
  return story_.made.contains(thing) || append("making", {{"thing", thing}}, {}, sink);
}

bool Journal::adopted(const std::string& thing, diag::Sink& sink) {
  return !story_.made.contains(thing) || append("adopted", {{"thing", thing}}, {}, sink);
}

bool Journal::otherwise(const std::string& thing, const std::string& way, diag::Sink& sink) {
  return append("otherwise", {{"thing", thing}, {"way", way}}, {}, sink);
}

bool Journal::discard(diag::Sink& sink) {
  return append("discard", {}, {}, sink);
}

bool Journal::discarded(diag::Sink& sink) {
  return append("discarded", {}, {}, sink);
}

bool Journal::destroying(diag::Sink& sink) {
  return append("destroying", {}, {}, sink);
}

bool Journal::destroyed(diag::Sink& sink) {
  return append("destroyed", {}, {}, sink);
}

}  // namespace gpuctl::install
