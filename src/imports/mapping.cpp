#include "imports/mapping.hpp"

#include <algorithm>

#include "catalog/lists.hpp"
#include "catalog/wrapper.hpp"
#include "cel/lazy.hpp"
#include "cel/opaque.hpp"
#include "derive/codes.hpp"
#include "derive/environment.hpp"
#include "yaml/path.hpp"

namespace gpuctl::imports {

namespace {

// Variables of every expression, in this order. Those of its file follow, then `item`, `index` and
// `source` of rows below a list, or `document`, and variables of the row.
enum Variable : std::size_t { kDocuments, kRelease, kCatalog, kFound, kVariables };

// What fails is not true: the document is not as the row expects it.
bool is_true(const cel::Expression& expression, const std::vector<cel::Value>& values,
             yaml::Arena& arena) {
  const cel::Outcome outcome = cel::attempt(*expression.program, values, arena);
  return outcome.ok() && outcome.value.is_node() && outcome.value.node().as_boolean();
}

}  // namespace

class Mapping::Compiler {
 public:
  Compiler(const catalog::Platform& platform, catalog::Library& library, bool thorough,
           diag::Sink& sink)
      : platform_(platform), library_(library), thorough_(thorough), sink_(sink) {
    auto base = std::make_shared<cel::Environment>();
    base->functions = derive::functions();
    base->variables = {{"documents", cel::Type::list(dyn_)},
                       {"release", cel::Type::simple(cel::TypeKind::string)},
                       {"catalog", platform.catalog_type},
                       {"found", dyn_}};
    base_ = std::move(base);
  }

  /// The names that expressions of a file see.
  struct File {
    yaml::Node spec;
    std::shared_ptr<const cel::Definitions> variables;
    std::shared_ptr<const cel::Environment> whole;
    std::shared_ptr<const cel::Environment> item;
    std::shared_ptr<const cel::Environment> document;
  };

  File file(const yaml::Node& spec) {
    File out{spec, nullptr, base_, nullptr, nullptr};
    out.variables = std::make_shared<const cel::Definitions>(spec.get("variables"), out.whole,
                                                             thorough_, library_.sources(), sink_);
    auto item = std::make_shared<cel::Environment>(*out.whole);
    item->variables.push_back({"item", dyn_});
    item->variables.push_back({"index", cel::Type::simple(cel::TypeKind::integer)});
    item->variables.push_back({"source", dyn_});
    out.item = std::move(item);
    auto document = std::make_shared<cel::Environment>(*out.whole);
    document->variables.push_back({"document", dyn_});
    out.document = std::move(document);
    return out;
  }

  void rows(const File& file, std::string_view part, std::vector<Row>& out) {
    for (const yaml::Node& written : file.spec.get(part).items()) {
      const yaml::Node set = written.get("set");
      for (const std::string& text : catalog::paths_of(set.as_string())) {
        std::optional<std::vector<derive::Step>> path = derive::parse_path(text);
        if (!path) {
          sink_.error(derive::kFaultyRow, set.origin(), "`" + text + "` is no path")
              .expect("a path such as `spec.gpuPools[].replicas`");
          continue;
        }
        if (thorough_) check_path(set, text, *path);
        out.push_back(row(file, written, std::move(*path)));
      }
    }
  }

  void leave(const File& file, std::vector<Leave>& out) {
    for (const yaml::Node& written : file.spec.get("leave").items()) {
      Leave one;
      one.shared = file.variables;
      one.when = lazy<cel::Expression>(written, "when", file.document);
      one.because = lazy<cel::Text>(written, "because", file.document);
      one.lost = written.get("lost").as_boolean();
      out.push_back(std::move(one));
    }
  }

  void fields(const File& file, std::string_view part, std::vector<Ignore>& out) {
    for (const yaml::Node& written : file.spec.get(part).items()) {
      Ignore one;
      one.shared = file.variables;
      one.when = lazy<cel::Expression>(written, "when", file.document);
      one.what.path = written.get("path").as_string();
      one.what.because = written.get("because").as_string();
      if (!yaml::parse_path(one.what.path)) {
        sink_.error(derive::kFaultyRow, written.get("path").origin(),
                    "`" + one.what.path + "` is no path");
        continue;
      }
      out.push_back(std::move(one));
    }
  }

  void placings(const File& file, std::vector<Placing>& out) {
    for (const yaml::Node& written : file.spec.get("namespaces").items()) {
      Placing one;
      one.shared = file.variables;
      one.when = lazy<cel::Expression>(written, "when", file.document);
      one.space = written.get("namespace").as_string();
      out.push_back(std::move(one));
    }
  }

