// Reading the keywords of one schema node (internal to this library).
#pragma once

#include "schema/compiled.hpp"

namespace gpuctl::schema {

/// Fills `schema` from its definition; what is wrong with it becomes `schema.faults`. Sub-schemas
/// become slots, one level deeper than `depth`.
void read_keywords(Schema& schema, int depth);

}  // namespace gpuctl::schema
