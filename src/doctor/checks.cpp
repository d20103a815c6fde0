#include "doctor/checks.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "catalog/wrapper.hpp"
#include "cel/lazy.hpp"
#include "doctor/codes.hpp"
#include "doctor/question.hpp"

namespace gpuctl::doctor {

namespace {

// "D4" before "D12".
bool comes_before(const Check& a, const Check& b) {
  const auto number = [](const std::string& id) {
    const std::size_t digit = std::min(id.find_first_of("0123456789"), id.size());
    const std::string_view rest = std::string_view(id).substr(digit);
    return base::parse_integer(rest.substr(0, rest.find('-'))).value_or(0);
  };
  return std::pair(number(a.id), a.id) < std::pair(number(b.id), b.id);
}

}  // namespace

class Checks::Compiler {
 public:
  Compiler(const derive::Scope& scope, bool thorough, diag::Sources& sources, diag::Sink& sink)
      : thorough_(thorough), sources_(sources), sink_(sink) {
    auto made = std::make_shared<cel::Environment>(*scope.environment);
    const cel::Type answers = cel::Type::list(cel::Type::dyn());
    made->variables.push_back({"asked", answers});
    made->variables.push_back({"further", answers});
    made->variables.push_back({"run", cel::Type::dyn()});
    base_ = std::move(made);
  }

  // The environment of a file, whose variables all of its checks see.
  struct File {
    std::shared_ptr<const cel::Environment> environment;
    std::shared_ptr<const cel::Definitions> variables;
  };

  File file(const yaml::Node& spec) {
    File out{base_, nullptr};
    out.variables = std::make_shared<const cel::Definitions>(spec.get("variables"), out.environment,
                                                             thorough_, sources_, sink_);
    return out;
  }

  Check compile(const yaml::Node& row, const File& file) {
    Check out;
    out.id = row.get("id").as_string();
    out.title = row.get("title").as_string();
    out.source = row.get("source").as_string();
    out.fatal = row.get("fatal").as_boolean();
    out.judges_unanswered = row.get("unanswered").as_string() == "judged";
    std::shared_ptr<const cel::Environment> environment = file.environment;
    out.shared = file.variables;
    out.variables = {row.get("variables"), environment, thorough_, sources_, sink_};
    out.when = lazy<cel::Expression>(row.get("when"), environment);
    out.skipped = lazy<cel::Text>(row.get("skipped"), environment);
    out.ask = questions(row.get("ask"), environment);
    out.then = questions(row.get("then"), environment);
    out.passed = lazy<cel::Text>(row.get("passed"), environment);
    out.remedy = lazy<cel::Text>(row.get("remedy"), environment);
    for (const yaml::Node& written : row.get("findings").items()) {
      out.judgements.push_back(judgement(written, environment));
    }
    if (out.then && !out.ask) {
      fault(row.get("then"), "`then` follows the answers to `ask`, and there is none");
    }
    return out;
  }

 private:
  Judgement judgement(const yaml::Node& row,
                      const std::shared_ptr<const cel::Environment>& around) {
    Judgement out;
    std::shared_ptr<const cel::Environment> environment = around;
    for (const yaml::Entry& loop : row.get("forEach").entries()) {
      if (thorough_) cel::check_name(loop.key, *environment, sink_);
      out.loops.emplace_back(std::string(loop.key.as_string()),
                             lazy<cel::Expression>(loop.value, environment));
      auto inside = std::make_shared<cel::Environment>(*environment);
      inside->variables.push_back({std::string(loop.key.as_string()), cel::Type::dyn()});
      environment = std::move(inside);
    }
    out.variables = {row.get("variables"), environment, thorough_, sources_, sink_};
    out.when = lazy<cel::Expression>(row.get("when"), environment);
    out.verdict = verdict_named(row.get("verdict").as_string()).value_or(Verdict::fail);
    out.evidence = lazy<cel::Text>(row.get("evidence"), environment);
    out.remedy = lazy<cel::Text>(row.get("remedy"), environment);
    return out;
  }

  compose::LazyBody questions(const yaml::Node& written,
                              const std::shared_ptr<const cel::Environment>& environment) {
    if (written.is_null()) return {};
    compose::LazyBody out(written, environment, sources_);
    if (!thorough_) return out;
    out.check(sink_);
    for (const yaml::Node& question : written.items()) {
      const std::string wrong = fault_in(question);
      if (!wrong.empty()) fault(question, wrong);
    }
    return out;
  }

  template <typename T>
  cel::Lazy<T> lazy(const yaml::Node& scalar,
                    const std::shared_ptr<const cel::Environment>& environment) {
    return cel::lazy<T>(scalar, environment, thorough_, sources_, sink_);
  }

  void fault(const yaml::Node& at, const std::string& message) {
    sink_.error(kFaultyCheck, at.origin(), message);
  }

  bool thorough_;
  diag::Sources& sources_;
  diag::Sink& sink_;
  std::shared_ptr<const cel::Environment> base_;
};

std::shared_ptr<const Checks> Checks::compile(const catalog::Platform& platform,
                                              catalog::Library& library, bool thorough,
                                              diag::Sink& sink) {
  const std::size_t errors_before = sink.error_count();
  const auto made = std::make_shared<Checks>();
  const auto environment = derive::base_environment(platform, library.programs(platform.name));
  made->scope_ = derive::scope_of(platform, environment, thorough, library.sources(), sink);
  Compiler compiler(made->scope_, thorough, library.sources(), sink);
  for (const std::string& folder : platform.builds) {
    const yaml::Node spec = catalog::spec_of(library, "providers/" + folder + "/doctor.yaml");
    const Compiler::File file = compiler.file(spec);
    for (const yaml::Node& row : spec.get("checks").items()) {
      Check check = compiler.compile(row, file);
      const auto known = std::find_if(made->checks_.begin(), made->checks_.end(),
                                      [&](const Check& other) { return other.id == check.id; });
      if (known == made->checks_.end()) {
        made->checks_.push_back(std::move(check));
      } else {
        *known = std::move(check);
      }
    }
  }
  std::sort(made->checks_.begin(), made->checks_.end(), comes_before);
  return sink.error_count() == errors_before ? made : nullptr;
}

}  // namespace gpuctl::doctor
