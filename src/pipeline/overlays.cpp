#include "pipeline/overlays.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "base/file.hpp"
#include "pipeline/codes.hpp"

namespace gpuctl::pipeline {

namespace {

constexpr int kMostKnowledgeDepth = 8;
// Many times what is built in; what is given by mistake, such as a home directory, ends here.
constexpr std::size_t kMostKnowledgeFiles = 10'000;
constexpr std::size_t kMostKnowledgeBytes = 64 * 1024 * 1024;

// Collects the `.yaml` files of a directory as overlays.
class Collector {
 public:
  Collector(std::vector<catalog::Overlay>& out, diag::Sink& sink) : out_(out), sink_(sink) {}

  // False when nothing more is worth reading. `prefix` is the folder that the files are laid over.
  bool collect(const std::string& directory, const std::string& prefix, int depth) {
    const auto listed = base::list_directory(directory);
    if (const auto* error = std::get_if<base::FileError>(&listed)) {
      unreadable("the directory `" + error->path + "`", error->text);
      return true;
    }
    for (const std::string& name : std::get<std::vector<std::string>>(listed)) {
      const std::string path = directory + "/" + name;
      struct stat info {};
      const bool known = ::stat(path.c_str(), &info) == 0;
      if (known && S_ISDIR(info.st_mode)) {
        if (depth == kMostKnowledgeDepth) {
          unreadable("the directory `" + path + "`",
                     "is over " + std::to_string(kMostKnowledgeDepth) + " folders deep")
              .suggest(
                  "give the directory that holds only providers or templates; a link in it "
                  "may lead back to it");
          return false;  // with links that lead back there is no end to it
        }
        if (!collect(path, prefix + "/" + name, depth + 1)) return false;
      } else if (name.ends_with(".yaml") && !add(path, prefix + "/" + name)) {
        return false;
      }
    }
    return true;
  }

 private:
  bool add(const std::string& path, const std::string& covers) {
    auto content = base::read_file(path, kMostKnowledgeBytes - bytes_);
    if (const auto* error = std::get_if<base::FileError>(&content)) {
      if (error->code == EFBIG) return too_much(path);
      unreadable("`" + path + "`", error->text);
      return true;
    }
    auto& text = std::get<std::string>(content);
    bytes_ += text.size();
    out_.push_back({covers, path, std::move(text)});
    return out_.size() <= kMostKnowledgeFiles || too_much(path);
  }

  bool too_much(const std::string& path) {
    unreadable("`" + path + "`", "with it the knowledge is over " +
                                     std::to_string(kMostKnowledgeFiles) + " files or " +
                                     std::to_string(kMostKnowledgeBytes) + " bytes")
        .suggest("give the directory that holds only providers or templates");
    return false;
  }

  diag::Diagnostic& unreadable(const std::string& what, const std::string& why) {
    return sink_.error(kUnreadable, diag::kNoOrigin, "cannot read " + what + ": " + why);
  }

  std::vector<catalog::Overlay>& out_;
  diag::Sink& sink_;
  std::size_t bytes_ = 0;
};

}  // namespace

std::vector<catalog::Overlay> read_overlays(const std::string& providers,
                                            const std::string& templates, diag::Sink& sink) {
  std::vector<catalog::Overlay> overlays;
  Collector collector(overlays, sink);
  if (!providers.empty()) collector.collect(providers, "providers", 0);
  if (!templates.empty()) collector.collect(templates, "templates", 0);
  return overlays;
}

}  // namespace gpuctl::pipeline
