#include "cli/unchanged.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <utility>

#include "base/digest.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "pipeline/version.hpp"

namespace gpuctl::cli {

namespace {

constexpr std::string_view kName = "/gpuctl-unchanged";
constexpr std::string_view kMagic = "gpuctl-unchanged 3 ";
constexpr std::size_t kMostBytes = 256 * 1024 * 1024;
constexpr std::size_t kFields = 9;

// Fields are divided by tabs and rows by line ends, which texts hold too.
constexpr std::string_view kPlain = "\n\t";
constexpr std::string_view kStored = "\1\2";

bool storable(std::string_view text) {
  return text.find_first_of(kStored) == std::string_view::npos;
}

std::string exchanged(std::string_view text, std::string_view from, std::string_view to) {
  std::string out(text);
  for (char& c : out) {
    if (const std::size_t at = from.find(c); at != std::string_view::npos) c = to[at];
  }
  return out;
}

// Where the notes of a text stand: "0-120 120-260".
std::string spans_of(const std::vector<Shown::Note>& notes) {
  std::string out;
  for (const Shown::Note& note : notes) {
    out += (out.empty() ? "" : " ") + std::to_string(note.begin) + "-" + std::to_string(note.end);
  }
  return out;
}

// Those that lie within a text of this length; nobody looks at their digests.
std::vector<Shown::Note> notes_of(std::string_view spans, std::size_t length) {
  std::vector<Shown::Note> out;
  for (const std::string_view span : base::split(spans, ' ')) {
    const std::vector<std::string_view> ends = base::split(span, '-');
    if (ends.size() != 2) continue;
    const auto begin = base::parse_integer(ends[0]);
    const auto end = base::parse_integer(ends[1]);
    if (!begin || !end || *begin < 0 || *end < *begin) continue;
    if (static_cast<std::size_t>(*end) > length) continue;
    out.push_back({static_cast<std::size_t>(*begin), static_cast<std::size_t>(*end), {}});
  }
  return out;
}

// The digest of a file; nothing when it cannot be read.
std::optional<std::string> digest_of(std::variant<std::string, base::FileError> content) {
  const auto* text = std::get_if<std::string>(&content);
  if (text == nullptr) return std::nullopt;
  return base::sha256_hex(*text);
}

}  // namespace

std::string identity_of(const Knowledge& knowledge, const std::string& options) {
  // A program in development changes without its version.
  struct stat program {};
  ::stat("/proc/self/exe", &program);
  return base::sha256_hex(std::string(pipeline::kVersion) + "\n" + knowledge.digest() + "\n" +
                          std::to_string(program.st_size) + " " +
                          std::to_string(program.st_mtim.tv_sec) + "." +
                          std::to_string(program.st_mtim.tv_nsec) + "\n" + options);
}

Unchanged::Unchanged(std::string git_directory, const std::string& identity)
    : path_(std::move(git_directory) + std::string(kName)),
      first_line_(std::string(kMagic) + identity) {
  const auto content = base::read_file(path_, kMostBytes);
  const auto* text = std::get_if<std::string>(&content);
  if (text == nullptr || !text->starts_with(kMagic) || !text->ends_with('\n')) return;
  const bool same = text->starts_with(first_line_ + "\n");
  std::string_view rest = std::string_view(*text).substr(text->find('\n') + 1);
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::vector<std::string_view> fields = base::split(rest.substr(0, end), '\t');
    rest.remove_prefix(end + 1);
    if (fields.size() < kFields) continue;
    Row row;
    row.notes = fields[7];
    if (!same) {  // of another program or day: only what was said counts
      rows_[std::string(fields[0])] = std::move(row);
      continue;
    }
    row.blueprint = fields[1];
    row.inputs = fields[2];
    row.tree = fields[3];
    std::from_chars(fields[4].data(), fields[4].data() + fields[4].size(), row.warnings);
    row.findings = exchanged(fields[5], kStored, kPlain);
    row.withheld = exchanged(fields[6], kStored, kPlain);
    row.withheld_notes = fields[8];
    for (std::size_t i = kFields; i < fields.size(); ++i) row.extra.emplace_back(fields[i]);
    directories_[row.blueprint] = fields[0];
    rows_[std::string(fields[0])] = std::move(row);
  }
}

