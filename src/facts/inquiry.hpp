// Asks documents for the facts of a cluster, and merges what several of them say.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "facts/read.hpp"
#include "facts/rows.hpp"

namespace gpuctl::facts {

/// The way to a value that is no map: {"bootImages", "amd64"}.
using Path = std::vector<std::string>;

/// "bootImages.amd64".
std::string text_of(const Path& path);

/// A value and who says so.
struct Said {
  yaml::Node value;
  std::string row;
  std::string source;                 // as it was named: a path, or a command
  std::string place;                  // "file:line:column", or the source
  diag::Origin at = diag::kNoOrigin;  // unknown in files of which nothing is shown
};

/// Somebody else who writes in the cluster what a fact says.
struct Owner {
  std::string who;
  std::string place;
};

struct Learned {
  std::map<Path, Said> facts;
  std::map<std::string, Owner> owners;  // by fact
  std::set<std::string> passing;        // facts that hold only for the moment
};

/// All leaves of a tree of facts. An empty map is a leaf.
std::map<Path, yaml::Node> leaves_of(const yaml::Node& facts);
/// The tree of those leaves; names in the order of the path.
yaml::Node tree_of(const std::map<Path, yaml::Node>& leaves, yaml::Arena& arena);

/// One cluster, and the documents about it. Rows and the nodes in `inputs` must outlive it.
class Inquiry {
 public:
  /// `inputs.facts` are those that are known before.
  Inquiry(const Rows& rows, const derive::Inputs& inputs, yaml::Context context);

  /// Asks all sources. A file in which no row knows anything is GPU0661, one of another cluster
  /// GPU0663. Two that disagree are GPU0662, unless one of them is in `prefer`: a source as it was
  /// named, a place, or the name of a row; what is in there and is none is GPU0664.
  Learned ask(const std::vector<Source>& sources, const std::vector<std::string>& prefer);

  /// What is taken for facts that nobody gives, by name: with these facts.
  std::map<std::string, yaml::Node> computed(const yaml::Node& facts);

  /// The command that a row is answered by; nothing after a fault in it.
  std::vector<std::string> words(const Call& call);

 private:
  void set_facts(const yaml::Node& facts);
  std::optional<yaml::Node> value(const cel::LazyExpression& expression);
  std::vector<Found> recognised(const Row& row, const Source& source);
  void ask(const Row& row, const Source& source, const std::vector<Found>& documents);
  void ask(const Row& row, const Source& source, const Found& document);
  void check(const Row& row, const Found& document);
  void take(const Path& path, Said said);
  bool is_preferred(const Said& said);

  const Rows& rows_;
  yaml::Node known_;
  std::string cluster_;
  yaml::Context context_;
  std::vector<cel::Value> values_;
  std::size_t own_ = 0;  // where the variables of rows begin
  std::vector<std::string> prefer_;
  std::set<std::string> used_;  // of prefer_
  std::set<Path> disputed_;
  Learned learned_;
};

}  // namespace gpuctl::facts
