#include "cli/command.hpp"

namespace gpuctl::cli {

// What it prints, the program knows before it parses the line: see program.cpp.
Command help_command() {
  return {"help",
          "Show help, of a command where one is named",
          "The same as -h or --help, which may stand anywhere on a line.\n\n"
          "Example:\n"
          "  gpuctl help\n"
          "  gpuctl help mig plan\n",
          [](Options& command, const GlobalOptions&) {
            command.add_option("COMMAND", "A command, with those above it").expected(0, -1);
            return [] { return kOk; };
          },
          {},
          false};
}

}  // namespace gpuctl::cli
