// Pages of the manual, in the macros of man(7), from what help is made of.
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <memory>

#include "base/file.hpp"
#include "base/text.hpp"
#include "cli/codes.hpp"
#include "cli/columns.hpp"
#include "cli/page.hpp"
#include "cli/program.hpp"
#include "pipeline/version.hpp"

namespace gpuctl::cli {

namespace {

// A text for roff: nothing of it is taken for a request or an escape.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";  // what people copy has to be a minus
    } else if (c == '`') {
      out += "\\(ga";
    } else if (c == '\'') {
      out += "\\(aq";
    } else if (c == '^') {
      out += "\\(ha";
    } else if (c == '~') {
      out += "\\(ti";
    } else {
      out += c;
    }
  }
  return out;
}

// A text in lines as mandoc likes them, none of which is taken for a request.
std::string paragraph(const std::string& text) {
  constexpr std::size_t kWidth = 78;
  std::string out;
  const std::string lines = wrapped(text, kWidth, "");
  for (const std::string_view line : base::split(lines, '\n')) {
    if (line.empty()) continue;
    out += (line.starts_with('.') ? "\\&" : "") + std::string(line) + "\n";
  }
  return out;
}

// An argument of a macro.
std::string argument(const std::string& text) {
  std::string out;
  for (const char c : escaped(text)) out += c == '"' ? std::string("\\(dq") : std::string(1, c);
  return "\"" + out + "\"";
}

std::string title_of(std::string words) {
  std::replace(words.begin(), words.end(), ' ', '-');
  return words;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return text;
}

std::string bold(const std::string& text) {
  return "\\fB" + escaped(text) + "\\fR";
}

std::string italic(const std::string& text) {
  return "\\fI" + escaped(text) + "\\fR";
}

void add_entries(const std::vector<OptionEntry>& entries, std::string& out) {
  for (const OptionEntry& entry : entries) {
    out += ".TP\n";
    if (entry.positional) {
      out += italic(entry.value) + (entry.many ? " ..." : "") + "\n";
    } else {
      if (!entry.short_name.empty()) out += bold(entry.short_name);
      if (!entry.short_name.empty() && !entry.long_name.empty()) out += ", ";
      if (!entry.long_name.empty()) out += bold(entry.long_name);
      if (!entry.value.empty()) out += " " + italic(entry.value);
      out += "\n";
    }
    out += paragraph(escaped(entry.text));
  }
}

// Prose, and lines as they are. Where "Example:" stands a section begins.
void add_manual(std::string_view manual, std::string& out) {
  bool literal = false;
  bool first = true;  // in its section
  const auto end_literal = [&] {
    if (literal) out += ".EE\n.RE\n";
    literal = false;
  };
  bool described = false;
  for (const Passage& passage : passages(manual)) {
    if (!passage.literal) end_literal();
    if (passage.text == "Example:") {
      out += ".SH EXAMPLES\n";
      first = true;
      continue;
    }
    if (!described && !passage.literal) {
      out += ".SH NOTES\n";
      first = true;
    }
    described = true;
    if (!passage.literal) {
      if (!first) out += ".PP\n";
      out += paragraph(escaped(passage.text));
    } else {
      if (!literal) out += ".RS 4\n.EX\n";
      literal = true;
      std::string_view line = passage.text;
      while (line.starts_with(' ')) line.remove_prefix(1);
      out += escaped(line) + "\n";
    }
    first = false;
  }
  end_literal();
}

