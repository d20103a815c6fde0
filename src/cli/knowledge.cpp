#include "cli/knowledge.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "base/file.hpp"
#include "base/text.hpp"
#include "catalog/codes.hpp"
#include "catalog/documents.hpp"
#include "catalog/secret_rules.hpp"
#include "cli/codes.hpp"
#include "document/release.hpp"
#include "secrets/fields.hpp"
#include "secrets/mask.hpp"
#include "versions/versions.hpp"

namespace gpuctl::cli {

namespace {

constexpr int kMostKnowledgeDepth = 8;
// Many times what is built in; what is given by mistake, such as a home directory, ends here.
constexpr std::size_t kMostKnowledgeFiles = 10'000;
constexpr std::size_t kMostKnowledgeBytes = 64 * 1024 * 1024;

// Collects the `.yaml` files of a directory as overlays.
class Collector {
 public:
  Collector(std::vector<catalog::Overlay>& out, diag::Sink& sink) : out_(out), sink_(sink) {}

  // False when nothing more is worth reading. `prefix` is the folder that the files are laid over.
  bool collect(const std::string& directory, const std::string& prefix, int depth) {
    const auto listed = base::list_directory(directory);
    if (const auto* error = std::get_if<base::FileError>(&listed)) {
      unreadable("the directory `" + error->path + "`", error->text);
      return true;
    }
    for (const std::string& name : std::get<std::vector<std::string>>(listed)) {
      const std::string path = directory + "/" + name;
      struct stat info {};
      const bool known = ::stat(path.c_str(), &info) == 0;
      if (known && S_ISDIR(info.st_mode)) {
        if (depth == kMostKnowledgeDepth) {
          unreadable("the directory `" + path + "`",
                     "is over " + std::to_string(kMostKnowledgeDepth) + " folders deep")
              .suggest(
                  "give the directory that holds only providers or templates; a link in it "
                  "may lead back to it");
          return false;  // with links that lead back there is no end to it
        }
        if (!collect(path, prefix + "/" + name, depth + 1)) return false;
      } else if (name.ends_with(".yaml") && !add(path, prefix + "/" + name)) {
        return false;
      }
    }
    return true;
  }

 private:
  bool add(const std::string& path, const std::string& covers) {
    auto content = base::read_file(path, kMostKnowledgeBytes - bytes_);
    if (const auto* error = std::get_if<base::FileError>(&content)) {
      if (error->code == EFBIG) return too_much(path);
      unreadable("`" + path + "`", error->text);
      return true;
    }
    auto& text = std::get<std::string>(content);
    bytes_ += text.size();
    out_.push_back({covers, path, std::move(text)});
    return out_.size() <= kMostKnowledgeFiles || too_much(path);
  }

  bool too_much(const std::string& path) {
    unreadable("`" + path + "`", "with it the knowledge is over " +
                                     std::to_string(kMostKnowledgeFiles) + " files or " +
                                     std::to_string(kMostKnowledgeBytes) + " bytes")
        .suggest("give the directory that holds only providers or templates");
    return false;
  }

  diag::Diagnostic& unreadable(const std::string& what, const std::string& why) {
    return sink_.error(kUnreadable, diag::kNoOrigin, "cannot read " + what + ": " + why);
  }

  std::vector<catalog::Overlay>& out_;
  diag::Sink& sink_;
  std::size_t bytes_ = 0;
};

// Masks by rules that are read when there is something to say.
class KnowledgeMask : public diag::Mask {
 public:
  explicit KnowledgeMask(Knowledge& knowledge) : knowledge_(knowledge) {}
  std::string shown(std::string_view text) const override {
    return secrets::RulesMask(knowledge_.secret_rules()).shown(text);
  }

