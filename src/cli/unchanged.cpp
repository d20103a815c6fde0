#include "cli/unchanged.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <utility>

#include "base/digest.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "diag/print.hpp"
#include "pipeline/version.hpp"

namespace gpuctl::cli {

namespace {

constexpr std::string_view kName = "/gpuctl-unchanged";
constexpr std::string_view kMagic = "gpuctl-unchanged 4 ";
constexpr std::size_t kMostBytes = 256 * 1024 * 1024;
constexpr std::size_t kFields = 10;

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

// Where each finding of a text stands, its severity, and whether it points elsewhere: "0-120e
// 120-260n+".
std::string spans_of(const std::vector<Shown::Piece>& pieces) {
  std::string out;
  for (const Shown::Piece& piece : pieces) {
    if (piece.begin == piece.end) continue;
    out += (out.empty() ? "" : " ") + std::to_string(piece.begin) + "-" +
           std::to_string(piece.end) + diag::severity_name(piece.severity).front();
    if (piece.elsewhere) out += '+';
  }
  return out;
}

// Those that lie within a text of this length; nobody looks at their digests.
std::vector<Shown::Piece> pieces_of(std::string_view spans, std::size_t length) {
  std::vector<Shown::Piece> out;
  std::size_t last = 0;
  for (std::string_view span : base::split(spans, ' ')) {
    Shown::Piece piece;
    if (span.ends_with('+')) {
      piece.elsewhere = true;
      span.remove_suffix(1);
    }
    if (span.empty()) continue;
    piece.severity = span.back() == 'n'   ? diag::Severity::note
                     : span.back() == 'w' ? diag::Severity::warning
                                          : diag::Severity::error;
    span.remove_suffix(1);
    const std::vector<std::string_view> ends = base::split(span, '-');
    if (ends.size() != 2) continue;
    const auto begin = base::parse_integer(ends[0]);
    const auto end = base::parse_integer(ends[1]);
    if (!begin || !end || *begin < 0 || *end < *begin) continue;
    piece.begin = static_cast<std::size_t>(*begin);
    piece.end = static_cast<std::size_t>(*end);
    if (piece.begin < last || piece.end > length) continue;
    last = piece.end;
    out.push_back(piece);
  }
  return out;
}

// "4 dir/a.yaml" of a file below `dir/`, or "- base.yaml" of one that may lie anywhere.
std::string stored(const pipeline::NamedFile& file) {
  const bool anywhere = file.home == pipeline::NamedFile::kAnywhere;
  return (anywhere ? "-" : std::to_string(file.home)) + " " + file.path;
}

pipeline::NamedFile named_file(std::string_view stored) {
  const std::size_t space = std::min(stored.find(' '), stored.size());
  const auto home = base::parse_integer(stored.substr(0, space));
  std::string path(stored.substr(std::min(space + 1, stored.size())));
  const bool below = home && *home >= 0 && static_cast<std::size_t>(*home) <= path.size();
  return {std::move(path),
          below ? static_cast<std::size_t>(*home) : pipeline::NamedFile::kAnywhere,
          {}};
}

// The digest of a file; nothing when it cannot be read.
std::optional<std::string> digest_of(std::variant<std::string, base::FileError> content) {
  const auto* text = std::get_if<std::string>(&content);
  if (text == nullptr) return std::nullopt;
  return base::sha256_hex(*text);
}

// The digest of a blueprint that is no file of its own; nothing when it cannot be made.
std::optional<std::string> digest_of(const pipeline::Member& member) {
  diag::Sources sources(*member.sources, member.files);
  yaml::Arena arena;
  diag::Sink unsaid;  // a full run says what is wrong
  const auto layers = member.layers({sources, arena, unsaid});
  if (!layers) return std::nullopt;
  return pipeline::digest_of(*layers);
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
    row.withheld_pieces = fields[8];
    row.finding_pieces = fields[9];
    for (std::size_t i = kFields; i < fields.size(); ++i)
      row.extra.push_back(named_file(fields[i]));
    directories_[row.blueprint] = fields[0];
    rows_[std::string(fields[0])] = std::move(row);
  }
}

std::optional<Unchanged::Known> Unchanged::find(const std::string& blueprint_file,
                                                const std::string& facts_file,
                                                const pipeline::Member* member) const {
  if (rows_.empty()) return std::nullopt;
  pipeline::Inputs inputs;
  const auto read = [](const std::string& path) {
    return digest_of(base::read_file(path, pipeline::kMostInputBytes));
  };
  std::optional<std::string> blueprint =
      member == nullptr ? read(blueprint_file) : digest_of(*member);
  if (!blueprint) return std::nullopt;
  const auto directory = directories_.find(*blueprint);
  if (directory == directories_.end()) return std::nullopt;
  const Row& row = rows_.at(directory->second);
  if (row.blueprint != *blueprint) return std::nullopt;
  inputs.blueprint = std::move(*blueprint);
  if (member != nullptr) inputs.places = member->places;
  if (!facts_file.empty()) {
    const std::optional<std::string> facts = read(facts_file);
    if (!facts) return std::nullopt;
    inputs.facts = *facts;
  } else {
    const std::string beside =
        member == nullptr ? pipeline::facts_beside(blueprint_file) : member->facts_beside;
    auto content = base::read_file(beside, pipeline::kMostInputBytes);
    const auto* error = std::get_if<base::FileError>(&content);
    if (error != nullptr && error->code != ENOENT) return std::nullopt;
    if (error == nullptr) inputs.facts_beside = *digest_of(std::move(content));
  }
  for (const pipeline::NamedFile& file : row.extra) {
    const auto extra =
        digest_of(pipeline::read_named(file.path, file.home, pipeline::kMostInputBytes));
    if (!extra) return std::nullopt;
    inputs.extra.push_back({file.path, file.home, *extra});
  }
  inputs.blueprint_file = blueprint_file;
  if (inputs.digest() != row.inputs && inputs.digest(false) != row.inputs) return std::nullopt;
  Known known{directory->second, row.tree, {}};
  known.finished.blueprint_file = blueprint_file;
  known.finished.cluster = directory->second.substr(directory->second.find('/') + 1);
  known.finished.findings.text = row.findings;
  known.finished.findings.warnings = row.warnings;
  known.finished.withheld.text = row.withheld;
  known.finished.findings.pieces = pieces_of(row.finding_pieces, row.findings.size());
  known.finished.withheld.pieces = pieces_of(row.withheld_pieces, row.withheld.size());
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
  row.tree = tree;
  row.warnings = finished.findings.warnings;
  Shown findings = finished.findings;
  findings.leave_out_notes();
  row.finding_pieces = spans_of(findings.pieces);
  row.findings = std::move(findings.text);
  for (const Shown::Piece& piece : finished.findings.pieces) {
    if (piece.severity != diag::Severity::note) continue;
    row.notes += (row.notes.empty() ? "" : " ") + piece.digest;
  }
  row.withheld = finished.withheld.text;
  row.withheld_pieces = spans_of(finished.withheld.pieces);
  // Where nothing is said, lines may move.
  row.inputs = inputs.digest(!row.findings.empty() || !row.withheld.empty());
  for (const pipeline::NamedFile& file : inputs.extra) {
    if (file.path.find_first_of("\t\n") != std::string::npos) return;
    row.extra.push_back({file.path, file.home, {}});
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
           exchanged(row.withheld, kPlain, kStored) + "\t" + row.notes + "\t" +
           row.withheld_pieces + "\t" + row.finding_pieces;
    for (const pipeline::NamedFile& file : row.extra) out += "\t" + stored(file);
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
