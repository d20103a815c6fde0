#include "yaml/json.hpp"

#include <gtest/gtest.h>

#include "yaml/emit.hpp"

namespace gpuctl::yaml {
namespace {

std::string again(std::string_view text) {
  Arena arena;
  std::string why;
  const auto read = read_json(text, arena, why);
  return read ? emit_json(*read) : why;
}

TEST(Json, IsReadAsItIsWritten) {
  for (const char* text : {"null", "true", "-1", "1.5", R"("a\nb")", "[]", "{}",
                           R"({"b":[1,{"a":null}],"a":"x"})", "9223372036854775807"}) {
    EXPECT_EQ(again(text), text);
  }
  EXPECT_EQ(again(R"({"a":1,"a":2})"), R"({"a":2})");
  EXPECT_EQ(again("18446744073709551615"), "18446744073709551616.0");
}

TEST(Json, IsRefusedWithoutItsText) {
  EXPECT_EQ(again("{secret"), "is no JSON from byte 2 on");
  EXPECT_EQ(again(""), "is no JSON from byte 1 on");
  EXPECT_EQ(again("{} {}"), "is no JSON from byte 4 on");
  EXPECT_EQ(again(std::string(300, '[')), "nests deeper than 200 levels");
}

}  // namespace
}  // namespace gpuctl::yaml
