// Many new objects, written as they come instead of kept: one pack, filled by several threads.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "diag/diagnostic.hpp"

namespace gpuctl::git {

/// A pack in the making. Until finish() nobody sees it; a process that dies leaves a
/// `tmp_pack_gpuctl_` file, see remove_left().
class NewObjects {
 public:
  /// For the object directory of a repository. Nothing after a diagnostic.
  static std::optional<NewObjects> start(const std::string& object_directory, diag::Sink& sink);
  /// Removes what processes that have died left.
  static void remove_left(const std::string& object_directory);
  ~NewObjects();
  NewObjects(NewObjects&&) noexcept;
  NewObjects& operator=(NewObjects&&) noexcept;

  /// Adds a blob, once however often it comes. Its hex id; the write itself may fail later, which
  /// finish() reports. Thread-safe.
  std::string add_blob(std::string_view content);
  /// Adds blobs and trees for a directory that holds exactly `files` (path below it -> content).
  /// The hex id of its tree. Thread-safe.
  std::string add_directory(const std::map<std::string, std::string>& files);

  /// Writes the index, syncs both and gives them their names. False after a diagnostic.
  bool finish(diag::Sink& sink);
  /// Removes what finish() made, for when no commit came of it.
  void take_back();

 private:
  struct State;
  explicit NewObjects(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace gpuctl::git
