#include "diag/sources.hpp"

#include <gtest/gtest.h>

#include <array>

namespace gpuctl::diag {
namespace {

TEST(Sources, PositionsCountCodePoints) {
  Sources sources;
  const FileId file = sources.add_file("a.yaml", "é: 1\r\nb: 2");
  EXPECT_EQ(sources.position(file, 0), (Position{1, 1}));
  EXPECT_EQ(sources.position(file, 4), (Position{1, 4}));
  EXPECT_EQ(sources.position(file, 7), (Position{2, 1}));
  EXPECT_EQ(sources.position(file, 99), (Position{2, 5}));
  EXPECT_EQ(sources.line_text(file, 1), "é: 1");
  EXPECT_EQ(sources.line_text(file, 2), "b: 2");
  EXPECT_EQ(sources.line_text(file, 3), "");
}

TEST(Sources, SpansAndSubspans) {
  Sources sources;
  const FileId file = sources.add_file("a.yaml", "key: value");
  const Origin value = sources.add_span(file, 5, 10);
  EXPECT_EQ(sources.text(value), "value");
  EXPECT_EQ(sources.text(sources.add_subspan(value, 1, 3)), "al");
  EXPECT_EQ(sources.add_subspan(kNoOrigin, 1, 3), kNoOrigin);
  EXPECT_EQ(sources.span(kNoOrigin), nullptr);
  EXPECT_EQ(sources.span(99), nullptr);
  EXPECT_EQ(sources.text(kNoOrigin), "");
}

TEST(Sources, TablesChain) {
  const std::array files = {FileView{"frozen.yaml", "a: 1"}};
  const std::array spans = {Span{0, 0, 1}, Span{0, 3, 4}};
  const Sources root(files, spans);
  Sources middle(&root);
  const FileId second = middle.add_file("second.yaml", "b: 2");
  const Origin in_second = middle.add_span(second, 3, 4);
  Sources top(&middle);
  const FileId third = top.add_file("third.yaml", "c: 3");
  const Origin in_third = top.add_span(third, 3, 4);
  // A parent may grow a little: its new numbers are not those of the tables on top of it.
  const Origin grown = middle.add_span(second, 0, 1);
  EXPECT_GT(top.span_count(), 4U);
  EXPECT_GE(top.file_count(), 3U);
  EXPECT_EQ(top.text(1), "a");
  EXPECT_EQ(top.text(2), "1");
  EXPECT_EQ(top.text(in_second), "2");
  EXPECT_EQ(top.text(in_third), "3");
  EXPECT_EQ(top.text(grown), "b");
  EXPECT_EQ(top.file_name(0), "frozen.yaml");
  EXPECT_EQ(top.file_name(second), "second.yaml");
  EXPECT_EQ(top.file_name(third), "third.yaml");
  EXPECT_EQ(middle.span(in_third), nullptr);
}

}  // namespace
}  // namespace gpuctl::diag
