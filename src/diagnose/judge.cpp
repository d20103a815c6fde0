#include "diagnose/judge.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "diagnose/asking.hpp"
#include "diagnose/log_scan.hpp"

namespace gpuctl::diagnose {

namespace {

// Of one thing; the others are of the same.
constexpr std::size_t kMostCauses = 3;

// Of signatures that fit those of a link; weak ones only where there is no other.
void keep_strong(std::vector<Cause>& causes) {
  const auto weak = [](const Cause& cause) { return cause.signature->weak; };
  if (!std::all_of(causes.begin(), causes.end(), weak)) std::erase_if(causes, weak);
  if (causes.size() > kMostCauses) causes.resize(kMostCauses);
}

std::vector<Cause> causes_in(const std::vector<std::string>& words, const std::string& link,
                             const signature::Signatures& signatures) {
  std::vector<Cause> out;
  for (const std::string& one : words) {
    for (const signature::Signature* found : signatures.matches(one).found) {
      const bool known = std::any_of(out.begin(), out.end(),
                                     [&](const Cause& cause) { return cause.signature == found; });
      if (!known && found->is_of(link)) out.push_back({found, one, "", 1});
    }
  }
  keep_strong(out);
  return out;
}

// A log after it was read.
struct ReadLog {
  const Log* log = nullptr;
  std::vector<Hit> hits;
};

std::vector<Cause> causes_in(const ReadLog& read, const std::string& link) {
  std::vector<Cause> out;
  for (const Hit& hit : read.hits) {
    if (!hit.signature->is_of(link)) continue;
    out.push_back(
        {hit.signature, hit.text, read.log->name + ":" + std::to_string(hit.line), hit.count});
  }
  return out;
}

class Judge {
 public:
  Judge(const Chain& chain, const signature::Signatures& signatures, const Evidence& evidence,
        const yaml::Node& cluster, yaml::Context context)
      : chain_(chain),
        signatures_(signatures),
        evidence_(evidence),
        context_(context),
        asking_(chain, evidence, cluster, context.arena) {
    for (const Link& link : chain.links()) {
      out_.links.push_back({&link, State::unknown, 0, {}, {}});
    }
  }

  Diagnosis judge() {
    pods();
    for (LinkResult& result : out_.links) checks(result);
    logs();
    wait();
    return std::move(out_);
  }

 private:
  LinkResult& result_of(const Link& link) {
    return *std::find_if(out_.links.begin(), out_.links.end(),
                         [&](const LinkResult& result) { return result.link == &link; });
  }

  Finding finding(const Check& check, Said said, const Link& link, const Object* object) {
    Finding out;
    out.check = check.name;
    out.subject = said.subject.empty() ? link.title : said.subject;
    out.text = std::move(said.text);
    if (!said.words.empty()) out.said = said.words.front();
    // What a check says may be a sign as well.
    said.words.push_back(out.text);
    out.causes = causes_in(said.words, link.name, signatures_);
    out.remedy = check.remedy;
    out.source = check.source;
    out.more = said.more.empty() ? link.more : said.more;
    out.nodes = std::move(said.nodes);
    if (object != nullptr) {
      out.at = context_.sources.place(object->tree.origin());
      if (out.at.empty()) out.at = object->file;
    }
    return out;
  }

  void checks(LinkResult& result) {
    for (const std::string& kind : result.link->kinds) result.looked += evidence_.of(kind).size();
    for (const Check& check : result.link->checks) {
      if (!check.kind.empty()) {
        for (const Object& object : evidence_.of(check.kind)) {
          if (std::optional<Said> said = asking_.ask(check, object.tree)) {
            result.findings.push_back(finding(check, std::move(*said), *result.link, &object));
          }
        }
        continue;
      }
      const std::vector<yaml::Node> items =
          check.each ? asking_.items(check) : std::vector<yaml::Node>(1);
      for (const yaml::Node& item : items) {
        if (std::optional<Said> said = asking_.ask(check, item)) {
          result.findings.push_back(finding(check, std::move(*said), *result.link, nullptr));
        }
      }
    }
  }

