#include "catalog/addresses.hpp"

#include <string_view>
#include <vector>

#include "base/text.hpp"

namespace gpuctl::catalog {

Addresses::Addresses(Library& library, const Table& table) {
  for (const std::string& path : library.list("providers/" + table.provider + "/tables/")) {
    const yaml::Node* file = library.file(path);
    if (file != nullptr && file->get({"metadata", "name"}).as_string() == table.name) {
      declared_ = file->get({"spec", "sources"});
    }
  }
}

std::string Addresses::source_of(const yaml::Node& row) const {
  std::vector<std::string> addresses;
  for (const std::string_view part : base::split(row.get("source").as_string(), ';')) {
    const std::string_view name = part.starts_with(' ') ? part.substr(1) : part;
    std::vector<std::string> parts;
    for (const yaml::Entry& entry : declared_.get(name).entries()) {
      parts.emplace_back(entry.value.as_string());
    }
    addresses.push_back(parts.empty() ? std::string(name) : base::join(parts, ", "));
  }
  return base::join(addresses, "; ");
}

}  // namespace gpuctl::catalog
