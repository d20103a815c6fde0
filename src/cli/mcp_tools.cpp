#include "cli/mcp_tools.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "cli/code_page.hpp"
#include "cli/codes.hpp"
#include "cli/page.hpp"
#include "cli/program.hpp"
#include "fields/json_schema.hpp"
#include "pipeline/version.hpp"
#include "yaml/json.hpp"

namespace gpuctl::cli {

namespace {

using yaml::Arena;
using yaml::MapBuilder;
using yaml::Node;

enum class Form { as_option, text, count };

// An argument of a tool: an option of the command, or what stands for one of its words.
struct Argument {
  std::string name;
  std::string option;      // "--facts"; of words that stand alone the name that help gives them
  std::string about = {};  // empty: what help says of the option
  Form form = Form::as_option;
};

// A command that a tool calls. The rest of the tool comes from the command's own help.
struct Called {
  std::string name;
  std::string title;
  std::string description;
  std::vector<std::string> path;   // of the command
  std::string chooses;             // argument that names the command below it; empty: none does
  std::vector<std::string> fixed;  // options that are always given
  std::vector<Argument> arguments;
};

const char* const kBlueprintsAbout =
    "Paths of blueprint and fleet files, or of directories with them";

std::vector<Argument> arguments_of_blueprints() {
  return {{"blueprints", "BLUEPRINT", kBlueprintsAbout},
          {"facts", "--facts", "Path of the facts of the cluster (default: those beside it)"},
          {"crds", "--crds", "Directories of published CRDs to check the documents against"},
          {"clusters", "--cluster", "Of a fleet only these clusters: NAME or STAGE/NAME, or globs"},
          {"stages", "--stage", "Of a fleet only clusters of these stages"},
          {"waves", "--wave", "Of the stages of a fleet only clusters of these waves"},
          {"strict", "--strict"},
          {"date", "--date"}};
}

template <typename T>
std::vector<T> with(std::vector<T> some, std::vector<T> more) {
  std::move(more.begin(), more.end(), std::back_inserter(some));
  return some;
}

// Tools that look at files of the caller.
std::vector<Called> tools_on_files() {
  const std::vector<Argument> inputs = arguments_of_blueprints();
  return {
      {"validate",
       "Check blueprints",
       "Checks blueprints of GPU clusters, fleets, or manifests from elsewhere, offline and "
       "completely: schema, derived values, rules, rendering. Each finding has a code, a place and "
       "a fix. Call it after every change of a blueprint.",
       {"validate"},
       "",
       {},
       inputs},
      {"render",
       "Render manifests",
       "Renders blueprints and returns all manifests as text; nothing is written. Secrets are not "
       "read: placeholders stand where they would be encrypted.",
       {"render"},
       "",
       {"--stdout"},
       inputs},
      {"plan",
       "Plan a change",
       "Compares what blueprints render with a local Git repository, and tells what each change "
       "does to the running cluster, worst first. Commits nothing and contacts no cluster.",
       {"plan"},
       "",
       {"--all-notes"},
       with<Argument>(inputs,
                      {{"repo", "--repo", "Path of the Git repository on this machine"},
                       {"branch", "--branch", "Branch to compare with (default: what HEAD names)"},
                       {"maxEffect", "--max-effect"},
                       {"allow", "--allow"},
                       {"cost", "--cost"},
                       {"costs", "--costs"},
                       {"hours", "--hours"}})},
      {"cost",
       "Estimate costs and power",
       "Says what clusters cost a month at their smallest and largest scale, and what power their "
       "GPUs draw, by list prices of a known day and the user's own figures. What no list has is "
       "unknown, never zero.",
       {"cost"},
       "",
       {},
       with<Argument>(inputs,
                      {{"costs", "--costs"}, {"hours", "--hours"}, {"compare", "--compare"}})},
      {"explain_origin",
       "Explain where a value comes from",
       "Traces a value of a rendered document back to the blueprint, a default, a table, or facts.",
       {"explain"},
       "",
       {"--origin"},
       {{"object", "CODE|FIELD", "KIND/NAME, or the path of a file in the output", Form::text},
        {"path", "CODE|FIELD", "Place of the value, such as spec.replicas", Form::text},
        {"blueprint", "CODE|FIELD", "Path of the blueprint", Form::text},
        {"facts", "--facts"}}},
  };
}

// Tools that look things up.
std::vector<Called> tools_on_knowledge() {
  return {
      {"explain",
       "Explain a code or field",
       "Explains the code of a finding (GPU0201), with its cause and fix, or a field of "
       "blueprints (spec.gpuPools.scaling): type, default, limits, and the rules about it.",
       {"explain"},
       "",
       {},
       {{"about", "CODE|FIELD", "Code of a finding, or path of a field", Form::text},
        {"recursive", "--recursive"},
        {"platform", "--platform"}}},
      {"catalog",
       "Look up GPUs, machines, releases",
       "Lists what gpuctl knows: GPU models, machine types with GPUs, MIG profiles, vGPU types, "
       "releases and their end of support, platforms, codes of findings.",
       {"catalog"},
       "table",
       {},
       {{"words", "FILTER", "Only rows that contain each of these words"},
        {"platform", "--platform", "Only what this platform offers; not for platforms and codes"},
        {"date", "--date", "For releases: support as of this day (YYYY-MM-DD)"}}},
      {"mig_check",
       "Check MIG layouts",
       "Tells whether MIG instances fit on a GPU together, where they are placed, and what is "
       "lost.",
       {"mig", "check"},
       "",
       {},
       {{"gpu", "--gpu"}, {"layouts", "--layout"}}},
      {"mig_plan",
       "Plan MIG layouts",
       "Finds the fewest GPUs, and their layouts, for a demand of MIG instances.",
       {"mig", "plan"},
       "",
       {},
       {{"gpus", "--gpu"},
        {"demand", "--demand"},
        {"perNode", "--per-node", "", Form::count},
        {"headroom", "--headroom", "", Form::count},
        {"objective", "--objective"}}},
  };
}

Node map_of(std::initializer_list<std::pair<std::string_view, Node>> fields, Arena& arena) {
  MapBuilder out;
  for (const auto& [key, value] : fields) out.set(arena, key, value);
  return out.build(arena);
}

Node schema_of_type(std::string_view type, Arena& arena) {
  return map_of({{"type", arena.string(type)}}, arena);
}

// What help knows of the options of a command, or of all commands below it.
std::vector<OptionEntry> entries_of(const Called& tool, const std::vector<Command>& all) {
  std::vector<const Command*> path;
  for (const std::string& word : tool.path) {
    path.push_back(find_command(path.empty() ? all : path.back()->below, word));
  }
  std::vector<OptionEntry> out;
  const auto add = [&](const std::vector<const Command*>& of) {
    const Page page = page_of(of, all);
    out.insert(out.end(), page.arguments.begin(), page.arguments.end());
    out.insert(out.end(), page.options.begin(), page.options.end());
  };
  if (tool.chooses.empty()) add(path);
  for (const Command& below : path.back()->below) {
    if (tool.chooses.empty()) break;
    path.push_back(&below);
    add(path);
    path.pop_back();
  }
  return out;
}

const OptionEntry* entry_of(const Argument& argument, const std::vector<OptionEntry>& entries) {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const OptionEntry& one) {
    return argument.option == (one.positional ? one.value : one.long_name);
  });
  return found == entries.end() ? nullptr : &*found;
}

