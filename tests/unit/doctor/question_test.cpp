#include "doctor/question.hpp"

#include <gtest/gtest.h>

#include "yaml/json.hpp"

namespace gpuctl::doctor {
namespace {

class QuestionTest : public ::testing::Test {
 protected:
  std::optional<Question> read(std::string_view json) {
    std::string fault;
    const auto tree = yaml::read_json(json, arena_, fault);
    EXPECT_TRUE(tree.has_value()) << fault;
    return read_question(*tree, why_);
  }

  yaml::Arena arena_;
  std::string why_;
};

TEST_F(QuestionTest, DefaultsOfKinds) {
  const auto tls = read(R"({"kind": "tls", "host": "a", "about": "the host a"})");
  ASSERT_TRUE(tls.has_value()) << why_;
  EXPECT_EQ(tls->about, "the host a");
  EXPECT_EQ(std::get<TlsQuestion>(tls->ask).port, 443);
  const auto names = read(R"({"kind": "names", "name": "a.example.com"})");
  ASSERT_TRUE(names.has_value()) << why_;
  EXPECT_EQ(std::get<NameQuestion>(names->ask).by, "system");
  const auto program = read(R"({"kind": "program", "role": "cloud", "arguments": ["a", "b c"],
                                "environment": {"X": "1"}, "form": "text"})");
  ASSERT_TRUE(program.has_value()) << why_;
  EXPECT_EQ(std::get<ProgramQuestion>(program->ask).arguments,
            (std::vector<std::string>{"a", "b c"}));
  EXPECT_FALSE(std::get<ProgramQuestion>(program->ask).json);
}

TEST_F(QuestionTest, WhatIsWrongIsSaid) {
  EXPECT_FALSE(read(R"({"kind": "telepathy"})"));
  EXPECT_NE(why_.find("`telepathy`"), std::string::npos) << why_;
  EXPECT_FALSE(read(R"({"kind": "tls"})"));
  EXPECT_NE(why_.find("needs the field `host`"), std::string::npos) << why_;
  EXPECT_FALSE(read(R"({"kind": "tls", "host": "a", "ports": [1]})"));
  EXPECT_NE(why_.find("no field `ports`"), std::string::npos) << why_;
  EXPECT_FALSE(read(R"({"kind": "tls", "host": "a", "port": 70000})"));
  EXPECT_EQ(why_, "`port` is not a port");
  EXPECT_FALSE(read(R"({"kind": "tls", "host": ["a"]})"));
  EXPECT_EQ(why_, "`host` is not a text");
  EXPECT_FALSE(read(R"({"kind": "names", "name": "a", "type": "MX"})"));
  EXPECT_FALSE(read(R"({"kind": "program", "role": "cloud", "arguments": [1]})"));
  EXPECT_FALSE(read(R"({"kind": "program", "role": "cloud", "environment": {"X": 1}})"));
  EXPECT_FALSE(read(R"({"kind": "program", "role": "cloud", "form": "xml"})"));
}

}  // namespace
}  // namespace gpuctl::doctor
