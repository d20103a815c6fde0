#include "cli/page.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <tuple>

#include "base/text.hpp"
#include "cli/columns.hpp"
#include "cli/program.hpp"

namespace gpuctl::cli {

namespace {

constexpr std::size_t kWidth = 79;      // of a line: some terminals break after the 80th column
constexpr std::size_t kMostNames = 24;  // columns before the text of an option

// What a description has to say besides itself.
void append(std::string& text, const std::string& more) {
  if (!more.empty()) text += (text.empty() ? "" : "; ") + more;
}

// "TEXT:{a,b}" and "INT in [1 - 9]" of the library: the name of the value, its choices, its range.
std::tuple<std::string, std::vector<std::string>, std::string> value_of(const CLI::Option& option) {
  std::string type = option.get_type_name();
  std::vector<std::string> choices;
  std::string range;
  if (const std::size_t open = type.find(":{"); open != std::string::npos && type.ends_with('}')) {
    for (const std::string_view choice :
         base::split(std::string_view(type).substr(open + 2, type.size() - open - 3), ',')) {
      choices.emplace_back(choice);
    }
    type.erase(open);
  }
  if (const std::size_t in = type.find(" in ["); in != std::string::npos && type.ends_with(']')) {
    range = type.substr(in + 5, type.size() - in - 6);
    if (const std::size_t dash = range.find(" - "); dash != std::string::npos) {
      range.replace(dash, 3, " to ");
    }
    type.erase(in);
    if (const std::size_t colon = type.find(':'); colon != std::string::npos) type.erase(colon);
  }
  if (type == "INT" || type == "UINT") type = "N";
  return {type, choices, range};
}

OptionEntry entry_of(const CLI::Option& option) {
  OptionEntry out;
  if (!option.get_snames().empty()) out.short_name = "-" + option.get_snames().front();
  if (!option.get_lnames().empty()) out.long_name = "--" + option.get_lnames().front();
  out.positional = option.get_positional();
  out.required = option.get_required();
  out.text = option.get_description();
  if (option.get_expected_max() == 0) return out;  // a flag
  const auto [type, choices, range] = value_of(option);
  out.choices = choices;
  out.many = option.get_expected_max() > 1 || option.get_allow_extra_args() ||
             option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  constexpr std::size_t kFewChoices = 4;
  if (out.positional) {
    out.value = option.get_name(true);
    std::transform(out.value.begin(), out.value.end(), out.value.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  } else if (choices.empty() || choices.size() > kFewChoices) {
    out.value = type;
  } else {
    out.value = base::join(choices, "|");
  }
  if (choices.size() > kFewChoices) append(out.text, "one of " + base::join(choices, ", "));
  append(out.text, range);
  if (!option.get_default_str().empty()) append(out.text, "default: " + option.get_default_str());
  if (out.required && !out.positional) append(out.text, "required");
  return out;
}

std::string names_of(const OptionEntry& entry) {
  if (entry.positional) return entry.value + (entry.many ? "..." : "");
  std::string out = entry.short_name.empty() ? "    " : entry.short_name;
  if (!entry.long_name.empty()) out += (entry.short_name.empty() ? "" : ", ") + entry.long_name;
  return entry.value.empty() ? out : out + " " + entry.value;
}

// Names on the left, what they mean on the right or below.
void list(const std::vector<std::pair<std::string, std::string>>& entries, std::string& out) {
  std::size_t width = 0;
  for (const auto& [name, text] : entries) {
    if (name.size() <= kMostNames) width = std::max(width, name.size());
  }
  const std::string indent(width + 4, ' ');
  for (const auto& [name, text] : entries) {
    std::string lines = wrapped(text, kWidth - indent.size(), indent);
    if (name.size() > width || lines.empty()) {
      out += "  " + name + "\n" + lines;
    } else {
      lines.replace(2, name.size(), name);
      out += lines;
    }
  }
}

void list(const std::vector<OptionEntry>& entries, std::string& out) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const OptionEntry& entry : entries) lines.emplace_back(names_of(entry), entry.text);
  list(lines, out);
}

}  // namespace

std::vector<OptionEntry> entries_of(const CLI::App& command) {
  std::vector<OptionEntry> out;
  for (const CLI::Option* option : command.get_options()) out.push_back(entry_of(*option));
  return out;
}

Page page_of(const std::vector<const Command*>& path, const std::vector<Command>& commands) {
  GlobalOptions global;
  int exit_code = kOk;
  std::vector<std::string> words;
  for (const Command* command : path) words.push_back(command->name);
  const Program program(commands, words, path.empty(), global, exit_code);
  const CLI::App& app = program.at(path);
  Page out;
  out.words = "gpuctl";
  for (const Command* command : path) out.words += " " + command->name;
  out.summary = app.get_description();
  out.manual = app.get_footer();
  for (OptionEntry& entry : entries_of(app)) {
    (entry.positional ? out.arguments : out.options).push_back(std::move(entry));
  }
  for (const Command& command : path.empty() ? commands : path.back()->below) {
    out.commands.push_back({command.name, command.summary});
  }
  return out;
}

std::string usage_of(const Page& page) {
  std::string out = "[OPTIONS]";
  for (const OptionEntry& entry : page.options) {
    if (entry.required) out += " " + entry.long_name + " " + entry.value;
  }
  if (!page.commands.empty()) out += " COMMAND";
  for (const OptionEntry& entry : page.arguments) {
    const std::string name = names_of(entry);
    out += entry.required ? " " + name : " [" + name + "]";
  }
  return out;
}

std::vector<Passage> passages(std::string_view manual) {
  std::vector<Passage> out;
  bool begins = true;
  for (std::string_view line : base::split(manual, '\n')) {
    if (line.empty()) {
      begins = true;
      continue;
    }
    const bool literal = line.starts_with(' ');
    if (!literal && !begins && !out.empty() && !out.back().literal) {
      out.back().text += " " + std::string(line);
      continue;
    }
    out.push_back({std::string(line), literal, begins});
    begins = false;
  }
  return out;
}

std::string help_text(const Page& page) {
  constexpr std::string_view kBefore = "Usage: ";
  std::string usage = wrapped(page.words + " " + usage_of(page), kWidth - kBefore.size(),
                              std::string(kBefore.size(), ' '));
  usage.replace(0, kBefore.size(), kBefore);
  std::string out = wrapped(page.summary, kWidth, "") + "\n" + usage;
  if (!page.arguments.empty()) {
    out += "\nArguments:\n";
    list(page.arguments, out);
  }
  if (!page.commands.empty()) {
    out += "\nCommands:\n";
    std::vector<std::pair<std::string, std::string>> lines;
    for (const CommandEntry& command : page.commands) {
      lines.emplace_back(command.name, command.summary);
    }
    list(lines, out);
  }
  out += "\nOptions:\n";
  list(page.options, out);
  for (const Passage& passage : passages(page.manual)) {
    if (passage.begins) out += '\n';
    out += passage.literal ? passage.text + "\n" : wrapped(passage.text, kWidth, "");
  }
  return out;
}

}  // namespace gpuctl::cli
