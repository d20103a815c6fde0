#include "fleet/fleet.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <span>

#include "base/digest.hpp"
#include "base/path_check.hpp"
#include "base/text.hpp"
#include "blueprint/codes.hpp"
#include "blueprint/extends.hpp"
#include "catalog/wrapper.hpp"
#include "fleet/codes.hpp"
#include "fleet/items.hpp"
#include "fleet/table.hpp"
#include "pipeline/codes.hpp"
#include "pipeline/inputs.hpp"
#include "secrets/mask.hpp"
#include "yaml/emit.hpp"
#include "yaml/read.hpp"

namespace gpuctl::fleet {

namespace {

using yaml::Node;

constexpr std::string_view kFormat = "providers/formats/fleet.yaml";
constexpr std::string_view kDefaultStage = "prod";

// Those of a fleet: a list of thousands of clusters is larger than a blueprint.
yaml::ReadLimits fleet_limits() {
  yaml::ReadLimits limits;
  limits.bytes = pipeline::kMostInputBytes;
  limits.nodes = 1'000'000;
  return limits;
}

// What a blueprint's schema asks of a name, so that names can be told apart by it.
bool is_cluster_name(std::string_view name) {
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && plain(name.front()) && plain(name.back()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return plain(c) || c == '-'; });
}

// The first line of an item, to name it in messages.
std::string shown_item(const Node& item) {
  constexpr std::size_t kMostBytesShown = 120;
  std::string out = yaml::emit_json(item);
  if (out.size() > kMostBytesShown) out.resize(out.rfind(',', kMostBytesShown));
  return out.ends_with('}') ? out : out + ", ...";
}

// Says which item of an entry a finding is about.
void name_item(const Node& item, diag::Diagnostic& finding) {
  if (item.origin() != diag::kNoOrigin) {
    finding.also(item.origin(), "of this item");
  } else if (!item.is_null()) {
    finding.note("of the item " + shown_item(item));
  }
}

// "90m" -> 5400 seconds.
std::int64_t seconds_of(std::string_view duration) {
  if (duration.empty()) return 0;
  const std::int64_t unit = duration.back() == 'm' ? 60 : duration.back() == 'h' ? 3600 : 86400;
  return unit * std::stoll(std::string(duration.substr(0, duration.size() - 1)));
}

std::vector<Wave> waves_of(const Node& stage) {
  std::vector<Wave> out;
  for (const Node& wave : stage.get("waves").items()) {
    const std::span<const Node> clusters = wave.get("clusters").items();
    out.push_back({std::string(wave.get("name").as_string()),
                   wave.get("name").origin(),
                   {clusters.begin(), clusters.end()},
                   seconds_of(wave.get("soak").as_string())});
  }
  return out;
}

}  // namespace

bool is_fleet(const std::string& file, const std::string& text) {
  // A look at the text spares most blueprints the reading.
  if (text.find("Fleet") == std::string::npos) return false;
  diag::Sources sources;
  yaml::Arena arena;
  diag::Sink unsaid;
  const auto document =
      yaml::read(sources.add_file(file, text), sources, arena, unsaid, fleet_limits());
  return document && document->get("kind").as_string() == "Fleet" &&
         document->get("apiVersion").as_string() == catalog::kApiVersion;
}

Fleet::Fleet(const std::string& file, std::string text, pipeline::Knowledge& knowledge)
    : file_(file), sources_(&knowledge.library().sources()) {
  secret_rules_ = knowledge.secret_rules();
  const std::optional<Node> document =
      yaml::read(add(file, std::move(text)), sources_, arena_, sink_, fleet_limits());
  if (!document || !check_format(*document, knowledge)) return;
  const Node spec = document->get("spec");
  if (const Node* extends = spec.find(blueprint::kExtends)) bases_ = bases_at(*extends);
  read_stages(spec.get("stages"));
  for (const Node& written : spec.get("clusters").items()) read_entry(written);
  if (sink_.has_errors()) return;
  for (std::size_t i = 0; i < entries_.size(); ++i) name_clusters(i);
  check_doubles();
  if (!sink_.has_errors()) assign_waves();
  if (sink_.has_errors()) clusters_.clear();
  places_ = base::sha256_hex(all_bytes_);
  files_ = sources_.file_views();
}

