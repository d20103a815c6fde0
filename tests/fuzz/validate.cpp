// Any text as a blueprint, through everything `gpuctl validate` does with the built-in knowledge.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "cli/command.hpp"
#include "diag/print.hpp"
#include "pipeline/run.hpp"

namespace {

using namespace gpuctl;

// A file of our own, replaced for each input and removed at the end.
class InputFile {
 public:
  InputFile() {
    const int descriptor = ::mkstemp(path_.data());
    if (descriptor < 0) std::abort();
    ::close(descriptor);
  }
  ~InputFile() { std::remove(path_.c_str()); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  void write(const std::uint8_t* data, std::size_t size) const {
    std::ofstream file(path_, std::ios::binary);
    file.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
    if (!file.flush()) std::abort();
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_ = "/tmp/gpuctl-fuzz-XXXXXX";
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const InputFile input;
  static diag::Sink findings;
  static pipeline::Knowledge knowledge(cli::built_in_image(), "", "", findings);
  input.write(data, size);
  pipeline::Request request{.date = "2025-12-01"};
  const pipeline::Result result = pipeline::run(input.path(), request, knowledge);
  std::string shown;
  for (const diag::Diagnostic& diagnostic : result.sink.sorted(*result.sources)) {
    diag::print_text(diagnostic, *result.sources, true, shown);
    diag::print_json(diagnostic, *result.sources, shown);
  }
  // Refused without a word, or accepted without a file, are both wrong.
  if (result.sink.has_errors() == result.output.has_value()) std::abort();
  return 0;
}
