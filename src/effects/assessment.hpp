// What a commit does to a cluster: its objects, field by field, each with what it brings about.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "effects/rows.hpp"

namespace gpuctl::effects {

/// A document of a cluster in one of two commits.
struct Manifest {
  std::string path;      // below the cluster's directory
  std::string layer;     // or empty
  std::string pool;      // that it was made for, or empty
  yaml::Node body;       // no map when it is no object
  bool leaving = false;  // nothing wants it any more: a later commit takes it away
};

/// A cluster in one of two commits.
struct Side {
  std::vector<Manifest> manifests;  // all of them
  yaml::Node summary;               // `cluster.yaml`: its pools, with how many nodes and GPUs
};

/// How many there are: at least and at most, because an autoscaler decides, or nobody knows.
struct Count {
  std::int64_t least = 0;
  std::int64_t most = 0;
};

/// A field as people read it. Values are JSON, long ones cut; empty: absent.
struct FieldChange {
  std::string path;
  std::string from;
  std::string to;
};

/// Fields of an object, or its coming and going, that have one effect for one reason.
struct Finding {
  Effect effect = Effect::unknown;
  bool latent = false;
  bool held = false;
  bool data_loss = false;
  std::string reason;
  std::string actor;
  std::string parallel;
  std::string takes;
  std::string source;
  std::string sequence;
  std::size_t step = 0;             // of it that this commit is, from 1; 0: it is none
  std::vector<FieldChange> fields;  // none: the object as a whole
  std::vector<std::string> pools;   // whose nodes it is about
  std::optional<Count> nodes;       // absent: not known
  std::optional<Count> gpus;
};

/// What happens to one object.
struct ObjectChange {
  Operation operation = Operation::changed;  // created, removed, moved or changed
  bool leaves = false;                       // it is still there; what removes it is begun
  std::string kind;
  std::string name;  // "namespace/name"
  std::string layer;
  std::string path;               // in the new commit, of what is removed in the old one
  std::vector<Finding> findings;  // the worst first
  std::string blocked_by;         // an object of its layer that is refused: "Kind/name"

  Effect worst() const;
};

/// A file that is no object.
struct FileChange {
  std::string path;
  Effect effect = Effect::unknown;
  std::string reason;
};

/// A sequence that findings name.
struct Way {
  const Sequence* sequence = nullptr;
  std::size_t step = 0;  // that this commit is, from 1; 0: it is none
};

struct Assessment {
  std::vector<ObjectChange> objects;  // the worst first
  std::vector<FileChange> files;      // likewise; without those that do nothing
  std::vector<Way> ways;              // each sequence once
  /// Of what happens by itself: what is held happens when somebody approves.
  Effect worst() const;
};

/// Everything that expressions of the platform see, in the order of their environment.
struct Surroundings {
  std::vector<cel::Value> values;
};

/// Compares two commits of a cluster. Objects are matched by group, kind, namespace and name, files
/// by path. What no row says is `unknown`; so is what a row fails on. Where an object begins to
/// leave, the row on its removal counts as held, and where it goes at last, as not held.
Assessment assess(const Rows& rows, const Side& earlier, const Side& later,
                  const Surroundings& surroundings, yaml::Arena& arena);

}  // namespace gpuctl::effects
