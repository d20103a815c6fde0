#include "git/tree_writer.hpp"

#include <algorithm>

#include "base/path_check.hpp"
#include "base/text.hpp"
#include "git/codes.hpp"

namespace gpuctl::git {
namespace {

std::string below(std::string directory, const std::string& name) {
  if (!directory.empty()) directory += '/';
  return directory += name;
}

// True when something below `node` (not the node itself) is to be written.
bool writes_below(const ChangeNode& node) {
  return std::any_of(node.children.begin(), node.children.end(), [](const auto& child) {
    return child.second.writes() || writes_below(child.second);
  });
}

bool check_conflicts(const ChangeNode& node, const std::string& path, diag::Sink& sink) {
  if (node.writes() && writes_below(node)) {
    sink.error(kUnsafePath, diag::kNoOrigin, "`" + path + "` cannot be a file and a directory");
    return false;
  }
  for (const auto& [name, child] : node.children) {
    if (!check_conflicts(child, below(path, name), sink)) return false;
  }
  return true;
}

class TreeWriter {
 public:
  TreeWriter(git_repository* repository, diag::Sink& sink) : repository_(repository), sink_(sink) {}

  // Gives false after a diagnostic. `id` is empty when no entry is left.
  bool directory(git_tree* old_tree, const ChangeNode& node, const std::string& path,
                 std::optional<git_oid>& id) {
    Owned<git_treebuilder> builder;
    if (const int code = git_treebuilder_new(Receive(builder), repository_, old_tree); code != 0) {
      report_unread(repository_, code, "cannot read the directory `" + path + "` of the branch",
                    sink_);
      return false;
    }
    for (const auto& [name, child] : node.children) {
      if (!entry(builder.get(), old_tree, name, child, below(path, name))) return false;
    }
    if (git_treebuilder_entrycount(builder.get()) == 0) {
      id.reset();
      return true;
    }
    git_oid written{};
    if (const int code = git_treebuilder_write(&written, builder.get()); code != 0) {
      report(code, kCannotWrite, "cannot write the directory `" + path + "`", sink_);
      return false;
    }
    if (old_tree == nullptr || git_oid_equal(&written, git_tree_id(old_tree)) == 0) {
      result_.objects.push_back(written);
    }
    id = written;
    return true;
  }

  WrittenTree take() { return std::move(result_); }

 private:
  bool entry(git_treebuilder* builder, git_tree* old_tree, const std::string& name,
             const ChangeNode& node, const std::string& path) {
    const git_tree_entry* old =
        old_tree == nullptr ? nullptr : git_tree_entry_byname(old_tree, name.c_str());
    const git_filemode_t old_mode =
        old == nullptr ? GIT_FILEMODE_UNREADABLE : git_tree_entry_filemode(old);
    if (old_mode == GIT_FILEMODE_COMMIT) return inside_submodule(node, path);

    std::optional<git_oid> directory_id;
    if (!node.children.empty()) {
      const bool wanted = writes_below(node);
      if (old != nullptr && old_mode != GIT_FILEMODE_TREE) {
        if (wanted && (node.change == nullptr || node.writes())) return file_in_the_way(path);
        if (!wanted) return file(builder, old, old_mode, name, node, path);  // nothing below it
      }
      Owned<git_tree> old_directory;
      if (old_mode == GIT_FILEMODE_TREE) {
        const int code =
            git_tree_lookup(Receive(old_directory), repository_, git_tree_entry_id(old));
        if (code != 0) {
          report_unread(repository_, code, "cannot read the directory `" + path + "` of the branch",
                        sink_);
          return false;
        }
      }
      if (old_directory || wanted) {
        if (!directory(old_directory.get(), node, path, directory_id)) return false;
      }
      if (directory_id) {
        if (node.writes()) return directory_in_the_way(path);
        if (old_mode != GIT_FILEMODE_TREE) note_removed(old, old_mode, node);
        return insert(builder, name, *directory_id, GIT_FILEMODE_TREE, path);
      }
      if (old_mode == GIT_FILEMODE_TREE) {
        if (!remove(builder, name, path)) return false;
        old = nullptr;
      }
      return file(builder, old, old == nullptr ? GIT_FILEMODE_UNREADABLE : old_mode, name, node,
                  path);
    }
    if (node.change != nullptr && node.change->directory) {
      if (old != nullptr) return directory_in_the_way(path);
      git_oid id{};
      git_oid_fromstr(&id, node.change->stored.c_str());
      result_.applied.push_back({node.change, std::nullopt, id, GIT_FILEMODE_TREE});
      return insert(builder, name, id, GIT_FILEMODE_TREE, path);
    }
    if (old_mode == GIT_FILEMODE_TREE) return !node.writes() || directory_in_the_way(path);
    return file(builder, old, old_mode, name, node, path);
  }

