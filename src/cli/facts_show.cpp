// `gpuctl facts show`: the facts of a cluster, where they come from, and what needs them.
#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "base/text.hpp"
#include "cli/facts_inquiry.hpp"
#include "yaml/emit.hpp"
#include "yaml/merge_patch.hpp"

namespace gpuctl::cli {

namespace {

using facts::Path;

// What documents need a fact: how many of each kind, and where they are.
struct Need {
  std::map<std::string, std::size_t> kinds;
  std::vector<std::string> paths;

  std::size_t count() const {
    std::size_t out = 0;
    for (const auto& [kind, number] : kinds) out += number;
    return out;
  }
};

std::map<std::string, std::string> contents_of(const Result& result) {
  std::map<std::string, std::string> out;
  for (const render::Document& document : result.rendered().documents) {
    out.emplace(document.path, render::bytes(document));
  }
  return out;
}

// The documents that are not there, or others, without the fact.
Need need_of(const Result& with, const Result& without) {
  Need out;
  const std::map<std::string, std::string> left = contents_of(without);
  for (const render::Document& document : with.rendered().documents) {
    // These list facts and documents, whatever they are.
    const std::string_view kind = document.body.get("kind").as_string();
    if (document.raw || kind.empty()) continue;
    const auto found = left.find(document.path);
    if (found != left.end() && found->second == render::bytes(document)) continue;
    ++out.kinds[std::string(kind)];
    out.paths.push_back(document.path);
  }
  return out;
}

bool is_below(std::string_view path, std::string_view name) {
  return path == name ||
         (path.starts_with(name) && path.size() > name.size() && path[name.size()] == '.');
}

// The facts with a value for one that is not known, of the type that it has.
yaml::Node with_stand_in(const yaml::Node& facts, const std::string& name, const Result& result) {
  yaml::Arena& arena = *result.arena;
  const schema::Schema* schema = schema::at(*result.opened->blueprint.platform->facts, name);
  const std::string type =
      schema == nullptr ? "" : std::string(schema::definition(*schema).get("type").as_string());
  yaml::Node patch = type == "object"    ? arena.map(std::span<const yaml::Entry>())
                     : type == "array"   ? arena.list(std::span<const yaml::Node>())
                     : type == "integer" ? yaml::Node::integer(0)
                                         : yaml::Node::view("missing");
  const std::vector<std::string_view> steps = base::split(name, '.');
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    yaml::MapBuilder map;
    map.set(arena, *step, patch);
    patch = map.build(arena);
  }
  return yaml::merge_patch(facts, patch, arena);
}

using Round = std::vector<render::Withheld>;

// What documents wait for, in rounds: a document tells only the first fact that it lacks, and the
// next one shows once something stands in its place.
std::vector<Round> rounds_of(const Result& result) {
  constexpr std::size_t kMostRounds = 20;
  std::vector<Round> out;
  std::set<std::string> known;
  yaml::Node facts = result.loaded->facts;
  Round waiting = result.rendered().withheld;
  while (!waiting.empty() && out.size() < kMostRounds) {
    for (const render::Withheld& item : waiting) {
      if (known.insert(item.fact).second) facts = with_stand_in(facts, item.fact, result);
    }
    out.push_back(std::move(waiting));
    const render::Cluster cluster{result.opened->blueprint, *result.derived, facts};
    diag::Sink unseen;  // what follows from values that are none
    waiting = render::render(*result.opened->compiled->templates, cluster, result.loaded->extra, {},
                             {*result.sources, *result.arena, unseen})
                  .withheld;
    std::erase_if(waiting, [&](const render::Withheld& item) { return known.contains(item.fact); });
  }
  return out;
}

Need withheld_for(const std::vector<Round>& rounds, const std::string& name,
                  std::map<std::string, std::string>& obtain) {
  Need out;
  for (const Round& waiting : rounds) {
    std::map<std::string, std::size_t> kinds;
    for (const render::Withheld& item : waiting) {
      if (!is_below(item.fact, name)) continue;
      ++kinds[item.template_name];
      obtain[item.fact] = item.obtain;
    }
    // A document that waits for a part of a fact may have waited for the whole before.
    for (const auto& [kind, number] : kinds) {
      out.kinds[kind] = std::max(out.kinds[kind], number);
    }
  }
  std::erase_if(obtain, [&](const auto& whole) {
    return std::any_of(obtain.begin(), obtain.end(), [&](const auto& part) {
      return part.first != whole.first && is_below(part.first, whole.first);
    });
  });
  return out;
}

std::string needs_text(const Need& need, bool missing) {
  if (need.count() == 0) return missing ? "nothing waits for it" : "no document depends on it";
  std::string kinds;
  for (const auto& [kind, number] : need.kinds) {
    kinds += (kinds.empty() ? "" : ", ") + std::to_string(number) + " " + kind;
  }
  return counted(need.count(), "document") +
         (missing             ? need.count() == 1 ? " waits" : " wait"
          : need.count() == 1 ? " depends"
                              : " depend") +
         (missing ? " for it: " : " on it: ") + kinds;
}

// Where a value stands: in the repository, or in a file.
std::string origin_of(const yaml::Node& value, const Result& result, std::string& from) {
  std::string place = result.sources->place(value.origin());
  from = place.starts_with("clusters/" + result.cluster() + "/") ? "committed" : "file";
  return place;
}

class Show {
 public:
  Show(const FactsOptions& options, const Result& result, Knowledge& knowledge, Report& report,
       ResultDocument& document)
      : options_(options),
        result_(result),
        knowledge_(knowledge),
        report_(report),
        document_(document),
        rounds_(rounds_of(result)) {}

