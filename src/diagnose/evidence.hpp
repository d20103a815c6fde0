// What is known of a cluster: objects by kind, and logs.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/chain.hpp"
#include "yaml/node.hpp"

namespace gpuctl::diagnose {

struct Object {
  yaml::Node tree;
  std::string file;  // where it stands; empty: the cluster itself
};

/// The log of a container, or any text.
struct Log {
  std::string name;  // of the file, or what it is the log of
  std::string path;  // to read it from; empty: it is in `content`
  std::string content;
  std::string space;  // namespace; empty like the following: not known
  std::string pod;
  std::string container;
  bool loose = false;  // of no pod by its name: it may belong to any link
};

class Evidence {
 public:
  explicit Evidence(const Chain& chain) : chain_(chain) {}

  /// Adds an object, or those of a list, as far as somebody looks at their kind; of two with the
  /// same name the first stays. Gives how many objects there were, of whatever kind.
  std::size_t add(const yaml::Node& document, const std::string& file, yaml::Arena& arena);
  /// Objects of this kind were looked for, and there may be none.
  void set_known(const std::string& kind) { known_.insert(kind); }
  bool is_known(const std::string& kind) const { return known_.count(kind) != 0; }

  const std::vector<Object>& of(std::string_view kind) const;
  std::size_t count() const { return names_.size(); }

  std::vector<Log> logs;

 private:
  std::size_t add_object(const yaml::Node& object, std::string_view api_version,
                         std::string_view kind, const std::string& file);
  const Chain& chain_;
  std::map<std::string, std::vector<Object>, std::less<>> objects_;
  std::set<std::string> known_;
  std::set<std::string> names_;
};

/// "Pod sample/name", or "Node name".
std::string name_of(std::string_view kind, const yaml::Node& object);

}  // namespace gpuctl::diagnose
