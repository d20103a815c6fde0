#include "cli/explain_field.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "cli/code_page.hpp"
#include "cli/codes.hpp"
#include "cli/columns.hpp"
#include "cli/field_examples.hpp"
#include "fields/field.hpp"
#include "fields/rules_about.hpp"
#include "fields/synonyms.hpp"
#include "yaml/emit.hpp"

namespace gpuctl::cli {

namespace {

using fields::Field;
using fields::Lookup;
using fields::RuleAbout;
using yaml::Node;

// A field on the platforms that say the same of it.
struct Variant {
  Field field;
  std::vector<std::string> platforms;
};

// What is known of a field.
struct Answer {
  std::vector<Variant> variants;
  std::vector<std::pair<std::string, std::string>> refused;  // platform, reason
  std::map<std::string, RuleAbout> rules;
  FieldExample example;
};

// Lines of at most kColumns, the first behind `first`, whose width is the indent of the others.
std::string behind(const std::string& first, std::string_view text) {
  std::string lines =
      wrapped(std::string(text), kColumns - first.size(), std::string(first.size(), ' '));
  return lines.replace(0, std::min(first.size(), lines.size()), first);
}

std::string labelled(std::string_view label, std::string_view text) {
  constexpr std::size_t kLabel = 13;
  std::string first(label);
  first.resize(kLabel, ' ');
  return behind(first, text);
}

std::string shown_value(const Node& value) {
  return value.is_string() ? std::string(value.as_string()) : yaml::emit_json(value);
}

// The same in the eyes of somebody who asks.
bool says_the_same(const Field& a, const Field& b) {
  const auto same = [&](const char* key) {
    return yaml::equal(a.definition.get(key), b.definition.get(key));
  };
  if (a.path != b.path || a.required != b.required || !same("description") || !same("default") ||
      fields::type_of(a.definition) != fields::type_of(b.definition) ||
      fields::constraints_of(a.definition) != fields::constraints_of(b.definition)) {
    return false;
  }
  const std::vector<Field> of_a = fields::fields_of(a);
  const std::vector<Field> of_b = fields::fields_of(b);
  return std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(),
                    [](const Field& one, const Field& other) { return one.path == other.path; });
}

// Platforms by name, those that are asked for.
class Platforms {
 public:
  Platforms(const std::string& chosen, Knowledge& knowledge, diag::Sink& sink) {
    const std::vector<std::string> names =
        chosen.empty() ? knowledge.names() : std::vector<std::string>{chosen};
    for (const std::string& name : names) {
      const pipeline::Compiled* compiled = knowledge.platform(name, diag::kNoOrigin, sink);
      if (compiled != nullptr) all_.push_back(compiled->platform.get());
    }
  }
  const std::vector<const catalog::Platform*>& all() const { return all_; }

