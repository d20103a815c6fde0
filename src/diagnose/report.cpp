#include "diagnose/report.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "diag/character.hpp"

namespace gpuctl::diagnose {

namespace {

constexpr std::size_t kMostSubjects = 5;
constexpr std::size_t kMostSaid = 300;

constexpr std::array<std::string_view, 4> kStates = {"ok", "broken", "waiting", "unknown"};

std::string_view name_of_state(State state) {
  return kStates[static_cast<std::size_t>(state)];
}

// Findings of a link that have one reason: shown once.
struct Group {
  const Finding* first = nullptr;
  std::vector<std::string> subjects;
};

std::vector<Group> groups_of(const LinkResult& link) {
  std::vector<Group> out;
  for (const Finding& finding : link.findings) {
    const auto same = std::find_if(out.begin(), out.end(), [&](const Group& group) {
      return group.first->check == finding.check && group.first->cause() == finding.cause() &&
             group.first->waits_for == finding.waits_for &&
             (!finding.causes.empty() || group.first->text == finding.text);
    });
    if (same == out.end()) {
      out.push_back({&finding, {finding.subject}});
    } else if (std::find(same->subjects.begin(), same->subjects.end(), finding.subject) ==
               same->subjects.end()) {
      same->subjects.push_back(finding.subject);
    }
  }
  return out;
}

class Text {
 public:
  explicit Text(const diag::Sources& sources) : sources_(sources) {}

  std::string one_line(const std::string& text) const {
    std::string out = diag::shown(sources_.shown(text));
    if (out.size() > kMostSaid) {
      out.resize(base::character_limit(out, kMostSaid));
      out += " ...";
    }
    return out;
  }

  void add(const LinkResult& link) {
    for (const Group& group : groups_of(link)) {
      const Finding& one = *group.first;
      out_ += "\n" + link.link->title + ": " + subjects(group) + "\n";
      line("", one.text);
      if (!one.said.empty() && one.said != one.text) line("says", one.said);
      for (const Cause& cause : one.causes) {
        line("cause", cause.signature->cause);
        if (!cause.at.empty()) {
          line("line",
               cause.text +
                   (cause.count > 1 ? " (" + std::to_string(cause.count) + " lines say so)" : ""));
          line("at", cause.at);
        }
        line("do", cause.signature->remedy);
        line("source", cause.signature->source);
      }
      if (one.causes.empty()) {
        line("do", one.remedy);
        line("source", one.source);
      }
      line("more", one.more);
      line("from", one.at);
      if (!one.waits_for.empty()) line("waits", "for `" + one.waits_for + "`, which is broken");
    }
  }

  void chain(const Diagnosis& diagnosis) {
    std::size_t width = 0;
    for (const LinkResult& link : diagnosis.links) {
      width = std::max(width, link.link->title.size());
    }
    out_ += "\n";
    for (const LinkResult& link : diagnosis.links) {
      out_ += link.link->title + std::string(width - link.link->title.size() + 2, ' ') +
              std::string(name_of_state(link.state));
      if (link.state == State::waiting) out_ += " for `" + link.waits_for + "`";
      if (link.state == State::unknown) out_ += ": nothing of it was given";
      out_ += "\n";
    }
  }

  std::string take() { return std::move(out_); }

 private:
  std::string subjects(const Group& group) const {
    std::string out;
    for (std::size_t i = 0; i < std::min(group.subjects.size(), kMostSubjects); ++i) {
      out += (i == 0 ? "" : ", ") + one_line(group.subjects[i]);
    }
    if (group.subjects.size() > kMostSubjects) {
      out += " and " + std::to_string(group.subjects.size() - kMostSubjects) + " more";
    }
    return out;
  }

  void line(std::string_view name, const std::string& text) {
    if (text.empty()) return;
    out_ += "  ";
    if (!name.empty()) out_ += std::string(name) + ": ";
    out_ += one_line(text) + "\n";
  }

  const diag::Sources& sources_;
  std::string out_;
};

class Tree {
 public:
  Tree(const diag::Sources& sources, yaml::Arena& arena) : sources_(sources), arena_(arena) {}

