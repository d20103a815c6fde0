// Reads what others gathered of a cluster: directories by their layouts, single files by what they
// are.
#pragma once

#include <string>
#include <vector>

#include "diagnose/evidence.hpp"
#include "yaml/context.hpp"

namespace gpuctl::diagnose {

/// Adds files and directories. What is in no layout of its directory is left alone, unless there is
/// no file of a layout in it at all: then names tell. Parts that cannot be used are warnings
/// (GPU0951, GPU0952, GPU0953). A path that cannot be read at all is an error of code `unreadable`.
void gather(const std::vector<std::string>& paths, const Chain& chain, Evidence& evidence,
            std::string_view unreadable, yaml::Context context);

}  // namespace gpuctl::diagnose
