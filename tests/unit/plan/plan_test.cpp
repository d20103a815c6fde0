#include "plan/plan.hpp"

#include <gtest/gtest.h>

#include "base/digest.hpp"
#include "plan/codes.hpp"
#include "yaml/emit.hpp"
#include "yaml/read.hpp"

namespace gpuctl::plan {
namespace {

using Files = std::map<std::string, std::string>;

struct Compared {
  std::string changes;  // "+a ~b -c"
  std::string codes;
};

Compared run(const Files& wanted, const Files& locked, const Files& there,
             const Options& options = {}, const std::vector<render::Withheld>& withheld = {},
             bool with_lock = true) {
  ClusterFiles files{"clusters/prod/a", wanted};
  Lock lock;
  for (const auto& [path, content] : locked) {
    lock.files[path] = {base::sha256_hex(content), "template-of-" + path};
  }
  Present present;
  present.read = [&](const std::string& path) -> std::optional<std::string> {
    const auto found = there.find(path);
    return found == there.end() ? std::nullopt : std::optional(found->second);
  };
  present.same = [&](const std::string& path, const std::string& content) {
    return present.read(path) == content;
  };
  diag::Sink sink;
  Compared out;
  for (const Change& change :
       compare(files, with_lock ? &lock : nullptr, present, withheld, options, sink)) {
    const char* mark = change.kind == Change::Kind::create   ? "+"
                       : change.kind == Change::Kind::update ? "~"
                                                             : "-";
    out.changes += (out.changes.empty() ? "" : " ") + (mark + change.path);
  }
  for (const diag::Diagnostic& diagnostic : sink.all()) out.codes += diagnostic.code;
  return out;
}

TEST(Compare, FindsWhatChanges) {
  EXPECT_EQ(run({{"a", "1"}, {"b", "2"}}, {}, {}, {}, {}, false).changes, "+a +b");
  EXPECT_EQ(run({{"a", "1"}}, {{"a", "1"}}, {{"a", "1"}}).changes, "");
  EXPECT_EQ(run({{"a", "2"}}, {{"a", "1"}}, {{"a", "1"}}).changes, "~a");
  EXPECT_EQ(run({}, {{"a", "1"}}, {{"a", "1"}}).changes, "-a");
  EXPECT_EQ(run({}, {{"a", "1"}}, {}).changes, "");
  EXPECT_EQ(run({{"a", "1"}}, {{"a", "1"}}, {}).changes, "+a");
}

TEST(Compare, ProtectsWhatIsNotOurs) {
  const Compared edited = run({{"a", "2"}}, {{"a", "1"}}, {{"a", "mine"}});
  EXPECT_EQ(edited.codes, "GPU0612");
  EXPECT_EQ(edited.changes, "");
  EXPECT_EQ(run({}, {{"a", "1"}}, {{"a", "mine"}}).codes, "GPU0612");
  EXPECT_EQ(run({{"a", "2"}}, {}, {{"a", "mine"}}).codes, "GPU0613");
  // The same bytes are no conflict, whoever wrote them.
  EXPECT_EQ(run({{"a", "2"}}, {}, {{"a", "2"}}).codes, "");
  EXPECT_EQ(run({{"a", "2"}}, {{"a", "1"}}, {{"a", "mine"}}, {true}).changes, "~a");
  EXPECT_EQ(run({{"a", "2"}}, {}, {{"a", "mine"}}, {true}).changes, "~a");
  // Files that nobody listed stay.
  EXPECT_EQ(run({}, {}, {{"notes.md", "x"}}).changes, "");
}

TEST(Compare, StopsWhenAManagedFileIsWithheld) {
  const std::vector<render::Withheld> withheld = {{"template-of-a", "infraID", "ask"}};
  const Compared stopped = run({}, {{"a", "1"}}, {{"a", "1"}}, {}, withheld);
  EXPECT_EQ(stopped.codes, "GPU0614");
  EXPECT_EQ(stopped.changes, "");
}

TEST(Compare, RewritesTheLockFreely) {
  EXPECT_EQ(run({{"gpuctl.lock", "new"}}, {}, {{"gpuctl.lock", "old"}}).changes, "~gpuctl.lock");
}

TEST(Summary, Counts) {
  EXPECT_EQ(summary({}), "no change");
  EXPECT_EQ(
      summary(
          {{Change::Kind::create, "a"}, {Change::Kind::create, "b"}, {Change::Kind::remove, "c"}}),
      "2 created, 1 removed");
}

TEST(LockFile, ReadsBackWhatItWrites) {
  Lock lock;
  lock.tool = "0.1.0";
  lock.catalog = "c";
  lock.choices.push_back({"pools[a].zones", yaml::Node::integer(3), "because: yes", false});
  lock.files["layers/x.yaml"] = {std::string(64, 'a'), "templates/x.yaml"};
  const std::string text = write_lock(lock, "one");
  diag::Sources sources;
  diag::Sink sink;
  yaml::Arena arena;
  const auto back =
      read_lock(sources.add_file("gpuctl.lock", text), "one", "1.0.0", {sources, arena, sink});
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(write_lock(*back, "one"), text);
  EXPECT_TRUE(back->choices.front().kept);
  EXPECT_EQ(kept_choices(*back, arena).get("pools[a].zones").as_integer(), 3);
  EXPECT_EQ(back->files.at("layers/x.yaml").made_by, "templates/x.yaml");
  EXPECT_FALSE(
      read_lock(sources.add_file("l", "kind: Lock\n"), "a", "1.0.0", {sources, arena, sink})
          .has_value());
  EXPECT_EQ(sink.all().back().code, "GPU0611");
}

TEST(LockFile, IsOfThisClusterAndNoNewerTool) {
  diag::Sources sources;
  yaml::Arena arena;
  const auto code = [&](const std::string& lines) {
    diag::Sink sink;
    const std::string text = "apiVersion: gpuctl.dev/v1alpha1\nkind: Lock\nfiles: {}\n" + lines;
    read_lock(sources.add_file("l", text), "one", "1.2.3", {sources, arena, sink});
    return sink.empty() ? std::string() : sink.all().front().code;
  };
  for (const char* good : {"", "metadata: {name: one}\n", "tool: 1.2.3\n", "tool: 0.99.0\n"}) {
    EXPECT_EQ(code(good), "") << good;
  }
  EXPECT_EQ(code("metadata: {name: two}\n"), kLockOfAnother);
  EXPECT_EQ(code("metadata: {name: [one]}\n"), kLockOfAnother);
  for (const char* newer : {"tool: 1.2.4\n", "tool: 1.10.0\n", "tool: 9.9.9\n"}) {
    EXPECT_EQ(code(newer), kNewerLock) << newer;
  }
  for (const char* none : {"tool: new\n", "tool: 1.2\n", "tool: [1]\n", "tool: 1.2.3.4\n"}) {
    EXPECT_EQ(code(none), kFaultyLock) << none;
  }
}

TEST(LockFile, RefusesWhatWouldTouchFilesOfOthers) {
  const std::string head = "apiVersion: gpuctl.dev/v1alpha1\nkind: Lock\nfiles:\n";
  const std::string good = "{sha256: \"" + std::string(64, 'a') + "\"}\n";
  diag::Sources sources;
  yaml::Arena arena;
  const auto position = [&](const std::string& rows) -> std::uint32_t {
    diag::Sink sink;
    const auto lock =
        read_lock(sources.add_file("l", head + rows), "a", "1.0.0", {sources, arena, sink});
    EXPECT_NE(lock.has_value(), sink.has_errors()) << rows;
    if (lock) return 0;
    EXPECT_EQ(sink.all().front().code, "GPU0611") << rows;
    const diag::Span* span = sources.span(sink.all().front().primary.at);
    return span == nullptr ? 0 : sources.position(span->file, span->begin).line;
  };
  EXPECT_EQ(position("  a/b.yaml: " + good), 0U);
  for (const char* path : {"../x", "/etc/passwd", "a/../../x", ".git/config", "a//b", "\"\""}) {
    EXPECT_EQ(position("  a: " + good + "  " + path + ": " + good), 5U) << path;
  }
  for (const char* row : {"abc", "{sha256: abc}", "{}", "[]", "null", "{sha256: [a]}"}) {
    EXPECT_EQ(position(std::string("  a: ") + row + "\n"), 4U) << row;
  }
}

}  // namespace
}  // namespace gpuctl::plan
