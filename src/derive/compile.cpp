#include <algorithm>

#include "base/text.hpp"
#include "derive/codes.hpp"
#include "derive/derive.hpp"
#include "derive/environment.hpp"

namespace gpuctl::derive {

namespace {

// "gpuPools[].machine.name" -> steps; nothing when malformed.
std::optional<std::vector<Row::Step>> parse_path(std::string_view text) {
  std::vector<Row::Step> steps;
  for (std::string_view part : base::split(text, '.')) {
    Row::Step step;
    if (part.ends_with("[]")) {
      step.each = true;
      part.remove_suffix(2);
    }
    if (part.empty() || part.find_first_of("[]") != std::string_view::npos) return std::nullopt;
    step.key = part;
    steps.push_back(std::move(step));
  }
  if (steps.back().each) return std::nullopt;
  return steps;
}

// Type at a path below `root`, following fields, list elements and map values.
cel::Type type_at(cel::Type type, std::span<const Row::Step> path) {
  for (const Row::Step& step : path) {
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

std::string dotted(std::span<const Row::Step> path) {
  std::string out;
  for (const Row::Step& step : path) out += (out.empty() ? "" : ".") + step.key;
  return out;
}

std::optional<Row> compile_row(const yaml::Node& written, const catalog::Platform& platform,
                               const cel::Environment& base, bool thorough, diag::Sources& sources,
                               diag::Sink& sink) {
  static const std::vector<std::string> kKeys = {"set",  "value", "because",
                                                 "when", "keep",  "valid"};
  const std::size_t errors_before = sink.error_count();
  for (const yaml::Entry& entry : written.entries()) {
    const std::string key(entry.key.as_string());
    if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) {
      sink.error(kFaultyRow, entry.key.origin(), "unknown key `" + key + "` in a derivation row")
          .did_you_mean(key, kKeys);
    }
  }
  const yaml::Node set = written.get("set");
  std::optional<std::vector<Row::Step>> path =
      set.is_string() ? parse_path(set.as_string()) : std::nullopt;
  if (!path || written.find("value") == nullptr) {
    sink.error(kFaultyRow, set.is_null() ? written.origin() : set.origin(),
               "a derivation row needs `set: PATH` and `value: CEL`")
        .expect("a path such as `gpuOperator.channel` or `gpuPools[].machine`");
    return std::nullopt;
  }
  if (schema::at(*platform.derived, dotted(*path)) == nullptr) {
    sink.error(kUnknownPath, set.origin(),
               "the derived tree has no `" + std::string(set.as_string()) + "`")
        .suggest("declare it in a `derived.yaml`");
    return std::nullopt;
  }
  Row row;
  row.text = set.as_string();
  row.written = written;
  cel::Environment environment = base;
  std::size_t each = 0;  // steps up to and including the innermost []
  for (std::size_t i = 0; i < path->size(); ++i) {
    if ((*path)[i].each) each = i + 1;
  }
  const cel::Type cluster = base.variables[kCluster].type;
  if (each != 0) {
    environment.variables.push_back({"item", type_at(cluster, std::span(*path).first(each))});
    environment.variables.push_back({"index", cel::Type::simple(cel::TypeKind::integer)});
  }
  row.value = cel::compile_bare(written.get("value"), environment, sources, sink);
  if (const yaml::Node* when = written.find("when")) {
    row.when = cel::compile_bare(*when, environment, sources, sink);
  }
  row.keep = written.get("keep").as_boolean();
  const yaml::Node* because = written.find("because");
  if (because != nullptr && (row.keep || thorough)) {
    row.because = cel::compile_text(*because, environment, sources, sink);
  }
  if (const yaml::Node* valid = written.find("valid")) {
    environment.variables.push_back({"value", type_at(cluster, *path)});
    row.valid = cel::compile_bare(*valid, environment, sources, sink);
  }
  row.path = std::move(*path);
  if (sink.error_count() != errors_before) return std::nullopt;
  return row;
}

}  // namespace

std::shared_ptr<const Derivation> compile(const catalog::Platform& platform, bool thorough,
                                          diag::Sources& sources, diag::Sink& sink) {
  const cel::Environment environment = base_environment(platform);
  auto derivation = std::make_shared<Derivation>();
  bool good = true;
  for (const yaml::Node& written : platform.derivations) {
    std::optional<Row> row = compile_row(written, platform, environment, thorough, sources, sink);
    good = good && row;
    if (row) derivation->rows.push_back(std::move(*row));
  }
  return good ? derivation : nullptr;
}

}  // namespace gpuctl::derive
