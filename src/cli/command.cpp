#include "cli/command.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "base/date.hpp"
#include "base/digest.hpp"
#include "base/file.hpp"
#include "base/heap.hpp"
#include "base/stages.hpp"
#include "cli/codes.hpp"
#include "cli/day.hpp"
#include "diag/character.hpp"
#include "diag/print.hpp"
#include "secrets/mask.hpp"

namespace gpuctl::cli {

Report::Report(const GlobalOptions& options)
    : result_(*options.result), json_(options.format == "json") {
  const char* no_color = std::getenv("NO_COLOR");
  const bool allowed = no_color == nullptr || *no_color == '\0';
  colour_ = options.color == "always" ||
            (options.color == "auto" && allowed && ::isatty(STDERR_FILENO) == 1);
}

Shown Report::prepare(const diag::Sink& sink, const diag::Sources& sources) const {
  Shown out;
  if (sink.empty()) return out;
  if (sources.mask() == nullptr) {
    static const secrets::PlainMask plain;
    diag::Sources with_mask(&sources);
    with_mask.set_mask(&plain);
    return prepare(sink, with_mask);
  }
  std::size_t shown = 0;
  std::size_t hidden = 0;
  for (const diag::Diagnostic& diagnostic : sink.sorted(sources)) {
    if (diagnostic.severity == diag::Severity::error) ++out.errors;
    if (diagnostic.severity == diag::Severity::warning) ++out.warnings;
    if (!json_ && shown == kMostShown) {
      ++hidden;
      continue;
    }
    ++shown;
    const std::size_t begin = out.text.size();
    if (json_) {
      diag::print_json(diagnostic, sources, out.text);
    } else {
      diag::print_text(diagnostic, sources, colour_, out.text);
      out.text += '\n';
    }
    if (diagnostic.severity != diag::Severity::note) continue;
    std::string said = diagnostic.code + "\n" + diagnostic.message;
    for (const std::string& note : diagnostic.notes) said += "\n" + note;
    out.notes.push_back({begin, out.text.size(), base::sha256_hex(said)});
  }
  if (hidden != 0) out.text += "... and " + std::to_string(hidden) + " more\n\n";
  return out;
}

std::size_t Shown::count_notes() const {
  return static_cast<std::size_t>(std::count_if(
      notes.begin(), notes.end(), [](const Note& note) { return note.begin != note.end; }));
}

void Shown::leave_out(const std::set<std::string>& told) {
  // From the end, so that the places of the others stay true.
  for (auto note = notes.rbegin(); note != notes.rend(); ++note) {
    if (note->begin == note->end || !told.contains(note->digest)) continue;
    const std::size_t length = note->end - note->begin;
    text.erase(note->begin, length);
    for (auto later = notes.rbegin(); later != note; ++later) {
      later->begin -= length;
      later->end -= length;
    }
    note->end = note->begin;
  }
}

void Shown::leave_out_notes() {
  std::set<std::string> all;
  for (const Note& note : notes) all.insert(note.digest);
  leave_out(all);
}

void Report::show(const Shown& shown) {
  errors_ += shown.errors;
  warnings_ += shown.warnings;
  result_.count(shown.errors, shown.warnings, quiet_ ? 0 : shown.count_notes());
  if (quiet_ && !shown.notes.empty()) {
    Shown rest = shown;
    rest.leave_out_notes();
    std::fwrite(rest.text.data(), 1, rest.text.size(), stderr);
    return;
  }
  std::fwrite(shown.text.data(), 1, shown.text.size(), stderr);
}

void Report::show(const diag::Sink& sink, const diag::Sources& sources) {
  show(prepare(sink, sources));
}

void Report::say(const std::string& line) const {
  if (!json_ && !quiet_) std::fprintf(stderr, "%s\n", line.c_str());
}

bool Report::is_watched() const {
  return !json_ && !quiet_ && ::isatty(STDERR_FILENO) == 1;
}

Report::~Report() {
  if (json_ || errors_ + warnings_ == 0) return;
  std::string line;
  if (errors_ != 0) line = counted(errors_, "error");
  if (warnings_ != 0) line += (line.empty() ? "" : ", ") + counted(warnings_, "warning");
  std::fprintf(stderr, "%s\n", line.c_str());
}

Knowledge& open_knowledge(const GlobalOptions& options, diag::Sink& sink) {
  constexpr std::size_t kHeapOfOneCluster = 6 * 1024 * 1024;
  const base::StageScope scope(base::Stage::knowledge);
  static std::once_flag once;
  std::call_once(once, [] { base::expect_heap(kHeapOfOneCluster); });
  static const std::unique_ptr<Knowledge> knowledge =
      std::make_unique<Knowledge>(built_in_image(), options.providers, options.templates, sink);
  return *knowledge;
}

Knowledge* open_knowledge(const GlobalOptions& options, Report& report) {
  diag::Sink sink;
  Knowledge& knowledge = open_knowledge(options, sink);
  report.show(sink, knowledge.library().sources());
  return sink.has_errors() ? nullptr : &knowledge;
}

void show_stages(const GlobalOptions& options) {
  const bool json = options.format == "json";
  std::string out;
  const auto line = [&](const char* form, auto... values) {
    std::array<char, 128> buffer{};
    std::snprintf(buffer.data(), buffer.size(), form, values...);
    out += buffer.data();
  };
  if (!json) line("%-20s %8s %12s %12s\n", "stage", "runs", "average us", "total ms");
  for (const base::StageTime& one : base::stage_times()) {
    const std::string name(base::stage_name(one.stage));
    const auto runs = static_cast<unsigned long long>(one.runs);
    const double microseconds = std::chrono::duration<double, std::micro>(one.total).count();
    const double average = microseconds / static_cast<double>(one.runs);
    if (json) {
      line("{\"stage\":\"%s\",\"runs\":%llu,\"microseconds\":%.0f}\n", name.c_str(), runs,
           microseconds);
    } else {
      line("%-20s %8llu %12.1f %12.1f\n", name.c_str(), runs, average, microseconds / 1000);
    }
  }
  std::fwrite(out.data(), 1, out.size(), stderr);
}

namespace {

bool write_out(std::string_view text, const GlobalOptions& options) {
  const base::StageScope scope(base::Stage::write);
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) {
    return true;
  }
  if (const int code = errno; code != EPIPE) {
    diag::Sink sink;
    sink.error(kUnwritable, diag::kNoOrigin,
               "cannot write to standard output: " + base::errno_text(code));
    Report(options).show(sink, diag::Sources());
  }
  return false;
}

// "mig plan" -> "MigPlan".
std::string kind_of(const CLI::App& command) {
  const CLI::App* above = command.get_parent();
  if (above == nullptr) return {};
  std::string name = command.get_name();
  name.front() = static_cast<char>(name.front() - 'a' + 'A');
  return kind_of(*above) + name;
}

}  // namespace