diag::FileId Fleet::add(const std::string& name, std::string text) {
  bytes_ += text.size();
  all_bytes_ += name + "\n" + base::sha256_hex(text) + "\n";
  const diag::FileId file = sources_.add_file(name, std::move(text));
  secrets::hide(file, *secret_rules_, sources_);
  return file;
}

bool Fleet::check_format(const Node& document, pipeline::Knowledge& knowledge) {
  catalog::Library& library = knowledge.library();
  const Node definition = catalog::spec_of(library, std::string(kFormat)).get("schema");
  const schema::SchemaPtr schema = schema::compile_checked(definition, library.sources());
  diag::Sink findings;
  schema::validate(*schema, document, arena_, sources_, findings);
  for (diag::Diagnostic finding : findings.all()) {
    finding.code = kFaultyFleet;
    sink_.add(std::move(finding));
  }
  return findings.empty();
}

std::optional<std::string> Fleet::read(const std::string& path, std::size_t home, const Node& at,
                                       std::string_view code) {
  auto content =
      pipeline::read_named(path, home, std::min(pipeline::kMostInputBytes, kMostBytes - bytes_));
  if (auto* text = std::get_if<std::string>(&content)) return std::move(*text);
  const auto& error = std::get<base::FileError>(content);
  if (error.code == EFBIG && kMostBytes - bytes_ < pipeline::kMostInputBytes) {
    sink_.error(kTooManyOfAll, at.origin(), "the files of this fleet are too large together")
        .expect("at most " + std::to_string(kMostBytes) + " bytes in all of them");
    return std::nullopt;
  }
  diag::Diagnostic& refused =
      sink_.error(code, at.origin(), "cannot read `" + secrets::masked(path) + "`: " + error.text);
  if (error.code == ENOENT) refused.suggest("paths are relative to the file that names them");
  if (error.code == EXDEV) refused.suggest("copy the file beside the one that names it");
  return std::nullopt;
}

std::vector<Node> Fleet::bases_at(const Node& extends) {
  const blueprint::ReadBase read_base = [&](const std::string& name,
                                            const Node& path) -> std::optional<diag::FileId> {
    std::optional<std::string> text =
        read(name, pipeline::NamedFile::kAnywhere, path, blueprint::kFaultyExtends);
    if (!text) return std::nullopt;
    return add(name, std::move(*text));
  };
  return blueprint::bases_of(file_, extends, read_base, {sources_, arena_, sink_})
      .value_or(std::vector<Node>());
}

Fleet::Part Fleet::part_of(const Node& written, const cel::Environment& environment) {
  Part out;
  if (const Node* extends = written.find(blueprint::kExtends)) out.bases = bases_at(*extends);
  if (const Node* spec = written.find("spec")) {
    out.spec = compose::compile_body(*spec, environment, sources_, sink_);
    if (out.spec != nullptr && out.spec->has_secret) {
      sink_.error(kFaultyFleet, spec->origin(), "`$secret` stands in templates alone")
          .suggest("a blueprint names secrets: `env`, `file` and so on");
    }
  }
  return out;
}

void Fleet::read_stages(const Node& written) {
  const std::shared_ptr<const cel::Environment> environment = stage_environment();
  for (const Node& stage : written.items()) {
    const Node name = stage.get("name");
    stages_.push_back({std::string(name.as_string()), name.origin(), waves_of(stage)});
    stage_parts_.push_back(part_of(stage, *environment));
  }
}

