// Counts, for every rule that is built in, how often it was kept, broken and left out on the inputs
// that standard input names, one a line:
//   blueprint FILE FACTS [DATE]   FACTS may be `-`
//   documents FILE RELEASE   documents that others wrote; RELEASE may be `-`: the newest
//   token FILE DATE          a licence token on that day
// Prints one line a rule: file:line, code, kept, broken, left out, and `never` when its check
// cannot be true by itself. rules_seen.py judges them. Fails when a rule is broken while the gate
// of its file is closed.
#include <array>
#include <cstdio>
#include <iostream>
#include <map>
#include <span>
#include <sstream>
#include <string>

#include "base/file.hpp"
#include "blueprint/blueprint.hpp"
#include "blueprint/extends.hpp"
#include "cli/command.hpp"
#include "document/token.hpp"
#include "pipeline/knowledge.hpp"
#include "pipeline/run.hpp"
#include "render/documents.hpp"
#include "yaml/read.hpp"

namespace gpuctl {
namespace {

// As tests/support/program.py and tests/golden/run.py have it.
constexpr std::string_view kToday = "2025-12-01";

struct Counts {
  std::string code;
  bool never = false;
  std::array<long, 3> verdicts = {};
};

class Measure : public rule::Observer {
 public:
  explicit Measure(pipeline::Knowledge& knowledge) : knowledge_(knowledge) {}

  void saw(const rule::Rule& rule, rule::Verdict verdict) override {
    ++at(rule.written).verdicts.at(static_cast<std::size_t>(verdict));
  }

  void saw_behind_gate(const rule::Rule& rule) override {
    std::fprintf(stderr, "%s is broken behind a closed gate\n", rule.code.c_str());
    contradicted_ = true;
  }
  bool contradicted() const { return contradicted_; }

  /// Rules that nothing touches are listed, too.
  void add(const pipeline::Compiled& compiled) {
    for (const catalog::RuleFile& file : compiled.platform->rules) {
      for (const yaml::Node& rule : file.rules.items()) at(rule);
    }
    for (const catalog::DocumentKind& kind : compiled.platform->documents) {
      for (const catalog::RuleFile& file : kind.rules) {
        for (const yaml::Node& rule : file.rules.items()) at(rule);
      }
    }
  }

  void blueprint(const std::string& file, const std::string& facts_file, const std::string& today) {
    diag::Sources sources(&knowledge_.library().sources());
    yaml::Arena arena;
    diag::Sink sink;
    const pipeline::Compiled* compiled = nullptr;
    const auto find = [&](const std::string& name, diag::Origin asked_at, diag::Sink& findings) {
      compiled = knowledge_.platform(name, asked_at, findings);
      return compiled == nullptr ? nullptr : compiled->platform;
    };
    const std::string folder = file.substr(0, file.rfind('/') + 1);
    const auto read_base = [&](const std::string& name, const yaml::Node&) {
      return sources.add_file(name, text_of(name));
    };
    auto layers = blueprint::read_layers(sources.add_file(file, text_of(file)), read_base,
                                         {sources, arena, sink});
    if (!layers) return;
    const auto loaded = blueprint::load(std::move(*layers), folder, find, {sources, arena, sink});
    if (!loaded) return;  // the schema refuses it
    yaml::Node facts = arena.map(std::span<const yaml::Entry>());
    if (!facts_file.empty()) {
      const auto read = blueprint::load_facts(sources.add_file(facts_file, text_of(facts_file)),
                                              *loaded, {sources, arena, sink});
      if (!read) return;
      facts = *read;
    }
    const auto derived = derive::derive(*compiled->derivation, *loaded, facts, derive::Earlier(),
                                        {sources, arena, sink});
    if (!derived) return;
    rule::check(*compiled->rules, *loaded, *derived, facts, today, {sources, arena, sink}, this);
    document::Context context;
    context.cluster = derived->cluster;
    context.observer = this;
    std::vector<document::Placed> extra;
    for (const yaml::Node& manifest : loaded->spec.get("extraManifests").items()) {
      const std::string name = folder + std::string(manifest.get("path").as_string());
      const auto read = yaml::read_all(sources.add_file(name, text_of(name)), sources, arena, sink);
      if (!read) continue;
      for (const yaml::Node& document : *read) {
        extra.push_back({document, std::string(manifest.get("layer").as_string())});
      }
    }
    if (extra.empty()) return;
    context.objects = objects_of(*compiled, *loaded, *derived, facts, extra, sources, arena);
    for (const document::Placed& one : extra) {
      compiled->documents->check(one.document, context, {sources, arena, sink});
    }
  }

