// Runs the published CEL conformance suite. GPUCTL_CEL_CONFORMANCE names the folder that holds its
// .textproto files. What the engine leaves out on purpose is listed, with the reason, in
// conformance_skips.txt; an entry there that no longer fails is a failure of this test.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "cel/ast.hpp"
#include "cel/opaque.hpp"
#include "cel/program.hpp"
#include "text_proto.hpp"
#include "yaml/emit.hpp"

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

class Unsupported : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

cel::Type read_type(const ProtoMessage& type) {
  if (const ProtoField* primitive = type.find("primitive")) {
    const std::string& name = primitive->scalar;
    if (name == "BOOL") return cel::Type::simple(cel::TypeKind::boolean);
    if (name == "INT64") return cel::Type::simple(cel::TypeKind::integer);
    if (name == "DOUBLE") return cel::Type::simple(cel::TypeKind::real);
    if (name == "STRING") return cel::Type::simple(cel::TypeKind::string);
    throw Unsupported("type " + name);
  }
  if (const ProtoMessage* list = type.message("list_type")) {
    const ProtoMessage* element = list->message("elem_type");
    return cel::Type::list(element == nullptr ? cel::Type::dyn() : read_type(*element));
  }
  if (const ProtoMessage* map = type.message("map_type")) {
    return cel::Type::map(read_type(*map->message("key_type")),
                          read_type(*map->message("value_type")));
  }
  if (type.find("null") != nullptr) return cel::Type::simple(cel::TypeKind::null);
  if (type.find("dyn") != nullptr || type.fields.empty()) return cel::Type::dyn();
  throw Unsupported("type " + type.fields.front().name);
}

double read_double(const std::string& text) {
  if (text == "inf" || text == "Infinity") return HUGE_VAL;
  if (text == "-inf" || text == "-Infinity") return -HUGE_VAL;
  if (text == "nan" || text == "NaN") return std::nan("");
  return std::stod(text);
}

cel::Value read_value(const ProtoMessage& value, yaml::Arena& arena) {
  if (value.fields.empty()) throw Unsupported("empty value");
  const ProtoField& field = value.fields.front();
  const auto node = [&](const ProtoMessage& part) {
    const cel::Value read = read_value(part, arena);
    if (!read.is_node()) throw Unsupported("a type inside a list");
    return read.node();
  };
  if (field.name == "null_value") return yaml::Node::null();
  if (field.name == "bool_value") return yaml::Node::boolean(field.scalar == "true");
  if (field.name == "int64_value") return yaml::Node::integer(std::stoll(field.scalar, nullptr, 0));
  if (field.name == "double_value") return yaml::Node::real(read_double(field.scalar));
  if (field.name == "string_value") return arena.string(field.scalar);
  if (field.name == "type_value") {
    return cel::Value(std::make_shared<const cel::TypeValue>(field.scalar));
  }
  if (field.name == "list_value") {
    std::vector<yaml::Node> items;
    for (const ProtoField& item : field.message->fields) items.push_back(node(*item.message));
    return arena.list(items);
  }
  if (field.name == "map_value") {
    std::vector<yaml::Entry> entries;
    for (const ProtoField& entry : field.message->fields) {
      entries.push_back(
          {node(*entry.message->message("key")), node(*entry.message->message("value"))});
    }
    return arena.map(entries);
  }
  throw Unsupported("value " + field.name);
}

/// Same kind and value; NaN equals NaN, maps in any order.
bool same(const yaml::Node& a, const yaml::Node& b) {
  if (a.kind() != b.kind()) return false;
  if (a.is_real() && std::isnan(a.as_real())) return std::isnan(b.as_real());
  if (a.is_list()) {
    return std::equal(a.items().begin(), a.items().end(), b.items().begin(), b.items().end(), same);
  }
  if (a.is_map()) {
    return a.size() == b.size() &&
           std::all_of(a.entries().begin(), a.entries().end(), [&](const yaml::Entry& entry) {
             const yaml::Node* other = b.find(entry.key);
             return other != nullptr && same(entry.value, *other);
           });
  }
  return yaml::equal(a, b);
}

bool same(const cel::Value& a, const cel::Value& b) {
  return a.is_node() && b.is_node() ? same(a.node(), b.node()) : cel::equal(a, b);
}

std::string show(const cel::Value& value) {
  return value.is_node() ? yaml::emit_json(value.node()) : cel::type_name_of(value);
}

