#include "effects/rows.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "catalog/wrapper.hpp"
#include "cel/lazy.hpp"
#include "effects/codes.hpp"

namespace gpuctl::effects {

namespace {

// In the order of Operation.
constexpr std::array<std::string_view, 6> kOperations = {"created", "removed", "moved",
                                                         "added",   "taken",   "changed"};

// A kind of this name has rows on all kinds.
constexpr std::string_view kAnyKind = "*";

constexpr std::string_view kByCommit = "commit";

bool is_on_objects(Operation operation) {
  return operation < Operation::added;
}

// `*` in the pattern is any text; the first place where the rest of it stands will do, but at the
// end only the last one does.
bool fits(std::string_view pattern, std::string_view path) {
  const std::vector<std::string_view> parts = base::split(pattern, '*');
  if (parts.size() == 1) return pattern == path;
  if (!path.starts_with(parts.front())) return false;
  path.remove_prefix(parts.front().size());
  for (std::size_t i = 1; i + 1 < parts.size(); ++i) {
    const std::size_t at = path.find(parts[i]);
    if (at == std::string_view::npos) return false;
    path.remove_prefix(at + parts[i].size());
  }
  return path.ends_with(parts.back());
}

std::string text_of(const yaml::Node& row, const yaml::Node& group, std::string_view key) {
  const yaml::Node* own = row.find(key);
  return std::string((own != nullptr ? *own : group.get(key)).as_string());
}

}  // namespace

class Rows::Compiler {
 public:
  Compiler(const derive::Scope& scope, bool thorough, diag::Sources& sources, diag::Sink& sink)
      : thorough_(thorough), sources_(sources), sink_(sink) {
    const cel::Type dyn = cel::Type::dyn();
    const cel::Type text = cel::Type::simple(cel::TypeKind::string);
    auto made = std::make_shared<cel::Environment>(*scope.environment);
    for (const char* name : {"earlier", "later", "old", "new"})
      made->variables.push_back({name, dyn});
    made->variables.push_back({"pool", text});
    for (const char* name : {"from", "to"}) made->variables.push_back({name, dyn});
    made->variables.push_back({"steps", cel::Type::list(text)});
    base_ = std::move(made);
  }

  void file(const yaml::Node& spec, Content& out) {
    std::shared_ptr<const cel::Environment> environment = base_;
    const auto shared = std::make_shared<const cel::Definitions>(spec.get("variables"), environment,
                                                                 thorough_, sources_, sink_);
    for (const yaml::Node& group : spec.get("kinds").items()) {
      auto kind = std::make_unique<Kind>();
      kind->group = group.get("group").as_string();
      kind->name = group.get("kind").as_string();
      kind->shared = shared;
      for (const yaml::Node& row : group.get("rows").items()) {
        kind->rows.push_back(compile(row, group, environment));
      }
      out.kinds.push_back(std::move(kind));
    }
    for (const yaml::Node& row : spec.get("files").items()) {
      out.files.push_back({std::string(row.get("path").as_string()), effect(row),
                           std::string(row.get("reason").as_string())});
    }
    for (const yaml::Node& row : spec.get("sequences").items()) {
      Sequence sequence{
          std::string(row.get("name").as_string()), std::string(row.get("title").as_string()), {}};
      for (const yaml::Node& written : row.get("steps").items()) {
        SequenceStep step;
        step.is_commit = written.get("by").as_string() == kByCommit;
        step.text = written.get("text").as_string();
        for (const yaml::Node& command : written.get("run").items()) {
          step.commands.emplace_back(command.as_string());
        }
        sequence.steps.push_back(std::move(step));
      }
      out.sequences.push_back(std::move(sequence));
    }
  }

  // Once all sequences are known.
  void check_sequences(std::span<const yaml::Node> files, const Content& content) {
    for (const yaml::Node& spec : files) {
      for (const yaml::Node& group : spec.get("kinds").items()) {
        for (const yaml::Node& row : group.get("rows").items()) check_sequence(row, content);
      }
    }
  }

 private:
  Row compile(const yaml::Node& row, const yaml::Node& group,
              std::shared_ptr<const cel::Environment> environment) {
    Row out;
    for (const yaml::Node& written : row.get("on").items()) {
      const auto found = std::find(kOperations.begin(), kOperations.end(), written.as_string());
      if (found == kOperations.end()) continue;  // its format refuses it
      out.operations.push_back(static_cast<Operation>(found - kOperations.begin()));
    }
    for (const yaml::Node& written : row.get("fields").items()) {
      std::optional<Pattern> pattern = Pattern::parse(written.as_string());
      if (pattern) {
        out.fields.push_back(std::move(*pattern));
      } else {
        fault(written, "`" + std::string(written.as_string()) + "` is no path")
            .expect("a path such as `spec.replicas`, `spec.taints[].key` or `data.*`");
      }
    }
    const bool objects = !out.operations.empty() && is_on_objects(out.operations.front());
    for (const Operation operation : out.operations) {
      if (is_on_objects(operation) != out.fields.empty() || is_on_objects(operation) != objects) {
        fault(row.get("on"), "`on` mixes what happens to objects and what happens to fields")
            .expect(
                "`created`, `removed`, `moved` without `fields`; `added`, `taken`, `changed` with");
        break;
      }
    }
    out.effect = effect(row);
    for (const yaml::Node& modifier : row.get("but").items()) {
      if (modifier.as_string() == "latent") out.latent = true;
      if (modifier.as_string() == "held") out.held = true;
      if (modifier.as_string() == "data-loss") out.data_loss = true;
    }
    out.variables = {row.get("variables"), environment, thorough_, sources_, sink_};
    out.when = lazy<cel::Expression>(row.get("when"), environment);
    out.pools = lazy<cel::Expression>(row.find("pools") ? row.get("pools") : group.get("pools"),
                                      environment);
    out.nodes = lazy<cel::Expression>(row.get("nodes"), environment);
    out.reason = lazy<cel::Text>(row.get("reason"), environment);
    out.actor = text_of(row, group, "actor");
    out.parallel = text_of(row, group, "parallel");
    out.takes = text_of(row, group, "takes");
    out.source = text_of(row, group, "source");
    out.sequence = row.get("sequence").as_string();
    out.step = static_cast<std::size_t>(std::max<std::int64_t>(0, row.get("step").as_integer()));
    return out;
  }

