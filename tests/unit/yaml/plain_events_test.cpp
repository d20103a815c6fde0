// What the quick reader takes, it takes as yaml-cpp does: event for event, on every YAML file of
// the repository and on thousands of texts near to them.
#include "yaml/plain_events.hpp"

#include <gtest/gtest.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

namespace gpuctl::yaml {
namespace {

// Writes events down, with the position of each.
class Log : public YAML::EventHandler {
 public:
  std::string text;

  void OnDocumentStart(const YAML::Mark& mark) override { add("document", mark); }
  void OnDocumentEnd() override { text += "end\n"; }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { add("null", mark, anchor); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add("alias", mark, anchor);
  }
  void OnAnchor(const YAML::Mark& mark, const std::string& name) override {
    add("anchor " + name, mark);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    add("scalar " + tag + " " + value, mark, anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    add("list " + tag + " " + std::to_string(style), mark, anchor);
  }
  void OnSequenceEnd() override { text += "end of list\n"; }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    add("map " + tag + " " + std::to_string(style), mark, anchor);
  }
  void OnMapEnd() override { text += "end of map\n"; }

 private:
  void add(const std::string& what, const YAML::Mark& mark, YAML::anchor_t anchor = 0) {
    text += what + " at " + std::to_string(mark.pos) + " &" + std::to_string(anchor) + "\n";
  }
};

std::string events_of_yaml_cpp(const std::string& text) {
  Log log;
  std::istringstream stream(text);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(log)) {
    }
  } catch (const YAML::Exception& exception) {
    log.text += exception.msg;
  }
  return log.text;
}

// True when the text is plain. Then the events must be the same; otherwise there must be none.
bool agrees(const std::string& text) {
  Log log;
  const bool plain = plain_events(text, log);
  EXPECT_EQ(log.text, plain ? events_of_yaml_cpp(text) : "") << text;
  return plain;
}

std::vector<std::string> repository_texts() {
  std::vector<std::string> out;
  const std::filesystem::path root = GPUCTL_SOURCE_DIR;
  for (const char* folder : {"blueprints", "providers", "templates", "tests/fuzz/seeds/yaml",
                             "tests/golden/errors", "tests/golden/apply"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      if (!entry.is_regular_file() || entry.file_size() > 100'000) continue;
      std::ifstream file(entry.path());
      std::stringstream stream;
      stream << file.rdbuf();
      out.push_back(stream.str());
    }
  }
  return out;
}

TEST(PlainEvents, TakesBlueprints) {
  for (const auto& entry : std::filesystem::directory_iterator(GPUCTL_SOURCE_DIR "/blueprints")) {
    if (entry.path().filename() != "aws-p4d-mig-mixed.yaml" &&
        !entry.path().filename().string().ends_with(".facts.yaml")) {
      continue;
    }
    std::ifstream file(entry.path());
    std::stringstream stream;
    stream << file.rdbuf();
    EXPECT_TRUE(agrees(stream.str())) << entry.path();
  }
}

TEST(PlainEvents, AgreeOnTheRepository) {
  std::size_t plain = 0;
  const std::vector<std::string> texts = repository_texts();
  for (const std::string& text : texts) plain += agrees(text) ? 1 : 0;
  EXPECT_GT(plain * 5, texts.size());
}

TEST(PlainEvents, AgreeOnWhatIsNearToPlainTexts) {
  std::mt19937 random(20251123);
  const auto below = [&](std::size_t size) {
    return std::uniform_int_distribution<std::size_t>(0, size - 1)(random);
  };
  const std::vector<std::string> pieces = {
      " ",        "  ",    "\n",     "\n  ",    ":",         ": ",   "- ",      "-",      "#",
      " #",       "{",     "}",      "[",       "]",         ",",    ", ",      "'",      "\"",
      "?",        "? ",    "!",      "&a",      "*a",        "|",    ">",       "%",      "@",
      "`",        "\\",    "\t",     "\r",      "~",         "a",    "1",       "null",   "a: ",
      "a:\n",     "- a\n", "---",    "\n---\n", "...",       "<<: ", "a: b: c", "{a: b}", "[a, b]",
      "\xC3\xA4", "\n- ",  "\n    ", "null: ",  "key: # x\n"};
  const std::vector<std::string> texts = repository_texts();
  std::size_t plain = 0;
  for (int i = 0; i < 60'000 && !testing::Test::HasFailure(); ++i) {
    const std::string& whole = texts[below(texts.size())];
    if (whole.empty()) continue;
    // A few lines from somewhere, with some changes.
    const std::size_t from = whole.rfind('\n', below(whole.size()));
    std::string text = whole.substr(from == std::string::npos ? 0 : from + 1, 20 + below(300));
    for (std::size_t changes = below(4); changes > 0 && !text.empty(); --changes) {
      const std::size_t at = below(text.size());
      const std::size_t size = below(3);
      text.replace(at, below(2) * size, pieces[below(pieces.size())]);
    }
    const std::size_t indent = text.find_first_not_of(' ');
    if (indent != std::string::npos && below(2) == 0) text.erase(0, indent);
    plain += agrees(text) ? 1 : 0;
  }
  EXPECT_GT(plain, 2'000);
}

TEST(PlainEvents, LeavesTheRestToYamlCpp) {
  for (const char* text : {"",
                           "# nothing\n",
                           "a",
                           "- a\n",
                           " a: 1\n",
                           "a: |\n  b\n",
                           "a: b\n  c\n",
                           "a: &x b\n",
                           "a: *x\n",
                           "a: !!str b\n",
                           "a:\n",
                           "a:\nb: 1\n",
                           "a: [b,\n  c]\n",
                           "a: {b}\n",
                           "a: [b: c]\n",
                           "a: \"\\n\"\n",
                           "a: 'it''s'\n",
                           "a: b: c\n",
                           "a : b\n",
                           "\"a\": b\n",
                           "? a\n",
                           "a: b\n---\n",
                           "--- {a: b}\n",
                           "%YAML 1.2\n---\na: b\n",
                           "a:\tb\n",
                           "a: b\r\n",
                           "a: b # c\r\n",
                           "null: 1\n",
                           "a: {b: }\n",
                           "a: [b, ]\n",
                           "a: [b]c\n",
                           "a: 'b' c\n",
                           "a:\n    b: 1\n  c: 2\n",
                           "- a: 1\n",
                           "a: -\n",
                           "a: - b\n",
                           "a: \xC3\xA4\n"}) {
    Log log;
    EXPECT_FALSE(plain_events(text, log)) << text;
    EXPECT_EQ(log.text, "") << text;
  }
}

}  // namespace
}  // namespace gpuctl::yaml
