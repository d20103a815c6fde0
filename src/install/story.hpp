// What the journal of a cluster tells: which attempt stands, and what became of each step.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/supervised.hpp"
#include "diag/diagnostic.hpp"
#include "install/place.hpp"

namespace gpuctl::install {

/// What became of a step.
enum class Outcome : std::uint8_t { none, started, done, failed, interrupted };

std::string_view name_of(Outcome outcome);

struct StepStory {
  Outcome outcome = Outcome::none;
  base::ProcessIdentity process;  // of the last start, when a program ran
  std::string phase;              // where a long program ended
  std::string resume;             // how to go on, as its exit code says; empty: as the phase says
  std::optional<std::int64_t> exit;
  std::int64_t log_offset = 0;  // where in its log the last start began
  std::string began, ended;     // UTC, "2031-12-31T23:59:59Z"
};

struct Story {
  std::string cluster;  // "stage/name"; empty: nothing is written yet
  std::string platform;
  std::string blueprint;   // absolute path of the file
  std::string repository;  // --repo of the last install: an absolute path or an address
  std::string branch;      // --branch of it; "": the default one
  std::size_t attempt = 0;
  bool discarding = false;  // the attempt is to be destroyed before anything else
  bool destroying = false;  // the cluster is
  bool destroyed = false;
  std::map<std::string, std::string> identity;  // of the attempt
  std::map<std::string, StepStory> steps;       // of the attempt, by name
  std::set<std::string> made;                   // things that the attempt made or began to make

  const StepStory& step(const std::string& name) const;
};

/// Events of the journal. Each is one line; `append` gives false after GPU0701.
class Journal {
 public:
  /// Reads what is there. Nothing after GPU0701 or GPU0703.
  static std::optional<Journal> open(Place& place, diag::Sink& sink);

  const Story& story() const { return story_; }

  bool begin(const std::string& cluster, const std::string& platform, const std::string& blueprint,
             const std::string& repository, const std::string& branch, diag::Sink& sink);
  bool begin_attempt(std::size_t attempt, diag::Sink& sink);
  /// That a step is about to be done.
  bool intend(const std::string& step, diag::Sink& sink);
  bool started(const std::string& step, const base::ProcessIdentity& process,
               std::int64_t log_offset, diag::Sink& sink);
  /// `exit`, `phase`, `resume`: of a program.
  bool result(const std::string& step, Outcome outcome, std::optional<std::int64_t> exit,
              const std::string& phase, const std::string& resume, diag::Sink& sink);
  /// Write once: another value for a name of the attempt is GPU0709.
  bool identify(const std::map<std::string, std::string>& identity, diag::Sink& sink);
  /// That a thing is about to be made; from then on it counts as made here.
  bool making(const std::string& thing, diag::Sink& sink);
  /// That it was somebody else who made it.
  bool adopted(const std::string& thing, diag::Sink& sink);
  /// That it is to be made otherwise, as people would say it.
  bool otherwise(const std::string& thing, const std::string& way, diag::Sink& sink);
  /// The attempt is to be destroyed.
  bool discard(diag::Sink& sink);
  bool discarded(diag::Sink& sink);
  bool destroying(diag::Sink& sink);
  bool destroyed(diag::Sink& sink);

 private:
  using Fields = std::vector<std::pair<std::string, std::string>>;
  explicit Journal(Place& place) : place_(&place) {}
  bool append(const std::string& event, const Fields& texts,
              const std::vector<std::pair<std::string, std::int64_t>>& numbers, diag::Sink& sink);
  bool take(const std::string& line);

  Place* place_;
  Story story_;
};

/// Now, as the journal writes it.
std::string now_text();

}  // namespace gpuctl::install
