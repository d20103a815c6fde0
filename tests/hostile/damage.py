"""Repositories that are damaged, forged inside of .git, or none at all: refused with the branch where
it was, or worked with so that nothing of others is lost."""

import os
import pathlib
import shutil

from repository import OURS, applies, change, declines, others, prepare
from scene import CLUSTER, blueprint, difference, snapshot, sound, tree_of


def objects_of(scene):
    """What lies on the way of an apply: name -> object id."""
    names = {"commit": "HEAD", "root tree": "HEAD^{tree}", "clusters tree": "HEAD:clusters",
             "cluster tree": f"HEAD:{CLUSTER}", "layers tree": f"HEAD:{OURS}layers",
             "lock blob": f"HEAD:{OURS}gpuctl.lock", "other tree": "HEAD:deep",
             "other blob": "HEAD:README.md", "edited blob": f"HEAD:{OURS}cluster.yaml"}
    return {name: scene.git("rev-parse", what).strip() for name, what in names.items()}


def damage(path, how):
    content = path.read_bytes() if path.exists() else b""
    path.chmod(0o644)
    if how == "missing":
        path.unlink()
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "cut off":
        path.write_bytes(content[:len(content) // 2])
    elif how == "flipped":
        middle = len(content) // 2
        path.write_bytes(content[:middle] + bytes([content[middle] ^ 0x40]) + content[middle + 1:])
    elif how == "noise":
        path.write_bytes(bytes(range(256)) * 4)
    elif how == "directory":
        path.unlink()
        path.mkdir()


def check_damage(scene, what, how):
    """After damage a run makes a commit that keeps what is known of others, or refuses."""
    repo = prepare(scene)
    change(scene)
    oid = objects_of(scene)[what]
    before = scene.git("rev-parse", "refs/heads/main")
    known = others(tree_of(scene)) if what not in ("commit", "root tree", "clusters tree") else None
    roots = scene.git("cat-file", "-p", "HEAD^{tree}").splitlines()
    damage(repo / ".git/objects" / oid[:2] / oid[2:], how)
    done = scene.run("apply", "lab.yaml", "--repo", repo)
    name = f"{what} {how}"
    scene.sane(done, name)
    after = scene.git("rev-parse", "refs/heads/main", good=False)
    if done.code == 0:
        scene.check(known is not None, f"{name}: a commit was made on it")
        # Entries of the root but for clusters must be the same; read without going into them.
        rows = scene.git("cat-file", "-p", "refs/heads/main^{tree}").splitlines()
        missing = [row for row in roots if not row.endswith("\tclusters") and row not in rows]
        scene.check(not missing, f"{name}: dropped {missing}")
        near = scene.git("ls-tree", "-r", "refs/heads/main", "clusters").splitlines()
        scene.check(any("prod/other/x.yaml" in row for row in near), f"{name}: dropped a cluster")
    else:
        scene.complained(done, name, codes=["GPU0505", "GPU0501", "GPU0506", "GPU0508", "GPU0612"])
        scene.check(after == before, f"{name}: the branch moved")


def check_broken_file(scene, name, content):
    """Files of the repository itself, broken: refused, or worked with correctly."""
    repo = prepare(scene)
    tip = scene.git("rev-parse", "refs/heads/main").strip()
    known = others(tree_of(scene))
    change(scene)
    path = repo / ".git" / name
    kept = path.read_bytes() if path.is_file() else None
    if path.is_dir():
        shutil.rmtree(path)
    elif path.exists():
        path.unlink()
    if content is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    what = f".git/{name} = {str(content)[:30]}"
    done = scene.run("apply", "lab.yaml", "--repo", repo)
    scene.sane(done, what)
    if done.code != 0:
        scene.complained(done, what)
        if kept is not None and name != "refs/heads/main":
            path.write_bytes(kept)
            scene.check(scene.git("rev-parse", "refs/heads/main").strip() == tip,
                        f"{what}: the branch moved")
        return
    branch = "refs/heads/main"
    if name == "HEAD":
        (repo / ".git/HEAD").write_text("ref: refs/heads/main\n")
    elif name == "shallow":
        path.unlink()  # git itself works with nothing but a good one
    new = scene.git("rev-parse", branch).strip()
    scene.check(new == tip or others(tree_of(scene, branch)) == known,
                f"{what}: files of others were dropped")


def check_links_in_git(scene, name):
    """Inside of .git a link out of it must not carry a write to its target."""
    repo = prepare(scene)
    change(scene)
    outside = scene.folder / "outside"
    outside.mkdir()
    path = repo / ".git" / name
    kept = outside / "kept"
    if path.is_dir():
        shutil.move(str(path), str(kept))
    else:
        kept.write_bytes(path.read_bytes() if path.exists() else b"precious\n")
        if path.exists():
            path.unlink()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(kept)
    before = snapshot(outside)
    done = scene.run("apply", "lab.yaml", "--repo", repo)
    what = f".git/{name} is a link"
    scene.sane(done, what)
    scene.complained(done, what, codes=["GPU0501", "GPU0503", "GPU0506"], names=[name])
    changes = difference(before, snapshot(outside))
    scene.check(not changes, f"{what}: {changes}\n{done.text}")
    path.unlink()
    if kept.is_dir():
        shutil.move(str(kept), str(path))
    elif name in ("HEAD", "index", "refs/heads/main", "config"):
        shutil.copy(kept, path)
    applies(scene, f"{what} no more")


def check_no_repository(scene, kind):
    scene.good()
    repo = scene.folder / "repo"
    codes = ["GPU0501", "GPU0505", "GPU0503"]
    if kind == "file":
        repo.write_text("mine\n")
    elif kind == "full directory":
        (repo / "mine").mkdir(parents=True)
    elif kind == "link":
        (scene.folder / "real").mkdir()
        repo.symlink_to("real")
    elif kind == "dangling link":
        repo.symlink_to("nowhere")
    elif kind == "loop":
        repo.symlink_to("repo")
    elif kind == "fifo":
        os.mkfifo(repo)
    elif kind == "below a file":
        repo.write_text("mine\n")
        repo = repo / "below"
    elif kind == "inside of .git":
        prepare(scene)
        change(scene)
        repo = repo / ".git/refs"
    elif kind == "gitfile to nowhere":
        repo.mkdir()
        (repo / ".git").write_text("gitdir: ../nowhere\n")
    elif kind == "gitfile of noise":
        repo.mkdir()
        (repo / ".git").write_bytes(b"\xff" * 5000)
    elif kind == "empty .git":
        (repo / ".git").mkdir(parents=True)
    elif kind == "subdirectory":
        prepare(scene)
        change(scene)
        repo = repo / "deep"
    elif kind == "read-only parent":
        repo.mkdir()
        repo.chmod(0o555)
        repo, codes = repo / "below", ["GPU0506"]
    elif kind == "proc":
        if not pathlib.Path("/proc/self").exists():
            return scene.skip("no /proc here")
        repo, codes = pathlib.Path("/proc/gpuctl-repo"), ["GPU0506"]
    elif kind == "remote helper":
        repo, codes = "ext::sh -c touch% x", ["GPU0512"]
    elif kind == "empty name":
        repo = ""
    return declines(scene, kind, repo=repo, codes=codes, nobody=kind == "read-only parent")


def check_created_only_when_good(scene):
    """No repository, and no folder for it, comes of a run that fails."""
    scene.write("lab.yaml", blueprint(frob=1))
    for repo in ("new/deep/repo", "new/bare.git"):
        declines(scene, "not meant", repo=repo, codes=["GPU0535"])
        declines(scene, "blueprint", "--init", repo=repo, codes=["GPU0201"])
    scene.good()
    for repo in ("new/deep/repo", "new/bare.git"):
        done = scene.refused("date", "apply", "lab.yaml", "--init", "--repo", repo, codes=["GPU0510"],
                             env={"GIT_AUTHOR_DATE": "yesterday"}, times=False)
        scene.check("nothing was committed" in done.text, done.text)
        scene.refused("branch", "apply", "lab.yaml", "--init", "--repo", repo, "--branch", "a..b",
                      codes=["GPU0508"])
    (scene.work / "here").mkdir()
    scene.refused("date", "apply", "lab.yaml", "--repo", "here", codes=["GPU0510"],
                  env={"GIT_COMMITTER_DATE": "x"}, times=False)
    for repo in ("new/deep/repo", "new/bare.git", "here"):
        scene.accepted("good", "apply", "lab.yaml", "--init", "--repo", repo)
        scene.nothing_temporary(scene.work / repo, repo)
        sound(scene, repo, scene.work / repo)


NO_REPOSITORIES = ("file", "full directory", "link", "dangling link", "loop", "fifo",
                   "below a file", "inside of .git", "gitfile to nowhere", "gitfile of noise",
                   "empty .git", "subdirectory", "read-only parent", "proc",
                   "remote helper", "empty name")
ZERO = b"0" * 40 + b"\n"
BROKEN_FILES = [
    ("HEAD", b""), ("HEAD", b"ref: refs/heads/../../x\n"), ("HEAD", b"ref: /etc/passwd\n"),
    ("HEAD", b"garbage"), ("HEAD", None), ("HEAD", ZERO), ("HEAD", b"ref: refs/tags/x\n"),
    ("HEAD", b"ref: HEAD\n"), ("refs/heads/main", b""), ("refs/heads/main", b"garbage\n"),
    ("refs/heads/main", ZERO), ("refs/heads/main", b"1" * 40 + b"\n"),
    ("refs/heads/main", b"ref: refs/heads/main\n"), ("refs/heads/main", b"ref: refs/heads/x\n"),
    ("packed-refs", b"garbage\n"), ("packed-refs", b"\xff" * 300), ("config", b"[core\n"),
    ("config", b""), ("config", b"[core]\n\trepositoryformatversion = 99\n"),
    ("config", b"[core]\n\trepositoryformatversion = 1\n[extensions]\n\tfuture = true\n"),
    ("config", b"[core]\n\tbare = banana\n"), ("config", b"[core]\n\tworktree = /\n"),
    ("config", b"\xff\xfe" * 100), ("index", b"garbage"), ("index", b""), ("index", None),
    ("objects", None), ("refs", None), ("commondir", b"../../nowhere\n"), ("shallow", b"garbage\n"),
    ("shallow", ZERO), ("objects/info/alternates", b"/nowhere\n"),
    ("objects/info/alternates", b"\xff\n../objects\n"), ("info/attributes", b"\xff" * 100_000),
    ("logs/HEAD", b"garbage"), ("logs/refs/heads/main", b"garbage"),
]


def cases(full):
    for what in ("commit", "root tree", "clusters tree", "cluster tree", "layers tree", "lock blob",
                 "other tree", "other blob", "edited blob"):
        for how in ("missing", "empty", "cut off", "flipped", "noise", "directory"):
            if full or how in ("missing", "empty", "flipped"):
                yield f"damage: {what} {how}", check_damage, (what, how)
    for i, (name, content) in enumerate(BROKEN_FILES):
        yield f"broken {name} {i}", check_broken_file, (name, content)
    # The configuration is only read.
    for name in ("gpuctl.lock", "HEAD", "index", "refs/heads/main", "packed-refs", "logs/HEAD",
                 "logs/refs/heads/main", "objects", "objects/pack", "refs", "refs/heads", "logs",
                 "logs/refs/heads"):
        yield f"link for .git/{name}", check_links_in_git, (name,)
    for kind in NO_REPOSITORIES:
        yield f"no repository: {kind}", check_no_repository, (kind,)
    yield "created only when good", check_created_only_when_good, ()
