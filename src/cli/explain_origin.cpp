#include "cli/explain_origin.hpp"

#include <algorithm>
#include <cerrno>

#include "base/file.hpp"
#include "base/text.hpp"
#include "cli/codes.hpp"
#include "cli/fleets.hpp"
#include "render/origin.hpp"
#include "yaml/emit.hpp"
#include "yaml/path.hpp"

namespace gpuctl::cli {

namespace {

using Kind = render::Link::Kind;

constexpr std::size_t kMostValueCharacters = 100;
constexpr std::size_t kMostEarlierBytes = 4 * 1024 * 1024;
// Of what one expression read; a table that was searched has hundreds of cells.
constexpr std::size_t kMostReads = 12;

std::string object_name(const render::Document& document) {
  if (document.raw) return document.path;
  return std::string(document.body.get("kind").as_string()) + "/" +
         std::string(document.body.get({"metadata", "name"}).as_string());
}

// One line, cut when it is long.
std::string shortened(std::string_view text) {
  std::string out;
  bool space = false;
  std::size_t characters = 0;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (blank) {
      space = !out.empty();
      continue;
    }
    if (!base::continues_character(c) && ++characters > kMostValueCharacters) return out + " ...";
    if (space) out += ' ';
    space = false;
    out += c;
  }
  return out;
}

// The text of a block scalar begins with its indicator.
std::string expression_text(std::string_view text) {
  if (text.starts_with('>') || text.starts_with('|')) {
    const std::size_t end = text.find('\n');
    text.remove_prefix(end == std::string_view::npos ? text.size() : end);
  }
  return shortened(text);
}

class Chain {
 public:
  explicit Chain(const diag::Sources& sources) : sources_(sources) {}

  std::string text(const render::Link& link) {
    out_.clear();
    add(link, 1);
    return std::move(out_);
  }

  yaml::Node tree(const render::Link& link, yaml::Arena& arena) const {
    yaml::MapBuilder out;
    const auto set = [&](std::string_view key, std::string_view value) {
      if (!value.empty()) out.set(arena, key, arena.string(value));
    };
    set("source", render::kind_name(link.kind));
    set("path", link.path);
    if (!link.path.empty()) out.set(arena, "value", link.value);
    if (const diag::Span* span = sources_.span(link.at)) {
      const diag::Position position = sources_.position(span->file, span->begin);
      set("file", sources_.file_name(span->file));
      out.set(arena, "line", yaml::Node::integer(position.line));
      out.set(arena, "column", yaml::Node::integer(position.column));
      if (link.kind == Kind::expression) set("expression", expression_text(sources_.text(link.at)));
    }
    set("because", link.because);
    if (!link.reads.empty()) {
      std::vector<yaml::Node> reads;
      for (const render::Link& read : link.reads) reads.push_back(tree(read, arena));
      out.set(arena, "from", arena.list(reads));
    }
    return out.build(arena);
  }

 private:
  void add(const render::Link& link, std::size_t depth) {
    out_.append(2 * depth, ' ');
    if (!link.path.empty()) {
      out_ += link.path + " = " + shortened(yaml::emit_json(link.value));
      if (link.kind != Kind::place) {
        out_ += " (" + std::string(render::kind_name(link.kind));
        const std::string at = sources_.place(link.at);
        out_ += (at.empty() ? "" : ", " + at) + ")";
      }
    } else {
      const std::string at = sources_.place(link.at);
      out_ += at.empty() ? std::string(render::kind_name(link.kind)) : at;
      if (link.kind == Kind::expression) {
        out_ += "  " + expression_text(sources_.text(link.at));
      } else if (!at.empty()) {
        out_ += "  (" + std::string(render::kind_name(link.kind)) + ")";
      }
      if (!link.because.empty()) {
        out_ += "\n" + std::string(2 * depth, ' ') + "  because " + shortened(link.because);
      }
    }
    out_ += '\n';
    std::size_t shown = 0;
    for (const render::Link& read : link.reads) {
      if (++shown > kMostReads) {
        out_.append(2 * depth + 2, ' ');
        out_ += "and " + std::to_string(link.reads.size() - kMostReads) + " more\n";
        break;
      }
      add(read, depth + 1);
    }
  }

