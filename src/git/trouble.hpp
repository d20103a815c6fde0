// What the git program says when it fails, as diagnostics.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/process.hpp"
#include "diag/diagnostic.hpp"
#include "git/address.hpp"

namespace gpuctl::git {

/// How long exchanges may take.
struct TimeLimits {
  std::chrono::seconds total{300};   // all of them together
  std::chrono::seconds idle{30};     // without a byte; zero: no limit
  std::chrono::seconds connect{10};  // for a server that does not answer at all
};

/// The code for a failure that git words like this (LC_ALL=C); "" when it is none of those known.
std::string_view code_of(std::string_view errors);

/// True when git could not write to our own disk. What a server says of its own (`remote: ...`)
/// does not count.
bool cannot_write_here(std::string_view errors);

/// Adds the error for a git program that has not done what it was started for. `doing` completes
/// "cannot ... `ADDRESS`"; `limits` are those of the run.
void report_trouble(const base::Ended& ended, std::string_view doing, const Address& address,
                    const TimeLimits& limits, diag::Sink& sink);

/// Adds the error for a branch that the server has not taken, with the reason in its list of refs.
/// `errors` holds what it said besides.
void report_refusal(std::string_view reason, std::string_view errors, const std::string& branch,
                    const Address& address, diag::Sink& sink);

/// The last lines of such a text, each in one line, bounded, unable to steer a terminal and without
/// the users of addresses. `of_server` takes only what the server said (`remote: ...`).
std::vector<std::string> words_of(std::string_view errors, bool of_server);

/// Fate of the one branch of a `git push --porcelain`.
struct PushReport {
  enum class Fate {
    unknown,   // the server has not said
    updated,   // "ok" by the server
    lost,      // somebody else was there first
    rejected,  // any other reason
  };
  Fate fate = Fate::unknown;
  std::string reason;
};
PushReport read_push_report(std::string_view output, std::string_view errors,
                            const std::string& branch);

}  // namespace gpuctl::git