  Effect effect(const yaml::Node& row) {
    return effect_named(row.get("effect").as_string()).value_or(Effect::unknown);
  }

  void check_sequence(const yaml::Node& row, const Content& content) {
    const yaml::Node name = row.get("sequence");
    if (name.is_null()) return;
    std::vector<std::string> names;
    for (const Sequence& sequence : content.sequences) {
      if (sequence.name == name.as_string()) {
        check_step(row, sequence);
        return;
      }
      names.push_back(sequence.name);
    }
    fault(name, "there is no sequence `" + std::string(name.as_string()) + "`")
        .did_you_mean(name.as_string(), names);
  }

  void check_step(const yaml::Node& row, const Sequence& sequence) {
    const yaml::Node step = row.get("step");
    if (step.is_null()) return;
    const std::int64_t number = step.as_integer();
    const auto count = static_cast<std::int64_t>(sequence.steps.size());
    if (number >= 1 && number <= count &&
        sequence.steps[static_cast<std::size_t>(number) - 1].is_commit) {
      return;
    }
    fault(step, "step " + std::to_string(number) + " of `" + sequence.name + "` is no commit")
        .expect("the number of one of its steps `by: commit`, from 1 to " + std::to_string(count));
  }

  template <typename T>
  cel::Lazy<T> lazy(const yaml::Node& scalar,
                    const std::shared_ptr<const cel::Environment>& environment) {
    return cel::lazy<T>(scalar, environment, thorough_, sources_, sink_);
  }

  diag::Diagnostic& fault(const yaml::Node& at, const std::string& message) {
    return sink_.error(kFaultyEffect, at.origin(), message);
  }

  bool thorough_;
  diag::Sources& sources_;
  diag::Sink& sink_;
  std::shared_ptr<const cel::Environment> base_;
};

std::size_t Sequence::first_commit() const {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].is_commit) return i + 1;
  }
  return 0;
}

std::size_t Sequence::last_commit() const {
  for (std::size_t i = steps.size(); i > 0; --i) {
    if (steps[i - 1].is_commit) return i;
  }
  return 0;
}

std::shared_ptr<const Rows> Rows::compile(const catalog::Platform& platform,
                                          catalog::Library& library, const derive::Scope& scope,
                                          bool thorough, diag::Sink& sink) {
  const std::size_t errors_before = sink.error_count();
  const auto made = std::make_shared<Rows>();
  made->scope_ = scope;
  made->sources_ = &library.sources();
  // Later folders know better.
  for (auto folder = platform.builds.rbegin(); folder != platform.builds.rend(); ++folder) {
    const yaml::Node spec = catalog::spec_of(library, "providers/" + *folder + "/effects.yaml");
    if (spec.is_map()) made->written_.push_back(spec);
  }
  if (thorough) made->once_.call([&] { made->read(made->content_, true, sink); });
  return sink.error_count() == errors_before ? made : nullptr;
}

void Rows::read(Content& content, bool thorough, diag::Sink& sink) const {
  Compiler compiler(scope_, thorough, *sources_, sink);
  for (const yaml::Node& spec : written_) compiler.file(spec, content);
  for (const auto& kind : content.kinds) content.by_name.try_emplace({kind->group, kind->name});
  for (const auto& kind : content.kinds) {
    const bool any = kind->name == kAnyKind;
    if (any) content.any.push_back(kind.get());
    for (auto& [name, known] : content.by_name) {
      if (any || name == std::pair(kind->group, kind->name)) known.push_back(kind.get());
    }
  }
  if (thorough) compiler.check_sequences(written_, content);
}

const Rows::Content& Rows::content() const {
  once_.call([this] {
    diag::Sink none;  // the build, or thorough compilation, has reported it
    read(content_, false, none);
  });
  return content_;
}

const std::vector<const Kind*>& Rows::of(std::string_view group, std::string_view kind) const {
  const auto found = content().by_name.find(std::pair(std::string(group), std::string(kind)));
  return found == content().by_name.end() ? content().any : found->second;
}

bool Rows::covers(std::string_view group, std::string_view kind,
                  const std::vector<Step>& field) const {
  for (const Kind* known : of(group, kind)) {
    for (const Row& row : known->rows) {
      for (const Pattern& pattern : row.fields) {
        if (pattern.covers(field)) return true;
      }
    }
  }
  return false;
}

const Sequence* Rows::sequence(std::string_view name) const {
  for (const Sequence& sequence : content().sequences) {
    if (sequence.name == name) return &sequence;
  }
  return nullptr;
}

const FileRow* Rows::file(std::string_view path) const {
  const std::vector<FileRow>& files = content().files;
  const auto found = std::find_if(files.begin(), files.end(),
                                  [&](const FileRow& row) { return fits(row.path, path); });
  return found == files.end() ? nullptr : &*found;
}

}  // namespace gpuctl::effects
