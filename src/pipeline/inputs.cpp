#include "pipeline/inputs.hpp"

#include <algorithm>
#include <cerrno>

#include "base/digest.hpp"
#include "base/path_check.hpp"
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

std::string Inputs::digest() const {
  std::string all = blueprint_file + "\n" + blueprint + "\n" + facts + "\n" + facts_beside + "\n";
  for (const auto& [path, digest] : extra) all += digest + " " + path + "\n";
  return base::sha256_hex(all);
}

InputFiles::InputFiles(const std::string& blueprint_file, const Request& request,
                       const secrets::Rules& rules, yaml::Context context)
    : request_(request),
      rules_(rules),
      context_(context),
      directory_(directory_of(blueprint_file)) {
  inputs.blueprint_file = blueprint_file;
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

std::optional<diag::FileId> InputFiles::read_beside(const yaml::Node& path, std::string_view code) {
  diag::Sink& sink = context_.sink;
  const std::string relative(path.as_string());
  if (const std::string reason = base::unsafe_path_reason(relative); !reason.empty()) {
    sink.error(code, path.origin(), "`" + secrets::masked(relative) + "` " + reason)
        .expect("a path below the blueprint's directory");
    return std::nullopt;
  }
  const std::string name = directory_ + relative;
  const std::size_t left = kMostExtraBytes - extra_bytes_;
  Content found = content(name, [&] {
    return base::read_file_beneath(directory_, relative, std::min(kMostInputBytes, left));
  });
  if (const auto* error = std::get_if<base::FileError>(&found)) {
    if (error->code == EFBIG && left < kMostInputBytes) {
      sink.error(render::kTooMuchInput, path.origin(),
                 "with `" + secrets::masked(name) +
                     "` the files that this blueprint names are too large together")
          .expect("at most " + std::to_string(kMostExtraBytes) + " bytes in all of them")
          .suggest("let the GitOps engine take large manifests from where they are published");
      extra_bytes_ = kMostExtraBytes;
      return std::nullopt;
    }
    diag::Diagnostic& refused = sink.error(
        code, path.origin(), "cannot read `" + secrets::masked(name) + "`: " + error->text);
    if (error->code == EXDEV) refused.suggest("copy the file beside the blueprint");
    return std::nullopt;
  }
  std::string bytes = std::move(std::get<std::string>(found));
  extra_bytes_ += std::min(bytes.size(), left);
  inputs.extra.emplace_back(relative, base::sha256_hex(bytes));
  return add(name, std::move(bytes));
}

}  // namespace gpuctl::pipeline
