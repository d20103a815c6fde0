// Every field that is rendered anywhere has a row that says what its change does, or stands in
// uncovered.txt with a reason.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "catalog/wrapper.hpp"
#include "cli/command.hpp"
#include "effects/difference.hpp"
#include "pipeline/knowledge.hpp"
#include "schema/kind_ref.hpp"
#include "yaml/read.hpp"

namespace gpuctl::effects {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

// The platform of a blueprint, or of the first file of a case that is one.
std::string platform_of(const std::string& text) {
  constexpr std::string_view kKey = "\n  platform: ";
  const std::size_t at = text.find(kKey);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + kKey.size();
  return text.substr(begin, text.find_first_of(" \n", begin) - begin);
}

// A path without the names of items.
std::string general(const std::vector<Step>& steps) {
  std::string out;
  for (const Step& step : steps) out += step.item ? "[]" : (out.empty() ? "" : ".") + step.text;
  return out;
}

class Coverage : public testing::Test {
 protected:
  static pipeline::Knowledge& knowledge() {
    static diag::Sink findings;
    static pipeline::Knowledge opened(cli::built_in_image(), "", "", findings);
    return opened;
  }

  void look_at(const std::string& platform, const std::string& text) {
    diag::Sources sources;
    diag::Sink sink;
    yaml::Arena arena;
    const auto document = yaml::read(sources.add_file("document", text), sources, arena, sink);
    if (!document || !document->is_map()) return;
    const schema::KindRef kind = schema::KindRef::of(*document);
    const pipeline::Compiled* compiled = knowledge().platform(platform, diag::kNoOrigin, sink);
    if (kind.empty() || compiled == nullptr || document->get({"metadata", "name"}).is_null() ||
        document->get("apiVersion").as_string() == catalog::kApiVersion) {
      return;
    }
    const std::string name = kind.group + "/" + kind.kind;
    for (const Field& field : differences(yaml::Node(), *document, arena)) {
      const std::string path = general(field.steps);
      if (path == "apiVersion" || path == "kind") continue;
      if (path == "metadata.name" || path == "metadata.namespace") continue;  // of another object
      const bool known = compiled->effects->covers(kind.group, kind.kind, field.steps);
      const std::string key = name + " " + path;
      all_.insert(key);
      if (!known) missing_.emplace(key, platform);
    }
  }

  std::set<std::string> all_;
  std::map<std::string, std::string> missing_;
};

TEST_F(Coverage, EveryRenderedFieldHasARow) {
  const fs::path root = fs::path(GPUCTL_SOURCE_DIR) / "tests/golden";
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().filename() != "tree" || !entry.is_directory()) continue;
    const fs::path folder = entry.path().parent_path();
    std::string platform = platform_of(content_of(folder / "blueprint.yaml"));
    if (platform.empty()) {
      platform = platform_of(content_of(fs::path(GPUCTL_SOURCE_DIR) / "blueprints" /
                                        (folder.filename().string() + ".yaml")));
    }
    if (platform.empty()) continue;
    for (const fs::directory_entry& file : fs::recursive_directory_iterator(entry.path())) {
      if (file.path().extension() == ".yaml") look_at(platform, content_of(file.path()));
    }
  }
  ASSERT_GT(all_.size(), 500U);

  std::set<std::string> excepted;
  std::ifstream exceptions(fs::path(GPUCTL_SOURCE_DIR) / "tests/unit/effects/uncovered.txt");
  for (std::string line; std::getline(exceptions, line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::size_t reason = line.find("  ");
    ASSERT_NE(reason, std::string::npos) << line << ": no reason";
    excepted.insert(line.substr(0, reason));
  }
  for (const auto& [key, platform] : missing_) {
    EXPECT_TRUE(excepted.contains(key))
        << "no row of effects is about " << key << " (" << platform << ")";
  }
  for (const std::string& key : excepted) {
    EXPECT_TRUE(missing_.contains(key)) << "uncovered.txt: " << key << " has a row, or is gone";
  }
  constexpr std::size_t kMostOfHundred = 5;
  EXPECT_LE(excepted.size() * 100, all_.size() * kMostOfHundred);
  std::cout << all_.size() << " fields, " << missing_.size() << " without a row\n";
}

}  // namespace
}  // namespace gpuctl::effects
