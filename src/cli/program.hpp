// The command line as a whole: the options of the program, its commands, and what a line asks for
// before anything of it is parsed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"

namespace gpuctl::cli {

/// Words of a command line, without the name of the program.
using Words = std::span<const std::string>;

/// All commands, in the order in which help lists them.
std::vector<Command> commands();

/// The command of this name; nullptr when there is none.
const Command* find_command(const std::vector<Command>& commands, std::string_view name);

/// What the commands are called.
std::vector<std::string> names_of(const std::vector<Command>& commands);

/// What is wrong with a line that cannot be run.
struct Refusal {
  std::string message;
  std::string unexpected;  // the word that nothing takes; empty: something else is wrong
};

/// The program with its options and the commands that a line names.
class Program {
 public:
  /// Commands are added that are named among `words`; with `all` every command is there, but only
  /// those that are named have their options. `global` and `exit_code`, which receives what the
  /// run of a command gives, must outlive it.
  Program(const std::vector<Command>& commands, Words words, bool all, GlobalOptions& global,
          int& exit_code);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// What is called once a line is parsed, before its command runs.
  void before_run(std::function<void()> call);
  /// Parses a line and runs its command; or says why not.
  std::optional<Refusal> run(Words words);
  /// The command that a path leads to, as far as it was added.
  const CLI::App& at(std::span<const Command* const> path) const;

 private:
  std::unique_ptr<CLI::App> app_;
};

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

/// Reads `words` as far as `program` has to be known for: which options of the whole program take a
/// value.
Asked asked_of(const Program& program, const std::vector<Command>& commands, Words words);

/// The options of the whole program among `words`, with their values.
std::vector<std::string> program_options(const Program& program, Words words);

/// What `gpuctl help PATH` and `gpuctl PATH --help` print.
std::string help_of(const std::vector<const Command*>& path, const std::vector<Command>& commands);

}  // namespace gpuctl::cli
