// Checks rendered documents against published CRDs.
#pragma once

#include "render/documents.hpp"
#include "schema/crds.hpp"

namespace gpuctl::render {

/// Checks every object that has a published CRD: schema with unknown fields refused, CEL rules, and
/// that API-server defaulting changes nothing on the paths we wrote. An object of a custom group
/// without a CRD is a note GPU0221. `secrets_left_out`: the places
/// of `$secret` are exempt.
void verify(const std::vector<Document>& documents, schema::Crds& crds, bool secrets_left_out,
            diag::Sources& sources, yaml::Arena& arena, diag::Sink& sink);

}  // namespace gpuctl::render
