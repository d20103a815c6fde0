#include "steps/steps.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "catalog/codes.hpp"
#include "catalog/wrapper.hpp"
#include "cel/lazy.hpp"
#include "yaml/texts.hpp"

namespace gpuctl::steps {

namespace {

// "500ms", "90s", "40m", "3h".
std::optional<std::chrono::milliseconds> time_of(const yaml::Node& row, std::string_view field) {
  const std::string_view text = row.get(field).as_string();
  const std::size_t digits = text.find_first_not_of("0123456789");
  if (digits == std::string_view::npos) return std::nullopt;
  const std::string_view unit = text.substr(digits);
  const std::int64_t factor = unit == "h"   ? 3'600'000
                              : unit == "m" ? 60'000
                              : unit == "s" ? 1000
                                            : 1;
  return std::chrono::milliseconds(base::parse_integer(text.substr(0, digits)).value_or(0) *
                                   factor);
}

Named named(const yaml::Node& map) {
  Named out;
  for (const yaml::Entry& entry : map.entries()) {
    out.emplace_back(entry.key.as_string(), entry.value.as_string());
  }
  return out;
}

class Compiler {
 public:
  Compiler(const derive::Scope& scope, bool thorough, diag::Sources& sources, diag::Sink& sink)
      : thorough_(thorough), sources_(sources), sink_(sink) {
    auto made = std::make_shared<cel::Environment>(*scope.environment);
    for (const char* name : {"attempt", "documents", "answer"}) {
      made->variables.push_back({name, cel::Type::dyn()});
    }
    made->variables.push_back({"folder", cel::Type::simple(cel::TypeKind::string)});
    made->variables.push_back({"item", cel::Type::dyn()});
    environment_ = std::move(made);
  }

  void file(const yaml::Node& spec, Steps& out) {
    for (const yaml::Node& row : spec.get("steps").items()) out.install.push_back(step(row));
    for (const yaml::Node& row : spec.get("destroy").items()) out.destroy.push_back(step(row));
    for (const yaml::Node& row : spec.get("leftovers").items()) {
      out.leftovers.push_back(
          {text_of(row, "title"), expression(row.get("when")), text(row.get("run"))});
    }
  }

 private:
  Step step(const yaml::Node& row) {
    Step out;
    out.name = text_of(row, "name");
    if (!names_.insert(out.name).second) {
      fault(row.get("name"), "two steps have the name `" + out.name + "`");
    }
    out.order = row.get("order").as_integer();
    if (!orders_.insert(out.order).second) {
      fault(row.get("order"), "two steps have the order " + std::to_string(out.order));
    }
    out.title = text(row.get("title"));
    out.when = expression(row.get("when"));
    out.repeat = row.get("repeat").as_boolean();
    out.yields = texts_of(row, "yields");
    if (row.find("write") != nullptr) out.kind = StepKind::write;
    if (const yaml::Node* written = row.find("program")) program(*written, row, out);
    if (const yaml::Node* written = row.find("learn")) learn(*written, out);
    if (const yaml::Node* written = row.find("place")) {
      out.kind = StepKind::place;
      out.kinds = texts_of(*written, "kinds");
      out.folder = text_of(*written, "folder");
      out.prefix = text_of(*written, "prefix");
    }
    if (const yaml::Node* written = row.find("apply")) {
      out.kind = StepKind::apply;
      out.call = call(*written);
      out.applied = text(written->get("folder"));
      out.retry = patterns(*written, "retry");
    }
    if (const yaml::Node* written = row.find("ask")) {
      out.kind = StepKind::ask;
      out.call = call(*written);
    }
    if (const yaml::Node* written = row.find("ensure")) {
      out.kind = StepKind::ensure;
      out.ensure = ensure(*written);
    }
    out.check = expression(row.get("check"));
    out.missing = expression(row.get("missing"));
    out.failed = expression(row.get("failed"));
    out.settle = time_of(row, "settle").value_or(out.settle);
    out.every = time_of(row, "every").value_or(out.every);
    out.limit = time_of(row, "limit");
    out.show = text(row.get("show"));
    return out;
  }

  void program(const yaml::Node& written, const yaml::Node& row, Step& out) {
    out.kind = StepKind::program;
    out.call = call(written);
    if (const yaml::Node* over = row.find("over")) {
      out.over = call(over->get("ask"));
      out.items = expression(over->get("items"));
    }
    out.needs = texts_of(row, "needs");
    out.lenient = row.get("lenient").as_boolean();
    out.log = text_of(row, "log");
    out.stalls = time_of(row, "stalls");
    for (const yaml::Node& way : row.get("resume").items()) {
      Way made{text_of(way, "name"), {}};
      for (const yaml::Node& one : way.get("programs").items()) made.calls.push_back(call(one));
      out.ways.push_back(std::move(made));
    }
    out.local = row.get("local").as_boolean();
    for (const yaml::Node& phase : row.get("phases").items()) {
      check_pattern(phase.get("starts"));
      check_way(phase.get("resume"), out);
      out.phases.push_back({text_of(phase, "name"), text_of(phase, "starts"),
                            time_of(phase, "limit"), text_of(phase, "resume")});
    }
    for (const yaml::Node& refusal : row.get("refused").items()) {
      check_pattern(refusal.get("pattern"));
      out.refused.push_back({text_of(refusal, "pattern"), text_of(refusal, "means")});
    }
    for (const yaml::Node& exit : row.get("exits").items()) {
      if (exit.find("resume") != nullptr) check_way(exit.get("resume"), out);
      out.exits.push_back({exit.get("code").as_integer(), text_of(exit, "means"),
                           text_of(exit, "remedy"), text_of(exit, "resume")});
    }
  }

