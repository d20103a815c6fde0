// Looks for signatures in logs: bounded in memory and time, whatever the bytes are.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "diag/diagnostic.hpp"
#include "diagnose/evidence.hpp"
#include "signature/signatures.hpp"

namespace gpuctl::diagnose {

/// Of a line no more is looked at, in bytes.
inline constexpr std::size_t kMostLineBytes = std::size_t{16} << 10U;
/// Of a log no more is read, in bytes.
inline constexpr std::size_t kMostLogBytes = std::size_t{256} << 20U;

/// A signature that some lines of a log have.
struct Hit {
  const signature::Signature* signature = nullptr;
  std::size_t line = 0;  // the first of them, from 1
  std::size_t count = 0;
  std::string text;  // of the first, without what cannot be shown
};

/// Takes a log piece by piece, wherever it is cut.
class LogScan {
 public:
  explicit LogScan(const signature::Signatures& signatures) : signatures_(signatures) {}

  void feed(std::string_view bytes);
  /// The last line may have no end.
  void finish();

  /// In the order of their first lines, without what a later line says is over.
  const std::vector<Hit>& hits() const { return hits_; }
  std::size_t lines() const { return lines_; }

 private:
  void end_line();

  const signature::Signatures& signatures_;
  std::string line_;
  bool pending_ = false;
  std::size_t lines_ = 0;
  std::vector<Hit> hits_;
};

/// Reads a log to its end, or `most` bytes of it; one that is packed by gzip is unpacked. What
/// cannot be read is GPU0951, more than the limit GPU0952, what is no text GPU0953: all warnings.
LogScan scan(const Log& log, const signature::Signatures& signatures, diag::Sink& sink,
             std::size_t most = kMostLogBytes);

/// True for an archive, and for what has hardly any text in it.
bool is_binary(std::string_view beginning);

}  // namespace gpuctl::diagnose
