#include "cli/pipeline.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>

#include "base/date.hpp"
#include "base/digest.hpp"
#include "base/file.hpp"
#include "base/path_check.hpp"
#include "base/stages.hpp"
#include "base/text.hpp"
#include "cli/codes.hpp"
#include "cli/day.hpp"
#include "cli/foreign.hpp"
#include "cli/version.hpp"
#include "document/token.hpp"
#include "render/codes.hpp"
#include "render/origin.hpp"
#include "render/verify.hpp"
#include "secrets/codes.hpp"
#include "secrets/fields.hpp"
#include "secrets/guard.hpp"
#include "secrets/mask.hpp"
#include "secrets/reference.hpp"
#include "yaml/emit.hpp"
#include "yaml/path.hpp"
#include "yaml/read.hpp"

namespace gpuctl::cli {

namespace {

using base::Stage;

class Run {
 public:
  Run(const std::string& blueprint_file, const Request& request, Knowledge& knowledge)
      : request_(request),
        knowledge_(knowledge),
        secret_rules_(knowledge.secret_rules()),
        guard_(secret_rules_) {
    result_.blueprint_file = blueprint_file;
    result_.sources = std::make_unique<diag::Sources>(&knowledge.library().sources());
    result_.arena = std::make_unique<yaml::Arena>();
  }

  Result finish() {
    stages();
    result_.leave_out_ignored(result_.sink);
    return std::move(result_);
  }

 private:
  diag::Sink& sink() { return result_.sink; }
  diag::Sources& sources() { return *result_.sources; }
  yaml::Arena& arena() { return *result_.arena; }
  bool failed() const { return result_.sink.has_errors(); }

  using Content = std::variant<std::string, base::FileError>;

  // A file, from the disk or from what was given; `otherwise` reads the disk.
  Content content_of(const std::string& path, const std::function<Content()>& otherwise) const {
    const auto given = request_.given.find(path);
    return given == request_.given.end() ? otherwise() : Content(given->second);
  }
  Content content_of(const std::string& path) const {
    return content_of(path, [&] { return base::read_file(path, kMostInputBytes); });
  }

  // A file that a user wrote: nothing is said of it before what looks like a secret is hidden.
  diag::FileId add_file(const std::string& name, std::string text) {
    const diag::FileId file = sources().add_file(name, std::move(text));
    secrets::hide(file, *secret_rules_, sources());
    return file;
  }

  // Reads a file the user named.
  std::optional<std::string> read_file(const std::string& path) {
    auto content = content_of(path);
    if (const auto* error = std::get_if<base::FileError>(&content)) {
      sink().error(kUnreadable, diag::kNoOrigin, "cannot read `" + path + "`: " + error->text);
      return std::nullopt;
    }
    return std::move(std::get<std::string>(content));
  }

  void stages() {
    if (!load_inputs()) return;
    guard_.allow(result_.blueprint->spec.get({"secretScan", "allow"}));
    {
      const base::StageScope scope(Stage::secrets);
      guard_.check_input(result_.blueprint->document, "", sources(), betrayed_);
      guard_.check_input(facts_, "facts:", sources(), betrayed_);
    }
    load_extra_manifests();
    develop();
    report_betrayed();
  }

  bool load_inputs() {
    const base::StageScope scope(Stage::blueprint);
    return load() && load_lock() && load_facts();
  }

  // What a rule objects to at the same place needs no second message.
  void report_betrayed() {
    const std::vector<diag::Diagnostic> said = sink().all();
    for (const diag::Diagnostic& finding : betrayed_.all()) {
      const bool known = std::any_of(said.begin(), said.end(), [&](const diag::Diagnostic& one) {
        return one.severity == diag::Severity::error && one.primary.at != diag::kNoOrigin &&
               one.primary.at == finding.primary.at;
      });
      if (!known) sink().add(finding);
    }
  }

  std::optional<derive::Derived> derived(diag::Sink& findings) {
    const base::StageScope scope(Stage::derive);
    return derive::derive(*compiled_->derivation, *result_.blueprint, facts_, earlier_, sources(),
                          arena(), findings);
  }