 private:
  std::vector<const catalog::Platform*> all_;
};

Lookup look_up(const catalog::Platform& platform, const std::string& path) {
  return fields::find_field(schema::definition(*platform.blueprint), path);
}

void add_rules(const std::vector<RuleAbout>& rules, Answer& out) {
  for (const RuleAbout& rule : rules) out.rules.try_emplace(rule.code, rule);
}

FieldExample example_of(const std::vector<Variant>& variants, yaml::Arena& arena) {
  std::vector<std::string> platforms;
  for (const Variant& variant : variants) {
    platforms.insert(platforms.end(), variant.platforms.begin(), variant.platforms.end());
  }
  return FieldExamples(arena).find(variants.front().field, platforms);
}

Answer answer_of(const FieldQuestion& question, const Platforms& platforms, yaml::Arena& arena) {
  Answer out;
  for (const catalog::Platform* platform : platforms.all()) {
    const Lookup lookup = look_up(*platform, question.path);
    if (!lookup.field) continue;
    if (!lookup.field->refused.empty()) {
      out.refused.emplace_back(platform->name, lookup.field->refused);
      continue;
    }
    const auto same = std::find_if(
        out.variants.begin(), out.variants.end(),
        [&](const Variant& variant) { return says_the_same(variant.field, *lookup.field); });
    if (same != out.variants.end()) {
      same->platforms.push_back(platform->name);
    } else {
      out.variants.push_back({*lookup.field, {platform->name}});
    }
    add_rules(fields::rules_about(*platform, lookup.field->path), out);
    add_rules(fields::checks_about(*lookup.field), out);
  }
  if (!out.variants.empty()) out.example = example_of(out.variants, arena);
  return out;
}

// The title of its page; what it says where it has none.
std::string about_rule(const RuleAbout& rule) {
  const std::string title = code_title(rule.code);
  return title.empty() ? rule.message : title;
}

std::string default_of(const Field& field, const diag::Sources& sources) {
  const Node* value = field.definition.find("default");
  if (value == nullptr) return field.required ? "none: it is required" : "none";
  const std::string place = sources.place(value->origin());
  return shown_value(*value) + (place.empty() ? "" : "   (" + place + ")");
}

std::string list_of_fields(const Field& field) {
  std::string out;
  const std::vector<Field> inner = fields::fields_of(field);
  for (const Field& one : inner) {
    const std::string name = one.path.substr(one.path.rfind('.') + 1);
    out += "  " + name + "  (" + fields::type_of(one.definition) +
           (one.required && one.definition.find("default") == nullptr ? ", required)\n" : ")\n");
    const std::string about = fields::first_sentence(one.definition);
    if (!about.empty()) out += behind("      ", about);
  }
  return out;
}

std::string answer_text(const Answer& answer, const diag::Sources& sources) {
  std::string out;
  for (const Variant& variant : answer.variants) {
    const Field& field = variant.field;
    if (!out.empty()) out += "\n";
    out += field.path + "\n\n";
    const std::string_view about = field.definition.get("description").as_string();
    if (!about.empty()) out += behind("  ", about) + "\n";
    out += labelled("Type", fields::type_of(field.definition));
    out += labelled("Default", default_of(field, sources));
    bool first = true;
    for (const std::string& constraint : fields::constraints_of(field.definition)) {
      out += labelled(first ? "Constraints" : "", constraint);
      first = false;
    }
    out += labelled("Platforms", base::join(variant.platforms, ", "));
    const std::string inner = list_of_fields(field);
    if (!inner.empty()) out += "\nFields\n" + inner;
  }
  if (!answer.refused.empty()) out += "\n";
  for (const auto& [platform, reason] : answer.refused) {
    out += labelled("Not on", platform + ": " + reason);
  }
  if (!answer.example.value.is_null()) {
    out += answer.example.sample ? "\nExample, of " + answer.example.from + "\n" : "\nExample\n";
    const std::string example = yaml::emit(answer.example.value);
    for (const std::string_view line : base::split(example, '\n')) {
      if (!line.empty()) out += "  " + std::string(line) + "\n";
    }
  }
  if (!answer.rules.empty()) out += "\nRules that look at it (`gpuctl explain CODE`)\n";
  for (const auto& [code, rule] : answer.rules) {
    out += behind("  " + code + "  ", about_rule(rule));
  }
  return out;
}

Node as_node(const Field& field, yaml::Arena& arena) {
  yaml::MapBuilder out;
  out.set(arena, "path", arena.string(field.path));
  out.set(arena, "type", arena.string(fields::type_of(field.definition)));
  out.set(arena, "required",
          Node::boolean(field.required && field.definition.find("default") == nullptr));
  for (const char* key : {"description", "default", "enum"}) {
    if (const Node* value = field.definition.find(key)) out.set(arena, key, *value);
  }
  const std::vector<std::string> constraints = fields::constraints_of(field.definition);
  if (!constraints.empty()) out.set(arena, "constraints", texts(constraints, arena));
  return out.build(arena);
}

void add_tree(const Field& field, yaml::Arena& arena, std::vector<Node>& out) {
  for (const Field& one : fields::fields_of(field)) {
    out.push_back(as_node(one, arena));
    add_tree(one, arena, out);
  }
}

Node as_node(const Answer& answer, const FieldQuestion& question, const diag::Sources& sources,
             yaml::Arena& arena) {
  std::vector<Node> variants;
  for (const Variant& variant : answer.variants) {
    yaml::MapBuilder one(as_node(variant.field, arena));
    const Node* value = variant.field.definition.find("default");
    const std::string place = value == nullptr ? "" : sources.place(value->origin());
    if (!place.empty()) one.set(arena, "defaultFrom", arena.string(place));
    one.set(arena, "platforms", texts(variant.platforms, arena));
    std::vector<Node> inner;
    if (question.recursive) {
      add_tree(variant.field, arena, inner);
    } else {
      for (const Field& field : fields::fields_of(variant.field)) {
        inner.push_back(as_node(field, arena));
      }
    }
    one.set(arena, "fields", arena.list(inner));
    variants.push_back(one.build(arena));
  }
  yaml::MapBuilder out;
  out.set(arena, "variants", arena.list(variants));
  std::vector<Node> refused;
  for (const auto& [platform, reason] : answer.refused) {
    yaml::MapBuilder one;
    one.set(arena, "platform", arena.string(platform));
    one.set(arena, "reason", arena.string(reason));
    refused.push_back(one.build(arena));
  }
  out.set(arena, "refused", arena.list(refused));
  std::vector<Node> rules;
  for (const auto& [code, rule] : answer.rules) {
    yaml::MapBuilder one;
    one.set(arena, "code", arena.string(code));
    one.set(arena, "severity", arena.string(rule.severity));
    one.set(arena, "title", arena.string(about_rule(rule)));
    rules.push_back(one.build(arena));
  }
  out.set(arena, "rules", arena.list(rules));
  if (!answer.example.value.is_null()) out.set(arena, "example", answer.example.value);
  if (!answer.example.from.empty()) {
    out.set(arena, "exampleFrom", arena.string(answer.example.from));
  }
  return out.build(arena);
}

// Each field below on a line of its own, as deep as it lies.
void print_tree(const Field& field, std::size_t depth, std::string& out) {
  for (const Field& one : fields::fields_of(field)) {
    std::string name = one.path.substr(one.path.rfind('.') + 1);
    std::string first =
        std::string(2 * depth, ' ') + name + "  (" + fields::type_of(one.definition);
    if (const Node* value = one.definition.find("default")) {
      first += ", default " + shown_value(*value);
    } else if (one.required) {
      first += ", required";
    }
    out += first + ")\n";
    const std::string about = fields::first_sentence(one.definition);
    const std::string indent(2 * depth + 6, ' ');
    if (!about.empty()) out += behind(indent, about);
    print_tree(one, depth + 1, out);
  }
}

std::string tree_of(const Answer& answer) {
  std::string out;
  for (const Variant& variant : answer.variants) {
    if (!out.empty()) out += "\n";
    out += variant.field.path + "  (" + fields::type_of(variant.field.definition) + ")";
    if (answer.variants.size() > 1) out += "  on " + base::join(variant.platforms, ", ");
    out += "\n";
    print_tree(variant.field, 1, out);
  }
  return out;
}

// The field that somebody means who writes another case, or a synonym; empty: nobody knows.
std::string path_meant(const FieldQuestion& question, const Platforms& platforms,
                       catalog::Library& library) {
  for (const catalog::Platform* platform : platforms.all()) {
    std::string path =
        fields::path_meant(*platform, fields::synonyms_of(*platform, library), question.path);
    if (!path.empty()) return path;
  }
  return {};
}

// The platform on which the path leads farthest has most to say.
int report_unknown(const FieldQuestion& question, const Platforms& platforms,
                   catalog::Library& library, Report& report) {
  const catalog::Platform* best = platforms.all().front();
  Lookup lookup = look_up(*best, question.path);
  for (const catalog::Platform* platform : platforms.all()) {
    Lookup other = look_up(*platform, question.path);
    if (other.reached.size() > lookup.reached.size()) {
      lookup = std::move(other);
      best = platform;
    }
  }
  diag::Sink sink;
  diag::Diagnostic& finding =
      sink.error(kNoSuchField, diag::kNoOrigin, "no field `" + question.path + "`");
  if (lookup.names.empty()) {
    finding.expect("no fields below `" + lookup.reached + "`");
  } else {
    finding.expect("one of `" + base::join(lookup.names, "`, `") + "`" +
                   (lookup.reached.empty() ? "" : " in `" + lookup.reached + "`"));
  }
  std::string at = lookup.reached;
  for (std::size_t key = at.find(".*"); key != std::string::npos; key = at.find(".*")) {
    at.erase(key, 2);
  }
  if (!fields::name_what_is_meant(*best, fields::synonyms_of(*best, library), at, lookup.unknown,
                                  finding)) {
    finding.did_you_mean(lookup.unknown, lookup.names);
  }
  report.show(sink, diag::Sources());
  return kFindings;
}

}  // namespace