void Fleet::read_entry(const Node& written) {
  Entry out;
  out.written = written;
  out.rows = rows_of(written);
  std::optional<cel::Type> item;
  if (out.rows.is_list()) item = item_type(out.rows);
  const bool named_by_items = written.find("matrix") != nullptr || written.find("table") != nullptr;
  if (named_by_items && !out.rows.is_list()) return;  // reported
  const auto whose = name_environment(item);
  out.name = cel::compile_text(written.get("name"), *whose, sources_, sink_);
  if (const Node* stage = written.find("stage")) {
    out.stage = cel::compile_text(*stage, *whose, sources_, sink_);
  }
  for (const yaml::Entry& label : written.get("labels").entries()) {
    if (auto text = cel::compile_text(label.value, *whose, sources_, sink_)) {
      out.labels.emplace_back(label.key, std::move(*text));
    }
  }
  if (const Node* when = written.find("when")) {
    out.when = cel::compile_bare(*when, *whose, sources_, sink_);
    if (out.when &&
        !cel::Type::simple(cel::TypeKind::boolean).accepts(cel::type_of(*out.when.program))) {
      sink_.error(kFaultyFleet, when->origin(), "`when` is neither true nor false")
          .expect("bool")
          .got(cel::type_of(*out.when.program).text());
    }
  }
  out.environment = entry_environment(item);
  out.part = part_of(written, *out.environment);
  entries_.push_back(std::move(out));
}

Node Fleet::rows_of(const Node& written) {
  if (const Node* matrix = written.find("matrix")) {
    std::optional<Node> rows = combinations(*matrix, kMostClusters, arena_);
    if (rows) return *rows;
    sink_.error(kTooManyOfAll, written.find_entry("matrix")->key.origin(), "too many combinations")
        .expect("at most " + std::to_string(kMostClusters));
    return {};
  }
  const Node* table = written.find("table");
  return table == nullptr ? Node() : table_at(*table);
}

Node Fleet::table_at(const Node& path) {
  const std::string relative(path.as_string());
  if (const std::string reason = base::unsafe_path_reason(relative); !reason.empty()) {
    sink_.error(kUnreadTable, path.origin(), "`" + secrets::masked(relative) + "` " + reason)
        .expect("a path below the directory of the fleet");
    return {};
  }
  const std::string directory = pipeline::directory_of(file_);
  std::optional<std::string> text =
      read(directory + relative, directory.size(), path, kUnreadTable);
  if (!text) return {};
  const diag::FileId file = add(directory + relative, std::move(*text));
  return read_table(file, fleet_limits(), {sources_, arena_, sink_}).value_or(Node());
}

void Fleet::name_clusters(std::size_t index) {
  const Entry& entry = entries_[index];
  if (!entry.rows.is_list()) return name_cluster(index, Node());
  for (const Node& row : entry.rows.items()) {
    if (clusters_.size() == kMostClusters) {
      sink_.error(kTooManyOfAll, entry.written.get("name").origin(), "too many clusters")
          .expect("at most " + std::to_string(kMostClusters) + " in a fleet");
      return;
    }
    if (entry.when) {
      const cel::Value values[] = {cel::Value(row)};
      const cel::Outcome outcome = cel::evaluate(*entry.when.program, values, arena_);
      if (!outcome.ok()) {
        name_item(row, cel::report(*outcome.error, entry.when, sources_, sink_));
        return;
      }
      if (!outcome.value.node().as_boolean()) continue;
    }
    name_cluster(index, row);
  }
}