  std::size_t rule_count() const {
    std::size_t count = 0;
    for (const catalog::RuleFile& file : compiled_->platform->rules) count += file.rules.size();
    return count;
  }

  // What rules say of the blueprint.
  diag::Sink objections(const derive::Derived& derived) {
    const base::StageScope scope(Stage::check);
    const std::string today =
        request_.date.empty() ? base::day_text(chosen_day({})) : request_.date;
    diag::Sink out;
    rule::check(*compiled_->rules, *result_.blueprint, derived, facts_, today, sources(), arena(),
                out);
    return out;
  }

  // What the inputs lead to. Secrets in them stop it where rules do: both are said together.
  void develop() {
    if (result_.old_lock) earlier_.choices = plan::kept_choices(*result_.old_lock, arena());
    earlier_.again = request_.choose_again;
    spdlog::debug("{}: derive", result_.blueprint_file);
    diag::Sink findings;
    const std::optional<derive::Derived> derived = this->derived(findings);
    take(std::move(findings));
    if (!derived) return;
    spdlog::debug("{}: check {} rules", result_.blueprint_file, rule_count());
    diag::Sink objections = this->objections(*derived);
    if (!request_.despite_rules) {
      sink().take(std::move(objections));
      if (betrayed_.has_errors()) return;
    }
    if (failed()) return;
    result_.choices = derived->choices;
    result_.shown = derived->shown;
    spdlog::debug("{}: render {} templates", result_.blueprint_file, compiled_->templates->size());
    render(*derived);
    sink().take(std::move(objections));
  }

  // Documents with marks instead of origins, and what the marks mean.
  struct Traced {
    std::unique_ptr<cel::Provenance> provenance = std::make_unique<cel::Provenance>();
    render::Rendered rendered;
    diag::Sink findings;
  };

  // Derives, renders and verifies once more with provenance.
  Traced trace() {
    Traced out;
    const std::optional<derive::Derived> derived =
        derive::derive(*compiled_->derivation, *result_.blueprint, facts_, earlier_, sources(),
                       arena(), out.findings, out.provenance.get());
    if (!derived) return out;
    const render::Cluster cluster{*result_.blueprint, *derived, facts_, out.provenance.get()};
    out.rendered = documents(cluster, out.findings);
    return out;
  }

  // Takes over the findings of a stage. Errors among them are found once more with provenance, to
  // say what is behind the values.
  void take(diag::Sink findings) {
    if (findings.has_errors()) {
      const Traced traced = trace();
      if (traced.findings.has_errors()) {
        findings = {};
        for (diag::Diagnostic diagnostic : traced.findings.all()) {
          render::resolve(*traced.provenance, sources(), diagnostic);
          findings.add(std::move(diagnostic));
        }
      }
    }
    sink().take(std::move(findings));
  }

  // The release that reads the documents of this cluster; empty when the platform has none.
  std::string release_of(const render::Cluster& cluster) const {
    if (!compiled_->platform->releases) return {};
    yaml::Node node = cluster.derived.cluster;
    for (const std::string_view step : base::split(compiled_->platform->releases->derived, '.')) {
      node = node.get(step);
    }
    return std::string(node.as_string());
  }

  render::Rendered documents(const render::Cluster& cluster, diag::Sink& findings) {
    const base::StageScope rendering(Stage::render);
    render::Rendered out =
        render::render(*compiled_->templates, cluster, extra_, {}, sources(), arena(), findings);
    const base::StageScope verifying(Stage::verify);
    if (!findings.has_errors()) {
      render::verify_as_read(out.documents, *compiled_->documents, release_of(cluster),
                             cluster.derived.cluster, true, sources(), arena(), findings);
    }
    if (request_.crds && !findings.has_errors()) {
      const std::lock_guard<std::mutex> one_at_a_time(request_.crds->mutex);
      result_.crd_rules = schema::RuleCounts();
      render::verify(out.documents, *compiled_->documents, request_.crds->crds, true, sources(),
                     arena(), findings, &*result_.crd_rules);
    }
    return out;
  }

