// Things that a step makes or takes away, one after the other, each decided by looking.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "install/cause.hpp"
#include "install/scene.hpp"
#include "install/story.hpp"

namespace gpuctl::install {

/// How long one question to a cluster or cloud may take.
inline constexpr std::chrono::seconds kOneQuestion{60};
/// How long a step may take that says nothing of it.
inline constexpr std::chrono::milliseconds kDefaultLimit{1'800'000};

/// Ways that are left to make a thing otherwise, by its name, the next one last. They are texts,
/// because the blueprint is run anew between two of them.
struct Way {
  std::string says;   // for people
  std::string facts;  // as JSON
};
using WaysLeft = std::map<std::string, std::vector<Way>>;

/// What Ensuring works with; all of it outlives it.
struct Surroundings {
  Scene& scene;
  Journal& journal;
  const signature::Signatures& signatures;
  std::function<void(const std::string&)> say;
  Redact redact;
  WaysLeft& ways_left;
};

/// One step of kind `ensure`. Nothing that is there is ever changed; what failed is taken away only
/// when the journal says that one of its runs made it.
class Ensuring {
 public:
  Ensuring(const steps::Step& step, const Surroundings& around, diag::Sink& sink);

  /// False after GPU0711, GPU0713, GPU0720 to GPU0723, a fault of knowledge (GPU03xx), or when a
  /// thing is to be made otherwise.
  bool run();
  /// After the latter the facts as JSON: the step is to be taken again with them.
  const std::optional<std::string>& otherwise() const { return otherwise_; }

 private:
  using Clock = std::chrono::steady_clock;
  enum class Found : std::uint8_t { absent, there, unknown };
  enum class Ran : std::uint8_t { good, early, taken, failed, stop };

  bool may_look_again(bool first);
  bool make();
  bool take_away();
  Found look();
  Ran call(const steps::Call& call);
  bool is_same();
  std::vector<std::string> failures();
  bool goes_otherwise(const std::vector<std::string>& why);
  bool make_anew(const std::vector<std::string>& why);
  bool create();
  void say_state();
  bool pause();
  bool late();
  bool not_made();
  bool broken(const std::vector<std::string>& why, bool ours);
  diag::Diagnostic& report(std::string_view code, const std::string& message);
  void hear(const base::Ended& ended);
  void show_cause();
  std::string shown(std::string_view text) const;

  const steps::Step& step_;
  const steps::Ensure& things_;
  Surroundings around_;
  diag::Sink& sink_;
  std::string name_;  // of the thing at hand
  Clock::time_point limit_;
  std::string said_;            // the state that was told last
  std::string command_;         // that was told last
  std::string words_;           // what the last program said, redacted
  std::optional<Cause> cause_;  // that it showed, or the thing that failed
  bool created_ = false;
  std::optional<std::string> otherwise_;
};

}  // namespace gpuctl::install
