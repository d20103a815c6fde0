// A diagnostic on its own: its places are worked out and its secrets gone, so that it can be kept
// when the sources that it speaks of are freed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diag/diagnostic.hpp"
#include "diag/sources.hpp"

namespace gpuctl::diag {

/// Where a label points to. The end is exclusive; both are one-based.
struct Place {
  std::string file;
  Position begin;
  Position end;
  std::string text;  // of the label
};

struct Finding {
  Severity severity = Severity::error;
  std::string code;
  std::string message;
  std::string path;                    // in the document: `spec.gpuPools[0].replicas`; may be empty
  std::optional<Place> at;             // absent where the user has no such file
  std::vector<Place> others;           // further places
  std::vector<std::string> sentences;  // label, expected, found, notes and help, in this order
  std::string printed;                 // as print_text() prints it, without colour
};

/// The diagnostic as it may be shown: no text of it holds a secret that its sources know.
Diagnostic without_secrets(const Diagnostic& diagnostic, const Sources& sources);

/// Where a label points to, with its text cut to what may be echoed; nothing for unknown places.
std::optional<Place> place_of(const Label& label, const Sources& sources);

/// Takes a diagnostic out of its sources. Places in files that are built in are left out.
Finding detach(const Diagnostic& diagnostic, const Sources& sources);

}  // namespace gpuctl::diag
