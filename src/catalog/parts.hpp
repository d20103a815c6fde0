// What a platform lacks as a whole: tables, or parts of its schemas, that its knowledge asks for.
#pragma once

#include "catalog/formats.hpp"
#include "catalog/platform.hpp"

namespace gpuctl::catalog {

/// Reports parts that are not there at all, one finding (GPU0402) for each kind of part instead of
/// one for each expression that asks for it. A name that is like one that exists, or is asked for
/// once or twice, is left to the compiler of expressions, which knows its place.
void check_parts(Library& library, const Formats& formats, const Platform& platform,
                 diag::Sink& sink);

}  // namespace gpuctl::catalog
