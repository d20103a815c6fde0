// Programs that the build has compiled. Reading one back takes a tenth of the time of compiling it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cel/program.hpp"

namespace gpuctl::cel {

/// Compiled programs by text and by names and definitions of the environment's variables. All
/// environments of a store must be made alike: where these are the same, so are the types. The
/// build records while it compiles; a run finds. Finding is thread-safe.
class Store {
 public:
  /// The programs of several stores as bytes, equal ones once: platforms have most rules in common.
  class Records {
   public:
    /// Where the record is, which is added unless an equal one is there.
    std::uint32_t place(std::string_view record);
    const std::string& bytes() const { return bytes_; }

   private:
    std::string bytes_;
    std::map<std::string, std::uint32_t, std::less<>> places_;
  };

  /// Empty, to record into.
  Store() = default;
  /// Over what packed() gave and the bytes of its records, or nothing: both must outlive the store
  /// and its programs.
  static std::shared_ptr<Store> open(std::string_view index, std::string_view records);

  /// The program, or nullptr.
  std::shared_ptr<const Program> find(std::string_view text, const Environment& environment) const;
  /// Keeps a program, unless it holds a constant that is no document, or its text stands for
  /// another program elsewhere; does nothing in an opened store.
  void record(const Environment& environment, const Program& program);
  /// Everything recorded: the programs go to `records`, and what finds them there is returned.
  std::string packed(Records& records) const;

 private:
  /// Text, and a number for the environment.
  using Key = std::pair<std::string, std::uint64_t>;
  std::map<Key, std::optional<std::string>> recorded_;  // nothing: not to be kept
  std::string_view index_;  // of an opened store: digests of keys, ascending, and their records
  std::string_view records_;
  bool opened_ = false;
};

}  // namespace gpuctl::cel
