#include "install/cause.hpp"

#include "base/text.hpp"
#include "install/codes.hpp"

namespace gpuctl::install {

std::optional<Cause> find_cause(std::string_view text, const signature::Signatures& signatures,
                                const Redact& redact) {
  if (text.size() > kMostSearchedBytes) text.remove_prefix(text.size() - kMostSearchedBytes);
  std::optional<Cause> weak;
  for (const std::string_view line : base::split(text, '\n')) {
    if (const signature::Signature* known = signatures.match(line, false)) {
      return Cause{known, redact(line).value_or("")};
    }
    if (weak) continue;
    if (const signature::Signature* known = signatures.match(line, true)) {
      weak = Cause{known, redact(line).value_or("")};
    }
  }
  return weak;
}

std::optional<Cause> find_cause(const base::Ended& ended, const signature::Signatures& signatures,
                                const Redact& redact) {
  std::optional<Cause> of_errors = find_cause(ended.errors, signatures, redact);
  if (of_errors && !of_errors->signature->weak) return of_errors;
  std::optional<Cause> of_output = find_cause(ended.output, signatures, redact);
  if (of_output && (!of_errors || !of_output->signature->weak)) return of_output;
  return of_errors;
}

void report_cause(const Cause& cause, diag::Sink& sink) {
  diag::Diagnostic& known = sink.error(kKnownCause, diag::kNoOrigin, cause.signature->cause);
  if (!cause.line.empty()) known.note("it said: " + cause.line);
  known.note("source: " + cause.signature->source).suggest(cause.signature->remedy);
}

}  // namespace gpuctl::install