  void documents(const std::string& file, const std::string& release) {
    diag::Sources sources(&knowledge_.library().sources());
    yaml::Arena arena;
    diag::Sink sink;
    yaml::ReadLimits limits = yaml::kubectl_limits();
    limits.aliases = 200;
    const auto read =
        yaml::read_all(sources.add_file(file, text_of(file)), sources, arena, sink, limits);
    if (!read) return;
    std::vector<document::Placed> beside;
    for (const yaml::Node& document : *read) beside.push_back({document, {}});
    const yaml::Node objects = document::objects_of(beside, arena);
    for (const yaml::Node& document : *read) {
      const std::string name = knowledge_.platform_for(document);
      const pipeline::Compiled* compiled =
          name.empty() ? nullptr : knowledge_.platform(name, diag::kNoOrigin, sink);
      if (compiled == nullptr) continue;
      document::Context context;
      context.release = release;
      context.objects = objects;
      context.observer = this;
      compiled->documents->check(document, context, {sources, arena, sink});
    }
  }

  void token(const std::string& file, const std::string& date) {
    diag::Sources sources(&knowledge_.library().sources());
    yaml::Arena arena;
    diag::Sink sink;
    std::string text = text_of(file);
    while (text.ends_with('\n')) text.pop_back();
    const yaml::Node document = document::token_document(
        "LicenseToken", text, document::seconds_of_date(date).value_or(0), arena);
    const pipeline::Compiled* compiled =
        knowledge_.platform(knowledge_.platform_for(document), diag::kNoOrigin, sink);
    if (compiled == nullptr) return;
    document::Context context;
    context.observer = this;
    compiled->documents->check(document, context, {sources, arena, sink});
  }

  void print() const {
    for (const auto& [place, counts] : rules_) {
      std::printf("%s %s %ld %ld %ld%s\n", place.c_str(), counts.code.c_str(), counts.verdicts[0],
                  counts.verdicts[1], counts.verdicts[2], counts.never ? " never" : "");
    }
  }

 private:
  /// What is rendered, and what comes with it.
  static yaml::Node objects_of(const pipeline::Compiled& compiled,
                               const blueprint::Blueprint& blueprint,
                               const derive::Derived& derived, const yaml::Node& facts,
                               std::vector<document::Placed> objects, diag::Sources& sources,
                               yaml::Arena& arena) {
    diag::Sink none;
    const render::Rendered rendered = render::render(
        *compiled.templates, {blueprint, derived, facts}, {}, {}, {sources, arena, none});
    for (const render::Document& document : rendered.documents) {
      if (!document.raw) objects.push_back({document.body, document.layer});
    }
    return document::objects_of(objects, arena);
  }

  static std::string text_of(const std::string& file) {
    auto content = base::read_file(file, pipeline::kMostInputBytes);
    auto* text = std::get_if<std::string>(&content);
    return text == nullptr ? std::string() : std::move(*text);
  }

  // By its place: one rule belongs to several platforms.
  Counts& at(const yaml::Node& rule) {
    const yaml::Node code = rule.get("code");
    std::string place = knowledge_.library().sources().place(code.origin());
    place.resize(place.rfind(':'));
    Counts& counts = rules_[place];
    counts.code = code.as_string();
    const yaml::Node check = rule.get("check");
    counts.never = check.as_string() == "false";
    return counts;
  }

  pipeline::Knowledge& knowledge_;
  std::map<std::string, Counts> rules_;
  bool contradicted_ = false;
};

int measure() {
  diag::Sink sink;
  pipeline::Knowledge knowledge(cli::built_in_image(), "", "", sink);
  Measure counts(knowledge);
  for (const std::string& name : catalog::platforms(knowledge.library())) {
    const pipeline::Compiled* compiled = knowledge.platform(name, diag::kNoOrigin, sink);
    if (compiled != nullptr) counts.add(*compiled);
  }
  if (sink.has_errors()) return 1;
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    std::string what;
    std::string file;
    std::string with;
    std::string today;
    words >> what >> file >> with >> today;
    if (with == "-") with.clear();
    if (what == "blueprint") {
      counts.blueprint(file, with, today.empty() ? std::string(kToday) : today);
    } else if (what == "token") {
      counts.token(file, with);
    } else {
      counts.documents(file, with);
    }
  }
  counts.print();
  return counts.contradicted() ? 1 : 0;
}

}  // namespace
}  // namespace gpuctl

int main() {
  return gpuctl::measure();
}
