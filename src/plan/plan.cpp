#include "plan/plan.hpp"

#include <algorithm>

#include "base/digest.hpp"
#include "plan/codes.hpp"

namespace gpuctl::plan {

ClusterFiles assemble(const render::Rendered& rendered, const std::string& stage,
                      const std::string& name, Lock lock) {
  ClusterFiles out;
  out.directory = "clusters/" + stage + "/" + name;
  for (const render::Document& document : rendered.documents) {
    std::string content = render::bytes(document);
    lock.files[document.path] = {base::sha256_hex(content),
                                 document.made_by == nullptr ? "" : document.made_by->path,
                                 document.pool, document.leaving, document.encrypted};
    out.files[document.path] = std::move(content);
  }
  out.files[std::string(kLockFile)] = write_lock(lock, name);
  return out;
}

namespace {

// Managed files that would vanish only because a fact is missing: one finding a template.
void report_waiting(const std::map<const render::Withheld*, std::vector<std::string>>& waiting,
                    const std::string& directory, diag::Sink& sink) {
  std::map<std::string, std::pair<const render::Withheld*, std::vector<std::string>>> by_name;
  for (const auto& [item, paths] : waiting) {
    auto& entry = by_name[item->template_name + " " + item->fact];
    entry.first = item;
    entry.second.insert(entry.second.end(), paths.begin(), paths.end());
  }
  for (const auto& [name, entry] : by_name) {
    const auto& [item, paths] = entry;
    std::string message = "`" + directory + "/" + paths.front() + "`";
    if (paths.size() > 1) message += " and " + std::to_string(paths.size() - 1) + " more";
    message += paths.size() == 1 ? " exists" : " exist";
    sink.error(kWithheldManaged, diag::kNoOrigin,
               message + ", but would be withheld now: the fact `" + item->fact + "` is missing")
        .note("withheld is not removed: nothing is written while a file in use waits for a fact")
        .suggest(item->obtain.empty() ? "give the facts with `--facts FILE`"
                                      : "restore the fact: " + item->obtain);
  }
}

// What the lock lists and nobody wants any more.
void add_removals(const ClusterFiles& wanted, const Lock& old, const Present& present,
                  const std::vector<render::Withheld>& withheld, const Options& options,
                  std::vector<Change>& changes, diag::Sink& sink) {
  std::map<const render::Withheld*, std::vector<std::string>> waiting;
  for (const auto& [path, lock] : old.files) {
    if (wanted.files.contains(path)) continue;
    const auto waits = std::find_if(
        withheld.begin(), withheld.end(),
        [&made_by = lock.made_by](const auto& item) { return item.template_name == made_by; });
    if (waits != withheld.end()) {
      waiting[&*waits].push_back(path);
      continue;
    }
    const std::optional<std::string> there = present.read(path);
    if (!there) continue;
    if (!options.take_over && base::sha256_hex(*there) != lock.sha256) {
      sink.error(
              kEdited, diag::kNoOrigin,
              "`" + wanted.directory + "/" + path + "` is no longer wanted, but was edited by hand")
          .suggest("remove it yourself, or give `--take-over`");
      continue;
    }
    changes.push_back({Change::Kind::remove, path});
  }
  report_waiting(waiting, wanted.directory, sink);
}

}  // namespace

std::vector<Change> compare(const ClusterFiles& wanted, const Lock* old, const Present& present,
                            const std::vector<render::Withheld>& withheld, const Options& options,
                            diag::Sink& sink) {
  std::vector<Change> changes;
  const auto locked = [&](const std::string& path) -> const LockedFile* {
    if (old == nullptr) return nullptr;
    const auto found = old->files.find(path);
    return found == old->files.end() ? nullptr : &found->second;
  };
  const auto full = [&](const std::string& path) { return wanted.directory + "/" + path; };
  for (const auto& [path, content] : wanted.files) {
    if (present.same(path, content)) continue;
    const std::optional<std::string> there = present.read(path);
    if (!there) {
      changes.push_back({Change::Kind::create, path});
      continue;
    }
    const LockedFile* lock = locked(path);
    const bool is_lock = path == kLockFile;
    if (!is_lock && !options.take_over) {
      if (lock == nullptr) {
        sink.error(kForeign, diag::kNoOrigin, "`" + full(path) + "` is in the way and not ours")
            .expect("no file, or one that the lock lists")
            .suggest("move the file away, or give `--take-over` to overwrite it");
        continue;
      }
      if (base::sha256_hex(*there) != lock->sha256) {
        sink.error(kEdited, diag::kNoOrigin, "`" + full(path) + "` was edited by hand")
            .suggest(
                "make the change in the blueprint (a field, or `overrides`), or give "
                "`--take-over` to overwrite the file");
        continue;
      }
    }
    changes.push_back({Change::Kind::update, path});
  }
  if (old != nullptr) add_removals(wanted, *old, present, withheld, options, changes, sink);
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.path < b.path; });
  return changes;
}

std::string summary(const std::vector<Change>& changes) {
  if (changes.empty()) return "no change";
  std::string out;
  const auto count = [&](Change::Kind kind, const char* verb) {
    const auto number = std::count_if(changes.begin(), changes.end(),
                                      [&](const Change& change) { return change.kind == kind; });
    if (number == 0) return;
    out += (out.empty() ? "" : ", ") + std::to_string(number) + " " + verb;
  };
  count(Change::Kind::create, "created");
  count(Change::Kind::update, "updated");
  count(Change::Kind::remove, "removed");
  return out;
}

}  // namespace gpuctl::plan
