#include "cli/command.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <unordered_map>

#include "base/date.hpp"
#include "base/digest.hpp"
#include "base/file.hpp"
#include "base/heap.hpp"
#include "base/stages.hpp"
#include "cli/codes.hpp"
#include "cli/day.hpp"
#include "cli/kept_findings.hpp"
#include "cli/terminal.hpp"
#include "diag/character.hpp"
#include "secrets/mask.hpp"
#include "yaml/emit.hpp"

namespace gpuctl::cli {

Report::Report(const GlobalOptions& options)
    : result_(*options.result), json_(options.format == "json"), quiet_(options.quiet) {
  colour_ = shows_colour(options.color);
  if (!json_) pages_ = linked_pages(options.color);
}

namespace {

// True when a diagnostic points to a file of the user that is not `own`.
bool is_elsewhere(const diag::Diagnostic& diagnostic, const diag::Sources& sources,
                  std::string_view own) {
  const diag::Span* span = sources.span(diagnostic.primary.at);
  return !own.empty() && span != nullptr && sources.file_name(span->file) != own;
}

}  // namespace

Shown Report::prepare(const diag::Sink& sink, const diag::Sources& sources,
                      std::string_view own) const {
  Shown out;
  if (sink.empty()) return out;
  if (sources.mask() == nullptr) {
    static const secrets::PlainMask plain;
    diag::Sources with_mask(&sources);
    with_mask.set_mask(&plain);
    return prepare(sink, with_mask, own);
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
    Shown::Piece piece;
    piece.begin = out.text.size();
    piece.severity = diagnostic.severity;
    piece.elsewhere = is_elsewhere(diagnostic, sources, own);
    if (json_) {
      diag::print_json(diagnostic, sources, out.text);
    } else {
      diag::print_text(diagnostic, sources, colour_, out.text, pages_);
      out.text += '\n';
    }
    piece.end = out.text.size();
    if (diagnostic.severity == diag::Severity::note) {
      std::string said = diagnostic.code + "\n" + diagnostic.message;
      for (const std::string& note : diagnostic.notes) said += "\n" + note;
      piece.digest = base::sha256_hex(said);
      for (const std::string* part :
           {&diagnostic.primary.text, &diagnostic.expected, &diagnostic.found}) {
        said += "\n" + *part;
      }
      for (const std::string& help : diagnostic.help) said += "\n" + help;
      piece.alike = std::move(said);
    }
    out.pieces.push_back(std::move(piece));
  }
  if (hidden != 0) out.text += "... and " + std::to_string(hidden) + " more\n\n";
  return out;
}

std::size_t Shown::count_notes() const {
  return static_cast<std::size_t>(
      std::count_if(pieces.begin(), pieces.end(), [](const Piece& piece) {
        return piece.severity == diag::Severity::note && piece.begin != piece.end;
      }));
}

void Shown::leave_out(const std::set<std::string>& told) {
  // From the end, so that the places of the others stay true.
  for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
    if (piece->severity != diag::Severity::note) continue;
    if (piece->begin == piece->end || !told.contains(piece->digest)) continue;
    const std::size_t length = piece->end - piece->begin;
    text.erase(piece->begin, length);
    for (auto later = pieces.rbegin(); later != piece; ++later) {
      later->begin -= length;
      later->end -= length;
    }
    piece->end = piece->begin;
  }
}

void Shown::leave_out_notes() {
  std::set<std::string> all;
  for (const Piece& piece : pieces) all.insert(piece.digest);
  leave_out(all);
}

void Report::show(const Shown& shown) {
  errors_ += shown.errors;
  warnings_ += shown.warnings;
  result_.count(shown.errors, shown.warnings, quiet_ ? 0 : shown.count_notes());
  if (quiet_ && shown.count_notes() != 0) {
    Shown rest = shown;
    rest.leave_out_notes();
    result_.say(rest.text);
    return;
  }
  result_.say(shown.text);
}

void Report::show(const diag::Sink& sink, const diag::Sources& sources) {
  KeptFindings::note(sink, sources);
  show(prepare(sink, sources));
}

void Report::remark(const diag::Sink& sink, const diag::Sources& sources) {
  result_.say(prepare(sink, sources).text);
}

namespace {

// "prod/a, prod/b and 998 more".
std::string some_of(const std::vector<std::string_view>& names) {
  constexpr std::size_t kMostNames = 5;
  std::string out;
  for (std::size_t i = 0; i < names.size() && i < kMostNames; ++i) {
    out += (i == 0 ? "" : ", ") + std::string(names[i]);
  }
  if (names.size() > kMostNames) {
    out += " and " + std::to_string(names.size() - kMostNames) + " more";
  }
  return out;
}

}  // namespace

std::string Report::named(std::string_view piece,
                          const std::vector<std::string_view>& names) const {
  std::string out(piece);
  while (out.ends_with('\n')) out.pop_back();
  if (!json_) return out + "\nclusters: " + diag::shown(some_of(names)) + "\n\n";
  if (!out.ends_with('}')) return out + "\n";
  yaml::Arena arena;
  std::vector<yaml::Node> all;
  for (const std::string_view name : names) all.push_back(yaml::Node::view(name));
  out.pop_back();
  return out + ",\"clusters\":" + yaml::emit_json(arena.list(all)) + "}\n";
}