  bool load() {
    std::optional<std::string> text = read_file(result_.blueprint_file);
    if (!text) return false;
    if (request_.foreign) {
      result_.foreign = check_foreign(result_.blueprint_file, *text, request_, knowledge_,
                                      sources(), arena(), sink());
      if (result_.foreign) return false;
    }
    input_ += *text;
    input_ += '\0';
    result_.inputs.blueprint_file = result_.blueprint_file;
    result_.inputs.blueprint = base::sha256_hex(*text);
    const diag::FileId file = add_file(result_.blueprint_file, std::move(*text));
    const blueprint::FindPlatform find = [&](const std::string& name, diag::Origin asked_at,
                                             diag::Sink& to) {
      const base::StageScope scope(Stage::knowledge);
      compiled_ = knowledge_.platform(name, asked_at, to);
      return compiled_ == nullptr ? nullptr : compiled_->platform;
    };
    result_.blueprint = blueprint::load(file, find, sources(), arena(), sink());
    if (!result_.blueprint || failed()) return false;
    check_ignore(result_.blueprint->spec.get("ignore"), *result_.blueprint->platform, sink());
    load_parts();
    return !failed();
  }

  // Puts the documents that fields with `x-gpuctl-reads: NAME` name beside them, under NAME: rules
  // and templates see them as a part of the blueprint.
  void load_parts() {
    constexpr std::string_view kReads = "x-gpuctl-reads";
    blueprint::Blueprint& blueprint = *result_.blueprint;
    std::vector<std::pair<std::vector<std::string>, yaml::Node>> named;
    schema::for_each_value(*blueprint.platform->blueprint, blueprint.document,
                           [&](const std::vector<std::string>& path, const yaml::Node& definition,
                               const yaml::Node& value) {
                             const yaml::Node target = definition.get(kReads);
                             if (!target.is_string() || !value.is_string()) return;
                             named.emplace_back(path, value);
                             named.back().first.back() = target.as_string();
                           });
    if (named.empty()) return;
    yaml::Node document = blueprint.document;
    for (const auto& [target, path] : named) {
      if (const std::optional<yaml::Node> part = read_part(path)) {
        document = yaml::with_value(document, target, *part, arena());
      }
    }
    blueprint::hide_secrets(*blueprint.platform->blueprint, document, sources());
    blueprint.document = document;
    blueprint.metadata = document.get("metadata");
    blueprint.spec = document.get("spec");
  }

  // The document in a file that the blueprint names. What is no document may be a secret that got
  // there by mistake: nothing of it is shown.
  std::optional<yaml::Node> read_part(const yaml::Node& path) {
    std::optional<diag::FileId> file = read_beside(path, kUnusablePart);
    if (!file) return std::nullopt;
    secrets::hide_fields(*file, knowledge_.secret_fields(), sources());
    std::optional<yaml::Node> part = yaml::read(*file, sources(), arena(), sink());
    if (part && part->is_map()) return part;
    sources().hide(*file, 0, static_cast<std::uint32_t>(sources().file_text(*file).size()));
    if (part) {
      sink().error(kUnusablePart, path.origin(), "the file holds no YAML document with fields");
    }
    return std::nullopt;
  }

  std::string cluster_path(std::string_view file) const {
    return "clusters/" + result_.blueprint->stage + "/" + result_.blueprint->name + "/" +
           std::string(file);
  }

  bool load_lock() {
    if (!request_.earlier) return true;
    const std::string path = cluster_path(plan::kLockFile);
    std::optional<std::string> text = request_.earlier(path);
    if (!text) return true;
    const diag::FileId file = sources().add_file(path, std::move(*text));
    result_.old_lock =
        plan::read_lock(file, result_.blueprint->name, kVersion, sources(), arena(), sink());
    return result_.old_lock.has_value();
  }

