#include "schema/format.hpp"

#include <gtest/gtest.h>

#include <ostream>

namespace gpuctl::schema {
namespace {

struct Case {
  const char* format;
  const char* text;
  bool good;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.format << " " << c.text;
}

class Formats : public testing::TestWithParam<Case> {};

TEST_P(Formats, Conforms) {
  ASSERT_NE(format_named(GetParam().format), Format::none);
  EXPECT_EQ(conforms(format_named(GetParam().format), GetParam().text, true), GetParam().good);
}

INSTANTIATE_TEST_SUITE_P(
    All, Formats,
    testing::Values(
        Case{"date-time", "2026-01-31T12:00:00Z", true},
        Case{"date-time", "2026-01-31T12:00:00.123456+02:00", true},
        Case{"date-time", "2026-01-31T12:00:00", false},
        Case{"date-time", "2026-13-31T12:00:00Z", false},
        Case{"date-time", "2026-01-31T25:00:00Z", false},
        Case{"date-time", "2026-01-31T12:00:00.Z", false}, Case{"date", "2024-02-29", true},
        Case{"date", "2026-02-29", false}, Case{"date", "2026-2-1", false},
        Case{"duration", "1h30m", true}, Case{"duration", "1.5s", true},
        Case{"duration", "0", true}, Case{"duration", "2 days", true},
        Case{"duration", "300ms", true}, Case{"duration", "10", false},
        Case{"duration", "1.2.3s", true}, Case{"duration", "h", false}, Case{"duration", "", false},
        Case{"duration", "5 parsecs", false}, Case{"ipv4", "10.0.0.1", true},
        Case{"ipv4", "10.0.0.256", false}, Case{"ipv4", "::1", false},
        Case{"ipv6", "fd00::1", true}, Case{"ipv6", "10.0.0.1", false},
        Case{"cidr", "10.0.0.0/16", true}, Case{"cidr", "fd00::/64", true},
        Case{"cidr", "10.0.0.0/33", false}, Case{"cidr", "10.0.0.0", false},
        Case{"cidr", "10.0.0.0/-1", false}, Case{"cidr", "10.0.0.0/016", true},
        Case{"mac", "00:1b:44:11:3a:b7", true}, Case{"mac", "00:1b:44:11:3a", false},
        Case{"mac", "00:1b-44:11:3a:b7", false}, Case{"uri", "https://example.com/a?b=c#d", true},
        Case{"uri", "/absolute/path", true}, Case{"uri", "urn:isbn:1", true},
        Case{"uri", "relative/path", false}, Case{"uri", "https://example.com/a b", true},
        Case{"uri", "http://x/%zz", false},
        Case{"uuid", "123e4567-e89b-12d3-a456-426614174000", true},
        Case{"uuid", "123e4567-e89b-12d3-a456-42661417400", false},
        Case{"uuid", "123e4567e-89b-12d3-a456-426614174000", false},
        Case{"hostname", "node-1.example.com", true}, Case{"hostname", "-node", false},
        Case{"hostname", "a..b", false}, Case{"email", "ops@example.com", true},
        Case{"email", "ops@", false}, Case{"email", "a b@example.com", false},
        Case{"email", "a@b@example.com", false}, Case{"byte", "aGVsbG8=", true},
        Case{"byte", "", false}, Case{"byte", "aGVsbG8", false}, Case{"byte", "aGV=bG8=", false},
        Case{"byte", "a-_=", false}));

// The API server ignores leading zeros; in our own schemas they are mistakes.
TEST(Formats, LeadingZeros) {
  for (const auto& [name, text] : {std::pair{"ipv4", "010.0.0.1"},
                                   {"cidr", "010.0.0.0/16"},
                                   {"cidr", "10.0.0.0/016"},
                                   {"cidr", "fd00::00001/64"}}) {
    EXPECT_TRUE(conforms(format_named(name), text, true)) << text;
    EXPECT_FALSE(conforms(format_named(name), text, false)) << text;
  }
}

TEST(Formats, OthersAreNotChecked) {
  for (const char* name : {"password", "ip", "binary", "quantity"}) {
    EXPECT_EQ(format_named(name), Format::none);
  }
  EXPECT_TRUE(conforms(Format::none, "anything", true));
}

}  // namespace
}  // namespace gpuctl::schema