  std::string all(const std::map<std::string, yaml::Node>& computed) {
    const yaml::Node properties =
        schema::definition(*result_.opened->blueprint.platform->facts).get("properties");
    std::string out;
    for (const yaml::Entry& entry : properties.entries()) {
      const std::string name(entry.key.as_string());
      const yaml::Node* value = result_.loaded->facts.find(name);
      const auto taken = computed.find(name);
      if (value != nullptr) {
        out += known(name, *value);
      } else if (taken != computed.end()) {
        out += name + "  " + value_text(taken->second) + "\n  computed\n";
        add(name, "computed", &taken->second, "", {}, {});
      } else {
        out += missing(name, entry.value);
      }
    }
    document_.set("facts", document_.arena().list(rows_));
    return out;
  }

 private:
  std::string known(const std::string& name, const yaml::Node& value) {
    std::string out;
    std::string from;
    std::string place;
    for (const auto& [path, leaf] :
         value.is_map() ? facts::leaves_of(value) : std::map<Path, yaml::Node>{{{}, value}}) {
      Path whole = {name};
      whole.insert(whole.end(), path.begin(), path.end());
      place = origin_of(leaf, result_, from);
      out += facts::text_of(whole) + "  " + value_text(leaf) + "\n  " +
             (from == "committed" ? "committed: " : "from ") + shown(place) + "\n";
    }
    const Need need = need_without(name);
    add(name, from, &value, place, need, {});
    return out + "  " + needs_text(need, false) + "\n";
  }

  std::string missing(const std::string& name, const yaml::Node& definition) {
    std::map<std::string, std::string> obtain;
    const Need need = withheld_for(rounds_, name, obtain);
    if (obtain.empty()) {
      obtain[name] = std::string(definition.get("x-gpuctl-obtain").as_string());
    }
    std::string out = name + "  missing\n  " + needs_text(need, true) + "\n";
    for (const auto& [fact, how] : obtain) {
      if (!how.empty()) out += "  " + (fact == name ? "" : fact + ": ") + "get it: " + how + "\n";
    }
    add(name, "missing", nullptr, "", need, obtain);
    return out;
  }

  // The cluster once more, without the fact.
  Need need_without(const std::string& name) {
    yaml::Arena& arena = *result_.arena;
    yaml::MapBuilder left(result_.loaded->facts);
    left.remove(name);
    yaml::MapBuilder metadata;
    metadata.set(arena, "name", arena.string(result_.opened->blueprint.name));
    yaml::MapBuilder file;
    file.set(arena, "apiVersion", result_.opened->blueprint.document.get("apiVersion"));
    file.set(arena, "kind", yaml::Node::view("Facts"));
    file.set(arena, "metadata", metadata.build(arena));
    file.set(arena, "spec", left.build(arena));
    FactsOptions options = options_;
    options.facts = "facts.yaml";
    const auto without = run_for_facts(options, knowledge_, report_, [&](Request& request) {
      request.given[options.facts] = yaml::emit(file.build(arena));
    });
    return without == nullptr ? Need() : need_of(result_, *without);
  }

  void add(const std::string& name, std::string_view from, const yaml::Node* value,
           const std::string& place, const Need& need,
           const std::map<std::string, std::string>& obtain) {
    yaml::Arena& arena = document_.arena();
    yaml::MapBuilder row;
    row.set(arena, "fact", arena.string(name));
    row.set(arena, "from", arena.string(from));
    if (value != nullptr) row.set(arena, "value", arena.clone(*value));
    if (!place.empty()) row.set(arena, "place", arena.string(shown(place)));
    yaml::MapBuilder kinds;
    for (const auto& [kind, number] : need.kinds) {
      kinds.set(arena, kind, yaml::Node::integer(static_cast<std::int64_t>(number)));
    }
    row.set(arena, "neededBy", kinds.build(arena));
    std::vector<std::string> ways;
    for (const auto& [fact, how] : obtain) {
      if (!how.empty()) ways.push_back(how);
    }
    if (!ways.empty()) row.set(arena, "obtain", texts(ways, arena));
    rows_.push_back(row.build(arena));
  }

  const FactsOptions& options_;
  const Result& result_;
  Knowledge& knowledge_;
  Report& report_;
  ResultDocument& document_;
  std::vector<Round> rounds_;
  std::vector<yaml::Node> rows_;
};

int run_show(const FactsOptions& options, const GlobalOptions& global) {
  Report report(global);
  Knowledge* knowledge = open_knowledge(global, report);
  if (knowledge == nullptr) return kFindings;
  const auto result = run_for_facts(options, *knowledge, report);
  if (result == nullptr) return kFindings;
  global.result->set("cluster", result->cluster());
  const auto computed = computed_facts(*result, *knowledge);
  const std::string text = Show(options, *result, *knowledge, report, *global.result).all(computed);
  return print(text, global) ? kOk : kFindings;
}

RunFunction set_up_facts_show(Options& command, const GlobalOptions& global) {
  auto options = std::make_shared<FactsOptions>();
  command.add_option("BLUEPRINT", options->blueprint, "Blueprint of the cluster")
      .required()
      .type_name("FILE");
  options->add_repository(command);
  return [options, &global] { return run_show(*options, global); };
}

}  // namespace

Command facts_show_command() {
  return {"show", "Show the facts of a cluster: where they come from, and what needs them",
          "All facts that the platform has: the value and the place it stands at, what is computed "
          "where\n"
          "nobody says otherwise, and of those that are missing how they are obtained.\n\n"
          "Example:\n"
          "  gpuctl facts show cluster.yaml\n"
          "  gpuctl facts show cluster.yaml --repo fleet --format json\n",
          set_up_facts_show};
}

}  // namespace gpuctl::cli
