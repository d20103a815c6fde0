#include <algorithm>
#include <memory>

#include "base/text.hpp"
#include "cli/codes.hpp"
#include "cli/command.hpp"

namespace gpuctl::cli {

namespace {

constexpr std::string_view kPrefix = "docs/codes/";
constexpr std::string_view kEnding = ".md";

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
    if (name == wanted) return print(file.text) ? kOk : kFindings;
    codes.emplace_back(name);
  }
  Report report(global);
  diag::Sink sink;
  sink.error(kUnknownCode, diag::kNoOrigin, "unknown code `" + code + "`")
      .expect("a code such as `GPU0201`, as diagnostics show it in brackets")
      .did_you_mean(wanted, codes);
  report.show(sink, diag::Sources());
  return kFindings;
}

}  // namespace

void add_explain(CLI::App& app, const GlobalOptions& global, int& exit_code) {
  CLI::App* command = app.add_subcommand("explain", "Show the page of a diagnostic code");
  auto code = std::make_shared<std::string>();
  command->add_option("CODE", *code, "Code of a diagnostic, such as GPU0201")->required();
  command->footer("Example:\n  gpuctl explain GPU0201\n");
  command->callback([code, &global, &exit_code] { exit_code = run_explain(*code, global); });
}

}  // namespace gpuctl::cli
