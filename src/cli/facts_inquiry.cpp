#include "cli/facts_inquiry.hpp"

#include <filesystem>

#include "cli/apply_target.hpp"
#include "cli/fleets.hpp"
#include "cli/progress.hpp"
#include "facts/live.hpp"
#include "secrets/mask.hpp"
#include "yaml/emit.hpp"

namespace gpuctl::cli {

namespace {

std::shared_ptr<const facts::Rows> rows_of(const Result& result, Knowledge& knowledge) {
  const pipeline::Compiled& compiled = *result.opened->compiled;
  diag::Sink checked;  // the build has checked what is built in, and overlays were just now
  return facts::compile(*compiled.platform, knowledge.library(), compiled.effects->scope(), false,
                        checked);
}

std::string absolute(const std::string& path) {
  std::error_code failure;
  const std::string out = std::filesystem::absolute(path, failure).string();
  return failure ? path : out;
}

}  // namespace

void FactsOptions::add_repository(Options& command) {
  command
      .add_option("--facts", facts,
                  "Facts of the cluster (default: from the repository, then NAME.facts.yaml beside "
                  "the blueprint)")
      .type_name("FILE");
  command
      .add_option("--repo", repository,
                  "Repository with the committed facts: a path, or an address")
      .type_name("REPO");
  command.add_option("--branch", branch, "Branch of the repository (default: its own)")
      .type_name("NAME");
}

void FactsOptions::add_sources(Options& command) {
  command
      .add_option("--prefer", prefer,
                  "Source, place or kind of source that counts where sources disagree; may be "
                  "repeated")
      .type_name("SOURCE")
      .allow_extra_args(false);
  command.add_flag("--live", live, "Ask the running cluster as well");
  command
      .add_option("--kubeconfig", kubeconfig,
                  "File that --live reaches the cluster by (default: what the environment says)")
      .type_name("FILE");
}

void FactsOptions::check_sources(const std::string& command) const {
  if (sources.empty() && !live) {
    throw UsageError(command + ": give at least one source, or --live");
  }
}

std::unique_ptr<Result> run_for_facts(const FactsOptions& options, Knowledge& knowledge,
                                      Report& report, const std::function<void(Request&)>& change) {
  BlueprintOptions inputs;
  inputs.facts = options.facts;
  std::optional<Request> request = make_request(inputs, report);
  if (!request) return nullptr;
  request->despite_rules = true;
  request->replace_facts = true;
  std::unique_ptr<Target> target;
  diag::Sink unread;
  if (!options.repository.empty()) {
    target = make_target({options.repository, options.branch, {}, false, true}, report);
    if (target == nullptr || !target->look(unread)) {
      report.show(unread, diag::Sources());
      return nullptr;
    }
    request->earlier = [&](const std::string& path) -> std::optional<std::string> {
      if (target->head().start.empty() || target->repository() == nullptr) return std::nullopt;
      return target->repository()->read(target->head().start, path, unread);
    };
  }
  if (change) change(*request);
  std::string blueprint = options.blueprint;
  if (!expand_one(blueprint, *request, knowledge, report)) return nullptr;
  auto result = std::make_unique<Result>(pipeline::run(blueprint, *request, knowledge));
  if (result->derived) return result;
  report.show(result->sink, *result->sources);
  if (!result->sink.has_errors()) {
    diag::Sink sink;
    sink.error(kUnreadable, diag::kNoOrigin,
               "`" + shown(options.blueprint) + "` holds no blueprint");
    report.show(sink, diag::Sources());
  }
  return nullptr;
}

std::optional<Inquired> inquire(Result& result, const FactsOptions& options, bool strict,
                                Knowledge& knowledge, Report& report) {
  const auto rows = rows_of(result, knowledge);
  diag::Sink sink;
  const yaml::Context context{*result.sources, *result.arena, sink};
  facts::Inquiry inquiry(*rows, result.expression_inputs(), context);
  std::vector<std::string> patterns;
  for (const facts::Row& row : rows->rows) {
    patterns.insert(patterns.end(), row.files.begin(), row.files.end());
  }
  std::vector<facts::Source> sources;
  for (const std::string& path : options.sources) {
    auto read = facts::read_source(
        path, patterns,
        [&](diag::FileId file, diag::Sources& of) { knowledge.hide_secrets(file, of); }, context);
    std::move(read.begin(), read.end(), std::back_inserter(sources));
  }
  Inquired out;
  if (options.live && !sink.has_errors()) {
    const Waiting waiting(report, "asking the cluster");
    const live::Programs programs(*result.opened->blueprint.platform, knowledge.library());
    const secrets::RulesMask mask(knowledge.secret_rules());
    const std::string kubeconfig =
        options.kubeconfig.empty() ? std::string() : absolute(options.kubeconfig);
    facts::Answers answers =
        facts::ask_cluster(*rows, inquiry, programs, kubeconfig, strict, mask, context);
    std::move(answers.sources.begin(), answers.sources.end(), std::back_inserter(sources));
    out.silent = std::move(answers.silent);
  }
  if (!sink.has_errors()) {
    out.learned = inquiry.ask(sources, options.prefer);
    std::map<facts::Path, yaml::Node> all = facts::leaves_of(result.loaded->facts);
    for (const auto& [path, said] : out.learned.facts) all[path] = said.value;
    out.computed = inquiry.computed(facts::tree_of(all, *result.arena));
  }
  const bool good = !sink.has_errors();
  report.show(sink, *result.sources);
  if (!good) return std::nullopt;
  return out;
}

std::map<std::string, yaml::Node> computed_facts(Result& result, Knowledge& knowledge) {
  const auto rows = rows_of(result, knowledge);
  diag::Sink sink;
  facts::Inquiry inquiry(*rows, result.expression_inputs(), {*result.sources, *result.arena, sink});
  return inquiry.computed(result.loaded->facts);
}

std::string value_text(const yaml::Node& value) {
  if (value.is_string()) return shown(value.as_string());
  if (value.is_list() && value.size() != 0) {
    std::vector<std::string> parts;
    for (const yaml::Node& item : value.items()) parts.push_back(value_text(item));
    return base::join(parts, ", ");
  }
  return shown(yaml::emit_json(value));
}

std::vector<std::string> fact_names(const Result& result) {
  std::vector<std::string> out;
  const yaml::Node definition = schema::definition(*result.opened->blueprint.platform->facts);
  for (const yaml::Entry& entry : definition.get("properties").entries()) {
    out.emplace_back(entry.key.as_string());
  }
  return out;
}

}  // namespace gpuctl::cli
