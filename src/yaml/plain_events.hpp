// Reads the plain part of YAML, in which nearly all blueprints are written, many times faster than
// yaml-cpp.
#pragma once

#include <yaml-cpp/eventhandler.h>

#include <string_view>

namespace gpuctl::yaml {

/// Gives `handler` the events that yaml-cpp gives it for `text`, and true. False, without any
/// event, for a text that has more than block maps and lists with plain keys, flow collections and
/// scalars that fit on a line, and comments; and for all that is no YAML. That is for yaml-cpp to
/// read. Of marks only the position is set. `text` has no byte order mark; exceptions of `handler`
/// pass.
bool plain_events(std::string_view text, YAML::EventHandler& handler);

}  // namespace gpuctl::yaml
