// Goes along the chain: what is broken, why, and what merely waits for it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "diag/sources.hpp"
#include "diagnose/evidence.hpp"
#include "signature/signatures.hpp"
#include "yaml/context.hpp"

namespace gpuctl::diagnose {

/// A signature that fits what something says, and where it says so.
struct Cause {
  const signature::Signature* signature = nullptr;
  std::string text;       // the line, or the message
  std::string at;         // "file:line"; empty: in the message
  std::size_t count = 1;  // of lines that say so
};

struct Finding {
  std::string check;    // its name; "log": only a log tells
  std::string subject;  // "Machine space/name"
  std::string text;     // what is wrong with it
  std::string said;     // its own words
  std::vector<Cause> causes;
  std::string remedy;  // where there is no cause
  std::string source;
  std::string more;                               // a command
  std::string at;                                 // "file:line:column" or "file"
  std::optional<std::vector<std::string>> nodes;  // that it is about; absent: all
  std::string waits_for;  // name of a link that is broken before; empty: it is the root of it

  /// Name of the first cause, or of the check.
  const std::string& cause() const {
    return causes.empty() ? check : causes.front().signature->name;
  }
};

enum class State { ok, broken, waiting, unknown };

struct LinkResult {
  const Link* link = nullptr;
  State state = State::unknown;
  std::size_t looked = 0;  // objects and logs that were looked at
  std::string waits_for;   // name of a link
  std::vector<Finding> findings;
};

struct Diagnosis {
  std::vector<LinkResult> links;  // in the order of the chain

  bool healthy() const;
  /// The first that is broken and waits for nothing; nullptr when nothing is.
  const Finding* first() const;
  const LinkResult* broken() const;  // the link that it is of
};

/// Judges all links. `cluster` is the derived tree of a blueprint, or null. What cannot be read is
/// a warning.
Diagnosis judge(const Chain& chain, const signature::Signatures& signatures,
                const Evidence& evidence, const yaml::Node& cluster, yaml::Context context);

}  // namespace gpuctl::diagnose