bool is_list(const Argument& argument, const OptionEntry& entry) {
  return entry.many && argument.form == Form::as_option;
}

bool is_flag(const OptionEntry& entry) {
  return entry.value.empty() && !entry.positional;
}

// What a value may be, without what it means.
MapBuilder type_of(const Argument& argument, const OptionEntry& entry, Arena& arena) {
  MapBuilder one;
  const bool flag = is_flag(entry);
  one.set(arena, "type",
          arena.string(flag                           ? "boolean"
                       : argument.form == Form::count ? "integer"
                                                      : "string"));
  if (!entry.choices.empty()) one.set(arena, "enum", texts(entry.choices, arena));
  if (!is_list(argument, entry)) return one;
  MapBuilder list;
  list.set(arena, "type", arena.string("array"));
  list.set(arena, "items", one.build(arena));
  if (entry.required) list.set(arena, "minItems", Node::integer(1));
  return list;
}

// JSON Schema of the arguments of a tool.
Node input_schema(const Called& tool, const std::vector<Command>& all, Arena& arena) {
  const std::vector<OptionEntry> entries = entries_of(tool, all);
  MapBuilder properties;
  std::vector<std::string> required;
  if (!tool.chooses.empty()) {
    const Command* above = find_command(all, tool.path.front());
    properties.set(
        arena, tool.chooses,
        map_of({{"type", arena.string("string")}, {"enum", texts(names_of(above->below), arena)}},
               arena));
    required.push_back(tool.chooses);
  }
  for (const Argument& argument : tool.arguments) {
    const OptionEntry* entry = entry_of(argument, entries);
    if (entry == nullptr) continue;  // a test counts them
    MapBuilder property = type_of(argument, *entry, arena);
    property.set(arena, "description",
                 arena.string(argument.about.empty() ? entry->text : argument.about));
    properties.set(arena, argument.name, property.build(arena));
    if (entry->required) required.push_back(argument.name);
  }
  return map_of({{"type", arena.string("object")},
                 {"properties", properties.build(arena)},
                 {"required", texts(required, arena)},
                 {"additionalProperties", Node::boolean(false)}},
                arena);
}

