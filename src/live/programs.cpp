#include "live/programs.hpp"

#include <algorithm>

#include "base/process.hpp"
#include "base/text.hpp"
#include "catalog/wrapper.hpp"
#include "live/codes.hpp"

namespace gpuctl::live {

Programs::Programs(const catalog::Platform& platform, catalog::Library& library) {
  for (const std::string& folder : platform.builds) {
    const yaml::Node spec = catalog::spec_of(library, "providers/" + folder + "/programs.yaml");
    for (const yaml::Node& row : spec.get("programs").items()) {
      Program program{std::string(row.get("role").as_string()),
                      {},
                      std::string(row.get("purpose").as_string()),
                      std::string(row.get("install").as_string()),
                      {}};
      for (const yaml::Node& name : row.get("names").items()) {
        program.names.emplace_back(name.as_string());
      }
      for (const yaml::Node& name : row.get("without").items()) {
        program.without.emplace_back(name.as_string());
      }
      const auto known = std::find_if(programs_.begin(), programs_.end(),
                                      [&](const Program& one) { return one.role == program.role; });
      if (known == programs_.end()) {
        programs_.push_back(std::move(program));
      } else {
        *known = std::move(program);
      }
    }
  }
}

const Program* Programs::find(std::string_view role) const {
  const auto found = std::find_if(programs_.begin(), programs_.end(),
                                  [&](const Program& program) { return program.role == role; });
  return found == programs_.end() ? nullptr : &*found;
}

std::optional<std::string> Programs::locate(std::string_view role, diag::Sink& sink) const {
  const Program* program = find(role);
  if (program == nullptr) {
    sink.error(kNoProgram, diag::kNoOrigin,
               "this platform has no program for `" + std::string(role) + "`");
    return std::nullopt;
  }
  for (const std::string& name : program->names) {
    std::string path = base::find_program(name);
    if (!path.empty()) return path;
  }
  const std::string names = "`" + base::join(program->names, "` or `") + "`";
  sink.error(kNoProgram, diag::kNoOrigin, names + " is not in any directory of PATH")
      .note("it " + program->purpose)
      .suggest("install it: " + program->install);
  return std::nullopt;
}

}  // namespace gpuctl::live
