"""The k-th write, rename, sync, close ... fails, for every k: each run ends with a diagnostic and the
old state, or with the new one; the next run succeeds."""

import errno
import os
import stat
import subprocess

from scene import CHANGED, blueprint, difference, remove, snapshot, sound, tree_of
from support.program import read_tree

MOST_CALLS = 3000  # more of one kind than any run makes: counting would never end


def change(scene):
    """Updates, additions and removals: another size, and one extra manifest less."""
    scene.write("lab.yaml", blueprint(gpuPools=CHANGED))


def failing(scene, call, at, code, words):
    """One run with a failure; true when the run got as far as the failing call."""
    mark = scene.folder / "mark"
    mark.unlink(missing_ok=True)
    done = scene.run(*words, env={"LD_PRELOAD": str(scene.shim), "FAIL_CALL": call,
                                  "FAIL_AT": str(at), "FAIL_ERRNO": str(code),
                                  "FAIL_MARK": str(mark)})
    hit = mark.exists()
    mark.unlink(missing_ok=True)
    return done, hit


def copy(source, target):
    remove(target)
    subprocess.run(["cp", "-a", str(source), str(target)], check=True)


def content(folder, call=""):
    """Paths, kinds, modes and bytes; neither times nor inodes. Where removing fails, a directory
    that became empty may stay."""
    rows = snapshot(folder, times=False).items() if folder.exists() else ()
    return {path: (row[0], row[1], *row[5:]) for path, row in rows
            if call != "unlink" or not stat.S_ISDIR(row[0])}


def only_files(folder):
    return read_tree(folder) if folder.exists() else {}


def leftovers(folder):
    return [str(path.relative_to(folder)) for path in folder.rglob("*")
            if ".gpuctl-tmp-" in path.name or ".gpuctl-init-" in path.name]


def steps(full, stride):
    """1, 2, 3 ... for all of them, or every one at the start and then each `stride`-th."""
    at = 1
    while at < MOST_CALLS:
        yield at
        at += 1 if full or at < 8 else stride


def check_render(scene, call, code, fresh, full):
    if scene.shim is None:
        return scene.skip("no C compiler for the library that makes calls fail")
    out, private, pristine = scene.work / "out", scene.work / "private", scene.folder / "pristine"
    words = ["render", "lab.yaml", "--facts", "lab.facts.yaml", "-o", "out", "--install-dir",
             "private"]
    scene.good()
    if fresh:
        pristine.mkdir()
    else:
        scene.write("extra.yaml", {"apiVersion": "v1", "kind": "ConfigMap",
                                   "metadata": {"name": "a", "namespace": "b"}})
        scene.good(extraManifests=[{"layer": "50-platform", "path": "extra.yaml"}])
        scene.accepted("before", *words)
        copy(out, pristine)
        scene.accepted("before", *words)
        change(scene)
    kept = scene.folder / "kept-private"
    if private.exists():
        copy(private, kept)

    def restore():
        remove(out)
        remove(private)
        if not fresh:
            copy(pristine, out)
            copy(kept, private)

    scene.accepted("unharmed", *words)
    new = content(out, call), content(private, call)
    restore()
    old = content(out, call), content(private, call)
    hits = 0
    for at in steps(full, 7):
        done, hit = failing(scene, call, at, code, words)
        if not hit:
            break
        hits += 1
        what = f"{call} {at}"
        scene.sane(done, what)
        now = content(out, call), content(private, call)
        left = leftovers(out) + leftovers(private) if out.exists() else leftovers(scene.work)
        if done.code == 0:
            # A failure that needs no stop: a second name for a file, a file read for comparison, a
            # directory that became empty.
            scene.check(call in ("link", "read", "unlink"), f"{what}: went unnoticed\n{done.text}")
            scene.check(now == new, f"{what}: neither old nor new")
            scene.check(not left, f"{what}: left {left[:3]}")
        else:
            scene.complained(done, what, names=[os.strerror(code)])
            if call == "unlink":
                # What could not be removed may stay, and is named.
                kept_files = [name for name in left if os.path.basename(name) not in done.text]
                scene.check(not kept_files, f"{what}: left {kept_files[:3]}\n{done.text}")
            else:
                changes = difference(old[0], now[0]) + difference(old[1], now[1])
                scene.check(not changes, f"{what}: {changes}\n{done.text}")
        if done.code == 0 or call == "unlink" or full or at % 5 == 0:
            if call == "unlink":
                for name in left:
                    (scene.work / ("out" if (out / name).exists() else "private") / name).unlink()
            scene.accepted(f"after {what}", *words)
            scene.check((content(out, call), content(private, call)) == new, f"after {what}: not the new state")
            restore()
    never = {"link", "unlink"} if fresh else {"mkdir"}
    # A new cluster's directory gets its name in whole, and the private one each of its files.
    fewest = 0 if call in never else 2 if fresh and call == "rename" else 3
    scene.check(hits >= fewest, f"only {hits} calls of {call} failed")
    return None


