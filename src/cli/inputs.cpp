#include "cli/inputs.hpp"

#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>

#include "base/file.hpp"
#include "base/text.hpp"
#include "catalog/wrapper.hpp"
#include "cli/codes.hpp"
#include "diag/character.hpp"
#include "pipeline/codes.hpp"
#include "pipeline/inputs.hpp"
#include "yaml/read.hpp"

namespace gpuctl::cli {

namespace {

namespace fs = std::filesystem;

// Of a directory: who names a file system by mistake does not wait for its end.
constexpr std::size_t kMostFiles = 100'000;

bool is_directory(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool exists(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

bool is_pattern(const std::string& word) {
  return word.find_first_of("*?[") != std::string::npos && !exists(word);
}

// A fleet, or a blueprint of a cluster: bases of others need no name.
bool is_input(const std::string& file, const std::string& text) {
  if (text.find("kind") == std::string::npos) return false;
  diag::Sources sources;
  yaml::Arena arena;
  diag::Sink unsaid;
  const auto document = yaml::read(sources.add_file(file, text), sources, arena, unsaid);
  // What is no YAML is somebody's mistake: it is said where the file is run.
  if (!document) return text.find("\nkind: Blueprint") != std::string::npos;
  if (document->get("apiVersion").as_string() != catalog::kApiVersion) return false;
  const std::string_view kind = document->get("kind").as_string();
  if (kind == "Fleet") return true;
  return kind == "Blueprint" && !document->get({"metadata", "name"}).is_null();
}

// What came by standard input. It can be read once; a command may ask twice.
std::optional<std::string> read_standard_input(diag::Sink& sink) {
  // Nobody sees that a program waits.
  if (::isatty(STDIN_FILENO) == 1) {
    std::fputs("Reading standard input; Ctrl-D ends it.\n", stderr);
  }
  std::string text;
  std::array<char, 65536> buffer{};
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      sink.error(pipeline::kUnreadable, diag::kNoOrigin,
                 "cannot read standard input: " + base::errno_text(errno));
      return std::nullopt;
    }
    if (got == 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() > pipeline::kMostInputBytes) {
      sink.error(
          pipeline::kUnreadable, diag::kNoOrigin,
          "standard input is longer than " + std::to_string(pipeline::kMostInputBytes) + " bytes");
      return std::nullopt;
    }
  }
  return text;
}

const std::optional<std::string>& standard_input(diag::Sink& sink) {
  static const std::optional<std::string> text = read_standard_input(sink);
  return text;
}

class Inputs {
 public:
  explicit Inputs(diag::Sink& sink) : sink_(sink) {}

  void add(const std::string& word) {
    if (word == "-") {
      add_standard_input();
    } else if (is_pattern(word)) {
      add_pattern(word);
    } else if (is_directory(word)) {
      add_directory(word);
    } else {
      out_.files.push_back(word);
    }
  }

  InputNames take() { return std::move(out_); }

 private:
  void add_standard_input() {
    if (out_.given.contains(kStandardInput)) {
      sink_.error(kUsage, diag::kNoOrigin, "standard input can be read only once")
          .got("`-` a second time");
      return;
    }
    const std::optional<std::string>& read = standard_input(sink_);
    if (!read) return;
    const std::string& text = *read;
    if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
      sink_.error(kNoInput, diag::kNoOrigin, "standard input is empty")
          .expect("a blueprint or a fleet")
          .suggest("did the command before the `|` fail?");
      return;
    }
    out_.given[kStandardInput] = text;
    out_.files.emplace_back(kStandardInput);
  }

  void add_pattern(const std::string& word) {
    glob_t found{};
    const int code = ::glob(word.c_str(), 0, nullptr, &found);
    std::vector<std::string> paths;
    for (std::size_t i = 0; code == 0 && i < found.gl_pathc; ++i) {
      paths.emplace_back(found.gl_pathv[i]);
    }
    ::globfree(&found);
    if (code != 0 && code != GLOB_NOMATCH) {
      sink_.error(pipeline::kUnreadable, diag::kNoOrigin,
                  "cannot look for files like `" + diag::shown(word) + "`");
      return;
    }
    if (paths.empty()) {
      sink_.error(kNoInput, diag::kNoOrigin, "no file is called `" + diag::shown(word) + "`")
          .expect("a pattern that files fit: `*`, `?` and `[...]` stand for characters")
          .suggest("`gpuctl` looks from the working directory; `ls` shows what is there");
      return;
    }
    std::sort(paths.begin(), paths.end());
    for (const std::string& path : paths) {
      // The pattern was meant for blueprints, and facts lie beside them.
      if (is_directory(path)) {
        add_directory(path);
      } else if (!path.ends_with(".facts.yaml")) {
        out_.files.push_back(path);
      }
    }
  }

  void add_directory(const std::string& directory) {
    std::vector<std::string> paths;
    std::error_code error;
    fs::recursive_directory_iterator entry(directory, fs::directory_options::skip_permission_denied,
                                           error);
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      std::error_code unsaid;
      if (name.starts_with('.')) {
        if (entry->is_directory(unsaid)) entry.disable_recursion_pending();
        continue;
      }
      if (!name.ends_with(".yaml") && !name.ends_with(".yml")) continue;
      if (!name.ends_with(".facts.yaml") && entry->is_regular_file(unsaid)) {
        paths.push_back(entry->path().string());
      }
      if (paths.size() > kMostFiles) break;
    }
    if (error || paths.size() > kMostFiles) {
      sink_.error(pipeline::kUnreadable, diag::kNoOrigin,
                  "`" + diag::shown(directory) + "`: " +
                      (error ? error.message()
                             : "more than " + std::to_string(kMostFiles) + " files below it"));
      return;
    }
    std::sort(paths.begin(), paths.end());
    std::size_t inputs = 0;
    for (const std::string& path : paths) {
      auto content = base::read_file(path, pipeline::kMostInputBytes);
      const auto* text = std::get_if<std::string>(&content);
      if (text == nullptr || !is_input(path, *text)) continue;
      out_.files.push_back(path);
      ++inputs;
    }
    if (inputs != 0) return;
    const std::string place = diag::shown(directory);
    diag::Diagnostic& none =
        sink_.error(kNoInput, diag::kNoOrigin, "no blueprint and no fleet below `" + place + "`")
            .expect("files that end in .yaml, with `kind: Blueprint` and a name, or `kind: Fleet`")
            .got(paths.empty() ? "no such file"
                               : base::counted(paths.size(), "file") + " with something else");
    if (!paths.empty()) {
      none.suggest("documents of others are named themselves: `" + place + "/*.yaml`");
    }
  }

  diag::Sink& sink_;
  InputNames out_;
};

}  // namespace

std::optional<InputNames> find_inputs(const std::vector<std::string>& words, diag::Sink& sink) {
  Inputs inputs(sink);
  for (const std::string& word : words) inputs.add(word);
  if (sink.has_errors()) return std::nullopt;
  return inputs.take();
}

}  // namespace gpuctl::cli
