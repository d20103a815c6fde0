#include "facts/inquiry.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "cel/opaque.hpp"
#include "diag/character.hpp"
#include "facts/codes.hpp"
#include "yaml/emit.hpp"
#include "yaml/path.hpp"

namespace gpuctl::facts {

namespace {

void collect(const yaml::Node& node, Path& path, std::map<Path, yaml::Node>& out) {
  if (!node.is_map() || (node.size() == 0 && !path.empty())) {
    out.emplace(path, node);
    return;
  }
  for (const yaml::Entry& entry : node.entries()) {
    path.emplace_back(entry.key.as_string());
    collect(entry.value, path, out);
    path.pop_back();
  }
}

Path path_of(const std::string& name) {
  Path out;
  for (const std::string_view step : base::split(name, '.')) out.emplace_back(step);
  return out;
}

std::string shown(const yaml::Node& value) {
  return diag::shown(value.is_string() ? std::string(value.as_string()) : yaml::emit_json(value));
}

}  // namespace

std::string text_of(const Path& path) {
  std::string out;
  for (const std::string& step : path) out += yaml::key_step(step);
  return out.starts_with('.') ? out.substr(1) : out;
}

std::map<Path, yaml::Node> leaves_of(const yaml::Node& facts) {
  std::map<Path, yaml::Node> out;
  if (!facts.is_map()) return out;
  Path path;
  collect(facts, path, out);
  return out;
}

yaml::Node tree_of(const std::map<Path, yaml::Node>& leaves, yaml::Arena& arena) {
  yaml::Node out = arena.map(std::span<const yaml::Entry>());
  for (const auto& [path, value] : leaves) out = yaml::with_value(out, path, value, arena);
  return out;
}

Inquiry::Inquiry(const Rows& rows, const derive::Inputs& inputs, yaml::Context context)
    : rows_(rows),
      known_(inputs.facts),
      cluster_(inputs.metadata.get("name").as_string()),
      context_(context),
      values_(inputs.values()) {
  rows_.scope.variables->bind(values_);
  own_ = values_.size();
  values_.resize(own_ + kVariables);
}

void Inquiry::set_facts(const yaml::Node& facts) {
  values_[derive::kFacts] = cel::Value(facts);
  rows_.scope.variables->forget(std::span(values_).subspan(derive::kBaseVariables));
}

// Nothing when it fails, or leaves its value out.
std::optional<yaml::Node> Inquiry::value(const cel::LazyExpression& expression) {
  const cel::Outcome outcome = cel::attempt(*expression.get().program, values_, context_.arena);
  if (!outcome.ok()) return std::nullopt;
  const cel::Value found = cel::unwrapped(outcome.value);
  if (found.is_omit() || !found.is_node() || found.node().is_null()) return std::nullopt;
  return found.node();
}

std::vector<Found> Inquiry::recognised(const Row& row, const Source& source) {
  std::vector<Found> out;
  for (const Found& document : source.documents) {
    values_[own_ + kDocument] = cel::Value(document.tree);
    const auto is_one = value(row.recognises);
    if (is_one && is_one->as_boolean()) out.push_back(document);
  }
  return out;
}

void Inquiry::check(const Row& row, const Found& document) {
  for (const Contradiction& one : row.contradicts) {
    const auto holds = value(one.when);
    if (!holds || !holds->as_boolean()) continue;
    const cel::TextOutcome because = cel::evaluate(one.because.get(), values_, context_.arena);
    if (because.error) continue;
    context_.sink
        .error(kOtherCluster, row.secret ? diag::kNoOrigin : document.tree.origin(),
               row.title + " in `" + diag::shown(document.source) + "` is not of the cluster `" +
                   cluster_ + "`")
        .note(diag::shown(because.value.node().as_string()))
        .note("it stands at " + diag::shown(document.place))
        .suggest("name documents of this cluster, or another blueprint");
  }
}

bool Inquiry::is_preferred(const Said& said) {
  bool found = false;
  for (const std::string& name : prefer_) {
    if (name != said.source && name != said.row && name != said.place) continue;
    used_.insert(name);
    found = true;
  }
  return found;
}

void Inquiry::take(const Path& path, Said said) {
  const bool preferred = is_preferred(said);
  const auto [known, added] = learned_.facts.try_emplace(path, said);
  if (added || yaml::equal(known->second.value, said.value)) return;
  const bool before = is_preferred(known->second);
  if (preferred != before) {
    if (preferred) known->second = std::move(said);
    return;
  }
  if (!disputed_.insert(path).second) return;
  const std::string name = text_of(path);
  diag::Diagnostic& error =
      context_.sink.error(kDisagreement, said.at, "sources disagree on the fact `" + name + "`");
  if (said.at != diag::kNoOrigin) error.label("`" + shown(said.value) + "` here");
  if (known->second.at != diag::kNoOrigin) {
    error.also(known->second.at, "`" + shown(known->second.value) + "` here");
  }
  const auto note = [&](const Said& one) {
    error.note("`" + shown(one.value) + "` says " + diag::shown(one.place) + " (" + one.row + ")");
  };
  note(known->second);
  note(said);
  // Of one source only places tell its documents apart.
  const bool same = known->second.source == said.source;
  error.suggest("see which is right, and take it with `--prefer`: `" +
                diag::shown(same ? known->second.place : known->second.source) + "` or `" +
                diag::shown(same ? said.place : said.source) + "`");
}

void Inquiry::ask(const Row& row, const Source& source, const Found& document) {
  values_[own_ + kDocument] = cel::Value(document.tree);
  for (const auto& [name, expression] : row.facts) {
    const auto found = value(expression);
    if (!found) continue;
    const bool passing =
        std::find(row.passing.begin(), row.passing.end(), name) != row.passing.end();
    if (passing) learned_.passing.insert(name);
    std::map<Path, yaml::Node> leaves;
    Path path = path_of(name);
    collect(*found, path, leaves);
    for (const auto& [leaf, node] : leaves) {
      // A value that was worked out stands where its document does.
      const diag::Origin at =
          context_.sources.owns(node.origin()) ? node.origin() : document.tree.origin();
      const std::string exact = context_.sources.owns(at) ? context_.sources.place(at) : "";
      take(leaf, {yaml::without_origins(node, context_.arena), row.name, source.name,
                  exact.empty() ? document.place : exact, row.secret ? diag::kNoOrigin : at});
    }
  }
  for (const auto& [name, expression] : row.owners) {
    const auto who = value(expression);
    if (who && who->is_string()) {
      learned_.owners[name] = {diag::shown(who->as_string()), document.place};
    }
  }
}

void Inquiry::ask(const Row& row, const Source& source, const std::vector<Found>& documents) {
  std::vector<yaml::Node> trees;
  for (const Found& document : documents) trees.push_back(document.tree);
  values_[own_ + kDocuments] = cel::Value(context_.arena.list(trees));
  for (const Found& document : documents) {
    values_[own_ + kDocument] = cel::Value(document.tree);
    check(row, document);
    if (!row.together) ask(row, source, document);
  }
  if (row.together) ask(row, source, documents.front());
}

Learned Inquiry::ask(const std::vector<Source>& sources, const std::vector<std::string>& prefer) {
  prefer_ = prefer;
  std::set<const Source*> known;
  std::set<std::string> names;
  for (const Row& row : rows_.rows) {
    std::map<Path, yaml::Node> facts = leaves_of(known_);
    for (const auto& [path, said] : learned_.facts) facts[path] = said.value;
    set_facts(tree_of(facts, context_.arena));
    names.insert(row.title);
    for (const Source& source : sources) {
      const std::vector<Found> documents = recognised(row, source);
      if (documents.empty()) continue;
      known.insert(&source);
      if (row.secret && source.file) {
        context_.sources.hide(
            *source.file, 0,
            static_cast<std::uint32_t>(context_.sources.file_text(*source.file).size()));
      }
      ask(row, source, documents);
    }
  }
  for (const Source& source : sources) {
    if (known.contains(&source) || !source.file || context_.sink.has_errors()) continue;
    context_.sink
        .error(kUnknownSource, diag::kNoOrigin,
               "nothing in `" + diag::shown(source.path) + "` tells a fact")
        .expect("one of these: " +
                base::join(std::vector<std::string>(names.begin(), names.end()), ", "))
        .suggest("`gpuctl facts show` says how each fact that is missing is obtained");
  }
  for (const std::string& name : prefer_) {
    if (used_.contains(name) || context_.sink.has_errors()) continue;
    context_.sink
        .error(kNothingPreferred, diag::kNoOrigin,
               "`--prefer " + diag::shown(name) + "` names no source of a fact")
        .expect(
            "a source as the command line names it, a place such as `machines.yaml:12:3`, or "
            "the name of a kind of source");
  }
  return std::move(learned_);
}

std::map<std::string, yaml::Node> Inquiry::computed(const yaml::Node& facts) {
  set_facts(facts);
  std::map<std::string, yaml::Node> out;
  for (const auto& [name, expression] : rows_.computed) {
    const auto found = value(expression);
    if (found) out.emplace(name, yaml::without_origins(*found, context_.arena));
  }
  return out;
}

std::vector<std::string> Inquiry::words(const Call& call) {
  std::vector<std::string> out;
  for (const cel::LazyText& word : call.arguments) {
    const cel::TextOutcome outcome = cel::evaluate(word.get(), values_, context_.arena);
    if (!outcome.error && !outcome.value.is_omit()) {
      out.emplace_back(outcome.value.node().as_string());
    }
  }
  return out;
}

}  // namespace gpuctl::facts
