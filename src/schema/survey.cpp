// Compiling a whole schema: for its faults, and for what of it cannot be checked.
#include "schema/codes.hpp"
#include "schema/walk.hpp"

namespace gpuctl::schema {

namespace {

using yaml::Node;

/// Like walk(), but also through allOf, anyOf, oneOf and not.
template <typename Visit>
void walk_all(const Schema& schema, const std::string& path, const Visit& visit) {
  visit(schema, path);
  std::size_t i = 0;
  for (const yaml::Entry& entry : schema.properties.entries()) {
    const std::string name(entry.key.as_string());
    walk_all(schema.property_slots[i++].get(), path.empty() ? name : path + "." + name, visit);
  }
  if (schema.items) walk_all(schema.items->get(), path, visit);
  if (schema.additional) walk_all(schema.additional->get(), path, visit);
  for (const Slots* branches : {&schema.all_of, &schema.any_of, &schema.one_of}) {
    for (const Slot& branch : *branches) walk_all(branch.get(), path, visit);
  }
  if (schema.not_) walk_all(schema.not_->get(), path, visit);
}

std::string quoted(const std::string& path) {
  return path.empty() ? "the schema" : "schema of `" + path + "`";
}

/// The API server refuses a CRD whose defaults do not fit.
void check_default(const Schema& schema, const std::string& path, const diag::Sources& sources,
                   diag::Sink& sink) {
  if (!schema.default_value || schema.role == Role::restriction) return;
  yaml::Arena arena;
  diag::Sink findings;
  validate(schema, *schema.default_value, arena, sources, findings);
  for (const diag::Diagnostic& finding : findings.all()) {
    if (finding.severity != diag::Severity::error) continue;
    diag::Diagnostic& fault =
        sink.error(kFaultySchema, finding.primary.at,
                   quoted(path) + ": its default does not fit: " + finding.message);
    fault.expected = finding.expected;
    fault.found = finding.found;
    fault.help = finding.help;
  }
}

/// What would only be found when a value meets it: patterns and rules that cannot be compiled.
void check_expressions(const Schema& schema, const std::string& path, diag::Sink& sink) {
  const auto fault = [&](const Node& at, const std::string& problem) {
    sink.error(kFaultySchema, at.origin(), quoted(path) + ": " + problem);
  };
  if (schema.pattern && schema.pattern->regex() == nullptr) {
    fault(schema.definition.get("pattern"), "its pattern is none: " + schema.pattern->error());
  }
  for (const Rule& rule : schema.rules()) {
    if (rule.state == Rule::State::unsupported) fault(rule.definition.get("rule"), rule.problem);
    if (!rule.message_problem.empty()) {
      fault(rule.definition.get("messageExpression"), rule.message_problem);
    }
  }
}

SchemaPtr own_schema(const Node& definition, const diag::Sources& sources, bool checked) {
  auto root = std::make_shared<const Root>(
      definition, Shared{.sources = &sources, .published = false, .checked = checked, .name = {}});
  return {root, &root->schema};
}

}  // namespace

SchemaPtr compile_checked(const Node& definition, const diag::Sources& sources) {
  return own_schema(definition, sources, true);
}

SchemaPtr compile(const Node& definition, const diag::Sources& sources, diag::Sink& sink) {
  SchemaPtr schema = own_schema(definition, sources, false);
  const std::size_t errors = sink.error_count();
  walk_all(*schema, {}, [&](const Schema& node, const std::string& path) {
    for (const Fault& fault : node.faults) {
      diag::Diagnostic& finding =
          sink.error(kFaultySchema, fault.at, quoted(path) + ": " + fault.message);
      if (!fault.help.empty()) finding.suggest(fault.help);
    }
  });
  if (sink.error_count() == errors) {
    walk(*schema, {}, [&](const Schema& node, const std::string& path) {
      check_default(node, path, sources, sink);
    });
    walk_all(*schema, {}, [&](const Schema& node, const std::string& path) {
      check_expressions(node, path, sink);
    });
  }
  return schema;
}

Survey survey(const Schema& schema) {
  Survey out;
  const diag::Sources none;
  walk(schema, {}, [&](const Schema& node, const std::string& path) {
    diag::Sink findings;
    check_default(node, path, none, findings);
    for (const diag::Diagnostic& finding : findings.all()) out.faults.push_back(finding.message);
  });
  walk_all(schema, {}, [&](const Schema& node, const std::string& path) {
    const std::string where = path.empty() ? "(root)" : path;
    for (const Fault& fault : node.faults) {
      out.faults.push_back(where + ": " + fault.message);
    }
    for (const Rule& rule : node.rules()) {
      if (!rule.message_problem.empty()) {
        out.unsupported.push_back(where + ": messageExpression of rule `" +
                                  one_line(rule.text, 300) + "`: " + rule.message_problem);
      }
      switch (rule.state) {
        case Rule::State::ready:
          ++out.rules.evaluated;
          if (rule.definition.find("optionalOldSelf") != nullptr) {
            out.faults.push_back(where + ": `optionalOldSelf` of a rule that has no oldSelf");
          }
          break;
        case Rule::State::transition:
          ++out.rules.skipped;
          break;
        case Rule::State::unsupported:
          ++out.rules.unsupported;
          out.unsupported.push_back(where + ": rule `" + one_line(rule.text, 300) +
                                    "`: " + rule.problem);
          break;
      }
    }
    if (node.pattern && node.pattern->regex() == nullptr) {
      out.unsupported.push_back(where + ": pattern `" + std::string(node.pattern->text()) +
                                "`: " + node.pattern->error());
    }
  });
  return out;
}

}  // namespace gpuctl::schema
