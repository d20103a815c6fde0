#include "cli/report_files.hpp"

#include <array>

#include "base/output_tree.hpp"
#include "cli/code_page.hpp"
#include "cli/codes.hpp"
#include "cli/withheld.hpp"
#include "pipeline/version.hpp"

namespace gpuctl::cli {

namespace {

using Subjects = std::vector<diag::Subject>;

struct Format {
  std::string_view name;
  std::string (*text)(const Subjects& subjects);
};

constexpr std::array<Format, 3> kFormats = {
    {{"sarif",
      [](const Subjects& subjects) {
        return diag::sarif_report(subjects, pipeline::kVersion, code_page);
      }},
     {"junit", [](const Subjects& subjects) { return diag::junit_report(subjects); }},
     {"codequality",
      [](const Subjects& subjects) { return diag::code_quality_report(subjects); }}}};

// The format and the file that a word of the command line names; null for others.
std::pair<const Format*, std::string> read(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos || equals + 1 == word.size()) return {nullptr, {}};
  for (const Format& format : kFormats) {
    if (word.compare(0, equals, format.name) == 0) return {&format, word.substr(equals + 1)};
  }
  return {nullptr, {}};
}

std::string check(const std::string& word) {
  if (read(word).first != nullptr) return {};
  std::string names;
  for (const Format& format : kFormats) {
    names += (names.empty() ? "" : ", ") + std::string(format.name) + "=FILE";
  }
  return "`" + word + "` is none of " + names;
}

}  // namespace

std::optional<base::FileError> write_file(const std::string& path, const std::string& text) {
  const std::size_t slash = path.rfind('/');
  auto opened =
      base::OutputTree::open(slash == std::string::npos ? "." : path.substr(0, slash + 1));
  if (auto* error = std::get_if<base::FileError>(&opened)) return *error;
  return std::get<base::OutputTree>(opened).write(
      slash == std::string::npos ? path : path.substr(slash + 1), text);
}

void ReportFiles::add_to(Options& command) {
  command
      .add_option("--report", wanted,
                  "Also write what was found into a file: sarif=FILE, junit=FILE or "
                  "codequality=FILE; may be repeated")
      .type_name("FORMAT=FILE")
      .check(check)
      .allow_extra_args(false);
}

std::vector<std::string> report_forms() {
  std::vector<std::string> out;
  for (const Format& format : kFormats) out.emplace_back(format.name);
  return out;
}

bool ReportFiles::write(const Reported& reported, const std::string& first_file,
                        Report& report) const {
  if (wanted.empty()) return true;
  Subjects subjects = reported.subjects;
  if (!reported.of_run.all().empty()) {
    subjects.insert(subjects.begin(),
                    {"gpuctl", first_file, !reported.of_run.has_errors(), reported.of_run.all()});
  }
  diag::Sink sink;
  for (const std::string& word : wanted) {
    const auto [format, path] = read(word);
    if (const auto error = write_file(path, format->text(subjects))) {
      sink.error(kUnwritable, diag::kNoOrigin,
                 "cannot write `" + shown(path) + "`: " + error->text);
    }
  }
  report.show(sink, diag::Sources());
  return !sink.has_errors();
}

diag::Subject subject_of(const Result& result) {
  // A cluster of a fleet is called FILE#STAGE/NAME.
  const bool is_member = result.members && result.members->contains(result.blueprint_file);
  const std::string file = result.blueprint_file.substr(
      0, is_member ? result.blueprint_file.rfind('#') : std::string::npos);
  diag::Subject out{.name = result.opened ? result.cluster() : result.blueprint_file,
                    .file = file,
                    .findings = findings_of(result.sink, *result.sources)};
  std::vector<pipeline::Ignored> ignored = result.ignored;
  for (diag::Finding& finding : findings_of(withheld_notes(result, ignored), *result.sources)) {
    out.findings.push_back(std::move(finding));
  }
  return out;
}

}  // namespace gpuctl::cli