void Report::show_grouped(std::span<const NamedShown> all) {
  struct Group {
    std::string_view text;
    const Shown::Piece* piece = nullptr;  // of the first; nullptr: none
    std::vector<std::string_view> names;
  };
  std::vector<Group> groups;
  std::unordered_map<std::string_view, std::size_t> known;
  Shown counts;  // of what is said once
  for (const auto& [name, shown] : all) {
    std::size_t at = 0;
    const auto add = [&, cluster = name, said = std::string_view(shown->text)](
                         std::size_t end, const Shown::Piece* piece) {
      const std::string_view text = said.substr(at, end - at);
      at = end;
      if (text.empty()) return;
      // What many clusters note differs in its place; programs want each place, and of one cluster
      // each place counts.
      std::string_view key = text;
      if (!json_ && piece != nullptr && !piece->alike.empty()) key = piece->alike;
      if (const auto same = known.find(key);
          same != known.end() && groups[same->second].names.back() == cluster) {
        key = text;
      }
      const auto [found, fresh] = known.try_emplace(key, groups.size());
      if (fresh) groups.push_back({text, piece, {}});
      groups[found->second].names.push_back(cluster);
    };
    counts.errors += shown->errors;
    counts.warnings += shown->warnings;
    for (const Shown::Piece& piece : shown->pieces) {
      add(piece.begin, nullptr);
      add(piece.end, &piece);
    }
    add(shown->text.size(), nullptr);
  }
  std::size_t notes = 0;
  std::string out;
  for (const auto& [text, piece, names] : groups) {
    if (piece != nullptr) {
      if (piece->severity == diag::Severity::error) counts.errors -= names.size() - 1;
      if (piece->severity == diag::Severity::warning) counts.warnings -= names.size() - 1;
      if (piece->severity == diag::Severity::note && quiet_) continue;
      if (piece->severity == diag::Severity::note) ++notes;
    }
    const bool says_who =
        names.size() > 1 || (piece != nullptr && piece->elsewhere && all.size() > 1);
    out += says_who ? named(text, names) : std::string(text);
  }
  errors_ += counts.errors;
  warnings_ += counts.warnings;
  result_.count(counts.errors, counts.warnings, notes);
  result_.say(out);
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
  constexpr std::size_t kHeapOfOneCluster = 12 * 1024 * 1024;
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

}  // namespace

bool print(std::string_view text, const GlobalOptions& options) {
  return options.result->wanted() || write_out(text, options);
}

bool print_result(int exit_code, const GlobalOptions& options) {
  return !options.result->wanted() || write_out(options.result->text(exit_code), options);
}

void BlueprintOptions::add_to(Options& command) {
  command
      .add_option("BLUEPRINT", blueprints,
                  "Blueprint and fleet files, directories with them, or - for standard input")
      .required();
  add_choice(command);
  command
      .add_option("--facts", facts,
                  "Facts of the cluster (default: from the target, then NAME.facts.yaml beside "
                  "the blueprint)")
      .type_name("FILE");
  command
      .add_option("--crds", crds,
                  "Directory of published CRDs to check the rendered documents against; may be "
                  "repeated, the first that has a kind wins (also GPUCTL_CRDS, separated by `:`)")
      .type_name("DIR")
      .allow_extra_args(false);
  command.add_flag("--strict", strict, "Warnings fail");
  add_date_option(command, date);
  command.add_option("-j,--jobs", jobs, "Threads (default: one a processor)").in_range(1, 256);
}

void BlueprintOptions::add_choice(Options& command) {
  command
      .add_option("--cluster", clusters,
                  "Of a fleet only this cluster: NAME or STAGE/NAME, `*` and `?` stand for other "
                  "characters; may be repeated")
      .type_name("CLUSTER")
      .allow_extra_args(false);
  command.add_option("--stage", stages, "Of a fleet only clusters of this stage; may be repeated")
      .type_name("STAGE")
      .allow_extra_args(false);
  command
      .add_option("--wave", waves,
                  "Of the stages of a fleet only clusters of this wave; may be repeated")
      .type_name("WAVE")
      .allow_extra_args(false);
}

void BlueprintOptions::add_target_options(Options& command) {
  command
      .add_flag("--facts-replace", facts_replace,
                "Take these facts although the output has another infrastructure for this cluster: "
                "it was installed anew")
      .needs("--facts");
  command
      .add_option("--step", step,
                  "2: take away what the last commit began to take away; what begins to leave "
                  "with this one stays until then")
      .in_range(1, 2)
      .type_name("N");
  command.add_flag("--refresh-secrets", refresh_secrets,
                   "Encrypt all secrets anew: their values have changed. Without it those are kept "
                   "that are committed for the same references and keys");
}

std::optional<Request> make_request(const BlueprintOptions& options, Report& report) {
  Request request;
  request.facts_file = options.facts;
  request.replace_facts = options.facts_replace;
  request.go_on = options.step > 1;
  request.refresh_secrets = options.refresh_secrets;
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

}  // namespace gpuctl::cli
