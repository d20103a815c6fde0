// Schema and document, separated by a line `---`: compiled, surveyed, filled with defaults,
// checked; as a schema of ours and as that of a CRD. Nothing may crash, and defaults are filled in
// once.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "diag/diagnostic.hpp"
#include "diag/print.hpp"
#include "schema/compiled.hpp"
#include "yaml/emit.hpp"
#include "yaml/read.hpp"

namespace {

using namespace gpuctl;

// Tight, so that an input takes milliseconds.
constexpr yaml::ReadLimits kLimits = {.bytes = 16 * 1024,
                                      .depth = 32,
                                      .nodes = 2'000,
                                      .scalar_bytes = 4 * 1024,
                                      .aliases = 0,
                                      .ambiguous_scalars = true};

void check(const schema::Schema& schema, const yaml::Node& document, const diag::Sources& sources,
           yaml::Arena& arena) {
  const yaml::Node filled = schema::apply_defaults(schema, document, arena);
  // As text: NaN is not equal to itself.
  if (yaml::emit(schema::apply_defaults(schema, filled, arena)) != yaml::emit(filled)) std::abort();
  diag::Sink sink;
  schema::RuleCounts counts;
  schema::ValidateOptions options;
  options.counts = &counts;
  schema::validate(schema, document, arena, sources, sink, options);
  std::string text;
  for (const diag::Diagnostic& finding : sink.sorted(sources)) {
    diag::print_text(finding, sources, false, text);
  }
  // What is reported as an error is an error again when it is read with the defaults in place.
  diag::Sink again;
  schema::validate(schema, filled, arena, sources, again);
  if (sink.has_errors() != again.has_errors()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = input.find("\n---\n");
  if (cut == std::string_view::npos) return 0;
  diag::Sources sources;
  yaml::Arena arena;
  diag::Sink sink;
  const diag::FileId of_schema =
      sources.add_file("schema.yaml", std::string(input.substr(0, cut + 1)));
  const diag::FileId of_document =
      sources.add_file("document.yaml", std::string(input.substr(cut + 5)));
  const auto definition = yaml::read(of_schema, sources, arena, sink, kLimits);
  const auto document = yaml::read(of_document, sources, arena, sink, kLimits);
  if (!definition || !document) return 0;
  const schema::SchemaPtr own = schema::compile(*definition, sources, sink);
  check(*own, *document, sources, arena);
  const schema::SchemaPtr published = schema::compile_published(*definition, sources, "Kind");
  schema::survey(*published);
  schema::cel_type(*published, "Kind");
  check(*published, *document, sources, arena);
  return 0;
}
