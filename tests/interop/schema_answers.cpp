// Says what src/schema does with documents of custom resources, so that a script can compare it
// with an API server's own code (apiserver/main.go): one request a line on standard input, one
// answer a line on standard output, both JSON.
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>

#include "diag/diagnostic.hpp"
#include "schema/compiled.hpp"
#include "yaml/emit.hpp"
#include "yaml/read.hpp"

namespace gpuctl::schema {
namespace {

using nlohmann::json;

std::string text_of(const diag::Sink& sink) {
  std::string out;
  for (const diag::Diagnostic& finding : sink.all())
    out += finding.code + " " + finding.message + "; ";
  return out;
}

/// A file of CRDs, with what its schemas refer to.
struct File {
  diag::Sources sources;
  yaml::Arena arena;
  std::vector<yaml::Node> documents;

  explicit File(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    diag::Sink sink;
    const auto read = yaml::read_all(sources.add_file(path, std::move(text).str()), sources, arena,
                                     sink, yaml::published_limits());
    if (!read) throw std::runtime_error(path + ": " + text_of(sink));
    documents = *read;
  }
  SchemaPtr schema(const std::string& kind, const std::string& version) const {
    for (const yaml::Node& document : documents) {
      if (document.get({"spec", "names", "kind"}).as_string() != kind) continue;
      for (const yaml::Node& item : document.get({"spec", "versions"}).items()) {
        if (item.get("name").as_string() == version) {
          return compile_published(item.get({"schema", "openAPIV3Schema"}), sources, kind);
        }
      }
    }
    throw std::runtime_error("no " + kind + " " + version);
  }
};

struct Known {
  SchemaPtr schema;
  json faults;
  json rules;
};

class Answers {
 public:
  std::string answer(const json& request) {
    const Known& known = find(request.at("file"), request.at("kind"), request.at("version"));
    json out = {{"crd", known.faults}, {"rules", known.rules}};
    if (request.at("text").get_ref<const std::string&>().empty()) return out.dump();
    diag::Sources sources;
    yaml::Arena arena;
    diag::Sink sink;
    const diag::FileId file = sources.add_file("document", request.at("text").get<std::string>());
    const auto document = yaml::read(file, sources, arena, sink, yaml::published_limits());
    if (!document) throw std::runtime_error(text_of(sink));
    out["document"] = json::parse(yaml::emit_json(apply_defaults(*known.schema, *document, arena)));
    std::vector<Finding> found;
    RuleCounts counts;
    ValidateOptions options;
    options.counts = &counts;
    validate_listing(*known.schema, *document, arena, sources, sink, options, &found);
    out["findings"] = json::array();
    for (const Finding& finding : found) {
      out["findings"].push_back({{"code", finding.code}, {"path", finding.path}});
    }
    out["messages"] = json::array();
    for (const diag::Diagnostic& finding : sink.all()) {
      out["messages"].push_back(finding.code + " " + finding.message);
    }
    out["unsupported"] = counts.unsupported;
    return out.dump();
  }

 private:
  const Known& find(const std::string& path, const std::string& kind, const std::string& version) {
    Known& known = known_[path + "\n" + kind + "\n" + version];
    if (known.schema == nullptr) {
      std::unique_ptr<File>& file = files_[path];
      if (file == nullptr) file = std::make_unique<File>(path);
      known.schema = file->schema(kind, version);
      const Survey all = survey(*known.schema);
      known.rules = {{"evaluated", all.rules.evaluated},
                     {"skipped", all.rules.skipped},
                     {"unsupported", all.rules.unsupported},
                     {"reasons", all.unsupported}};
      known.faults = all.faults;
      for (const std::string& what : all.unsupported) known.faults.push_back(what);
    }
    return known;
  }

  std::map<std::string, std::unique_ptr<File>> files_;
  std::map<std::string, Known> known_;
};

}  // namespace
}  // namespace gpuctl::schema

int main() {
  gpuctl::schema::Answers answers;
  std::size_t number = 0;
  for (std::string line; std::getline(std::cin, line);) {
    ++number;
    try {
      std::cout << answers.answer(nlohmann::json::parse(line)) << "\n";
    } catch (const std::exception& problem) {
      std::cerr << "request " << number << ": " << problem.what() << "\n";
      return 1;
    }
  }
  return 0;
}
