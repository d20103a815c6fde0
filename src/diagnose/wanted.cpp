#include "diagnose/wanted.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include "base/text.hpp"
#include "diagnose/asking.hpp"

namespace gpuctl::diagnose {

namespace {

using Wants = std::function<bool(const std::string& container)>;

void want(const yaml::Node& pod, std::string_view field, const Wants& wants,
          std::vector<Wanted>& out) {
  const std::string space(pod.get({"metadata", "namespace"}).as_string());
  const std::string name(pod.get({"metadata", "name"}).as_string());
  for (const yaml::Node& status : pod.get({"status", field}).items()) {
    const std::string container(status.get("name").as_string());
    // They become words of a command line.
    const bool named = base::is_dns1123_subdomain(space) && base::is_dns1123_subdomain(name) &&
                       base::is_dns1123_label(container);
    if (!named || !wants(container)) continue;
    const bool ran_before = !status.get({"lastState", "terminated"}).is_null();
    const bool ran = status.get({"state", "waiting"}).is_null() || ran_before;
    if (ran) out.push_back({space, name, container, false});
    if (ran_before) out.push_back({space, name, container, true});
  }
}

}  // namespace

std::vector<Wanted> wanted_logs(const Chain& chain, const Evidence& evidence,
                                const yaml::Node& cluster, yaml::Context context) {
  const Asking asking(chain, evidence, cluster, context.arena);
  std::map<const Link*, std::vector<Wanted>> by_link;
  for (const Object& object : evidence.of(kPod)) {
    const Link* link = asking.link_of(object.tree);
    if (link == nullptr) continue;
    const bool broken = asking.fault_of(object.tree).has_value();
    const Wants wants = [&](const std::string& container) {
      Log log;
      log.space = object.tree.get({"metadata", "namespace"}).as_string();
      log.pod = object.tree.get({"metadata", "name"}).as_string();
      log.container = container;
      return broken ||
             std::any_of(chain.links().begin(), chain.links().end(), [&](const Link& watching) {
               return watching.watch && asking.has_log(watching, log);
             });
    };
    want(object.tree, "initContainerStatuses", wants, by_link[link]);
    want(object.tree, "containerStatuses", wants, by_link[link]);
  }
  std::vector<Wanted> out;
  for (const Link& link : chain.links()) {
    const std::vector<Wanted>& some = by_link[&link];
    out.insert(out.end(), some.begin(), some.end());
  }
  return out;
}

}  // namespace gpuctl::diagnose
