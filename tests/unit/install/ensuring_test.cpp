// Things that are looked for, compared, adopted, made and taken away, with a program that keeps
// them as files.
#include "install/ensuring.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/text.hpp"
#include "cli/command.hpp"
#include "install/codes.hpp"
#include "install/driver.hpp"
#include "pipeline/run.hpp"

namespace gpuctl::install {
namespace {

constexpr const char* kSteps = R"(apiVersion: gpuctl.dev/v1alpha1
kind: Installation
metadata: {name: aws}
spec:
  steps:
    - name: things
      order: 1
      title: Make the things
      ensure:
        each: '[{"name": "lake", "size": 1}]'
        called: thing `${item.name}`
        look: {role: cluster, arguments: [look, "${item.name}"]}
        absent: [not found]
        same: [{what: size, wanted: item.size, found: answer.size}]
        create: {role: cluster, arguments: [make, "${item.name}"]}
        retry: [too early]
        taken: [already exists]
        done: answer.status == "READY"
        state: ${answer.status}
        failed: 'answer.status == "ERROR" ? [answer.why] : []'
        remove: {role: cluster, arguments: [take, "${item.name}"]}
        advice: another place may have room
        otherwise:
          failures: [no room]
          ways: '[{"says": "place two", "facts": {"infraID": "two"}}, {"says": "place three", "facts": {"infraID": "three"}}]'
      every: 1ms
      limit: 3s
  destroy:
    - name: things-gone
      order: 999
      title: Take the things away
      ensure:
        each: '["lake"]'
        called: thing `${item}`
        look: {role: cluster, arguments: [look, "${item}"]}
        absent: [not found]
        remove: {role: cluster, arguments: [take, "${item}"]}
        retry: [too early]
        gone: true
      every: 1ms
      limit: 3s
)";
// A thing is a file. `refusals/N` is what it says instead of doing the Nth change; with `begun` it
// has begun all the same. NAME.next is what it is after the next look.
constexpr const char* kProgram = R"(#!/bin/sh
cd STATE || exit 9
echo "$*" >> calls
refuse() {
  for refusal in refusals/*; do
    [ -f "$refusal" ] || return 0
    cat "$refusal" >&2
    rm "$refusal"
    if [ -f begun ]; then mv begun lake; fi
    exit 1
  done
}
case $1 in
  look)
    if [ -f unreadable ]; then cat unreadable >&2; exit 1; fi
    if [ ! -f "$2" ]; then echo "$2: not found" >&2; exit 1; fi
    cat "$2"
    if [ -f "$2.next" ]; then mv "$2.next" "$2"; fi ;;
  make) refuse; cp made "$2"; echo "{}" ;;
  take) refuse; rm "$2" ;;
esac
)";
constexpr const char* kLab = R"(apiVersion: gpuctl.dev/v1alpha1
kind: Blueprint
metadata: {name: lab}
spec:
  platform: aws
  stage: dev
  baseDomain: example.com
  openshift: {version: "4.20"}
  aws: {region: eu-central-1}
  access: {pullSecret: {env: PULL_SECRET}}
  gpuPools:
    - {name: gpu, instanceType: g5.xlarge, replicas: 1}
)";
constexpr const char* kReady = R"({"status": "READY", "size": 1})";
constexpr const char* kComing = R"({"status": "COMING", "size": 1})";
constexpr const char* kBroken = R"({"status": "ERROR", "size": 1, "why": "it broke"})";

class EnsuringTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "gpuctl-ensure-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
    for (const char* folder : {"bin", "state/refusals", "providers/aws"}) {
      std::filesystem::create_directories(root_ / folder);
    }
    write("providers/aws/install.yaml", kSteps);
    std::string program = kProgram;
    program.replace(program.find("STATE"), 5, (root_ / "state").string());
    write("bin/oc", program);
    ASSERT_EQ(::chmod((root_ / "bin/oc").c_str(), 0700), 0);
    // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
    ASSERT_EQ(::setenv("PATH", ((root_ / "bin").string() + ":/usr/bin:/bin").c_str(), 1), 0);
    write("state/made", kReady);
    knowledge_ = std::make_unique<pipeline::Knowledge>(cli::built_in_image(), root_ / "providers",
                                                       "", sink_);
    const pipeline::Request request{.date = "2025-12-01", .given = {{"mem/lab.yaml", kLab}}};
    result_ =
        std::make_unique<pipeline::Result>(pipeline::run("mem/lab.yaml", request, *knowledge_));
    ASSERT_TRUE(result_->output.has_value());
    known_ = know(*result_, *knowledge_);
    place_ = Place::open(root_ / "place", Place::Use::install, sink_);
    ASSERT_TRUE(place_);
    journal_ = Journal::open(*place_, sink_);
    ASSERT_TRUE(journal_);
    ASSERT_TRUE(journal_->begin_attempt(1, sink_));
    sink_ = {};
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    std::ofstream(root_ / path) << text;
  }
  bool has(const std::string& path) const { return std::filesystem::exists(root_ / path); }

  // Takes the step of this name.
  bool run(const std::string& name = "things") {
    std::filesystem::remove(root_ / "state/calls");
    sink_ = {};
    said_.clear();
    otherwise_.reset();
    const steps::Step* step = known_.steps->find(name);
    if (step == nullptr) return false;
    Scene scene(*result_, *known_.steps, known_.programs,
                AttemptView{1, root_ / "attempt", root_, {}, journal_->story().made});
    const Surroundings around{scene,
                              *journal_,
                              *known_.signatures,
                              [this](const std::string& line) { said_ += line + "\n"; },
                              [](std::string_view line) { return std::string(line); },
                              ways_left_};
    Ensuring ensuring(*step, around, sink_);
    const bool good = ensuring.run();
    otherwise_ = ensuring.otherwise();
    return good;
  }

  std::string codes() const {
    std::vector<std::string> out;
    for (const diag::Diagnostic& one : sink_.all()) out.push_back(one.code);
    return base::join(out, " ");
  }
  std::string first() const { return sink_.all().empty() ? "" : sink_.all().front().message; }
  std::string calls() const {
    std::stringstream text;
    text << std::ifstream(root_ / "state/calls").rdbuf();
    std::string out = text.str();
    for (char& c : out) c = c == '\n' ? ';' : c;
    return out;
  }
  bool is_ours() const { return journal_->story().made.contains("thing `lake`"); }

  std::filesystem::path root_;
  diag::Sink sink_;
  std::unique_ptr<pipeline::Knowledge> knowledge_;
  std::unique_ptr<pipeline::Result> result_;
  Known known_;
  std::optional<Place> place_;
  std::optional<Journal> journal_;
  WaysLeft ways_left_;
  std::string said_;
  std::optional<std::string> otherwise_;
};

TEST_F(EnsuringTest, MakesWhatIsAbsentOnce) {
  ASSERT_TRUE(run()) << first();
  EXPECT_EQ(calls(), "look lake;make lake;look lake;");
  EXPECT_TRUE(is_ours());
  ASSERT_TRUE(run()) << first();
  EXPECT_EQ(calls(), "look lake;");
  EXPECT_NE(said_.find("thing `lake`: there before"), std::string::npos) << said_;
}

TEST_F(EnsuringTest, WaitsUntilItIsReady) {
  write("state/made", kComing);
  write("state/lake.next", kReady);
  ASSERT_TRUE(run()) << first();
  EXPECT_NE(said_.find("thing `lake`: COMING"), std::string::npos) << said_;
}

TEST_F(EnsuringTest, SaysWhatWasNotReadyInTime) {
  write("state/made", kComing);
  EXPECT_FALSE(run());
  EXPECT_EQ(codes(), kWaitedLong);
  ASSERT_FALSE(sink_.all().empty());
  EXPECT_EQ(sink_.all().front().notes, std::vector<std::string>{"it is COMING"});
}

TEST_F(EnsuringTest, AdoptsWhatIsLikeIt) {
  write("state/lake", kReady);
  ASSERT_TRUE(run()) << first();
  EXPECT_EQ(calls(), "look lake;");
  EXPECT_FALSE(is_ours());
}

TEST_F(EnsuringTest, NeverChangesWhatDiffers) {
  write("state/lake", R"({"status": "READY", "size": 2})");
  EXPECT_FALSE(run());
  EXPECT_EQ(codes(), kDiffers);
  EXPECT_EQ(first(), "thing `lake` is there, and its size is `2`, not `1`");
  EXPECT_EQ(calls(), "look lake;");
}

TEST_F(EnsuringTest, LeavesToOthersWhatTheyMakeFirst) {
  write("state/refusals/1", "lake already exists");
  write("state/begun", kReady);
  ASSERT_TRUE(run()) << first();
  EXPECT_FALSE(is_ours());
}

TEST_F(EnsuringTest, TriesAgainWhatIsTooEarly) {
  write("state/refusals/1", "too early");
  write("state/refusals/2", "too early");
  ASSERT_TRUE(run()) << first();
  EXPECT_EQ(calls(), "look lake;make lake;look lake;make lake;look lake;make lake;look lake;");
  EXPECT_TRUE(is_ours());
}

TEST_F(EnsuringTest, SeesWhatWasBegunAllTheSame) {
  write("state/refusals/1", "the connection was lost");
  write("state/begun", kReady);
  ASSERT_TRUE(run()) << first();
  EXPECT_EQ(calls(), "look lake;make lake;look lake;look lake;");
  EXPECT_TRUE(is_ours());
}

TEST_F(EnsuringTest, SaysWhyItWasRefusedWhereverThatStands) {
  // The cause may stand in any line, and far behind what is shown of one.
  write("state/refusals/1",
        "request " + std::string(400, 'x') + " LimitExceeded\nsee the manual\nexit status 1");
  EXPECT_FALSE(run());
  EXPECT_EQ(codes(), std::string(kNotMade) + " " + std::string(kKnownCause));
  EXPECT_EQ(sink_.all().back().message, "a limit of the account is reached");
  EXPECT_EQ(sink_.all().front().help.front(), "another place may have room");
}

TEST_F(EnsuringTest, MakesAnewWhatAnEarlierRunLeftBroken) {
  write("state/made", kBroken);
  EXPECT_FALSE(run());
  EXPECT_EQ(codes(), kMadeBroken);
  write("state/made", kReady);
  ASSERT_TRUE(run()) << first();
  EXPECT_EQ(calls(), "look lake;take lake;look lake;make lake;look lake;");
}

TEST_F(EnsuringTest, WaitsForWhatGoesBeforeItCompares) {
  ASSERT_TRUE(run()) << first();
  // It was taken away by a run that was killed, and has another size than is wanted by now.
  write("state/lake", R"({"status": "GOING", "size": 2})");
  write("state/lake.next", R"({"status": "READY", "size": 1})");
  ASSERT_TRUE(run()) << first();
  write("state/lake", R"({"status": "GOING", "size": 2})");
  write("state/lake.next", R"({"status": "READY", "size": 2})");
  EXPECT_FALSE(run());
  EXPECT_EQ(codes(), kDiffers);
}

TEST_F(EnsuringTest, LeavesWhatOthersHaveBroken) {
  write("state/lake", kBroken);
  EXPECT_FALSE(run());
  EXPECT_EQ(codes(), kMadeBroken);
  EXPECT_EQ(calls(), "look lake;");
}

TEST_F(EnsuringTest, MakesNothingWhereItCannotLook) {
  write("state/unreadable", "you are not allowed to");
  EXPECT_FALSE(run());
  EXPECT_EQ(codes(), kNotLookedAt);
  EXPECT_EQ(calls(), "look lake;");
  EXPECT_FALSE(is_ours());
}

TEST_F(EnsuringTest, TriesEachOtherWayOnce) {
  write("state/refusals/1", "there is no room");
  EXPECT_FALSE(run());
  EXPECT_EQ(codes(), "");
  EXPECT_EQ(otherwise_, R"({"infraID":"two"})");
  EXPECT_NE(said_.find("the next try is place two"), std::string::npos) << said_;
  // What is there and has failed for such a reason, too.
  write("state/made", R"({"status": "ERROR", "size": 1, "why": "no room"})");
  EXPECT_FALSE(run());
  EXPECT_EQ(otherwise_, R"({"infraID":"three"})");
  EXPECT_FALSE(run());
  EXPECT_FALSE(otherwise_);
  EXPECT_EQ(codes(), kMadeBroken);
  EXPECT_TRUE(has("state/lake"));
}

TEST_F(EnsuringTest, KnowsNoOtherWayAroundOtherFailures) {
  write("state/refusals/1", "you are not allowed to");
  EXPECT_FALSE(run());
  EXPECT_FALSE(otherwise_);
  EXPECT_EQ(codes(), kNotMade);
}

TEST_F(EnsuringTest, TakesAwayOnlyWhatItMade) {
  write("state/lake", kReady);
  ASSERT_TRUE(run("things-gone")) << first();
  EXPECT_TRUE(has("state/lake"));
  std::filesystem::remove(root_ / "state/lake");
  ASSERT_TRUE(run()) << first();
  write("state/refusals/1", "too early");
  ASSERT_TRUE(run("things-gone")) << first();
  EXPECT_FALSE(has("state/lake"));
  ASSERT_TRUE(run("things-gone")) << first();
  EXPECT_NE(said_.find("thing `lake`: not there"), std::string::npos) << said_;
}

TEST_F(EnsuringTest, SaysWhatCannotBeTakenAway) {
  ASSERT_TRUE(run()) << first();
  write("state/refusals/1", "it is in use");
  EXPECT_FALSE(run("things-gone"));
  EXPECT_EQ(codes(), kNotDestroyed);
  EXPECT_TRUE(has("state/lake"));
}

}  // namespace
}  // namespace gpuctl::install
