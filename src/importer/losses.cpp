#include "importer/losses.hpp"

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "diag/character.hpp"
#include "importer/codes.hpp"
#include "secrets/search.hpp"
#include "yaml/emit.hpp"

namespace gpuctl::importer {

namespace {

// Says what became of the manifests.
class Summary {
 public:
  Summary(const Draft& draft, const std::vector<imports::Object>& objects,
          std::shared_ptr<const secrets::Rules> rules, yaml::Context context)
      : draft_(draft),
        objects_(objects),
        rules_(std::move(rules)),
        sources_(context.sources),
        arena_(context.arena),
        sink_(context.sink) {}

  void report() {
    for (const Loss& loss : draft_.losses) lost(loss);
    for (std::size_t i = 0; i < objects_.size(); ++i) object(i);
    left_out();
    for (const imports::Assumption& assumption : draft_.assumptions) {
      sink_.note(kAssumed, diag::kNoOrigin, "`" + assumption.path + "` is assumed")
          .note(assumption.because);
    }
  }

 private:
  // A value in one line, without secrets.
  std::string shortened(const yaml::Node& value) const {
    constexpr std::size_t kMostBytes = 120;
    std::string text = yaml::emit_json(masked(value));
    if (text.size() <= kMostBytes) return text;
    return text.substr(0, base::character_limit(text, kMostBytes)) + "...";
  }

  yaml::Node masked(const yaml::Node& value) const {
    if (value.is_list()) {
      std::vector<yaml::Node> items;
      for (const yaml::Node& item : value.items()) items.push_back(masked(item));
      return arena_.list(items);
    }
    if (!value.is_map())
      return sources_.is_hidden(value.origin()) ? yaml::Node::view("***") : value;
    yaml::MapBuilder out;
    for (const yaml::Entry& entry : value.entries()) out.set(entry.key, masked(entry.value));
    return out.build(arena_);
  }

  std::string title(std::size_t index) const {
    const imports::Object& object = objects_[index];
    return object.kind.kind + (object.name.empty() ? "" : " " + object.name);
  }

  // True when a value looks like a secret: nothing shows it then.
  bool betrays(const yaml::Node& value) const {
    if (value.is_null()) return false;
    secrets::Budget budget;
    return !secrets::Search(*rules_, budget).tree(value, "").empty();
  }

  void lost(const Loss& loss) {
    const imports::Object& object = objects_[loss.object];
    const bool hidden = !loss.path.empty() && betrays(loss.wanted);
    const diag::Origin at = hidden ? object.at : loss.wanted.origin();
    if (hidden) sources_.hide(loss.wanted.origin());
    const std::string where = loss.path.empty() ? ""
                                                : "`" + diag::shown(loss.path) + "` of `" +
                                                      diag::shown(title(loss.object)) + "`";
    const bool added = !loss.path.empty() && loss.wanted.is_null();
    const diag::Origin place = loss.path.empty() || at == diag::kNoOrigin ? object.at : at;
    const std::string what = loss.path.empty()
                                 ? "`" + diag::shown(title(loss.object)) + "` is not taken over"
                             : added ? where + " is added by the blueprint"
                                     : where + " is not taken over";
    diag::Diagnostic& warning =
        loss.harm.empty() ? sink_.warning(kLost, place, what) : sink_.error(kHarmful, place, what);
    if (!loss.harm.empty()) warning.note(loss.harm);
    warning.path = loss.path;
    warning.label(loss.path.empty() ? "this document" : added ? "absent here" : "lost");
    if (hidden) warning.note("the value looks like a secret, and is not shown");
    if (!loss.made.is_null()) warning.got(shortened(loss.made) + " from the blueprint");
    if (!loss.path.empty() && !added && !hidden) {
      warning.expect(shortened(loss.wanted) + " as written");
    }
    if (!loss.because.empty()) warning.note(loss.because);
  }

  void object(std::size_t index) {
    const imports::Object& object = objects_[index];
    if (draft_.secrets.contains(index)) {
      diag::Diagnostic& warning =
          sink_.warning(kSecretLeftOut, object.at,
                        "the secrets in `" + diag::shown(title(index)) + "` are not copied");
      for (const std::string& path : object.urls) {
        warning.note("`" + diag::shown(path) + "`: the URL comes without its user and password");
      }
      warning.suggest(
          "the blueprint has references in their place: put the values where they point");
    }
    if (draft_.fates[index] == Fate::manifest) {
      sink_.note(kKeptAsWritten, object.at,
                 "`" + diag::shown(title(index)) + "` becomes an extra manifest, as it is");
    }
    const auto overridden = draft_.overridden.find(index);
    if (overridden != draft_.overridden.end()) {
      sink_
          .note(kKeptAsWritten, object.at,
                "`" + diag::shown(title(index)) + "` is brought back by an override")
          .note("it sets " + base::join(overridden->second, ", "));
    }
  }

  // One note for all documents with the same reason.
  void left_out() {
    std::map<std::string, std::vector<std::size_t>> by_reason;
    for (const auto& [index, reason] : draft_.reasons) by_reason[reason].push_back(index);
    for (const auto& [reason, indexes] : by_reason) {
      note(indexes, indexes.size() == 1 ? " is only read" : " are only read", reason);
    }
    for (const auto& [reason, indexes] : draft_.ignored) {
      note(indexes,
           indexes.size() == 1 ? " has a field of a controller" : " have a field of a controller",
           reason);
    }
    for (const auto& [index, paths] : draft_.restated) {
      sink_
          .note(kLeftOut, objects_[index].at,
                "`" + diag::shown(title(index)) + "` comes back in other words")
          .note("the same holds with and without " + base::join(paths, ", "));
    }
  }

  void note(const std::vector<std::size_t>& indexes, const std::string& what,
            const std::string& reason) {
    const std::string who =
        "`" + diag::shown(title(indexes.front())) + "`" +
        (indexes.size() == 1 ? "" : " and " + std::to_string(indexes.size() - 1) + " more");
    diag::Diagnostic& said = sink_.note(kLeftOut, objects_[indexes.front()].at, who + what);
    said.note(reason);
    for (std::size_t i = 1; i < indexes.size(); ++i) {
      constexpr std::size_t kMostNamed = 8;
      if (i == kMostNamed) {
        said.note("and " + std::to_string(indexes.size() - i) + " more");
        break;
      }
      said.note("also `" + diag::shown(title(indexes[i])) + "` in " +
                diag::shown(objects_[indexes[i]].file));
    }
  }

  const Draft& draft_;
  const std::vector<imports::Object>& objects_;
  std::shared_ptr<const secrets::Rules> rules_;
  diag::Sources& sources_;
  yaml::Arena& arena_;
  diag::Sink& sink_;
};

}  // namespace

void report_losses(const Draft& draft, const std::vector<imports::Object>& objects,
                   std::shared_ptr<const secrets::Rules> rules, yaml::Context context) {
  Summary(draft, objects, std::move(rules), context).report();
}

}  // namespace gpuctl::importer
