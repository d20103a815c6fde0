#include "mcp/server.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace gpuctl::mcp {
namespace {

using yaml::Arena;
using yaml::MapBuilder;
using yaml::Node;

// One tool that says what its argument `how` wants.
Offer offer_with_tool(Arena& arena) {
  Offer offer;
  offer.name = "lender";
  offer.version = "1";
  Tool tool;
  tool.name = "say";
  tool.input = MapBuilder().build(arena);
  tool.output = tool.input;
  tool.call = [](const Node& arguments, Arena& to) {
    const std::string_view how = arguments.get("how").as_string();
    if (how == "throw") throw std::runtime_error("secret");
    MapBuilder out;
    out.set(to, "text", to.string(how == "much" ? std::string(kMostResultBytes, 'a') : "\xff\n"));
    return ToolResult{out.build(to), how == "fail" ? "no" : "", how == "fail"};
  };
  offer.tools.push_back(tool);
  offer.read = [](std::string_view address) -> std::optional<Content> {
    if (address != "a:b") return std::nullopt;
    return Content{"text/plain", "\xe2\x80\xa8"};
  };
  return offer;
}

class OfServer : public testing::Test {
 protected:
  OfServer() : offer_(offer_with_tool(arena_)), server_(offer_) {
    server_.answer(
        R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":""}})");
  }
  std::string called(const std::string& arguments) {
    return server_.answer(
        R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"say","arguments":)" +
        arguments + "}}");
  }

  Arena arena_;
  Offer offer_;
  Server server_;
};

TEST_F(OfServer, AnswersStandOnOneLineOfSoundText) {
  const std::string answer = called("{}");
  EXPECT_EQ(answer,
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":"
            "\"{\\\"text\\\":\\\"\xEF\xBF\xBD\\\\n\\\"}\"}],\"structuredContent\":{\"text\":"
            "\"\xEF\xBF\xBD\\n\"},\"isError\":false}}");
}

TEST_F(OfServer, ResultThatSaysNoIsNoErrorOfTheProtocol) {
  const std::string answer = called(R"({"how":"fail"})");
  EXPECT_NE(answer.find(R"({"type":"text","text":"no"})"), std::string::npos);
  EXPECT_NE(answer.find(R"("isError":true)"), std::string::npos);
}

TEST_F(OfServer, ResultThatIsTooLongIsNotSent) {
  const std::string answer = called(R"({"how":"much"})");
  EXPECT_LT(answer.size(), 500U);
  EXPECT_NE(answer.find("ask for less at a time"), std::string::npos);
  EXPECT_NE(answer.find(R"("isError":true)"), std::string::npos);
  EXPECT_EQ(answer.find("structuredContent"), std::string::npos);
}

TEST_F(OfServer, ToolThatThrowsEndsItsCallAlone) {
  EXPECT_EQ(called(R"({"how":"throw"})"),
            R"({"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"internal error"}})");
  EXPECT_EQ(server_.answer(R"({"jsonrpc":"2.0","id":"x","method":"ping"})"),
            R"({"jsonrpc":"2.0","id":"x","result":{}})");
}

TEST_F(OfServer, ResourceThatIsNotThereHasACodeOfTheRevision) {
  const std::string start =
      R"({"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"a:)";
  EXPECT_NE(server_.answer(start + R"(b"}})").find("text/plain"), std::string::npos);
  EXPECT_NE(server_.answer(start + R"(c"}})").find("-32002"), std::string::npos);
  const std::string meta = R"(c","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                           R"("io.modelcontextprotocol/clientCapabilities":{}}}})";
  EXPECT_NE(server_.answer(start + meta).find("-32602"), std::string::npos);
}

TEST_F(OfServer, NotificationsAndResponsesAreNotAnswered) {
  EXPECT_EQ(server_.answer(R"({"jsonrpc":"2.0","method":"tools/call"})"), "");
  EXPECT_EQ(server_.answer(R"({"jsonrpc":"2.0","method":"no such thing","params":3})"), "");
  EXPECT_EQ(server_.answer(R"({"jsonrpc":"2.0","id":1,"result":{}})"), "");
  EXPECT_EQ(server_.answer(R"({"jsonrpc":"2.0","id":1,"error":{}})"), "");
}

TEST(Server, WantsToKnowItsRevisionFirst) {
  Arena arena;
  const Offer offer = offer_with_tool(arena);
  Server server(offer);
  const std::string list = R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})";
  EXPECT_NE(server.answer(list).find("-32602"), std::string::npos);
  server.answer(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{}})");
  EXPECT_NE(server.answer(list).find("-32602"), std::string::npos);
  server.answer(
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}})");
  EXPECT_NE(server.answer(list).find(R"("readOnlyHint":true)"), std::string::npos);
}

}  // namespace
}  // namespace gpuctl::mcp
