// The way of a cluster from what it was brought to, to a version further on: one commit after the
// other, as `upgrade --to` makes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace gpuctl::cli {

enum class HopState : std::uint8_t { done, asked, next, later };

/// "done", "asked", ...
std::string_view name_of(HopState state);

/// One commit.
struct Hop {
  HopState state = HopState::later;
  std::string version;  // that the blueprint would have
  /// Choices to make again; empty: the version is what changes.
  std::vector<std::string> again;
  std::vector<std::string> cells;  // values of the columns; empty: not known any more
  std::string why;
};

struct Hops {
  std::string cluster;              // "stage/name"
  std::string field;                // of the blueprint that has the version
  std::string place;                // where that stands, "file:line:column"
  std::string written;              // what stands there
  std::string file;                 // that has it: the blueprint, or a base
  std::string before, behind;       // the text of the file around it
  std::string progress;             // how to see whether the last one is done
  std::vector<std::string> titles;  // of the columns
  std::vector<Hop> hops;

  /// The next commit, or nullptr when nothing is left.
  const Hop* next() const;
};

/// Works out the way to version `to` by running the blueprint once a commit, each with the lock of
/// the one before. `request.earlier` gives the last commit. Nothing after shown errors: a platform
/// or cluster without a recorded version (GPU0694), no such version ahead (GPU0695), or no release
/// of something else that goes along (GPU0696).
std::optional<Hops> find_hops(const std::string& blueprint, const std::string& to,
                              const Request& request, Knowledge& knowledge, Report& report);

/// The text of `hops.file` with that version in it.
std::string with_version(const Hops& hops, const std::string& version);

/// The way as a table for a terminal of 80 columns.
std::string as_table(const Hops& hops);
/// Adds `hops` to a result.
void record_hops(const Hops& hops, ResultDocument& result);
/// What to write into the blueprint after a commit of `hop`; empty: nothing.
std::string to_write(const Hops& hops, const Hop& hop);

}  // namespace gpuctl::cli
