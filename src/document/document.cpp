#include "document/document.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "catalog/codes.hpp"
#include "derive/environment.hpp"
#include "document/decode.hpp"
#include "document/likeness.hpp"
#include "document/places.hpp"
#include "document/release.hpp"
#include "schema/codes.hpp"
#include "secrets/fields.hpp"
#include "yaml/path.hpp"

namespace gpuctl::document {

namespace {

using yaml::Node;

// A default stands nowhere in the document: no finding may point at it.
Node without_default_origins(const Node& schema, yaml::Arena& arena) {
  if (!schema.is_map()) return schema;
  std::vector<yaml::Entry> entries;
  for (const yaml::Entry& entry : schema.entries()) {
    const std::string_view key = entry.key.as_string();
    Node value = entry.value;
    if (key == "default") {
      value = yaml::without_origins(value, arena);
    } else if (key == "items" || key == "additionalProperties") {
      value = without_default_origins(value, arena);
    } else if (key == "properties") {
      std::vector<yaml::Entry> fields;
      for (const yaml::Entry& field : value.entries()) {
        fields.push_back({field.key, without_default_origins(field.value, arena)});
      }
      value = arena.map(fields, value.origin());
    }
    entries.push_back({entry.key, value});
  }
  return arena.map(entries, schema.origin());
}

Node known_objects(const Context& context, yaml::Arena& arena) {
  return context.objects.is_null() ? arena.list(std::span<const Node>()) : context.objects;
}

}  // namespace

cel::Type objects_type() {
  const cel::Type string = cel::Type::simple(cel::TypeKind::string);
  auto object = std::make_shared<cel::ObjectType>();
  object->name = "object";
  object->fields = {{"apiVersion", string, true}, {"kind", string, true},
                    {"namespace", string, true},  {"name", string, true},
                    {"layer", string, true},      {"document", cel::Type::dyn(), true}};
  return cel::Type::list(cel::Type::object(object));
}

Node definition_of(const catalog::DocumentKind& kind, yaml::Arena& arena, diag::Sink& sink) {
  if (kind.whole) return kind.fragments.front();
  return without_default_origins(schema::merge_fragments(kind.fragments, arena, sink), arena);
}

Node objects_of(const std::vector<Placed>& documents, yaml::Arena& arena) {
  std::vector<Node> objects;
  for (const auto& [document, layer] : documents) {
    if (!document.is_map()) continue;
    const auto text = [&](const Node& value) { return arena.string(value.as_string()); };
    yaml::MapBuilder object;
    object.set(arena, "apiVersion", text(document.get("apiVersion")));
    object.set(arena, "kind", text(document.get("kind")));
    object.set(arena, "namespace", text(document.get({"metadata", "namespace"})));
    object.set(arena, "name", text(document.get({"metadata", "name"})));
    object.set(arena, "layer", arena.string(layer));
    object.set(arena, "document", document);
    objects.push_back(object.build(arena));
  }
  return arena.list(objects);
}

std::shared_ptr<const Kinds> Kinds::compile(std::shared_ptr<const catalog::Platform> platform,
                                            const StoreOf& store_of, bool thorough,
                                            diag::Sources& sources, diag::Sink& sink) {
  const auto made = std::make_shared<Kinds>();
  made->platform_ = std::move(platform);
  made->sources_ = &sources;
  std::map<std::string_view, Kind*> by_name;
  for (const catalog::DocumentKind& described : made->platform_->documents) {
    auto kind = std::make_unique<Kind>();
    kind->described = &described;
    kind->store = store_of(described.name);
    by_name[described.name] = kind.get();
    made->kinds_.push_back(std::move(kind));
  }
  for (const auto& kind : made->kinds_) {
    if (!kind->described->extends.empty()) kind->extends = by_name[kind->described->extends];
  }
  if (!thorough) return made;
  const std::size_t errors_before = sink.error_count();
  for (const auto& kind : made->kinds_) {
    kind->once.call([&] { made->prepare(*kind, true, sink); });
  }
  return sink.error_count() == errors_before ? made : nullptr;
}

void Kinds::prepare(const Kind& kind, bool thorough, diag::Sink& sink) const {
  const std::lock_guard<std::mutex> guard(one_at_a_time_);
  kind.definition = definition_of(*kind.described, arena_, sink);
  kind.schema = thorough ? schema::compile(kind.definition, *sources_, sink)
                         : schema::compile_checked(kind.definition, *sources_);
  auto environment = std::make_shared<cel::Environment>();
  environment->functions = derive::functions();
  environment->store = kind.store;
  environment->variables = {
      {"document",
       cel::LazyType([schema = kind.schema] { return schema::cel_type(*schema, "document"); })},
      {"catalog", platform_->catalog_type},
      {"release", cel::LazyType([] { return release_type(); })},
      {"cluster", cel::LazyType([derived = platform_->derived] {
         return schema::cel_type(*derived, "cluster");
       })},
      {"objects", cel::LazyType(objects_type)},
  };
  for (const Node& row : kind.described->conversions) {
    Conversion conversion;
    for (const std::string_view step : base::split(row.get("set").as_string(), '.')) {
      conversion.path.emplace_back(step);
    }
    std::shared_ptr<const cel::Environment> within = environment;
    conversion.variables = {row.get("variables"), within, thorough, *sources_, sink};
    if (const Node* when = row.find("when")) {
      conversion.when = cel::LazyExpression(*when, within, *sources_);
      if (thorough) conversion.when.check(sink);
    }
    conversion.value = cel::LazyExpression(row.get("value"), within, *sources_);
    if (thorough) conversion.value.check(sink);
    kind.conversions.push_back(std::move(conversion));
  }
  kind.rules =
      rule::compile_document_rules(kind.described->rules, environment, thorough, *sources_, sink);
  if (kind.rules == nullptr) kind.rules = std::make_shared<const rule::Rules>();
  prepare_availability(kind, *environment, thorough, sink);
}

namespace {

// Rows of DocumentReleases on fields that the document does not have would never say anything.
void check_fields(const schema::Schema& schema, const Node& spec, diag::Sink& sink) {
  for (const Node& row : spec.get("rows").items()) {
    const Node path = row.get("path");
    std::vector<std::string> places = {""};
    if (const Node* in = row.find("in")) {
      places.clear();
      for (const Node& place : spec.get("places").get(in->as_string()).items()) {
        places.push_back(std::string(place.as_string()) + ".");
      }
    }
    const bool known = std::any_of(places.begin(), places.end(), [&](const std::string& place) {
      return schema::at(schema, place + std::string(path.as_string())) != nullptr;
    });
    if (known || places.empty()) continue;
    sink.error(catalog::kUnknownName, path.origin(),
               "no field `" + std::string(path.as_string()) + "` in `" +
                   std::string(spec.get("on").as_string()) + "`")
        .suggest("declare it in the DocumentSchema");
  }
}

}  // namespace

void Kinds::prepare_availability(const Kind& kind, const cel::Environment& environment,
                                 bool thorough, diag::Sink& sink) const {
  std::vector<Node> tables;
  for (const Kind* part = &kind; part != nullptr; part = part->extends) {
    const std::vector<Node>& own = part->described->availability;
    tables.insert(tables.end(), own.begin(), own.end());
  }
  kind.availability = std::make_unique<const Availability>(tables, *platform_, environment,
                                                           thorough, *sources_, sink);
  if (!thorough) return;
  for (const Node& spec : kind.described->availability) check_fields(*kind.schema, spec, sink);
}

const Kinds::Kind& Kinds::ready(const Kind& kind) const {
  kind.once.call([&] {
    diag::Sink none;  // the build, or compile(), has reported what there is
    prepare(kind, false, none);
  });
  return kind;
}

Node Kinds::convert(const Kind& kind, Node document, const std::vector<cel::Value>& others,
                    yaml::Arena& arena) const {
  for (const Conversion& conversion : kind.conversions) {
    std::vector<cel::Value> values = {cel::Value(document)};
    values.insert(values.end(), others.begin(), others.end());
    conversion.variables.bind(values);
    // What is not as the schema wants it cannot be converted: the schema says so afterwards.
    if (conversion.when) {
      const cel::Outcome when = cel::attempt(*conversion.when.get().program, values, arena);
      if (!when.ok() || !when.value.is_node() || !when.value.node().as_boolean()) continue;
    }
    const cel::Outcome value = cel::attempt(*conversion.value.get().program, values, arena);
    if (!value.ok() || !value.value.is_node()) continue;
    const Node* old = &document;
    for (const std::string& key : conversion.path) old = old == nullptr ? nullptr : old->find(key);
    Node made = value.value.node();
    // What stands there and is of another kind is for the schema to refuse.
    if (old != nullptr && !old->is_null() && old->kind() != made.kind()) continue;
    if (old != nullptr) made = in_place_of(*old, made, arena);
    document = yaml::with_value(document, conversion.path, made, arena);
  }
  return document;
}

const Kinds::Kind* Kinds::kind_of(const Node& document) const {
  const std::optional<Match> found = match(platform_->documents, document);
  return found ? &ready(*kinds_[found->kind]) : nullptr;
}

std::optional<Node> Kinds::read(const Node& document, const Context& context, bool complete,
                                diag::Sources& sources, yaml::Arena& arena) const {
  const Kind* kind = kind_of(document);
  if (kind == nullptr) return std::nullopt;
  diag::Sink none;
  const Node decoded =
      decode(kind->definition, document, {sources, arena, none}, Texts::closed).tree;
  const Node tree = convert(
      *kind, schema::drop_nulls(*kind->schema, decoded, arena, none),
      {cel::Value(platform_->catalog), cel::Value(release(*platform_, context.release, arena)),
       cel::Value(context.cluster), cel::Value(known_objects(context, arena))},
      arena);
  return complete ? schema::apply_defaults(*kind->schema, tree, arena) : tree;
}

Node Kinds::without_secrets(const Node& document, yaml::Arena& arena) const {
  const Kind* kind = kind_of(document);
  return kind == nullptr ? document : secrets::without_secrets(kind->definition, document, arena);
}

bool Kinds::published_is_advice(const Node& document) const {
  const Kind* kind = kind_of(document);
  if (kind == nullptr) return false;
  const Node published = kind->described->published;
  return published.is_map() && !published.get("strict").as_boolean();
}

void make_advice(diag::Diagnostic& finding) {
  if (finding.severity != diag::Severity::error) return;
  finding.severity = diag::Severity::warning;
  finding.note("the published schema refuses it, the program that reads it does not");
}

schema::ValidateOptions Kinds::options_of(const Context& context, std::set<diag::Origin>& failed) {
  schema::ValidateOptions options;
  options.exempt = context.exempt;
  options.subject = context.prefix;
  options.failed = &failed;
  return options;
}

// Runs the rules of a kind and of those that it extends on a document.
diag::Sink Kinds::judge(const Kind& kind, const Node& tree, const std::vector<cel::Value>& others,
                        rule::Subject subject, yaml::Context context) const {
  const auto run = [&](const Node& read) {
    diag::Sink broken;
    subject.values = {cel::Value(read)};
    subject.values.insert(subject.values.end(), others.begin(), others.end());
    for (const Kind* part = &kind; part != nullptr; part = part->extends) {
      rule::check(*ready(*part).rules, subject, context.into(broken));
    }
    return broken;
  };
  diag::Sink broken = run(tree);
  const bool placed =
      std::none_of(broken.all().begin(), broken.all().end(),
                   [&](const diag::Diagnostic& one) { return one.primary.at == subject.fallback; });
  if (placed) return broken;
  // About what nobody wrote: say near what.
  const Lent lent = lend_places(tree, context.arena);
  subject.lent = &lent.around;
  subject.observer = nullptr;
  return run(lent.tree);
}

// Some readers only warn of a field that they do not know: no reason to leave it in.
void Kinds::add_what_readers_do(const Kind& kind, const Reading& reading, const diag::Sink& faults,
                                diag::Sink& sink) {
  const std::string does = reading.rendered ? std::string()
                                            : kind.availability->unknown_fields(std::string(
                                                  reading.release.get("minor").as_string()));
  for (const diag::Diagnostic& fault : faults.all()) {
    diag::Diagnostic& added = sink.add(fault);
    if (!does.empty() && fault.code == schema::kUnknownField) added.note(does);
  }
}

// What holds for the same values in a document of another kind holds for them here.
void Kinds::check_likeness(const Kind& kind, const Node& document, const Context& about,
                           yaml::Context context) const {
  const Node& judged_as = kind.described->judged_as;
  const std::optional<Node> other = likeness(judged_as, document, context.arena);
  if (!other) return;
  Context there = about;
  if (there.fallback == diag::kNoOrigin) there.fallback = start_of(document);
  diag::Sink findings;
  check(*other, there, context.into(findings));
  for (const diag::Diagnostic& finding : findings.all()) {
    context.sink.add(behind(judged_as, finding));
  }
}

Kinds::Checked Kinds::check(const Node& document, const Context& about,
                            yaml::Context context) const {
  const Kind* found = kind_of(document);
  if (found == nullptr) return {};
  const Kind& kind = *found;
  diag::Sink findings;
  const Decoded decoded = decode(kind.definition, document, context.into(findings),
                                 about.rendered ? Texts::alone : Texts::in_place);
  const Node written =
      schema::drop_nulls(*kind.schema, decoded.tree, context.arena, findings, about.prefix);
  const Node read_by = release(*platform_, about.release, context.arena);
  const Reading reading{document, written, read_by, about.prefix, about.rendered, about.fallback};
  const std::vector<cel::Value> others = {cel::Value(platform_->catalog), cel::Value(read_by),
                                          cel::Value(about.cluster),
                                          cel::Value(known_objects(about, context.arena))};
  const Node tree = schema::apply_defaults(
      *kind.schema, convert(kind, written, others, context.arena), context.arena);
  rule::Subject subject;
  subject.fallback = about.fallback != diag::kNoOrigin ? about.fallback : start_of(document);
  subject.prefix = about.prefix;
  subject.rendered = about.rendered;
  subject.cluster_known = !about.cluster.is_null();
  subject.observer = about.observer;
  // Of a text that cannot be read nothing more can be said.
  if (!findings.has_errors()) {
    std::set<diag::Origin> failed;
    diag::Sink faults;
    schema::validate(*kind.schema, tree, context.arena, context.sources, faults,
                     options_of(about, failed));
    add_what_readers_do(kind, reading, faults, findings);
    kind.availability->check(reading, context.arena, findings);
    subject.faulty = findings.has_errors();
    subject.failed = &failed;
    findings.take(judge(kind, tree, others, subject, context));
  }
  for (const diag::Diagnostic& finding : findings.all()) {
    if (about.rendered && finding.severity != diag::Severity::error) continue;
    diag::Diagnostic& added = context.sink.add(finding);
    if (added.primary.at == diag::kNoOrigin) added.primary.at = subject.fallback;
    added.path = written_path(written, added.path, added.primary.at);
  }
  check_likeness(kind, document, about, context);
  return {.known = true, .has_secrets = decoded.has_secrets};
}

}  // namespace gpuctl::document
