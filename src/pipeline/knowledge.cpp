#include "pipeline/knowledge.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "catalog/codes.hpp"
#include "catalog/documents.hpp"
#include "catalog/formats.hpp"
#include "catalog/secret_rules.hpp"
#include "catalog/wrapper.hpp"
#include "document/release.hpp"
#include "pipeline/overlays.hpp"
#include "secrets/fields.hpp"
#include "secrets/mask.hpp"

namespace gpuctl::pipeline {

namespace {

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

Knowledge::Knowledge(const catalog::Image& image, const std::string& providers,
                     const std::string& templates, diag::Sink& sink)
    : image_(image) {
  library_ =
      std::make_unique<catalog::Library>(&image, read_overlays(providers, templates, sink), sink);
  names_ = catalog::platforms(*library_);
  mask_ = std::make_unique<KnowledgeMask>(*this);
  library_->sources().set_mask(mask_.get());
  // The build has checked what is built in.
  if (library_->has_overlays() && catalog::check_formats(*library_, sink)) make_secret_rules(sink);
}

void Knowledge::make_secret_rules(diag::Sink& sink) {
  const std::vector<yaml::Node> specs = catalog::secret_rules(*library_);
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
  if (added) {
    slot->second.compiled = compile_platform(*library_, name, built_in_stores(*library_, name),
                                             library_->has_overlays(), slot->second.findings);
  }
  return slot->second;
}

bool Knowledge::is_platform(const std::string& name, diag::Origin asked_at, diag::Sink& sink) {
  if (std::find(names_.begin(), names_.end(), name) != names_.end()) return true;
  diag::Diagnostic& finding =
      sink.error(catalog::kUnknownPlatform, asked_at, "unknown platform `" + name + "`")
          .label("no provider of that name")
          .expect("one of " + base::join(names_, ", "));
  const std::string lower = base::to_lower(name);
  std::vector<std::string> meant;
  const std::lock_guard<std::mutex> guard(one_at_a_time_);
  for (const std::string& known : names_) {
    const yaml::Node spec = catalog::spec_of(*library_, "providers/" + known + "/provider.yaml");
    for (const yaml::Node& other : spec.get("alsoCalled").items()) {
      if (other.as_string() != lower) continue;
      meant.push_back("`" + known + "` (" + std::string(spec.get("title").as_string()) + ")");
    }
  }
  if (meant.empty()) {
    finding.did_you_mean(name, names_);
  } else {
    finding.suggest("did you mean " + base::join(meant, " or ") + "?");
  }
  return false;
}

const Compiled* Knowledge::platform(const std::string& name, diag::Origin asked_at,
                                    diag::Sink& sink) {
  if (!is_platform(name, asked_at, sink)) return nullptr;
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

std::set<std::string, std::less<>> Knowledge::codes() const {
  constexpr std::string_view kPrefix = "docs/codes/";
  constexpr std::size_t kCodeBytes = 7;
  std::set<std::string, std::less<>> out;
  for (const diag::FileView& file : image_.files()) {
    if (file.name.starts_with(kPrefix)) out.emplace(file.name.substr(kPrefix.size(), kCodeBytes));
  }
  return out;
}

void Knowledge::preload() {
  if (!library_->has_overlays()) return;
  for (const std::string& name : names_) compile(name);
}

}  // namespace gpuctl::pipeline
