// Documents of others that lie beside each other.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "diag/sources.hpp"
#include "yaml/node.hpp"

namespace gpuctl::pipeline {

/// The files of one call, by directory: what a document refers to may stand in another file there.
/// Other directories may be of other clusters; so may files that define the same object twice, and
/// these have nothing beside them. A directory is read when it is asked for first, by whichever
/// thread.
class Neighbours {
 public:
  explicit Neighbours(const std::vector<std::string>& files);

  /// The objects in the other files of the directory of `file`, in the order of the files, as
  /// document::objects_of() lists them, without places. What cannot be read is left out: the check
  /// of that file says so.
  std::vector<yaml::Node> beside(const std::string& file);

 private:
  struct File {
    std::string name;
    std::vector<yaml::Node> objects;
  };
  struct Directory {
    std::vector<File> files;
    std::once_flag read;
    diag::Sources sources;
    yaml::Arena arena;
  };

  static void read(Directory& directory);
  static bool are_alternatives(const std::vector<File>& files);

  std::map<std::string, Directory> directories_;
};

}  // namespace gpuctl::pipeline
