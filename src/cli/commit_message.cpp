#include "cli/commit_message.hpp"

#include <algorithm>

#include "pipeline/version.hpp"
#include "secrets/codes.hpp"
#include "secrets/search.hpp"

namespace gpuctl::cli {
namespace {

std::string mark(const plan::Change& change) {
  switch (change.kind) {
    case plan::Change::Kind::create:
      return "  + ";
    case plan::Change::Kind::update:
      return "  ~ ";
    case plan::Change::Kind::remove:
      return "  - ";
  }
  return "";
}

// What was committed although it looks like a secret, and why: who reads the commit may differ.
std::string exceptions(const std::vector<Planned>& plans) {
  std::string out;
  for (const Planned& planned : plans) {
    if (planned.changes.empty() || planned.exceptions.empty()) continue;
    out += "\nNo secrets in " + planned.cluster + ", says its blueprint:\n";
    for (const std::string& exception : planned.exceptions) {
      out += "  " + shown(exception) + "\n";
    }
  }
  return out;
}

std::string trailers(const std::vector<Planned>& plans, const std::string& command,
                     const std::string& knowledge_digest) {
  std::string out = "\nGpuctl-Version: " + std::string(pipeline::kVersion) +
                    "\nGpuctl-Catalog: " + knowledge_digest + "\n";
  std::optional<effects::Effect> worst;
  std::string blueprints;
  for (const Planned& planned : plans) {
    if (planned.changes.empty()) continue;
    blueprints +=
        "Gpuctl-Blueprint: " + planned.cluster + " sha256:" + planned.inputs.blueprint + "\n";
    if (planned.effects.first) continue;
    worst = std::max(worst.value_or(effects::Effect::none), planned.effects.assessment.worst());
  }
  if (worst) out += "Gpuctl-Effect: " + std::string(effects::name_of(*worst)) + "\n";
  if (!command.empty()) out += "Gpuctl-Command: " + command + "\n";
  return out + blueprints;
}

}  // namespace

void check_subject(const std::string& subject, Knowledge& knowledge, diag::Sink& sink) {
  if (subject.empty()) return;  // and no rules to make ready
  const std::shared_ptr<const secrets::Rules> rules = knowledge.secret_rules();
  secrets::Budget budget;
  for (const secrets::Hit& hit :
       secrets::Search(*rules, budget).text(subject, secrets::Form::file)) {
    if (!hit.sure) continue;
    const bool named = hit.sign == secrets::Sign::name;
    sink.error(named ? secrets::kNamedSecret : secrets::kSecretInInput, diag::kNoOrigin,
               std::string("`--message` holds ") + (named ? "" : "what looks like ") + hit.what +
                   hit.how)
        .note("it is not shown here, and nothing was committed")
        .suggest("leave it out, and replace it where it is in use: the shell keeps what was typed");
    return;
  }
}

std::string moved(const Planned& planned) {
  std::string out;
  for (const MovedChoice& choice : planned.moves) {
    out += "  " + choice.path + ": " + choice.from + " -> " + choice.to +
           (choice.because.empty() ? "" : ", " + choice.because) + "\n";
  }
  return out;
}

std::string describe(const Planned& planned) {
  constexpr std::size_t kMostListed = 20;
  std::string out = planned.cluster + ": " + plan::summary(planned.changes) + "\n" + moved(planned);
  if (planned.changes.size() > kMostListed) return out;
  for (const plan::Change& change : planned.changes) out += mark(change) + change.path + "\n";
  return out;
}

std::string message(const std::vector<Planned>& plans, const std::string& subject,
                    const std::string& command, const std::string& knowledge_digest) {
  // With very many files the summary of each cluster, because nobody reads megabytes of a message
  // and libgit2 tidies them slowly.
  constexpr std::size_t kMostListed = 2000;
  std::size_t files = 0;
  for (const Planned& planned : plans) files += planned.changes.size();
  std::string first_line = subject;
  std::string body;
  std::size_t changed = 0;
  for (const Planned& planned : plans) {
    if (planned.changes.empty()) continue;
    ++changed;
    const std::string summary = planned.cluster + ": " + plan::summary(planned.changes);
    if (subject.empty()) first_line = summary;
    if (files > kMostListed) {
      body += "\n" + summary;
      continue;
    }
    body += "\n" + planned.cluster + "\n";
    for (const plan::Change& change : planned.changes) body += mark(change) + change.path + "\n";
  }
  if (files > kMostListed) body += "\n";
  if (changed > 1 && subject.empty()) first_line = "Apply " + std::to_string(changed) + " clusters";
  return first_line + "\n" + body + exceptions(plans) + trailers(plans, command, knowledge_digest);
}

}  // namespace gpuctl::cli