  void absent(const File& file, std::vector<Absent>& out) {
    for (const yaml::Node& written : file.spec.get("absent").items()) {
      Absent one;
      one.shared = file.variables;
      one.when = lazy<cel::Expression>(written, "when", file.document);
      one.values = written.get("means");
      out.push_back(std::move(one));
    }
  }

 private:
  Row row(const File& file, const yaml::Node& written, std::vector<derive::Step> path) {
    Row out;
    const bool each = !derive::innermost_list(path).empty();
    out.path = std::move(path);
    out.shared = file.variables;
    std::shared_ptr<const cel::Environment> environment = each ? file.item : file.whole;
    out.variables = {written.get("variables"), environment, thorough_, library_.sources(), sink_};
    out.value = lazy<cel::Expression>(written, "value", environment);
    out.when = lazy<cel::Expression>(written, "when", environment);
    out.assumed = lazy<cel::Text>(written, "assumed", environment);
    return out;
  }

  template <typename T>
  cel::Lazy<T> lazy(const yaml::Node& written, std::string_view key,
                    const std::shared_ptr<const cel::Environment>& environment) {
    return cel::lazy<T>(written.get(key), environment, thorough_, library_.sources(), sink_);
  }

  // What a row says of the blueprint or of facts, one of them must have.
  void check_path(const yaml::Node& set, std::string_view text,
                  const std::vector<derive::Step>& path) {
    const bool facts = path.front().key == "facts" && path.size() > 1;
    if (!facts && path.front().key != "spec") return;
    std::string_view below = text;
    if (facts) below.remove_prefix(below.find('.') + 1);
    if (schema::at(facts ? *platform_.facts : *platform_.blueprint, below) != nullptr) return;
    sink_.error(derive::kUnknownPath, set.origin(),
                (facts ? "facts have no `" : "the blueprint has no `") + std::string(below) + "`");
  }

  const catalog::Platform& platform_;
  catalog::Library& library_;
  bool thorough_;
  diag::Sink& sink_;
  const cel::Type dyn_ = cel::Type::dyn();
  std::shared_ptr<const cel::Environment> base_;
};

std::shared_ptr<const Mapping> Mapping::compile(const catalog::Platform& platform,
                                                catalog::Library& library, bool thorough,
                                                diag::Sink& sink) {
  const std::size_t errors_before = sink.error_count();
  const auto made = std::make_shared<Mapping>();
  made->platform_ = &platform;
  Compiler compiler(platform, library, thorough, sink);
  std::vector<Compiler::File> files;
  for (const std::string& folder : platform.builds) {
    const std::string path = "providers/" + folder + "/import.yaml";
    const yaml::Node spec = catalog::spec_of(library, path);
    if (spec.is_map()) files.push_back(compiler.file(spec));
  }
  // What all folders look for comes before what any of them says: a pool needs to know its zones.
  for (const std::string_view part : {"find", "rows"}) {
    for (const Compiler::File& file : files) compiler.rows(file, part, made->rows_);
  }
  for (const Compiler::File& file : files) {
    compiler.leave(file, made->leave_);
    compiler.fields(file, "ignore", made->ignore_);
    compiler.fields(file, "keep", made->keep_);
    compiler.placings(file, made->placings_);
    compiler.absent(file, made->absent_);
  }
  return sink.error_count() == errors_before ? made : nullptr;
}

// One evaluation of all rows.
class Mapping::Run {
 public:
  Run(const yaml::Node& documents, const yaml::Node& catalog, const std::string& release,
      yaml::Arena& arena)
      : arena_(arena), found_(arena.map(std::span<const yaml::Entry>())) {
    values_ = {cel::Value(documents), cel::Value(arena.string(release)), cel::Value(catalog),
               cel::Value(found_)};
  }

  void row(const Row& row) {
    values_.resize(kVariables);
    values_[kFound] = cel::Value(found_);
    row.shared->bind(values_);
    const std::size_t outside = values_.size();
    // Of a list of the blueprint: what was found for the same list.
    const std::span<const derive::Step> list = derive::innermost_list(row.path);
    const bool proposed = list.size() == 2 && list.front().key == "spec";
    const yaml::Node sources = proposed ? found_.get(list.back().key) : yaml::Node();
    const derive::Placing placing{
        [&](const yaml::Node& item, std::size_t index) {
          values_.resize(outside);
          values_.emplace_back(item);
          values_.emplace_back(yaml::Node::integer(static_cast<std::int64_t>(index)));
          const std::span<const yaml::Node> all = sources.items();
          values_.emplace_back(index < all.size() ? all[index] : yaml::Node());
        },
        [&](const std::string& filed) {
          row.variables.bind(values_);
          return value(row, filed);
        }};
    found_ = derive::set_at(found_, row.path, placing, arena_);
  }