  // A facts file; nothing when it cannot be used (reported).
  std::optional<yaml::Node> parse_facts(const std::string& name, std::string text) {
    const diag::FileId file = add_file(name, std::move(text));
    return blueprint::load_facts(file, *result_.blueprint, sources(), arena(), sink());
  }

  // The facts in the output say which cluster stands there. Those that cannot be read are to be
  // replaced, whatever they were.
  bool keeps_identity(const yaml::Node& facts) {
    if (!request_.earlier || request_.replace_facts) return true;
    const std::string path = cluster_path("facts.yaml");
    std::optional<std::string> text = request_.earlier(path);
    if (!text) return true;
    diag::Sink unread;
    const std::optional<yaml::Node> before = blueprint::load_facts(
        add_file(path, std::move(*text)), *result_.blueprint, sources(), arena(), unread);
    if (before) blueprint::check_identity(*before, facts, path, *result_.blueprint, sink());
    return !failed();
  }

  // --facts, then the target repository, then beside the blueprint.
  bool load_facts() {
    facts_ = arena().map(std::span<const yaml::Entry>());
    std::optional<yaml::Node> given;
    if (!request_.facts_file.empty()) {
      std::optional<std::string> text = read_file(request_.facts_file);
      if (!text) return false;
      result_.inputs.facts = base::sha256_hex(*text);
      given = parse_facts(request_.facts_file, std::move(*text));
      if (!given || !keeps_identity(*given)) return false;
    } else {
      const std::string in_output = cluster_path("facts.yaml");
      if (request_.earlier) {
        if (std::optional<std::string> text = request_.earlier(in_output)) {
          given = parse_facts(in_output, std::move(*text));
          if (!given) return false;
        }
      }
      const std::string name = facts_beside(result_.blueprint_file);
      auto content = content_of(name);
      const auto* error = std::get_if<base::FileError>(&content);
      if (error != nullptr && error->code != ENOENT && error->code != ENAMETOOLONG) {
        sink()
            .error(kUnreadable, diag::kNoOrigin, "cannot read `" + name + "`: " + error->text)
            .suggest("the facts beside a blueprint are optional: mend the file, or move it away");
        return false;
      }
      if (auto* text = std::get_if<std::string>(&content)) {
        result_.inputs.facts_beside = base::sha256_hex(*text);
        const std::optional<yaml::Node> beside = parse_facts(name, std::move(*text));
        if (!beside) return false;
        if (given && !yaml::equal(*given, *beside)) {
          sink()
              .warning(kFactsDiffer, beside->origin(),
                       "these facts differ from `" + in_output + "`, which wins")
              .suggest("to replace the facts of the cluster, give `--facts " + name + "`");
        }
        if (!given) given = beside;
      }
    }
    if (given) facts_ = *given;
    // By content, so that it does not matter where the facts were found.
    input_ += yaml::emit_json(facts_);
    return true;
  }

  // A file below the blueprint's directory that the blueprint names at `path`, as an input of the
  // run; nothing after an error with this code.
  std::optional<diag::FileId> read_beside(const yaml::Node& path, std::string_view code) {
    const std::string relative(path.as_string());
    if (const std::string reason = base::unsafe_path_reason(relative); !reason.empty()) {
      sink()
          .error(code, path.origin(), "`" + secrets::masked(relative) + "` " + reason)
          .expect("a path below the blueprint's directory");
      return std::nullopt;
    }
    const std::string name = directory_of(result_.blueprint_file) + relative;
    const std::size_t left = kMostExtraBytes - extra_bytes_;
    auto content = content_of(name, [&] {
      return base::read_file_beneath(directory_of(result_.blueprint_file), relative,
                                     std::min(kMostInputBytes, left));
    });
    if (const auto* error = std::get_if<base::FileError>(&content)) {
      if (error->code == EFBIG && left < kMostInputBytes) {
        sink()
            .error(render::kTooMuchInput, path.origin(),
                   "with `" + secrets::masked(name) +
                       "` the files that this blueprint names are too large together")
            .expect("at most " + std::to_string(kMostExtraBytes) + " bytes in all of them")
            .suggest("let the GitOps engine take large manifests from where they are published");
        extra_bytes_ = kMostExtraBytes;
        return std::nullopt;
      }
      diag::Diagnostic& refused = sink().error(
          code, path.origin(), "cannot read `" + secrets::masked(name) + "`: " + error->text);
      if (error->code == EXDEV) refused.suggest("copy the file beside the blueprint");
      return std::nullopt;
    }
    std::string text = std::move(std::get<std::string>(content));
    extra_bytes_ += std::min(text.size(), left);
    input_ += text;
    result_.inputs.extra.emplace_back(relative, base::sha256_hex(text));
    return add_file(name, std::move(text));
  }