std::optional<std::string> Fleet::text_of(const cel::Text& text, const Node& row) {
  std::vector<cel::Value> values;
  if (!row.is_null()) values.emplace_back(row);
  const cel::TextOutcome outcome = cel::evaluate(text, values, arena_);
  if (outcome.error) {
    name_item(row, cel::report(*outcome.error, *outcome.at, sources_, sink_));
    return std::nullopt;
  }
  if (outcome.value.is_node() && outcome.value.node().is_string()) {
    return std::string(outcome.value.node().as_string());
  }
  diag::Diagnostic& wrong =
      sink_.error(kFaultyCluster, text.scalar.origin(), "this is no text").expect("string");
  if (outcome.value.is_node()) {
    wrong.got(std::string(yaml::kind_name(outcome.value.node().kind())));
  }
  wrong.suggest("wrap it in `string(...)`");
  name_item(row, wrong);
  return std::nullopt;
}

bool Fleet::choose_stage(const Entry& entry, const Node& row, Cluster& out) {
  std::vector<std::string> names;
  for (const Stage& stage : stages_) names.push_back(stage.name);
  out.stage_index = std::string::npos;
  if (entry.stage) {
    std::optional<std::string> stage = text_of(*entry.stage, row);
    if (!stage) return false;
    out.stage = std::move(*stage);
  } else if (stages_.size() > 1) {
    sink_
        .error(kUnknownStage, entry.written.get("name").origin(),
               "this cluster is in none of the stages")
        .expect("`stage:` with one of " + base::join(names, ", "));
    return false;
  } else {
    out.stage = stages_.empty() ? std::string(kDefaultStage) : stages_.front().name;
  }
  const auto found = std::find(names.begin(), names.end(), out.stage);
  if (found != names.end()) {
    out.stage_index = static_cast<std::size_t>(found - names.begin());
    return true;
  }
  if (stages_.empty() && is_cluster_name(out.stage)) return true;
  diag::Diagnostic& unknown = sink_.error(kUnknownStage, entry.written.get("stage").origin(),
                                          "unknown stage `" + out.stage + "`");
  unknown.expect("one of " + base::join(names, ", ")).did_you_mean(out.stage, names);
  name_item(row, unknown);
  return false;
}

void Fleet::name_cluster(std::size_t index, const Node& row) {
  const Entry& entry = entries_[index];
  Cluster out;
  out.entry = index;
  out.row = row;
  out.at = entry.written.get("name").origin();
  std::optional<std::string> name = text_of(*entry.name, row);
  if (!name || !choose_stage(entry, row, out)) return;
  out.name = std::move(*name);
  if (!is_cluster_name(out.name)) {
    diag::Diagnostic& wrong =
        sink_.error(kFaultyCluster, out.at, "`" + out.name + "` is no name for a cluster")
            .expect("lower-case letters, digits and `-`, which neither begins nor ends it");
    name_item(row, wrong);
    return;
  }
  yaml::MapBuilder labels;
  for (const auto& [key, text] : entry.labels) {
    const std::optional<std::string> value = text_of(text, row);
    if (!value) return;
    labels.set(key, arena_.string(*value, text.scalar.origin()));
  }
  out.labels = labels.build(arena_, entry.written.get("labels").origin());
  clusters_.push_back(std::move(out));
}

void Fleet::check_doubles() {
  std::map<std::string, const Cluster*> seen;
  for (const Cluster& cluster : clusters_) {
    const auto [known, fresh] = seen.emplace(cluster.id(), &cluster);
    if (fresh) continue;
    const Cluster& first = *known->second;
    diag::Diagnostic& twice =
        sink_.error(kClusterTwice, cluster.at, "a second cluster `" + cluster.id() + "`");
    name_item(cluster.row, twice);
    if (first.row.origin() != diag::kNoOrigin) {
      twice.also(first.row.origin(), "the first");
    } else if (first.at != cluster.at) {
      twice.also(first.at, "the first");
    } else {
      twice.note("the first is of the item " + shown_item(first.row));
    }
    twice.suggest("give one of them another name or stage");
  }
}

