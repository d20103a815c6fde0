#include "cli/annotated.hpp"

#include "yaml/emit.hpp"
#include "yaml/path.hpp"

namespace gpuctl::cli {

namespace {

using yaml::Node;

// "base.yaml:12"; empty when the value stands nowhere.
std::string place_of(const Node& value, const diag::Sources& sources) {
  const diag::Span* span = sources.span(value.origin());
  if (span == nullptr) return {};
  const diag::Position at = sources.position(span->file, span->begin);
  return diag::shown(std::string(sources.file_name(span->file))) + ":" + std::to_string(at.line);
}

class Writer {
 public:
  explicit Writer(const diag::Sources& sources) : sources_(sources) {}

  void map(const Node& value, std::size_t indent, bool goes_on) {
    for (const yaml::Entry& entry : value.entries()) {
      if (!goes_on) out_.append(indent, ' ');
      goes_on = false;
      const yaml::Entry only = {entry.key, entry.value};
      if (entry.value.size() != 0 && !entry.value.is_scalar()) {
        out_ += name(entry.key) + ":\n";
        below(entry.value, indent);
      } else {
        leaf(yaml::emit(arena_.map({&only, 1})), entry.value, indent);
      }
    }
  }

  std::string text() && { return std::move(out_); }

 private:
  void below(const Node& value, std::size_t indent) {
    if (value.is_map()) return map(value, indent + 2, false);
    // As the emitter has it, items stand below their key.
    for (const Node& item : value.items()) {
      out_.append(indent, ' ');
      if (item.is_map() && item.size() != 0) {
        out_ += "- ";
        map(item, indent + 2, true);
      } else {
        leaf(yaml::emit(arena_.list({&item, 1})), item, indent);
      }
    }
  }

  std::string name(const Node& key) {
    const yaml::Entry only = {key, arena_.map(std::span<const yaml::Entry>())};
    const std::string text = yaml::emit(arena_.map({&only, 1}));
    return text.substr(0, text.rfind(": {}"));
  }

  // Lines of the emitter, the first behind what is written, with the place behind it.
  void leaf(std::string lines, const Node& value, std::size_t indent) {
    const std::string place = place_of(value, sources_);
    std::size_t end = lines.find('\n');
    const std::string first = lines.substr(0, end);
    out_ += first + (place.empty() ? "" : "  # " + place) + "\n";
    while (end != std::string::npos && end + 1 < lines.size()) {
      const std::size_t begin = end + 1;
      end = lines.find('\n', begin);
      const std::string line = lines.substr(begin, end - begin);
      out_ += (line.empty() ? "" : std::string(indent, ' ')) + line + "\n";
    }
  }

  const diag::Sources& sources_;
  yaml::Arena arena_;
  std::string out_;
};

// A row for each scalar and each empty list or map.
void add_origins(const Node& value, const std::string& path, const diag::Sources& sources,
                 yaml::Arena& arena, std::vector<Node>& out) {
  if (value.size() != 0 && !value.is_scalar()) {
    for (const yaml::Entry& entry : value.entries()) {
      add_origins(entry.value, path + yaml::key_step(entry.key.as_string()), sources, arena, out);
    }
    for (std::size_t i = 0; i < value.items().size(); ++i) {
      add_origins(value.items()[i], path + yaml::item_step(value.items()[i], i), sources, arena,
                  out);
    }
    return;
  }
  const std::string place = place_of(value, sources);
  if (place.empty()) return;
  yaml::MapBuilder row;
  row.set(arena, "path", arena.string(path.substr(1)));
  row.set(arena, "written", arena.string(place));
  out.push_back(row.build(arena));
}

}  // namespace

std::string annotated(const Node& document, const diag::Sources& sources) {
  Writer writer(sources);
  writer.map(document, 0, false);
  return std::move(writer).text();
}

void set_shown(const Node& document, const Result& of, ResultDocument& result) {
  if (!result.wanted()) return;
  yaml::Arena& arena = result.arena();
  std::vector<Node> origins;
  add_origins(document, "", *of.sources, arena, origins);
  result.set("cluster", arena.string(of.cluster()));
  result.set("blueprint", document);
  result.set("origins", arena.list(origins));
}

}  // namespace gpuctl::cli