  void load_extra_manifests() {
    for (const yaml::Node& item : result_.blueprint->spec.get("extraManifests").items()) {
      const yaml::Node path = item.get("path");
      const std::optional<diag::FileId> file = read_beside(path, render::kExtraManifest);
      if (!file && extra_bytes_ == kMostExtraBytes) return;  // said once
      if (!file) continue;
      const std::string name(sources().file_name(*file));
      const std::optional<std::vector<yaml::Node>> documents =
          yaml::read_all(*file, sources(), arena(), sink());
      if (!documents) continue;
      if (documents->empty()) {
        sink().error(render::kExtraManifest, path.origin(), "`" + name + "` holds no manifest");
      }
      for (const yaml::Node& document : *documents) {
        guard_.check_input(document, secrets::subject_of(document), sources(), betrayed_);
        if (!document.get("kind").is_string() || !document.get("apiVersion").is_string() ||
            !document.get({"metadata", "name"}).is_string()) {
          sink()
              .error(render::kExtraManifest, document.origin(),
                     "this extra manifest is no Kubernetes object")
              .expect("apiVersion, kind and metadata.name");
        }
      }
      extra_.push_back({std::string(item.get("layer").as_string()), name, *documents});
    }
  }

  void render(const derive::Derived& derived) {
    const render::Cluster cluster{*result_.blueprint, derived, facts_};
    diag::Sink findings;
    result_.rendered = documents(cluster, findings);
    take(std::move(findings));
    if (failed()) return;
    if (request_.provenance) {
      Traced traced = trace();
      result_.rendered = std::move(traced.rendered);
      result_.provenance = std::move(traced.provenance);
      return;
    }
    report_left_out();
    if (!request_.install_dir.empty()) render_secrets(cluster);
    assemble();
    search_output();
    if (failed()) result_.files.files.clear();
  }

  void assemble() {
    const base::StageScope scope(Stage::assemble);
    plan::Lock lock;
    lock.tool = kVersion;
    lock.catalog = knowledge_.library().digest();
    lock.input = base::sha256_hex(input_);
    lock.choices = result_.choices;
    result_.files = plan::assemble(result_.rendered, result_.blueprint->stage,
                                   result_.blueprint->name, std::move(lock));
  }

  // What templates and overrides made of the inputs, and what the lock says.
  void search_output() {
    const base::StageScope scope(Stage::secrets);
    for (const render::Document& document : result_.rendered.documents) {
      guard_.check_output(document.body, secrets::subject_of(document.body),
                          result_.files.directory + "/" + document.path,
                          result_.files.files.at(document.path), sources(), sink());
    }
    for (const derive::Choice& choice : result_.choices) {
      guard_.check_output(choice.value, choice.path + ":",
                          result_.files.directory + "/" + std::string(plan::kLockFile), "",
                          sources(), sink());
    }
    // What waits for a fact may need an exception later.
    if (result_.rendered.withheld.empty()) guard_.report_idle(sink());
    result_.exceptions = guard_.used();
  }