void Fleet::assign_waves() {
  // Patterns that some cluster fits, by their nodes' places in the stages.
  std::set<std::pair<const Wave*, std::size_t>> used;
  for (Cluster& cluster : clusters_) {
    if (cluster.stage_index == std::string::npos) continue;
    const std::vector<Wave>& waves = stages_[cluster.stage_index].waves;
    const auto takes = [&](const Wave& wave) {
      for (std::size_t i = 0; i < wave.clusters.size(); ++i) {
        const std::string pattern(wave.clusters[i].as_string());
        if (::fnmatch(pattern.c_str(), cluster.name.c_str(), 0) != 0) continue;
        used.emplace(&wave, i);
        return true;
      }
      return wave.clusters.empty();
    };
    const auto found = std::find_if(waves.begin(), waves.end(), takes);
    cluster.wave = static_cast<std::size_t>(found - waves.begin());
    if (found != waves.end() || waves.empty()) continue;
    diag::Diagnostic& none =
        sink_.error(kFaultyWave, cluster.at, "`" + cluster.id() + "` is in no wave of its stage");
    name_item(cluster.row, none);
    none.also(waves.back().at, "the last wave")
        .suggest("leave `clusters` of the last wave out: it takes all that are left");
  }
  for (const Stage& stage : stages_) {
    for (const Wave& wave : stage.waves) {
      for (std::size_t i = 0; i < wave.clusters.size(); ++i) {
        if (used.contains({&wave, i})) continue;
        sink_
            .error(kFaultyWave, wave.clusters[i].origin(),
                   "no cluster of stage `" + stage.name + "` that is left has this name")
            .suggest("a cluster is in the first wave that has its name");
      }
    }
  }
}

std::optional<std::vector<Node>> Fleet::layers(const Cluster& cluster,
                                               yaml::Context context) const {
  diag::Sources& sources = context.sources;
  yaml::Arena& arena = context.arena;
  diag::Sink& sink = context.sink;
  const Entry& entry = entries_[cluster.entry];
  const Node id = cluster_value(cluster, arena);
  std::vector<cel::Value> values = {cel::Value(id)};
  const compose::ResolveSecret none;
  const auto made = [&](const Part& part) -> std::optional<Node> {
    if (part.spec == nullptr) return arena.map(std::span<const yaml::Entry>());
    compose::Instance instance(arena, none, sources, sink, nullptr);
    const std::size_t errors_before = sink.error_count();
    std::optional<Node> spec = instance.make(*part.spec, values);
    if (const auto& fault = instance.fault()) {
      name_item(cluster.row, cel::report(fault->error, fault->at, sources, sink));
      return std::nullopt;
    }
    if (sink.error_count() != errors_before) return std::nullopt;
    return spec && spec->is_map() ? *spec : arena.map(std::span<const yaml::Entry>());
  };
  std::vector<Node> out = bases_;
  if (cluster.stage_index != std::string::npos) {
    const Part& part = stage_parts_[cluster.stage_index];
    out.insert(out.end(), part.bases.begin(), part.bases.end());
    const std::optional<Node> spec = made(part);
    if (!spec) return std::nullopt;
    const yaml::Entry only = arena.entry("spec", *spec);
    if (spec->size() != 0) out.push_back(arena.map({&only, 1}));
  }
  out.insert(out.end(), entry.part.bases.begin(), entry.part.bases.end());
  if (!cluster.row.is_null()) values.insert(values.begin(), cel::Value(cluster.row));
  const std::optional<Node> spec = made(entry.part);
  if (!spec) return std::nullopt;
  out.push_back(own_document(cluster, *spec, entry.written, arena));
  return out;
}

pipeline::Member Fleet::member(const Cluster& cluster) const {
  pipeline::Member out;
  out.cluster = cluster.id();
  out.file = file_;
  out.facts_beside = pipeline::directory_of(file_) + cluster.id() + ".facts.yaml";
  out.sources = &sources_;
  out.files = files_;
  out.places = places_;
  out.layers = [this, &cluster](yaml::Context context) { return layers(cluster, context); };
  return out;
}

}  // namespace gpuctl::fleet
