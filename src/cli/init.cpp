// `gpuctl init`: a first blueprint, by a few questions.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iostream>
#include <memory>

#include "base/date.hpp"
#include "base/file.hpp"
#include "catalog/wrapper.hpp"
#include "cel/scalar.hpp"
#include "cli/batch.hpp"
#include "cli/codes.hpp"
#include "cli/command.hpp"
#include "cli/day.hpp"
#include "cli/samples.hpp"
#include "compose/lines.hpp"
#include "derive/environment.hpp"
#include "yaml/read.hpp"

namespace gpuctl::cli {

namespace {

using yaml::Node;

constexpr std::string_view kBlueprintEnding = ".yaml";

struct InitOptions {
  std::string platform;
  std::string from;
  std::string file;
  std::map<std::string, std::string> answers;  // by question
  std::vector<std::string> others;             // NAME=VALUE
};

// Options for what most platforms ask.
struct Common {
  const char* option;
  const char* question;
  const char* help;
};
constexpr std::array<Common, 6> kCommon = {{
    {"--name", "name", "Name of the cluster"},
    {"--gpu", "gpu",
     "GPU model, as `gpuctl catalog gpus` has it; the smallest machine with it is taken"},
    {"--instance-type", "machine", "Type of the GPU machines, as `gpuctl catalog machines` has it"},
    {"--region", "region", "Region"},
    {"--gitops", "engine", "GitOps controller"},
    {"--repo-url", "repoURL", "Address of the repository that the GitOps controller follows"},
}};

bool can_ask() {
  return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
}

diag::Sink problem(std::string_view code, std::string message) {
  diag::Sink sink;
  sink.error(code, diag::kNoOrigin, std::move(message));
  return sink;
}

// How a question is answered on the command line.
std::string option_of(const std::string& question) {
  const auto* const found = std::find_if(
      kCommon.begin(), kCommon.end(), [&](const Common& one) { return one.question == question; });
  return "`" + (found == kCommon.end() ? question : std::string(found->option)) + "`";
}

diag::Sink excluded(const std::string& question, const std::string& other) {
  diag::Sink sink;
  sink.error(kUsage, diag::kNoOrigin,
             option_of(question) + " and " + option_of(other) + " exclude each other")
      .expect("one of them");
  return sink;
}

// The line that somebody types; nothing at the end of the input.
std::optional<std::string> asked(const std::string& prompt) {
  std::fprintf(stderr, "%s: ", prompt.c_str());
  std::fflush(stderr);
  std::string line;
  if (!std::getline(std::cin, line)) return std::nullopt;
  const auto first = line.find_first_not_of(" \t\r");
  if (first == std::string::npos) return std::string();
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

// Questions of a platform and the blueprint that their answers make.
class Interview {
 public:
  Interview(const catalog::Platform& platform, catalog::Library& library)
      : platform_(platform), sources_(library.sources()) {
    environment_ = std::make_shared<cel::Environment>();
    environment_->variables = {
        {"answers", cel::Type::dyn()}, {"answer", cel::Type::dyn()}, {"catalog", cel::Type::dyn()}};
    environment_->functions = derive::functions();
    for (const std::string& folder : platform.builds) {
      const Node spec = catalog::spec_of(library, "providers/" + folder + "/start.yaml");
      const auto questions = spec.get("questions").items();
      questions_.insert(questions_.end(), questions.begin(), questions.end());
      if (spec.get("blueprint").is_string()) text_ = spec.get("blueprint");
    }
  }

  bool is_there() const { return text_.is_string(); }

  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const Node& question : questions_) out.emplace_back(question.get("name").as_string());
    return out;
  }

  // Takes what was given, asks for the rest where somebody can answer, and takes defaults
  // otherwise. False after what was reported, or when nobody answers any more.
  bool answer_all(const std::map<std::string, std::string>& given, Report& report) {
    for (const auto& [name, value] : given) answers_.set(arena_, name, arena_.string(value));
    for (const Node& question : questions_) {
      const std::string name(question.get("name").as_string());
      const Node unless = question.get("unless");
      if (unless.is_string() && answers_.find(unless.as_string()) != nullptr) {
        if (given.contains(name)) {
          report.show(excluded(name, std::string(unless.as_string())), diag::Sources());
          return false;
        }
        if (answers_.find(name) == nullptr) answers_.set(arena_, name, Node::view(""));
        continue;
      }
      const auto found = given.find(name);
      const bool good = found != given.end() ? take_given(question, found->second, report)
                                             : ask(question, report);
      if (!good) return false;
    }
    return true;
  }

