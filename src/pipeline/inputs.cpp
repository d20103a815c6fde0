#include "pipeline/inputs.hpp"

#include <algorithm>
#include <cerrno>

#include "base/digest.hpp"
#include "base/path_check.hpp"
#include "blueprint/codes.hpp"
#include "pipeline/codes.hpp"
#include "render/codes.hpp"
#include "secrets/mask.hpp"

namespace gpuctl::pipeline {

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

std::string facts_beside(const std::string& blueprint_file) {
  constexpr std::string_view kEnding = ".yaml";
  std::string stem = blueprint_file;
  if (stem.ends_with(kEnding)) stem.resize(stem.size() - kEnding.size());
  return stem + ".facts.yaml";
}

std::variant<std::string, base::FileError> read_named(const std::string& path, std::size_t home,
                                                      std::size_t most_bytes) {
  if (home == NamedFile::kAnywhere) return base::read_file(path, most_bytes);
  return base::read_file_beneath(path.substr(0, home), path.substr(home), most_bytes);
}

std::string Inputs::digest(bool with_places) const {
  std::string all = blueprint_file + "\n" + blueprint + "\n" + facts + "\n" + facts_beside + "\n";
  if (with_places) all += places + "\n";
  for (const NamedFile& file : extra) all += file.digest + " " + file.path + "\n";
  return base::sha256_hex(all);
}

InputFiles::InputFiles(const std::string& blueprint_file, const Request& request,
                       const secrets::Rules& rules, yaml::Context context)
    : request_(request), rules_(rules), context_(context) {
  inputs.blueprint_file = blueprint_file;
  member_ = request.member(blueprint_file);
  directory_ = directory_of(member_ == nullptr ? blueprint_file : member_->file);
}

std::string InputFiles::facts_beside() const {
  return member_ == nullptr ? pipeline::facts_beside(inputs.blueprint_file) : member_->facts_beside;
}

InputFiles::Content InputFiles::content(const std::string& path,
                                        const std::function<Content()>& otherwise) const {
  const auto given = request_.given.find(path);
  return given == request_.given.end() ? otherwise() : Content(given->second);
}

InputFiles::Content InputFiles::content(const std::string& path) const {
  return content(path, [&] { return base::read_file(path, kMostInputBytes); });
}

std::optional<std::string> InputFiles::read(const std::string& path) const {
  Content found = content(path);
  if (const auto* error = std::get_if<base::FileError>(&found)) {
    context_.sink.error(kUnreadable, diag::kNoOrigin, "cannot read `" + path + "`: " + error->text);
    return std::nullopt;
  }
  return std::move(std::get<std::string>(found));
}

diag::FileId InputFiles::add(const std::string& name, std::string bytes) const {
  const diag::FileId file = context_.sources.add_file(name, std::move(bytes));
  secrets::hide(file, rules_, context_.sources);
  return file;
}

std::string InputFiles::directory_at(const yaml::Node& path) const {
  const diag::Span* span = context_.sources.span(path.origin());
  if (span == nullptr) return directory_;
  return directory_of(std::string(context_.sources.file_name(span->file)));
}

std::optional<diag::FileId> InputFiles::read_beside(const yaml::Node& path, std::string_view code) {
  const std::string relative(path.as_string());
  const std::string directory = directory_at(path);
  if (const std::string reason = base::unsafe_path_reason(relative); !reason.empty()) {
    context_.sink.error(code, path.origin(), "`" + secrets::masked(relative) + "` " + reason)
        .expect(directory == directory_ ? "a path below the blueprint's directory"
                                        : "a path below the directory of the file that names it");
    return std::nullopt;
  }
  return read_named_at(path, directory + relative, directory.size(), code);
}

std::optional<diag::FileId> InputFiles::read_base(const std::string& name, const yaml::Node& path) {
  return read_named_at(path, name, NamedFile::kAnywhere, blueprint::kFaultyExtends);
}

std::optional<diag::FileId> InputFiles::read_named_at(const yaml::Node& at, const std::string& name,
                                                      std::size_t home, std::string_view code) {
  diag::Sink& sink = context_.sink;
  const std::size_t left = kMostExtraBytes - extra_bytes_;
  Content found =
      content(name, [&] { return read_named(name, home, std::min(kMostInputBytes, left)); });
  if (const auto* error = std::get_if<base::FileError>(&found)) {
    if (error->code == EFBIG && left < kMostInputBytes) {
      sink.error(render::kTooMuchInput, at.origin(),
                 "with `" + secrets::masked(name) +
                     "` the files that this blueprint names are too large together")
          .expect("at most " + std::to_string(kMostExtraBytes) + " bytes in all of them")
          .suggest("let the GitOps controller take large manifests from where they are published");
      extra_bytes_ = kMostExtraBytes;
      return std::nullopt;
    }
    diag::Diagnostic& refused = sink.error(
        code, at.origin(), "cannot read `" + secrets::masked(name) + "`: " + error->text);
    if (error->code == EXDEV) refused.suggest("copy the file beside the one that names it");
    if (home == NamedFile::kAnywhere && error->code == ENOENT) {
      refused.suggest("the path of a base is relative to the file that names it");
    }
    return std::nullopt;
  }
  std::string bytes = std::move(std::get<std::string>(found));
  extra_bytes_ += std::min(bytes.size(), left);
  inputs.extra.push_back({name, home, base::sha256_hex(bytes)});
  return add(name, std::move(bytes));
}

}  // namespace gpuctl::pipeline
