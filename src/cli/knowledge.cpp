#include "cli/knowledge.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <future>

#include "base/file.hpp"
#include "base/text.hpp"
#include "catalog/codes.hpp"
#include "cli/codes.hpp"

namespace gpuctl::cli {

namespace {

constexpr std::size_t kMostKnowledgeFileBytes = 16 * 1024 * 1024;
constexpr int kMostKnowledgeDepth = 8;

// Collects the `.yaml` files below `directory` as overlays named `prefix/...`.
void collect(const std::string& directory, const std::string& prefix, int depth,
             std::vector<catalog::Overlay>& out, diag::Sink& sink) {
  const auto listed = base::list_directory(directory);
  if (const auto* error = std::get_if<base::FileError>(&listed)) {
    sink.error(kUnreadable, diag::kNoOrigin,
               "cannot read the directory `" + error->path + "`: " + error->text);
    return;
  }
  for (const std::string& name : std::get<std::vector<std::string>>(listed)) {
    const std::string path = directory + "/" + name;
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) continue;
    if (S_ISDIR(info.st_mode)) {
      if (depth < kMostKnowledgeDepth) collect(path, prefix + "/" + name, depth + 1, out, sink);
      continue;
    }
    if (!name.ends_with(".yaml")) continue;
    auto content = base::read_file(path, kMostKnowledgeFileBytes);
    if (const auto* error = std::get_if<base::FileError>(&content)) {
      sink.error(kUnreadable, diag::kNoOrigin, "cannot read `" + error->path + "`: " + error->text);
      continue;
    }
    out.push_back({prefix + "/" + name, path, std::move(std::get<std::string>(content))});
  }
}

}  // namespace

Compiled compile_platform(catalog::Library& library, const std::string& name, diag::Sink& sink) {
  Compiled compiled;
  compiled.platform = catalog::load_platform(library, name, diag::kNoOrigin, sink);
  if (compiled.platform == nullptr) return {};
  // The build has checked what is built in down to the last text.
  const bool thorough = library.has_overlays();
  if (thorough) {
    compiled.rules = rule::compile(*compiled.platform, thorough, library.sources(), sink);
    compiled.derivation = derive::compile(*compiled.platform, thorough, library.sources(), sink);
  } else {
    // Built-in knowledge has no faults to report, so nothing is written to the shared sources and
    // both halves of the work may run at once.
    diag::Sink rule_sink;
    std::future<std::shared_ptr<const rule::Rules>> rules = std::async(std::launch::async, [&] {
      return rule::compile(*compiled.platform, thorough, library.sources(), rule_sink);
    });
    compiled.derivation = derive::compile(*compiled.platform, thorough, library.sources(), sink);
    compiled.rules = rules.get();
    sink.take(std::move(rule_sink));
  }
  compiled.templates = render::compile(*compiled.platform, library, thorough, sink);
  if (compiled.derivation == nullptr || compiled.rules == nullptr) return {};
  return compiled;
}

Knowledge::Knowledge(const std::string& providers, const std::string& templates, diag::Sink& sink) {
  std::vector<catalog::Overlay> overlays;
  if (!providers.empty()) collect(providers, "providers", 0, overlays, sink);
  if (!templates.empty()) collect(templates, "templates", 0, overlays, sink);
  library_ = std::make_unique<catalog::Library>(&built_in_image(), std::move(overlays), sink);
  names_ = catalog::platforms(*library_);
}

Knowledge::Slot& Knowledge::compile(const std::string& name) {
  const auto [slot, added] = platforms_.try_emplace(name);
  if (added) slot->second.compiled = compile_platform(*library_, name, slot->second.findings);
  return slot->second;
}

const Compiled* Knowledge::platform(const std::string& name, diag::Origin asked_at,
                                    diag::Sink& sink) {
  if (std::find(names_.begin(), names_.end(), name) == names_.end()) {
    sink.error(catalog::kUnknownPlatform, asked_at, "unknown platform `" + name + "`")
        .label("no provider of that name")
        .expect("one of " + base::join(names_, ", "))
        .did_you_mean(name, names_);
    return nullptr;
  }
  Slot& slot = compile(name);
  diag::Sink findings = slot.findings;
  sink.take(std::move(findings));
  return slot.compiled ? &slot.compiled : nullptr;
}

void Knowledge::preload() {
  for (const std::string& name : names_) compile(name);
}

}  // namespace gpuctl::cli
