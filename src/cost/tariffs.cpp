#include "cost/tariffs.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "catalog/wrapper.hpp"
#include "cel/lazy.hpp"
#include "cost/codes.hpp"
#include "yaml/texts.hpp"

namespace gpuctl::cost {

namespace {

constexpr std::string_view kProviders = "providers/";
constexpr std::string_view kPrices = "/prices/";
constexpr std::string_view kRows = "/cost.yaml";

// Price lists by the names in their files.
std::map<std::string, yaml::Node, std::less<>> lists_of(catalog::Library& library) {
  std::map<std::string, yaml::Node, std::less<>> out;
  for (const std::string& path : library.list(kProviders, kPrices)) {
    const yaml::Node* file = library.file(path);
    if (file == nullptr) continue;
    out.emplace(file->get({"metadata", "name"}).as_string(), file->get("spec"));
  }
  return out;
}

class Compiler {
 public:
  Compiler(const derive::Scope& scope, bool thorough, catalog::Library& library, diag::Sink& sink)
      : thorough_(thorough), library_(library), sink_(sink) {
    auto made = std::make_shared<cel::Environment>(*scope.environment);
    made->variables.push_back({"item", cel::Type::dyn()});
    made->variables.push_back({"documents", cel::Type::list(cel::Type::dyn())});
    environment_ = std::move(made);
    if (thorough_) lists_ = lists_of(library);
  }

  void file(const yaml::Node& spec, Costing& out) {
    for (const yaml::Node& row : spec.get("parts").items()) {
      out.parts.push_back(
          {text_of(row, "kind"), text_of(row, "title"), row.get("committed").as_boolean(),
           expression(row.get("each")), expression(row.get("when")), expression(row.get("name")),
           expression(row.get("type")), expression(row.get("min")), expression(row.get("max")),
           expression(row.get("gpus")), expression(row.get("watts"))});
      kinds_.insert(out.parts.back().kind);
    }
    for (const yaml::Node& row : spec.get("charges").items()) {
      note(row.get("parts"));
      const yaml::Node list = row.get("list");
      if (thorough_ && !lists_.contains(list.as_string())) {
        fault(list, "there is no price list `" + std::string(list.as_string()) + "`");
      }
      out.charges.push_back({text_of(row, "name"), texts_of(row, "parts"),
                             expression(row.get("when")), text_of(row, "list"),
                             expression(row.get("region")), expression(row.get("key")),
                             expression(row.get("quantity")), expression(row.get("market"))});
    }
    for (const yaml::Node& row : spec.get("licences").items()) {
      note(row.get("parts"));
      out.licences.push_back({texts_of(row, "parts"), expression(row.get("when")),
                              expression(row.get("edition")), text_of(row, "unit"),
                              expression(row.get("count")), expression(row.get("sharedBy"))});
    }
    for (std::string& text : texts_of(spec, "leavesOut")) out.leaves_out.push_back(std::move(text));
  }

  // What charges and licences name has to be among the parts of some folder.
  void check_kinds() {
    for (const yaml::Node& kind : named_) {
      if (kinds_.contains(std::string(kind.as_string()))) continue;
      fault(kind, "there is no part of the kind `" + std::string(kind.as_string()) + "`");
    }
  }

 private:
  void note(const yaml::Node& kinds) {
    if (thorough_) named_.insert(named_.end(), kinds.items().begin(), kinds.items().end());
  }

  cel::LazyExpression expression(const yaml::Node& scalar) {
    return cel::lazy<cel::Expression>(scalar, environment_, thorough_, library_.sources(), sink_);
  }

  void fault(const yaml::Node& at, const std::string& message) {
    sink_.error(kUnknownList, at.origin(), message);
  }

  bool thorough_;
  catalog::Library& library_;
  diag::Sink& sink_;
  std::shared_ptr<const cel::Environment> environment_;
  std::map<std::string, yaml::Node, std::less<>> lists_;
  std::set<std::string> kinds_;
  std::vector<yaml::Node> named_;
};

// "owner/name FILE (VERSION)", or the title of a document.
std::string address_of(const yaml::Node& source) {
  const auto part = [&](std::string_view field) { return text_of(source, field); };
  if (source.find("repository") != nullptr) {
    const std::string file = part("file");
    const std::string version = part("version");
    return part("repository") + (file.empty() ? "" : " " + file) +
           (version.empty() ? "" : " (" + version + ")");
  }
  if (source.find("document") != nullptr) {
    const std::string section = part("section");
    return part("document") + (section.empty() ? "" : ", " + section);
  }
  return part("own");
}

}  // namespace

std::optional<Market> market_named(std::string_view name) {
  const auto found = std::find(kMarketNames.begin(), kMarketNames.end(), name);
  if (found == kMarketNames.end()) return std::nullopt;
  return static_cast<Market>(found - kMarketNames.begin());
}

Tariffs::Tariffs(catalog::Library& library) : library_(library), lists_(lists_of(library)) {
  for (const std::string& path : library.list(kProviders, kRows)) library.file(path);
}

const Costing& Tariffs::platform(const catalog::Platform& platform, diag::Sink& sink) {
  std::shared_ptr<const Costing>& made = platforms_[platform.name];
  if (made == nullptr) made = compile(platform, library_, library_.has_overlays(), sink);
  return *made;
}

std::optional<Price> Tariffs::price(const std::string& list, const std::string& region,
                                    const std::string& key) const {
  const auto found = lists_.find(list);
  if (found == lists_.end()) return std::nullopt;
  const yaml::Node& spec = found->second;
  const yaml::Node row = spec.get({"regions", region, key});
  if (!row.is_map()) return std::nullopt;
  Price out;
  for (std::size_t i = 0; i < kMarkets; ++i) {
    if (const yaml::Node* rate = row.find(kMarketNames[i])) out.rates[i] = Amount::of(*rate);
  }
  out.currency = spec.get("currency").as_string();
  for (std::string_view name : base::split(row.get("source").as_string(), ';')) {
    name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
    const yaml::Node source = spec.get({"sources", name});
    out.source += (out.source.empty() ? "" : "; ") + address_of(source);
    const std::string day = text_of(source, "asOf");
    if (day.empty()) continue;
    out.as_of += (out.as_of.empty() ? "" : "; ") + day;
  }
  return out;
}

std::shared_ptr<const Costing> compile(const catalog::Platform& platform, catalog::Library& library,
                                       bool thorough, diag::Sink& sink) {
  const auto made = std::make_shared<Costing>();
  const auto environment = derive::base_environment(platform, library.programs(platform.name));
  made->scope = derive::scope_of(platform, environment, thorough, library.sources(), sink);
  Compiler compiler(made->scope, thorough, library, sink);
  for (const std::string& folder : platform.builds) {
    const yaml::Node spec =
        catalog::spec_of(library, std::string(kProviders) + folder + std::string(kRows));
    if (spec.is_map()) compiler.file(spec, *made);
  }
  compiler.check_kinds();
  return made;
}

}  // namespace gpuctl::cost
