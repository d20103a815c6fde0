#include "report/model.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "base/date.hpp"
#include "gpu/functions.hpp"

namespace gpuctl::report {

namespace {

// Reads what rows gave; every text passes the sources, which know what is secret.
class Reader {
 public:
  Reader(const diag::Sources& sources, Cluster& out) : sources_(sources), out_(out) {}

  void item(Part part, const yaml::Node& item) {
    switch (part) {
      case Part::cluster:
        return add_detail(item, out_.details);
      case Part::pools:
        return pool(item);
      case Part::layouts:
        return layout(item);
      case Part::versions:
        out_.versions.push_back({text(item, "component"), text(item, "version"), text(item, "note"),
                                 day(item, "starts"), day(item, "ends")});
        return;
      case Part::needs:
        out_.needs.push_back(
            {text(item, "kind"), text(item, "name"), text(item, "amount"), text(item, "note")});
        return;
      case Part::networks:
        out_.networks.push_back(
            {text(item, "name"), text(item, "kind"), texts(item, "ranges"), texts(item, "pools")});
        return;
      case Part::checklist:
        return checklist(item);
      case Part::mechanisms:
        mechanisms_.push_back({text(item, "requirement"), text(item, "name"), text(item, "note"),
                               !item.get("notApplicable").as_boolean()});
        return;
    }
  }

  // Gives the mechanisms, whichever rows found them, to the requirements that they meet.
  void finish() {
    for (Checklist& list : out_.checklists) {
      for (Requirement& one : list.requirements) {
        for (const Mechanism& mechanism : mechanisms_) {
          if (mechanism.requirement == one.id) one.mechanisms.push_back(mechanism);
        }
      }
    }
  }

 private:
  std::string text(const yaml::Node& value) const {
    if (value.is_integer()) return std::to_string(value.as_integer());
    return sources_.shown(value.as_string());
  }

  std::string text(const yaml::Node& item, std::string_view field) const {
    return text(item.get(field));
  }

  std::vector<std::string> texts(const yaml::Node& item, std::string_view field) const {
    std::vector<std::string> out;
    for (const yaml::Node& one : item.get(field).items()) {
      std::string said = text(one);
      if (!said.empty()) out.push_back(std::move(said));
    }
    return out;
  }

  static std::optional<std::chrono::sys_days> day(const yaml::Node& item, std::string_view field) {
    return base::parse_day(item.get(field).as_string());
  }

  void add_detail(const yaml::Node& item, std::vector<Detail>& to) const {
    std::string value = text(item, "value");
    if (!value.empty()) to.push_back({text(item, "name"), std::move(value)});
  }

  void pool(const yaml::Node& item) {
    const std::string name = text(item, "name");
    auto found = std::find_if(out_.pools.begin(), out_.pools.end(),
                              [&](const Pool& one) { return one.name == name; });
    if (found == out_.pools.end()) {
      out_.pools.emplace_back().name = name;
      found = std::prev(out_.pools.end());
    }
    for (const yaml::Node& detail : item.get("details").items()) {
      add_detail(detail, found->details);
    }
    const yaml::Node all = item.get({"offers", "pool"});
    for (const yaml::Entry& offer : item.get({"offers", "node"}).entries()) {
      const yaml::Node range = all.get(offer.key.as_string());
      found->offers.push_back(
          {text(offer.key), text(offer.value), text(range, "min"), text(range, "max")});
    }
    for (const yaml::Node& taint : item.get("taints").items()) {
      const std::string value = text(taint, "value");
      found->taints.push_back(text(taint, "key") + (value.empty() ? "" : "=" + value) + ":" +
                              text(taint, "effect"));
    }
  }

  void layout(const yaml::Node& item) {
    auto read = gpu::read_class(item.get("class"));
    auto* gpu = std::get_if<gpu::MigClass>(&read);
    if (gpu == nullptr) return;
    gpu::MigLayout counts;
    for (const yaml::Entry& entry : item.get("partitions").entries()) {
      // More than a GPU has units never fits.
      counts[std::string(entry.key.as_string())] =
          static_cast<int>(std::min<std::int64_t>(entry.value.as_integer(), gpu::kMostUnits + 1));
    }
    Layout out{text(item, "pool"), text(item, "title"), text(item, "gpus"), *gpu,
               gpu::place(*gpu, counts)};
    out_.layouts.push_back(std::move(out));
  }

