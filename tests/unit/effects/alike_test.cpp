// Which clusters of a plan are shown together.
#include "effects/alike.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gpuctl::effects {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

ClusterChange change(const std::string& name, const std::string& object,
                     const std::string& to = "2") {
  ClusterChange out;
  out.cluster = "prod/" + name;
  out.files = "1 updated";
  out.changed = true;
  out.own_names = {name, name + "-x7k2p"};
  Finding finding;
  finding.effect = Effect::operands;
  finding.reason = "the pods of " + name + " restart";
  finding.fields = {{"spec.replicas", "1", to}};
  ObjectChange changed;
  changed.kind = "MachineSet";
  changed.name = object;
  changed.path = "layers/20-machines/" + object + ".yaml";
  changed.findings = {finding};
  out.assessment.objects = {changed};
  return out;
}

ClusterChange unchanged(const std::string& name) {
  ClusterChange out;
  out.cluster = "prod/" + name;
  out.files = "no change";
  return out;
}

TEST(Alike, IsWhatDiffersInOwnNamesOnly) {
  EXPECT_THAT(alike({change("a", "a-x7k2p-gpu"), change("b", "b-x7k2p-gpu"),
                     change("c", "c-x7k2p-cpu"), change("d", "d-x7k2p-gpu", "3")}),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2), ElementsAre(3)));
}

TEST(Alike, IsNotWhatHasTheNameOfAnother) {
  EXPECT_THAT(alike({change("a", "a-x7k2p-gpu"), change("b", "a-x7k2p-gpu")}),
              ElementsAre(ElementsAre(0), ElementsAre(1)));
}

// A name that another word begins or ends with is no name there: `a` and `at`.
TEST(Alike, LooksAtWholeWords) {
  EXPECT_THAT(alike({change("a", "at"), change("b", "bt")}),
              ElementsAre(ElementsAre(0), ElementsAre(1)));
}

// The infrastructure ID is no cluster name with something behind it.
TEST(Alike, TakesTheLongestName) {
  EXPECT_THAT(alike({change("a", "a-x7k2p"), change("b", "b")}),
              ElementsAre(ElementsAre(0), ElementsAre(1)));
}

TEST(Alike, KnowsWhichChoicesMove) {
  ClusterChange other = change("b", "b-gpu");
  other.choices = "  operator.release: 1 -> 2\n";
  EXPECT_THAT(alike({change("a", "a-gpu"), other}), ElementsAre(ElementsAre(0), ElementsAre(1)));
}

TEST(Alike, ClustersWithoutAChangeAre) {
  EXPECT_THAT(alike({unchanged("a"), change("b", "b"), unchanged("c")}),
              ElementsAre(ElementsAre(0, 2), ElementsAre(1)));
}

TEST(PlanOfMany, SaysOnceWhatHappensToAll) {
  const std::string said =
      text({change("a", "a-gpu"), change("b", "b-gpu"), change("c", "c-gpu"), unchanged("d")});
  EXPECT_THAT(said, HasSubstr("prod/a and 2 other clusters alike: 1 updated"));
  EXPECT_THAT(said, HasSubstr("\n  alike: prod/b, prod/c\n"));
  EXPECT_THAT(said, Not(HasSubstr("b-gpu")));
  EXPECT_THAT(said, HasSubstr("\nprod/d: no change\n"));
  EXPECT_THAT(said, HasSubstr("\n4 clusters: 3 change in 1 way, worst effect: operands\n"));
}

TEST(PlanOfMany, NamesSomeOfVeryMany) {
  std::vector<ClusterChange> changes;
  for (int i = 0; i < 1000; ++i) changes.push_back(unchanged("c" + std::to_string(i)));
  const std::string said = text(changes);
  EXPECT_LT(said.size(), 1000U);
  EXPECT_THAT(said, HasSubstr("and 975 more"));
  EXPECT_THAT(said, HasSubstr("1000 clusters: no change"));
}

TEST(PlanOfMany, IsShortAsAComment) {
  std::vector<ClusterChange> changes;
  for (int i = 0; i < 300; ++i) {
    const std::string name = "c" + std::to_string(i);
    changes.push_back(change(name, name + "-gpu"));
  }
  const std::string comment = markdown(changes);
  EXPECT_THAT(comment, HasSubstr("c0 and 299 other clusters alike"));
  EXPECT_THAT(comment, HasSubstr("prod/c299"));
  EXPECT_THAT(comment, Not(HasSubstr("do not fit")));
}

}  // namespace
}  // namespace gpuctl::effects