  const diag::Sources& sources_;
  std::string out_;
};

// The document asked for; nullptr after a diagnostic.
const render::Document* find_document(const render::Rendered& rendered, const std::string& object,
                                      diag::Sink& sink) {
  std::vector<const render::Document*> found;
  std::vector<std::string> names;
  for (const render::Document& document : rendered.documents) {
    if (document.path == object || object_name(document) == object) found.push_back(&document);
    names.push_back(object_name(document));
  }
  if (found.size() == 1) return found.front();
  if (found.size() > 1) {
    std::vector<std::string> paths;
    for (const render::Document* document : found) paths.push_back(document->path);
    sink.error(kNoObject, diag::kNoOrigin, "several documents are `" + object + "`")
        .suggest("name the file: " + base::join(paths, ", "));
    return nullptr;
  }
  diag::Diagnostic& diagnostic =
      sink.error(kNoObject, diag::kNoOrigin, "no document `" + object + "` is rendered")
          .expect("KIND/NAME or the path of a file, as `gpuctl render` lists them")
          .did_you_mean(object, names);
  if (!rendered.withheld.empty()) {
    diagnostic.note(std::to_string(rendered.withheld.size()) +
                    " templates wait for facts; give them with `--facts`");
  }
  return nullptr;
}

// The node at a path of a document; nullptr after a diagnostic.
const yaml::Node* find_node(const render::Document& document, const std::string& path,
                            diag::Sink& sink) {
  const std::optional<std::vector<yaml::PathStep>> steps = yaml::parse_path(path);
  if (!steps) {
    sink.error(kNoField, diag::kNoOrigin, "`" + path + "` is no path")
        .expect("such as `spec.replicas`, `spec.taints[0].key` or `metadata.labels[\"a.b/c\"]`");
    return nullptr;
  }
  const yaml::Node* at = &document.body;
  std::string walked;
  for (const yaml::PathStep& step : *steps) {
    const yaml::Node* below = yaml::step_into(*at, step);
    if (below == nullptr) {
      std::vector<std::string> there;
      for (const yaml::Entry& entry : at->entries()) there.emplace_back(entry.key.as_string());
      for (std::size_t i = 0; i < at->items().size(); ++i) {
        there.push_back(yaml::item_step(at->items()[i], i));
      }
      diag::Diagnostic& diagnostic = sink.error(
          kNoField, diag::kNoOrigin, "`" + object_name(document) + "` has no `" + path + "`");
      diagnostic.expect(there.empty() ? "nothing below `" + walked + "`"
                                      : "one of " + base::join(there, ", ") +
                                            (walked.empty() ? "" : " below `" + walked + "`"));
      diagnostic.did_you_mean(step.text, there);
      return nullptr;
    }
    const std::string next = at->is_map() ? yaml::key_step(step.text) : "[" + step.text + "]";
    walked += walked.empty() && next.starts_with('.') ? next.substr(1) : next;
    at = below;
  }
  return at;
}

}  // namespace

int run_explain_origin(const OriginQuestion& question, const GlobalOptions& global) {
  Report report(global);
  Knowledge* knowledge = open_knowledge(global, report);
  if (knowledge == nullptr) return kFindings;
  Request request;
  request.facts_file = question.facts;
  request.replace_facts = true;  // nothing is written
  request.provenance = true;
  diag::Sink found;
  if (!question.against.empty()) {
    request.earlier = [&](const std::string& path) -> std::optional<std::string> {
      auto content = base::read_file_beneath(question.against, path, kMostEarlierBytes);
      if (auto* text = std::get_if<std::string>(&content)) return std::move(*text);
      // Without the lock another chain would be told than the one that made the file.
      const auto& error = std::get<base::FileError>(content);
      if (error.code != ENOENT) {
        found.error(kUnreadable, diag::kNoOrigin,
                    "cannot read `" + error.path + "`: " + error.text);
      }
      return std::nullopt;
    };
  }
  std::string blueprint = question.blueprint;
  if (!expand_one(blueprint, request, *knowledge, report)) return kFindings;
  const Result result = run(blueprint, request, *knowledge);
  if (result.sink.has_errors() || found.has_errors()) {
    report.show(result.sink, *result.sources);
    report.show(found, diag::Sources());
    return kFindings;
  }
  const render::Document* document = find_document(result.rendered(), question.object, found);
  const yaml::Node* node =
      document == nullptr ? nullptr : find_node(*document, question.path, found);
  if (node == nullptr) {
    report.show(found, diag::Sources());
    return kFindings;
  }
  const render::Link link =
      render::trace(*result.manifests->provenance, node->origin(), *result.sources);
  Chain chain(*result.sources);
  if (global.result->wanted()) {
    global.result->set("file", document->path);
    global.result->set("path", question.path);
    global.result->set("value", *node);
    global.result->set("origin", chain.tree(link, *result.arena));
  }
  const std::string shown = question.path.empty() ? "the document" : question.path;
  const std::string text = document->path + "\n" + shown + " = " +
                           shortened(yaml::emit_json(*node)) + "\n" + chain.text(link);
  return print(text, global) ? kOk : kFindings;
}

}  // namespace gpuctl::cli