/// Runs one test; empty when it passes, otherwise what went wrong.
std::string run(const ProtoMessage& test) {
  yaml::Arena arena;
  cel::Environment environment;
  std::vector<cel::Value> values;
  try {
    std::map<std::string, cel::Value> bound;
    for (const ProtoField& field : test.fields) {
      if (field.name == "bindings") {
        const ProtoMessage* value = field.message->message("value");
        if (value->message("value") == nullptr) throw Unsupported("binding without value");
        bound[field.message->text("key")] = read_value(*value->message("value"), arena);
      }
    }
    for (const ProtoField& field : test.fields) {
      if (field.name != "type_env") continue;
      const ProtoMessage* ident = field.message->message("ident");
      if (ident == nullptr) throw Unsupported("a function declaration");
      const std::string name = field.message->text("name");
      environment.variables.push_back({name, read_type(*ident->message("type"))});
      if (bound.count(name) == 0) throw Unsupported("a variable without value");
      values.push_back(bound[name]);
      bound.erase(name);
    }
    for (const auto& [name, value] : bound) {
      environment.variables.push_back({name, cel::Type::dyn()});
      values.push_back(value);
    }
    if (test.find("disable_macros") != nullptr) throw Unsupported("disable_macros");
    if (test.text("check_only") == "true") throw Unsupported("check_only");

    std::vector<cel::Problem> problems;
    const std::string expr = test.text("expr");
    const auto program = test.text("disable_check") == "true"
                             ? cel::compile_unchecked(expr, environment, problems)
                             : cel::compile(expr, environment, problems);
    if (program == nullptr) return "does not compile: " + problems.front().message;
    const cel::Outcome outcome = cel::evaluate(*program, values, arena);
    if (test.find("eval_error") != nullptr || test.find("any_eval_errors") != nullptr) {
      return outcome.ok() ? "no error but " + show(outcome.value) : std::string();
    }
    if (test.find("unknown") != nullptr) throw Unsupported("unknown values");
    cel::Value expected = yaml::Node::boolean(true);
    if (const ProtoMessage* value = test.message("value")) expected = read_value(*value, arena);
    if (const ProtoMessage* typed = test.message("typed_result")) {
      if (typed->message("result") != nullptr) {
        expected = read_value(*typed->message("result"), arena);
      }
    }
    if (!outcome.ok()) return "error: " + outcome.error->message;
    if (!same(outcome.value, expected)) return show(outcome.value) + " is not " + show(expected);
    return {};
  } catch (const Unsupported& reason) {
    return std::string("not in this engine: ") + reason.what();
  }
}

template <typename Visit>
void for_each_test(const Visit& visit) {
  for (const auto& path : suite_files()) {
    const std::string text = read_file(path);
    const ProtoMessage file = test::ProtoReader(text).read();
    for (const ProtoField& section : file.fields) {
      if (section.name != "section") continue;
      for (const ProtoField& test : section.message->fields) {
        if (test.name != "test") continue;
        visit(path.stem().string() + "/" + section.message->text("name") + "/" +
                  test.message->text("name"),
              *test.message);
      }
    }
  }
}

TEST(Conformance, PublishedSuite) {
  if (suite_files().empty()) {
    GTEST_SKIP() << "NO CONFORMANCE SUITE in " << suite_folder()
                 << ": set GPUCTL_CEL_CONFORMANCE to the folder of .textproto files";
  }
  std::map<std::string, std::string> skips = read_skips();
  std::size_t passed = 0;
  std::size_t skipped = 0;
  for_each_test([&](const std::string& name, const ProtoMessage& test) {
    const std::string fault = run(test);
    const auto skip = skips.find(name);
    if (skip != skips.end()) {
      EXPECT_NE(fault, "") << name << " passes now: remove it from conformance_skips.txt";
      skips.erase(skip);
      ++skipped;
      return;
    }
    EXPECT_EQ(fault, "") << name << ": " << test.text("expr");
    if (fault.empty()) ++passed;
  });
  for (const auto& [name, reason] : skips) {
    ADD_FAILURE() << "conformance_skips.txt names a test that is not there: " << name;
  }
  std::cout << "conformance: " << passed << " passed, " << skipped << " skipped\n";
  EXPECT_GT(passed, 0U);
}

TEST(Conformance, PrintedExpressionsParseToTheSameTree) {
  if (suite_files().empty()) GTEST_SKIP() << "NO CONFORMANCE SUITE in " << suite_folder();
  std::size_t count = 0;
  for_each_test([&](const std::string& name, const ProtoMessage& test) {
    std::vector<cel::Problem> problems;
    const cel::ExprPtr first = cel::parse(test.text("expr"), problems);
    if (first == nullptr) return;
    const std::string printed = cel::print(*first);
    const cel::ExprPtr second = cel::parse(printed, problems);
    ASSERT_NE(second, nullptr) << name << ": " << printed << ": " << problems.front().message;
    EXPECT_EQ(cel::dump(*second), cel::dump(*first)) << name << ": " << printed;
    EXPECT_EQ(cel::print(*second), printed) << name;
    ++count;
  });
  EXPECT_GT(count, 300U);
}

}  // namespace
}  // namespace gpuctl
