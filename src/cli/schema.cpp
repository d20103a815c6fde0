// `gpuctl schema`: what editors and validators of others check files of ours by.
#include <algorithm>
#include <iterator>
#include <memory>

#include "cli/command.hpp"
#include "fields/json_schema.hpp"

namespace gpuctl::cli {

namespace {

// Files of users whose form is a format, not a matter of platforms.
struct Formatted {
  std::string_view what;
  std::string_view format;
  const char* title;
};
constexpr Formatted kFormatted[] = {
    {"fleet", "providers/formats/fleet.yaml", "Fleet of gpuctl"},
    {"costs", "providers/formats/costs.yaml", "Costs of gpuctl"},
};

// The platform that is asked for, or all of them; none after shown errors.
std::vector<fields::Named> definitions_of(const std::string& chosen, bool facts,
                                          Knowledge& knowledge, Report& report) {
  diag::Sink sink;
  std::vector<fields::Named> out;
  const std::vector<std::string> names =
      chosen.empty() ? knowledge.names() : std::vector<std::string>{chosen};
  for (const std::string& name : names) {
    const pipeline::Compiled* compiled = knowledge.platform(name, diag::kNoOrigin, sink);
    if (compiled == nullptr) continue;
    const catalog::Platform& platform = *compiled->platform;
    out.push_back({name, schema::definition(facts ? *platform.facts : *platform.blueprint)});
  }
  report.show(sink, knowledge.library().sources());
  if (sink.has_errors()) out.clear();
  return out;
}

int run_schema(const std::string& what, const std::string& platform, const GlobalOptions& global) {
  Report report(global);
  Knowledge* knowledge = open_knowledge(global, report);
  if (knowledge == nullptr) return kFindings;
  yaml::Arena& arena = global.result->arena();
  yaml::Node schema;
  const auto* formatted = std::find_if(std::begin(kFormatted), std::end(kFormatted),
                                       [&](const Formatted& one) { return one.what == what; });
  if (formatted != std::end(kFormatted)) {
    const yaml::Node* format = knowledge->library().file(formatted->format);
    schema = fields::document_schema(format->get({"spec", "schema"}), formatted->title, arena);
  } else {
    const bool facts = what == "facts";
    const std::vector<fields::Named> definitions =
        definitions_of(platform, facts, *knowledge, report);
    if (definitions.empty()) return kFindings;
    schema = facts ? fields::facts_schema(definitions, arena)
                   : fields::blueprint_schema(definitions, arena);
  }
  global.result->set("schema", schema);
  return print(fields::pretty(schema), global) ? kOk : kFindings;
}

RunFunction set_up_schema(Options& command, const GlobalOptions& global) {
  auto what = std::make_shared<std::string>("blueprint");
  auto platform = std::make_shared<std::string>();
  command.add_option("KIND", *what, "blueprint (the default), facts, fleet or costs")
      .one_of({"blueprint", "facts", "fleet", "costs"});
  command.add_option("--platform", *platform, "Of this platform alone (default: of all)")
      .type_name("PLATFORM");
  return [=, &global] { return run_schema(*what, *platform, global); };
}

}  // namespace

Command schema_command() {
  return {"schema", "Print a JSON Schema of blueprints, facts, fleets or costs, for editors",
          "It is of draft-07, which editors take best, and has descriptions and defaults. What it "
          "refuses,\n`gpuctl validate` refuses as well; rules that it cannot express, only "
          "`validate` knows.\n\n"
          "An editor with the YAML language server takes it by a comment at the top of a file:\n"
          "  # yaml-language-server: $schema=gpuctl.schema.json\n\n"
          "Example:\n"
          "  gpuctl schema > gpuctl.schema.json\n"
          "  gpuctl schema fleet > fleet.schema.json\n",
          set_up_schema};
}

}  // namespace gpuctl::cli
