#include "report/rows.hpp"

#include <algorithm>
#include <array>

#include "catalog/wrapper.hpp"
#include "cel/lazy.hpp"

namespace gpuctl::report {

namespace {

constexpr std::array<std::string_view, 8> kParts = {
    "cluster", "pools", "layouts", "versions", "needs", "networks", "checklist", "mechanisms"};

Part part_of(std::string_view name) {
  const auto* found = std::find(kParts.begin(), kParts.end(), name);
  return static_cast<Part>(found == kParts.end() ? 0 : found - kParts.begin());
}

std::string file_of(const std::string& folder) {
  return "providers/" + folder + "/report.yaml";
}

}  // namespace

void preload(catalog::Library& library) {
  for (const std::string& folder : catalog::provider_folders(library)) {
    library.file(file_of(folder));
  }
}

std::shared_ptr<const Rows> compile(const catalog::Platform& platform, catalog::Library& library,
                                    const derive::Scope& scope, bool thorough, diag::Sink& sink) {
  const auto made = std::make_shared<Rows>();
  diag::Sources& sources = library.sources();
  made->scope = scope;
  auto seen = std::make_shared<cel::Environment>(*scope.environment);
  seen->variables.push_back({"documents", cel::Type::list(cel::Type::dyn())});
  made->scope.environment = std::move(seen);
  for (const std::string& folder : platform.builds) {
    const yaml::Node spec = catalog::spec_of(library, file_of(folder));
    if (!spec.is_map()) continue;
    std::shared_ptr<const cel::Environment> environment = made->scope.environment;
    RowsOfFile file;
    file.variables = cel::Definitions(spec.get("variables"), environment, thorough, sources, sink);
    for (const yaml::Node& row : spec.get("rows").items()) {
      const auto lazy = [&](std::string_view field) {
        return cel::lazy<cel::Expression>(row.get(field), environment, thorough, sources, sink);
      };
      file.rows.push_back({part_of(row.get("part").as_string()), lazy("when"), lazy("items")});
    }
    made->files.push_back(std::move(file));
  }
  return made;
}

}  // namespace gpuctl::report
