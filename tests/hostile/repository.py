"""Target repositories that are hostile, locked, dirty, unusual or somebody else's: either a correct
commit that drops nothing, or a diagnostic that changes nothing."""

import os
import re
import shutil
import subprocess

from scene import (ADDED, CHANGED, CLUSTER, NOBODY, ROOT, blueprint, difference, remove, repository_state,
                   snapshot, sound, tree_of)

OURS = CLUSTER + "/"
# Written by every run that gets as far as the repository: our own lock.
OWN_LOCK = ("repo/.git/gpuctl.lock", "repo/gpuctl.lock")


def prepare(scene, *init, first=True):
    """A repository with files of others and, unless told otherwise, a first apply."""
    repo = scene.folder / "repo"
    scene.good()
    subprocess.run(["git", "init", "-q", "-b", "main", *init, str(repo)], check=True,
                   env=scene.env, capture_output=True)
    if "--bare" in init:
        source = scene.folder / "source"
        subprocess.run(["git", "init", "-q", "-b", "main", str(source)], check=True, env=scene.env)
        fill(scene, source)
        scene.git("push", "-q", str(repo), "main", at=source)
        remove(source)
    else:
        fill(scene, repo)
    if first:
        scene.accepted("first apply", "apply", "lab.yaml", "--repo", repo)
    return repo


def fill(scene, repo):
    """Files of other people, of every kind that a tree knows."""
    for name, text in (("README.md", "mine\n"), ("clusters/README.md", "mine\n"),
                       ("clusters/prod/other/x.yaml", "a: b\n"), ("deep/er/file", "x\n"),
                       ("clusters/prod/labs/x", "near\n")):
        path = repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (repo / "run.sh").write_text("#!/bin/sh\n")
    (repo / "run.sh").chmod(0o755)
    (repo / "link").symlink_to("README.md")
    scene.git("add", "-A", at=repo)
    scene.git("commit", "-qm", "others", at=repo)


def change(scene):
    """The next apply has something to create, update and remove."""
    scene.write("lab.yaml", blueprint(gpuPools=CHANGED))


def others(tree):
    """What is of others; the attributes are written with the first commit."""
    return {path: row for path, row in tree.items()
            if not path.startswith(OURS) and path != "clusters/.gitattributes"}


def applies(scene, what, *words, repo=None, branch="main", expected=0):
    """A run that has to commit: one commit, on the old tip, all files of others as they were."""
    repo = repo or scene.folder / "repo"
    old = scene.git("rev-parse", "-q", "--verify", f"refs/heads/{branch}", at=repo, good=False)
    before = others(tree_of(scene, f"refs/heads/{branch}", repo)) if old else {}
    done = scene.accepted(what, "apply", "lab.yaml", "--repo", repo, *words)
    if done.code != 0:
        return done
    new = scene.git("rev-parse", f"refs/heads/{branch}", at=repo)
    scene.check(new != old, f"{what}: no commit\n{done.text}")
    parents = scene.git("rev-list", "--parents", "-n1", new.strip(), at=repo).split()[1:]
    scene.check(parents == ([old.strip()] if old else []), f"{what}: parents {parents}")
    tree = tree_of(scene, f"refs/heads/{branch}", repo)
    changes = difference(before, others(tree))
    scene.check(not changes, f"{what}: files of others: {changes}")
    scene.check(f"{OURS}gpuctl.lock" in tree, f"{what}: not all files are there")
    sound(scene, what, repo)
    return done


def declines(scene, what, *words, repo=None, codes=None, names=(), **more):
    """A run that must leave everything as it is."""
    return scene.refused(what, "apply", "lab.yaml", "--repo",
                         scene.folder / "repo" if repo is None else repo, *words, codes=codes, names=names, **more)


def locked_aside(scene):
    """Makes our own lock file now, so that snapshots do not see it appear."""
    for name in OWN_LOCK:
        path = scene.folder / name
        if path.parent.is_dir() and (path.parent / "HEAD").exists() and not path.exists():
            path.touch()


# Configuration, hooks and filters

