#include "cli/field_examples.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/samples.hpp"
#include "fields/example.hpp"
#include "schema/schema.hpp"
#include "yaml/emit.hpp"
#include "yaml/read.hpp"

namespace gpuctl::cli {

namespace {

constexpr std::size_t kMostLines = 14;

std::size_t lines_of(const yaml::Node& value) {
  const std::string text = yaml::emit(value);
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// The value at a path in an excerpt, which has one item in each list and one key in each free map.
yaml::Node value_at(yaml::Node node, std::string_view path) {
  for (const std::string_view step : base::split(path, '.')) {
    const std::string_view name = step.substr(0, step.find('['));
    node = name == "*" ? node.entries().front().value : node.get(name);
    for (std::size_t left = step.size() - name.size(); left > 0; left -= 2) {
      if (node.items().empty()) return {};
      node = node.items().front();
    }
  }
  return node;
}

// True when the field takes what the excerpt has for it.
bool conforms(const fields::Field& field, const yaml::Node& excerpt, yaml::Arena& arena) {
  const diag::Sources none;
  diag::Sink sink;
  const schema::SchemaPtr definition = schema::compile_checked(field.definition, none);
  schema::validate(*definition, value_at(excerpt, field.path), arena, none, sink);
  return !sink.has_errors();
}

}  // namespace

FieldExamples::FieldExamples(yaml::Arena& arena) : arena_(arena) {
  for (const diag::FileView& file : built_in_image().files()) {
    const bool sample = file.name.starts_with(kSamples);
    if (!sample && file.name != kFieldExamples) continue;
    diag::Sink sink;
    const diag::FileId id = files_.add_file(std::string(file.name), std::string(file.text));
    const std::optional<yaml::Node> document = yaml::read(id, files_, arena_, sink);
    if (!document) continue;
    if (sample) add(std::string(file.name), true, *document);
    for (const yaml::Node& row : sample ? std::span<const yaml::Node>() : document->items()) {
      add(std::string(row.get("from").as_string()), false, row.get("blueprint"));
    }
  }
}

void FieldExamples::add(const std::string& from, bool sample, const yaml::Node& document) {
  sources_.push_back(
      {from, sample, std::string(document.get({"spec", "platform"}).as_string()), document});
}

FieldExample FieldExamples::find(const fields::Field& field,
                                 const std::vector<std::string>& platforms) const {
  FieldExample out;
  std::size_t least = kMostLines + 1;
  for (const Source& source : sources_) {
    if (out.sample && !source.sample) continue;
    if (std::find(platforms.begin(), platforms.end(), source.platform) == platforms.end()) continue;
    yaml::Node found = fields::excerpt(source.document, field.path, arena_);
    if (!found.is_null() && lines_of(found) > kMostLines) {  // of a long list the first item
      found = fields::excerpt(source.document, field.path + "[]", arena_);
    }
    if (found.is_null()) continue;
    const std::size_t lines = lines_of(found);
    if (lines > kMostLines || (lines >= least && out.sample == source.sample)) continue;
    if (!conforms(field, found, arena_)) continue;
    least = lines;
    out = {source.from, source.sample, arena_.clone(found)};
  }
  if (!out.value.is_null()) return out;
  const yaml::Node made = fields::example_of(field, arena_);
  if (!made.is_null() && conforms(field, made, arena_)) out.value = made;
  return out;
}

}  // namespace gpuctl::cli
