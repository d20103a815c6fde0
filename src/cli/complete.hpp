// What may stand at the cursor of a command line: the answer to the scripts of `gpuctl completion`.
#pragma once

#include <string>
#include <vector>

namespace gpuctl::cli {

/// The hidden command that the scripts call.
inline constexpr const char* kComplete = "__complete";

/// Prints what may stand in the place of the last of `words`, of those behind the name of the
/// program. The first line says what else may: `none`, `files`, `yaml` (files with that ending) or
/// `dirs`, and `nospace` behind it when what is chosen is only the beginning of a word. Every other
/// line is a word that begins as the last one does, a tab, and what it means. Changes nothing, and
/// knows no errors: where it has nothing to say it says `none`.
int complete(const std::vector<std::string>& words);

}  // namespace gpuctl::cli
