// What need not be done again: clusters whose inputs and files are as the last run left them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/batch.hpp"
#include "pipeline/run.hpp"

namespace gpuctl::cli {

/// A record in the git directory of the target, for this machine alone: nothing depends on it, and
/// whoever deletes it gets a full run. For each cluster it holds a digest of everything that went
/// into the last run, the id of the cluster's directory after it, and what the run had to say. When
/// the first two are as before, so is the result, and the same is said again, but for notes:
/// they are said once.
class Unchanged {
 public:
  /// Reads the record; empty when there is none. When another program or knowledge wrote it, it
  /// knows the notes alone. `identity` stands for everything but the files: program, knowledge,
  /// options.
  Unchanged(std::string git_directory, const std::string& identity);

  struct Known {
    std::string directory;  // "clusters/prod/ml-a"
    std::string tree;       // id it must have
    Finished finished;      // what there is to say
  };
  /// What is known of a blueprint whose inputs on disk, read now, are those of the record.
  /// `member`: when it is no file of its own.
  std::optional<Known> find(const std::string& blueprint_file, const std::string& facts_file,
                            const pipeline::Member* member) const;

  /// Digests of the notes that the last run of a cluster showed.
  std::set<std::string> told(const std::string& directory) const;

  /// `finished` is of a run without errors. Its notes are told by now.
  void record(const pipeline::Inputs& inputs, const std::string& directory, const std::string& tree,
              const Finished& finished);
  /// Writes the record when it changed. A failure costs the next run some time, and nothing else.
  void save() const;

 private:
  struct Row {
    std::string blueprint;  // digest
    std::string inputs;     // digest
    std::string tree;
    std::size_t warnings = 0;
    std::string findings;
    std::string withheld;
    std::string withheld_pieces;             // where each stands in it
    std::string finding_pieces;              // likewise in `findings`
    std::string notes;                       // digests
    std::vector<pipeline::NamedFile> extra;  // without digests
  };

  std::string path_;
  std::string first_line_;
  std::map<std::string, Row> rows_;                 // by directory
  std::map<std::string, std::string> directories_;  // by digest of the blueprint
  bool changed_ = false;
};

/// Stands for the program, its knowledge, and options that change what a run makes or says.
std::string identity_of(const Knowledge& knowledge, const std::string& options);

}  // namespace gpuctl::cli
