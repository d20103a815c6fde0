// Runs the published CEL conformance suite. GPUCTL_CEL_CONFORMANCE names the folder that holds its
// .textproto files; any of the published ones will do.
//
// A case passes or does not. One that does not must be listed in conformance_skips.txt, and the
// reason given there must be one that the case's own text shows (class RuledOut). A listed case
// that passes, or that its file no longer has, is a failure; entries of files that are not in the
// folder are passed over. A case that is not listed, because its file is newer than the list, may
// fail when its text shows such a reason; it is counted apart.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <map>
#include <set>
#include <sstream>

#include "conformance_case.hpp"

namespace gpuctl {
namespace {

using test::ProtoField;
using test::ProtoMessage;

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::filesystem::path suite_folder() {
  const char* set = std::getenv("GPUCTL_CEL_CONFORMANCE");
  return set != nullptr
             ? std::filesystem::path(set)
             : std::filesystem::path(GPUCTL_SOURCE_DIR) / ".." / "shared" / "conformance" / "cel";
}

std::vector<std::filesystem::path> suite_files() {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(suite_folder(), error)) {
    if (entry.path().extension() == ".textproto") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// `file/section/test: reason` by line; # starts a comment.
std::map<std::string, std::string> read_skips() {
  std::map<std::string, std::string> skips;
  std::istringstream lines(
      read_file(std::filesystem::path(GPUCTL_SOURCE_DIR) / "tests/unit/cel/conformance_skips.txt"));
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::size_t colon = line.find(": ");
    EXPECT_NE(colon, std::string::npos) << "no reason: " << line;
    if (colon == std::string::npos) continue;
    const bool added = skips.emplace(line.substr(0, colon), line.substr(colon + 2)).second;
    EXPECT_TRUE(added) << "listed twice: " << line;
  }
  return skips;
}

/// Visits every case of a file under a name of its own, "file/section/test": the suite uses some
/// names twice in a section, the second is then "file/section/test#2".
template <typename Visit>
void for_each_case(const std::filesystem::path& path, const Visit& visit) {
  const std::string text = read_file(path);
  const ProtoMessage file = test::ProtoReader(text).read();
  std::map<std::string, int> seen;
  for (const ProtoField& section : file.fields) {
    if (section.name != "section" || section.message == nullptr) continue;
    for (const ProtoField& test : section.message->fields) {
      if (test.name != "test" || test.message == nullptr) continue;
      std::string name = path.stem().string() + "/" + section.message->text("name") + "/" +
                         test.message->text("name");
      const int count = ++seen[name];
      if (count > 1) name += "#" + std::to_string(count);
      visit(name, *test.message);
    }
  }
}

/// What became of the cases of one file.
struct Tally {
  std::size_t passed = 0;
  std::size_t failed = 0;
  std::map<std::string, std::size_t> skipped;     // by reason
  std::map<std::string, std::size_t> not_listed;  // by reason
};

void print(const std::map<std::string, Tally>& tallies) {
  std::map<std::string, Tally> rows = tallies;
  Tally& total = rows["~ all"];
  for (const auto& [file, tally] : tallies) {
    total.passed += tally.passed;
    total.failed += tally.failed;
    for (const auto& [reason, count] : tally.skipped) total.skipped[reason] += count;
    for (const auto& [reason, count] : tally.not_listed) total.not_listed[reason] += count;
  }
  std::cout << std::left << std::setw(18) << "file" << std::right << std::setw(8) << "passed"
            << std::setw(8) << "failed"
            << "  skipped\n";
  for (const auto& [file, tally] : rows) {
    std::cout << std::left << std::setw(18) << file << std::right << std::setw(8) << tally.passed
              << std::setw(8) << tally.failed << "  ";
    const char* separator = "";
    for (const auto& [reason, count] : tally.skipped) {
      std::cout << separator << count << " " << reason;
      separator = "; ";
    }
    for (const auto& [reason, count] : tally.not_listed) {
      std::cout << separator << count << " not listed, but " << reason;
      separator = "; ";
    }
    std::cout << "\n";
  }
}

TEST(Conformance, PublishedSuite) {
  if (suite_files().empty()) {
    GTEST_SKIP() << "NO CONFORMANCE SUITE in " << suite_folder()
                 << ": set GPUCTL_CEL_CONFORMANCE to the folder of .textproto files";
  }
  std::map<std::string, std::string> skips = read_skips();
  std::map<std::string, Tally> tallies;
  std::ostringstream record;  // what conformance_skips.txt would have to say
  for (const auto& path : suite_files()) {
    Tally& tally = tallies[path.stem().string()];
    const auto judge = [&](const std::string& name, const ProtoMessage& test) {
      const std::string fault = test::run_case(test);
      const std::string reason(test::RuledOut(test).reason());
      if (!fault.empty()) record << name << ": " << (reason.empty() ? fault : reason) << "\n";
      const auto skip = skips.find(name);
      if (skip == skips.end()) {
        if (fault.empty()) {
          ++tally.passed;
        } else if (!reason.empty()) {
          ++tally.not_listed[reason];
        } else {
          ++tally.failed;
          ADD_FAILURE() << name << ": " << test.text("expr") << ": " << fault;
        }
        return;
      }
      EXPECT_NE(fault, "") << name << " passes now: remove it from conformance_skips.txt";
      EXPECT_EQ(reason, skip->second) << name << ": its text shows another reason";
      ++tally.skipped[skip->second];
      skips.erase(skip);
    };
    try {
      for_each_case(path, judge);
    } catch (const std::exception& error) {
      ADD_FAILURE() << path << " is no suite: " << error.what();
    }
  }
  // Another folder may hold a part of a file, or another edition of it.
  const bool complete = std::getenv("GPUCTL_CEL_CONFORMANCE") == nullptr;
  for (const auto& [name, reason] : skips) {
    if (!complete || tallies.count(name.substr(0, name.find('/'))) == 0) continue;
    ADD_FAILURE() << "conformance_skips.txt names a case that is not there: " << name;
  }
  if (const char* to = std::getenv("GPUCTL_CEL_CONFORMANCE_RECORD")) {
    std::ofstream(to) << record.str();
  }
  print(tallies);
}

TEST(Conformance, PrintedExpressionsParseToTheSameTree) {
  if (suite_files().empty()) GTEST_SKIP() << "NO CONFORMANCE SUITE in " << suite_folder();
  for (const auto& path : suite_files()) {
    for_each_case(path, [&](const std::string& name, const ProtoMessage& test) {
      std::vector<cel::Problem> problems;
      const cel::ExprPtr first = cel::parse(test.text("expr"), problems);
      if (first == nullptr) return;
      const std::string printed = cel::print(*first);
      const cel::ExprPtr second = cel::parse(printed, problems);
      ASSERT_NE(second, nullptr) << name << ": " << printed << ": " << problems.front().message;
      EXPECT_EQ(cel::dump(*second), cel::dump(*first)) << name << ": " << printed;
      EXPECT_EQ(cel::print(*second), printed) << name;
    });
  }
}

/// One case in text format, and the reason why it does not apply.
TEST(Conformance, ReasonsComeFromTheTextOfTheCase) {
  const std::pair<const char*, std::string_view> cases[] = {
      {"expr: '1 + 2'", ""},
      {"expr: '\"1u\" + \"timestamp\"'", ""},
      {"expr: 'a // 1u'", ""},
      {"expr: 'x.timestamp + y.bytes'", ""},
      {"expr: 'r\"\\\\\" + \"b\"'", ""},
      {"expr: '1u'", test::kUnsigned},
      {"expr: '[0xFFU]'", test::kUnsigned},
      {"expr: 'type(1) == uint'", test::kUnsigned},
      {"expr: 'x' bindings { key: 'x' value { value { uint64_value: 1 } } }", test::kUnsigned},
      {"expr: 'size(b\"a\")'", test::kBytes},
      {"expr: 'x' value { bytes_value: 'a' }", test::kBytes},
      {"expr: 'timestamp(\"a\") > timestamp(\"b\")'", test::kTimestamps},
      {"expr: 'type(x)' value { type_value: 'google.protobuf.Timestamp' }", test::kTimestamps},
      {"expr: 'google.protobuf.Duration == type(x)'", ""},
      {"expr: 'x == 1u' value { object_value { [type.googleapis.com/a.B] { f: 1 } } }",
       test::kMessages},
      {"expr: 'google.protobuf.Int32Value{value: 1}'", test::kMessages},
      {"expr: 'T{a: 1}'", test::kMessages},
      {"expr: '{1: 2}'", ""},
      {"expr: 'x' container: 'cel.expr.conformance.proto3'", test::kMessages},
      {"expr: 'x' container: 'com.example'", ""},
      {"expr: 'cel.block([1], cel.index(0))'", test::kBlocks},
      {"expr: 'x' unknown { exprs: 1 }", test::kUnknowns},
      {"expr: 'has(a.b)' disable_macros: true", test::kNoMacros},
      {"expr: 'ip(\"::ffff:1.2.3.4\")'", test::kMapped},
      {"expr: 'cidr(\"::ffff:1.2.3.4/96\")'", ""},
      {"expr: 'ip(a) == \"::ffff:1\"'", ""},
      {"expr: 'x.getMilliseconds()'", test::kMilliseconds},
      {"expr: 'x' type_env { ident { type { message_type: 'google.protobuf.Duration' } } }", ""},
      {"expr: 'x' type_env { ident { type { message_type: 'a.B' } } }", test::kMessages},
  };
  for (const auto& [text, reason] : cases) {
    EXPECT_EQ(test::RuledOut(test::ProtoReader(text).read()).reason(), reason) << text;
  }
}

/// Cases that cannot be read, or that say what this engine does not know, are verdicts too.
TEST(Conformance, GivesEveryCaseAVerdict) {
  const std::pair<const char*, const char*> cases[] = {
      {"expr: '1'", "1 is not true"},
      {"expr: '1' value { int64_value: 1 }", ""},
      {"expr: '1' value { int64_value: 2 }", "1 is not 2"},
      {"expr: '1' value { double_value: 1 }", "1 is not 1.0"},
      {"expr: '1' value { int64_value: x }", "the case cannot be read: stoll"},
      {"expr: '1' value { }", "not expressible: empty value"},
      {"expr: '1' value { list_value: 3 }", "not expressible: value list_value"},
      {"expr: '1 / 0' eval_error { errors { message: 'x' } }", ""},
      {"expr: '1' eval_error { }", "no error but 1"},
      {"expr: '1 + true' eval_error { }", ""},
      {"expr: 'uint(1)' eval_error { }", "does not compile: `uint` is not supported"},
      {"expr: '1 +'", "does not compile: the expression ends too early, expected a value"},
      {"expr: '1' check_only: true typed_result { deduced_type { primitive: INT64 } }", ""},
      {"expr: '1' typed_result { deduced_type { primitive: STRING } }", "type int is not string"},
      {"expr: '1' typed_result { deduced_type { primitive: UINT64 } }",
       "not expressible: type UINT64"},
      {"expr: 'f(1)' type_env { name: 'f' function { overloads { params { primitive: INT64 } "
       "result_type { primitive: BOOL } } } } eval_error { }",
       ""},
      {"expr: 'x' type_env { name: 'x' ident { type { error { } } } }",
       "not expressible: type error"},
      {"expr: 'x' bindings { key: 'x' value { unknown { } } }",
       "not expressible: a binding without value"},
      {"expr: 'true' unknown { }", "not expressible: unknown values"},
      {"", "does not compile: the expression ends too early, expected a value"},
  };
  for (const auto& [text, verdict] : cases) {
    EXPECT_EQ(test::run_case(test::ProtoReader(text).read()), verdict) << text;
  }
  for (const char* text : {"section {", "a: ", "a: 'x", "a: [", "a: [1", "}", "a: '\\q'", "[",
                           "a{[", "\xFF", "a: '\\x'"}) {
    EXPECT_THROW(test::ProtoReader(text).read(), std::runtime_error) << text;
  }
}

}  // namespace
}  // namespace gpuctl
