#include "doctor/examination.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/text.hpp"

namespace gpuctl::doctor {

namespace {

constexpr std::size_t kMostQuestions = 512;  // of one stage
constexpr std::size_t kMostFindings = 50;
constexpr std::size_t kAtATime = 16;

class Examination {
 public:
  Examination(const Check& check, Shared& shared) : check_(check), shared_(shared) {
    result_.id = check.id;
    result_.title = check.title;
    result_.source = check.source;
    result_.fatal = check.fatal;
  }

  Result run() {
    if (!applies()) return std::move(result_);
    const bool went_on = put_stage(check_.ask, asked_) && put_stage(check_.then, further_);
    if (went_on) judge();
    return std::move(result_);
  }

 private:
  // Values of the environment; those of definitions are worked out anew for each stage, because
  // they may read answers.
  std::vector<cel::Value> values() {
    std::vector<cel::Value> out = shared_.subject.inputs.values();
    shared_.checks.scope().variables->bind(out);
    out.emplace_back(asked_);
    out.emplace_back(further_);
    out.emplace_back(shared_.run);
    check_.shared->bind(out);
    check_.variables.bind(out);
    return out;
  }

  std::string shown(const std::string& text) const {
    return shared_.mask.shown(shared_.asking.secrets.without(text));
  }

  void add(Verdict verdict, const std::string& evidence, const std::string& remedy = {}) {
    if (result_.findings.size() < kMostFindings) {
      result_.findings.push_back({verdict, shown(evidence), shown(remedy)});
    }
  }

  // The check cannot be worked out: facts are missing, or the row is at fault.
  void give_up(const cel::EvalError& error) {
    if (error.path.starts_with("facts.")) {
      add(Verdict::skip, "the fact `" + error.path.substr(6) + "` is not known yet");
    } else {
      add(Verdict::unknown, "the check cannot be worked out: " + error.message,
          "report this: the row of the check is at fault");
    }
  }

  std::optional<cel::Value> evaluate(const cel::LazyExpression& expression,
                                     const std::vector<cel::Value>& given) {
    cel::Outcome outcome = cel::evaluate(*expression.get().program, given, arena_);
    if (outcome.ok()) return std::move(outcome.value);
    give_up(*outcome.error);
    return std::nullopt;
  }

  std::optional<std::string> text(const cel::LazyText& written,
                                  const std::vector<cel::Value>& given) {
    if (!written) return std::string();
    const cel::TextOutcome outcome = cel::evaluate(written.get(), given, arena_);
    if (!outcome.error) return std::string(outcome.value.node().as_string());
    give_up(*outcome.error);
    return std::nullopt;
  }

  static bool is_true(const cel::Value& value) {
    return value.is_node() && value.node().as_boolean();
  }

  bool applies() {
    if (!check_.when) return true;
    const std::lock_guard<std::mutex> guard(shared_.evaluating);
    const std::vector<cel::Value> given = values();
    const std::optional<cel::Value> when = evaluate(check_.when, given);
    if (!when) return false;
    if (is_true(*when)) return true;
    const std::optional<std::string> why = text(check_.skipped, given);
    if (why) add(Verdict::skip, why->empty() ? "not for this cluster" : *why);
    return false;
  }

  // The questions of a stage; nothing when they cannot be worked out.
  std::optional<std::vector<Question>> questions_of(const compose::LazyBody& body) {
    const std::lock_guard<std::mutex> guard(shared_.evaluating);
    std::vector<cel::Value> given = values();
    diag::Sink sink;
    const compose::ResolveSecret none;
    compose::Instance instance(arena_, none, shared_.sources, sink, nullptr);
    const std::optional<yaml::Node> made = instance.make(body.get(), given);
    if (instance.fault()) {
      give_up(instance.fault()->error);
      return std::nullopt;
    }
    std::vector<Question> out;
    if (!made) return out;
    for (const yaml::Node& written : made->items()) {
      std::string why;
      std::optional<Question> question = read_question(written, why);
      if (!question || out.size() == kMostQuestions) {
        add(Verdict::unknown,
            question ? "more than " + std::to_string(kMostQuestions) + " questions" : why);
        return std::nullopt;
      }
      out.push_back(std::move(*question));
    }
    return out;
  }