  // The blueprint; nothing after what was reported.
  std::optional<std::string> blueprint(Report& report) {
    diag::Sink sink;
    const std::optional<compose::Lines> lines =
        compose::compile_lines(text_, *environment_, sources_, sink);
    std::optional<std::string> out;
    if (lines) {
      compose::LineWriter writer(arena_, sources_, nullptr);
      std::vector<cel::Value> all = values(Node());
      out = writer.write(*lines, all);
      if (!out && writer.fault()) {
        sink.error(kUsage, writer.fault()->at.scalar.origin(), writer.fault()->error.message);
      }
    }
    report.show(sink, sources_);
    return out;
  }

 private:
  std::vector<cel::Value> values(const Node& answer) {
    return {answers_.build(arena_), answer, platform_.catalog};
  }

  // What an expression of a question gives; null where it gives nothing.
  Node value_of(const Node& scalar, const Node& answer) {
    if (!scalar.is_string()) return {};
    diag::Sink sink;
    const cel::Expression expression = cel::compile_bare(scalar, *environment_, sources_, sink);
    if (!expression) return {};
    const cel::Outcome outcome = cel::evaluate(*expression.program, values(answer), arena_);
    return outcome.ok() && outcome.value.is_node() ? outcome.value.node() : Node();
  }

  std::vector<std::string> choices_of(const Node& question) {
    std::vector<std::string> out;
    const Node choices = value_of(question.get("choices"), Node());
    for (const Node& choice : choices.items()) out.emplace_back(choice.as_string());
    return out;
  }

  bool fits(const Node& question, const std::string& answer) {
    const std::vector<std::string> choices = choices_of(question);
    if (!choices.empty() && std::find(choices.begin(), choices.end(), answer) == choices.end()) {
      return false;
    }
    const Node check = question.get("check");
    return !check.is_string() || value_of(check, arena_.string(answer)).as_boolean();
  }

  diag::Sink misfit(const Node& question, const std::string& answer) {
    diag::Sink sink;
    diag::Diagnostic& finding = sink.error(kUsage, diag::kNoOrigin,
                                           std::string(question.get("ask").as_string()) + ": `" +
                                               shown(answer) + "` is not a valid answer");
    const std::vector<std::string> choices = choices_of(question);
    if (!choices.empty()) {
      finding.expect("one of " + base::join(choices, ", ")).did_you_mean_longer(answer, choices);
    } else if (question.get("expected").is_string()) {
      finding.expect(std::string(question.get("expected").as_string()));
    }
    return sink;
  }

  void take(const Node& question, const std::string& answer) {
    answers_.set(arena_, question.get("name").as_string(), arena_.string(answer));
  }

  bool take_given(const Node& question, const std::string& answer, Report& report) {
    if (!fits(question, answer)) {
      report.show(misfit(question, answer), diag::Sources());
      return false;
    }
    take(question, answer);
    return true;
  }

  bool ask(const Node& question, Report& report) {
    const std::string fallback(value_of(question.get("default"), Node()).as_string());
    if (!can_ask()) return take_given(question, fallback, report);
    std::string prompt(question.get("ask").as_string());
    const std::vector<std::string> choices = choices_of(question);
    constexpr std::size_t kFew = 8;
    if (!choices.empty() && choices.size() <= kFew)
      prompt += " (" + base::join(choices, ", ") + ")";
    if (!fallback.empty()) prompt += " [" + fallback + "]";
    for (;;) {
      std::optional<std::string> answer = asked(prompt);
      if (!answer) return false;
      if (answer->empty()) answer = fallback;
      if (fits(question, *answer)) {
        take(question, *answer);
        return true;
      }
      report.remark(misfit(question, *answer), diag::Sources());
    }
  }

