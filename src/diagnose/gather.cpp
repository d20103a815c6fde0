#include "diagnose/gather.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "base/file.hpp"
#include "base/text.hpp"
#include "diag/character.hpp"
#include "diagnose/codes.hpp"
#include "diagnose/log_scan.hpp"
#include "secrets/decode.hpp"
#include "yaml/json.hpp"
#include "yaml/read.hpp"

namespace gpuctl::diagnose {

namespace {

constexpr std::size_t kMostFiles = 200'000;  // in a directory
constexpr int kMostDepth = 24;
constexpr std::size_t kMostObjectBytes = std::size_t{64} << 20U;  // of a file of objects
constexpr std::size_t kLooked = 4096;                             // bytes by which a file is known

bool ends_with_any(std::string_view name, std::initializer_list<std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(),
                     [&](std::string_view end) { return name.ends_with(end); });
}

bool is_manifest(std::string_view name) {
  return ends_with_any(name, {".yaml", ".yml", ".json"});
}

yaml::ReadLimits limits() {
  yaml::ReadLimits out = yaml::kubectl_limits();
  out.bytes = kMostObjectBytes;
  out.nodes = 8'000'000;
  out.scalar_bytes = kMostObjectBytes;
  return out;
}

// Whether a text without a telling name may hold objects.
bool looks_like_objects(std::string_view text) {
  const std::string_view head = text.substr(0, kLooked);
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  const bool json = head[first] == '{';
  const bool yaml = head.starts_with("apiVersion:") || head.starts_with("---\napiVersion:") ||
                    head.starts_with("kind:");
  return yaml || (json && head.find("\"apiVersion\"") != std::string_view::npos);
}

class Gatherer {
 public:
  Gatherer(const Chain& chain, Evidence& evidence, std::string_view unreadable,
           yaml::Context context)
      : chain_(chain), evidence_(evidence), unreadable_(unreadable), context_(context) {}

  void add(const std::string& path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
      directory(path);
    } else {
      named_file(path);
    }
  }

 private:
  using Content = std::variant<std::string, base::FileError>;

  void warn(std::string_view code, const std::string& path, const std::string& what) {
    context_.sink.warning(code, diag::kNoOrigin, "`" + diag::shown(path) + "` " + what);
  }

  // A file that the user named: it counts whatever its name is.
  void named_file(const std::string& path) {
    Content content = base::read_file(path, kMostObjectBytes);
    if (const auto* error = std::get_if<base::FileError>(&content)) {
      if (error->code == EFBIG) {
        loose_log(path);
        return;
      }
      context_.sink.error(unreadable_, diag::kNoOrigin,
                          "cannot read `" + diag::shown(path) + "`: " + error->text);
      return;
    }
    const std::string& text = std::get<std::string>(content);
    if (!secrets::is_gzip(text) && is_binary(text)) {
      warn(kNotText, path, "is no text, and was not read");
      return;
    }
    const bool manifest = is_manifest(path) || looks_like_objects(text);
    // What cannot be understood, or is cut off, may still say what is wrong.
    if (!manifest || !objects(path, text)) loose_log(path);
  }

  void loose_log(const std::string& path) {
    Log log;
    log.name = log.path = path;
    log.loose = true;
    for (const Layout& layout : chain_.layouts()) {
      for (const PathPattern& pattern : layout.logs) {
        if (const auto parts = pattern.match(path)) {
          pod_log(path, *parts);
          return;
        }
      }
    }
    evidence_.logs.push_back(std::move(log));
  }

  void pod_log(const std::string& path, const PathPattern::Parts& parts) {
    const auto part = [&](std::string_view name) {
      const auto found = parts.find(name);
      return found == parts.end() ? std::string() : found->second;
    };
    evidence_.logs.push_back(
        {path, path, {}, part("namespace"), part("pod"), part("container"), false});
  }