 private:
  Knowledge& knowledge_;
};

}  // namespace

Compiled compile_platform(catalog::Library& library, const std::string& name, diag::Sink& sink) {
  Compiled compiled;
  compiled.platform = catalog::load_platform(library, name, diag::kNoOrigin, sink);
  if (compiled.platform == nullptr) return {};
  // The build has checked what is built in down to the last text: most of it is never compiled.
  const bool thorough = library.has_overlays();
  const std::shared_ptr<const cel::Environment> environment =
      derive::base_environment(*compiled.platform, library.programs(name));
  diag::Sources& sources = library.sources();
  compiled.rules = rule::compile(*compiled.platform, environment, thorough, sources, sink);
  std::shared_ptr<const derive::Chooser> chooser;
  if (compiled.rules != nullptr) {
    chooser =
        versions::compile(*compiled.platform, environment, compiled.rules, thorough, sources, sink);
  }
  compiled.derivation =
      derive::compile(*compiled.platform, environment, thorough, sources, sink, std::move(chooser));
  compiled.templates = render::compile(*compiled.platform, environment, library, thorough, sink);
  const document::StoreOf store_of = [&](const std::string& kind) {
    return library.programs(name + "/" + kind);
  };
  compiled.documents =
      document::Kinds::compile(compiled.platform, store_of, thorough, sources, sink);
  if (compiled.derivation == nullptr || compiled.rules == nullptr ||
      compiled.documents == nullptr || compiled.derivation->chooser == nullptr) {
    return {};
  }
  return compiled;
}

Knowledge::Knowledge(const std::string& providers, const std::string& templates, diag::Sink& sink) {
  std::vector<catalog::Overlay> overlays;
  Collector collector(overlays, sink);
  if (!providers.empty()) collector.collect(providers, "providers", 0);
  if (!templates.empty()) collector.collect(templates, "templates", 0);
  library_ = std::make_unique<catalog::Library>(&built_in_image(), std::move(overlays), sink);
  names_ = catalog::platforms(*library_);
  mask_ = std::make_unique<KnowledgeMask>(*this);
  library_->sources().set_mask(mask_.get());
  // The build has checked what is built in.
  if (library_->has_overlays()) make_secret_rules(sink);
}

void Knowledge::make_secret_rules(diag::Sink& sink) {
  const std::vector<yaml::Node> specs = catalog::secret_rules(*library_, sink);
  secret_rules_ = std::make_shared<const secrets::Rules>(specs, library_->has_overlays(), sink);
}

std::shared_ptr<const secrets::Rules> Knowledge::secret_rules() {
  const std::lock_guard<std::mutex> guard(one_at_a_time_);
  diag::Sink checked;
  if (secret_rules_ == nullptr) make_secret_rules(checked);
  return secret_rules_;
}

Knowledge::Slot& Knowledge::compile(const std::string& name) {
  const std::lock_guard<std::mutex> guard(one_at_a_time_);
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

void Knowledge::load_document_kinds() {
  if (std::exchange(document_kinds_loaded_, true)) return;
  std::set<std::string> secrets;
  for (const std::string& name : names_) {
    const yaml::Node* provider = library_->file("providers/" + name + "/provider.yaml");
    std::vector<std::string> builds;
    for (const yaml::Node& folder : provider->get({"spec", "builds"}).items()) {
      builds.emplace_back(folder.as_string());
    }
    diag::Sink none;  // reported when the platform is compiled
    document_kinds_.emplace_back(name, catalog::documents_of(*library_, name, builds, none));
    for (const catalog::DocumentKind& kind : document_kinds_.back().second) {
      for (const yaml::Node& fragment : kind.fragments) {
        secrets::add_secret_fields(fragment, secrets);
      }
    }
  }
  secret_fields_.assign(secrets.begin(), secrets.end());
}

std::vector<std::string> Knowledge::platforms_for(const yaml::Node& document) {
  const std::lock_guard<std::mutex> guard(one_at_a_time_);
  load_document_kinds();
  std::vector<std::string> best;
  document::Fit fit;
  for (const auto& [name, kinds] : document_kinds_) {
    const std::optional<document::Match> found = document::match(kinds, document);
    if (!found || found->fit < fit) continue;
    if (fit < found->fit) best.clear();
    if (found->fit > document::Fit()) best.push_back(name);
    fit = found->fit;
  }
  return best;
}

std::string Knowledge::platform_for(const yaml::Node& document) {
  const std::vector<std::string> best = platforms_for(document);
  return best.empty() ? std::string() : best.front();
}

std::set<std::string> Knowledge::versions_of(std::string_view kind, std::string_view group) {
  const std::lock_guard<std::mutex> guard(one_at_a_time_);
  load_document_kinds();
  std::set<std::string> versions;
  for (const auto& [name, kinds] : document_kinds_) {
    for (const catalog::DocumentKind& known : kinds) {
      for (const yaml::Node& alternative : known.matches) {
        const yaml::Node where = alternative.get("where");
        const std::string_view version = where.get("apiVersion").as_string();
        if (where.get("kind").as_string() != kind) continue;
        if (base::split(version, '/').front() == group) versions.emplace(version);
      }
    }
  }
  return versions;
}

const std::vector<std::string>& Knowledge::secret_fields() {
  const std::lock_guard<std::mutex> guard(one_at_a_time_);
  load_document_kinds();
  return secret_fields_;
}

void Knowledge::hide_secrets(diag::FileId file, diag::Sources& sources) {
  secrets::hide(file, *secret_rules(), sources);
  secrets::hide_fields(file, secret_fields(), sources);
}

std::vector<std::string> Knowledge::releases(const std::string& option) {
  for (const std::string& name : names_) {
    const Slot& slot = compile(name);
    const auto& platform = slot.compiled.platform;
    if (platform != nullptr && platform->releases && platform->releases->option == option) {
      return document::releases_of(*platform);
    }
  }
  return {};
}

void Knowledge::preload() {
  if (!library_->has_overlays()) return;
  for (const std::string& name : names_) compile(name);
}

}  // namespace gpuctl::cli
