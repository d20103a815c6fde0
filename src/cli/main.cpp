// The command line: options, dispatch, exit codes. No domain rule lives here.
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "base/stages.hpp"
#include "base/text.hpp"
#include "cli/codes.hpp"
#include "cli/command.hpp"
#include "cli/complete.hpp"
#include "cli/program.hpp"

namespace gpuctl::cli {

namespace {

// Output must never be writable by everybody, whatever umask we inherit.
constexpr mode_t kLeastUmask = 022;

// Long options of a command and, because they may stand anywhere, of the program.
std::vector<std::string> option_names(const CLI::App& app, const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* owner : {&app, &command}) {
    for (const CLI::Option* option : owner->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  }
  return names;
}

// The command that was asked for, with its options; the program itself where there is none.
const CLI::App& command_of(const CLI::App& app, const Asked& asked) {
  const CLI::App* command = &app;
  for (const Command* one : asked.path) {
    const std::vector<const CLI::App*> found = command->get_subcommands(
        [&](const CLI::App* candidate) { return candidate->get_name() == one->name; });
    if (found.empty()) break;
    command = found.front();
  }
  return *command;
}

int show_usage_error(const diag::Sink& sink, const GlobalOptions& global) {
  {
    Report report(global);
    report.show(sink, diag::Sources());
  }
  if (global.format == "json") {
    global.result->request();
    global.result->set_kind("Usage");
  }
  print_result(kUsageError, global);
  return kUsageError;
}

void unknown_command(const Asked& asked, const std::vector<Command>& commands, diag::Sink& sink) {
  const std::vector<std::string> names = names_of(asked.below(commands));
  sink.error(kUsage, diag::kNoOrigin, "unknown command `" + asked.unknown + "`")
      .expect("one of " + base::join(names, ", "))
      .did_you_mean(asked.unknown, names)
      .suggest("see `" + asked.words() + " --help`");
}

// Usage errors in our own form: the library's text where it is good enough, and the way out.
int usage_error(const CLI::App& app, const CLI::ParseError& error, const GlobalOptions& global,
                const Asked& asked, const std::vector<Command>& commands) {
  const std::string message = said_of(error);
  diag::Sink sink;
  if (!asked.unknown.empty()) {
    unknown_command(asked, commands, sink);
  } else if (const std::size_t colon = message.find(": ");
             error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError) &&
             colon != std::string::npos) {
    const std::string words = message.substr(colon + 2);
    const std::string first = words.substr(0, words.find(' '));
    sink.error(kUsage, diag::kNoOrigin, "unexpected argument `" + first + "`")
        .did_you_mean(first, option_names(app, command_of(app, asked)))
        .suggest("see `" + asked.words() + " --help`");
  } else {
    sink.error(kUsage, diag::kNoOrigin, message).suggest("see `" + asked.words() + " --help`");
  }
  return show_usage_error(sink, global);
}

// Help for the command that the line names, however wrong the rest of it is.
int show_help(const Asked& asked, const GlobalOptions& global,
              const std::vector<Command>& commands) {
  if (asked.unknown.empty() && asked.spare.empty()) {
    const std::string text = help_of(asked.path, commands);
    if (global.format == "json") global.result->request();
    global.result->set_kind("Help");
    global.result->set("text", text);
    return print(text, global) && print_result(kOk, global) ? kOk : kFindings;
  }
  diag::Sink sink;
  if (!asked.unknown.empty()) {
    unknown_command(asked, commands, sink);
  } else {
    sink.error(kUsage, diag::kNoOrigin,
               "`" + asked.words() + "` has no command `" + asked.spare + "`")
        .suggest("see `" + asked.words() + " --help`");
  }
  return show_usage_error(sink, global);
}

// True when the command line asks for JSON, also where it is too wrong to be read to its end.
bool asks_for_json(std::span<const char* const> words) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--") return false;
    if (word == "--format=json") return true;
    if (word == "--format" && i + 1 < words.size() && words[i + 1] == std::string_view("json")) {
      return true;
    }
  }
  return false;
}

// True when the line may ask for help or the version, which need not parse.
bool asks_about_program(const std::vector<std::string>& line) {
  return std::any_of(line.begin(), line.end(), [](const std::string& word) {
    return word == "-h" || word == "--help" || word == "help" || word == "--version";
  });
}

std::unique_ptr<CLI::App> make_app(const std::vector<Command>& all, Words words,
                                   GlobalOptions& global, int& exit_code) {
  auto app = std::make_unique<CLI::App>();
  build_program(*app, all, words, false, global, exit_code);
  app->parse_complete_callback([&global] {
    if (global.profile) base::start_stages();
    if (!global.verbose) {
      spdlog::set_level(spdlog::level::off);
      return;
    }
    spdlog::set_default_logger(spdlog::stderr_logger_mt("gpuctl"));
    spdlog::set_pattern("%n: %v");
    spdlog::set_level(spdlog::level::debug);
  });
  return app;
}

int run_program(int argc, char** argv) {
  ::umask(::umask(0) | kLeastUmask);
  // Failures to write are reported, not died of.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  if (argc > 1 && std::string_view(argv[1]) == kComplete) {
    return complete(std::vector<std::string>(argv + 2, argv + argc));
  }
  GlobalOptions global;
  int exit_code = kOk;
  const Words words(argv, static_cast<std::size_t>(argc));
  const std::vector<Command> all = commands();
  const bool json = asks_for_json(words);
  std::vector<std::string> line(argv + std::min(1, argc), argv + argc);
  std::unique_ptr<CLI::App> app = make_app(all, words, global, exit_code);
  if (asks_about_program(line)) {
    const Asked asked = asked_of(*app, all, line);
    if (asked.help) {
      if (json) global.format = "json";
      return show_help(asked, global, all);
    }
    if (asked.version) {
      static constexpr const char* kVersion = "version";
      line = program_options(*app, line);
      line.emplace_back(kVersion);
      app = make_app(all, Words(&kVersion, 1), global, exit_code);
    }
  }
  try {
    app->parse(std::vector<std::string>(line.rbegin(), line.rend()));
  } catch (const CLI::ParseError& error) {
    if (json) global.format = "json";
    return usage_error(*app, error, global, asked_of(*app, all, line), all);
  }
  if (!print_result(exit_code, global)) exit_code = kFindings;
  if (global.profile) show_stages(global);
  return exit_code;
}

}  // namespace
}  // namespace gpuctl::cli

int main(int argc, char** argv) {
  int exit_code = gpuctl::cli::kFindings;
  try {
    exit_code = gpuctl::cli::run_program(argc, argv);
  } catch (const std::exception& error) {
    // Nothing a user does should get here.
    std::fprintf(stderr, "gpuctl: internal error: %s\n", error.what());
  }
#ifndef GPUCTL_SANITIZE
  // The system takes the memory back faster than destructors do. Sanitizers want them to run.
  std::fflush(nullptr);
  std::_Exit(exit_code);
#endif
  return exit_code;
}
