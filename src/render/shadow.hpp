// Fields of a blueprint that have no effect, because overrides replace all that comes of them.
#pragma once

#include <span>

#include "cel/provenance.hpp"
#include "render/documents.hpp"

namespace gpuctl::render {

/// Warns of each value in the blueprint that reaches documents only where an override put
/// something else (GPU0424). `documents` carry marks of `provenance`. What a value decides without
/// being written anywhere, such as whether a document is there, is not seen: a warning is about
/// the places that it names.
void report_shadowed(std::span<const Document> documents, const cel::Provenance& provenance,
                     yaml::Context context);

}  // namespace gpuctl::render
