#include "net/names.hpp"

#include <gtest/gtest.h>

namespace gpuctl::net {
namespace {

TEST(Names, ReverseOfAddresses) {
  EXPECT_EQ(reverse_name("10.30.0.5"), "5.0.30.10.in-addr.arpa");
  EXPECT_EQ(reverse_name("2001:db8::1"),
            "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa");
  EXPECT_EQ(reverse_name("api.example.com"), "");
}

TEST(Names, TypesByName) {
  EXPECT_EQ(record_type("AAAA"), RecordType::aaaa);
  EXPECT_EQ(record_type("a"), std::nullopt);
  EXPECT_EQ(record_type("TXT"), std::nullopt);
}

TEST(Names, ToldIsAlsoThatThereIsNothing) {
  NameAnswer answer;
  for (const auto status :
       {NameAnswer::Status::found, NameAnswer::Status::no_data, NameAnswer::Status::no_name}) {
    answer.status = status;
    EXPECT_TRUE(answer.told());
  }
  answer.status = NameAnswer::Status::refused;
  EXPECT_FALSE(answer.told());
}

}  // namespace
}  // namespace gpuctl::net
