// From a value of a document back to what a person wrote: blueprint, default, catalogue row, fact.
#pragma once

#include <string>
#include <vector>

#include "cel/provenance.hpp"
#include "diag/diagnostic.hpp"

namespace gpuctl::render {

/// One step on the way back from a value to what somebody wrote.
struct Link {
  enum class Kind : std::uint8_t {
    place,       // a node of an input or of the derived tree; `reads` says where it comes from
    expression,  // an expression of a template or a derivation
    blueprint,   // written in the blueprint (or a file that belongs to it)
    fact,
    kept,           // a choice that the lock keeps
    default_value,  // filled in from the blueprint's schema
    catalogue,      // a cell of a catalogue table
    constant,       // written in a template or another file of the providers
    computed,       // nothing more is known
  };
  Kind kind = Kind::computed;
  std::string path;                   // place, and what stands behind it: `cluster.gpuPools[a].min`
  yaml::Node value;                   // of a place
  diag::Origin at = diag::kNoOrigin;  // in a file
  std::string because;                // expression of a derivation
  std::vector<Link> reads;
};

/// The way back from a node of a document that was rendered with this provenance; its origin is a
/// mark or a span of a file.
Link trace(const cel::Provenance& provenance, diag::Origin origin, const diag::Sources& sources);

/// The name of a kind of link as listings show it: "blueprint", "default", ...
std::string_view kind_name(Link::Kind kind);

/// Adds to a diagnostic what the value behind `mark` goes back to: the places in blueprint and
/// facts as further spans, defaults and catalogue rows too, reasons of derivations as notes.
void add_sources(const cel::Provenance& provenance, diag::Origin mark, const diag::Sources& sources,
                 diag::Diagnostic& diagnostic);

/// Replaces the marks in a diagnostic by the expressions and files they stand for, and adds the
/// sources of the value at its place.
void resolve(const cel::Provenance& provenance, const diag::Sources& sources,
             diag::Diagnostic& diagnostic);

}  // namespace gpuctl::render
