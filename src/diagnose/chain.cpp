#include "diagnose/chain.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <set>

#include "catalog/wrapper.hpp"
#include "cel/lazy.hpp"
#include "derive/environment.hpp"
#include "diagnose/codes.hpp"
#include "signature/signatures.hpp"
#include "yaml/texts.hpp"

namespace gpuctl::diagnose {

namespace {

// Signatures may be of it, and no link is called so.
constexpr std::string_view kInstaller = "installer";

}  // namespace

class Chain::Compiler {
 public:
  Compiler(Chain& chain, catalog::Library& library, bool thorough, diag::Sink& sink)
      : chain_(chain), library_(library), thorough_(thorough), sink_(sink) {
    auto made = std::make_shared<cel::Environment>();
    made->functions = derive::functions();
    const cel::Type dyn = cel::Type::dyn();
    const cel::Type text = cel::Type::simple(cel::TypeKind::string);
    made->variables = {{"object", dyn},
                       {"log", dyn},
                       {"objects", cel::Type::map(text, cel::Type::list(dyn))},
                       {"known", cel::Type::map(text, cel::Type::simple(cel::TypeKind::boolean))},
                       {"cluster", dyn}};
    base_ = std::move(made);
  }

  void file(const yaml::Node& spec) {
    environment_ = base_;
    variables_ = std::make_shared<const cel::Definitions>(spec.get("variables"), environment_,
                                                          thorough_, library_.sources(), sink_);
    if (const yaml::Node asks = spec.get("asks"); asks.is_map()) read_asks(asks);
    for (const yaml::Node& row : spec.get("kinds").items()) read_kind(row);
    for (const yaml::Node& row : spec.get("layouts").items()) read_layout(row);
    for (const yaml::Node& row : spec.get("podChecks").items()) {
      chain_.pod_checks_.push_back(read_check(row, true));
    }
    for (const yaml::Node& row : spec.get("links").items()) read_link(row);
  }

  // Puts each link behind those that it waits for; otherwise they stay as they were.
  void sort() {
    std::vector<Link> left = std::move(chain_.links_);
    std::vector<Link>& done = chain_.links_;
    done.clear();
    const auto has = [](const std::vector<std::string>& names, const Link& link) {
      return std::find(names.begin(), names.end(), link.name) != names.end();
    };
    const auto waits = [&](const Link& link) {
      return std::any_of(left.begin(), left.end(), [&](const Link& other) {
        return &other != &link && (has(link.after, other) || has(link.behind, other));
      });
    };
    while (!left.empty()) {
      auto next =
          std::find_if(left.begin(), left.end(), [&](const Link& link) { return !waits(link); });
      if (next == left.end()) {
        sink_.error(
            kFaultyDiagnosis, diag::kNoOrigin,
            "links of the diagnosis wait for each other, `" + left.front().name + "` among them");
        next = left.begin();
      }
      done.push_back(std::move(*next));
      left.erase(next);
    }
    for (std::size_t i = 0; i < done.size(); ++i) {
      std::erase_if(done[i].after, [&](const std::string& name) { return !has_link(name); });
    }
  }

  // Once all folders are read.
  void check_names() {
    for (const auto& [name, at] : links_named_) {
      if (!has_link(name)) fault(at, "there is no link `" + name + "`");
    }
    for (const auto& [name, at] : kinds_named_) {
      if (!has_kind(name)) fault(at, "there is no kind `" + name + "`");
    }
  }

 private:
  bool has_link(const std::string& name) const {
    return std::any_of(chain_.links_.begin(), chain_.links_.end(),
                       [&](const Link& link) { return link.name == name; });
  }

  bool has_kind(const std::string& name) const {
    return std::any_of(chain_.kinds_.begin(), chain_.kinds_.end(),
                       [&](const KindRow& kind) { return kind.name == name; });
  }

  void read_asks(const yaml::Node& asks) {
    chain_.asks_ = {texts_of(asks.get("list")), texts_of(asks.get("log")),
                    texts_of(asks.get("lastLog")), text_of(asks, "absent")};
    if (!thorough_) return;
    const re2::RE2 compiled(chain_.asks_.absent, re2::RE2::Quiet);
    if (!compiled.ok()) fault(asks.get("absent"), "`absent` is no regular expression");
  }

  void read_kind(const yaml::Node& row) {
    KindRow kind{text_of(row, "name"), text_of(row, "group"), text_of(row, "kind"),
                 text_of(row, "resource"), texts_of(row.get("arguments"))};
    if (kind.kind.empty()) kind.kind = kind.name;
    chain_.kinds_.push_back(std::move(kind));
  }

  std::optional<PathPattern> pattern(const yaml::Node& written) {
    std::optional<PathPattern> out = PathPattern::parse(written.as_string());
    if (!out) {
      fault(written, "`" + std::string(written.as_string()) + "` is no pattern of paths")
          .expect("names with `*` and `{pod}` in them, separated by `/`");
    }
    return out;
  }