  // Documents that would hold a secret in clear: never in Git, and elsewhere only on demand.
  void report_left_out() {
    for (const render::Private& one : result_.rendered.left_out) {
      if (request_.install_dir.empty()) {
        sink()
            .error(kSecretInClear, one.reference, one.title + " would hold its secret in clear")
            .label("only for `render --install-dir`")
            .expect("`externalSecret`, `sealedSecret` or `existing`")
            .suggest("what goes to Git names a secret or holds it encrypted")
            .suggest(
                "a cluster without Git: `gpuctl render --install-dir DIR` writes it to a private "
                "directory");
      } else {
        sink()
            .note(kLeftOutOfGit, one.reference, one.title + " is not among the manifests")
            .label("holds a secret in clear")
            .suggest(
                "it is in the private directory: create it in the cluster yourself; `validate` and "
                "`apply` refuse this reference");
      }
    }
  }

  void render_secrets(const render::Cluster& cluster) {
    const render::ResolveSecret resolve = [&](const yaml::Node& reference,
                                              std::string_view checked_as) {
      return resolve_secret(reference, checked_as);
    };
    const std::vector<render::Document> documents =
        render::render_secret(*compiled_->templates, cluster, resolve, sources(), arena(), sink());
    if (failed()) return;
    {
      // Messages about a value that breaks its schema would quote it.
      diag::Sink hidden;
      render::verify_as_read(documents, *compiled_->documents, release_of(cluster),
                             cluster.derived.cluster, false, sources(), arena(), hidden);
      if (request_.crds) {
        const std::lock_guard<std::mutex> one_at_a_time(request_.crds->mutex);
        render::verify(documents, *compiled_->documents, request_.crds->crds, false, sources(),
                       arena(), hidden);
      }
      if (hidden.has_errors()) {
        sink()
            .error(secrets::kSecretUnavailable, diag::kNoOrigin,
                   "a document does not pass its checks once the secrets are in place")
            .suggest("check the referenced secrets: a pull secret is one JSON object with `auths`");
        return;
      }
    }
    for (const render::Document& document : documents) {
      const std::size_t slash = document.path.rfind('/');
      result_.secret_files.push_back(
          {result_.blueprint->name + "/" +
               document.path.substr(slash == std::string::npos ? 0 : slash + 1),
           render::bytes(document)});
    }
  }

  // The value behind a reference, right in the eyes of the kind that its template names.
  std::optional<std::string> resolve_secret(const yaml::Node& reference,
                                            std::string_view checked_as) {
    std::optional<std::string> value =
        secrets::read_secret(reference, directory_of(result_.blueprint_file), sink());
    if (!value || checked_as.empty()) return value;
    document::Context context;
    context.fallback = secrets::place_of_secret(reference);
    const std::size_t errors_before = sink().error_count();
    compiled_->documents->check(
        document::token_document(checked_as, *value, document::seconds_now(), arena()), context,
        sources(), arena(), sink());
    return sink().error_count() == errors_before ? value : std::nullopt;
  }

  const Request& request_;
  Knowledge& knowledge_;
  std::shared_ptr<const secrets::Rules> secret_rules_;
  secrets::Guard guard_;
  diag::Sink betrayed_;  // secrets in the inputs
  const Compiled* compiled_ = nullptr;
  yaml::Node facts_;
  derive::Earlier earlier_;
  std::vector<render::ExtraManifest> extra_;
  std::size_t extra_bytes_ = 0;  // of files that the blueprint names
  std::string input_;
  Result result_;
};

}  // namespace

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

std::string facts_beside(const std::string& blueprint_file) {
  constexpr std::string_view kEnding = ".yaml";
  std::string stem = blueprint_file;
  if (stem.ends_with(kEnding)) stem.resize(stem.size() - kEnding.size());
  return stem + ".facts.yaml";
}

std::string Inputs::digest() const {
  std::string all = blueprint_file + "\n" + blueprint + "\n" + facts + "\n" + facts_beside + "\n";
  for (const auto& [path, digest] : extra) all += digest + " " + path + "\n";
  return base::sha256_hex(all);
}

void Result::leave_out_ignored(diag::Sink& findings) {
  if (blueprint) cli::leave_out_ignored(blueprint->spec.get("ignore"), findings, ignored);
}

Result run(const std::string& blueprint_file, const Request& request, Knowledge& knowledge) {
  return Run(blueprint_file, request, knowledge).finish();
}

}  // namespace gpuctl::cli