def check_hooks(scene, bare):
    """Nothing that the repository brings is run, and nothing it configures redirects us."""
    repo = prepare(scene, *(["--bare"] if bare else []), first=False)
    git = repo if bare else repo / ".git"
    proof = scene.folder / "it-ran"
    script = scene.folder / "run-me"
    script.write_text(f"#!/bin/sh\ntouch {proof}\ncat\n")
    script.chmod(0o755)
    hooks = git / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("pre-commit", "commit-msg", "prepare-commit-msg", "post-commit", "pre-push",
                 "reference-transaction", "post-index-change", "pre-receive", "update",
                 "post-receive", "post-update", "fsmonitor-watchman", "post-checkout",
                 "pre-auto-gc", "proc-receive", "post-rewrite", "applypatch-msg"):
        shutil.copy(script, hooks / name)
    shutil.copytree(hooks, scene.folder / "other-hooks")
    decoy = scene.folder / "decoy"
    subprocess.run(["git", "init", "-q", "--bare", str(decoy)], check=True, env=scene.env)
    (scene.folder / "included").write_text(
        f"[core]\n\tfsmonitor = {script}\n[user]\n\tname = Included\n")
    with open(git / "config", "a", encoding="ascii") as config:
        config.write(f"""
[core]
\tfsmonitor = {script}
\thooksPath = {scene.folder}/other-hooks
\tsshCommand = {script}
\teditor = {script}
\tpager = {script}
\taskPass = {script}
\tgitProxy = {script}
\talternateRefsCommand = {script}
\tautocrlf = true
\tattributesFile = {scene.folder}/attributes
[include]
\tpath = {scene.folder}/included
[includeIf "gitdir:**"]
\tpath = {scene.folder}/included
[filter "evil"]
\tclean = {script}
\tsmudge = {script}
\tprocess = {script}
\trequired = true
[diff]
\texternal = {script}
[diff "evil"]
\ttextconv = {script}
[merge "evil"]
\tdriver = {script}
[gpg]
\tprogram = {script}
[commit]
\tgpgSign = true
[credential]
\thelper = !{script}
[url "{decoy}"]
\tinsteadOf = {repo}
\tpushInsteadOf = {repo}
[remote "origin"]
\turl = {decoy}
\treceivepack = {script}
\tuploadpack = {script}
[http]
\tproxy = http://127.0.0.1:1/
[uploadpack]
\tpackObjectsHook = {script}
[alias]
\tcommit = !{script}
[gc]
\tauto = 1
""")
    attributes = "* filter=evil diff=evil merge=evil text eol=crlf ident working-tree-encoding=UTF-16\n"
    (scene.folder / "attributes").write_text(attributes)
    (git / "info").mkdir(exist_ok=True)
    (git / "info/attributes").write_text(attributes)
    before = snapshot(decoy)
    # It may want commits to be signed, but not say by which program.
    done = scene.run("apply", "lab.yaml", "--repo", repo)
    scene.check("GPU0511" in done.text and done.code == 1, f"signed: {done.text}")
    scene.check(not proof.exists(), "a program of the repository signed")
    config = (git / "config").read_text(encoding="ascii")
    (git / "config").write_text(config.replace("gpgSign = true", "gpgSign = false"))
    done = scene.run("apply", "lab.yaml", "--repo", repo)
    scene.sane(done, "hooks")
    scene.check(done.code == 0, f"hooks: {done.text}")
    scene.check(not proof.exists(), "something of the repository was run")
    scene.check(not difference(before, snapshot(decoy)), "it went to another repository")
    for name in ("hooks", "config"):
        path = git / name
        subprocess.run(["rm", "-rf", str(path)], check=True)
    (git / "config").write_text(f"[core]\n\tbare = {'true' if bare else 'false'}\n"
                                "\trepositoryformatversion = 0\n")
    (git / "info/attributes").unlink()
    tree = tree_of(scene)
    scene.check(f"{OURS}gpuctl.lock" in tree, "nothing was committed")
    content = scene.git("cat-file", "blob", f"HEAD:{OURS}cluster.yaml")
    scene.check("\r" not in content and content.startswith("name: lab\n"),
                f"a filter changed the content: {content[:40]!r}")
    sound(scene, "hooks")


