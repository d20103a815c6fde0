// The command line: options, dispatch, exit codes. No domain rule lives here.
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

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
#include "cli/page.hpp"
#include "cli/program.hpp"

namespace gpuctl::cli {

namespace {

// Output must never be writable by everybody, whatever umask we inherit.
constexpr mode_t kLeastUmask = 022;

// Long options of a command and, because they may stand anywhere, of the program.
std::vector<std::string> option_names(const Program& program, const Asked& asked) {
  std::vector<std::string> names;
  for (const CLI::App* owner : {&program.at({}), &program.at(asked.path)}) {
    for (const OptionEntry& option : entries_of(*owner)) {
      if (!option.long_name.empty()) names.push_back(option.long_name);
    }
  }
  return names;
}

// The first long option that the command does not know. What is missing is said before it by the
// library, and is often missing because of it.
std::string unknown_option(const Program& program, const Asked& asked, Words words) {
  const std::vector<std::string> known = option_names(program, asked);
  for (const std::string& word : words) {
    if (word == "--") break;
    std::string name = word.substr(0, word.find('='));
    if (!name.starts_with("--") || std::find(known.begin(), known.end(), name) != known.end()) {
      continue;
    }
    return name;
  }
  return {};
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

// Usage errors in our own form, with the way out.
int usage_error(const Program& program, const Refusal& refusal, const GlobalOptions& global,
                Words words, const std::vector<Command>& commands) {
  const Asked asked = asked_of(program, commands, words);
  const std::string unexpected =
      refusal.unexpected.empty() ? unknown_option(program, asked, words) : refusal.unexpected;
  diag::Sink sink;
  if (!asked.unknown.empty()) {
    unknown_command(asked, commands, sink);
  } else if (!unexpected.empty()) {
    sink.error(kUsage, diag::kNoOrigin, "unexpected argument `" + unexpected + "`")
        .did_you_mean(unexpected, option_names(program, asked))
        .suggest("see `" + asked.words() + " --help`");
  } else {
    diag::Diagnostic& finding = sink.error(kUsage, diag::kNoOrigin, refusal.message);
    const std::vector<std::string> below = names_of(asked.below(commands));
    if (!below.empty()) finding.expect("one of " + base::join(below, ", "));
    if (asked.path.empty()) finding.suggest("begin with `gpuctl init`: it writes a blueprint");
    finding.suggest("see `" + asked.words() + " --help`");
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
bool asks_for_json(Words words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--") return false;
    if (word == "--format=json") return true;
    if (word == "--format" && i + 1 < words.size() && words[i + 1] == "json") return true;
  }
  return false;
}

// True when the line may ask for help or the version, which need not parse.
bool asks_about_program(Words line) {
  return std::any_of(line.begin(), line.end(), [](const std::string& word) {
    return word == "-h" || word == "--help" || word == "help" || word == "--version";
  });
}

std::unique_ptr<Program> make_program(const std::vector<Command>& all, Words words,
                                      GlobalOptions& global, int& exit_code) {
  auto program = std::make_unique<Program>(all, words, false, global, exit_code);
  program->before_run([&global] {
    if (global.profile) base::start_stages();
    if (!global.verbose) {
      spdlog::set_level(spdlog::level::off);
      return;
    }
    spdlog::set_default_logger(spdlog::stderr_logger_mt("gpuctl"));
    spdlog::set_pattern("%n: %v");
    spdlog::set_level(spdlog::level::debug);
  });
  return program;
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
  const std::vector<Command> all = commands();
  std::vector<std::string> line(argv + std::min(1, argc), argv + argc);
  const bool json = asks_for_json(line);
  std::unique_ptr<Program> program = make_program(all, line, global, exit_code);
  if (asks_about_program(line)) {
    const Asked asked = asked_of(*program, all, line);
    if (asked.help) {
      if (json) global.format = "json";
      return show_help(asked, global, all);
    }
    if (asked.version) {
      line = program_options(*program, line);
      line.emplace_back("version");
      program = make_program(all, line, global, exit_code);
    }
  }
  if (const std::optional<Refusal> refusal = program->run(line)) {
    if (json) global.format = "json";
    return usage_error(*program, *refusal, global, line, all);
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
