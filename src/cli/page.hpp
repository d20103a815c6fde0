// What there is to know of a command, for its help, its page of the manual, and completion: all
// from the options that it really has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"

namespace gpuctl::cli {

/// An option or an argument by its place.
struct OptionEntry {
  std::string short_name;            // "-o", or empty
  std::string long_name;             // "--output", or empty
  std::string value;                 // "FILE", "text|json", the name of an argument; empty: a flag
  std::string text;                  // what it means, with range and default
  std::vector<std::string> choices;  // the only values it takes; empty: any
  bool positional = false;
  bool required = false;
  bool many = false;  // may be given several times
};

/// Name and summary of a command below another.
struct CommandEntry {
  std::string name;
  std::string summary;
};

/// A command, or the program itself.
struct Page {
  std::string words;  // "gpuctl mig check"
  std::string summary;
  std::vector<OptionEntry> arguments;
  std::vector<OptionEntry> options;
  std::vector<CommandEntry> commands;
  std::string manual;  // prose in lines of any length; indented lines stay as they are
};

/// The page of a command of the program; of an empty path that of the program.
Page page_of(const std::vector<const Command*>& path, const std::vector<Command>& commands);

/// The options and arguments of a command.
std::vector<OptionEntry> entries_of(const CLI::App& command);

/// "gpuctl apply [OPTIONS] BLUEPRINT...", without the words of the command.
std::string usage_of(const Page& page);

/// A part of a manual: a paragraph on one line, or lines to be shown as they are.
struct Passage {
  std::string text;
  bool literal = false;
  bool begins = true;  // an empty line stands before it
};

/// The parts of a manual.
std::vector<Passage> passages(std::string_view manual);

/// Help in lines of at most 80 columns, but for literal lines that are longer.
std::string help_text(const Page& page);

}  // namespace gpuctl::cli
