#include "render/supplies.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "document/document.hpp"
#include "render/codes.hpp"

namespace gpuctl::render {

namespace {

constexpr std::string_view kImages = "images";

std::string image_name(std::string_view repository, std::string_view image,
                       std::string_view version) {
  std::string out(repository);
  if (!out.empty()) out += '/';
  out += image;
  if (!version.empty()) out += (version.starts_with("sha256:") ? '@' : ':') + std::string(version);
  return out;
}

using Found = std::function<void(std::string_view image)>;

void find_images(const yaml::Node& node, const Found& found) {
  if (const std::string whole = image_of_parts(node); !whole.empty()) found(whole);
  for (const yaml::Entry& entry : node.entries()) {
    if (entry.value.is_string()) {
      if (names_an_image(entry.key.as_string()) && is_image_reference(entry.value.as_string())) {
        found(entry.value.as_string());
      }
    } else {
      find_images(entry.value, found);
    }
  }
  for (const yaml::Node& item : node.items()) find_images(item, found);
}

const SupplyKind* kind_named(std::string_view name) {
  const std::span<const SupplyKind> all = supply_kinds();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const SupplyKind& kind) { return kind.name == name; });
  return found == all.end() ? nullptr : &*found;
}

// Takes what a template of the phase `supplies` wrote.
class Reading {
 public:
  Reading(Supplies& out, diag::Sink& sink) : out_(out), sink_(sink) {}

  void take(const Document& document) {
    const std::string& path = document.made_by->path;
    for (const yaml::Entry& entry : document.body.entries()) {
      const SupplyKind* kind = kind_named(entry.key.as_string());
      if (kind == nullptr) {
        fault(entry.key, path, "no kind of supply has this name");
        continue;
      }
      for (const yaml::Node& item : entry.value.items()) take(*kind, item, path);
    }
  }

 private:
  void take(const SupplyKind& kind, const yaml::Node& item, const std::string& path) {
    std::vector<std::string> texts;
    std::size_t known = 0;
    for (const std::string_view field : kind.fields) {
      const yaml::Node* value = item.find(field);
      if (value != nullptr) ++known;
      texts.emplace_back(value != nullptr ? value->as_string() : std::string_view());
    }
    const yaml::Node* instead_of = kind.name == kImages ? item.find("insteadOf") : nullptr;
    if (instead_of != nullptr) {
      ++known;
      out_.remove(kind.name, {std::string(instead_of->as_string())});
    }
    if (!item.is_map() || item.size() != known) {
      fault(item, path, "a supply has a field that its kind does not have");
      return;
    }
    out_.add(kind.name, std::move(texts), path);
  }

  void fault(const yaml::Node& at, const std::string& path, const std::string& message) {
    sink_.error(kFaultyDocument, at.origin(), message).note("in template `" + path + "`");
  }

  Supplies& out_;
  diag::Sink& sink_;
};

}  // namespace

std::span<const SupplyKind> supply_kinds() {
  static const std::array<SupplyKind, 4> kinds = {{
      {"releases", {"image", "channel", "version"}},
      {"packages", {"catalogue", "name", "channel", "version"}},
      {"charts", {"repository", "name", "version"}},
      {kImages, {"name"}},
  }};
  return kinds;
}

const SuppliesOfKind& Supplies::of(std::string_view kind) const {
  static const SuppliesOfKind none;
  const auto found = by_kind_.find(kind);
  return found == by_kind_.end() ? none : found->second;
}

void Supplies::add(std::string_view kind, std::vector<std::string> fields, std::string wanted_by) {
  by_kind_[std::string(kind)][std::move(fields)].insert(std::move(wanted_by));
}

void Supplies::remove(std::string_view kind, const std::vector<std::string>& fields) {
  const auto found = by_kind_.find(kind);
  if (found != by_kind_.end()) found->second.erase(fields);
}

void Supplies::merge(const Supplies& other) {
  for (const auto& [kind, supplies] : other.by_kind_) {
    for (const auto& [fields, wanted_by] : supplies) {
      by_kind_[kind][fields].insert(wanted_by.begin(), wanted_by.end());
    }
  }
}

yaml::Node Supplies::tree(bool wanted_by, yaml::Arena& arena) const {
  yaml::MapBuilder out;
  for (const SupplyKind& kind : supply_kinds()) {
    std::vector<yaml::Node> rows;
    for (const auto& [texts, wanting] : of(kind.name)) {
      yaml::MapBuilder row;
      for (std::size_t i = 0; i < texts.size(); ++i) {
        row.set(arena, kind.fields[i], arena.string(texts[i]));
      }
      if (wanted_by) {
        std::vector<yaml::Node> paths;
        for (const std::string& path : wanting) paths.push_back(arena.string(path));
        row.set(arena, "wantedBy", arena.list(paths));
      }
      rows.push_back(row.build(arena));
    }
    out.set(arena, kind.name, arena.list(rows));
  }
  return out.build(arena);
}

bool is_image_reference(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == text.size()) return false;
  if (text.find("://") != std::string_view::npos ||
      text.find_first_of(" \n\t") != std::string_view::npos) {
    return false;
  }
  const std::string_view host = text.substr(0, slash);
  return host == "localhost" || host.find_first_of(".:") != std::string_view::npos;
}

bool names_an_image(std::string_view field) {
  return field == "image" || field.ends_with("Image");
}

std::string image_of_parts(const yaml::Node& node) {
  const yaml::Node repository = node.get("repository");
  const yaml::Node image = node.get("image");
  const yaml::Node version = node.get("version");
  if (!repository.is_string() || !image.is_string() || !version.is_string()) return {};
  return image_name(repository.as_string(), image.as_string(), version.as_string());
}

Supplies supplies_of(const Templates& templates, const Cluster& cluster, const Rendered& rendered,
                     std::vector<Withheld>& withheld, yaml::Context context) {
  Supplies out;
  std::vector<document::Placed> placed;
  for (const Document& document : rendered.documents) {
    if (document.raw) continue;
    placed.push_back({document.body, document.layer});
    find_images(document.body, [&](std::string_view image) {
      out.add(kImages, {std::string(image)}, document.path);
    });
  }
  const Rendered said = render_phase(templates, Phase::supplies, cluster,
                                     document::objects_of(placed, context.arena), context);
  Reading reading(out, context.sink);
  for (const Document& document : said.documents) reading.take(document);
  withheld.insert(withheld.end(), said.withheld.begin(), said.withheld.end());
  return out;
}

}  // namespace gpuctl::render
