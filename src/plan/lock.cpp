#include "plan/lock.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "base/path_check.hpp"
#include "base/text.hpp"
#include "catalog/wrapper.hpp"
#include "plan/codes.hpp"
#include "yaml/emit.hpp"
#include "yaml/read.hpp"

namespace gpuctl::plan {

namespace {
constexpr std::string_view kRestore =
    "restore the file from Git history; it says which files gpuctl may change";

bool is_sha256(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// A lock that somebody forged or damaged must not make us touch what was never ours.
bool check_row(const yaml::Entry& row, diag::Sink& sink) {
  const std::string path(row.key.as_string());
  if (const std::string reason = base::unsafe_path_reason(path); !reason.empty()) {
    sink.error(kFaultyLock, row.key.origin(), "the lock lists `" + path + "`, which " + reason)
        .expect("a path below the cluster's directory")
        .suggest(std::string(kRestore));
    return false;
  }
  const yaml::Node digest = row.value.get("sha256");
  if (is_sha256(digest.as_string())) return true;
  sink.error(kFaultyLock, digest.is_null() ? row.key.origin() : digest.origin(),
             "the lock holds no digest of `" + path + "`")
      .expect("`sha256` and 64 hexadecimal digits")
      .suggest(std::string(kRestore));
  return false;
}

// Major, minor and patch of a version; nothing for anything else.
std::optional<std::array<std::int64_t, 3>> parse_version(std::string_view text) {
  const std::vector<std::string_view> parts = base::split(text, '.');
  std::array<std::int64_t, 3> out{};
  if (parts.size() != out.size()) return std::nullopt;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::optional<std::int64_t> number = base::parse_integer(parts[i]);
    if (!number || *number < 0) return std::nullopt;
    out.at(i) = *number;
  }
  return out;
}

// A lock says whose files may be changed, and which choices are kept: neither may come from another
// cluster, nor from a program whose locks may mean more than this one knows.
bool check_owner(const yaml::Node& document, const std::string& cluster, std::string_view version,
                 diag::Sink& sink) {
  const yaml::Node name = document.get({"metadata", "name"});
  if (!name.is_null() && name.as_string() != cluster) {
    sink.error(kLockOfAnother, name.origin(), "this is the lock of another cluster")
        .label("not `" + cluster + "`")
        .expect("`metadata.name: " + cluster + "`")
        .suggest(std::string(kRestore));
    return false;
  }
  const yaml::Node tool = document.get("tool");
  if (tool.is_null()) return true;
  const auto written_by = parse_version(tool.as_string());
  const auto ours = parse_version(version);
  if (!written_by) {
    sink.error(kFaultyLock, tool.origin(), "`tool` of the lock is no version of gpuctl")
        .expect("a version such as `" + std::string(version) + "`")
        .suggest(std::string(kRestore));
    return false;
  }
  if (!ours || *written_by <= *ours) return true;
  sink.error(kNewerLock, tool.origin(), "a newer gpuctl wrote this lock")
      .label("this is gpuctl " + std::string(version))
      .expect("a lock of gpuctl " + std::string(version) + " or older")
      .suggest("use gpuctl " + std::string(tool.as_string()) +
               " or newer for this cluster; to go back on purpose, revert the commits of the newer "
               "one first");
  return false;
}

yaml::Node names_node(const derive::Names& names, yaml::Arena& arena) {
  std::vector<yaml::Entry> rows;
  for (const auto& [path, used] : names) {
    std::vector<yaml::Entry> entries;
    for (const auto& [name, what] : used) {
      std::vector<yaml::Node> pools;
      // Sorted: the order in which pools came says nothing, and two branches may differ in it.
      for (const std::string& pool : std::set<std::string>(what.pools.begin(), what.pools.end())) {
        pools.push_back(arena.string(pool));
      }
      const std::vector<yaml::Entry> parts = {arena.entry("pools", arena.list(pools)),
                                              arena.entry("value", what.value)};
      entries.push_back(arena.entry(name, arena.map(parts)));
    }
    if (!entries.empty()) rows.push_back(arena.entry(path, arena.map(entries)));
  }
  return arena.map(rows);
}

derive::Names read_names(const yaml::Node& written) {
  derive::Names out;
  for (const yaml::Entry& row : written.entries()) {
    auto& used = out[std::string(row.key.as_string())];
    for (const yaml::Entry& entry : row.value.entries()) {
      derive::Used what{entry.value.get("value"), {}};
      for (const yaml::Node& pool : entry.value.get("pools").items()) {
        what.pools.emplace_back(pool.as_string());
      }
      used.emplace(std::string(entry.key.as_string()), std::move(what));
    }
  }
  return out;
}

}  // namespace

std::string write_lock(const Lock& lock, const std::string& cluster) {
  yaml::Arena arena;
  const auto string = [&](std::string_view text) { return arena.string(text); };
  yaml::MapBuilder out;
  out.set(arena, "apiVersion", string(catalog::kApiVersion));
  out.set(arena, "kind", string("Lock"));
  yaml::MapBuilder metadata;
  metadata.set(arena, "name", string(cluster));
  out.set(arena, "metadata", metadata.build(arena));
  out.set(arena, "tool", string(lock.tool));
  out.set(arena, "catalog", string(lock.catalog));
  std::vector<yaml::Entry> choices;
  for (const derive::Choice& choice : lock.choices) {
    yaml::MapBuilder row;
    row.set(arena, "value", choice.value);
    if (!choice.because.empty()) row.set(arena, "because", string(choice.because));
    choices.push_back(arena.entry(choice.path, row.build(arena)));
  }
  out.set(arena, "choices", arena.map(choices));
  if (const yaml::Node names = names_node(lock.names, arena); names.size() != 0) {
    out.set(arena, "names", names);
  }
  std::vector<yaml::Entry> files;
  for (const auto& [path, file] : lock.files) {
    yaml::MapBuilder row;
    row.set(arena, "sha256", string(file.sha256));
    if (!file.made_by.empty()) row.set(arena, "template", string(file.made_by));
    if (!file.pool.empty()) row.set(arena, "pool", string(file.pool));
    if (file.leaving) row.set(arena, "leaving", yaml::Node::boolean(true));
    if (!file.encrypted.empty()) row.set(arena, "encrypted", string(file.encrypted));
    files.push_back(arena.entry(path, row.build(arena)));
  }
  out.set(arena, "files", arena.map(files));
  return yaml::emit(out.build(arena));
}

std::optional<Lock> read_lock(diag::FileId file, const std::string& cluster,
                              std::string_view version, yaml::Context context) {
  const std::optional<yaml::Node> document =
      yaml::read(file, context.sources, context.arena, context.sink);
  if (!document) return std::nullopt;
  if (document->get("apiVersion").as_string() != catalog::kApiVersion ||
      document->get("kind").as_string() != "Lock" || !document->get("files").is_map()) {
    const bool empty = document->origin() == diag::kNoOrigin;
    context.sink
        .error(kFaultyLock, empty ? context.sources.add_span(file, 0, 0) : document->origin(),
               "this file is no lock of gpuctl")
        .expect("`apiVersion: " + std::string(catalog::kApiVersion) + "`, `kind: Lock` and `files`")
        .suggest(std::string(kRestore));
    return std::nullopt;
  }
  Lock lock;
  lock.tool = document->get("tool").as_string();
  lock.catalog = document->get("catalog").as_string();
  for (const yaml::Entry& choice : document->get("choices").entries()) {
    lock.choices.push_back({std::string(choice.key.as_string()), choice.value.get("value"),
                            std::string(choice.value.get("because").as_string()), true});
  }
  lock.names = read_names(document->get("names"));
  bool sound = check_owner(*document, cluster, version, context.sink);
  for (const yaml::Entry& row : document->get("files").entries()) {
    sound = check_row(row, context.sink) && sound;
    lock.files[std::string(row.key.as_string())] = {
        std::string(row.value.get("sha256").as_string()),
        std::string(row.value.get("template").as_string()),
        std::string(row.value.get("pool").as_string()), row.value.get("leaving").as_boolean(),
        std::string(row.value.get("encrypted").as_string())};
  }
  if (!sound) return std::nullopt;
  return lock;
}

yaml::Node kept_choices(const Lock& lock, yaml::Arena& arena) {
  std::vector<yaml::Entry> entries;
  for (const derive::Choice& choice : lock.choices) {
    entries.push_back(arena.entry(choice.path, choice.value));
  }
  return arena.map(entries);
}

void leave_out_names(derive::Names& names, const yaml::Node& carried) {
  const auto carries = [&](const std::string& pool, const std::string& name) {
    const yaml::Node* known = carried.find(pool);
    if (known == nullptr) return true;
    const auto items = known->items();
    return std::any_of(items.begin(), items.end(),
                       [&](const yaml::Node& item) { return item.as_string() == name; });
  };
  for (auto& [path, used] : names) {
    for (auto entry = used.begin(); entry != used.end();) {
      std::erase_if(entry->second.pools,
                    [&](const std::string& pool) { return !carries(pool, entry->first); });
      entry = entry->second.pools.empty() ? used.erase(entry) : std::next(entry);
    }
  }
}

}  // namespace gpuctl::plan
