// A fleet: clusters that stand in one file, by themselves, by a matrix or by a table, in stages.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compose/body.hpp"
#include "pipeline/knowledge.hpp"
#include "pipeline/member.hpp"
#include "yaml/context.hpp"

namespace gpuctl::fleet {

/// The most clusters of a fleet, and bytes of its files together.
inline constexpr std::size_t kMostClusters = 100'000;
inline constexpr std::size_t kMostBytes = std::size_t{64} * 1024 * 1024;

/// A part of a stage that changes before those behind it.
struct Wave {
  std::string name;
  diag::Origin at = diag::kNoOrigin;
  std::vector<yaml::Node> clusters;  // patterns of names; empty: all that are left
  std::int64_t soak = 0;             // seconds from its last change to the next wave
};

/// A stage; a change goes through them in their order.
struct Stage {
  std::string name;
  diag::Origin at = diag::kNoOrigin;
  std::vector<Wave> waves;  // empty: all of its clusters change together
};

/// A cluster as far as it is known without its blueprint.
struct Cluster {
  std::string name;
  std::string stage;
  std::size_t stage_index = 0;        // among the stages; npos: the fleet has none
  diag::Origin at = diag::kNoOrigin;  // of what names it
  yaml::Node labels;                  // a map
  yaml::Node row;                     // `item`; null: the entry stands for one cluster
  std::size_t entry = 0;
  std::size_t wave = 0;  // among those of its stage

  /// "stage/name": what no two clusters have in common.
  std::string id() const { return stage + "/" + name; }
};

/// All of a fleet but its blueprints, which are put together one by one. It does not change once it
/// is made, so that several threads may ask.
class Fleet {
 public:
  /// Reads the file with its bases and tables, and names the clusters. Whatever is wrong is in
  /// sink(): the format (GPU0810), stages (GPU0811), clusters (GPU0812, GPU0815), waves (GPU0818),
  /// tables (GPU0813, GPU0814), bases (GPU080x), expressions (GPU03xx), too much of it (GPU0816).
  Fleet(const std::string& file, std::string text, pipeline::Knowledge& knowledge);

  const std::string& file() const { return file_; }
  /// Empty: the fleet has none, and all clusters are in the same.
  const std::vector<Stage>& stages() const { return stages_; }
  /// In the order in which they are written. Empty after an error.
  const std::vector<Cluster>& clusters() const { return clusters_; }

  /// The documents that merge to a cluster's blueprint, in order; nothing after an error. What
  /// differs between clusters is made in `context`, whose sources begin with those of the fleet.
  std::optional<std::vector<yaml::Node>> layers(const Cluster& cluster,
                                                yaml::Context context) const;

  /// A cluster as a run takes it. The fleet must live as long as that.
  pipeline::Member member(const Cluster& cluster) const;

  const diag::Sources& sources() const { return sources_; }
  diag::Sink& sink() { return sink_; }

 private:
  // What a stage or an entry adds to a blueprint.
  struct Part {
    std::vector<yaml::Node> bases;
    std::unique_ptr<compose::Piece> spec;  // nullptr: none
  };
  struct Entry {
    Part part;
    yaml::Node written;
    std::shared_ptr<const cel::Environment> environment;  // `item`, where there is one
    std::optional<cel::Text> name;
    std::optional<cel::Text> stage;
    std::vector<std::pair<yaml::Node, cel::Text>> labels;
    cel::Expression when;
    yaml::Node rows;  // list; null: it stands for one cluster
  };

  std::optional<std::string> read(const std::string& path, std::size_t home, const yaml::Node& at,
                                  std::string_view code);
  diag::FileId add(const std::string& name, std::string text);
  std::vector<yaml::Node> bases_at(const yaml::Node& extends);
  Part part_of(const yaml::Node& written, const cel::Environment& environment);
  bool check_format(const yaml::Node& document, pipeline::Knowledge& knowledge);
  void read_stages(const yaml::Node& written);
  void read_entry(const yaml::Node& written);
  yaml::Node rows_of(const yaml::Node& written);
  yaml::Node table_at(const yaml::Node& path);
  void name_clusters(std::size_t entry);
  void name_cluster(std::size_t entry, const yaml::Node& row);
  bool choose_stage(const Entry& entry, const yaml::Node& row, Cluster& out);
  std::optional<std::string> text_of(const cel::Text& text, const yaml::Node& row);
  void check_doubles();
  void assign_waves();

  std::string file_;
  diag::Sources sources_;
  yaml::Arena arena_;
  diag::Sink sink_;
  std::vector<diag::FileView> files_;  // of the sources, once all are there
  std::shared_ptr<const secrets::Rules> secret_rules_;
  std::string all_bytes_;  // digests of all files
  std::string places_;
  std::size_t bytes_ = 0;
  std::vector<yaml::Node> bases_;
  std::vector<Stage> stages_;
  std::vector<Part> stage_parts_;  // of each of them
  std::vector<Entry> entries_;
  std::vector<Cluster> clusters_;
};

/// True when the text is that of a fleet, as far as can be told without knowing its format.
bool is_fleet(const std::string& file, const std::string& text);

}  // namespace gpuctl::fleet
