// Licence tokens as the built-in rules see them: whatever is wrong with one, it is said without a
// crash and without a word of the token.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "base/text.hpp"
#include "cli/command.hpp"
#include "document/token.hpp"
#include "pipeline/knowledge.hpp"

namespace gpuctl {
namespace {

constexpr std::string_view kHeader = "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9";
constexpr std::string_view kClaims =
    R"({"jti":"M4rkOfTheTokenItself","iss":"NLS Service Instance","aud":"NLS Licensed Client",)"
    R"("iat":1767225600,"nbf":1767225600,"exp":4102444800,"update_mode":"ABSOLUTE",)"
    R"("scope_ref_list":["0c6b8b5e-3a44-4ac3-b0b6-1d2f5a1f6b01"],)"
    R"("service_instance_configuration":{)"
    R"("nls_service_instance_ref":"7d0f1c6e-5f36-4c63-8f53-9f5b6f0f9a11",)"
    R"("svc_port_set_list":[{"idx":0,"d_name":"DLS","svc_port_map":[{"service":"auth","port":443}]}],)"
    R"("node_url_list":[{"idx":0,"url":"dls.example.com","svc_port_set_idx":0}]},)"
    R"("service_instance_public_key_configuration":{"service_instance_public_key_pem":"M4rkOfTheKey"}})";
constexpr std::string_view kSignature = "M4rkOfTheSignatureThatNobodyMaySee0123456789";
constexpr std::int64_t kNow = 1'788'220'800;  // 2026-09-01

std::string base64url(std::string_view bytes) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char byte : bytes) {
    bits = (bits << 8U) | static_cast<unsigned char>(byte);
    for (count += 8; count >= 6; count -= 6) out += kAlphabet[(bits >> (count - 6)) & 63U];
  }
  if (count > 0) out += kAlphabet[(bits << (6 - count)) & 63U];
  return out;
}

std::string token_of(std::string_view claims) {
  return std::string(kHeader) + "." + base64url(claims) + "." + std::string(kSignature);
}

class Tokens : public testing::Test {
 protected:
  // What is said of a token: codes, and all texts of the findings.
  struct Said {
    std::vector<std::string> codes;
    std::string texts;
    std::string server;
  };

  static Said check(const std::string& token, std::int64_t now = kNow) {
    static diag::Sink opening;
    static pipeline::Knowledge knowledge(cli::built_in_image(), "", "", opening);
    diag::Sources sources(&knowledge.library().sources());
    yaml::Arena arena;
    diag::Sink sink;
    const yaml::Node written = document::token_document("LicenseToken", token, now, arena);
    const pipeline::Compiled* platform =
        knowledge.platform(knowledge.platform_for(written), diag::kNoOrigin, sink);
    EXPECT_NE(platform, nullptr);
    EXPECT_TRUE(platform->documents->check(written, {}, {sources, arena, sink}).known);
    const auto read = platform->documents->read(written, {}, false, sources, arena);
    Said out;
    out.server = read->get("summary").get("server").as_string();
    for (const diag::Diagnostic& finding : sink.all()) {
      out.codes.push_back(finding.code);
      for (const std::string& text :
           {finding.message, finding.primary.text, finding.expected, finding.found,
            base::join(finding.notes, " "), base::join(finding.help, " ")}) {
        out.texts += text + "\n";
      }
      out.texts += sources.text(finding.primary.at);
    }
    return out;
  }

  // No dozen characters in a row of what is secret in a token.
  static void expect_silence(const Said& said, const std::string& token) {
    constexpr std::size_t kRun = 12;
    const auto parts = base::split(token, '.');
    for (const std::string_view part : parts) {
      for (std::size_t i = 0; i + kRun <= part.size(); ++i) {
        ASSERT_EQ(said.texts.find(part.substr(i, kRun)), std::string::npos) << said.texts;
      }
    }
    ASSERT_EQ(said.texts.find("M4rk"), std::string::npos) << said.texts;
  }
};

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string out(text);
  const std::size_t at = out.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return out.replace(at, from.size(), to);
}

TEST_F(Tokens, TakesGoodOnes) {
  const Said dls = check(token_of(kClaims));
  EXPECT_EQ(dls.codes, std::vector<std::string>()) << dls.texts;
  EXPECT_EQ(dls.server, "DLS");
  const Said cls =
      check(token_of(replaced(kClaims, "dls.example.com", "api.cls.licensing.nvidia.com")));
  EXPECT_EQ(cls.codes, std::vector<std::string>());
  EXPECT_EQ(cls.server, "CLS");
  EXPECT_EQ(check(token_of(replaced(kClaims, "\"DLS\"", "\"other\""))).server, "unknown");
}