  const catalog::Platform& platform_;
  diag::Sources& sources_;
  yaml::Arena arena_;
  std::shared_ptr<cel::Environment> environment_;
  std::vector<Node> questions_;
  Node text_;
  yaml::MapBuilder answers_;
};

// A sample, under another name when one is given.
std::optional<std::string> from_sample(const InitOptions& options, Report& report) {
  const std::string wanted = std::string(kSamples) + options.from + std::string(kBlueprintEnding);
  for (const diag::FileView& file : built_in_image().files()) {
    if (file.name != wanted) continue;
    std::string text(file.text);
    const auto name = options.answers.find("name");
    if (name == options.answers.end()) return text;
    diag::Sources sources;
    diag::Sink sink;
    yaml::Arena arena;
    const std::optional<Node> document =
        yaml::read(sources.add_file(wanted, text), sources, arena, sink);
    if (!document) return text;
    const diag::Span* span = sources.span(document->get({"metadata", "name"}).origin());
    if (span != nullptr) text.replace(span->begin, span->end - span->begin, name->second);
    return text;
  }
  diag::Sink sink;
  const std::vector<std::string> names = sample_names();
  sink.error(kUsage, diag::kNoOrigin, "no sample `" + shown(options.from) + "`")
      .expect("one of " + base::join(names, ", "))
      .did_you_mean(options.from, names);
  report.show(sink, diag::Sources());
  return std::nullopt;
}

// The platform that is chosen or asked for; nullptr after what was reported.
const catalog::Platform* platform_of(const InitOptions& options, Knowledge& knowledge,
                                     Report& report) {
  std::string name = options.platform;
  while (name.empty() && can_ask()) {
    std::optional<std::string> answer =
        asked("platform (" + base::join(knowledge.names(), ", ") + ")");
    if (!answer) return nullptr;
    if (answer->empty()) continue;
    diag::Sink unknown;
    if (knowledge.is_platform(*answer, diag::kNoOrigin, unknown)) name = *answer;
    report.remark(unknown, knowledge.library().sources());
  }
  if (name.empty()) {
    diag::Sink sink =
        problem(kUsage, "without a terminal to ask, `--platform` or `--from` must be given");
    report.show(sink, diag::Sources());
    return nullptr;
  }
  diag::Sink sink;
  const pipeline::Compiled* compiled = knowledge.platform(name, diag::kNoOrigin, sink);
  report.show(sink, knowledge.library().sources());
  return compiled == nullptr ? nullptr : compiled->platform.get();
}

// By the questions of the platform; nothing after what was reported.
std::optional<std::string> from_answers(const InitOptions& options, Knowledge& knowledge,
                                        Report& report) {
  const catalog::Platform* platform = platform_of(options, knowledge, report);
  if (platform == nullptr) return std::nullopt;
  Interview interview(*platform, knowledge.library());
  if (!interview.is_there()) {
    report.show(problem(kUsage, "platform `" + platform->name + "` has no first blueprint"),
                diag::Sources());
    return std::nullopt;
  }
  std::map<std::string, std::string> given = options.answers;
  for (const std::string& other : options.others) {
    const std::size_t sign = other.find('=');
    given[other.substr(0, sign)] = sign == std::string::npos ? "" : other.substr(sign + 1);
  }
  const std::vector<std::string> names = interview.names();
  for (const auto& [question, value] : given) {
    if (std::find(names.begin(), names.end(), question) != names.end()) continue;
    diag::Sink sink;
    sink.error(kUsage, diag::kNoOrigin,
               "platform `" + platform->name + "` does not ask for `" + shown(question) + "`")
        .expect("one of " + base::join(names, ", "))
        .did_you_mean(question, names);
    report.show(sink, diag::Sources());
    return std::nullopt;
  }
  if (!interview.answer_all(given, report)) return std::nullopt;
  return interview.blueprint(report);
}

// A comment that says what is not known yet, and where it comes from.
std::string facts_comment(const std::vector<render::Withheld>& withheld, const std::string& file) {
  std::map<std::string, std::string> facts;
  for (const render::Withheld& item : withheld) facts.emplace(item.fact, item.obtain);
  if (facts.empty()) return {};
  std::string beside = file.ends_with(kBlueprintEnding)
                           ? file.substr(0, file.size() - kBlueprintEnding.size())
                           : file;
  beside = beside.substr(beside.rfind('/') + 1) + ".facts.yaml";
  std::string out =
      "\n# Still needed for some of the documents, in " + beside + " beside this file:\n";
  for (const auto& [fact, obtain] : facts) {
    out += "#   " + fact;
    std::string line;
    for (const char c : ": " + obtain) line += c == '\n' ? ' ' : c;
    out += (obtain.empty() ? "" : line) + "\n";
  }
  return out +
         "# `gpuctl facts import` reads them from what the installer leaves, or from the "
         "cluster.\n";
}

// False after what was reported; nothing that is there is overwritten.
bool write_new(const std::string& path, const std::string& text, Report& report) {
  constexpr mode_t kMode = 0644;
  const base::FileDescriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kMode));
  const int code = file ? base::write_all(file.get(), text) : errno;
  if (code == 0) return true;
  diag::Sink sink = problem(
      kUnwritable, "cannot write `" + shown(path) +
                       "`: " + (code == EEXIST ? "it is there already" : base::errno_text(code)));
  report.show(sink, diag::Sources());
  return false;
}

