#include "facts/read.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "base/file.hpp"
#include "base/text.hpp"
#include "diag/character.hpp"
#include "facts/codes.hpp"
#include "facts/facts_file.hpp"
#include "yaml/json.hpp"
#include "yaml/read.hpp"

namespace gpuctl::facts {

namespace {

yaml::ReadLimits limits() {
  yaml::ReadLimits out = yaml::kubectl_limits();
  out.bytes = kMostFileBytes;
  out.scalar_bytes = kMostFileBytes;
  out.nodes = 4'000'000;
  return out;
}

// Adds the document, or the items of a list.
void add(const yaml::Node& tree, diag::Origin at, const Source& source, const diag::Sources* all,
         std::vector<Found>& out) {
  const std::string_view kind = tree.get("kind").as_string();
  if (kind.ends_with("List") && tree.get("items").is_list()) {
    for (const yaml::Node& item : tree.get("items").items()) {
      // An answer names the kind of its items once.
      add(item, item.origin(), source, all, out);
    }
    return;
  }
  if (tree.is_list()) {
    for (const yaml::Node& item : tree.items()) add(item, item.origin(), source, all, out);
    return;
  }
  if (!tree.is_map()) return;
  std::string place = all == nullptr ? std::string() : all->place(at);
  if (place.empty()) place = source.path.empty() ? source.name : source.path;
  out.push_back({tree, source.name, place});
}

diag::Diagnostic& unreadable(const std::string& path, const std::string& why, diag::Sink& sink) {
  return sink.error(kUnreadableSource, diag::kNoOrigin,
                    "cannot read `" + diag::shown(path) + "`: " + why);
}

std::optional<std::vector<yaml::Node>> parse(diag::FileId file, yaml::Context context) {
  const auto& [sources, arena, sink] = context;
  diag::Sink unread;
  auto documents = yaml::read_all(file, sources, arena, unread, limits());
  if (documents) return documents;
  // JSON with what YAML does not take, such as tabs.
  std::string why;
  const auto json = yaml::read_json(sources.file_text(file), arena, why);
  if (json) return std::vector<yaml::Node>{*json};
  // What is no document may be a secret: nothing of it is shown, and not what the reader says of
  // it, but the place.
  sources.hide(file, 0, static_cast<std::uint32_t>(sources.file_text(file).size()));
  diag::Diagnostic& error =
      unreadable(std::string(sources.file_name(file)), "it is neither JSON nor YAML", sink);
  if (!unread.all().empty()) {
    const std::string place = sources.place(unread.all().front().primary.at);
    if (!place.empty()) error.note("reading stopped at " + diag::shown(place));
  }
  error.suggest("have the program write it again; an empty or cut file is the trace of a failure");
  return std::nullopt;
}

Source read_file(const std::string& name, const std::string& path, const Hide& hide,
                 yaml::Context context) {
  Source out{name, path, {}, {}};
  auto content = base::read_file(path, kMostFileBytes);
  if (const auto* error = std::get_if<base::FileError>(&content)) {
    unreadable(path, error->text, context.sink);
    return out;
  }
  out.file = context.sources.add_file(path, std::move(std::get<std::string>(content)));
  hide(*out.file, context.sources);
  const auto documents = parse(*out.file, context);
  if (!documents) return out;
  for (const yaml::Node& document : *documents) {
    add(document, document.origin(), out, &context.sources, out.documents);
  }
  return out;
}

}  // namespace

std::vector<Source> read_source(const std::string& path, const std::vector<std::string>& patterns,
                                const Hide& hide, yaml::Context context) {
  struct stat info {};
  std::vector<Source> out;
  if (::stat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    out.push_back(read_file(path, path, hide, context));
    return out;
  }
  for (const std::string& pattern : patterns) {
    for (const std::string& file : find_files(path, pattern)) {
      out.push_back(read_file(path, file, hide, context));
    }
  }
  if (out.empty()) {
    std::vector<std::string> quoted;
    for (const std::string& pattern : patterns) quoted.push_back("`" + pattern + "`");
    context.sink
        .error(kUnknownSource, diag::kNoOrigin,
               "nothing in the directory `" + diag::shown(path) + "` tells a fact")
        .expect(quoted.empty() ? "a file: this platform has no installer with a directory"
                               : "one of " + base::join(quoted, ", "))
        .suggest("name the files themselves, or the directory that the installer was given");
  }
  return out;
}

Source answered(const std::string& command, const yaml::Node& answer) {
  Source out{command, {}, {}, {}};
  add(answer, diag::kNoOrigin, out, nullptr, out.documents);
  return out;
}

}  // namespace gpuctl::facts
