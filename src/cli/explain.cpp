#include <algorithm>
#include <memory>

#include "base/text.hpp"
#include "cli/code_page.hpp"
#include "cli/codes.hpp"
#include "cli/command.hpp"
#include "cli/explain_field.hpp"
#include "cli/explain_origin.hpp"

namespace gpuctl::cli {

namespace {

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

// "GPU0201", in any case and with slips, or nothing at all, but no field.
bool looks_like_code(std::string_view word) {
  if (word.empty()) return true;
  return word.find('.') == std::string_view::npos &&
         std::any_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

int run_explain_code(const std::string& code, const GlobalOptions& global) {
  std::string wanted = code;
  std::transform(wanted.begin(), wanted.end(), wanted.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  if (const std::string_view page = code_page(wanted); !page.empty()) {
    return answer(wanted, page, global);
  }
  Report report(global);
  Knowledge* knowledge = open_knowledge(global, report);
  if (knowledge == nullptr) return kFindings;
  const std::string rule = rule_without_page(wanted, knowledge->library());
  if (!rule.empty()) return answer(wanted, rule, global);
  diag::Sink sink;
  sink.error(kUnknownCode, diag::kNoOrigin, "unknown code `" + code + "`")
      .expect(
          "a code such as `GPU0201`, as diagnostics show it in brackets, or a field such as "
          "`spec.gpuPools`")
      .did_you_mean(wanted, codes_with_pages());
  report.show(sink, diag::Sources());
  return kFindings;
}

int run_explain(const FieldQuestion& question, const GlobalOptions& global) {
  return looks_like_code(question.path) ? run_explain_code(question.path, global)
                                        : run_explain_field(question, global);
}

RunFunction set_up_explain(Options& command, const GlobalOptions& global) {
  auto words = std::make_shared<std::vector<std::string>>();
  auto question = std::make_shared<OriginQuestion>();
  auto origin = std::make_shared<bool>(false);
  auto field = std::make_shared<FieldQuestion>();
  auto form = std::make_shared<std::string>("text");
  command.add_flag("--origin", *origin,
                   "Follow a value of a rendered document back to what was written");
  command
      .add_option("CODE|FIELD", *words,
                  "Code of a diagnostic, or field of the blueprint; with --origin OBJECT PATH "
                  "BLUEPRINT")
      .required()
      .expected(1, kOriginWords);
  command.add_option("--facts", question->facts, "Facts file (default: beside the blueprint)")
      .type_name("FILE")
      .needs("--origin");
  command
      .add_option("--against", question->against,
                  "With --origin: output directory or checkout whose lock and facts apply")
      .type_name("DIR")
      .needs("--origin");
  // With --origin also the directory of --against, as it was called once.
  command.add_option("-o,--output", *form, "Form: text or json")
      .type_name("text|json")
      .capture_default_str();
  command.add_flag("--recursive", field->recursive, "All fields below, as a tree")
      .excludes("--origin");
  command.add_option("--platform", field->platform, "The field on this platform alone")
      .type_name("PLATFORM")
      .excludes("--origin");
  return [=, &global] {
    const std::size_t wanted = *origin ? kOriginWords : 1;
    if (words->size() != wanted) {
      throw UsageError(*origin ? "--origin wants OBJECT PATH BLUEPRINT"
                               : "one CODE or FIELD is explained at a time");
    }
    const bool has_form = *form == "text" || *form == "json";
    if (!*origin) {
      if (!has_form) throw UsageError("--output: text or json");
      field->path = words->front();
      field->json = *form == "json";
      if (field->json && looks_like_code(field->path)) global.result->request();
      return run_explain(*field, global);
    }
    if (*form == "json") global.result->request();
    if (!has_form) question->against = *form;
    question->object = (*words)[0];
    question->path = (*words)[1];
    question->blueprint = (*words)[2];
    return run_explain_origin(*question, global);
  };
}

}  // namespace

Command explain_command() {
  return {"explain",
          "Show the page of a diagnostic code, what a field is for, or where a value comes from",
          "FIELD is a path such as `spec.gpuPools.scaling`; `spec.` and indexes may be left out.\n"
          "OBJECT is KIND/NAME, or the path of a file in the output. PATH is written as in\n"
          "`spec.replicas`, `spec.taints[0].key`, `metadata.labels[\"a.b/c\"]`.\n\n"
          "Example:\n"
          "  gpuctl explain GPU0201\n"
          "  gpuctl explain spec.gpuPools.scaling\n"
          "  gpuctl explain gpuPools --recursive\n"
          "  gpuctl explain --origin MachineSet/ml-x7k2p-a spec.replicas prod.yaml\n",
          set_up_explain};
}

}  // namespace gpuctl::cli