bool print(std::string_view text, const GlobalOptions& options) {
  return options.result->wanted() || write_out(text, options);
}

bool print_result(int exit_code, const GlobalOptions& options) {
  return !options.result->wanted() || write_out(options.result->text(exit_code), options);
}

void BlueprintOptions::add_to(CLI::App& command) {
  command.add_option("BLUEPRINT", blueprints, "Blueprint files")->required();
  command
      .add_option("--facts", facts,
                  "Facts of the cluster (default: from the target, then NAME.facts.yaml beside "
                  "the blueprint)")
      ->type_name("FILE");
  command
      .add_option("--crds", crds,
                  "Directory of published CRDs to check the rendered documents against; may be "
                  "repeated, the first that has a kind wins (also GPUCTL_CRDS, separated by `:`)")
      ->type_name("DIR")
      ->allow_extra_args(false);
  command.add_flag("--strict", strict, "Warnings fail");
  add_date_option(command, date);
  command.add_option("-j,--jobs", jobs, "Threads (default: one a processor)")
      ->check(CLI::Range(1, 256));
}

void BlueprintOptions::add_target_options(CLI::App& command) {
  command
      .add_flag("--facts-replace", facts_replace,
                "Take these facts although the output has another infrastructure for this cluster: "
                "it was installed anew")
      ->needs("--facts");
  command
      .add_option("--step", step,
                  "2: take away what the last commit began to take away; what begins to leave "
                  "with this one stays until then")
      ->check(CLI::Range(1, 2))
      ->type_name("N");
}

std::optional<Request> make_request(const BlueprintOptions& options, Report& report) {
  Request request;
  request.facts_file = options.facts;
  request.replace_facts = options.facts_replace;
  request.go_on = options.step > 1;
  request.date = base::day_text(chosen_day(options.date));
  std::vector<std::string> directories = options.crds;
  if (const char* variable = std::getenv("GPUCTL_CRDS"); directories.empty() && variable) {
    std::string_view rest(variable);
    while (!rest.empty()) {
      const std::size_t colon = rest.find(':');
      if (colon != 0) directories.emplace_back(rest.substr(0, colon));
      rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
    }
  }
  if (!directories.empty()) {
    diag::Sink sink;
    request.crds = std::make_shared<pipeline::SharedCrds>(directories, sink);
    report.show(sink, diag::Sources());
    if (sink.has_errors()) return std::nullopt;
  }
  return request;
}

unsigned thread_count(unsigned jobs) {
  return jobs != 0 ? jobs : std::max(1U, std::thread::hardware_concurrency());
}

void add_command(CLI::App& to, const Command& command, std::span<const char* const> words,
                 const GlobalOptions& global, int& exit_code) {
  CLI::App* added = to.add_subcommand(command.name, command.summary);
  if (std::find(words.begin(), words.end(), command.name) == words.end()) return;
  added->footer(command.manual);
  if (!command.below.empty()) added->require_subcommand(1);
  for (const Command& below : command.below) add_command(*added, below, words, global, exit_code);
  if (!command.setup) return;
  added->callback([run = command.setup(*added, global), added, &global, &exit_code] {
    if (global.format == "json") global.result->request();
    global.result->set_kind(kind_of(*added));
    exit_code = run();
  });
}

}  // namespace gpuctl::cli
