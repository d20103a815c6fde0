// Documents after patches, and documents of the user, are documents still.
#pragma once

#include <vector>

#include <span>

#include "render/documents.hpp"

namespace gpuctl::render {

/// Checks every document that an override has changed or that the user brought: it is a mapping
/// with apiVersion, kind, and a name and a namespace that the API server takes; an override has not
/// made another kind of it (GPU0430); it is not too large or deep, nor all of them together
/// (GPU0431). Names are DNS-1123 subdomains, except in the groups of the table `freeNames`.
/// Kinds are looked up again, because a patch may have changed the version.
void check_objects(std::span<Document> documents, const catalog::Platform& platform,
                   yaml::Arena& arena, const diag::Sources& sources, diag::Sink& sink);

}  // namespace gpuctl::render
