// Prints diagnostics: for people in the style of rustc, for programs as one JSON object a line.
#pragma once

#include <functional>
#include <string>

#include "diag/diagnostic.hpp"
#include "diag/sources.hpp"

namespace gpuctl::diag {

/// The address of the page about a code; empty: there is none.
using PageAddress = std::function<std::string(const std::string& code)>;

/// Appends the diagnostic with the source lines it is about, carets under its place. Every line
/// ends with a line feed; no empty line follows. `colour` adds ANSI colours; `pages` makes the code
/// a link of the terminal (OSC 8). Texts from outside cannot steer the terminal: control characters
/// are replaced. Neither function shows what `sources` hide, conceal or mask.
void print_text(const Diagnostic& diagnostic, const Sources& sources, bool colour, std::string& out,
                const PageAddress& pages = {});

/// Appends one line of JSON: code, severity, message, spans (file, line, column, endLine,
/// endColumn, label, primary; one-based, the end exclusive), expected, found, notes, help, docs.
void print_json(const Diagnostic& diagnostic, const Sources& sources, std::string& out);

/// "error", "warning", "note".
std::string_view severity_name(Severity severity);

}  // namespace gpuctl::diag
