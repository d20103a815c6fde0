// Fleets on the command line: which clusters of them a command is about.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "fleet/fleet.hpp"

namespace gpuctl::cli {

/// How a cluster of a fleet is called where blueprints are called by their files.
std::string member_name(const fleet::Fleet& fleet, const fleet::Cluster& cluster);

/// A cluster of one of the fleets, and the name that stands for it.
struct Chosen {
  const fleet::Fleet* fleet = nullptr;
  const fleet::Cluster* cluster = nullptr;
};

/// Blueprints of a command line, with the clusters of fleets among them instead of their files.
struct ChosenClusters {
  std::vector<std::string> blueprints;       // files, and names of members
  std::map<std::string, std::string> given;  // content of those that came by standard input
  std::shared_ptr<pipeline::Members> members;
  std::vector<std::shared_ptr<const fleet::Fleet>> fleets;  // what the members stand in
  std::vector<Chosen> chosen;                               // of each fleet in turn
  std::map<std::string, WavePlace> places;                  // as BlueprintOptions has them
  std::vector<std::string> before;
};

/// Reads the fleets among the blueprints, `FILE` or `FILE#CLUSTER`, and chooses clusters: those
/// that `--cluster` and
/// `--stage` and `--wave` name, all of them without. Words are looked behind by find_inputs().
/// Nothing after shown errors: a fleet that cannot be used, a name of no cluster (GPU0817), a word
/// that leads to nothing.
std::optional<ChosenClusters> choose_clusters(const BlueprintOptions& options, Knowledge& knowledge,
                                              Report& report);

/// The same for a command: puts the clusters in the place of the files, and has the request know
/// them. False after shown errors.
bool expand_fleets(BlueprintOptions& options, Request& request, Knowledge& knowledge,
                   Report& report);

/// Where no fleet was found: what cannot be read among the files (GPU0002). Whether one that is not
/// there would have been a fleet, nobody knows.
void report_unreadable(const ChosenClusters& chosen, diag::Sink& sink);

/// For a command about one cluster: `blueprint` is a file, or `FLEET#STAGE/NAME`. False after shown
/// errors.
bool expand_one(std::string& blueprint, Request& request, Knowledge& knowledge, Report& report);

}  // namespace gpuctl::cli
