#include "diagnose/asking.hpp"

namespace gpuctl::diagnose {

namespace {

std::vector<std::string> words_of(const yaml::Node& value) {
  std::vector<std::string> out;
  if (value.is_string() && value.size() > 0) out.emplace_back(value.as_string());
  for (const yaml::Node& item : value.items()) {
    if (item.is_string() && item.size() > 0) out.emplace_back(item.as_string());
  }
  return out;
}

// The name of a file without its folders and ending.
std::string_view stem(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  return path.substr(0, path.find('.'));
}

}  // namespace

Asking::Asking(const Chain& chain, const Evidence& evidence, const yaml::Node& cluster,
               yaml::Arena& arena)
    : chain_(chain), arena_(arena), cluster_(cluster) {
  yaml::MapBuilder objects;
  yaml::MapBuilder known;
  for (const KindRow& kind : chain.kinds()) {
    std::vector<yaml::Node> trees;
    for (const Object& object : evidence.of(kind.name)) trees.push_back(object.tree);
    objects.set(arena, kind.name, arena.list(trees));
    known.set(arena, kind.name, yaml::Node::boolean(evidence.is_known(kind.name)));
  }
  objects_ = objects.build(arena);
  known_ = known.build(arena);
}

std::vector<cel::Value> Asking::values(const cel::Definitions& variables, const yaml::Node& object,
                                       const yaml::Node& log) const {
  std::vector<cel::Value> out = {object, log, objects_, known_, cluster_};
  variables.bind(out);
  return out;
}

bool Asking::is_true(const cel::LazyExpression& expression,
                     const std::vector<cel::Value>& all) const {
  return expression && value(expression, all).as_boolean();
}

yaml::Node Asking::value(const cel::LazyExpression& expression,
                         const std::vector<cel::Value>& all) const {
  if (!expression) return {};
  const cel::Outcome outcome = cel::attempt(*expression.get().program, all, arena_);
  return outcome.ok() && outcome.value.is_node() ? outcome.value.node() : yaml::Node();
}

std::string Asking::text(const cel::LazyText& written, const std::vector<cel::Value>& all) const {
  if (!written) return {};
  const cel::TextOutcome outcome = cel::evaluate(written.get(), all, arena_);
  if (outcome.error || !outcome.value.is_node()) return {};
  return std::string(outcome.value.node().as_string());
}

std::optional<Said> Asking::ask(const Check& check, const yaml::Node& object) const {
  const std::vector<cel::Value> all = values(*check.variables, object, {});
  if (!is_true(check.when, all)) return std::nullopt;
  Said said;
  said.subject = text(check.subject, all);
  if (said.subject.empty() && object.is_map()) {
    const std::string_view kind = object.get("kind").as_string();
    said.subject = name_of(kind.empty() ? std::string_view(check.kind) : kind, object);
  }
  said.text = text(check.text, all);
  said.words = words_of(value(check.says, all));
  said.more = text(check.more, all);
  if (check.nodes) {
    const yaml::Node nodes = value(check.nodes, all);
    if (nodes.is_list()) said.nodes = words_of(nodes);
  }
  return said;
}

std::vector<yaml::Node> Asking::items(const Check& check) const {
  const yaml::Node list = value(check.each, values(*check.variables, {}, {}));
  return {list.items().begin(), list.items().end()};
}

bool Asking::has_pod(const Link& link, const yaml::Node& pod) const {
  return link.pods && is_true(link.pods, values(*link.variables, pod, {}));
}

bool Asking::has_log(const Link& link, const Log& log) const {
  if (!link.logs) return false;
  yaml::MapBuilder tree;
  tree.set(arena_, "namespace", arena_.string(log.space));
  // A log that somebody saved mostly has the name of its pod.
  tree.set(arena_, "pod", arena_.string(log.loose ? stem(log.name) : log.pod));
  tree.set(arena_, "container", arena_.string(log.container));
  tree.set(arena_, "file", arena_.string(log.name));
  return is_true(link.logs, values(*link.variables, {}, tree.build(arena_)));
}

std::optional<std::pair<const Check*, Said>> Asking::fault_of(const yaml::Node& pod) const {
  for (const Check& check : chain_.pod_checks()) {
    if (std::optional<Said> said = ask(check, pod)) return std::pair(&check, std::move(*said));
  }
  return std::nullopt;
}

const Link* Asking::link_of(const yaml::Node& pod) const {
  for (const Link& link : chain_.links()) {
    if (has_pod(link, pod)) return &link;
  }
  return nullptr;
}

}  // namespace gpuctl::diagnose