  void learn(const yaml::Node& written, Step& out) {
    out.kind = StepKind::learn;
    out.documents = named(written.get("documents"));
    for (const yaml::Entry& entry : written.get("identity").entries()) {
      out.identity.emplace_back(entry.key.as_string(), expression(entry.value));
    }
    for (const yaml::Entry& entry : written.get("facts").entries()) {
      out.facts.emplace_back(entry.key.as_string(), expression(entry.value));
    }
    out.keep = named(written.get("keep"));
  }

  Ensure ensure(const yaml::Node& written) {
    Ensure out;
    out.each = expression(written.get("each"));
    out.called = text(written.get("called"));
    out.look = call(written.get("look"));
    out.absent = patterns(written, "absent");
    out.exists = expression(written.get("exists"));
    for (const yaml::Node& one : written.get("same").items()) {
      out.same.push_back(
          {text_of(one, "what"), expression(one.get("wanted")), expression(one.get("found"))});
    }
    if (const yaml::Node* create = written.find("create")) out.create = call(*create);
    out.retry = patterns(written, "retry");
    out.taken = patterns(written, "taken");
    out.done = expression(written.get("done"));
    out.state = text(written.get("state"));
    out.failed = expression(written.get("failed"));
    if (const yaml::Node* remove = written.find("remove")) out.remove = call(*remove);
    out.advice = text(written.get("advice"));
    if (const yaml::Node* otherwise = written.find("otherwise")) {
      out.otherwise =
          Otherwise{patterns(*otherwise, "failures"), expression(otherwise->get("ways"))};
    }
    out.gone = written.get("gone").as_boolean();
    out.whoever = written.get("whoever").as_boolean();
    return out;
  }

  std::vector<std::string> patterns(const yaml::Node& row, std::string_view field) {
    for (const yaml::Node& pattern : row.get(field).items()) check_pattern(pattern);
    return texts_of(row, field);
  }

  Call call(const yaml::Node& written) {
    Call out;
    out.role = text_of(written, "role");
    for (const yaml::Node& word : written.get("arguments").items()) {
      out.arguments.push_back(text(word));
    }
    for (const yaml::Entry& entry : written.get("environment").entries()) {
      out.environment.emplace_back(entry.key.as_string(), text(entry.value));
    }
    return out;
  }

  cel::LazyText text(const yaml::Node& scalar) {
    return cel::lazy<cel::Text>(scalar, environment_, thorough_, sources_, sink_);
  }

  cel::LazyExpression expression(const yaml::Node& scalar) {
    return cel::lazy<cel::Expression>(scalar, environment_, thorough_, sources_, sink_);
  }

  void check_pattern(const yaml::Node& scalar) {
    if (!thorough_) return;
    const re2::RE2 compiled(std::string(scalar.as_string()), re2::RE2::Quiet);
    if (!compiled.ok()) fault(scalar, "this is no regular expression: " + compiled.error());
  }

  void check_way(const yaml::Node& name, const Step& step) {
    const std::string_view way = name.as_string();
    if (way == kAgain || way == kDiscard || way == kDone) return;
    std::vector<std::string> names;
    for (const Way& one : step.ways) {
      if (one.name == way) return;
      names.push_back(one.name);
    }
    fault(name, "there is no way to resume `" + std::string(way) + "`").did_you_mean(way, names);
  }

  diag::Diagnostic& fault(const yaml::Node& at, const std::string& message) {
    return sink_.error(catalog::kKnowledgeFile, at.origin(), message);
  }

  bool thorough_;
  diag::Sources& sources_;
  diag::Sink& sink_;
  std::shared_ptr<const cel::Environment> environment_;
  std::set<std::string> names_;
  std::set<std::int64_t> orders_;
};

}  // namespace

const Step* Steps::find(std::string_view name) const {
  for (const std::vector<Step>* list : {&install, &destroy}) {
    for (const Step& step : *list) {
      if (step.name == name) return &step;
    }
  }
  return nullptr;
}

std::shared_ptr<const Steps> compile(const catalog::Platform& platform, catalog::Library& library,
                                     const derive::Scope& scope, bool thorough, diag::Sink& sink) {
  const auto made = std::make_shared<Steps>();
  made->scope = scope;
  Compiler compiler(scope, thorough, library.sources(), sink);
  for (const std::string& folder : platform.builds) {
    const yaml::Node spec = catalog::spec_of(library, "providers/" + folder + "/install.yaml");
    if (spec.is_map()) compiler.file(spec, *made);
  }
  const auto by_order = [](const Step& a, const Step& b) { return a.order < b.order; };
  std::stable_sort(made->install.begin(), made->install.end(), by_order);
  std::stable_sort(made->destroy.begin(), made->destroy.end(), by_order);
  return made;
}

}  // namespace gpuctl::steps