  yaml::Node link(const LinkResult& result) {
    yaml::MapBuilder out;
    set(out, "name", result.link->name);
    set(out, "title", result.link->title);
    set(out, "state", name_of_state(result.state));
    set(out, "waitsFor", result.waits_for);
    count(out, "lookedAt", result.looked);
    std::vector<yaml::Node> findings;
    for (const Group& group : groups_of(result)) findings.push_back(finding(group));
    out.set(arena_, "findings", arena_.list(findings));
    return out.build(arena_);
  }

  void set(yaml::MapBuilder& to, std::string_view field, std::string_view text) {
    if (!text.empty()) to.set(arena_, field, arena_.string(diag::shown(sources_.shown(text))));
  }
  void count(yaml::MapBuilder& to, std::string_view field, std::size_t number) {
    to.set(arena_, field, yaml::Node::integer(static_cast<std::int64_t>(number)));
  }

 private:
  yaml::Node finding(const Group& group) {
    const Finding& one = *group.first;
    yaml::MapBuilder out;
    set(out, "check", one.check);
    std::vector<yaml::Node> subjects;
    for (const std::string& subject : group.subjects) {
      subjects.push_back(arena_.string(diag::shown(sources_.shown(subject))));
    }
    out.set(arena_, "subjects", arena_.list(subjects));
    set(out, "text", one.text);
    set(out, "said", one.said);
    set(out, "cause", one.cause());
    std::vector<yaml::Node> causes;
    for (const Cause& cause : one.causes) {
      yaml::MapBuilder item;
      set(item, "signature", cause.signature->name);
      set(item, "cause", cause.signature->cause);
      set(item, "remedy", cause.signature->remedy);
      set(item, "source", cause.signature->source);
      set(item, "line", cause.text);
      set(item, "at", cause.at);
      count(item, "lines", cause.count);
      causes.push_back(item.build(arena_));
    }
    out.set(arena_, "causes", arena_.list(causes));
    set(out, "remedy", one.remedy);
    set(out, "source", one.source);
    set(out, "more", one.more);
    set(out, "at", one.at);
    set(out, "waitsFor", one.waits_for);
    return out.build(arena_);
  }

  const diag::Sources& sources_;
  yaml::Arena& arena_;
};

}  // namespace

std::string as_text(const Diagnosis& diagnosis, const Looked& looked,
                    const diag::Sources& sources) {
  Text text(sources);
  const LinkResult* broken = diagnosis.broken();
  std::string head = base::counted(looked.objects, "object") + " and " +
                     base::counted(looked.logs, "log") + " looked at: ";
  const bool silent =
      std::all_of(diagnosis.links.begin(), diagnosis.links.end(),
                  [](const LinkResult& link) { return link.state == State::unknown; });
  head += broken != nullptr ? "the first broken link is `" + broken->link->name + "`\n"
          : silent          ? "nothing in it tells of any link\n"
                            : "no link is broken\n";
  // Roots come before what waits for them, and both in the order of the chain.
  for (const bool waiting : {false, true}) {
    for (const LinkResult& link : diagnosis.links) {
      LinkResult some = link;
      std::erase_if(some.findings,
                    [&](const Finding& one) { return one.waits_for.empty() == waiting; });
      text.add(some);
    }
  }
  text.chain(diagnosis);
  return head + text.take();
}

yaml::Node as_tree(const Diagnosis& diagnosis, const Looked& looked, const diag::Sources& sources,
                   yaml::Arena& arena) {
  Tree tree(sources, arena);
  yaml::MapBuilder out;
  out.set(arena, "ok", yaml::Node::boolean(diagnosis.healthy()));
  if (const LinkResult* broken = diagnosis.broken()) {
    yaml::MapBuilder first;
    tree.set(first, "link", broken->link->name);
    tree.set(first, "cause", diagnosis.first()->cause());
    tree.set(first, "subject", diagnosis.first()->subject);
    out.set(arena, "first", first.build(arena));
  }
  tree.count(out, "objects", looked.objects);
  tree.count(out, "logs", looked.logs);
  std::vector<yaml::Node> links;
  for (const LinkResult& link : diagnosis.links) links.push_back(tree.link(link));
  out.set(arena, "links", arena.list(links));
  return out.build(arena);
}

}  // namespace gpuctl::diagnose
