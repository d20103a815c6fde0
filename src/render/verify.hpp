// Checks rendered documents against published CRDs.
#pragma once

#include "base/clean_record.hpp"
#include "document/document.hpp"
#include "render/documents.hpp"
#include "schema/crds.hpp"
#include "yaml/context.hpp"

namespace gpuctl::render {

/// Checks every object that has a published CRD: schema with unknown fields refused, CEL rules, and
/// that API-server defaulting changes nothing on the paths we wrote. An object of a custom group
/// without a CRD is a note GPU0221. Where `kinds` says that the reader does not hold to the
/// published schema, its errors are warnings. `secrets_left_out`: the places of `$secret` are
/// exempt. When `counts` is not null, what became of the rules is added to it.
void verify(const std::vector<Document>& documents, const document::Kinds& kinds,
            schema::Crds& crds, bool secrets_left_out, yaml::Context context,
            schema::RuleCounts* counts = nullptr);

/// Checks every document whose reader is described (folders documents/ of providers) as if somebody
/// else had written it: what an override or a passed-on field smuggles in is refused here and not
/// by the reader. Of templates errors only, since rules on blueprints have warned before; of extra
/// manifests, which a person wrote, also warnings, and what does not fit the cluster. `release` and
/// `cluster` as in document::Context. Documents of templates that have a digest are looked up in
/// `clean`, and added to it when nothing is found; `clean` may be nullptr.
void verify_as_read(const std::vector<Document>& documents, const document::Kinds& kinds,
                    const std::string& release, const yaml::Node& cluster, bool secrets_left_out,
                    base::CleanRecord* clean, yaml::Context context);

}  // namespace gpuctl::render
