#include <algorithm>
#include <map>
#include <utility>

#include "base/text.hpp"
#include "cel/lazy.hpp"
#include "derive/codes.hpp"
#include "derive/derive.hpp"

namespace gpuctl::derive {

namespace {

// Type at a path below `root`, following fields, list elements and map values.
cel::Type type_at(cel::Type type, std::span<const Step> path) {
  for (const Step& step : path) {
    if (type.object() != nullptr) {
      const cel::Field* field = type.object()->find(step.key);
      type = field == nullptr ? cel::Type::dyn() : field->type;
    } else {
      type = type.element();
    }
    if (step.each) type = type.element();
  }
  return type;
}

std::string dotted(std::span<const Step> path) {
  std::string out;
  for (const Step& step : path) out += (out.empty() ? "" : ".") + step.key;
  return out;
}

// The first key `$secret` of a tree, or nullptr.
const yaml::Node* first_secret(const yaml::Node& tree) {
  const yaml::Node* found = nullptr;
  for (const yaml::Entry& entry : tree.entries()) {
    if (found == nullptr) {
      found = entry.key.as_string() == "$secret" ? &entry.key : first_secret(entry.value);
    }
  }
  for (const yaml::Node& item : tree.items()) {
    if (found == nullptr) found = first_secret(item);
  }
  return found;
}

// The fields of a row that are looked at here, read in one pass: there are hundreds of rows.
struct Fields {
  yaml::Node set, variables, choose, copy, value, body, when, keep, record, show, because, valid,
      retain, recall, history;
};
constexpr std::pair<std::string_view, yaml::Node Fields::*> kFields[] = {
    {"set", &Fields::set},         {"value", &Fields::value},   {"when", &Fields::when},
    {"because", &Fields::because}, {"copy", &Fields::copy},     {"variables", &Fields::variables},
    {"template", &Fields::body},   {"keep", &Fields::keep},     {"valid", &Fields::valid},
    {"choose", &Fields::choose},   {"record", &Fields::record}, {"show", &Fields::show},
    {"retain", &Fields::retain},   {"recall", &Fields::recall}, {"history", &Fields::history}};

Fields fields_of(const yaml::Node& row) {
  Fields fields;
  for (const auto& [key, value] : row.entries()) {
    for (const auto& [name, field] : kFields) {
      if (name == key.as_string()) {
        fields.*field = value;
        break;
      }
    }
  }
  return fields;
}

class DerivationCompiler {
 public:
  DerivationCompiler(const catalog::Platform& platform,
                     std::shared_ptr<const cel::Environment> environment, bool thorough,
                     diag::Sources& sources, diag::Sink& sink)
      : platform_(platform),
        base_(std::move(environment)),
        thorough_(thorough),
        sources_(sources),
        sink_(sink) {}

  std::optional<Row> compile(const yaml::Node& written) {
    const std::size_t errors_before = sink_.error_count();
    const Fields fields = fields_of(written);
    const yaml::Node& set = fields.set;
    std::optional<std::vector<Step>> path = parse_path(set.as_string());
    if (!path) {
      sink_.error(kFaultyRow, set.origin(), "`" + std::string(set.as_string()) + "` is no path")
          .expect("a path such as `gpuOperator.channel` or `gpuPools[].machine`");
      return std::nullopt;
    }
    if (thorough_ && schema::at(*platform_.derived, dotted(*path)) == nullptr) {
      sink_
          .error(kUnknownPath, set.origin(),
                 "the derived tree has no `" + std::string(set.as_string()) + "`")
          .suggest("declare it in a `derived.yaml`");
      return std::nullopt;
    }
    Row row;
    row.text = set.as_string();
    row.written = written;
    std::shared_ptr<const cel::Environment> environment = environment_of(*path);
    row.history = fields.history.as_boolean();
    if (row.history) environment = with_variable(*environment, "before", *path);
    row.variables = {fields.variables, environment, thorough_, sources_, sink_};
    row.choose = fields.choose.as_boolean();
    row.copy = !fields.copy.is_null();
    row.value = lazy<cel::Expression>(row.copy ? fields.copy : fields.value, environment);
    row.retain = fields.retain.as_boolean();
    row.recall = fields.recall.as_string();
    if (!row.value && !row.choose && row.recall.empty()) {
      row.body = body(fields.body, environment);
    }
    row.when = lazy<cel::Expression>(fields.when, environment);
    row.keep = fields.keep.as_boolean();
    row.record = fields.record.as_boolean();
    row.show = fields.show.as_boolean();
    row.because = lazy<cel::Text>(fields.because, environment);
    if (!fields.valid.is_null()) {
      row.valid = lazy<cel::Expression>(fields.valid, with_variable(*environment, "value", *path));
    }
    row.path = std::move(*path);
    if (sink_.error_count() != errors_before) return std::nullopt;
    return row;
  }