def check_environment(scene):
    """Variables that tell git where things are do not move ours; a trace goes nowhere."""
    repo = prepare(scene)
    change(scene)
    decoy = scene.folder / "decoy"
    subprocess.run(["git", "init", "-q", str(decoy)], check=True, env=scene.env)
    before = snapshot(decoy)
    env = {"GIT_DIR": f"{decoy}/.git", "GIT_WORK_TREE": str(decoy),
           "GIT_INDEX_FILE": f"{decoy}/index", "GIT_OBJECT_DIRECTORY": f"{decoy}/objects",
           "GIT_ALTERNATE_OBJECT_DIRECTORIES": f"{decoy}/.git/objects", "GIT_NAMESPACE": "other",
           "GIT_COMMON_DIR": f"{decoy}/.git", "GIT_CEILING_DIRECTORIES": str(scene.folder),
           "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.worktree",
           "GIT_CONFIG_VALUE_0": str(decoy), "GIT_TRACE": f"{decoy}/trace",
           "GIT_SSH_COMMAND": f"touch {decoy}/ssh", "GIT_EDITOR": f"touch {decoy}/editor"}
    done = scene.run("apply", "lab.yaml", "--repo", repo, env=env)
    scene.check(done.code == 0, f"environment: {done.text}")
    changes = difference(before, snapshot(decoy))
    scene.check(not changes, f"another repository was touched: {changes}")
    scene.check(scene.git("rev-list", "--count", "HEAD").strip() == "3", "no commit was made")
    sound(scene, "environment")


# Owners and locks

def check_owner(scene, bare):
    """A repository of somebody else is refused, with the way to trust it."""
    if not ROOT:
        return scene.skip("no right to give a repository to another user")
    repo = prepare(scene, *(["--bare"] if bare else []))
    change(scene)
    subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", str(repo)], check=True)
    done = declines(scene, "foreign", codes=["GPU0502"], names=["safe.directory"])
    command = re.search(r"git config --global --add safe\.directory (\S+)`", done.text)
    if scene.check(command, "no command that helps"):
        subprocess.run(["git", "config", "--global", "--add", "safe.directory", command[1]],
                       check=True, env=scene.env)
        scene.accepted("trusted", "apply", "lab.yaml", "--repo", repo)
    return None


def check_lock_file(scene, name, waits):
    """A lock file of another program is named, with its age, and stays."""
    repo = prepare(scene)
    change(scene)
    path = repo / ".git" / name
    path.write_text("held\n")
    os.utime(path, (1_700_000_000, 1_700_000_000))
    if not waits:
        applies(scene, name)
        scene.check(path.read_text() == "held\n", f"{name} was touched")
        return
    before = snapshot(scene.folder, ignored=OWN_LOCK, times=False)
    done = scene.run("apply", "lab.yaml", "--repo", repo)
    scene.complained(done, name, codes=["GPU0504"], names=[path.name, "days old"])
    changes = difference(before, snapshot(scene.folder, ignored=OWN_LOCK, times=False))
    scene.check(not changes, f"{name}: {changes}")
    path.unlink()
    applies(scene, f"{name} gone")


# Work trees