  // Which links pods belong to, and what is wrong with these.
  void pods() {
    for (const Object& object : evidence_.of(kPod)) {
      const Link* link = asking_.link_of(object.tree);
      if (link == nullptr) continue;
      LinkResult& result = result_of(*link);
      ++result.looked;
      OfPod& of_pod = pods_[key(object.tree.get({"metadata", "namespace"}).as_string(),
                                object.tree.get({"metadata", "name"}).as_string())];
      of_pod.link = link;
      auto fault = asking_.fault_of(object.tree);
      if (!fault) continue;
      of_pod.finding = result.findings.size();
      of_pod.broken = true;
      result.findings.push_back(finding(*fault->first, std::move(fault->second), *link, &object));
    }
  }

  void logs() {
    for (const Log& log : evidence_.logs) {
      const OfPod* pod = pod_of(log);
      if (pod != nullptr) {
        of_pod(log, *pod);
        continue;
      }
      const auto claimed =
          std::find_if(chain_.links().begin(), chain_.links().end(),
                       [&](const Link& link) { return asking_.has_log(link, log); });
      if (claimed == chain_.links().end() && !log.loose) continue;
      const ReadLog found = read(log);
      const bool told = claimed != chain_.links().end() && of_link(found, *claimed);
      if (!told && log.loose) of_nobody(found);
    }
    for (LinkResult& result : out_.links) {
      for (Finding& found : result.findings) keep_strong(found.causes);
    }
  }

  // A pod whose namespace the log does not name counts when there is one of its name.
  struct OfPod {
    const Link* link = nullptr;
    bool broken = false;
    std::size_t finding = 0;
  };
  static std::string key(std::string_view space, std::string_view name) {
    return std::string(name) + "\n" + std::string(space);
  }
  const OfPod* pod_of(const Log& log) const {
    if (log.pod.empty()) return nullptr;
    const auto found =
        log.space.empty() ? pods_.lower_bound(log.pod + "\n") : pods_.find(key(log.space, log.pod));
    if (found == pods_.end() || !found->first.starts_with(log.pod + "\n")) return nullptr;
    return &found->second;
  }

  ReadLog read(const Log& log) { return {&log, scan(log, signatures_, context_.sink).hits()}; }

  // Of a pod without a fault only those links look into the log that watch.
  void of_pod(const Log& log, const OfPod& pod) {
    std::vector<const Link*> watching;
    for (const Link& link : chain_.links()) {
      if (link.watch && asking_.has_log(link, log)) watching.push_back(&link);
    }
    if (!pod.broken && watching.empty()) return;
    const ReadLog found = read(log);
    for (const Link* link : watching) {
      if (pod.broken && link == pod.link) continue;
      LinkResult& result = result_of(*link);
      // What a pod with a fault does not say is no good sign.
      if (!pod.broken) ++result.looked;
      std::vector<Cause> causes = causes_in(found, link->name);
      keep_strong(causes);
      add_log(result, log, std::move(causes), log.pod);
    }
    if (!pod.broken) return;
    LinkResult& result = result_of(*pod.link);
    ++result.looked;
    std::vector<Cause>& known = result.findings[pod.finding].causes;
    for (Cause& cause : causes_in(found, pod.link->name)) {
      const bool again = std::any_of(known.begin(), known.end(), [&](const Cause& other) {
        return other.signature == cause.signature;
      });
      if (!again) known.push_back(std::move(cause));
    }
  }

  // True when it tells of a fault.
  bool of_link(const ReadLog& found, const Link& link) {
    LinkResult& result = result_of(link);
    ++result.looked;
    std::vector<Cause> causes = causes_in(found, link.name);
    keep_strong(causes);
    const bool told = !causes.empty();
    add_log(result, *found.log, std::move(causes), found.log->pod);
    return told;
  }

