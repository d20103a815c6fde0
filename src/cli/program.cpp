#include "cli/program.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "cli/page.hpp"

namespace gpuctl::cli {

namespace {

// True when the word is an option of the whole program whose value is the next word.
bool takes_next(const CLI::App& app, const std::string& word) {
  const CLI::Option* option = app.get_option_no_throw(word);
  return option != nullptr && option->get_items_expected_min() > 0;
}

// "FORM: xml not in {json,yaml}" -> "FORM: `xml` is none of json, yaml".
std::string in_our_words(const std::string& message) {
  constexpr std::string_view kNotIn = " not in {";
  const std::size_t name = message.find(": ");
  const std::size_t middle = message.rfind(kNotIn);
  if (name == std::string::npos || middle == std::string::npos || middle < name + 2 ||
      !message.ends_with('}')) {
    return message;
  }
  std::string out = message.substr(0, name + 2);
  out += "`" + message.substr(name + 2, middle - name - 2) + "` is none of ";
  for (const char c : message.substr(middle + kNotIn.size())) {
    if (c != '}') out += c == ',' ? ", " : std::string(1, c);
  }
  return out;
}

// The library's text where it is good enough.
Refusal refusal_of(const CLI::ParseError& error) {
  Refusal out{error.what(), {}};
  std::string& message = out.message;
  while (message.ends_with('\n')) message.pop_back();
  if (!message.empty() && message[0] >= 'A' && message[0] <= 'Z' &&
      !(message.size() > 1 && message[1] >= 'A' && message[1] <= 'Z')) {
    message[0] = static_cast<char>(message[0] - 'A' + 'a');
  }
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) {
    if (const std::size_t colon = message.find(": "); colon != std::string::npos) {
      const std::string words = message.substr(colon + 2);
      out.unexpected = words.substr(0, words.find(' '));
    }
  }
  message = in_our_words(message);
  return out;
}

// "mig plan" -> "MigPlan".
std::string kind_of(const CLI::App& command) {
  const CLI::App* above = command.get_parent();
  if (above == nullptr) return {};
  std::string name = command.get_name();
  name.front() = static_cast<char>(name.front() - 'a' + 'A');
  return kind_of(*above) + name;
}

// Adds a command to the program, or to another command. Of one that is not among `words`, only name
// and summary are needed.
void add_command(CLI::App& to, const Command& command, Words words, const GlobalOptions& global,
                 int& exit_code) {
  CLI::App* added = to.add_subcommand(command.name, command.summary);
  if (std::find(words.begin(), words.end(), command.name) == words.end()) return;
  added->footer(command.manual);
  if (!command.below.empty()) added->require_subcommand(1);
  for (const Command& below : command.below) add_command(*added, below, words, global, exit_code);
  if (!command.setup) return;
  Options options(*added);
  RunFunction run = command.setup(options, global);
  const auto form = std::make_shared<std::string>("text");
  if (command.has_forms && added->get_option_no_throw("--output") == nullptr) {
    options.add_option("-o,--output", *form, "Form: text, json (one document)")
        .one_of({"text", "json"})
        .capture_default_str();
  }
  added->callback([run = std::move(run), form, added, &global, &exit_code] {
    if (global.format == "json" || *form == "json") global.result->request();
    global.result->set_kind(kind_of(*added));
    exit_code = run();
  });
}

// The options of the whole program, and what help says of it.
void add_options(CLI::App& app, GlobalOptions& global) {
  app.description("Blueprint in, manifests of a GPU cluster out, committed to Git");
  app.name("gpuctl");
  app.get_help_ptr()->description("Show help");
  app.add_flag("--version")->description("Show the version, as `gpuctl version`");
  app.add_option("--providers", global.providers, "Directory laid over the built-in providers/")
      ->type_name("DIR");
  app.add_option("--templates", global.templates, "Directory laid over the built-in templates/")
      ->type_name("DIR");
  app.add_option("--format", global.format,
                 "text, or json: diagnostics as one object a line, the result as one document on "
                 "standard output")
      ->check(CLI::IsMember({"text", "json"}));
  app.add_option("--color", global.color,
                 "Colours and links; auto: on a terminal, unless NO_COLOR is set or TERM is dumb")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  app.add_flag("-v,--verbose", global.verbose, "Say more; log stages to standard error");
  app.add_flag("-q,--quiet", global.quiet,
               "Say nothing but warnings, errors, and what was asked for");
  app.add_flag("--profile", global.profile, "Show on standard error where the time went");
  app.require_subcommand(1);
  app.fallthrough();
  app.footer(
      "Exit codes: 0 ok, 1 findings or failure, 2 changes (`--detailed-exitcode`),\n"
      "64 wrong command line.\n\n"
      "Example:\n"
      "  gpuctl apply cluster.yaml --repo fleet\n"
      "  gpuctl help apply\n");
}

}  // namespace

