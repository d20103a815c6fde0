#include "facts/rows.hpp"

#include <algorithm>
#include <set>

#include "catalog/codes.hpp"
#include "catalog/wrapper.hpp"
#include "cel/lazy.hpp"
#include "schema/schema.hpp"
#include "yaml/texts.hpp"

namespace gpuctl::facts {

namespace {

class Compiler {
 public:
  Compiler(const catalog::Platform& platform, const derive::Scope& scope, bool thorough,
           diag::Sources& sources, diag::Sink& sink)
      : platform_(platform), thorough_(thorough), sources_(sources), sink_(sink) {
    auto made = std::make_shared<cel::Environment>(*scope.environment);
    for (const char* name : {"document", "documents"}) {
      made->variables.push_back({name, cel::Type::dyn()});
    }
    environment_ = std::move(made);
  }

  void file(const yaml::Node& spec, Rows& out) {
    for (const yaml::Node& row : spec.get("sources").items()) out.rows.push_back(read(row));
    add(spec.get("computed"), out.computed);
  }

 private:
  Row read(const yaml::Node& row) {
    Row out;
    out.name = text_of(row, "name");
    if (!names_.insert(out.name).second) {
      fault(row.get("name"), "two sources have the name `" + out.name + "`");
    }
    out.title = text_of(row, "title");
    out.rank = row.get("rank").as_integer();
    out.recognises = expression(row.get("recognises"));
    out.files = texts_of(row, "files");
    out.secret = row.get("secret").as_boolean();
    out.together = row.get("together").as_boolean();
    if (const yaml::Node* live = row.find("live")) {
      out.live.emplace();
      out.live->role = text_of(*live, "role");
      out.live->optional = live->get("optional").as_boolean();
      for (const yaml::Node& word : live->get("arguments").items()) {
        out.live->arguments.push_back(text(word));
      }
    }
    for (const yaml::Node& one : row.get("contradicts").items()) {
      out.contradicts.push_back({expression(one.get("when")), text(one.get("because"))});
    }
    add(row.get("facts"), out.facts);
    out.passing = texts_of(row, "passing");
    add(row.get("owners"), out.owners, false);
    return out;
  }

  // A folder that several platforms build on may name an owner of what one of them has no fact for.
  void add(const yaml::Node& map, Named& out, bool known = true) {
    for (const yaml::Entry& entry : map.entries()) {
      const std::string name(entry.key.as_string());
      if (thorough_ && known && schema::at(*platform_.facts, name) == nullptr) {
        fault(entry.key, "platform `" + platform_.name + "` has no fact `" + name + "`");
      }
      out.emplace_back(name, expression(entry.value));
    }
  }

  cel::LazyText text(const yaml::Node& scalar) {
    return cel::lazy<cel::Text>(scalar, environment_, thorough_, sources_, sink_);
  }

  cel::LazyExpression expression(const yaml::Node& scalar) {
    return cel::lazy<cel::Expression>(scalar, environment_, thorough_, sources_, sink_);
  }

  void fault(const yaml::Node& at, const std::string& message) {
    sink_.error(catalog::kKnowledgeFile, at.origin(), message);
  }

  const catalog::Platform& platform_;
  bool thorough_;
  diag::Sources& sources_;
  diag::Sink& sink_;
  std::shared_ptr<const cel::Environment> environment_;
  std::set<std::string> names_;
};

}  // namespace

std::shared_ptr<const Rows> compile(const catalog::Platform& platform, catalog::Library& library,
                                    const derive::Scope& scope, bool thorough, diag::Sink& sink) {
  const auto made = std::make_shared<Rows>();
  made->scope = scope;
  Compiler compiler(platform, scope, thorough, library.sources(), sink);
  for (const std::string& folder : platform.builds) {
    const yaml::Node spec =
        catalog::spec_of(library, "providers/" + folder + "/facts-sources.yaml");
    if (spec.is_map()) compiler.file(spec, *made);
  }
  std::stable_sort(made->rows.begin(), made->rows.end(),
                   [](const Row& a, const Row& b) { return a.rank < b.rank; });
  return made;
}

}  // namespace gpuctl::facts
