#include "base/text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

namespace gpuctl::base {
namespace {

TEST(Split, KeepsEmptyParts) {
  using Parts = std::vector<std::string_view>;
  EXPECT_EQ(split("", ','), (Parts{""}));
  EXPECT_EQ(split("a", ','), (Parts{"a"}));
  EXPECT_EQ(split("a,,b", ','), (Parts{"a", "", "b"}));
  EXPECT_EQ(split(",a,", ','), (Parts{"", "a", ""}));
}

TEST(Join, PutsTheSeparatorBetween) {
  const std::vector<std::string> parts = {"a", "", "b"};
  EXPECT_EQ(join(parts, ", "), "a, , b");
  EXPECT_EQ(join({}, ", "), "");
}

TEST(EditDistance, CountsSwapsAsOne) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("ab", "ba"), 1U);
  EXPECT_EQ(edit_distance("ca", "abc"), 3U);  // optimal string alignment, not Damerau-Levenshtein
}

TEST(Nearest, AtMostThreeNearestFirst) {
  const std::vector<std::string> names = {"zone", "zones", "zonal", "node", "bone", "zone"};
  EXPECT_EQ(nearest("zone", names), (std::vector<std::string>{"zone", "bone", "zones"}));
  EXPECT_EQ(nearest("ZONES", names), (std::vector<std::string>{"zones", "zone"}));
  EXPECT_TRUE(nearest("kubernetes", names).empty());
  EXPECT_TRUE(nearest("x", {}).empty());
  const std::string longest(100'000, 'z');  // no name: nothing is compared with it
  EXPECT_TRUE(nearest(longest, std::vector<std::string>(64, longest)).empty());
}

TEST(ParseInteger, DecimalAlone) {
  EXPECT_EQ(parse_integer("0"), 0);
  EXPECT_EQ(parse_integer("-0"), 0);
  EXPECT_EQ(parse_integer("42"), 42);
  EXPECT_EQ(parse_integer("-42"), -42);
  EXPECT_EQ(parse_integer("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_integer("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  for (const std::string_view text : {"", "-", "+5", "010", "-01", "0x1F", "1_000", "1.0", "1e3",
                                      " 1", "1 ", "9223372036854775808", "-9223372036854775809"}) {
    EXPECT_EQ(parse_integer(text), std::nullopt) << text;
  }
}

TEST(FormatReal, ReadsAsANumberWithAFraction) {
  EXPECT_EQ(format_real(0), "0.0");
  EXPECT_EQ(format_real(-0.0), "-0.0");
  EXPECT_EQ(format_real(1), "1.0");
  EXPECT_EQ(format_real(0.1), "0.1");
  EXPECT_EQ(format_real(-2.5), "-2.5");
  EXPECT_EQ(format_real(1e300), "1.0e+300");
  EXPECT_EQ(format_real(1.5e-10), "1.5e-10");
  EXPECT_EQ(format_real(std::numeric_limits<double>::infinity()), ".inf");
  EXPECT_EQ(format_real(-std::numeric_limits<double>::infinity()), "-.inf");
  EXPECT_EQ(format_real(std::nan("")), ".nan");
}

TEST(FormatReal, IsExact) {
  for (const double value : {5e-324, 1.7976931348623157e308, 0.1 + 0.2, 1.0 / 3, 123456789.125}) {
    EXPECT_EQ(std::strtod(format_real(value).c_str(), nullptr), value);
  }
}

TEST(ValidUtf8, NamesTheFirstBadByte) {
  EXPECT_TRUE(valid_utf8(""));
  EXPECT_TRUE(valid_utf8("aé€😀\xF4\x8F\xBF\xBF"));
  const auto bad = [](std::string_view text) {
    std::size_t at = 99;
    return valid_utf8(text, &at) ? 99 : at;
  };
  EXPECT_EQ(bad("a\xFF"), 1U);
  EXPECT_EQ(bad("ab\x80"), 2U);
  EXPECT_EQ(bad("\xC3"), 0U);
  EXPECT_EQ(bad("\xC0\xAF"), 0U);
  EXPECT_EQ(bad("\xE0\x9F\x80"), 0U);
  EXPECT_EQ(bad("\xED\xA0\x80"), 0U);
  EXPECT_EQ(bad("\xF0\x8F\x80\x80"), 0U);
  EXPECT_EQ(bad("\xF4\x90\x80\x80"), 0U);
  EXPECT_EQ(bad("\xF5\x80\x80\x80"), 0U);
  EXPECT_EQ(bad("é\xE2\x82"), 2U);
}

TEST(CodePoints, CountsCharacters) {
  EXPECT_EQ(code_points(""), 0U);
  EXPECT_EQ(code_points("aé€😀"), 4U);
}

TEST(ToLower, AsciiAlone) {
  EXPECT_EQ(to_lower("AbZ-É9"), "abz-É9");
}

TEST(IsDns1123Label, Rules) {
  for (const std::string_view text : {"a", "1", "a-b", "a1", "0a"}) {
    EXPECT_TRUE(is_dns1123_label(text)) << text;
  }
  EXPECT_TRUE(is_dns1123_label(std::string(63, 'a')));
  EXPECT_FALSE(is_dns1123_label(std::string(64, 'a')));
  for (const std::string_view text : {"", "-a", "a-", "A", "a.b", "a_b", "é", "a b", "a\n"}) {
    EXPECT_FALSE(is_dns1123_label(text)) << text;
  }
}

TEST(PercentEncoded, KeepsUnreservedBytesAndThoseAskedFor) {
  EXPECT_EQ(percent_encoded("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(percent_encoded("a b/c"), "a%20b%2Fc");
  EXPECT_EQ(percent_encoded("a b/c", "/"), "a%20b/c");
  EXPECT_EQ(percent_encoded("\xC3\xBC%"), "%C3%BC%25");
}

}  // namespace
}  // namespace gpuctl::base