  bool put_stage(const compose::LazyBody& body, yaml::Node& answers) {
    if (!body) return true;
    std::optional<std::vector<Question>> questions = questions_of(body);
    if (!questions) return false;
    std::vector<Answer> got(questions->size());
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
      for (std::size_t i = next++; i < got.size(); i = next++) {
        got[i] = put((*questions)[i], shared_.asking);
      }
    };
    {
      std::vector<std::jthread> others;
      for (std::size_t i = 1; i < std::min(got.size(), kAtATime); ++i) others.emplace_back(work);
      work();
    }
    std::vector<yaml::Node> trees;
    for (Answer& answer : got) {
      trees.push_back(answer.tree());
      const bool judged = check_.judges_unanswered && answer.asked();
      if (!judged && !trees.back().get("ok").as_boolean()) unanswered_.push_back(trees.back());
      all_asked_ = all_asked_ && answer.asked();
    }
    answers_.insert(answers_.end(), std::make_move_iterator(got.begin()),
                    std::make_move_iterator(got.end()));
    answers = arena_.list(trees);
    return true;
  }

  void judge() {
    const std::lock_guard<std::mutex> guard(shared_.evaluating);
    std::vector<cel::Value> given = values();
    for (const yaml::Node& answer : unanswered_) report_unanswered(answer, given);
    // Rows that judge silence know programs that fail, not questions that were never put.
    if (check_.judges_unanswered && !all_asked_) return;
    for (const Judgement& judgement : check_.judgements) loop(judgement, 0, given);
    const bool nothing_seen =
        std::none_of(result_.findings.begin(), result_.findings.end(),
                     [](const Finding& finding) { return finding.verdict >= Verdict::pass; });
    if (!nothing_seen) return;
    if (const std::optional<std::string> passed = text(check_.passed, given)) {
      add(Verdict::pass, *passed);
    }
  }

  void report_unanswered(const yaml::Node& answer, const std::vector<cel::Value>& given) {
    const std::string about(answer.get("about").as_string());
    const std::string why(answer.get("why").as_string());
    const std::string install(answer.get("install").as_string());
    std::optional<std::string> remedy = "install it: " + install;
    if (install.empty()) remedy = text(check_.remedy, given);
    // That a program is missing is the same for all that it should have been asked.
    const std::string evidence = about.empty() || !install.empty() ? why : about + ": " + why;
    const bool known = std::any_of(result_.findings.begin(), result_.findings.end(),
                                   [&](const Finding& one) { return one.evidence == evidence; });
    if (!known) add(Verdict::unknown, evidence, remedy.value_or(""));
  }

  void loop(const Judgement& judgement, std::size_t depth, std::vector<cel::Value>& given) {
    if (depth == judgement.loops.size()) {
      const std::size_t outside = given.size();
      judgement.variables.bind(given);
      conclude(judgement, given);
      given.resize(outside);
      return;
    }
    const std::optional<cel::Value> list = evaluate(judgement.loops[depth].second, given);
    if (!list || !list->is_node()) return;
    for (const yaml::Node& item : list->node().items()) {
      given.emplace_back(item);
      loop(judgement, depth + 1, given);
      given.pop_back();
    }
  }

  void conclude(const Judgement& judgement, const std::vector<cel::Value>& given) {
    if (judgement.when) {
      const std::optional<cel::Value> when = evaluate(judgement.when, given);
      if (!when || !is_true(*when)) return;
    }
    const std::optional<std::string> evidence = text(judgement.evidence, given);
    const std::optional<std::string> remedy =
        text(judgement.remedy ? judgement.remedy : check_.remedy, given);
    if (evidence && remedy) {
      add(judgement.verdict, *evidence, judgement.verdict > Verdict::pass ? *remedy : "");
    }
  }

  const Check& check_;
  Shared& shared_;
  Result result_;
  yaml::Arena arena_;
  std::vector<Answer> answers_;  // own what `asked_` and `further_` are made of
  yaml::Node asked_ = arena_.list({});
  yaml::Node further_ = arena_.list({});
  std::vector<yaml::Node> unanswered_;
  bool all_asked_ = true;
};

}  // namespace

Result run_check(const Check& check, Shared& shared) {
  return Examination(check, shared).run();
}

}  // namespace gpuctl::doctor