  Proposal take(const std::string& platform) {
    Proposal out;
    yaml::MapBuilder spec;
    spec.set(arena_, "platform", arena_.string(platform));
    for (const yaml::Entry& entry : found_.get("spec").entries()) spec.set(entry.key, entry.value);
    yaml::MapBuilder blueprint;
    blueprint.set(arena_, "apiVersion", arena_.string(catalog::kApiVersion));
    blueprint.set(arena_, "kind", arena_.string("Blueprint"));
    blueprint.set(arena_, "metadata", found_.get("metadata"));
    blueprint.set(arena_, "spec", spec.build(arena_));
    out.blueprint = blueprint.build(arena_);
    out.facts = found_.get("facts");
    out.release = found_.get("release").as_string();
    out.assumptions = std::move(assumptions_);
    out.found = found_;
    return out;
  }

 private:
  std::optional<yaml::Node> value(const Row& row, const std::string& filed) {
    if (row.when && !is_true(row.when.get(), values_, arena_)) return std::nullopt;
    const cel::Outcome made = cel::attempt(*row.value.get().program, values_, arena_);
    if (!made.ok()) return std::nullopt;
    const cel::Value value = cel::unwrapped(made.value);
    if (!value.is_node() || value.node().is_null()) return std::nullopt;
    if (row.assumed) {
      const cel::TextOutcome text = cel::evaluate(row.assumed.get(), values_, arena_);
      assumptions_.push_back(
          {filed, text.error ? std::string() : std::string(text.value.node().as_string())});
    }
    return value.node();
  }

  yaml::Arena& arena_;
  yaml::Node found_;
  std::vector<cel::Value> values_;
  std::vector<Assumption> assumptions_;
};

Proposal Mapping::propose(const yaml::Node& documents, const std::string& release,
                          yaml::Arena& arena) const {
  Run run(documents, platform_->catalog, release, arena);
  for (const Row& row : rows_) run.row(row);
  return run.take(platform_->name);
}

std::vector<cel::Value> Mapping::values_for(const Proposal& proposal, yaml::Arena& arena) const {
  return {cel::Value(arena.list(std::span<const yaml::Node>())), cel::Value(arena.string("")),
          cel::Value(platform_->catalog), cel::Value(proposal.found)};
}

std::optional<LeftOut> Mapping::left_out(const yaml::Node& document, const Proposal& proposal,
                                         yaml::Arena& arena) const {
  std::vector<cel::Value> values = values_for(proposal, arena);
  for (const Leave& leave : leave_) {
    values.resize(kVariables);
    leave.shared->bind(values);
    values.emplace_back(document);
    if (!is_true(leave.when.get(), values, arena)) continue;
    const cel::TextOutcome because = cel::evaluate(leave.because.get(), values, arena);
    return LeftOut{because.error ? std::string() : std::string(because.value.node().as_string()),
                   leave.lost};
  }
  return std::nullopt;
}

std::vector<Ignored> Mapping::fields(const std::vector<Ignore>& rows, const yaml::Node& document,
                                     const Proposal& proposal, yaml::Arena& arena) const {
  std::vector<cel::Value> values = values_for(proposal, arena);
  std::vector<Ignored> out;
  for (const Ignore& row : rows) {
    values.resize(kVariables);
    row.shared->bind(values);
    values.emplace_back(document);
    if (is_true(row.when.get(), values, arena)) out.push_back(row.what);
  }
  return out;
}

std::vector<Ignored> Mapping::ignored(const yaml::Node& document, const Proposal& proposal,
                                      yaml::Arena& arena) const {
  return fields(ignore_, document, proposal, arena);
}

std::vector<Ignored> Mapping::kept(const yaml::Node& document, const Proposal& proposal,
                                   yaml::Arena& arena) const {
  return fields(keep_, document, proposal, arena);
}

std::string Mapping::namespace_of(const yaml::Node& document, const Proposal& proposal,
                                  yaml::Arena& arena) const {
  std::vector<cel::Value> values = values_for(proposal, arena);
  for (const Placing& placing : placings_) {
    values.resize(kVariables);
    placing.shared->bind(values);
    values.emplace_back(document);
    if (is_true(placing.when.get(), values, arena)) return placing.space;
  }
  return {};
}

std::vector<yaml::Node> Mapping::absent(const yaml::Node& document, const Proposal& proposal,
                                        yaml::Arena& arena) const {
  std::vector<cel::Value> values = values_for(proposal, arena);
  std::vector<yaml::Node> out;
  for (const Absent& absent : absent_) {
    values.resize(kVariables);
    absent.shared->bind(values);
    values.emplace_back(document);
    if (is_true(absent.when.get(), values, arena)) out.push_back(absent.values);
  }
  return out;
}

}  // namespace gpuctl::imports