  void read_layout(const yaml::Node& row) {
    Layout layout;
    layout.name = text_of(row, "name");
    const auto patterns = [&](std::string_view field, std::vector<PathPattern>& to) {
      for (const yaml::Node& written : row.get(field).items()) {
        if (std::optional<PathPattern> one = pattern(written)) to.push_back(std::move(*one));
      }
    };
    patterns("objects", layout.objects);
    patterns("logs", layout.logs);
    patterns("texts", layout.texts);
    for (const yaml::Entry& entry : row.get("none").entries()) {
      std::optional<PathPattern> one = pattern(entry.key);
      if (one) layout.none.push_back({std::move(*one), std::string(entry.value.as_string())});
      kinds_named_.emplace_back(entry.value.as_string(), entry.value);
    }
    chain_.layouts_.push_back(std::move(layout));
  }

  Check read_check(const yaml::Node& row, bool of_pods) {
    Check check;
    check.name = text_of(row, "name");
    check.kind = of_pods ? std::string(kPod) : text_of(row, "kind");
    if (!check.kind.empty()) kinds_named_.emplace_back(check.kind, row.get("name"));
    check.variables = variables_;
    check.each = lazy<cel::Expression>(row, "each");
    check.when = lazy<cel::Expression>(row, "when");
    check.subject = lazy<cel::Text>(row, "subject");
    check.text = lazy<cel::Text>(row, "text");
    check.says = lazy<cel::Expression>(row, "says");
    check.nodes = lazy<cel::Expression>(row, "nodes");
    check.more = lazy<cel::Text>(row, "more");
    check.remedy = text_of(row, "remedy");
    check.source = text_of(row, "source");
    return check;
  }

  void read_link(const yaml::Node& row) {
    Link link;
    link.name = text_of(row, "name");
    link.title = text_of(row, "title");
    link.more = text_of(row, "more");
    link.kinds = texts_of(row.get("kinds"));
    for (const yaml::Node& kind : row.get("kinds").items()) {
      kinds_named_.emplace_back(kind.as_string(), kind);
    }
    link.after = texts_of(row.get("after"));
    link.behind = texts_of(row.get("behind"));
    for (const std::string_view field : {"after", "behind"}) {
      for (const yaml::Node& name : row.get(field).items()) {
        links_named_.emplace_back(name.as_string(), name);
      }
    }
    if (has_link(link.name) || link.name == kInstaller) {
      fault(row.get("name"), "a second link `" + link.name + "`");
    }
    link.variables = variables_;
    link.pods = lazy<cel::Expression>(row, "pods");
    link.logs = lazy<cel::Expression>(row, "logs");
    link.watch = row.get("watch").as_boolean();
    for (const yaml::Node& check : row.get("checks").items()) {
      link.checks.push_back(read_check(check, false));
    }
    chain_.links_.push_back(std::move(link));
  }

  template <typename T>
  cel::Lazy<T> lazy(const yaml::Node& row, std::string_view field) {
    return cel::lazy<T>(row.get(field), environment_, thorough_, library_.sources(), sink_);
  }

  diag::Diagnostic& fault(const yaml::Node& at, const std::string& message) {
    return sink_.error(kFaultyDiagnosis, at.origin(), message);
  }

  Chain& chain_;
  catalog::Library& library_;
  bool thorough_;
  diag::Sink& sink_;
  std::shared_ptr<const cel::Environment> base_;
  std::shared_ptr<const cel::Environment> environment_;  // of the file
  std::shared_ptr<const cel::Definitions> variables_;    // of the file
  std::vector<std::pair<std::string, yaml::Node>> links_named_;
  std::vector<std::pair<std::string, yaml::Node>> kinds_named_;
};

Chain::Chain(std::span<const std::string> folders, catalog::Library& library, bool thorough,
             diag::Sink& sink) {
  Compiler compiler(*this, library, thorough, sink);
  for (const std::string& folder : folders) {
    const yaml::Node spec = catalog::spec_of(library, "providers/" + folder + "/diagnosis.yaml");
    if (spec.is_map()) compiler.file(spec);
  }
  if (thorough) compiler.check_names();
  compiler.sort();
}

const KindRow* Chain::kind(std::string_view group, std::string_view kind) const {
  const auto found = std::find_if(kinds_.begin(), kinds_.end(), [&](const KindRow& row) {
    return row.group == group && row.kind == kind;
  });
  return found == kinds_.end() ? nullptr : &*found;
}

void check(catalog::Library& library, diag::Sink& sink) {
  const std::vector<std::string> folders = catalog::provider_folders(library);
  const Chain chain(folders, library, true, sink);
  std::set<std::string> links = {std::string(kInstaller)};
  for (const Link& link : chain.links()) links.insert(link.name);
  std::set<std::string> names;
  for (const std::string& folder : folders) {
    const yaml::Node spec = catalog::spec_of(library, "providers/" + folder + "/signatures.yaml");
    for (const yaml::Node& row : spec.get("signatures").items()) {
      // Without a platform those of all folders count.
      if (row.find("of") != nullptr && !names.insert(text_of(row, "name")).second) {
        sink.error(kFaultyDiagnosis, row.get("name").origin(),
                   "a second signature `" + text_of(row, "name") + "`");
      }
      for (const yaml::Node& link : row.get("of").items()) {
        const std::string name(link.as_string());
        if (links.count(name) != 0) continue;
        sink.error(kFaultyDiagnosis, link.origin(), "there is no link `" + name + "`")
            .did_you_mean(name, std::vector<std::string>(links.begin(), links.end()));
      }
    }
  }
}

}  // namespace gpuctl::diagnose
