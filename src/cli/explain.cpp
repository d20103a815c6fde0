#include <algorithm>
#include <memory>

#include "base/text.hpp"
#include "cli/codes.hpp"
#include "cli/command.hpp"
#include "cli/explain_origin.hpp"

namespace gpuctl::cli {

namespace {

constexpr std::string_view kPrefix = "docs/codes/";
constexpr std::string_view kEnding = ".md";
constexpr std::size_t kOriginWords = 3;  // OBJECT PATH BLUEPRINT

// What is known of a rule of --providers, which has no page; empty when there is no such rule.
std::string rule_without_page(const std::string& code, catalog::Library& library) {
  for (const std::string& path : library.list("providers/")) {
    const bool rules = path.ends_with("/rules.yaml") || path.find("/rules/") != std::string::npos;
    if (!rules || library.is_built_in(path)) continue;
    for (const yaml::Node& rule : library.file(path)->get({"spec", "rules"}).items()) {
      const yaml::Node name = rule.get("code");
      if (name.as_string() != code) continue;
      std::string text =
          code + " is a rule of " + library.sources().place(name.origin()) + " and has no page.\n";
      for (const char* key : {"severity", "message", "source"}) {
        const std::string_view value = rule.get(key).as_string();
        if (!value.empty()) text += std::string(key) + ": " + std::string(value) + "\n";
      }
      return text;
    }
  }
  return {};
}

int answer(const std::string& code, std::string_view page, const GlobalOptions& global) {
  global.result->set("code", code);
  global.result->set("page", page);
  return print(page, global) ? kOk : kFindings;
}

int run_explain(const std::string& code, const GlobalOptions& global) {
  std::vector<std::string> codes;
  std::string wanted = code;
  std::transform(wanted.begin(), wanted.end(), wanted.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  for (const diag::FileView& file : built_in_image().files()) {
    if (!file.name.starts_with(kPrefix)) continue;
    const std::string_view name =
        file.name.substr(kPrefix.size(), file.name.size() - kPrefix.size() - kEnding.size());
    if (name == wanted) return answer(wanted, file.text, global);
    codes.emplace_back(name);
  }
  Report report(global);
  Knowledge* knowledge = open_knowledge(global, report);
  if (knowledge == nullptr) return kFindings;
  const std::string rule = rule_without_page(wanted, knowledge->library());
  if (!rule.empty()) return answer(wanted, rule, global);
  diag::Sink sink;
  sink.error(kUnknownCode, diag::kNoOrigin, "unknown code `" + code + "`")
      .expect("a code such as `GPU0201`, as diagnostics show it in brackets")
      .did_you_mean(wanted, codes);
  report.show(sink, diag::Sources());
  return kFindings;
}

RunFunction set_up(CLI::App& command, const GlobalOptions& global) {
  auto words = std::make_shared<std::vector<std::string>>();
  auto question = std::make_shared<OriginQuestion>();
  auto origin = std::make_shared<bool>(false);
  CLI::Option* flag = command.add_flag(
      "--origin", *origin, "Follow a value of a rendered document back to what was written");
  command.add_option("CODE", *words, "Code of a diagnostic; with --origin OBJECT PATH BLUEPRINT")
      ->required()
      ->expected(1, kOriginWords);
  command.add_option("--facts", question->facts, "Facts file (default: beside the blueprint)")
      ->type_name("FILE")
      ->needs(flag);
  command
      .add_option("-o,--output", question->output,
                  "Output directory or checkout whose lock and facts apply")
      ->type_name("DIR")
      ->needs(flag);
  return [=, &global] {
    const std::size_t wanted = *origin ? kOriginWords : 1;
    if (words->size() != wanted) {
      throw CLI::ValidationError(*origin ? "--origin wants OBJECT PATH BLUEPRINT"
                                         : "one CODE is explained at a time");
    }
    if (!*origin) return run_explain(words->front(), global);
    question->object = (*words)[0];
    question->path = (*words)[1];
    question->blueprint = (*words)[2];
    return run_explain_origin(*question, global);
  };
}

}  // namespace

Command explain_command() {
  return {"explain", "Show the page of a diagnostic code, or where a value comes from",
          "OBJECT is KIND/NAME, or the path of a file in the output. PATH is written as in\n"
          "`spec.replicas`, `spec.taints[0].key`, `metadata.labels[\"a.b/c\"]`.\n\n"
          "Example:\n"
          "  gpuctl explain GPU0201\n"
          "  gpuctl explain --origin MachineSet/ml-x7k2p-a spec.replicas prod.yaml\n",
          set_up};
}

}  // namespace gpuctl::cli
