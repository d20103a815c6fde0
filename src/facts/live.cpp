#include "facts/live.hpp"

#include <map>

#include "base/text.hpp"
#include "diag/character.hpp"
#include "facts/codes.hpp"
#include "live/ask.hpp"

namespace gpuctl::facts {

namespace {

void tell(const std::string& command, const std::string& why, bool strict, const diag::Mask& mask,
          diag::Sink& sink) {
  diag::Diagnostic finding;
  finding.severity = strict ? diag::Severity::error : diag::Severity::warning;
  finding.code = kNoAnswer;
  finding.message = "`" + command + "` gave no answer";
  finding.note(diag::shown(mask.shown(why)));
  finding.suggest("run the command by hand; `--kubeconfig FILE` names the cluster to ask");
  sink.add(std::move(finding));
}

}  // namespace

Answers ask_cluster(const Rows& rows, Inquiry& inquiry, const live::Programs& programs,
                    const std::string& kubeconfig, bool strict, const diag::Mask& mask,
                    yaml::Context context) {
  Answers out;
  std::map<std::string, bool> answered_before;  // command -> whether it was answered
  for (const Row& row : rows.rows) {
    if (!row.live) continue;
    const live::Program* program = programs.find(row.live->role);
    base::Process process;
    process.arguments = inquiry.words(*row.live);
    const std::string command = (program == nullptr ? row.live->role : program->names.front()) +
                                " " + base::join(process.arguments, " ");
    const auto [before, is_new] = answered_before.try_emplace(command, false);
    if (is_new) {
      const auto path = programs.locate(row.live->role, context.sink);
      if (!path) return out;
      process.program = *path;
      for (const std::string& name : program->without) {
        process.environment.push_back({name, std::nullopt});
      }
      if (!kubeconfig.empty()) process.environment.push_back({"KUBECONFIG", kubeconfig});
      process.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(kMostSeconds);
      ++out.asked;
      const live::Answer answer = live::ask(std::move(process), context.arena);
      before->second = answer.good();
      if (answer.good()) {
        out.sources.push_back(answered(command, *answer.tree));
      } else if (!row.live->optional) {
        tell(command, answer.why, strict, mask, context.sink);
      }
    }
    if (!before->second) out.silent.insert(row.name);
  }
  return out;
}

}  // namespace gpuctl::facts
