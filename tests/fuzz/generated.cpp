// Documents and blueprints that their schemas accept, made by following the schemas: no rule may
// fail on one (GPU0303), and nothing may be said without words. The bytes of the input decide what
// is taken where the schema leaves a choice.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "cli/command.hpp"
#include "diag/print.hpp"
#include "pipeline/run.hpp"
#include "schema/schema.hpp"
#include "yaml/emit.hpp"
#include "yaml/path.hpp"
#include "yaml/read.hpp"

namespace {

using namespace gpuctl;
using yaml::Node;

constexpr int kMostDepth = 14;
constexpr std::size_t kMostItems = 3;
// Texts that rules take apart, and some that they do not expect.
constexpr std::string_view kTexts[] = {"",
                                       "a",
                                       "gpu",
                                       "x y",
                                       "10.0.0.0/16",
                                       "192.168.10.5",
                                       "fd00::/48",
                                       "::ffff:10.0.0.0/104",
                                       "10.0.0.0",
                                       "fd00::5",
                                       "true",
                                       "0",
                                       "12",
                                       "-1",
                                       "1.5",
                                       "4.20",
                                       "v26.7.0",
                                       "10Gi",
                                       "50%",
                                       "1h",
                                       "worker",
                                       "master",
                                       "us-east-1",
                                       "us-east-1a",
                                       "us-central1",
                                       "us-central1-a",
                                       "/dc1/host/c",
                                       "/dc1/vm/f",
                                       "registry.example.com:5000/a/b",
                                       "https://a.example.com/x?y=1",
                                       "http://",
                                       "{}",
                                       "[]",
                                       "null",
                                       "{\"auths\":{}}",
                                       "nvidia.com/gpu",
                                       "nvidia.com/mig-1g.10gb",
                                       "all-1g.10gb",
                                       "1g.10gb",
                                       "2026-01-01T00:00:00Z",
                                       "arn:aws:iam::1:role/x",
                                       "A/B",
                                       "a:b:c",
                                       "\xc3\xbc"};

class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  std::size_t below(std::size_t limit) {
    if (limit < 2) return 0;
    std::size_t value = next();
    if (limit > 256) value = value * 256 + next();
    return value % limit;
  }
  bool chance(std::size_t percent) { return below(100) < percent; }
  bool empty() const { return at_ >= size_; }

 private:
  std::uint8_t next() { return at_ < size_ ? data_[at_++] : 0; }
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
};

// What is written below a key in the samples: names of machine types, zones, versions.
class Samples {
 public:
  void collect(const Node& node, const std::string& key) {
    for (const yaml::Entry& entry : node.entries()) {
      collect(entry.value, std::string(entry.key.as_string()));
    }
    for (const Node& item : node.items()) collect(item, key);
    if (node.is_string() && node.size() < 200) by_key_[key].emplace_back(node.as_string());
  }
  const std::vector<std::string>* of(const std::string& key) const {
    const auto found = by_key_.find(key);
    return found == by_key_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::string, std::vector<std::string>> by_key_;
};

class Generator {
 public:
  Generator(Bytes& bytes, yaml::Arena& arena, const Samples& samples)
      : bytes_(bytes), arena_(arena), samples_(samples) {}

  /// A value of the schema; `forced` are dotted paths below it that have to be there.
  Node value(const Node& schema, const std::string& key,
             const std::vector<std::string>& forced = {}, int depth = 0) {
    const Node allowed = schema.get("enum");
    if (allowed.size() != 0) return allowed.items()[bytes_.below(allowed.size())];
    const std::string_view type = schema.get("type").as_string();
    if (type == "object") return in_text(schema, object(schema, forced, depth));
    if (type == "array") return list(schema, key, depth);
    if (type == "boolean") return Node::boolean(bytes_.chance(50));
    if (type == "integer" || type == "number") return number(schema);
    if (type == "string") return arena_.string(text(schema, key));
    if (bytes_.chance(50)) return Node::integer(static_cast<std::int64_t>(bytes_.below(20)));
    return arena_.string(text(schema, key));
  }