def check_dirty(scene, kind):
    """What the user has in the work tree stays, whatever it is; the commit is complete."""
    repo = prepare(scene)
    change(scene)
    mine = {}

    def put(name, text):
        path = repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        mine[name] = text

    ours = f"{OURS}layers/40-gpu/kustomization.yaml"
    if kind == "other files changed":
        put("README.md", "changed\n")
        put("untracked", "x\n")
        put("deep/er/untracked", "x\n")
    elif kind == "other files staged":
        put("README.md", "staged\n")
        put("new", "staged\n")
        scene.git("add", "-A")
    elif kind == "ours changed":
        put(f"{OURS}cluster.yaml", "mine\n")
    elif kind == "ours staged":
        put(f"{OURS}cluster.yaml", "mine\n")
        scene.git("add", "-A")
    elif kind == "ours deleted":
        (repo / ours).unlink()
    elif kind == "untracked in the way":
        put(f"{OURS}{ADDED}", "mine\n")
    elif kind == "untracked in our folder":
        put(f"{OURS}layers/40-gpu/mine.yaml", "mine\n")
    elif kind == "directory in the way":
        put(f"{OURS}{ADDED}/mine", "mine\n")
    elif kind == "link in the way":
        shutil.rmtree(repo / OURS / "layers")
        outside = scene.folder / "outside"
        outside.mkdir()
        (repo / OURS / "layers").symlink_to(outside)
    elif kind == "link for the folder":
        outside = scene.folder / "outside"
        shutil.move(str(repo / "clusters"), str(outside))
        (repo / "clusters").symlink_to(outside)
    elif kind == "renamed by case":
        (repo / OURS / "Cluster.yaml").write_bytes((repo / OURS / "cluster.yaml").read_bytes())
        (repo / OURS / "cluster.yaml").unlink()
    elif kind == "sparse":
        scene.git("sparse-checkout", "set", "--no-cone", "/README.md", good=False)
    elif kind == "no index":
        (repo / ".git/index").unlink()
    elif kind == "work tree gone":
        for name in os.listdir(repo):
            if name != ".git":
                path = repo / name
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    outside = scene.folder / "outside"
    kept = snapshot(outside) if outside.is_dir() else None
    applies(scene, kind)
    for name, text in mine.items():
        scene.check((repo / name).read_text() == text, f"{kind}: {name} was overwritten")
    if kept is not None:
        scene.check(kept == snapshot(outside), f"{kind}: written through the link")
    status = scene.git("status", "--porcelain", good=False)
    if kind in ("other files changed", "other files staged", "untracked in our folder"):
        strange = [line for line in status.splitlines() if line[3:].startswith(OURS)
                   and not line.endswith("mine.yaml")]
        scene.check(not strange, f"{kind}: {strange[:3]}")


def check_refused_by_system(scene, kind):
    """A work tree that cannot be written: the commit is made, the run fails and says what is left
    to do, and the next one does it."""
    if not ROOT:
        return scene.skip("no other user to run as")
    repo = prepare(scene)
    change(scene)
    subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", str(repo), str(scene.home)], check=True)
    place = repo / OURS
    if kind == "directory":
        place.chmod(0o555)
    elif kind == "unreadable file":
        (place / "cluster.yaml").chmod(0)
        (place / "gpuctl.lock").chmod(0)
    words = ("apply", "lab.yaml", "--repo", repo)
    old = scene.git("-c", "safe.directory=*", "rev-parse", "main")
    done = scene.run(*words, nobody=True)
    scene.check(done.code == 1 and "GPU0530" in done.text and "Permission denied" in done.text and
                "run gpuctl again" in done.text, f"{kind}: {done.code}: {done.text}")
    scene.check(b"committed " in done.stdout, f"{kind}: does not say what it has committed")
    scene.check("nothing was committed" not in done.text, f"{kind}: says it has not committed")
    new = scene.git("-c", "safe.directory=*", "rev-parse", "main")
    scene.check(new != old, f"{kind}: no commit")
    again = scene.run(*words, nobody=True)
    scene.complained(again, f"{kind}, again", codes=["GPU0530"], names=["Permission denied"])
    subprocess.run(["chmod", "-R", "u+rwX", str(place)], check=True)
    done = scene.accepted(f"{kind} gone", *words, nobody=True)
    scene.check("GPU0529" in done.text and b"no change" in done.stdout, f"{kind}: {done.text}")
    subprocess.run(["chown", "-R", "0:0", str(repo)], check=True)
    scene.check(scene.git("rev-parse", "main") == new, f"{kind}: another commit")
    scene.check(not scene.git("status", "--porcelain"), scene.git("status", "--porcelain"))
    return None


