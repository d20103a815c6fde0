// Programs of others, by the part they play: files programs.yaml of the folders that a platform
// builds on.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/platform.hpp"

namespace gpuctl::live {

/// A program that a platform needs.
struct Program {
  std::string role;                  // "cluster", "installer"
  std::vector<std::string> names;    // of the file; the first that is in PATH counts
  std::string purpose;               // what it is for
  std::string install;               // where it comes from
  std::vector<std::string> without;  // variables of the environment that it does not get
};

/// The programs of a platform. Shareable among threads.
class Programs {
 public:
  Programs() = default;
  Programs(const catalog::Platform& platform, catalog::Library& library);

  /// By role; nullptr when the platform has none.
  const Program* find(std::string_view role) const;
  /// Absolute path of the program that plays a part; nothing after GPU0410, which says what it is
  /// for and where to get it.
  std::optional<std::string> locate(std::string_view role, diag::Sink& sink) const;
  /// In the order of folders.
  const std::vector<Program>& all() const { return programs_; }

 private:
  std::vector<Program> programs_;
};

}  // namespace gpuctl::live