std::optional<Unchanged::Known> Unchanged::find(const std::string& blueprint_file,
                                                const std::string& facts_file) const {
  if (rows_.empty()) return std::nullopt;
  pipeline::Inputs inputs;
  const auto read = [](const std::string& path) {
    return digest_of(base::read_file(path, pipeline::kMostInputBytes));
  };
  std::optional<std::string> blueprint = read(blueprint_file);
  if (!blueprint) return std::nullopt;
  const auto directory = directories_.find(*blueprint);
  if (directory == directories_.end()) return std::nullopt;
  const Row& row = rows_.at(directory->second);
  if (row.blueprint != *blueprint) return std::nullopt;
  inputs.blueprint = std::move(*blueprint);
  if (!facts_file.empty()) {
    const std::optional<std::string> facts = read(facts_file);
    if (!facts) return std::nullopt;
    inputs.facts = *facts;
  } else {
    const std::string beside = pipeline::facts_beside(blueprint_file);
    auto content = base::read_file(beside, pipeline::kMostInputBytes);
    const auto* error = std::get_if<base::FileError>(&content);
    if (error != nullptr && error->code != ENOENT) return std::nullopt;
    if (error == nullptr) inputs.facts_beside = *digest_of(std::move(content));
  }
  for (const std::string& path : row.extra) {
    const auto extra = digest_of(base::read_file_beneath(pipeline::directory_of(blueprint_file),
                                                         path, pipeline::kMostInputBytes));
    if (!extra) return std::nullopt;
    inputs.extra.emplace_back(path, *extra);
  }
  inputs.blueprint_file = blueprint_file;
  if (inputs.digest() != row.inputs) return std::nullopt;
  Known known{directory->second, row.tree, {}};
  known.finished.blueprint_file = blueprint_file;
  known.finished.findings.text = row.findings;
  known.finished.findings.warnings = row.warnings;
  known.finished.withheld.text = row.withheld;
  known.finished.withheld.notes = notes_of(row.withheld_notes, row.withheld.size());
  return known;
}

std::set<std::string> Unchanged::told(const std::string& directory) const {
  std::set<std::string> out;
  const auto found = rows_.find(directory);
  if (found == rows_.end() || found->second.notes.empty()) return out;
  for (const std::string_view digest : base::split(found->second.notes, ' ')) out.emplace(digest);
  return out;
}

void Unchanged::record(const pipeline::Inputs& inputs, const std::string& directory,
                       const std::string& tree, const Finished& finished) {
  if (!storable(finished.findings.text) || !storable(finished.withheld.text)) return;
  Row row;
  row.blueprint = inputs.blueprint;
  row.inputs = inputs.digest();
  row.tree = tree;
  row.warnings = finished.findings.warnings;
  Shown findings = finished.findings;
  findings.leave_out_notes();
  row.findings = std::move(findings.text);
  for (const Shown::Note& note : finished.findings.notes) {
    row.notes += (row.notes.empty() ? "" : " ") + note.digest;
  }
  row.withheld = finished.withheld.text;
  row.withheld_notes = spans_of(finished.withheld.notes);
  for (const auto& [path, digest] : inputs.extra) {
    if (path.find_first_of("\t\n") != std::string::npos) return;
    row.extra.push_back(path);
  }
  directories_[row.blueprint] = directory;
  rows_[directory] = std::move(row);
  changed_ = true;
}

void Unchanged::save() const {
  if (!changed_) return;
  std::string out = first_line_ + "\n";
  for (const auto& [directory, row] : rows_) {
    out += directory + "\t" + row.blueprint + "\t" + row.inputs + "\t" + row.tree + "\t" +
           std::to_string(row.warnings) + "\t" + exchanged(row.findings, kPlain, kStored) + "\t" +
           exchanged(row.withheld, kPlain, kStored) + "\t" + row.notes + "\t" + row.withheld_notes;
    for (const std::string& path : row.extra) out += "\t" + path;
    out += "\n";
  }
  std::string temporary = path_ + ".XXXXXX";
  base::FileDescriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file) return;
  const bool written = base::write_all(file.get(), out) == 0 && file.close() == 0 &&
                       ::rename(temporary.c_str(), path_.c_str()) == 0;
  if (!written) ::unlink(temporary.c_str());
}

}  // namespace gpuctl::cli
