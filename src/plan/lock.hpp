// The lock of a cluster: which tool and knowledge made the files, with which choices, and the
// digest of every managed file. Nothing in it is about all files or the whole input: two changes
// would meet there.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "derive/derive.hpp"
#include "yaml/context.hpp"

namespace gpuctl::plan {

inline constexpr std::string_view kLockFile = "gpuctl.lock";

struct LockedFile {
  std::string sha256;
  std::string made_by;    // path of the template; empty for extra manifests
  std::string pool = {};  // that it is for; empty: for none
  bool leaving = false;   // nothing wants it any more: the next step takes it away
  /// Of a file that holds encrypted secrets: digest of what they are and for whom they were
  /// encrypted, but not of the secrets. Otherwise empty.
  std::string encrypted = {};
};

struct Lock {
  std::string tool;     // version of gpuctl
  std::string catalog;  // digest of the knowledge
  std::vector<derive::Choice> choices;
  derive::Names names;
  std::map<std::string, LockedFile> files;  // by path below the cluster's directory
};

/// The bytes of the lock file.
std::string write_lock(const Lock& lock, const std::string& cluster);

/// Reads the lock of `cluster` (its name), as this version of gpuctl can; nothing after a
/// diagnostic (GPU01xx, GPU0611, another cluster's GPU0682, a newer version's GPU0683).
std::optional<Lock> read_lock(diag::FileId file, const std::string& cluster,
                              std::string_view version, yaml::Context context);

/// The choices as derive::derive() takes them: a map from path to value.
yaml::Node kept_choices(const Lock& lock, yaml::Arena& arena);

/// Takes names out that no node of their pools carries any more. `carried` is a map of pools to
/// lists of the names that their machines carry; a pool that it does not have is left alone.
void leave_out_names(derive::Names& names, const yaml::Node& carried);

}  // namespace gpuctl::plan
