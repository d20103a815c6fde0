#include "diagnose/ask_cluster.hpp"

#include <re2/re2.h>

#include <chrono>

#include "diag/character.hpp"
#include "diagnose/codes.hpp"
#include "live/ask.hpp"

namespace gpuctl::diagnose {

namespace {

constexpr std::chrono::seconds kPatience{60};      // for one answer
constexpr std::chrono::seconds kMostForLogs{300};  // for all logs together
constexpr std::size_t kMostLogs = 200;
constexpr std::size_t kMostAnsweredBytes = std::size_t{16} << 20U;  // of one log

std::string filled(std::string word, const std::vector<std::pair<std::string, std::string>>& in) {
  for (const auto& [name, value] : in) {
    const std::size_t at = word.find(name);
    if (at != std::string::npos) word.replace(at, name.size(), value);
  }
  return word;
}

base::Process call(const Reach& reach, const std::vector<std::string>& words,
                   const std::vector<std::pair<std::string, std::string>>& in) {
  base::Process out;
  out.program = reach.program;
  for (const std::string& word : words) out.arguments.push_back(filled(word, in));
  for (const std::string& name : reach.without) out.environment.push_back({name, std::nullopt});
  if (!reach.kubeconfig.empty()) out.environment.push_back({"KUBECONFIG", reach.kubeconfig});
  out.deadline = std::chrono::steady_clock::now() + kPatience;
  return out;
}

}  // namespace

void ask_objects(const Chain& chain, const Reach& reach, Evidence& evidence,
                 yaml::Context context) {
  const re2::RE2 absent(chain.asks().absent, re2::RE2::Quiet);
  bool any = false;
  for (const KindRow& kind : chain.kinds()) {
    base::Process process = call(reach, chain.asks().list, {{"{resource}", kind.resource}});
    process.arguments.insert(process.arguments.end(), kind.arguments.begin(), kind.arguments.end());
    const live::Answer answer = live::ask(std::move(process), context.arena);
    if (answer.good()) {
      any = true;
      evidence.set_known(kind.name);
      evidence.add(*answer.tree, "", context.arena);
      continue;
    }
    if (re2::RE2::PartialMatch(answer.ended.errors, absent)) {
      any = true;
      evidence.set_known(kind.name);
      continue;
    }
    const std::string what =
        "`" + kind.resource + "` cannot be read: " + diag::shown(context.sources.shown(answer.why));
    if (!any) {
      context.sink.error(kNoAnswer, diag::kNoOrigin, what)
          .note("nothing else was asked of the cluster")
          .suggest("see whether `" + reach.program + "` reaches the cluster, and as whom");
      return;
    }
    context.sink.warning(kNoAnswer, diag::kNoOrigin, what).note("what depends on it is not known");
  }
}

void ask_logs(const Chain& chain, const Reach& reach, const std::vector<Wanted>& wanted,
              Evidence& evidence, yaml::Context context) {
  const auto end = std::chrono::steady_clock::now() + kMostForLogs;
  std::size_t read = 0;
  for (const Wanted& one : wanted) {
    if (read == kMostLogs || std::chrono::steady_clock::now() > end) {
      context.sink
          .warning(kCutShort, diag::kNoOrigin,
                   "only " + std::to_string(read) + " of " + std::to_string(wanted.size()) +
                       " logs were read")
          .note("of pods with a fault, those of the first links");
      return;
    }
    ++read;
    base::Process process =
        call(reach, one.last ? chain.asks().last_log : chain.asks().log,
             {{"{namespace}", one.space}, {"{pod}", one.pod}, {"{container}", one.container}});
    process.most_bytes = kMostAnsweredBytes;
    base::Ended ended = base::run_process(process);
    const std::string name =
        one.space + "/" + one.pod + "/" + one.container + (one.last ? ", the run before" : "");
    if (!ended.good()) {
      context.sink.warning(kNoLog, diag::kNoOrigin,
                           "the log of " + diag::shown(name) + " cannot be read: " +
                               diag::shown(context.sources.shown(live::last_words(ended))));
      continue;
    }
    evidence.logs.push_back(
        {name, {}, std::move(ended.output), one.space, one.pod, one.container, false});
  }
}

}  // namespace gpuctl::diagnose
