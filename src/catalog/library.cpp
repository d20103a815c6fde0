#include "catalog/library.hpp"

#include "base/digest.hpp"
#include "catalog/codes.hpp"
#include "yaml/read.hpp"

namespace gpuctl::catalog {

namespace {

// A shadowing file may remember which built-in text it was made from:
//   metadata: {annotations: {gpuctl.dev/shadows: <sha256 of the built-in file>}}
constexpr std::string_view kShadows = "gpuctl.dev/shadows";

}  // namespace

Library::Library(const Image* image, std::vector<Overlay> overlays, diag::Sink& sink)
    : image_(image) {
  if (image_ != nullptr) {
    root_ = std::make_unique<diag::Sources>(image_->files(), image_->spans());
    for (std::size_t i = 0; i < image_->files().size(); ++i) {
      // They are sorted by name.
      const auto slot = files_.try_emplace(files_.end(), std::string(image_->files()[i].name));
      slot->second.built_in = static_cast<std::ptrdiff_t>(i);
    }
  }
  sources_ = std::make_unique<diag::Sources>(root_.get());
  for (Overlay& overlay : overlays) {
    const std::string digest = base::sha256_hex(overlay.text);
    const diag::FileId id = sources_->add_file(overlay.name, std::move(overlay.text));
    const std::optional<yaml::Node> tree = yaml::read(id, *sources_, arena_, sink);
    if (!tree) continue;
    if (tree->is_null()) {
      sink.error(kKnowledgeFile, sources_->add_span(id, 0, 0), "this file holds nothing")
          .suggest(
              "remove it, so that the built-in file holds, or write the document it stands for");
      continue;
    }
    Slot& slot = files_[overlay.path];
    if (slot.built_in >= 0) {
      const std::string built_in =
          base::sha256_hex(image_->files()[static_cast<std::size_t>(slot.built_in)].text);
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
    slot.tree = *tree;
    slot.loaded = true;
    slot.text_digest = digest;
    has_overlays_ = true;
  }
}

const yaml::Node* Library::file(std::string_view path) {
  const auto found = files_.find(path);
  if (found == files_.end()) return nullptr;
  Slot& slot = found->second;
  if (!slot.loaded) {
    slot.tree = image_->tree(static_cast<std::size_t>(slot.built_in), shared_arena_);
    slot.loaded = true;
  }
  return &slot.tree;
}

bool Library::is_built_in(std::string_view path) const {
  const auto found = files_.find(path);
  return found != files_.end() && found->second.text_digest.empty();
}

std::vector<std::string> Library::list(std::string_view prefix) const {
  std::vector<std::string> out;
  for (auto it = files_.lower_bound(prefix); it != files_.end() && it->first.starts_with(prefix);
       ++it) {
    out.push_back(it->first);
  }
  return out;
}

std::shared_ptr<cel::Store> Library::programs(std::string_view platform) const {
  if (image_ == nullptr || has_overlays()) return nullptr;
  const std::string_view bytes = image_->programs(platform);
  return bytes.empty() ? nullptr : cel::Store::open(bytes);
}

std::string Library::digest() const {
  std::string all(image_ == nullptr ? std::string_view() : image_->digest());
  bool mixed = false;
  for (const auto& [path, slot] : files_) {
    if (slot.text_digest.empty()) continue;
    all += "\n" + path + " " + slot.text_digest;
    mixed = true;
  }
  return mixed ? base::sha256_hex(all) : all;
}

std::vector<std::string> platforms(Library& library) {
  std::vector<std::string> out;
  constexpr std::string_view kPrefix = "providers/";
  constexpr std::string_view kFile = "/provider.yaml";
  for (const std::string& path : library.list(kPrefix)) {
    if (!path.ends_with(kFile)) continue;
    const yaml::Node* tree = library.file(path);
    if (tree->get({"spec", "platform"}).as_boolean()) {
      out.push_back(path.substr(kPrefix.size(), path.size() - kPrefix.size() - kFile.size()));
    }
  }
  return out;
}

}  // namespace gpuctl::catalog