  /// The tree with a generated value at a place that the schema has.
  Node changed(const Node& schema, const Node& tree, const std::string& key, int depth = 0) {
    const Node properties = schema.get("properties");
    const bool stop = depth > kMostDepth || bytes_.chance(10);
    if (!stop && tree.is_map() && properties.size() != 0) {
      const yaml::Entry& field = properties.entries()[bytes_.below(properties.size())];
      const std::string name(field.key.as_string());
      yaml::MapBuilder out(tree);
      const Node* old = tree.find(name);
      out.set(arena_, name,
              old == nullptr ? value(field.value, name, {}, depth + 1)
                             : changed(field.value, *old, name, depth + 1));
      return out.build(arena_);
    }
    if (!stop && tree.is_list() && tree.size() != 0) {
      std::vector<Node> items(tree.items().begin(), tree.items().end());
      Node& item = items[bytes_.below(items.size())];
      item = changed(schema.get("items"), item, key, depth + 1);
      return arena_.list(items);
    }
    return depth < 2 ? tree : value(schema, key, {}, depth);
  }

 private:
  Node in_text(const Node& schema, const Node& tree) {
    if (schema.get("x-gpuctl-text").as_string() != "yaml") return tree;
    return arena_.string(yaml::emit(tree));
  }

  Node object(const Node& schema, const std::vector<std::string>& forced, int depth) {
    yaml::MapBuilder out;
    const Node required = schema.get("required");
    for (const yaml::Entry& field : schema.get("properties").entries()) {
      const std::string name(field.key.as_string());
      std::vector<std::string> below;
      bool wanted = std::any_of(required.items().begin(), required.items().end(),
                                [&](const Node& one) { return one.as_string() == name; });
      for (const std::string& path : forced) {
        if (path == name) wanted = true;
        if (path.starts_with(name + ".")) below.push_back(path.substr(name.size() + 1));
      }
      wanted =
          wanted || !below.empty() || (depth < kMostDepth && bytes_.chance(depth < 3 ? 60 : 35));
      if (wanted) out.set(arena_, name, value(field.value, name, below, depth + 1));
    }
    if (const Node* additional = schema.find("additionalProperties"); additional != nullptr) {
      for (std::size_t i = bytes_.below(kMostItems); additional->is_map() && i > 0; --i) {
        const std::string name = text(Node(), "");
        out.set(arena_, name, value(*additional, name, {}, depth + 1));
      }
    }
    return out.build(arena_);
  }

  Node list(const Node& schema, const std::string& key, int depth) {
    std::vector<Node> items;
    const auto least = static_cast<std::size_t>(schema.get("minItems").as_integer());
    const std::size_t count =
        std::max(least, depth > kMostDepth ? 0 : bytes_.below(kMostItems + 1));
    for (std::size_t i = 0; i < count; ++i) {
      items.push_back(value(schema.get("items"), key, {}, depth + 1));
    }
    return arena_.list(items);
  }