def check_apply(scene, call, code, kind, full):
    if scene.shim is None:
        return scene.skip("no C compiler for the library that makes calls fail")
    name = "repo.git" if "bare" in kind else "repo"
    repo, pristine = scene.work / name, scene.folder / "pristine"
    words = ["apply", "lab.yaml", "--facts", "lab.facts.yaml", "--repo", name]
    scene.env.update({"GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
                      "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"})
    scene.good()
    fresh = kind.startswith("new")
    if not fresh:
        scene.accepted("before", *words)
        if kind == "work tree":
            (repo / "mine").write_text("mine\n")
            scene.git("add", "-A", at=repo)
            scene.git("commit", "-qm", "mine", at=repo)
        copy(repo, pristine)
        change(scene)

    def restore():
        remove(repo)
        if not fresh:
            copy(pristine, repo)

    def branch():
        return scene.git("rev-parse", "-q", "--verify", "refs/heads/main", at=repo, good=False)

    def work_tree():
        return {path: text for path, text in only_files(repo).items()
                if not path.startswith(".git/")} if kind == "work tree" else {}

    scene.accepted("unharmed", *words)
    new, new_tree = branch(), tree_of(scene, "refs/heads/main", repo)
    restore()
    old, old_files = branch() if not fresh else "", work_tree()
    hits = 0
    for at in steps(full, {"open": 11, "read": 17, "write": 13, "sync": 13, "close": 13}.get(call, 9)):
        done, hit = failing(scene, call, at, code, words)
        if not hit:
            break
        hits += 1
        what = f"{call} {at}"
        scene.sane(done, what)
        moved = repo.exists() and branch() == new
        behind = "GPU0530" in done.text  # the commit is made, and the work tree is not as it says
        if behind:
            scene.check(done.code == 1 and moved and b"committed " in done.stdout,
                        f"{what}: {done.code}: {done.text}")
            scene.check(scene.git("status", "--porcelain", at=repo) or call == "unlink",
                        f"{what}: nothing is left to do")
        elif done.code == 0:
            scene.check(moved, f"{what}: success, but the branch did not move\n{done.text}")
            scene.check(tree_of(scene, "refs/heads/main", repo) == new_tree, f"{what}: another tree")
        else:
            # libgit2 forgets why an object could not be read or a file of its own not be removed.
            told = [] if call in ("read", "unlink") else [os.strerror(code)]
            scene.complained(done, what, names=told)
            scene.check(not moved, f"{what}: failed, but the branch moved\n{done.text}")
            if fresh:
                # Removing may be what fails: an empty repository then stays, and is taken up.
                held = repo.exists() and scene.git("for-each-ref", at=repo, good=False)
                scene.check(not held and (call == "unlink" or not repo.exists()),
                            f"{what}: left a repository\n{done.text}")
            else:
                scene.check(branch() == old, f"{what}: the branch is elsewhere")
                changes = difference(old_files, work_tree())
                scene.check(not changes, f"{what}: {changes}")
            left = [name for name in leftovers(scene.work) if call != "unlink"]
            scene.check(not left, f"{what}: left {left[:3]}")
        if done.code == 0 or behind or full or at % 5 == 0:
            if repo.exists():
                sound(scene, what, repo)
                left = [path.name for path in repo.rglob("*.lock") if path.name != "gpuctl.lock"]
                scene.check(not left or call == "unlink", f"{what}: left {left}")
            for path in repo.rglob("*.lock") if call == "unlink" and repo.exists() else ():
                if path.name != "gpuctl.lock":
                    path.unlink()
            scene.accepted(f"after {what}", *words)
            scene.check(branch() == new, f"after {what}: not the new commit")
            if "bare" not in kind:
                left = scene.git("status", "--porcelain", at=repo)
                scene.check(not left, f"after {what}: work tree: {left}")
            sound(scene, f"after {what}", repo)
            restore()
    scene.check(hits or call == "link", f"no call of {call} failed")
    return None


def cases(full):
    for call in ("open", "write", "close", "rename", "mkdir", "link", "unlink", "read"):
        for fresh in (True, False):
            code = errno.EIO if call in ("close", "read") else errno.ENOSPC
            yield (f"render, {call}, {'new' if fresh else 'second'} run", check_render,
                   (call, code, fresh, full))
    for kind in ("new", "new bare", "work tree", "bare"):
        for call in ("open", "write", "sync", "close", "rename", "mkdir", "link", "unlink", "read"):
            if full or kind in ("new", "work tree") or call in ("write", "rename", "sync"):
                code = errno.EIO if call in ("close", "read", "sync") else errno.ENOSPC
                yield f"apply, {call}, {kind}", check_apply, (call, code, kind, full)
