// References in knowledge: columns that name rows of other tables, layers of templates, codes with
// a page.
#pragma once

#include "catalog/formats.hpp"
#include "catalog/platform.hpp"

namespace gpuctl::catalog {

/// Checks every reference that the tables of a platform declare (`references` of a table's head),
/// the sources that rows name, references in templates and provider files (`x-gpuctl-references` of
/// formats), paths in the derived tree, and that each code of a rule has a page. What leads nowhere
/// is GPU0402 at its place. A table that the platform does not have, but another one, is not
/// missed.
void check_references(Library& library, const Formats& formats, const Platform& platform,
                      diag::Sink& sink);

}  // namespace gpuctl::catalog
