// Examines what a cluster depends on before money is spent: all checks of a platform, side by side,
// within a time, and without changing anything.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "diag/mask.hpp"
#include "doctor/checks.hpp"
#include "doctor/verdict.hpp"
#include "live/programs.hpp"

namespace gpuctl::doctor {

/// The cluster that is examined.
struct Subject {
  derive::Inputs inputs;
  std::string directory;  // of the blueprint: "" or with a slash at its end
};

/// What whoever asks decides.
struct Settings {
  bool only_fatal = false;          // the checks that stop an installation
  std::set<std::string> only = {};  // ids; empty: all
  std::chrono::milliseconds limit{std::chrono::seconds(90)};  // for all of it
  std::string pull_secret_file = {};                          // instead of what the blueprint names
  std::string resolver = {};    // ADDRESS[:PORT] of a name server to ask besides the system's
  std::string repository = {};  // instead of that of the blueprint
  std::string installer_directory = {};  // that the installer is to work in
};

/// True for "10.0.0.53", "10.0.0.53:5353", "[fd00::53]:53".
bool is_server_address(const std::string& text);

/// Runs the checks, and gives their results by their numbers. What is shown of answers goes through
/// `mask`, and holds no secret that was read on the way. Needs a second more than the limit at
/// worst: programs that are late are ended. Nothing after GPU0902.
std::optional<std::vector<Result>> examine(const Checks& checks, const live::Programs& programs,
                                           const Subject& subject, const Settings& settings,
                                           const diag::Mask& mask, diag::Sources& sources,
                                           diag::Sink& sink);

}  // namespace gpuctl::doctor