  // Each signature says which link it is of: the first of them.
  void of_nobody(const ReadLog& found) {
    std::map<std::string, std::vector<Cause>> by_link;
    for (const Hit& hit : found.hits) {
      for (const Link& link : chain_.links()) {
        if (!hit.signature->is_of(link.name)) continue;
        by_link[link.name].push_back(
            {hit.signature, hit.text, found.log->name + ":" + std::to_string(hit.line), hit.count});
        break;
      }
    }
    const bool strong = std::any_of(found.hits.begin(), found.hits.end(),
                                    [](const Hit& hit) { return !hit.signature->weak; });
    for (LinkResult& result : out_.links) {
      auto causes = by_link.find(result.link->name);
      if (causes == by_link.end()) continue;
      if (strong) {
        std::erase_if(causes->second, [](const Cause& cause) { return cause.signature->weak; });
      }
      ++result.looked;
      keep_strong(causes->second);
      add_log(result, *found.log, std::move(causes->second), "");
    }
  }

  void add_log(LinkResult& result, const Log& log, std::vector<Cause> causes,
               const std::string& pod) {
    if (causes.empty()) return;
    Finding out;
    out.check = "log";
    out.subject = pod.empty() ? "log " + log.name
                              : "Pod " + (log.space.empty() ? pod : log.space + "/" + pod);
    out.text = "its log tells of a fault";
    out.causes = std::move(causes);
    out.more = result.link->more;
    result.findings.push_back(std::move(out));
  }

  // Links that `link` waits for, also through others.
  std::set<std::string> before(const Link& link) const {
    std::set<std::string> out;
    std::vector<std::string> todo = link.after;
    while (!todo.empty()) {
      const std::string name = todo.back();
      todo.pop_back();
      if (!out.insert(name).second) continue;
      for (const Link& other : chain_.links()) {
        if (other.name == name) todo.insert(todo.end(), other.after.begin(), other.after.end());
      }
    }
    return out;
  }

  static bool concerns(const Finding& earlier, const Finding& later) {
    if (!earlier.nodes || !later.nodes) return true;
    return std::any_of(earlier.nodes->begin(), earlier.nodes->end(), [&](const std::string& node) {
      return std::find(later.nodes->begin(), later.nodes->end(), node) != later.nodes->end();
    });
  }

  void wait() {
    for (LinkResult& result : out_.links) {
      const std::set<std::string> names = before(*result.link);
      std::string first;
      for (const LinkResult& earlier : out_.links) {
        if (&earlier == &result) break;
        if (names.count(earlier.link->name) == 0) continue;
        for (const Finding& cause : earlier.findings) {
          if (!cause.waits_for.empty()) continue;
          if (first.empty()) first = earlier.link->name;
          for (Finding& one : result.findings) {
            if (one.waits_for.empty() && concerns(cause, one)) one.waits_for = earlier.link->name;
          }
        }
      }
      const bool broken = std::any_of(result.findings.begin(), result.findings.end(),
                                      [](const Finding& one) { return one.waits_for.empty(); });
      if (broken) {
        result.state = State::broken;
      } else if (!result.findings.empty()) {
        result.state = State::waiting;
        result.waits_for = result.findings.front().waits_for;
      } else if (result.looked > 0) {
        result.state = State::ok;
      } else if (!first.empty()) {
        result.state = State::waiting;
        result.waits_for = first;
      }
    }
  }

  const Chain& chain_;
  const signature::Signatures& signatures_;
  const Evidence& evidence_;
  yaml::Context context_;
  Asking asking_;
  std::map<std::string, OfPod, std::less<>> pods_;
  Diagnosis out_;
};

}  // namespace

bool Diagnosis::healthy() const {
  return std::all_of(links.begin(), links.end(),
                     [](const LinkResult& result) { return result.findings.empty(); });
}

const LinkResult* Diagnosis::broken() const {
  const auto found = std::find_if(links.begin(), links.end(), [](const LinkResult& result) {
    return result.state == State::broken;
  });
  return found == links.end() ? nullptr : &*found;
}

const Finding* Diagnosis::first() const {
  const LinkResult* link = broken();
  if (link == nullptr) return nullptr;
  const auto found = std::find_if(link->findings.begin(), link->findings.end(),
                                  [](const Finding& one) { return one.waits_for.empty(); });
  return &*found;
}

Diagnosis judge(const Chain& chain, const signature::Signatures& signatures,
                const Evidence& evidence, const yaml::Node& cluster, yaml::Context context) {
  return Judge(chain, signatures, evidence, cluster, context).judge();
}

}  // namespace gpuctl::diagnose
