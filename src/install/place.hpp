// Where the state of one cluster's installation lies: a private directory with the journal, the
// directories of attempts, and what is kept of them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.hpp"
#include "diag/diagnostic.hpp"

namespace gpuctl::install {

/// Below XDG_STATE_HOME (~/.local/state when it is unset): `gpuctl/clusters/STAGE/NAME`; "" when
/// neither it nor HOME is set.
std::string default_place(std::string_view stage, std::string_view name);

/// The clusters that have a journal at a default place, as "STAGE/NAME", sorted.
std::vector<std::string> known_clusters();

/// The directory of a cluster. Holds an flock on it for as long as it lives, unless it only reads.
class Place {
 public:
  enum class Use { install, change, read };

  /// Opens the directory: 0700 and ours. `install` creates it with missing parents. `read` takes no
  /// lock. Nothing after GPU0701, GPU0702 (somebody else has the lock) or GPU0716 (not there).
  static std::optional<Place> open(const std::string& directory, Use use, diag::Sink& sink);

  const std::string& directory() const { return directory_; }
  std::string attempt_directory(std::size_t attempt) const;
  /// The number of the next attempt: those of clusters that stood here before keep theirs.
  std::size_t next_attempt() const;
  /// Makes the directory of an attempt, 0700; an existing one is fine. GPU0701.
  bool make_attempt(std::size_t attempt, diag::Sink& sink) const;

  /// Whole lines of the journal. A last one that a kill has cut off does not count, and the next
  /// append() takes its place. GPU0701.
  std::optional<std::vector<std::string>> lines(diag::Sink& sink);
  /// Adds a line and syncs it to the disk. GPU0701.
  bool append(std::string_view line, diag::Sink& sink);

  /// Writes a file (0600), whole or not at all, below the directory, synced. GPU0719.
  bool write(const std::string& path, std::string_view content, diag::Sink& sink) const;
  /// Renames the journal, so that the cluster begins anew.
  bool put_aside(diag::Sink& sink);

 private:
  explicit Place(std::string directory) : directory_(std::move(directory)) {}

  std::string directory_;
  base::FileDescriptor lock_;
  base::FileDescriptor journal_;
};

}  // namespace gpuctl::install