TEST_F(Tokens, KnowsTheEdgesOfTimes) {
  using Codes = std::vector<std::string>;
  constexpr std::int64_t kExpires = 4'102'444'800;
  constexpr std::int64_t kIssued = 1'767'225'600;
  const std::string token = token_of(kClaims);
  EXPECT_EQ(check(token, kExpires).codes, Codes({"GPU2664"}));
  EXPECT_EQ(check(token, kExpires - 1).codes, Codes({"GPU2666"}));
  EXPECT_EQ(check(token, kExpires - 30 * 86'400).codes, Codes());
  EXPECT_EQ(check(token, kExpires - 30 * 86'400 + 1).codes, Codes({"GPU2666"}));
  EXPECT_EQ(check(token, kIssued - 86'399).codes, Codes());
  EXPECT_EQ(check(token, kIssued - 86'400).codes, Codes({"GPU2665"}));
}

TEST_F(Tokens, RefusesOddClaims) {
  const auto codes = [](std::string_view from, std::string_view to) {
    const std::string token = token_of(replaced(kClaims, from, to));
    const Said said = check(token);
    expect_silence(said, token);
    return base::join(said.codes, " ");
  };
  EXPECT_EQ(codes("4102444800", "\"M4rk\""), "GPU2662");
  EXPECT_EQ(codes("4102444800", "4102444800.5"), "GPU2662");
  EXPECT_EQ(codes("4102444800", "9223372036854775807"), "");
  EXPECT_EQ(codes("4102444800", "-1"), "GPU2664");
  EXPECT_EQ(codes("\"exp\"", "\"iat\""), "GPU2662");  // twice the same key
  EXPECT_EQ(codes("\"url\":\"dls.example.com\"", "\"url\":[\"M4rk\"]"), "GPU2663");
  EXPECT_EQ(codes("\"url\":\"dls.example.com\"", "\"url\":\"M4rk x\""), "GPU2663");
  EXPECT_EQ(codes("\"node_url_list\"", "\"nodes\""), "GPU2663");
  EXPECT_EQ(codes("\"service_instance_configuration\":{", "\"x\":1,\"y\":{"), "GPU2663");
  EXPECT_EQ(codes("NLS Service Instance", "M4rk"), "GPU2667");
  EXPECT_EQ(codes("\"aud\":\"NLS Licensed Client\"", "\"aud\":[\"M4rk\"]"), "GPU2667");
  EXPECT_EQ(codes("[{\"idx\":0,\"d_name\"", "[7,{\"idx\":0,\"d_name\""), "");
}

TEST_F(Tokens, SaysNothingOfBrokenOnes) {
  std::vector<std::string> broken = {
      "",
      ".",
      "..",
      "...",
      "a.b.c",
      std::string(kHeader),
      std::string(kHeader) + "..",
      token_of("[]"),
      token_of("null"),
      token_of("\"M4rkM4rkM4rkM4rk\""),
      token_of("{"),
      token_of(std::string(200, '[')),
      token_of("\xff\xfe"),
      token_of("{\"exp\":1e400}"),
      token_of("{\"service_instance_configuration\":{\"node_url_list\":{}}}"),
      "e30." + base64url(kClaims) + ".",
      "e30." + base64url(kClaims) + "." + std::string(kSignature),
      "W10." + base64url(kClaims) + "." + std::string(kSignature),
      token_of(kClaims) + "\n" + token_of(kClaims),
      std::string(50'000, '.'),
      std::string(60'000, 'A'),
      token_of(kClaims) + "=",
      "\t" + token_of(kClaims)};
  for (const std::string& token : broken) {
    const Said said = check(token);
    EXPECT_FALSE(said.codes.empty()) << token.substr(0, 80);
    expect_silence(said, token);
  }
}

TEST_F(Tokens, SurvivesMutations) {
  std::mt19937 random(20260901);  // NOLINT: the same ones each time
  const auto below = [&](std::size_t end) {
    return static_cast<std::size_t>(random() % static_cast<std::uint32_t>(end));
  };
  constexpr std::string_view kBytes = "{}[]\":,.0-9eE+ \\untfalsé\n=_AZ";
  for (int i = 0; i < 3000; ++i) {
    // Half of them in the text of the token, half in the claims before they are encoded.
    const bool inside = i % 2 == 0;
    std::string text = inside ? std::string(kClaims) : token_of(kClaims);
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
      const std::size_t at = below(text.size());
      switch (below(4)) {
        case 0:
          text[at] = kBytes[below(kBytes.size())];
          break;
        case 1:
          text.erase(at, 1 + below(40));
          break;
        case 2:
          text.insert(at, text.substr(below(text.size()), below(60)));
          break;
        default:
          text.resize(std::max<std::size_t>(at, 1));
      }
    }
    const std::string token = inside ? token_of(text) : text;
    const Said said = check(token);
    // A mutation may leave a short rest of a part; what is as long as a secret must not show.
    for (const std::string& secret : {std::string(kSignature), std::string("M4rkOfThe"), token}) {
      if (secret.size() <= 8) continue;
      ASSERT_EQ(said.texts.find(secret), std::string::npos) << said.texts;
    }
  }
}

TEST(TokenDates, AreReadStrictly) {
  EXPECT_EQ(document::seconds_of_date("1970-01-02"), 86'400);
  EXPECT_EQ(document::seconds_of_date("2026-09-01"), kNow);
  for (const char* wrong : {"", "2026-9-01", "2026-02-29", "2026-13-01", "2026-00-10",
                            "2026-09-01T00:00", "today", "20260901", "+026-09-01"}) {
    EXPECT_EQ(document::seconds_of_date(wrong), std::nullopt) << wrong;
  }
}

}  // namespace
}  // namespace gpuctl