int run_explain_field(const FieldQuestion& question, const GlobalOptions& global) {
  Report report(global);
  Knowledge* knowledge = open_knowledge(global, report);
  if (knowledge == nullptr) return kFindings;
  const diag::Sources& sources = knowledge->library().sources();
  diag::Sink sink;
  const Platforms platforms(question.platform, *knowledge, sink);
  report.show(sink, sources);
  if (sink.has_errors() || platforms.all().empty()) return kFindings;
  yaml::Arena& arena = global.result->arena();
  Answer answer = answer_of(question, platforms, arena);
  if (answer.variants.empty() && answer.refused.empty()) {
    FieldQuestion meant = question;
    meant.path = path_meant(question, platforms, knowledge->library());
    if (!meant.path.empty()) answer = answer_of(meant, platforms, arena);
  }
  if (answer.variants.empty() && answer.refused.empty()) {
    return report_unknown(question, platforms, knowledge->library(), report);
  }
  const Node document = as_node(answer, question, sources, arena);
  for (const yaml::Entry& entry : document.entries()) {
    global.result->set(entry.key.as_string(), entry.value);
  }
  const std::string text = question.json        ? yaml::emit_json(document) + "\n"
                           : question.recursive ? tree_of(answer)
                                                : answer_text(answer, sources);
  return print(text, global) ? kOk : kFindings;
}

}  // namespace gpuctl::cli
