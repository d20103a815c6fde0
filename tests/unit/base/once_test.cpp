#include "base/once.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>
#include <vector>

namespace gpuctl::base {
namespace {

TEST(Once, RunsOnceAndEverybodyWaits) {
  for (int round = 0; round < 200; ++round) {
    Once once;
    int made = 0;
    std::atomic<int> wrong = 0;
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        once.call([&] { ++made; });
        if (made != 1) ++wrong;
      });
    }
    threads.clear();
    EXPECT_EQ(made, 1);
    EXPECT_EQ(wrong, 0);
  }
}

TEST(Once, RunsAgainAfterAnException) {
  Once once;
  EXPECT_THROW(once.call([] { throw std::runtime_error("no"); }), std::runtime_error);
  bool made = false;
  once.call([&] { made = true; });
  EXPECT_TRUE(made);
  once.call([] { FAIL(); });
}

}  // namespace
}  // namespace gpuctl::base
