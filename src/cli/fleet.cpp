#include <memory>

#include "base/date.hpp"
#include "cli/annotated.hpp"
#include "cli/command.hpp"
#include "cli/day.hpp"
#include "cli/fleets.hpp"
#include "cli/listing.hpp"
#include "fleet/codes.hpp"
#include "yaml/emit.hpp"

namespace gpuctl::cli {

namespace {

// "team=ml, zone=a".
std::string labels_of(const yaml::Node& labels) {
  std::string out;
  for (const yaml::Entry& label : labels.entries()) {
    const yaml::Node& value = label.value;
    out += (out.empty() ? "" : ",") + std::string(label.key.as_string()) + "=" +
           (value.is_string() ? std::string(value.as_string()) : yaml::emit_json(value));
  }
  return out;
}

// What a listing says of a cluster.
struct Row {
  std::string platform;
  std::string place;
  yaml::Node labels;
};

// Looks at the documents of a cluster without merging them.
Row row_of(const Chosen& chosen, yaml::Context context) {
  Row out;
  const auto& [fleet, cluster] = chosen;
  out.place = fleet->sources().place(
      cluster->row.origin() == diag::kNoOrigin ? cluster->at : cluster->row.origin());
  yaml::MapBuilder labels;
  const auto layers = fleet->layers(*cluster, context);
  if (!layers) return out;
  for (const yaml::Node& layer : *layers) {
    const yaml::Node platform = layer.get({"spec", "platform"});
    if (platform.is_string()) out.platform = platform.as_string();
    for (const yaml::Entry& label : layer.get({"metadata", "labels"}).entries()) {
      if (label.value.is_null()) {
        labels.remove(label.key.as_string());
      } else {
        labels.set(label.key, label.value);
      }
    }
  }
  out.labels = labels.build(context.arena);
  return out;
}

struct ListOptions {
  BlueprintOptions inputs;
  std::string output = kTable;
};

int run_list(const ListOptions& listed, const GlobalOptions& global) {
  const BlueprintOptions& options = listed.inputs;
  Report report(global);
  Knowledge* knowledge = open_knowledge(global, report);
  if (knowledge == nullptr) return kFindings;
  const auto all = choose_clusters(options, *knowledge, report);
  if (!all) return kFindings;
  if (all->fleets.empty()) {
    diag::Sink sink;
    report_unreadable(*all, sink);
    if (!sink.has_errors()) {
      sink.error(fleet::kFaultyFleet, diag::kNoOrigin,
                 "`" + shown(options.blueprints.front()) + "` is no fleet")
          .expect("a file of kind Fleet");
    }
    report.show(sink, diag::Sources());
    return kFindings;
  }
  std::vector<Listing> listings(1);
  Listing& listing = listings.front();
  listing.titles = {"CLUSTER", "PLATFORM", "LABELS", "WRITTEN"};
  listing.shown = {0, 1, 2};
  yaml::Arena& arena = global.result->arena();
  bool good = true;
  for (const Chosen& one : all->chosen) {
    const pipeline::Member member = one.fleet->member(*one.cluster);
    diag::Sources sources(*member.sources, member.files);
    yaml::Arena passing;
    diag::Sink sink;
    const Row row = row_of(one, {sources, passing, sink});
    report.show(sink, sources);
    good = good && !sink.has_errors();
    listing.lines.push_back(
        {one.cluster->id(), shown(row.platform), shown(labels_of(row.labels)), shown(row.place)});
    yaml::MapBuilder entry;
    set_cluster(one.cluster->id(), entry, arena);
    if (!row.platform.empty()) entry.set(arena, "platform", arena.string(row.platform));
    entry.set(
        arena, "labels",
        row.labels.is_map() ? arena.clone(row.labels) : arena.map(std::span<const yaml::Entry>()));
    entry.set(arena, "file", arena.string(shown(one.fleet->file())));
    entry.set(arena, "written", arena.string(row.place));
    listing.rows.push_back(entry.build(arena));
  }
  std::vector<std::string> stages;
  for (const auto& one : all->fleets) {
    for (const fleet::Stage& stage : one->stages()) stages.push_back(stage.name);
  }
  global.result->set("stages", texts(stages, arena));
  global.result->set("clusters", rows_of(listings, arena));
  return print(text_of(listings, listed.output, arena), global) && good ? kOk : kFindings;
}

// What is at the top of a document in the order in which people write it: bases may begin with any
// of it.
yaml::Node in_order(const yaml::Node& document, yaml::Arena& arena) {
  yaml::MapBuilder out;
  for (const char* field : {"apiVersion", "kind", "metadata"}) {
    if (const yaml::Entry* entry = document.find_entry(field)) out.set(entry->key, entry->value);
  }
  for (const yaml::Entry& entry : document.entries()) out.set(entry.key, entry.value);
  return out.build(arena, document.origin());
}

struct ShowOptions {
  BlueprintOptions inputs;
  bool plain = false;
};

int run_show(const ShowOptions& options, const GlobalOptions& global) {
  Report report(global);
  Knowledge* knowledge = open_knowledge(global, report);
  if (knowledge == nullptr) return kFindings;
  BlueprintOptions inputs = options.inputs;
  Request request;
  request.date = base::day_text(chosen_day(""));
  if (!expand_fleets(inputs, request, *knowledge, report)) return kFindings;
  if (inputs.blueprints.size() != 1) {
    diag::Sink sink;
    sink.error(fleet::kNoSuchCluster, diag::kNoOrigin, "which of the clusters?")
        .got(counted(inputs.blueprints.size(), "cluster"))
        .expect("one; `gpuctl fleet list` has their names");
    report.show(sink, diag::Sources());
    return kFindings;
  }
  // What rules object to is not asked here; secrets in clear must not be printed.
  request.despite_rules = true;
  Result result = pipeline::run(inputs.blueprints.front(), request, *knowledge);
  diag::Sink said;
  const bool betrayed = result.loaded && result.loaded->betrayed.has_errors();
  if (!result.opened || !result.loaded || betrayed) {
    said = std::move(result.sink);
    if (betrayed) said.take(std::move(result.loaded->betrayed));
    report.show(said, *result.sources);
    return kFindings;
  }
  const yaml::Node written = in_order(result.opened->blueprint.written, *result.arena);
  set_shown(written, result, *global.result);
  const std::string text =
      options.plain ? yaml::emit(written) : annotated(written, *result.sources);
  return print(result.sources->shown(text), global) ? kOk : kFindings;
}

Command list_command() {
  return {"list", "List the clusters of fleets",
          "A line for each cluster, in the order in which they are written: stage and name, the\n"
          "platform, labels, and with -o wide where it is written.\n\n"
          "Example:\n"
          "  gpuctl fleet list fleet.yaml\n"
          "  gpuctl fleet list fleet.yaml --stage prod --cluster 'ml-*'\n",
          [](Options& command, const GlobalOptions& global) {
            auto options = std::make_shared<ListOptions>();
            command
                .add_option("FLEET", options->inputs.blueprints,
                            "Fleet files, directories with them, or -")
                .required();
            options->inputs.add_choice(command);
            add_listing_output(command, options->output);
            return [options, &global] { return run_list(*options, global); };
          }};
}

Command show_command() {
  return {"show", "Show the blueprint that a cluster of a fleet has",
          "Prints what the bases, the stage and the cluster merge to, as one blueprint. Behind\n"
          "each value stands the file and line that wrote it. Works for a blueprint with\n"
          "`extends` as well. Nothing is left to fill in but defaults.\n\n"
          "Example:\n"
          "  gpuctl fleet show fleet.yaml prod/ml-a\n"
          "  gpuctl fleet show ml-a.yaml --plain\n",
          [](Options& command, const GlobalOptions& global) {
            auto options = std::make_shared<ShowOptions>();
            options->inputs.blueprints.resize(1);
            command
                .add_option("FILE", options->inputs.blueprints.front(), "Fleet or blueprint file")
                .required();
            command
                .add_option("CLUSTER", options->inputs.clusters,
                            "Cluster of the fleet: NAME or STAGE/NAME")
                .expected(0, 1);
            command.add_flag("--plain", options->plain, "Without the places");
            return [options, &global] { return run_show(*options, global); };
          }};
}

}  // namespace

Command fleet_command() {
  return {"fleet",
          "Look at fleets: many clusters in one file",
          "Example:\n  gpuctl fleet list fleet.yaml\n",
          nullptr,
          {list_command(), show_command()}};
}

}  // namespace gpuctl::cli
