#include "live/ask.hpp"

#include <algorithm>

#include "base/file.hpp"
#include "base/text.hpp"
#include "yaml/json.hpp"

namespace gpuctl::live {

std::string last_words(const base::Ended& ended) {
  using How = base::Ended::How;
  if (ended.how == How::late) return "it did not answer in time";
  if (ended.how == How::idle || ended.how == How::unconnected) return "it got no answer";
  if (ended.how == How::not_started) return "it cannot be started: " + base::errno_text(ended.code);
  if (ended.how == How::signalled) return "signal " + std::to_string(ended.code) + " ended it";
  std::string_view said = ended.errors;
  while (!said.empty() && (said.back() == '\n' || said.back() == '\r' || said.back() == ' ')) {
    said.remove_suffix(1);
  }
  const std::size_t line = said.rfind('\n');
  if (line != std::string_view::npos) said.remove_prefix(line + 1);
  if (said.empty()) return "it ended with exit code " + std::to_string(ended.code);
  return std::string(said);
}

Answer ask(base::Process process, yaml::Arena& arena) {
  Answer answer;
  process.most_bytes = kMostAnswerBytes;
  answer.ended = base::run_process(process);
  if (!answer.ended.good()) {
    answer.why = last_words(answer.ended);
    return answer;
  }
  const std::string_view text = answer.ended.output;
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    answer.tree = yaml::Node::null();
    return answer;
  }
  std::string why;
  answer.tree = yaml::read_json(text, arena, why);
  if (!answer.tree) answer.why = "its answer " + why;
  return answer;
}

}  // namespace gpuctl::live
