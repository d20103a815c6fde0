#include "cli/batch.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include "blueprint/codes.hpp"
#include "cli/codes.hpp"
#include "cli/progress.hpp"
#include "cli/withheld.hpp"
#include "render/codes.hpp"

namespace gpuctl::cli {

diag::Sink withheld_notes(const Result& result, std::vector<pipeline::Ignored>& ignored) {
  // fact -> (how to get it, documents by template)
  std::map<std::string, std::pair<std::string, std::map<std::string, std::size_t>>> facts;
  for (const render::Withheld& item : result.rendered().withheld) {
    auto& entry = facts[item.fact];
    entry.first = item.obtain;
    ++entry.second[item.template_name];
  }
  diag::Sink sink;
  for (const auto& [fact, entry] : facts) {
    std::size_t documents = 0;
    std::string names;
    for (const auto& [name, number] : entry.second) {
      documents += number;
      names += (names.empty() ? "" : ", ") + std::to_string(number) + " of " + name;
    }
    diag::Diagnostic& note =
        sink.note(render::kWithheld, result.opened->blueprint.metadata.get("name").origin(),
                  counted(documents, "document") + (documents == 1 ? " waits" : " wait") +
                      " for the fact `" + fact + "`")
            .label("not written for this cluster yet")
            .note("withheld: " + names);
    if (!entry.first.empty()) note.suggest("get it: " + entry.first);
    const bool is_member = result.members && result.members->contains(result.blueprint_file);
    note.suggest("then write it into a facts file beside the " +
                 std::string(is_member ? "fleet (`STAGE/NAME.facts.yaml`)"
                                       : "blueprint (`NAME.facts.yaml`)") +
                 ", or give `--facts FILE`");
  }
  if (result.opened) {
    pipeline::leave_out_ignored(result.opened->blueprint.spec.get("ignore"), sink, ignored);
  }
  return sink;
}

Shown prepare_withheld(const Result& result, const Report& report,
                       std::vector<pipeline::Ignored>& ignored) {
  return report.prepare(withheld_notes(result, ignored), *result.sources, result.blueprint_file);
}

namespace {

class Batch {
 public:
  Batch(const std::vector<std::string>& blueprint_files, const Request& request,
        Knowledge& knowledge, const Report& report, const Consume& consume)
      : files_(blueprint_files),
        request_(request),
        knowledge_(knowledge),
        report_(report),
        consume_(consume),
        progress_(report, blueprint_files.size()),
        finished_(blueprint_files.size()) {}

  std::vector<Finished> run_on(std::size_t threads) {
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      for (std::size_t i = next++; i < files_.size(); i = next++) first_run(i);
    };
    std::vector<std::jthread> pool;
    for (std::size_t i = 1; i < threads; ++i) pool.emplace_back(work);
    work();
    pool.clear();
    report_duplicates();
    return std::move(finished_);
  }

 private:
  void first_run(std::size_t index) {
    Result result = pipeline::run(files_[index], request_, knowledge_);
    bool alone = true;
    if (result.opened) {
      const std::lock_guard<std::mutex> guard(one_at_a_time_);
      std::vector<std::size_t>& same = by_cluster_[result.cluster()];
      same.push_back(index);
      alone = same.size() == 1;
    }
    if (alone) finish(index, result);
    progress_.advance();
  }

  void finish(std::size_t index, Result& result) {
    Finished& out = finished_[index];
    out.blueprint_file = result.blueprint_file;
    if (result.opened) {
      out.cluster = result.cluster();
    } else if (const pipeline::Member* member = request_.member(files_[index])) {
      out.cluster = member->cluster;
    }
    out.foreign = result.foreign.has_value();
    out.documents = result.foreign.value_or(result.rendered().documents.size());
    out.findings = report_.prepare(result.sink, *result.sources, files_[index]);
    out.withheld = prepare_withheld(result, report_, result.ignored);
    consume_(index, result);
  }