// Of what all tools give. What a command adds is in docs/results.schema.json.
Node output_schema(Arena& arena) {
  const Node text = schema_of_type("string", arena);
  const Node list = schema_of_type("array", arena);
  const Node finding = map_of({{"type", arena.string("object")},
                               {"properties", map_of({{"code", text},
                                                      {"severity", text},
                                                      {"message", text},
                                                      {"path", text},
                                                      {"spans", list},
                                                      {"expected", text},
                                                      {"found", text},
                                                      {"notes", list},
                                                      {"help", list}},
                                                     arena)}},
                              arena);
  return map_of(
      {{"type", arena.string("object")},
       {"properties",
        map_of({{"kind", text},
                {"exitCode", schema_of_type("integer", arena)},
                {"diagnostics", schema_of_type("object", arena)},
                {"findings", map_of({{"type", arena.string("array")}, {"items", finding}}, arena)}},
               arena)},
       {"required", texts({"kind", "exitCode", "diagnostics", "findings"}, arena)}},
      arena);
}

// The words of a command line for the arguments of a call. What is wrong with them goes to `sink`.
class LineOf {
 public:
  LineOf(const Called& tool, const std::vector<OptionEntry>& entries, diag::Sink& sink)
      : tool_(tool), entries_(entries), sink_(sink), words_(tool.path) {}

  std::vector<std::string> words(const Node& arguments) {
    for (const yaml::Entry& given : arguments.entries()) check_name(given.key.as_string());
    if (!tool_.chooses.empty()) {
      add_text(tool_.chooses, arguments.get(tool_.chooses),
               [&](const std::string& word) { words_.push_back(word); });
    }
    words_.insert(words_.end(), tool_.fixed.begin(), tool_.fixed.end());
    for (const Argument& argument : tool_.arguments) {
      const OptionEntry* entry = entry_of(argument, entries_);
      const Node* value = arguments.find(argument.name);
      if (entry == nullptr) continue;
      if (value != nullptr) {
        add(argument, *entry, *value);
      } else if (entry->required) {
        fault("`" + argument.name + "` is missing");
      }
    }
    // After it nothing is an option, whatever it begins with.
    if (!alone_.empty()) words_.emplace_back("--");
    words_.insert(words_.end(), alone_.begin(), alone_.end());
    return std::move(words_);
  }

 private:
  diag::Diagnostic& fault(const std::string& what) {
    return sink_.error(kUsage, diag::kNoOrigin,
                       "wrong arguments for `" + tool_.name + "`: " + what);
  }

