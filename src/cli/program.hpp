// The command line as a whole: the options of the program, its commands, and what a line asks for
// before anything of it is parsed.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"

// Like App: only who catches it includes the library.
namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class ParseError;
}

namespace gpuctl::cli {

/// Words of a command line, the name of the program among them or not.
using Words = std::span<const char* const>;

/// All commands, in the order in which help lists them.
std::vector<Command> commands();

/// The command of this name; nullptr when there is none.
const Command* find_command(const std::vector<Command>& commands, std::string_view name);

/// What the commands are called.
std::vector<std::string> names_of(const std::vector<Command>& commands);

/// The program with its options and the commands that are named among `words`; with `all` every
/// command is there, but only those that are named have their options. `global` and `exit_code`
/// must outlive it.
void build_program(CLI::App& app, const std::vector<Command>& commands, Words words, bool all,
                   GlobalOptions& global, int& exit_code);

/// Where the words of a command line lead to.
struct Asked {
  std::vector<const Command*> path;  // from the program downwards
  std::string unknown;               // the first word that is no command where one must stand
  std::string spare;                 // after `help`: a word behind a command that has none below
  bool help = false;                 // `help`, or -h or --help anywhere
  bool version = false;              // --version anywhere

  /// "gpuctl mig check".
  std::string words() const;
  /// The commands one of which may follow.
  const std::vector<Command>& below(const std::vector<Command>& commands) const;
};

/// Reads `words`, without the name of the program, as far as `app` has to be known for: which
/// options of the whole program take a value.
Asked asked_of(const CLI::App& app, const std::vector<Command>& commands,
               std::span<const std::string> words);

/// The options of the whole program among `words`, with their values.
std::vector<std::string> program_options(const CLI::App& app, std::span<const std::string> words);

/// What is wrong with a line that does not parse, as a message of ours says it.
std::string said_of(const CLI::ParseError& error);

/// What `gpuctl help PATH` and `gpuctl PATH --help` print.
std::string help_of(const std::vector<const Command*>& path, const std::vector<Command>& commands);

}  // namespace gpuctl::cli