  void checklist(const yaml::Node& item) {
    Checklist list{text(item, "title"), text(item, "note"), {}};
    for (const yaml::Node& one : item.get("requirements").items()) {
      list.requirements.push_back({text(one, "id"),
                                   text(one, "title"),
                                   text(one, "level"),
                                   one.get("demonstrated").as_boolean(),
                                   text(one, "lacking"),
                                   {}});
    }
    out_.checklists.push_back(std::move(list));
  }

  const diag::Sources& sources_;
  Cluster& out_;
  std::vector<Mechanism> mechanisms_;
};

// What rows see of the manifests: those that are objects, with overrides, and without those that
// wait for facts.
yaml::Node documents_of(const pipeline::Result& result) {
  std::vector<yaml::Node> out;
  for (const render::Document& one : result.rendered().documents) {
    if (!one.raw && one.body.get("kind").is_string()) out.push_back(one.body);
  }
  return result.arena->list(out);
}

}  // namespace

std::string_view Requirement::verdict() const {
  const auto meets = [](const Mechanism& one) { return one.applies; };
  if (std::any_of(mechanisms.begin(), mechanisms.end(), meets)) {
    return demonstrated ? "needs a run" : "mechanism present";
  }
  return mechanisms.empty() ? "missing" : "not applicable";
}

Gatherer::Gatherer(pipeline::Knowledge& knowledge) : knowledge_(knowledge) {
  preload(knowledge_.library());
}

std::shared_ptr<const Rows> Gatherer::rows_of(const pipeline::Compiled& compiled,
                                              diag::Sink& sink) {
  const std::lock_guard<std::mutex> guard(one_at_a_time_);
  std::shared_ptr<const Rows>& rows = rows_[compiled.platform->name];
  if (rows == nullptr) {
    catalog::Library& library = knowledge_.library();
    rows = compile(*compiled.platform, library, compiled.effects->scope(), library.has_overlays(),
                   sink);
  }
  return rows;
}

void Gatherer::run_rows(pipeline::Result& result, Cluster& out) {
  const pipeline::Compiled& compiled = *result.opened->compiled;
  diag::Sink faults;
  const std::shared_ptr<const Rows> rows = rows_of(compiled, faults);
  const bool faulty = faults.has_errors();
  result.sink.take(std::move(faults));
  if (faulty) return;
  std::vector<cel::Value> values = result.expression_inputs().values();
  rows->scope.variables->bind(values);
  values.emplace_back(documents_of(result));
  Reader reader(*result.sources, out);
  for (const RowsOfFile& file : rows->files) {
    std::vector<cel::Value> given = values;
    file.variables.bind(given);
    for (const Row& row : file.rows) {
      if (row.when) {
        const cel::Outcome when = cel::evaluate(*row.when.get().program, given, *result.arena);
        if (!when.ok() || !when.value.node().as_boolean()) continue;
      }
      const cel::Outcome items = cel::evaluate(*row.items.get().program, given, *result.arena);
      if (!items.ok() || !items.value.is_node()) continue;
      for (const yaml::Node& item : items.value.node().items()) reader.item(row.part, item);
    }
  }
  reader.finish();
}

Cluster Gatherer::cluster_of(pipeline::Result& result) {
  Cluster out;
  out.name = result.sources->shown(result.opened ? result.cluster() : result.blueprint_file);
  if (result.opened && result.loaded && result.derived) run_rows(result, out);
  std::map<std::string, Missing> missing;
  for (const render::Withheld& item : result.rendered().withheld) {
    Missing& one = missing[item.fact];
    one.fact = item.fact;
    one.obtain = result.sources->shown(item.obtain);
    ++one.documents;
  }
  for (auto& [fact, one] : missing) out.missing.push_back(std::move(one));
  return out;
}

Plan plan_of(const effects::ClusterChange& change) {
  Plan out{effects::headline(change), change.files, {}};
  for (const effects::ObjectChange& object : change.assessment.objects) {
    for (const effects::Finding& finding : object.findings) {
      out.disturbances.push_back({object.kind + " " + object.name, effects::class_of(finding),
                                  finding.reason, effects::extent_of(finding)});
    }
  }
  return out;
}

}  // namespace gpuctl::report