  // False when it cannot be understood.
  bool objects(const std::string& path, const std::string& text) {
    if (path.ends_with(".json") || text.starts_with('{')) {
      std::string why;
      const std::optional<yaml::Node> tree = yaml::read_json(text, context_.arena, why);
      if (!tree) {
        warn(kUnreadPart, path, why);
        return false;
      }
      evidence_.add(*tree, path, context_.arena);
      return true;
    }
    const diag::FileId file = context_.sources.add_file(path, text);
    diag::Sink found;
    const auto documents = yaml::read_all(file, context_.sources, context_.arena, found, limits());
    if (!documents) {
      const std::vector<diag::Diagnostic> sorted = found.sorted(context_.sources);
      const std::string place =
          sorted.empty() ? path : context_.sources.place(sorted.front().primary.at);
      warn(kUnreadPart, place.empty() ? path : place,
           "cannot be used: " + (sorted.empty() ? "it is no YAML" : sorted.front().message));
      return false;
    }
    for (const yaml::Node& document : *documents) evidence_.add(document, path, context_.arena);
    return true;
  }

  void object_file(const std::string& path) {
    const Content content = base::read_file(path, kMostObjectBytes);
    if (const auto* error = std::get_if<base::FileError>(&content)) {
      warn(error->code == EFBIG ? kCutShort : kUnreadPart, path, "was not read: " + error->text);
      return;
    }
    const std::string& text = std::get<std::string>(content);
    // A program that gathers leaves empty files where it failed.
    if (text.find_first_not_of(" \t\r\n") == std::string::npos) return;
    objects(path, text);
  }

  void list(const std::string& path, int depth, std::vector<std::string>& out) {
    const auto listed = base::list_directory(path);
    if (const auto* error = std::get_if<base::FileError>(&listed)) {
      warn(kUnreadPart, path, "cannot be read: " + error->text);
      return;
    }
    for (const std::string& name : std::get<std::vector<std::string>>(listed)) {
      if (out.size() >= kMostFiles) return;
      const std::string below = path + (path.ends_with('/') ? "" : "/") + name;
      struct stat info {};
      if (::lstat(below.c_str(), &info) != 0) continue;
      if (S_ISDIR(info.st_mode)) {
        if (depth < kMostDepth) {
          list(below, depth + 1, out);
        } else {
          warn(kCutShort, below, "is too deep, and was not read");
        }
      } else if (S_ISREG(info.st_mode)) {  // a link of others may lead anywhere
        out.push_back(below);
      }
    }
  }

  bool by_layout(const std::string& file) {
    const auto any = [&](const std::vector<PathPattern>& patterns) {
      return std::any_of(patterns.begin(), patterns.end(),
                         [&](const PathPattern& one) { return one.match(file).has_value(); });
    };
    for (const Layout& layout : chain_.layouts()) {
      for (const Layout::None& none : layout.none) {
        if (!none.file.match(file)) continue;
        evidence_.set_known(none.kind);
        return true;
      }
      if (any(layout.objects)) {
        object_file(file);
        return true;
      }
      if (any(layout.texts)) {
        evidence_.logs.push_back({file, file, {}, {}, {}, {}, true});
        return true;
      }
      for (const PathPattern& pattern : layout.logs) {
        if (const auto parts = pattern.match(file)) {
          pod_log(file, *parts);
          return true;
        }
      }
    }
    return false;
  }

  void directory(const std::string& path) {
    std::vector<std::string> files;
    list(path, 0, files);
    if (files.size() >= kMostFiles) {
      warn(kCutShort, path,
           "has over " + std::to_string(kMostFiles) + " files; others are left out");
    }
    bool known = false;
    for (const std::string& file : files) known = by_layout(file) || known;
    if (known) return;
    for (const std::string& file : files) {
      if (is_manifest(file)) {
        object_file(file);
      } else if (ends_with_any(file, {".log", ".txt", ".log.gz"})) {
        loose_log(file);
      }
    }
  }

  const Chain& chain_;
  Evidence& evidence_;
  std::string_view unreadable_;
  yaml::Context context_;
};

}  // namespace

void gather(const std::vector<std::string>& paths, const Chain& chain, Evidence& evidence,
            std::string_view unreadable, yaml::Context context) {
  Gatherer gatherer(chain, evidence, unreadable, context);
  for (const std::string& path : paths) gatherer.add(path);
}

}  // namespace gpuctl::diagnose
