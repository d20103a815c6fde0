// Build tool: reads providers/, templates/ and docs/codes/, checks all of it, and writes the
// pre-parsed image that the program links. The samples of blueprints/ and the examples of fields
// come along as texts.
//
//   gpuctl_pack SOURCE_DIR IMAGE
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "catalog/documents.hpp"
#include "catalog/formats.hpp"
#include "catalog/image.hpp"
#include "catalog/secret_rules.hpp"
#include "cost/tariffs.hpp"
#include "diag/print.hpp"
#include "diagnose/chain.hpp"
#include "doctor/checks.hpp"
#include "fields/synonyms.hpp"
#include "pipeline/compile.hpp"
#include "report/rows.hpp"
#include "secrets/rules.hpp"
#include "yaml/packed.hpp"
#include "yaml/read.hpp"

namespace {

using namespace gpuctl;

constexpr std::string_view kSamples = "blueprints";
constexpr std::string_view kFieldExamples = "docs/reference/examples.yaml";

// What is only shown.
bool is_shown(const std::string& path) {
  return path.starts_with(kSamples) || path == kFieldExamples;
}

// What is packed as a tree.
bool is_knowledge(const std::string& path) {
  return path.ends_with(".yaml") && !is_shown(path);
}

int fail(const diag::Sink& sink, const diag::Sources& sources) {
  std::string out;
  for (const diag::Diagnostic& diagnostic : sink.sorted(sources)) {
    diag::print_text(diagnostic, sources, false, out);
    out += '\n';
  }
  std::fwrite(out.data(), 1, out.size(), stderr);
  return sink.has_errors() ? 1 : 0;
}

std::string slurp(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The files of the image, sorted by name.
std::vector<catalog::Overlay> collect(const std::filesystem::path& root) {
  std::vector<catalog::Overlay> files;
  for (const char* folder : {"providers", "templates", "docs/codes"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      const std::string ending = entry.path().extension().string();
      if (!entry.is_regular_file() || (ending != ".yaml" && ending != ".md")) continue;
      const std::string name = std::filesystem::relative(entry.path(), root).generic_string();
      files.push_back({name, name, slurp(entry.path())});
    }
  }
  std::error_code absent;  // then there are no samples
  for (const auto& entry : std::filesystem::directory_iterator(root / kSamples, absent)) {
    const std::string name = std::filesystem::relative(entry.path(), root).generic_string();
    if (!name.ends_with(".yaml") || name.ends_with(".facts.yaml")) continue;
    files.push_back({name, name, slurp(entry.path())});
  }
  const std::string examples(kFieldExamples);
  if (std::filesystem::exists(root / examples, absent)) {
    files.push_back({examples, examples, slurp(root / examples)});
  }
  std::sort(files.begin(), files.end(),
            [](const catalog::Overlay& a, const catalog::Overlay& b) { return a.path < b.path; });
  return files;
}

// What a run would put together from several files, as Library::prepared() gives it back.
void prepare(const catalog::Platform& platform, catalog::Library& library,
             catalog::Programs& programs, diag::Sink& sink) {
  yaml::Arena arena;
  for (const char* file : {"schema.yaml", "derived.yaml", "facts.yaml"}) {
    yaml::pack(programs[platform.name + "#" + file],
               catalog::merged_schema(library, platform.builds, file, sink));
  }
  yaml::pack(programs[platform.name + std::string(fields::kPreparedSynonyms)],
             arena.list(fields::synonyms_of(platform, library)));
  std::vector<catalog::DocumentKind> kinds = platform.documents;
  for (catalog::DocumentKind& kind : kinds) {
    kind.fragments = {document::definition_of(kind, arena, sink)};
  }
  yaml::pack(programs[platform.name + "#documents"], catalog::prepared_documents(kinds, arena));
}

// Everything a run would load, checked as strictly as an overlay is. Keeps what is compiled on the
// way, and all trees, one after the other.
int check(const std::vector<catalog::Overlay>& files, catalog::Programs& programs,
          std::string& trees) {
  diag::Sink sink;
  std::vector<catalog::Overlay> knowledge = files;
  std::erase_if(knowledge, [](const catalog::Overlay& file) { return is_shown(file.path); });
  catalog::Library library(nullptr, std::move(knowledge), sink);
  if (!catalog::check_formats(library, sink)) return fail(sink, library.sources());
  cel::Store::Records records;
  for (const std::string& name : catalog::platforms(library)) {
    const auto store = std::make_shared<cel::Store>();
    std::map<std::string, std::shared_ptr<cel::Store>> of_kinds;
    const auto store_of = [&](const std::string& kind) {
      return of_kinds[kind] = std::make_shared<cel::Store>();
    };
    const pipeline::Compiled compiled =
        pipeline::compile_platform(library, name, {store, store_of}, true, sink);
    if (!compiled) continue;
    doctor::Checks::compile(*compiled.platform, library, true, sink);
    cost::compile(*compiled.platform, library, true, sink);
    report::compile(*compiled.platform, library, compiled.effects->scope(), true, sink);
    programs[name] = store->packed(records);
    for (const auto& [kind, rules] : of_kinds) programs[name + "/" + kind] = rules->packed(records);
    prepare(*compiled.platform, library, programs, sink);
  }
  programs[std::string(catalog::kProgramRecords)] = records.bytes();
  diagnose::check(library, sink);
  for (const catalog::Overlay& file : files) {
    if (!is_knowledge(file.path)) continue;
    const yaml::Node* written = library.written(file.path);
    const yaml::Node* whole = library.file(file.path);
    if (written == nullptr) continue;
    yaml::pack(trees, *written);
    if (whole != written) yaml::pack(programs[file.path], *whole);
  }
  const std::vector<yaml::Node> secret_rules = catalog::secret_rules(library);
  const secrets::Rules compiled(secret_rules, true, sink);
  return fail(sink, library.sources());
}

int pack(const std::filesystem::path& root, const std::filesystem::path& output) {
  const std::vector<catalog::Overlay> files = collect(root);
  catalog::Programs programs;
  std::string checked_trees;
  if (const int failed = check(files, programs, checked_trees); failed != 0) return failed;
  diag::Sources sources;
  diag::Sink sink;
  yaml::Arena arena;
  std::vector<catalog::ImageFile> packed;
  std::string trees;
  for (const catalog::Overlay& file : files) {
    const diag::FileId id = sources.add_file(file.path, file.text);
    yaml::Node tree;
    if (is_knowledge(file.path)) {
      const auto read = yaml::read(id, sources, arena, sink);
      if (read) tree = *read;
      yaml::pack(trees, tree);
    }
    packed.push_back({file.path, file.text, tree});
  }
  if (sink.has_errors()) return fail(sink, sources);
  // What was prepared has the places of the trees that were checked.
  if (trees != checked_trees) {
    std::fprintf(stderr, "gpuctl_pack: the trees were read with other places before\n");
    return 1;
  }
  std::ofstream out(output, std::ios::binary);
  out << catalog::write_image(packed, sources, programs);
  out.close();
  return out ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: gpuctl_pack SOURCE_DIR IMAGE\n");
    return 2;
  }
  return pack(argv[1], argv[2]);
}
