// The options of a command, as commands add them.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

// <CLI/CLI.hpp> takes seconds to compile: commands do without it.
namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
class Option;
}  // namespace CLI

namespace gpuctl::cli {

/// A line that parses and yet cannot be run: thrown by commands, and shown as a usage error.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An option of a command, or an argument by its place.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  /// What help calls the value.
  Option& type_name(const std::string& name);
  /// It must be given.
  Option& required(bool required = true);
  /// It takes as many values as this each time.
  Option& expected(int count);
  /// As many as from `at_least` to `at_most`; -1: any number.
  Option& expected(int at_least, int at_most);
  /// False: one value each time, although it may be given several times.
  Option& allow_extra_args(bool allow);
  /// All values count when it is given several times.
  Option& take_all();
  /// What stands between several values in one word.
  Option& delimiter(char between);
  /// The value that the variable has now is shown as the default.
  Option& capture_default_str();
  /// The only values.
  Option& one_of(const std::vector<std::string>& values);
  /// A number from `least` to `most`.
  Option& in_range(int least, int most);
  /// `fault` says what is wrong with a value; nothing of one that is good.
  Option& check(const std::function<std::string(const std::string& value)>& fault);
  /// Only with the other, which was added before.
  Option& needs(const std::string& other);
  /// Never with the other, which was added before.
  Option& excludes(const std::string& other);

 private:
  CLI::Option* option_;  // of the command
};

/// The options of a command, to which it adds. Names are written as in "-o,--output" or, of an
/// argument, "FILE"; variables are set when the line is parsed.
class Options {
 public:
  explicit Options(CLI::App& command) : command_(command) {}

  /// Adds an option, or an argument, with a value.
  Option add_option(const std::string& name, std::string& value, const std::string& help);
  Option add_option(const std::string& name, std::vector<std::string>& values,
                    const std::string& help);
  Option add_option(const std::string& name, int& value, const std::string& help);
  Option add_option(const std::string& name, unsigned& value, const std::string& help);
  /// One whose values nobody reads.
  Option add_option(const std::string& name, const std::string& help);
  /// Adds an option without a value.
  Option add_flag(const std::string& name, bool& given, const std::string& help);
  /// Takes one away again that was added.
  void remove_option(const std::string& name);

 private:
  CLI::App& command_;
};

}  // namespace gpuctl::cli