std::string roff(const Page& page) {
  const std::string title = title_of(page.words);
  std::string out = ".TH " + upper(escaped(title)) + " 1 " + std::string(pipeline::kVersionDay) +
                    " " + argument("gpuctl " + std::string(pipeline::kVersion)) +
                    " \"User Commands\"\n";
  out += ".SH NAME\n" + paragraph(escaped(title) + " \\- " + escaped(page.summary));
  out += ".SH SYNOPSIS\n" + paragraph(bold(page.words) + " " + escaped(usage_of(page)));
  out += ".SH DESCRIPTION\n" + paragraph(escaped(page.summary) + ".");
  if (!page.arguments.empty()) {
    out += ".SH ARGUMENTS\n";
    add_entries(page.arguments, out);
  }
  if (!page.commands.empty()) {
    out += ".SH COMMANDS\n";
    for (const CommandEntry& command : page.commands) {
      out += ".TP\n" + bold(command.name) + "\n" + paragraph(escaped(command.summary));
    }
  }
  out += ".SH OPTIONS\n";
  add_entries(page.options, out);
  add_manual(page.manual, out);
  out += ".SH SEE ALSO\n";
  if (page.words == "gpuctl") {
    std::string line;
    for (const CommandEntry& command : page.commands) {
      if (!line.empty()) line += ",\n";
      line += ".BR gpuctl\\-" + escaped(command.name) + " (1)";
    }
    out += line + "\n";
  } else {
    out += ".BR gpuctl (1)";
    for (const CommandEntry& command : page.commands) {
      out += ",\n.BR " + escaped(title) + "\\-" + escaped(command.name) + " (1)";
    }
    out += "\n";
  }
  return out;
}

using CommandPath = std::vector<const Command*>;

void all_paths(const std::vector<Command>& commands, const CommandPath& above,
               std::vector<CommandPath>& out) {
  out.push_back(above);
  for (const Command& command : above.empty() ? commands : above.back()->below) {
    CommandPath path = above;
    path.push_back(&command);
    all_paths(commands, path, out);
  }
}

int write_all(const std::string& directory, const std::vector<Command>& all,
              const GlobalOptions& global) {
  Report report(global);
  diag::Sink sink;
  std::vector<CommandPath> paths;
  all_paths(all, {}, paths);
  if (::mkdir(directory.c_str(), 0777) != 0 && errno != EEXIST) {
    sink.error(kUnwritable, diag::kNoOrigin,
               "`" + shown(directory) + "`: " + base::errno_text(errno));
  }
  for (const CommandPath& path : paths) {
    if (sink.has_errors()) break;
    const Page page = page_of(path, all);
    const std::string file = directory + "/" + title_of(page.words) + ".1";
    std::ofstream stream(file, std::ios::binary | std::ios::trunc);
    stream << roff(page) << std::flush;
    if (!stream) sink.error(kUnwritable, diag::kNoOrigin, "cannot write `" + shown(file) + "`");
  }
  report.show(sink, diag::Sources());
  if (sink.has_errors()) return kFindings;
  report.say("wrote " + counted(paths.size(), "page") + " to " + shown(directory));
  return kOk;
}

int print_one(const std::vector<std::string>& words, const std::vector<Command>& all,
              const GlobalOptions& global) {
  CommandPath path;
  for (const std::string& word : words) {
    const std::vector<Command>& here = path.empty() ? all : path.back()->below;
    const Command* found = find_command(here, word);
    if (found == nullptr) {
      diag::Sink sink;
      sink.error(kUsage, diag::kNoOrigin, "there is no command `" + shown(word) + "`")
          .did_you_mean(word, names_of(here))
          .suggest("see `gpuctl --help`");
      Report(global).show(sink, diag::Sources());
      return kUsageError;
    }
    path.push_back(found);
  }
  const std::string text = roff(page_of(path, all));
  global.result->set("page", text);
  return print(text, global) ? kOk : kFindings;
}

RunFunction set_up_man(Options& command, const GlobalOptions& global) {
  auto words = std::make_shared<std::vector<std::string>>();
  auto directory = std::make_shared<std::string>();
  command.add_option("COMMAND", *words, "A command, with those above it");
  command.add_option("--directory", *directory, "Write all pages into this directory instead")
      .type_name("DIR")
      .excludes("COMMAND");
  return [=, &global] {
    const std::vector<Command> all = commands();
    return directory->empty() ? print_one(*words, all, global) : write_all(*directory, all, global);
  };
}

}  // namespace

Command man_command() {
  return {"man",
          "Print a page of the manual, for man(1)",
          "The pages say what help says; packages install them.\n\n"
          "Example:\n"
          "  gpuctl man apply | man -l -\n"
          "  gpuctl man --directory ~/.local/share/man/man1\n",
          set_up_man,
          {},
          false};
}

}  // namespace gpuctl::cli