  void check_name(std::string_view name) {
    std::vector<std::string> known;
    if (!tool_.chooses.empty()) known.push_back(tool_.chooses);
    for (const Argument& argument : tool_.arguments) known.push_back(argument.name);
    if (std::find(known.begin(), known.end(), name) != known.end()) return;
    fault("there is no `" + shown(name) + "`")
        .expect("some of " + base::join(known, ", "))
        .did_you_mean(std::string(name), known);
  }

  void add(const Argument& argument, const OptionEntry& entry, const Node& value) {
    const auto use = [&](const std::string& word) {
      if (entry.positional) {
        alone_.push_back(word);
      } else {
        words_.push_back(argument.option + "=" + word);
      }
    };
    if (is_flag(entry)) {
      if (!value.is_boolean()) fault("`" + argument.name + "` is true or false");
      if (value.as_boolean()) words_.push_back(argument.option);
    } else if (argument.form == Form::count) {
      if (!value.is_integer()) fault("`" + argument.name + "` is a whole number");
      use(std::to_string(value.as_integer()));
    } else if (!is_list(argument, entry)) {
      add_text(argument.name, value, use);
    } else {
      if (!value.is_list() || (entry.required && value.items().empty())) {
        fault("`" + argument.name + "` is a list of texts");
      }
      for (const Node& item : value.items()) add_text(argument.name, item, use);
    }
  }

  // A NUL would end the name of a file early, and an empty word is taken for none.
  void add_text(const std::string& name, const Node& value, const auto& use) {
    const std::string_view text = value.as_string();
    if (text.empty() || text.find('\0') != std::string_view::npos) {
      fault("`" + name + "` has to be a text that is not empty");
      return;
    }
    use(std::string(text));
  }

  const Called& tool_;
  const std::vector<OptionEntry>& entries_;
  diag::Sink& sink_;
  std::vector<std::string> words_;
  std::vector<std::string> alone_;
};

// Options for one call: those of the server, and a result of its own.
GlobalOptions options_of_call(const GlobalOptions& server) {
  GlobalOptions out = server;
  out.format = "json";
  out.color = "never";
  out.confined = true;
  out.result = std::make_shared<ResultDocument>();
  out.result->request();
  out.result->keep_said();
  return out;
}

int refuse(const diag::Sink& sink, const GlobalOptions& global) {
  Report(global).show(sink, diag::Sources());
  return kUsageError;
}

// Runs a command as the command line does. Its result and what it said are in `global`.
int run_command(const std::vector<std::string>& words, GlobalOptions& global) {
  int exit_code = kOk;
  Program program(commands(), words, false, global, exit_code);
  if (const std::optional<Refusal> refusal = program.run(words)) {
    diag::Sink sink;
    sink.error(kUsage, diag::kNoOrigin, refusal->message);
    return refuse(sink, global);
  }
  return exit_code;
}

void append(std::string& out, std::string_view what, std::string_view text) {
  if (!text.empty()) out += "  " + std::string(what) + ": " + std::string(text) + "\n";
}

// A finding as a model reads it best: what, where, and what to do.
std::string finding_text(const Node& finding) {
  std::string out = std::string(finding.get("severity").as_string()) + "[" +
                    std::string(finding.get("code").as_string()) +
                    "]: " + std::string(finding.get("message").as_string()) + "\n";
  for (const Node& span : finding.get("spans").items()) {
    out += "  at " + std::string(span.get("file").as_string()) + ":" +
           std::to_string(span.get("line").as_integer()) + ":" +
           std::to_string(span.get("column").as_integer()) + " " +
           std::string(span.get("label").as_string()) + "\n";
  }
  append(out, "field", finding.get("path").as_string());
  append(out, "expected", finding.get("expected").as_string());
  append(out, "found", finding.get("found").as_string());
  for (const Node& note : finding.get("notes").items()) append(out, "note", note.as_string());
  for (const Node& help : finding.get("help").items()) append(out, "help", help.as_string());
  return out;
}

