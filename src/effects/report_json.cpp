#include <algorithm>
#include <array>

#include "effects/report.hpp"

namespace gpuctl::effects {

namespace {

using yaml::Node;

// Builds maps, leaving out what is empty.
class Json {
 public:
  explicit Json(yaml::Arena& arena) : arena_(arena) {}

  Json& set(std::string_view key, Node value) {
    map_.set(arena_, key, value);
    return *this;
  }
  Json& text(std::string_view key, std::string_view value) {
    if (!value.empty()) map_.set(arena_, key, arena_.string(value));
    return *this;
  }
  Json& flag(std::string_view key, bool value) {
    if (value) map_.set(arena_, key, Node::boolean(true));
    return *this;
  }
  Json& number(std::string_view key, std::size_t value) {
    if (value != 0) set(key, Node::integer(static_cast<std::int64_t>(value)));
    return *this;
  }
  Json& count(std::string_view key, const std::optional<Count>& count) {
    if (!count) return *this;
    return set(key, Json(arena_)
                        .set("least", Node::integer(count->least))
                        .set("most", Node::integer(count->most))
                        .done());
  }
  template <typename Items, typename Make>
  Json& list(std::string_view key, const Items& items, const Make& make) {
    std::vector<Node> nodes;
    for (const auto& item : items) nodes.push_back(make(item));
    return set(key, arena_.list(nodes));
  }
  Node done() const { return map_.build(arena_); }

 private:
  yaml::Arena& arena_;
  yaml::MapBuilder map_;
};

std::string_view operation_name(Operation operation) {
  constexpr std::array<std::string_view, 6> kNames = {"created", "removed", "moved",
                                                      "added",   "taken",   "changed"};
  return kNames.at(static_cast<std::size_t>(operation));
}

Node json(const Finding& finding, yaml::Arena& arena) {
  Json out(arena);
  out.text("effect", name_of(finding.effect))
      .flag("latent", finding.latent)
      .flag("held", finding.held)
      .flag("dataLoss", finding.data_loss)
      .text("reason", finding.reason)
      .text("actor", finding.actor)
      .text("parallel", finding.parallel)
      .text("takes", finding.takes)
      .text("source", finding.source)
      .text("sequence", finding.sequence)
      .number("step", finding.step)
      .list("pools", finding.pools, [&](const std::string& name) { return arena.string(name); })
      .count("nodes", finding.nodes)
      .count("gpus", finding.gpus)
      .list("fields", finding.fields, [&](const FieldChange& field) {
        return Json(arena)
            .text("path", field.path)
            .text("from", field.from)
            .text("to", field.to)
            .done();
      });
  return out.done();
}

Node json(const ObjectChange& object, yaml::Arena& arena) {
  Json out(arena);
  out.text("operation", operation_name(object.operation))
      .flag("leaves", object.leaves)
      .text("kind", object.kind)
      .text("name", object.name)
      .text("layer", object.layer)
      .text("path", object.path)
      .text("worst", name_of(object.worst()))
      .text("blockedBy", object.blocked_by)
      .list("findings", object.findings,
            [&](const Finding& finding) { return json(finding, arena); });
  return out.done();
}

Node json(const Way& way, yaml::Arena& arena) {
  return Json(arena)
      .text("name", way.sequence->name)
      .text("title", way.sequence->title)
      .number("step", way.step)
      .list("steps", way.sequence->steps,
            [&](const SequenceStep& step) {
              return Json(arena)
                  .text("by", step.is_commit ? "commit" : "hand")
                  .text("text", step.text)
                  .list("run", step.commands,
                        [&](const std::string& command) { return arena.string(command); })
                  .done();
            })
      .done();
}

}  // namespace

Node json(const ClusterChange& change, yaml::Arena& arena) {
  Json out(arena);
  out.text("cluster", change.cluster)
      .set("changed", Node::boolean(change.changed))
      .set("first", Node::boolean(change.first))
      .text("files", change.files)
      .text("worst", name_of(change.assessment.worst()))
      .list("objects", change.assessment.objects,
            [&](const ObjectChange& object) { return json(object, arena); })
      .list("otherFiles", change.assessment.files,
            [&](const FileChange& file) {
              return Json(arena)
                  .text("path", file.path)
                  .text("effect", name_of(file.effect))
                  .text("reason", file.reason)
                  .done();
            })
      .list("sequences", change.assessment.ways, [&](const Way& way) { return json(way, arena); });
  return out.done();
}

}  // namespace gpuctl::effects