def check_line_endings(scene):
    """A clone that converts line endings: its files are not changed by the user."""
    repo = prepare(scene)
    scene.git("config", "core.autocrlf", "true")
    subprocess.run(["rm", "-rf", str(repo / "clusters"), str(repo / ".git/index")], check=True)
    scene.git("reset", "-q", "--hard")
    ours = repo / OURS / "cluster.yaml"
    scene.check(b"\r\n" in ours.read_bytes(), "no line ending was converted")
    change(scene)
    done = applies(scene, "autocrlf")
    scene.check("GPU0509" not in done.text, done.text)
    scene.check(not scene.git("status", "--porcelain"), scene.git("status", "--porcelain"))


# Somebody else at work on the branch

def check_in_work(scene, kind):
    """As `git branch --force` does, a run leaves a branch alone that somebody has checked out
    elsewhere, or rebases, bisects, merges; another branch goes all the same."""
    repo = prepare(scene)
    scene.git("branch", "side", "HEAD~1")
    side = scene.folder / "side"
    words, code, target = [], "GPU0532", repo
    if kind in ("linked work tree", "linked, locked and gone"):
        scene.git("worktree", "add", "-q", str(side), "side")
        words, code = ["--branch", "side"], "GPU0531"
        if kind != "linked work tree":
            scene.git("worktree", "lock", str(side))
            shutil.rmtree(side)
    elif kind == "main work tree":
        scene.git("worktree", "add", "-q", str(side), "side")
        words, code, target = ["--branch", "main"], "GPU0531", side
    elif kind == "work tree of a bare repository":
        bare = scene.folder / "bare.git"
        scene.git("clone", "-q", "--bare", str(repo), str(bare))
        scene.git("worktree", "add", "-q", str(side), "side", at=bare)
        words, code, target = ["--branch", "side"], "GPU0531", bare
    elif kind in ("rebase", "rebase, on its branch", "rebase elsewhere", "rebase with updated refs"):
        at = repo
        if kind == "rebase elsewhere":
            scene.git("worktree", "add", "-q", str(side), "side")
            scene.git("switch", "-q", "--detach")
            scene.git("switch", "-q", "main", at=side)
            at = side
        (at / "README.md").write_text("rebased\n")
        scene.git("commit", "-qam", "mine", at=at)
        if kind == "rebase with updated refs":
            scene.git("branch", "lower", at=at)
            (at / "README.md").write_text("more\n")
            scene.git("commit", "-qam", "more", at=at)
        scene.git("-c", "sequence.editor=sed -i 1ibreak", "rebase", "-q", "-i", "--update-refs",
                  "HEAD~1" if kind != "rebase with updated refs" else "HEAD~2", at=at, good=False)
        words = [] if kind == "rebase" else ["--branch", "main"]
        code = "GPU0503" if kind == "rebase" else "GPU0532"
        if kind == "rebase with updated refs":
            words = ["--branch", "lower"]
    elif kind == "bisect":
        scene.git("bisect", "start", "main", "HEAD~1")
        words = ["--branch", "main"]
    elif kind in ("merge", "cherry-pick", "revert", "am"):
        scene.git("switch", "-q", "side")
        (repo / "README.md").write_text("side\n")
        scene.git("commit", "-qam", "side")
        scene.git("switch", "-q", "main")
        (repo / "README.md").write_text("main\n")
        scene.git("commit", "-qam", "main")
        (repo / "README.md").write_text("later\n")
        scene.git("commit", "-qam", "later")
        patch = scene.git("format-patch", "-1", "--stdout", "side")
        given = {"merge": ["merge", "side"], "cherry-pick": ["cherry-pick", "side"],
                 "revert": ["revert", "--no-edit", "HEAD~1"], "am": ["am", "-3"]}[kind]
        scene.git(*given, good=False, given=patch.encode() if kind == "am" else None)
    if kind in ("bisect", "merge", "cherry-pick", "am"):
        scene.accepted(f"{kind}: nothing to do", "apply", "lab.yaml", "--repo", repo, "--branch",
                       "main")
    change(scene)
    state = repository_state(scene), scene.git("status", "--porcelain")
    done = scene.run("apply", "lab.yaml", "--repo", target, *words)
    named = {"GPU0531": ["--repo", "--branch"], "GPU0503": ["rebase", "--branch"]}
    scene.complained(done, kind, codes=[code],
                     names=named.get(code, [kind.split()[0].strip(","), "git -C", "--branch"]))
    scene.check(state == (repository_state(scene), scene.git("status", "--porcelain")),
                f"{kind}: not as it was")
    done = scene.accepted(f"{kind}: another branch", "apply", "lab.yaml", "--repo", target,
                          "--branch", "free")
    tree = tree_of(scene, "free", target)
    scene.check("README.md" in tree and f"{OURS}gpuctl.lock" in tree, f"{kind}: files are gone")
    sound(scene, kind, target)