// What a command did, as a tool says it.
mcp::ToolResult result_of(int exit_code, GlobalOptions& global, Arena& arena) {
  mcp::ToolResult out;
  out.failed = exit_code != kOk;
  std::vector<Node> findings;
  for (const std::string_view line : base::split(global.result->said(), '\n')) {
    std::string why;
    const std::optional<Node> finding = yaml::read_json(line, arena, why);
    if (!finding) continue;  // the end of the last line
    findings.push_back(*finding);
    out.said += finding_text(*finding);
  }
  MapBuilder document(arena.clone(global.result->document(exit_code)));
  document.set(arena, "findings", arena.list(findings));
  out.structured = document.build(arena);
  return out;
}

mcp::ToolResult call(const Called& tool, const std::vector<OptionEntry>& entries,
                     const Node& arguments, const GlobalOptions& server, Arena& arena) {
  GlobalOptions global = options_of_call(server);
  diag::Sink sink;
  const std::vector<std::string> words = LineOf(tool, entries, sink).words(arguments);
  const int exit_code = sink.has_errors() ? refuse(sink, global) : run_command(words, global);
  return result_of(exit_code, global, arena);
}

constexpr std::string_view kSchemas = "gpuctl://schema/";
constexpr std::string_view kCodes = "gpuctl://codes/";

std::optional<mcp::Content> read(std::string_view address, const GlobalOptions& server) {
  if (address.starts_with(kCodes)) {
    const std::string_view page = code_page(address.substr(kCodes.size()));
    if (page.empty()) return std::nullopt;
    return mcp::Content{"text/markdown", std::string(page)};
  }
  if (!address.starts_with(kSchemas)) return std::nullopt;
  const std::string kind(address.substr(kSchemas.size()));
  if (kind != "blueprint" && kind != "facts" && kind != "fleet") return std::nullopt;
  GlobalOptions global = options_of_call(server);
  if (run_command({"schema", kind}, global) != kOk) return std::nullopt;
  return mcp::Content{"application/schema+json", fields::pretty(global.result->get("schema"))};
}

}  // namespace

mcp::Offer mcp_offer(const GlobalOptions& global, Arena& arena) {
  mcp::Offer out;
  out.name = "gpuctl";
  out.title = "gpuctl: blueprints of GPU clusters";
  out.version = pipeline::kVersion;
  out.instructions =
      "gpuctl renders the manifests of GPU clusters from blueprints (YAML files). Change "
      "blueprints, "
      "never rendered manifests. Call `validate` after each change. Use `explain` on the code of a "
      "finding or on a field instead of guessing, and take names of GPUs and machine types from "
      "`catalog`. Show the result of `plan` to a person before they apply it. Prefer absolute "
      "paths. No tool changes a file, a repository or a cluster.";
  const std::vector<Command> all = commands();
  const Node output = output_schema(arena);
  for (const Called& tool : with(tools_on_files(), tools_on_knowledge())) {
    mcp::Tool one;
    one.name = tool.name;
    one.title = tool.title;
    one.description = tool.description;
    one.input = input_schema(tool, all, arena);
    one.output = output;
    one.call = [entries = entries_of(tool, all), called = tool, &global](const Node& arguments,
                                                                         Arena& to) {
      return call(called, entries, arguments, global, to);
    };
    out.tools.push_back(std::move(one));
  }
  for (const auto& [kind, about] : std::initializer_list<std::pair<const char*, const char*>>{
           {"blueprint", "JSON Schema of blueprints, of all platforms"},
           {"facts", "JSON Schema of facts files"},
           {"fleet", "JSON Schema of fleets"}}) {
    out.resources.push_back({std::string(kSchemas) + kind, std::string(kind) + " schema", about,
                             "What `gpuctl schema` prints.", "application/schema+json"});
  }
  out.templates.push_back({std::string(kCodes) + "{code}", "code page", "Page of a code",
                           "Cause and fix of a finding, such as GPU0201.", "text/markdown"});
  out.read = [&global](std::string_view address) { return read(address, global); };
  return out;
}

}  // namespace gpuctl::cli
