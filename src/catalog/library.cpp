#include "catalog/library.hpp"

#include <algorithm>
#include <span>

#include "base/digest.hpp"
#include "catalog/codes.hpp"
#include "catalog/wrapper.hpp"
#include "yaml/packed.hpp"
#include "yaml/read.hpp"

namespace gpuctl::catalog {

namespace {

// A shadowing file may remember which built-in text it was made from:
//   metadata: {annotations: {gpuctl.dev/shadows: <sha256 of the built-in file>}}
constexpr std::string_view kShadows = "gpuctl.dev/shadows";
constexpr std::string_view kFormats = "providers/formats/";
constexpr std::string_view kExtends = "extends";

// What `own` says, with what only its base says. Keys come in the order of `own`, those of the base
// before the next one that both have.
yaml::Node extended(const yaml::Node& base, const yaml::Node& own, yaml::SharedArena& arena) {
  yaml::MapBuilder out;
  auto rest = base.entries().begin();
  const auto base_until = [&](const yaml::Entry* end) {
    for (; rest != base.entries().end() && (end == nullptr || &*rest < end); ++rest) {
      if (own.find(rest->key.as_string()) == nullptr) out.set(rest->key, rest->value);
    }
  };
  for (const yaml::Entry& entry : own.entries()) {
    const yaml::Entry* both = base.find_entry(entry.key.as_string());
    if (both != nullptr) base_until(both);
    const bool maps = both != nullptr && both->value.is_map() && entry.value.is_map();
    out.set(entry.key, maps ? extended(both->value, entry.value, arena) : entry.value);
  }
  base_until(nullptr);
  return arena.map(out.entries(), own.origin());
}

}  // namespace

Library::Library(const Image* image, std::vector<Overlay> overlays, diag::Sink& sink)
    : image_(image) {
  if (image_ != nullptr) {
    root_ = std::make_unique<diag::Sources>(image_->files(), image_->spans());
    built_in_.resize(image_->files().size());
  }
  sources_ = std::make_unique<diag::Sources>(root_.get());
  for (Overlay& overlay : overlays) {
    if (!overlay.path.ends_with(".yaml")) {  // a page: only its name counts
      overlays_.try_emplace(overlay.path);
      continue;
    }
    const std::string digest = base::sha256_hex(overlay.text);
    const diag::FileId id = sources_->add_file(overlay.name, std::move(overlay.text));
    const std::optional<yaml::Node> tree = yaml::read(id, *sources_, arena_, sink);
    if (!tree) continue;
    if (image_ != nullptr && overlay.path.starts_with(kFormats)) {
      sink.error(kKnowledgeFile, tree->origin(), "formats of knowledge cannot be laid over")
          .suggest("remove the file: what it would allow, gpuctl does not read");
      continue;
    }
    if (tree->is_null()) {
      sink.error(kKnowledgeFile, sources_->add_span(id, 0, 0), "this file holds nothing")
          .suggest(
              "remove it, so that the built-in file holds, or write the document it stands for");
      continue;
    }
    if (const std::optional<std::size_t> place = this->built_in(overlay.path)) {
      const std::string built_in = base::sha256_hex(image_->files()[*place].text);
      const yaml::Node remembered = tree->get({"metadata", "annotations", kShadows});
      if (remembered.is_null()) {
        sink.note(kShadowed, tree->origin(),
                  "this file shadows the built-in `" + overlay.path + "`")
            .suggest("to be warned when the built-in file changes, add the annotation `" +
                     std::string(kShadows) + ": " + built_in + "`");
      } else if (remembered.as_string() != built_in) {
        sink.warning(kShadowed, remembered.origin(),
                     "the built-in `" + overlay.path + "` has changed since it was shadowed")
            .got("digest " + built_in + " of the built-in file")
            .suggest("compare the two files, then update the annotation");
      }
    }
    overlays_[overlay.path] = {*tree, digest};
  }
}

std::size_t Library::first_from(std::string_view path) const {
  const auto files = image_ == nullptr ? std::span<const diag::FileView>() : image_->files();
  const auto found = std::lower_bound(
      files.begin(), files.end(), path,
      [](const diag::FileView& file, std::string_view wanted) { return file.name < wanted; });
  return static_cast<std::size_t>(found - files.begin());
}

std::optional<std::size_t> Library::built_in(std::string_view path) const {
  const std::size_t place = first_from(path);
  if (place == built_in_.size() || image_->files()[place].name != path) return std::nullopt;
  return place;
}

const yaml::Node* Library::file(std::string_view path) {
  const yaml::Node* tree = written(path);
  // The build has put together what is built in.
  if (tree == nullptr || !has_overlays() || !path.starts_with(kTemplates)) return tree;
  const yaml::Node* base = tree->get("spec").find(kExtends);
  if (base == nullptr) return tree;
  if (const auto found = extended_.find(path); found != extended_.end()) return &found->second;
  const yaml::Node* base_tree = written(std::string(kTemplates) + std::string(base->as_string()));
  if (base_tree == nullptr || base_tree->get("kind").as_string() != kTemplateBase) return tree;
  yaml::MapBuilder own(tree->get("spec"));
  own.remove(kExtends);
  const yaml::Node spec = shared_arena_.map(own.entries(), tree->get("spec").origin());
  yaml::MapBuilder whole(*tree);
  whole.set(yaml::Node::view("spec"), extended(base_tree->get("spec"), spec, shared_arena_));
  return &extended_.emplace(path, shared_arena_.map(whole.entries(), tree->origin())).first->second;
}

const yaml::Node* Library::written(std::string_view path) {
  if (const auto found = overlays_.find(path); found != overlays_.end()) {
    return &found->second.tree;
  }
  const std::optional<std::size_t> place = built_in(path);
  if (!place) return nullptr;
  std::optional<yaml::Node>& tree = built_in_[*place];
  if (!tree && path.starts_with(kTemplates)) tree = prepared(path);
  if (!tree) tree = image_->tree(*place, shared_arena_);
  return &*tree;
}

bool Library::has(std::string_view path) const {
  return overlays_.contains(path) || built_in(path);
}

bool Library::is_built_in(std::string_view path) const {
  return !overlays_.contains(path) && built_in(path);
}

std::vector<std::string> Library::list(std::string_view prefix, std::string_view part) const {
  std::vector<std::string> out;
  const auto is_listed = [part](std::string_view name) {
    return part.empty() || name.find(part) != std::string_view::npos;
  };
  for (std::size_t i = first_from(prefix); i < built_in_.size(); ++i) {
    const std::string_view name = image_->files()[i].name;
    if (!name.starts_with(prefix)) break;
    if (is_listed(name)) out.emplace_back(name);
  }
  const std::size_t built_in = out.size();
  for (auto it = overlays_.lower_bound(prefix);
       it != overlays_.end() && it->first.starts_with(prefix); ++it) {
    if (is_listed(it->first)) out.push_back(it->first);
  }
  if (out.size() == built_in) return out;
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::shared_ptr<cel::Store> Library::programs(std::string_view platform) const {
  if (image_ == nullptr || has_overlays()) return nullptr;
  const std::string_view bytes = image_->programs(platform);
  return bytes.empty() ? nullptr : cel::Store::open(bytes, image_->programs(kProgramRecords));
}

std::optional<yaml::Node> Library::prepared(std::string_view name) {
  if (image_ == nullptr || has_overlays()) return std::nullopt;
  const std::string_view bytes = image_->programs(name);
  if (bytes.empty()) return std::nullopt;
  return yaml::Unpacker(bytes).lazy_tree(shared_arena_);
}

std::string Library::digest() const {
  std::string all(image_ == nullptr ? std::string_view() : image_->digest());
  for (const auto& [path, file] : overlays_) all += "\n" + path + " " + file.text_digest;
  return has_overlays() ? base::sha256_hex(all) : all;
}

std::vector<std::string> provider_folders(const Library& library) {
  constexpr std::string_view kPrefix = "providers/";
  constexpr std::string_view kFile = "/provider.yaml";
  std::vector<std::string> out;
  for (const std::string& path : library.list(kPrefix, kFile)) {
    if (!path.ends_with(kFile)) continue;
    out.push_back(path.substr(kPrefix.size(), path.size() - kPrefix.size() - kFile.size()));
  }
  return out;
}

std::vector<std::string> platforms(Library& library) {
  std::vector<std::string> out = provider_folders(library);
  std::erase_if(out, [&](const std::string& folder) {
    return !spec_of(library, "providers/" + folder + "/provider.yaml").get("platform").as_boolean();
  });
  return out;
}

}  // namespace gpuctl::catalog
