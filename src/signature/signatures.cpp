#include "signature/signatures.hpp"

#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <optional>
#include <set>

#include "catalog/codes.hpp"
#include "catalog/wrapper.hpp"
#include "yaml/texts.hpp"

namespace gpuctl::signature {

namespace {

constexpr std::string_view kInstaller = "installer";
// For the automaton of all patterns together; when it is too small, RE2 says so.
constexpr std::int64_t kMostSetBytes = std::int64_t{64} << 20U;

re2::RE2::Options options() {
  re2::RE2::Options out(re2::RE2::Quiet);
  out.set_case_sensitive(false);
  return out;
}

// Rows of all folders, those of later ones first: they know better.
template <typename Visit>
void for_each_row(std::span<const std::string> folders, catalog::Library& library, Visit visit) {
  for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder) {
    const yaml::Node spec = catalog::spec_of(library, "providers/" + *folder + "/signatures.yaml");
    for (const yaml::Node& row : spec.get("signatures").items()) visit(row);
  }
}

}  // namespace

bool Signature::is_of(std::string_view link) const {
  return std::find(of.begin(), of.end(), link) != of.end();
}

struct Signatures::Compiled {
  explicit Compiled(const re2::RE2::Options& how) : all(how, re2::RE2::UNANCHORED) {}
  std::vector<std::unique_ptr<re2::RE2>> patterns;
  std::vector<std::size_t> ends;  // rows with `over`, whose patterns come after those of all rows
  re2::RE2::Set all;
};

Signatures::~Signatures() = default;

Signatures::Signatures(const catalog::Platform& platform, catalog::Library& library)
    : Signatures(platform.builds, library, Use::installer) {}

Signatures::Signatures(std::span<const std::string> folders, catalog::Library& library, Use use) {
  re2::RE2::Options how = options();
  how.set_max_mem(kMostSetBytes);
  compiled_ = std::make_unique<Compiled>(how);
  for_each_row(folders, library, [&](const yaml::Node& row) {
    Signature one;
    one.name = text_of(row, "name");
    one.pattern = text_of(row, "pattern");
    one.cause = text_of(row, "cause");
    one.remedy = text_of(row, "remedy");
    one.source = text_of(row, "source");
    one.weak = row.get("weak").as_boolean();
    one.over = text_of(row, "over");
    for (const yaml::Node& link : row.get("of").items()) one.of.emplace_back(link.as_string());
    const bool installer = one.of.empty() || one.is_of(kInstaller);
    const bool diagnosis = std::any_of(one.of.begin(), one.of.end(),
                                       [](const std::string& link) { return link != kInstaller; });
    if (use == Use::installer ? !installer : !diagnosis) return;
    rows_.push_back(std::move(one));
    compiled_->patterns.push_back(std::make_unique<re2::RE2>(rows_.back().pattern, options()));
    if (use == Use::diagnosis) compiled_->all.Add(rows_.back().pattern, nullptr);
  });
  if (use == Use::installer) return;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].over.empty()) continue;
    compiled_->ends.push_back(i);
    compiled_->patterns.push_back(std::make_unique<re2::RE2>(rows_[i].over, options()));
    compiled_->all.Add(rows_[i].over, nullptr);
  }
  compiled_->all.Compile();
}

Signatures::Matches Signatures::matches(std::string_view text) const {
  std::vector<int> found;
  Matches out;
  if (rows_.empty()) return out;
  const re2::StringPiece piece(text.data(), text.size());
  re2::RE2::Set::ErrorInfo error{re2::RE2::Set::kNoError};
  compiled_->all.Match(piece, &found, &error);
  if (error.kind != re2::RE2::Set::kNoError) {
    // The automaton of all patterns grew too large for this text.
    found.clear();
    for (std::size_t i = 0; i < compiled_->patterns.size(); ++i) {
      if (re2::RE2::PartialMatch(piece, *compiled_->patterns[i]))
        found.push_back(static_cast<int>(i));
    }
  }
  std::sort(found.begin(), found.end());
  for (const int index : found) {
    const auto place = static_cast<std::size_t>(index);
    if (place < rows_.size()) {
      out.found.push_back(&rows_[place]);
    } else {
      out.over.push_back(&rows_[compiled_->ends[place - rows_.size()]]);
    }
  }
  return out;
}

const Signature* Signatures::match(std::string_view line, bool weak) const {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].weak != weak) continue;
    if (re2::RE2::PartialMatch(re2::StringPiece(line.data(), line.size()),
                               *compiled_->patterns[i])) {
      return &rows_[i];
    }
  }
  return nullptr;
}

void check(const catalog::Platform& platform, catalog::Library& library, diag::Sink& sink) {
  std::set<std::string> names;
  for_each_row(platform.builds, library, [&](const yaml::Node& row) {
    for (const std::string_view field : {"pattern", "over"}) {
      const yaml::Node* pattern = row.find(field);
      if (pattern == nullptr) continue;
      const std::string written(pattern->as_string());
      const re2::RE2 compiled(written, options());
      if (compiled.ok()) continue;
      sink.error(catalog::kKnowledgeFile, pattern->origin(),
                 "`" + written + "` is no regular expression: " + compiled.error());
    }
    if (!names.insert(text_of(row, "name")).second) {
      sink.error(catalog::kKnowledgeFile, row.get("name").origin(),
                 "two signatures have the name `" + text_of(row, "name") + "`");
    }
  });
}

}  // namespace gpuctl::signature