const Command* find_command(const std::vector<Command>& commands, std::string_view name) {
  const auto found = std::find_if(commands.begin(), commands.end(),
                                  [&](const Command& one) { return one.name == name; });
  return found == commands.end() ? nullptr : &*found;
}

std::vector<std::string> names_of(const std::vector<Command>& commands) {
  std::vector<std::string> names;
  for (const Command& command : commands) names.push_back(command.name);
  return names;
}

std::vector<Command> commands() {
  std::vector<Command> out;
  for (Command (*make)() :
       {&init_command,    &validate_command, &render_command,     &plan_command,
        &diff_command,    &apply_command,    &promote_command,    &retire_command,
        &upgrade_command, &install_command,  &status_command,     &destroy_command,
        &import_command,  &facts_command,    &fleet_command,      &mirror_command,
        &cost_command,    &report_command,   &doctor_command,     &diagnose_command,
        &mig_command,     &license_command,  &explain_command,    &schema_command,
        &catalog_command, &mcp_command,      &completion_command, &man_command,
        &help_command,    &version_command}) {
    out.push_back(make());
  }
  return out;
}

Program::Program(const std::vector<Command>& commands, Words words, bool all, GlobalOptions& global,
                 int& exit_code)
    : app_(std::make_unique<CLI::App>()) {
  add_options(*app_, global);
  for (const Command& command : commands) {
    // What is not named can only matter to help, and each one costs.
    if (all || std::find(words.begin(), words.end(), command.name) != words.end()) {
      add_command(*app_, command, words, global, exit_code);
    }
  }
}

Program::~Program() = default;

void Program::before_run(std::function<void()> call) {
  app_->parse_complete_callback(std::move(call));
}

std::optional<Refusal> Program::run(Words words) {
  try {
    app_->parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const UsageError& error) {
    return Refusal{error.what(), {}};
  } catch (const CLI::ParseError& error) {
    return refusal_of(error);
  }
  return std::nullopt;
}

const CLI::App& Program::at(std::span<const Command* const> path) const {
  const CLI::App* command = app_.get();
  for (const Command* one : path) {
    const std::vector<const CLI::App*> found = command->get_subcommands(
        [&](const CLI::App* candidate) { return candidate->get_name() == one->name; });
    if (found.empty()) break;
    command = found.front();
  }
  return *command;
}

std::string Asked::words() const {
  std::string out = "gpuctl";
  for (const Command* command : path) out += " " + command->name;
  return out;
}

const std::vector<Command>& Asked::below(const std::vector<Command>& commands) const {
  return path.empty() ? commands : path.back()->below;
}

Asked asked_of(const Program& program, const std::vector<Command>& commands, Words words) {
  const CLI::App& app = program.at({});
  Asked out;
  bool asked_by_command = false;
  bool is_value = false;  // of the option before it
  for (const std::string& word : words) {
    if (word == "--") break;
    if (word == "-h" || word == "--help") out.help = true;
    if (word == "--version") out.version = true;
    const bool skip = std::exchange(is_value, false) || word.starts_with('-');
    if (word.starts_with('-')) is_value = takes_next(app, word);
    if (skip || !out.unknown.empty()) continue;
    if (out.path.empty() && !asked_by_command && word == "help") {
      asked_by_command = out.help = true;
      continue;
    }
    const std::vector<Command>& here = out.below(commands);
    if (const Command* command = find_command(here, word)) {
      out.path.push_back(command);
    } else if (!here.empty()) {
      out.unknown = word;
    } else if (asked_by_command && out.spare.empty()) {
      out.spare = word;
    }
  }
  return out;
}

std::vector<std::string> program_options(const Program& program, Words words) {
  const CLI::App& app = program.at({});
  std::vector<std::string> out;
  bool is_value = false;
  for (const std::string& word : words) {
    if (word == "--") break;
    const bool keep = std::exchange(is_value, false);
    const bool known = word.starts_with('-') && word != "--version" &&
                       app.get_option_no_throw(word.substr(0, word.find('='))) != nullptr;
    if (keep || known) out.push_back(word);
    if (known) is_value = takes_next(app, word);
  }
  return out;
}

std::string help_of(const std::vector<const Command*>& path, const std::vector<Command>& commands) {
  return help_text(page_of(path, commands));
}

}  // namespace gpuctl::cli
