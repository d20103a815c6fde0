#include "render/mirrors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpuctl::render {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class MirrorsTest : public ::testing::Test {
 protected:
  yaml::Node map(const std::vector<std::pair<std::string, yaml::Node>>& fields) {
    yaml::MapBuilder out;
    for (const auto& [key, value] : fields) out.set(arena_, key, value);
    return out.build(arena_);
  }
  yaml::Node text(const std::string& value) { return arena_.string(value); }
  yaml::Node row(const std::string& source, const std::vector<std::string>& mirrors) {
    std::vector<yaml::Node> items;
    for (const std::string& mirror : mirrors) items.push_back(text(mirror));
    return map({{"source", text(source)}, {"mirrors", arena_.list(items)}});
  }
  Mirrors mirrors() {
    const std::vector<yaml::Node> rows = {row("quay.io/team", {"r.example/team", "s.example/team"}),
                                          row("quay.io/team/tools", {"r.example/tools"}),
                                          row("docker.io/tools", {"r.example/tools"}),
                                          row("*.example.org", {"r.example/org"})};
    return Mirrors(map({{"access", map({{"mirrors", arena_.list(rows)}})}}));
  }
  yaml::Node named(const yaml::Node& body, bool authentic = false) {
    std::vector<Document> documents(1);
    documents.front().body = body;
    documents.front().authentic = authentic;
    name_copies(documents, mirrors(), {"https://quay.io/team/charts"}, arena_);
    return documents.front().body;
  }

  yaml::Arena arena_;
};

TEST_F(MirrorsTest, AddressesKeepTheirScheme) {
  const yaml::Node body = named(map({{"url", text("https://quay.io/team/charts")},
                                     {"other", text("https://quay.io/team/pages")},
                                     {"chart", text("oci://quay.io/team/x")}}));
  EXPECT_EQ(body.get("url").as_string(), "https://r.example/team/charts");
  EXPECT_EQ(body.get("other").as_string(), "https://quay.io/team/pages");
  EXPECT_EQ(body.get("chart").as_string(), "oci://r.example/team/x");
}

TEST_F(MirrorsTest, TheLongestSourceCountsAndTheFirstOfItsMirrors) {
  EXPECT_EQ(mirrors().copy_of("quay.io/team/app:1"), "r.example/team/app:1");
  EXPECT_EQ(mirrors().copy_of("quay.io/team/tools/app@sha256:ab"), "r.example/tools/app@sha256:ab");
  EXPECT_EQ(mirrors().copy_of("quay.io/team"), "r.example/team");
  EXPECT_EQ(mirrors().copy_of("quay.io/teams/app"), std::nullopt);
  EXPECT_EQ(mirrors().copy_of("quay.io"), std::nullopt);
}

TEST_F(MirrorsTest, HaveWhatIsBelowASource) {
  EXPECT_TRUE(mirrors().have("quay.io/team/app:1"));
  EXPECT_TRUE(mirrors().have("https://quay.io/team/charts"));
  EXPECT_TRUE(mirrors().have("a.example.org/app"));
  EXPECT_FALSE(mirrors().have("example.org.evil/app"));
  EXPECT_FALSE(mirrors().have("quay.io/teamwork"));
}

TEST_F(MirrorsTest, LeadCopiesBack) {
  EXPECT_THAT(mirrors().originals_of("s.example/team/app:1"), ElementsAre("quay.io/team/app:1"));
  EXPECT_THAT(mirrors().originals_of("r.example/tools/app"),
              ElementsAre("quay.io/team/tools/app", "docker.io/tools/app"));
  EXPECT_THAT(mirrors().originals_of("https://r.example/team/charts"),
              ElementsAre("https://quay.io/team/charts"));
  EXPECT_THAT(mirrors().originals_of("quay.io/team/app"), IsEmpty());
}

TEST_F(MirrorsTest, DocumentsCallImagesByTheirCopies) {
  const yaml::Node container = map({{"image", text("quay.io/team/app:1")},
                                    {"name", text("quay.io/team/app:1")},
                                    {"nodeImage", text("quay.io/team/os")}});
  const std::vector<yaml::Node> containers = {container};
  const yaml::Node out = named(map({{"containers", arena_.list(containers)}}));
  const yaml::Node made = out.get("containers").items().front();
  EXPECT_EQ(made.get("image").as_string(), "r.example/team/app:1");
  EXPECT_EQ(made.get("name").as_string(), "quay.io/team/app:1");
  EXPECT_EQ(made.get("nodeImage").as_string(), "r.example/team/os");
}

TEST_F(MirrorsTest, PartsKeepTheNameOfTheImage) {
  const yaml::Node parts = named(map({{"repository", text("quay.io")},
                                      {"image", text("team/tools/app")},
                                      {"version", text("1")}}));
  EXPECT_EQ(parts.get("repository").as_string(), "quay.io");  // the copy has another path
  const yaml::Node below = named(map({{"repository", text("quay.io/team")},
                                      {"image", text("app")},
                                      {"version", text("sha256:ab")}}));
  EXPECT_EQ(below.get("repository").as_string(), "r.example/team");
  EXPECT_EQ(below.get("image").as_string(), "app");
  const yaml::Node place = named(map({{"registry", text("quay.io/team")}}));
  EXPECT_EQ(place.get("registry").as_string(), "r.example/team");
}

TEST_F(MirrorsTest, WhatIsEncryptedAsAWholeStaysAsItIs) {
  const yaml::Node body = map({{"image", text("quay.io/team/app:1")}});
  EXPECT_EQ(named(body, true).get("image").as_string(), "quay.io/team/app:1");
}

}  // namespace
}  // namespace gpuctl::render
