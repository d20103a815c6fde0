// The command line: options, dispatch, exit codes. No domain rule lives here.
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <utility>

#include "base/stages.hpp"
#include "base/text.hpp"
#include "cli/codes.hpp"
#include "cli/command.hpp"

namespace gpuctl::cli {

namespace {

// Output must never be writable by everybody, whatever umask we inherit.
constexpr mode_t kLeastUmask = 022;

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

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

// Usage errors in our own form: the library's text where it is good enough, and the way out.
int usage_error(const CLI::App& app, const CLI::ParseError& error, const GlobalOptions& global,
                const std::vector<std::string>& arguments) {
  const CLI::App* command = &app;
  std::string path = app.get_name();
  std::string unknown;    // the first word that is no command where one must stand
  bool is_value = false;  // of the option before it, which is one of the whole program
  for (const std::string& argument : arguments) {
    const bool skip = std::exchange(is_value, false) || argument.starts_with('-');
    if (argument.starts_with('-')) {
      const CLI::Option* option = app.get_option_no_throw(argument);
      is_value = option != nullptr && option->get_items_expected_min() > 0;
    }
    if (skip) continue;
    const std::vector<const CLI::App*> commands = command->get_subcommands(
        [&](const CLI::App* candidate) { return candidate->get_name() == argument; });
    if (commands.empty()) {
      if (!command_names(*command).empty()) unknown = argument;
      break;
    }
    command = commands.front();
    path += " " + command->get_name();
  }
  std::string message = error.what();
  while (message.ends_with('\n')) message.pop_back();
  if (!message.empty() && message[0] >= 'A' && message[0] <= 'Z' &&
      !(message.size() > 1 && message[1] >= 'A' && message[1] <= 'Z')) {
    message[0] = static_cast<char>(message[0] - 'A' + 'a');
  }
  diag::Sink sink;
  if (!unknown.empty()) {
    sink.error(kUsage, diag::kNoOrigin, "unknown command `" + unknown + "`")
        .expect("one of " + base::join(command_names(*command), ", "))
        .did_you_mean(unknown, command_names(*command))
        .suggest("see `" + path + " --help`");
  } else if (const std::size_t colon = message.find(": ");
             error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError) &&
             colon != std::string::npos) {
    const std::string words = message.substr(colon + 2);
    const std::string first = words.substr(0, words.find(' '));
    sink.error(kUsage, diag::kNoOrigin, "unexpected argument `" + first + "`")
        .did_you_mean(first, option_names(app, *command))
        .suggest("see `" + path + " --help`");
  } else {
    sink.error(kUsage, diag::kNoOrigin, message).suggest("see `" + path + " --help`");
  }
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

int run_program(int argc, char** argv) {
  ::umask(::umask(0) | kLeastUmask);
  // Failures to write are reported, not died of.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  CLI::App app("Blueprint in, manifests of a GPU cluster out, committed to Git", "gpuctl");
  GlobalOptions global;
  app.add_option("--providers", global.providers, "Directory laid over the built-in providers/")
      ->type_name("DIR");
  app.add_option("--templates", global.templates, "Directory laid over the built-in templates/")
      ->type_name("DIR");
  app.add_option("--format", global.format,
                 "text, or json: diagnostics as one object a line, the result as one document on "
                 "standard output")
      ->check(CLI::IsMember({"text", "json"}));
  app.add_option("--color", global.color, "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  app.add_flag("-v,--verbose", global.verbose, "Say more; log stages to standard error");
  app.add_flag("--profile", global.profile, "Show on standard error where the time went");
  app.require_subcommand(1);
  app.fallthrough();
  app.footer(
      "Exit codes: 0 ok, 1 findings or failure, 64 wrong command line.\n\n"
      "Example:\n  gpuctl apply cluster.yaml --repo fleet\n");
  int exit_code = kOk;
  const std::span<const char* const> words(argv, static_cast<std::size_t>(argc));
  for (const Command& command :
       {validate_command(), render_command(), plan_command(), diff_command(), apply_command(),
        retire_command(), upgrade_command(), import_command(), mig_command(), license_command(),
        explain_command(), catalog_command(), version_command()}) {
    add_command(app, command, words, global, exit_code);
  }
  app.parse_complete_callback([&global] {
    if (global.profile) base::start_stages();
    if (!global.verbose) {
      spdlog::set_level(spdlog::level::off);
      return;
    }
    spdlog::set_default_logger(spdlog::stderr_logger_mt("gpuctl"));
    spdlog::set_pattern("%n: %v");
    spdlog::set_level(spdlog::level::debug);
  });
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& request) {
    return app.exit(request);  // --help
  } catch (const CLI::ParseError& error) {
    if (asks_for_json(words)) global.format = "json";
    return usage_error(app, error, global, std::vector<std::string>(argv + 1, argv + argc));
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
