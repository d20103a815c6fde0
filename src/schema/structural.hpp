// What makes a schema structural: rules that span several keywords of a node, or several nodes.
#pragma once

#include "schema/compiled.hpp"

namespace gpuctl::schema {

/// Adds to the faults of a node what the API server would refuse a CRD for
/// (apiextensions-apiserver, ValidateStructural and ValidateCustomResourceDefinitionOpenAPISchema),
/// as far as it can be seen at this node and in the restrictions (allOf, anyOf, oneOf, not) it
/// carries.
void check_structure(Schema& schema, bool root);

}  // namespace gpuctl::schema
