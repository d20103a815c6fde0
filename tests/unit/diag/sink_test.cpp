#include <gtest/gtest.h>

#include "diag/diagnostic.hpp"

namespace gpuctl::diag {
namespace {

TEST(Sink, CountsErrorsAlone) {
  Sink sink;
  sink.note("GPU0001", kNoOrigin, "n");
  sink.warning("GPU0001", kNoOrigin, "w");
  EXPECT_FALSE(sink.has_errors());
  EXPECT_FALSE(sink.empty());
  sink.error("GPU0001", kNoOrigin, "e");
  EXPECT_EQ(sink.error_count(), 1U);
  Sink other;
  other.error("GPU0002", kNoOrigin, "o");
  sink.take(std::move(other));
  EXPECT_EQ(sink.error_count(), 2U);
  EXPECT_EQ(sink.all().back().code, "GPU0002");
}

TEST(Sink, SortsByPlaceAndDropsDuplicates) {
  Sources sources;
  const FileId a = sources.add_file("a.yaml", "0123456789");
  const FileId b = sources.add_file("b.yaml", "0123456789");
  const Origin late = sources.add_span(a, 5, 6);
  Sink sink;
  sink.error("GPU0009", kNoOrigin, "nowhere");
  sink.error("GPU0001", sources.add_span(b, 0, 1), "second file");
  sink.error("GPU0002", late, "late");
  sink.error("GPU0001", late, "late");
  sink.error("GPU0001", late, "late");
  sink.error("GPU0003", sources.add_span(a, 1, 2), "early");
  std::vector<std::string> order;
  for (const Diagnostic& diagnostic : sink.sorted(sources)) {
    order.push_back(diagnostic.code + " " + diagnostic.message);
  }
  EXPECT_EQ(order, (std::vector<std::string>{"GPU0003 early", "GPU0001 late", "GPU0002 late",
                                             "GPU0001 second file", "GPU0009 nowhere"}));
}

TEST(Sink, SaysAWarningOnceWithAllPlaces) {
  Sources sources;
  const FileId file = sources.add_file("a.yaml", "0123456789");
  Sink sink;
  sink.warning("GPU0002", sources.add_span(file, 5, 6), "same").label("is it");
  sink.warning("GPU0002", sources.add_span(file, 1, 2), "same").label("is it");
  sink.warning("GPU0002", sources.add_span(file, 7, 8), "same").label("something else");
  sink.warning("GPU0002", sources.add_span(file, 3, 4), "same").suggest("another way out");
  sink.warning("GPU0002", kNoOrigin, "same").label("nowhere");
  sink.error("GPU0002", sources.add_span(file, 8, 9), "mend");
  sink.error("GPU0002", sources.add_span(file, 9, 10), "mend");
  const std::vector<Diagnostic> shown = sink.sorted(sources);
  ASSERT_EQ(shown.size(), 6U);
  EXPECT_EQ(sources.span(shown[0].primary.at)->begin, 1U);
  ASSERT_EQ(shown[0].secondary.size(), 1U);
  EXPECT_EQ(sources.span(shown[0].secondary[0].at)->begin, 5U);
  EXPECT_EQ(shown[0].secondary[0].text, "and here");
  EXPECT_EQ(shown[1].help.size(), 1U);
  EXPECT_EQ(shown[2].primary.text, "something else");
  EXPECT_EQ(shown[3].severity, Severity::error);
  EXPECT_EQ(shown[4].severity, Severity::error);
  EXPECT_EQ(shown[5].primary.text, "nowhere");
}

TEST(Diagnostic, SuggestsNearNames) {
  Diagnostic diagnostic;
  diagnostic.did_you_mean("replica", {"replicas", "region", "replace"});
  ASSERT_EQ(diagnostic.help.size(), 1U);
  EXPECT_EQ(diagnostic.help[0], "did you mean `replicas` or `replace`?");
  diagnostic.did_you_mean("xyz", {"replicas"});
  EXPECT_EQ(diagnostic.help.size(), 1U);
}

TEST(Diagnostic, DropsUnknownSecondPlaces) {
  Diagnostic diagnostic;
  diagnostic.also(kNoOrigin, "nowhere").also(3, "there");
  ASSERT_EQ(diagnostic.secondary.size(), 1U);
  EXPECT_EQ(diagnostic.secondary[0].text, "there");
}

}  // namespace
}  // namespace gpuctl::diag