def check_gone_work_tree(scene):
    """One that was deleted without a word to Git is nobody's."""
    repo = prepare(scene)
    scene.git("worktree", "add", "-q", "-b", "side", str(scene.folder / "side"))
    shutil.rmtree(scene.folder / "side")
    change(scene)
    applies(scene, "gone", "--branch", "side", repo=repo, branch="side")


def check_edited_in_branch(scene, kind):
    """A file of ours that somebody committed a change to stops the run."""
    repo = prepare(scene)
    path = repo / OURS / "cluster.yaml"
    if kind == "edited":
        path.write_text(path.read_text() + "# mine\n")
    elif kind == "link":
        path.unlink()
        path.symlink_to("../../../README.md")
    elif kind == "directory":
        path.unlink()
        path.mkdir()
        (path / "x").write_text("x")
    elif kind == "folder is a file":
        shutil.rmtree(repo / OURS / "layers")
        (repo / OURS / "layers").write_text("mine\n")
    elif kind == "folder is a link":
        shutil.move(str(repo / OURS / "layers"), str(repo / "moved"))
        (repo / OURS / "layers").symlink_to("../../../moved")
    elif kind == "submodule":
        shutil.rmtree(repo / OURS / "layers")
        scene.git("rm", "-rq", "--cached", OURS + "layers")
        scene.git("update-index", "--add", "--cacheinfo",
                  "160000," + scene.git("rev-parse", "HEAD").strip() + f",{OURS}layers")
    if kind != "submodule":
        scene.git("add", "-A")
    scene.git("commit", "-qm", kind)
    scene.write("lab.yaml", blueprint(
        gpuPools=[{"name": "gpu", "instanceType": "g5.2xlarge", "replicas": 2}],
        baseDomain="other.example.com"))
    locked_aside(scene)
    refs = repository_state(scene)
    done = scene.run("apply", "lab.yaml", "--repo", repo, "--allow", "node-reboot")
    scene.complained(done, kind, codes=["GPU0612", "GPU0508", "GPU0613"])
    scene.check(refs == repository_state(scene), f"{kind}: a branch moved")
    sound(scene, kind)


# Forms of repositories