  // Which of two came first is settled by the order of the files, not of the threads: the later
  // ones run once more, now that it is known.
  void report_duplicates() {
    for (auto& [cluster, indexes] : by_cluster_) {
      std::sort(indexes.begin(), indexes.end());
    }
    std::size_t first_cluster = files_.size();
    for (const auto& [cluster, indexes] : by_cluster_) {
      first_cluster = std::min(first_cluster, indexes.front());
    }
    // Facts on the command line are for the cluster of the first file.
    const auto shares_facts = [&](std::size_t first_of_cluster) {
      return !request_.facts_file.empty() && first_of_cluster > first_cluster;
    };
    for (auto& [cluster, indexes] : by_cluster_) {
      if (indexes.size() == 1 && !shares_facts(indexes.front())) continue;
      const std::string& first = files_[indexes.front()];
      for (const std::size_t index : indexes) {
        const bool dealt_with = finished_[index].blueprint_file == files_[index];
        const bool shares = shares_facts(indexes.front());
        if (index == indexes.front() && dealt_with && !shares) continue;
        Result result = pipeline::run(files_[index], request_, knowledge_);
        if (shares && result.opened) report_shared_facts(result);
        if (index != indexes.front() && result.opened) {
          result.sink
              .error(kSameCluster, result.opened->blueprint.metadata.get("name").origin(),
                     "a second blueprint for the cluster `" + cluster + "`")
              .note("the first is `" + first + "`")
              .suggest("give one of them another `metadata.name` or `spec.stage`");
        }
        finish(index, result);
      }
    }
  }

  static void report_shared_facts(Result& result) {
    const auto& found = result.sink.all();
    const bool by_name =
        std::any_of(found.begin(), found.end(), [](const diag::Diagnostic& diagnostic) {
          return diagnostic.code == blueprint::kFactsOfAnother;
        });
    if (by_name) return;
    result.sink
        .error(kSharedFacts, result.opened->blueprint.metadata.get("name").origin(),
               "`--facts` names the facts of one cluster, and this is another one")
        .label("the second cluster of this run")
        .suggest(
            "leave `--facts` out and write the facts of each cluster into a file beside its "
            "blueprint (`" +
            pipeline::facts_beside("NAME.yaml") + "`); or run gpuctl once for each cluster");
  }

  const std::vector<std::string>& files_;
  const Request& request_;
  Knowledge& knowledge_;
  const Report& report_;
  const Consume& consume_;
  Progress progress_;
  std::vector<Finished> finished_;
  std::mutex one_at_a_time_;
  std::map<std::string, std::vector<std::size_t>> by_cluster_;
};

}  // namespace

std::vector<Finished> run_all(const std::vector<std::string>& blueprint_files,
                              const Request& request, Knowledge& knowledge, unsigned jobs,
                              const Report& report, const Consume& consume) {
  const std::size_t threads = std::min<std::size_t>(std::max(1U, jobs), blueprint_files.size());
  if (threads > 1) knowledge.preload();
  Request shared = request;
  if (blueprint_files.size() > 1) shared.clean = std::make_shared<base::CleanRecord>();
  return Batch(blueprint_files, shared, knowledge, report, consume).run_on(threads);
}

namespace {

std::vector<NamedShown> named(const std::vector<Finished>& clusters, Shown Finished::*part) {
  std::vector<NamedShown> out;
  out.reserve(clusters.size());
  for (const Finished& one : clusters) {
    out.push_back({one.cluster.empty() ? one.blueprint_file : one.cluster, &(one.*part)});
  }
  return out;
}

}  // namespace

bool show_all(const std::vector<Finished>& clusters, bool strict, Report& report) {
  report.show_grouped(named(clusters, &Finished::findings));
  const bool good = report.errors() == 0 && !(strict && report.warnings() != 0);
  report.show_grouped(named(clusters, &Finished::withheld));
  return good;
}

}  // namespace gpuctl::cli