  Node number(const Node& schema) {
    const Node* least = schema.find("minimum");
    const Node* most = schema.find("maximum");
    const std::int64_t low = least == nullptr ? -1 : static_cast<std::int64_t>(least->as_real());
    const std::int64_t high =
        most == nullptr ? low + 2000 : static_cast<std::int64_t>(most->as_real());
    switch (bytes_.below(5)) {
      case 0:
        return Node::integer(low);
      case 1:
        return Node::integer(high);
      case 2:
        return Node::integer(std::clamp<std::int64_t>(0, low, std::max(low, high)));
      default:
        return Node::integer(
            low + static_cast<std::int64_t>(bytes_.below(static_cast<std::size_t>(
                      std::min<std::int64_t>(std::max<std::int64_t>(high - low, 1), 60'000)))));
    }
  }

  // A few tries for the pattern; when none fits, the schema refuses the document.
  std::string text(const Node& schema, const std::string& key) {
    const std::string pattern(schema.get("pattern").as_string());
    std::string out;
    for (int tries = 0; tries < 8; ++tries) {
      out = any_text(key);
      if (pattern.empty()) break;
      try {
        if (std::regex_search(out, std::regex(pattern))) break;
      } catch (const std::regex_error&) {
        break;
      }
    }
    return out;
  }

  std::string any_text(const std::string& key) {
    const std::vector<std::string>* known = samples_.of(key);
    if (known != nullptr && bytes_.chance(60)) return (*known)[bytes_.below(known->size())];
    return std::string(kTexts[bytes_.below(std::size(kTexts))]);
  }

  Bytes& bytes_;
  yaml::Arena& arena_;
  const Samples& samples_;
};

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(in)), {});
}

// The knowledge, the kinds of documents and the blueprints that users start from.
class World {
 public:
  World()
      : knowledge(cli::built_in_image(), "", "", findings_),
        sources(&knowledge.library().sources()) {
    const std::filesystem::path root = GPUCTL_SOURCE_DIR;
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(root / "blueprints")) {
      if (entry.path().extension() == ".yaml") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const auto& file : files) add_blueprint(file);
    for (const std::string& name : knowledge.names()) {
      const pipeline::Compiled* compiled = knowledge.platform(name, diag::kNoOrigin, findings_);
      if (compiled == nullptr) std::abort();
      platforms.push_back(compiled);
    }
  }

  struct Blueprint {
    Node tree;
    const pipeline::Compiled* compiled = nullptr;
  };
  std::vector<Blueprint> blueprints;
  std::vector<const pipeline::Compiled*> platforms;
  Samples samples;

 private:
  void add_blueprint(const std::filesystem::path& file) {
    const auto tree =
        yaml::read(sources.add_file(file.string(), read(file)), sources, arena_, findings_);
    if (!tree) std::abort();
    samples.collect(*tree, "");
    const std::string platform(tree->get({"spec", "platform"}).as_string());
    if (platform.empty()) return;  // facts
    blueprints.push_back({*tree, knowledge.platform(platform, diag::kNoOrigin, findings_)});
  }

  diag::Sink findings_;
  yaml::Arena arena_;

 public:
  pipeline::Knowledge knowledge;
  diag::Sources sources;
};

// Sets what the kind is recognised by.
Node recognisable(const catalog::DocumentKind& kind, const catalog::Platform& platform, Node tree,
                  yaml::Arena& arena) {
  if (!kind.extends.empty()) {
    for (const catalog::DocumentKind& other : platform.documents) {
      if (other.name == kind.extends) tree = recognisable(other, platform, tree, arena);
    }
  }
  for (const Node& alternative : kind.matches) {
    const Node where = alternative.get("where");
    if (where.size() == 0 || alternative.find("lacks") != nullptr) continue;
    for (const yaml::Entry& entry : where.entries()) {
      std::vector<std::string> path;
      for (const std::string_view step : base::split(entry.key.as_string(), '.')) {
        path.emplace_back(step);
      }
      const Node value = entry.value.is_list() ? entry.value.items().front() : entry.value;
      tree = yaml::with_value(tree, path, value, arena);
    }
    break;
  }
  return tree;
}

std::vector<std::string> paths_of(const catalog::DocumentKind& kind) {
  std::vector<std::string> paths;
  for (const Node& alternative : kind.matches) {
    if (alternative.find("lacks") != nullptr) continue;
    for (const Node& path : alternative.get("has").items()) {
      if (path.is_string()) paths.emplace_back(path.as_string());
    }
    if (!paths.empty()) break;
  }
  return paths;
}

void check(const pipeline::Result& result, const std::string& text) {
  std::string shown;
  bool wrong = false;
  for (const diag::Diagnostic& diagnostic : result.sink.sorted(*result.sources)) {
    const bool unable = diagnostic.code == "GPU0303" || diagnostic.code == "GPU0304";
    if (unable || diagnostic.message.empty()) {
      wrong = true;
      diag::print_text(diagnostic, *result.sources, false, shown);
    }
    std::string other;
    diag::print_json(diagnostic, *result.sources, other);
  }
  if (!wrong) return;
  std::fprintf(stderr, "%s\n%s\n", shown.c_str(), text.c_str());
  if (std::getenv("GPUCTL_GENERATED_GO_ON") == nullptr) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static World world;
  Bytes bytes(data, size);
  yaml::Arena arena;
  Generator generator(bytes, arena, world.samples);
  pipeline::Request request{.date = "2025-12-01"};
  request.foreign = true;
  std::string text;
  if (bytes.chance(40)) {
    const World::Blueprint& from = world.blueprints[bytes.below(world.blueprints.size())];
    const Node schema = schema::definition(*from.compiled->platform->blueprint);
    Node tree = from.tree;
    for (std::size_t i = bytes.below(4) + 1; i > 0; --i) tree = generator.changed(schema, tree, "");
    text = yaml::emit(tree);
  } else {
    const pipeline::Compiled& compiled = *world.platforms[bytes.below(world.platforms.size())];
    const auto& kinds = compiled.platform->documents;
    const catalog::DocumentKind& kind = kinds[bytes.below(kinds.size())];
    diag::Sink none;
    const Node schema = schema::merge_fragments(kind.fragments, arena, none);
    text = yaml::emit(
        recognisable(kind, *compiled.platform, generator.value(schema, "", paths_of(kind)), arena));
  }
  request.given["input.yaml"] = text;
  check(pipeline::run("input.yaml", request, world.knowledge), text);
  return 0;
}