  // The change of the node itself, where `old` is no directory.
  bool file(git_treebuilder* builder, const git_tree_entry* old, git_filemode_t old_mode,
            const std::string& name, const ChangeNode& node, const std::string& path) {
    if (node.change == nullptr) return true;
    if (!node.writes()) {
      if (old == nullptr) return true;
      note_removed(old, old_mode, node);
      return remove(builder, name, path);
    }
    const bool stored = !node.change->stored.empty();
    const std::string_view content = stored ? std::string_view() : *node.change->content;
    const git_filemode_t mode =
        old_mode == GIT_FILEMODE_BLOB_EXECUTABLE ? old_mode : GIT_FILEMODE_BLOB;
    AppliedChange applied{node.change, std::nullopt, std::nullopt, mode};
    git_oid id{};
    if (stored) git_oid_fromstr(&id, node.change->stored.c_str());
    if (old != nullptr) {
      applied.before = *git_tree_entry_id(old);
      const int code =
          stored ? 0 : git_odb_hash(&id, content.data(), content.size(), GIT_OBJECT_BLOB);
      if (code != 0) {
        report(code, kCannotWrite, "cannot hash `" + path + "`", sink_);
        return false;
      }
      if (old_mode == mode && git_oid_equal(&id, &*applied.before) != 0) return true;
    }
    const int code =
        stored ? 0 : git_blob_create_from_buffer(&id, repository_, content.data(), content.size());
    if (code != 0) {
      report(code, kCannotWrite, "cannot write the content of `" + path + "`", sink_);
      return false;
    }
    if (!stored) result_.objects.push_back(id);
    applied.after = id;
    result_.applied.push_back(applied);
    return insert(builder, name, id, mode, path);
  }

  void note_removed(const git_tree_entry* old, git_filemode_t old_mode, const ChangeNode& node) {
    if (old == nullptr || node.change == nullptr) return;
    result_.applied.push_back({node.change, *git_tree_entry_id(old), std::nullopt, old_mode});
  }

  bool insert(git_treebuilder* builder, const std::string& name, const git_oid& id,
              git_filemode_t mode, const std::string& path) {
    const int code = git_treebuilder_insert(nullptr, builder, name.c_str(), &id, mode);
    if (code != 0) report(code, kUnsafePath, "cannot put `" + path + "` into the tree", sink_);
    return code == 0;
  }

  bool remove(git_treebuilder* builder, const std::string& name, const std::string& path) {
    const int code = git_treebuilder_remove(builder, name.c_str());
    if (code != 0) report(code, kDamaged, "cannot take `" + path + "` out of the tree", sink_);
    return code == 0;
  }

  bool inside_submodule(const ChangeNode& node, const std::string& path) {
    if (!node.writes() && !writes_below(node)) return true;
    sink_.error(kUnsafePath, diag::kNoOrigin, "`" + path + "` is a submodule in the branch")
        .suggest("choose another place, or remove the submodule first");
    return false;
  }

  bool file_in_the_way(const std::string& path) {
    sink_
        .error(kUnsafePath, diag::kNoOrigin,
               "`" + path + "` is a file in the branch, and a directory is needed there")
        .suggest("move or delete the file in the branch first");
    return false;
  }

  bool directory_in_the_way(const std::string& path) {
    sink_
        .error(kUnsafePath, diag::kNoOrigin,
               "`" + path + "` is a directory in the branch, and a file is needed there")
        .suggest("move or delete the directory in the branch first");
    return false;
  }

  git_repository* repository_;
  diag::Sink& sink_;
  WrittenTree result_;
};

}  // namespace

std::optional<ChangeNode> arrange(std::span<const Change> changes, diag::Sink& sink) {
  ChangeNode root;
  const std::size_t errors = sink.error_count();
  for (const Change& change : changes) {
    const auto refuse = [&](const std::string& reason) {
      sink.error(kUnsafePath, diag::kNoOrigin, "path `" + change.path + "` " + reason);
    };
    if (const std::string reason = base::unsafe_path_reason(change.path); !reason.empty()) {
      refuse(reason);
      continue;
    }
    ChangeNode* node = &root;
    for (const std::string_view part : base::split(change.path, '/'))
      node = &node->children[std::string(part)];
    if (node->change != nullptr) refuse("is given twice");
    node->change = &change;
  }
  if (!check_conflicts(root, "", sink) || sink.error_count() != errors) return std::nullopt;
  return root;
}

std::optional<WrittenTree> write_tree(git_repository* repository, git_tree* old_tree,
                                      const ChangeNode& changes, diag::Sink& sink) {
  TreeWriter writer(repository, sink);
  std::optional<git_oid> id;
  if (!writer.directory(old_tree, changes, "", id)) return std::nullopt;
  WrittenTree result = writer.take();
  if (id) {
    result.id = *id;
    return result;
  }
  // All files are gone: the root is the empty tree, which has to exist as an object.
  Owned<git_treebuilder> empty;
  int code = git_treebuilder_new(Receive(empty), repository, nullptr);
  if (code == 0) code = git_treebuilder_write(&result.id, empty.get());
  if (code != 0) {
    report(code, kCannotWrite, "cannot write an empty tree", sink);
    return std::nullopt;
  }
  result.objects.push_back(result.id);
  return result;
}

}  // namespace gpuctl::git
