// Runs a fuzz target on COUNT inputs of a fixed series: a quick test in every build.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const long count = std::strtol(argv[1], nullptr, 10);
  const long first = argc > 2 ? std::strtol(argv[2], nullptr, 10) : 0;
  constexpr std::size_t kMostBytes = 2000;
  for (long i = first; i < first + count; ++i) {
    std::mt19937 series(static_cast<std::uint32_t>(i));  // the standard fixes what it gives
    std::vector<std::uint8_t> input(series() % kMostBytes);
    for (std::uint8_t& byte : input) byte = static_cast<std::uint8_t>(series());
    // Before the run, so that a crash names its input; the line is replaced.
    std::fprintf(stderr, "input %ld\r", i);
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("\n%ld inputs\n", count);
  return count > 0 ? 0 : 1;
}