def check_form(scene, kind):
    repo = scene.folder / "repo"
    if kind in ("bare", "shared bare", "sha256 bare"):
        init = {"bare": ["--bare"], "shared bare": ["--bare", "--shared=group"],
                "sha256 bare": ["--bare", "--object-format=sha256"]}[kind]
    else:
        init = {"sha256": ["--object-format=sha256"], "separate": ["--separate-git-dir",
                str(scene.folder / "elsewhere")], "template": ["--template="]}.get(kind, [])
    if kind.startswith("sha256"):
        scene.good()
        subprocess.run(["git", "init", "-q", *init, str(repo)], check=True, env=scene.env)
        return declines(scene, kind, codes=["GPU0503"], names=["sha256"])
    if kind == "shared bare":
        scene.good()
        subprocess.run(["git", "init", "-q", *init, str(repo)], check=True, env=scene.env)
        return declines(scene, kind, codes=["GPU0503"])
    prepare(scene, *init, first=False)
    if kind == "empty":
        shutil.rmtree(repo)
        subprocess.run(["git", "init", "-q", "-b", "trunk", str(repo)], check=True, env=scene.env)
        return applies(scene, kind, branch="trunk")
    if kind == "detached":
        applies(scene, "before")
        scene.git("checkout", "-q", "--detach", "HEAD~1")
        change(scene)
        head = scene.git("rev-parse", "HEAD")
        status = scene.git("status", "--porcelain")
        locked_aside(scene)
        declines(scene, kind, codes=["GPU0503"], names=["--branch"])
        applies(scene, kind, "--branch", "main")
        scene.check(scene.git("rev-parse", "HEAD") == head, "a detached HEAD moved")
        return scene.check(scene.git("status", "--porcelain") == status, "the work tree changed")
    if kind == "unborn HEAD beside others":
        scene.git("symbolic-ref", "HEAD", "refs/heads/nowhere")
        main = scene.git("rev-parse", "refs/heads/main")
        done = scene.run("apply", "lab.yaml", "--repo", repo)
        scene.sane(done, kind)
        scene.check(scene.git("rev-parse", "refs/heads/main") == main, f"{kind}: main moved")
        if done.code == 0:
            scene.check(scene.git("rev-list", "--count", "nowhere").strip() == "1", kind)
        return sound(scene, kind)
    if kind == "packed":
        applies(scene, "before")
        change(scene)
        scene.git("gc", "-q", "--prune=now")
        scene.git("pack-refs", "--all", "--prune")
    elif kind == "shallow":
        scene.git("commit", "-q", "--allow-empty", "-m", "second")
        clone = scene.folder / "clone"
        subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{repo}", str(clone)],
                       check=True, env=scene.env)
        return applies(scene, kind, repo=clone)
    elif kind == "partial":
        applies(scene, "before")
        clone = scene.folder / "clone"
        scene.git("config", "uploadpack.allowFilter", "true")
        subprocess.run(["git", "clone", "-q", "--filter=blob:none", "--no-checkout",
                        f"file://{repo}", str(clone)], check=True, env=scene.env)
        change(scene)
        before = scene.git("rev-parse", "HEAD", at=clone)
        done = scene.run("apply", "lab.yaml", "--repo", clone)
        scene.complained(done, kind, codes=["GPU0533"], names=["partial clone", "origin"])
        scene.check(scene.git("rev-parse", "HEAD", at=clone) == before, kind)
        command = re.search(r"`git -C (\S+) (fetch [^`]*)`", done.text)
        if scene.check(command, f"{kind}: no command that helps"):
            scene.git(*command[2].split(), at=command[1])
            applies(scene, kind, repo=clone)
        return None
    elif kind == "alternates":
        clone = scene.folder / "clone"
        subprocess.run(["git", "clone", "-q", "--shared", str(repo), str(clone)], check=True,
                       env=scene.env)
        before = snapshot(repo)
        applies(scene, kind, repo=clone)
        return scene.check(before == snapshot(repo), f"{kind}: the other repository was changed")
    elif kind == "linked work tree":
        scene.git("worktree", "add", "-q", "-b", "side", str(scene.folder / "side"))
        main = scene.git("rev-parse", "main")
        done = scene.run("apply", "lab.yaml", "--repo", scene.folder / "side")
        scene.sane(done, kind)
        scene.check(scene.git("rev-parse", "main") == main, f"{kind}: the wrong branch moved")
        if done.code == 0:
            tree = tree_of(scene, "side")
            scene.check(f"{OURS}gpuctl.lock" in tree and others(tree) == tree_of(scene, "main"),
                        f"{kind}: not on its branch")
        return sound(scene, kind)
    elif kind == "branch checked out elsewhere":
        applies(scene, "before")
        change(scene)
        scene.git("worktree", "add", "-q", "-b", "side", str(scene.folder / "side"))
    elif kind == "grafts":
        (repo / ".git/info").mkdir(exist_ok=True)
        (repo / ".git/info/grafts").write_text(scene.git("rev-parse", "HEAD"))
    elif kind == "replaced objects":
        scene.git("commit", "-q", "--allow-empty", "-m", "second")
        scene.git("replace", "--graft", "HEAD")
    elif kind == "submodule of others":
        scene.git("update-index", "--add", "--cacheinfo",
                  "160000," + scene.git("rev-parse", "HEAD").strip() + ",vendor/sub")
        scene.git("commit", "-qm", "submodule")
    elif kind == "hostile names in the tree":
        hostile_tree(scene)
        scene.git("symbolic-ref", "HEAD", "refs/heads/main")
        before = scene.git("cat-file", "-p", "main^{tree}")
        done = scene.run("apply", "lab.yaml", "--repo", repo)
        scene.sane(done, kind)
        if done.code == 0:
            after = scene.git("cat-file", "-p", "main^{tree}")
            missing = [row for row in before.splitlines()
                       if "clusters" not in row and row not in after.splitlines()]
            scene.check(not missing, f"{kind}: dropped {missing[:3]}")
        else:
            scene.complained(done, kind)
        return scene.check(not (scene.folder / "escaped").exists(), f"{kind}: escaped")
    return applies(scene, kind)


