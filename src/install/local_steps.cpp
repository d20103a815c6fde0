// Steps that read and write files, and commit.
#include <algorithm>

#include "base/text.hpp"
#include "facts/facts_file.hpp"
#include "install/codes.hpp"
#include "install/driver.hpp"
#include "yaml/json.hpp"
#include "yaml/read.hpp"

namespace gpuctl::install {

namespace {

constexpr std::size_t kMostDocumentBytes = std::size_t{4} << 20U;

std::string name_of_path(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

}  // namespace

// The installer takes a file that is there as it is. It is not written again once it was used: the
// installer would drop what was edited after it.
bool Driver::write(const steps::Step& /*step*/) {
  const std::unique_ptr<pipeline::Result> whole = doors_.run(learned_facts(), true);
  if (whole == nullptr) return false;
  for (const pipeline::SecretFile& file : whole->output->secret_files) {
    if (!place_.write("attempt-" + std::to_string(story().attempt) + "/" + name_of_path(file.path),
                      file.content, sink_)) {
      return false;
    }
  }
  return true;
}

// The documents of a step by name; nothing after GPU0717.
std::optional<yaml::Node> Driver::documents(const steps::Step& step) {
  yaml::MapBuilder out;
  yaml::Arena& arena = *result_->arena;
  for (const auto& [name, pattern] : step.documents) {
    const std::string path = facts::find_file(directory(), pattern);
    auto read = path.empty() ? base::FileError{directory() + "/" + pattern, 0, "is not there"}
                             : base::read_file(path, kMostDocumentBytes);
    std::string why;
    std::optional<yaml::Node> tree;
    if (const auto* error = std::get_if<base::FileError>(&read)) {
      why = error->text;
    } else {
      const std::string& text = std::get<std::string>(read);
      tree = yaml::read_json(text, arena, why);
      if (!tree) {
        // What is wrong with it is not said in full: it may hold credentials.
        diag::Sources own;
        diag::Sink unread;
        yaml::Arena passing;
        const auto yaml =
            yaml::read(own.add_file(path, text), own, passing, unread, yaml::kubectl_limits());
        if (yaml) tree = yaml::without_origins(*yaml, arena);
        why = "is neither JSON nor YAML";
      }
    }
    if (!tree) {
      sink_.error(kUnreadable, diag::kNoOrigin, "cannot read `" + pattern + "`: " + why)
          .note("looked for below `" + directory() + "`")
          .suggest("see that the installer is of the release that the blueprint names");
      return std::nullopt;
    }
    out.set(arena, name, *tree);
  }
  return out.build(arena);
}

bool Driver::learn(const steps::Step& step) {
  const auto read = documents(step);
  if (!read) return false;
  scene_->set_documents(*read);
  std::map<std::string, std::string> identity;
  for (const auto& [name, expression] : step.identity) {
    const auto value = scene_->value(expression, &sink_);
    if (!value) return false;
    identity[name] = value->node().as_string();
    if (identity[name].empty()) {
      sink_.error(kUnreadable, diag::kNoOrigin, "the installer did not say `" + name + "`");
      return false;
    }
  }
  if (!journal_.identify(identity, sink_)) return false;
  yaml::Arena& arena = *result_->arena;
  yaml::MapBuilder learned;
  for (const auto& [name, expression] : step.facts) {
    const auto value = scene_->value(expression, &sink_);
    if (!value) return false;
    if (!value->is_omit()) learned.set(arena, name, value->node());
  }
  for (const auto& [path, name] : step.keep) {
    auto kept = base::read_file(directory() + "/" + path, kMostDocumentBytes);
    if (const auto* error = std::get_if<base::FileError>(&kept)) {
      sink_.error(kUnreadable, diag::kNoOrigin, "cannot read `" + path + "`: " + error->text);
      return false;
    }
    const std::string kept_as =
        name == path ? "attempt-" + std::to_string(story().attempt) + "." + name : name;
    if (!place_.write(kept_as, std::get<std::string>(kept), sink_)) return false;
  }
  if (learned.empty()) {
    scene_.reset();  // for the identity; the blueprint leads to nothing else
    return true;
  }
  return learn_facts(learned.build(arena));
}

bool Driver::learn_facts(const yaml::Node& learned) {
  const std::string text = facts::facts_file(result_->opened->blueprint.name,
                                             result_->loaded->facts, learned, *result_->arena);
  return place_.write(name_of_path(facts_path()), text, sink_) && refresh();
}

bool Driver::place_documents(const steps::Step& step) {
  std::size_t count = 0;
  for (const render::Document& document : result_->rendered().documents) {
    const std::string_view kind = document.body.get("kind").as_string();
    if (document.layer.empty() ||
        std::find(step.kinds.begin(), step.kinds.end(), kind) == step.kinds.end()) {
      continue;
    }
    const std::string path = "attempt-" + std::to_string(story().attempt) + "/" + step.folder +
                             "/" + step.prefix + name_of_path(document.path);
    if (!place_.write(path, render::bytes(document), sink_)) return false;
    ++count;
  }
  doors_.say("   " + base::counted(count, "document"));
  return true;
}

bool Driver::commit(const steps::Step& /*step*/) {
  return doors_.commit(learned_facts(), story().attempt > 1) && refresh();
}

}  // namespace gpuctl::install
