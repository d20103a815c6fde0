// What `gpuctl mcp` offers to agents: commands that only read, as tools, and texts, as resources.
#pragma once

#include "cli/command.hpp"
#include "mcp/server.hpp"

namespace gpuctl::cli {

/// Tools and resources. `global` has the options that the server was started with and must outlive
/// it, as must `arena`, in which the schemas of the tools are made.
mcp::Offer mcp_offer(const GlobalOptions& global, yaml::Arena& arena);

}  // namespace gpuctl::cli