def hostile_tree(scene):
    """A branch whose root tree has entries that no checkout should make."""
    blob = scene.git("hash-object", "-w", "--stdin", given=b"evil\n").strip()
    rows = b""
    for name in (b".GIT", b"..", b".git", b"a\\b", b"git~1"):
        rows += b"100644 " + name + b"\0" + bytes.fromhex(blob)
    clusters = scene.git("rev-parse", "HEAD:clusters").strip()
    rows += b"40000 clusters\0" + bytes.fromhex(clusters)
    entries = sorted(rows_of(rows), key=lambda row: row[1] + (b"/" if row[0] == b"40000" else b""))
    raw = b"".join(mode + b" " + name + b"\0" + oid for mode, name, oid in entries)
    tree = scene.git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", given=raw).strip()
    commit = scene.git("commit-tree", "-m", "evil", tree).strip()
    scene.git("update-ref", "refs/heads/main", commit)


def rows_of(raw):
    at, rows = 0, []
    while at < len(raw):
        zero = raw.index(b"\0", at)
        mode, name = raw[at:zero].split(b" ", 1)
        rows.append((mode, name, raw[zero + 1:zero + 21]))
        at = zero + 21
    return rows


KINDS = ("other files changed", "other files staged", "ours changed", "ours staged", "ours deleted",
         "untracked in the way", "untracked in our folder", "directory in the way",
         "link in the way", "link for the folder", "renamed by case", "sparse", "no index",
         "work tree gone")
FORMS = ("plain", "bare", "shared bare", "sha256", "sha256 bare", "separate", "template", "empty",
         "detached", "unborn HEAD beside others", "packed", "shallow", "partial", "alternates",
         "linked work tree", "branch checked out elsewhere", "grafts", "replaced objects",
         "submodule of others", "hostile names in the tree")


def cases(full):
    for bare in (False, True):
        yield f"hooks, filters and configuration, bare {bare}", check_hooks, (bare,)
        yield f"somebody else's, bare {bare}", check_owner, (bare,)
    yield "environment", check_environment, ()
    for name, waits in (("index.lock", True), ("HEAD.lock", True), ("refs/heads/main.lock", True),
                        ("config.lock", False), ("gc.pid", False), ("shallow.lock", False)):
        yield f"lock file {name}", check_lock_file, (name, waits)
    for kind in KINDS:
        yield f"work tree: {kind}", check_dirty, (kind,)
    for kind in ("directory", "unreadable file"):
        yield f"work tree, no access: {kind}", check_refused_by_system, (kind,)
    yield "work tree: line endings", check_line_endings, ()
    for kind in ("linked work tree", "linked, locked and gone", "main work tree",
                 "work tree of a bare repository", "rebase", "rebase, on its branch",
                 "rebase elsewhere", "rebase with updated refs", "bisect", "merge", "cherry-pick",
                 "revert", "am"):
        yield f"at work: {kind}", check_in_work, (kind,)
    yield "at work: nobody", check_gone_work_tree, ()
    for kind in ("edited", "link", "directory", "folder is a file", "folder is a link",
                 "submodule"):
        yield f"in the branch: {kind}", check_edited_in_branch, (kind,)
    for kind in FORMS:
        yield f"form: {kind}", check_form, (kind,)