 private:
  template <typename T>
  cel::Lazy<T> lazy(const yaml::Node& scalar,
                    const std::shared_ptr<const cel::Environment>& environment) {
    return cel::lazy<T>(scalar, environment, thorough_, sources_, sink_);
  }

  compose::LazyBody body(const yaml::Node& written,
                         const std::shared_ptr<const cel::Environment>& environment) {
    compose::LazyBody out(written, environment, sources_);
    if (!thorough_) return out;
    out.check(sink_);
    if (const yaml::Node* secret = first_secret(written)) {
      sink_.error(kFaultyRow, secret->origin(), "`$secret` in a derivation")
          .suggest(
              "write it in the template of the document that holds it: nothing else may see a "
              "secret");
    }
    return out;
  }

  // With `item` and `index` for a path that has `[]` in it, and `written` where that list is no
  // part of another; rows of one list share it.
  std::shared_ptr<const cel::Environment> environment_of(std::span<const Step> path) {
    path = innermost_list(path);
    if (path.empty()) return base_;
    std::string name;
    for (const Step& step : path) name += step.key + (step.each ? "[]." : ".");
    std::shared_ptr<const cel::Environment>& known = in_list_[name];
    if (known == nullptr) {
      auto made = std::make_shared<cel::Environment>(*base_);
      made->variables.push_back({"item", lazy_type_at(path)});
      made->variables.push_back({"index", cel::Type::simple(cel::TypeKind::integer)});
      if (path.size() == 1) made->variables.push_back({"written", type_below(kSpec, path)});
      known = std::move(made);
    }
    return known;
  }

  // With one variable more, of the type that stands at `path`.
  std::shared_ptr<const cel::Environment> with_variable(const cel::Environment& environment,
                                                        const std::string& name,
                                                        std::span<const Step> path) const {
    auto made = std::make_shared<cel::Environment>(environment);
    made->variables.push_back({name, lazy_type_at(path)});
    return made;
  }

  cel::LazyType lazy_type_at(std::span<const Step> path) const {
    return type_below(kCluster, path);
  }

  cel::LazyType type_below(BaseVariable variable, std::span<const Step> path) const {
    return cel::LazyType([root = base_->variables.at(variable).type,
                          steps = std::vector<Step>(path.begin(), path.end())] {
      return type_at(root.get(), steps);
    });
  }

  const catalog::Platform& platform_;
  std::shared_ptr<const cel::Environment> base_;
  std::map<std::string, std::shared_ptr<const cel::Environment>> in_list_;
  bool thorough_;
  diag::Sources& sources_;
  diag::Sink& sink_;
};

}  // namespace

std::shared_ptr<const Derivation> compile(const catalog::Platform& platform, const Scope& scope,
                                          bool thorough, diag::Sources& sources, diag::Sink& sink,
                                          std::shared_ptr<const Chooser> chooser) {
  DerivationCompiler compiler(platform, scope.environment, thorough, sources, sink);
  auto derivation = std::make_shared<Derivation>();
  derivation->variables = scope.variables;
  derivation->chooser = std::move(chooser);
  bool good = true;
  for (const yaml::Node& written : platform.derivations) {
    std::optional<Row> row = compiler.compile(written);
    good = good && row;
    if (row) derivation->rows.push_back(std::move(*row));
  }
  return good ? derivation : nullptr;
}

}  // namespace gpuctl::derive
