#include "diag/concealed.hpp"

#include <gtest/gtest.h>

#include "diag/print.hpp"

namespace gpuctl::diag {
namespace {

TEST(Concealed, HidesPartsOfASecret) {
  Concealed concealed;
  concealed.add("correcthorsebattery");
  EXPECT_EQ(concealed.shown("a correcthorsebattery"), "a *******************");
  EXPECT_EQ(concealed.shown("cut `correcthor...`"), "cut `**********...`");
  EXPECT_EQ(concealed.shown("correct"), "correct");
}

TEST(Concealed, ShowsPlainWordsThatASecretHasToo) {
  Concealed concealed;
  concealed.add("https://u:p4ss@registry.example.com");
  concealed.add("horsehair");
  EXPECT_EQ(concealed.shown("Secret research/registry"), "Secret research/registry");
  EXPECT_EQ(concealed.shown("p4ss@registry"), "*************");
  EXPECT_EQ(concealed.shown("`horsehair`, horsehairs"), "`*********`, horsehairs");
}

TEST(Concealed, HidesShortOnesAsWords) {
  Concealed concealed;
  concealed.add("horse");
  concealed.add("abc");
  EXPECT_EQ(concealed.shown("`horse`, horses, abc"), "`*****`, horses, abc");
}

TEST(Concealed, IsInNoPartOfADiagnostic) {
  Sources sources;
  sources.conceal("correcthorse");
  Sink sink;
  Diagnostic& diagnostic = sink.error("GPU0001", kNoOrigin, "m correcthorse");
  diagnostic.path = "a.correcthorse";
  diagnostic.label("l correcthorse").expect("correcthorse").got("correcthorse");
  diagnostic.note("correcthorse").suggest("correcthorse");
  std::string out;
  print_text(diagnostic, sources, false, out);
  print_json(diagnostic, sources, out);
  EXPECT_EQ(out.find("correcthorse"), std::string::npos) << out;
}

}  // namespace
}  // namespace gpuctl::diag
