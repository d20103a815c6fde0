// What the memory allocator is told.
#pragma once

#include <cstddef>

namespace gpuctl::base {

/// Lets the heap grow at once by about `bytes`, in large pages where the system gives them on
/// request. A short run spends a good part of its time on getting memory page by page. Without
/// effect where the allocator is another one than glibc's.
void expect_heap(std::size_t bytes);

}  // namespace gpuctl::base