int run_init(const InitOptions& options, const GlobalOptions& global) {
  Report report(global);
  Knowledge* knowledge = open_knowledge(global, report);
  if (knowledge == nullptr) return kFindings;
  std::optional<std::string> text = options.from.empty() ? from_answers(options, *knowledge, report)
                                                         : from_sample(options, report);
  if (!text) {
    report.say("nothing was written");
    return kUsageError;
  }
  const bool to_output = options.file == "-";
  if (to_output && global.result->wanted()) {
    report.show(problem(kUsage, "`-o -` and JSON both take standard output"), diag::Sources());
    return kUsageError;
  }
  std::string file = to_output ? std::string() : options.file;
  if (file.empty()) {
    const auto named = options.answers.find("name");
    diag::Sources sources;
    diag::Sink sink;
    yaml::Arena arena;
    const std::optional<Node> document =
        yaml::read(sources.add_file("", *text), sources, arena, sink);
    file = named != options.answers.end() ? named->second
           : document ? std::string(document->get({"metadata", "name"}).as_string())
                      : "blueprint";
    file += kBlueprintEnding;
  }
  if (!to_output && ::access(file.c_str(), F_OK) == 0) {
    report.show(problem(kUnwritable, "cannot write `" + shown(file) + "`: it is there already"),
                diag::Sources());
    return kFindings;
  }
  std::optional<Request> request = make_request({}, report);
  if (!request) return kFindings;
  request->given[file] = *text;
  const Consume consume = [&](std::size_t, Result& result) {
    *text += facts_comment(result.rendered().withheld, file);
  };
  const std::vector<Finished> done = run_all({file}, *request, *knowledge, 1, report, consume);
  if (!(to_output ? print(*text, global) : write_new(file, *text, report))) return kFindings;
  const bool good = show_all(done, false, report);
  global.result->set("file", file);
  record_verdicts(done, false, *global.result);
  const std::string verdict =
      shown(file) + ": " + (good ? "ok" : "refused") +
      (good ? " (" + done.front().cluster + ", " + counted(done.front().documents, "document") + ")"
            : "");
  if (to_output) report.say(verdict);
  return (to_output || print(verdict + "\n", global)) && good ? kOk : kFindings;
}

RunFunction set_up_init(Options& command, const GlobalOptions& global) {
  auto options = std::make_shared<InitOptions>();
  command.add_option("--platform", options->platform, "Where the cluster runs")
      .type_name("PLATFORM");
  auto given = std::make_shared<std::array<std::string, kCommon.size()>>();
  for (std::size_t i = 0; i < kCommon.size(); ++i) {
    const std::string_view option = kCommon[i].option;
    command.add_option(kCommon[i].option, (*given)[i], kCommon[i].help)
        .type_name(option == "--gpu"             ? "MODEL"
                   : option == "--instance-type" ? "MACHINE"
                                                 : "VALUE");
  }
  command
      .add_option("--set", options->others,
                  "Answer to another question of the platform; may be repeated")
      .type_name("QUESTION=VALUE")
      .allow_extra_args(false);
  command.add_option("--from", options->from, "Start from this sample instead").type_name("SAMPLE");
  command
      .add_option("-o,--output", options->file,
                  "File to write (default: NAME.yaml), or - for standard output")
      .type_name("FILE");
  return [=, &global] {
    for (std::size_t i = 0; i < kCommon.size(); ++i) {
      if (!(*given)[i].empty()) options->answers[kCommon[i].question] = (*given)[i];
    }
    return run_init(*options, global);
  };
}

}  // namespace

Command init_command() {
  return {
      "init", "Write a first blueprint, and check it at once",
      "On a terminal it asks for what the options leave open; elsewhere it takes defaults, which\n"
      "stand in the file with comments. It overwrites nothing. What is not known before the\n"
      "cluster is there (facts) is named at the end of the file.\n\n"
      "Example:\n"
      "  gpuctl init\n"
      "  gpuctl init --platform PLATFORM --name lab --gitops CONTROLLER\n"
      "  gpuctl init --from SAMPLE --name lab\n",
      set_up_init};
}

}  // namespace gpuctl::cli
