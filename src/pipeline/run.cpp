#include "pipeline/run.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "base/digest.hpp"
#include "base/stages.hpp"
#include "pipeline/air_gap.hpp"
#include "pipeline/foreign.hpp"

namespace gpuctl::pipeline {

namespace {

std::size_t rule_count(const catalog::Platform& platform) {
  std::size_t count = 0;
  for (const catalog::RuleFile& file : platform.rules) count += file.rules.size();
  return count;
}

// Rules, then documents and files.
void develop(Result& out, const Request& request, Knowledge& knowledge) {
  const Opened& opened = *out.opened;
  const Compiled& compiled = *opened.compiled;
  const yaml::Context context = out.context();
  spdlog::debug("{}: derive", out.blueprint_file);
  std::optional<derive::Derived> derived = derive(opened, *out.loaded, request, context);
  if (!derived) return;
  spdlog::debug("{}: check {} rules", out.blueprint_file, rule_count(*compiled.platform));
  diag::Sink objections;
  {
    const base::StageScope checking(base::Stage::check);
    rule::check(*compiled.rules, opened.blueprint, *derived, out.loaded->facts, request.date,
                {*out.sources, *out.arena, objections});
  }
  diag::Sink later;  // objections that do not stop it
  if (request.despite_rules) {
    later = std::move(objections);
  } else {
    out.sink.take(std::move(objections));
    // Secrets in the inputs stop it where rules do: both are said together.
    if (out.loaded->betrayed.has_errors()) return;
  }
  if (out.sink.has_errors()) return;
  out.derived = std::move(derived);
  spdlog::debug("{}: render {} templates", out.blueprint_file, compiled.templates->size());
  out.manifests = write(opened, *out.loaded, *out.derived, out.blueprint_file, request, context);
  if (!out.sink.has_errors() && !request.despite_gap) {
    check_air_gap(opened, *out.loaded, *out.derived, out.manifests->rendered, context);
  }
  if (!out.sink.has_errors() && !request.provenance) {
    out.output = assemble(opened, *out.loaded, *out.derived, *out.manifests, out.directory, request,
                          knowledge.library().digest(), context);
  }
  out.sink.take(std::move(later));
}

// What a rule objects to at the same place needs no second message.
void report_betrayed(const diag::Sink& betrayed, diag::Sink& sink) {
  const std::vector<diag::Diagnostic> said = sink.all();
  for (const diag::Diagnostic& finding : betrayed.all()) {
    const bool known = std::any_of(said.begin(), said.end(), [&](const diag::Diagnostic& one) {
      return one.severity == diag::Severity::error && one.primary.at != diag::kNoOrigin &&
             one.primary.at == finding.primary.at;
    });
    if (!known) sink.add(finding);
  }
}

void stages(Result& out, const Request& request, Knowledge& knowledge) {
  const yaml::Context context = out.context();
  const std::shared_ptr<const secrets::Rules> secret_rules = knowledge.secret_rules();
  InputFiles files(out.blueprint_file, request, *secret_rules, context);
  out.directory = files.directory();
  out.facts_beside = files.facts_beside();
  std::optional<std::string> text;
  if (files.member() == nullptr) {
    text = files.read(out.blueprint_file);
    if (!text) return;
    if (request.foreign) {
      out.foreign = check_foreign(out.blueprint_file, *text, request, knowledge, context);
      if (out.foreign) return;
    }
  }
  {
    const base::StageScope opening(base::Stage::blueprint);
    std::optional<std::vector<yaml::Node>> layers =
        text ? read_layers(std::move(*text), files, context)
             : layers_of(*files.member(), files, context);
    if (layers) out.opened = open(std::move(*layers), files, knowledge, context);
  }
  if (out.opened && !out.sink.has_errors()) {
    out.loaded = load(*out.opened, request, files, knowledge, context);
  }
  out.inputs = std::move(files.inputs);
  if (!out.loaded) return;
  develop(out, request, knowledge);
  report_betrayed(out.loaded->betrayed, out.sink);
}

}  // namespace

derive::Inputs Result::expression_inputs() const {
  const blueprint::Blueprint& written = opened->blueprint;
  return {written.metadata, written.spec, derived->cluster, written.platform->catalog,
          loaded->facts};
}

const render::Rendered& Result::rendered() const {
  static const render::Rendered none;
  return manifests ? manifests->rendered : none;
}

void Result::leave_out_ignored(diag::Sink& findings) {
  if (!opened) return;
  pipeline::leave_out_ignored(opened->blueprint.spec.get("ignore"), findings, ignored);
}

Result run(const std::string& blueprint_file, const Request& request, Knowledge& knowledge) {
  Result out;
  out.blueprint_file = blueprint_file;
  out.members = request.members;
  const Member* member = request.member(blueprint_file);
  out.sources = member != nullptr ? std::make_unique<diag::Sources>(*member->sources, member->files)
                                  : std::make_unique<diag::Sources>(&knowledge.library().sources());
  out.arena = std::make_unique<yaml::Arena>();
  stages(out, request, knowledge);
  out.leave_out_ignored(out.sink);
  return out;
}

}  // namespace gpuctl::pipeline
