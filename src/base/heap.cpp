#include "base/heap.hpp"

#if defined(__GLIBC__) && !defined(GPUCTL_SANITIZE)
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace gpuctl::base {

void expect_heap(std::size_t bytes) {
  constexpr std::uintptr_t kPage = 4096;
  constexpr std::size_t kSmall = 100'000;  // below what gets a mapping of its own
  constexpr std::size_t kMostBlocks = 10;
  constexpr std::uintptr_t kLargePage = 2 * 1024 * 1024;
  // What the heap grows by begins right before a large page: pages that are written to before they
  // are asked for as large ones stay small, and so does all up to the next large one.
  constexpr std::uintptr_t kWritten = (kSmall / kPage + 4) * kPage;
  ::mallopt(M_TOP_PAD, static_cast<int>(bytes));
  const auto here = reinterpret_cast<std::uintptr_t>(::sbrk(0));
  ::sbrk(static_cast<std::intptr_t>((2 * kLargePage - kWritten - here % kLargePage) % kLargePage));
  const auto before = reinterpret_cast<std::uintptr_t>(::sbrk(0));
  // As much as is left and a little more, so that the heap grows now.
  std::vector<std::unique_ptr<char[]>> blocks;
  while (reinterpret_cast<std::uintptr_t>(::sbrk(0)) == before && blocks.size() < kMostBlocks) {
    blocks.push_back(std::make_unique_for_overwrite<char[]>(kSmall));
  }
  const auto after = reinterpret_cast<std::uintptr_t>(::sbrk(0));
  const std::uintptr_t begin = (before + kPage - 1) / kPage * kPage;
  if (after > begin) ::madvise(reinterpret_cast<void*>(begin), after - begin, MADV_HUGEPAGE);
}

}  // namespace gpuctl::base

#else

namespace gpuctl::base {

void expect_heap(std::size_t) {}

}  // namespace gpuctl::base

#endif
