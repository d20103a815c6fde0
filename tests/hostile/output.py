"""Directories that cannot be written, links at every place of the output, full disks, readers and
attackers at the same time, file modes."""

import contextlib
import ctypes
import hashlib
import os
import pathlib
import stat
import subprocess
import threading
import time

from scene import CHANGED, CLUSTER, NOBODY, ROOT, blueprint, difference, remove, snapshot
from support.program import read_tree

LAYER = f"{CLUSTER}/layers/40-gpu"
FILE = f"{CLUSTER}/cluster.yaml"


def larger(scene):
    """A change of the blueprint that changes, adds and removes files."""
    return scene.write("lab.yaml", blueprint(gpuPools=CHANGED))


def render(scene, *more):
    return scene.run("render", "lab.yaml", "-o", "out", *more)


def check_bad_output(scene, kind):
    scene.good()
    out = scene.work / "out"
    word = "out"
    if kind == "file":
        out.write_text("mine")
    elif kind == "below a file":
        out.write_text("mine")
        word = "out/below/deeper"
    elif kind == "dangling":
        out.symlink_to("nowhere")
    elif kind == "below a dangling link":
        out.symlink_to("nowhere")
        word = "out/below"
    elif kind == "loop":
        out.symlink_to("out")
    elif kind == "fifo":
        os.mkfifo(out)
    elif kind == "device":
        out.symlink_to("/dev/null")
    elif kind == "proc":
        if not pathlib.Path("/proc/self").exists():
            return scene.skip("no /proc here")
        word = "/proc/gpuctl"
    elif kind == "nul device below":
        word = "/dev/null/x"
    elif kind == "read-only":
        out.mkdir()
        out.chmod(0o555)
    elif kind == "not searchable":
        out.mkdir()
        out.chmod(0o600)
    elif kind == "parent read-only":
        (scene.work / "up").mkdir(mode=0o555)
        word = "up/out"
    elif kind == "too long":
        word = "x" * 300
    elif kind == "too deep":
        word = "/".join(["y" * 200] * 30)
    for option in (["-o"], ["--install-dir"], ["-o", "fine", "--install-dir"]):
        scene.refused(f"{option[-1]} {kind}", "render", "lab.yaml", *option, word,
                      codes=["GPU0003"], times=len(option) == 1, nobody=kind in ("read-only", "not searchable",
                                                         "parent read-only"))


def check_failure_makes_nothing(scene):
    """An error of any stage leaves no directory behind, and a good run afterwards works."""
    made = blueprint(frob=1)
    scene.write("lab.yaml", made)
    scene.refused("schema", "render", "lab.yaml", "-o", "new/deep/out", codes=["GPU0201"])
    scene.good(gpuPools=[{"name": "gpu", "instanceType": "g5.huge", "replicas": 1}])
    scene.refused("rule", "render", "lab.yaml", "-o", "new/out", "--install-dir", "new/private")
    scene.good(access={"pullSecret": {"env": "NOT_SET"}})
    scene.refused("secret", "render", "lab.yaml", "-o", "new/out", "--install-dir", "new/private",
                  codes=["GPU0605"])
    scene.good()
    (scene.work / "private").mkdir(mode=0o755)
    scene.refused("open private directory", "render", "lab.yaml", "-o", "new/out", "--install-dir",
                  "private", codes=["GPU0003"])
    scene.accepted("then", "render", "lab.yaml", "-o", "new/deep/out")
    scene.nothing_temporary(scene.work, "render")


def first_target(scene, kind):
    """What a link in the output points to: something of value outside of it."""
    outside = scene.folder / "outside"
    outside.mkdir(exist_ok=True)
    (outside / "precious").write_text("precious\n")
    (outside / "gpu").mkdir(exist_ok=True)
    return {"directory": outside, "file": outside / "precious", "dangling": outside / "not-there",
            "etc": pathlib.Path("/etc"), "relative": pathlib.Path("../../../../outside"),
            "self": pathlib.Path("."), "root": pathlib.Path("/")}.get(kind)


def check_link(scene, place, kind, first):
    """A link where a directory or file of the output should be, before the first or second run."""
    scene.good()
    out = scene.work / "out"
    if not first:
        scene.accepted("before", "render", "lab.yaml", "-o", "out")
        larger(scene)
    path = out / place
    if path.is_dir():
        remove(path)
    elif path.exists():
        path.unlink()
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "loop":
        path.symlink_to(path.name)
    elif kind == "real directory":
        (path / "mine").mkdir(parents=True)
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "file":
        path.write_text("mine\n")
    else:
        path.symlink_to(first_target(scene, kind))
    for words in ([], ["--take-over"]):
        what = f"{kind} at {place}, {'first' if first else 'second'} run {words}"
        before = snapshot(scene.folder)
        done = render(scene, *words)
        # A plain file in the way may be taken over where a file is wanted.
        if words and kind == "file" and path.suffix == ".yaml":
            scene.check(done.code == 0, f"{what}: {done.text}")
            continue
        scene.complained(done, what, codes=["GPU0003", "GPU0602", "GPU0611", "GPU0612", "GPU0613"])
        changes = difference(before, snapshot(scene.folder))
        scene.check(not changes, f"{what}: {changes}\n{done.text}")
    if kind not in ("file", "real directory") or path.suffix == ".lock":
        return
    # The way out that the message names.
    remove(path)
    scene.accepted("moved away", "render", "lab.yaml", "-o", "out")


def check_link_as_root(scene):
    """The output directory itself may be a link: the user named it."""
    scene.good()
    (scene.work / "real").mkdir()
    (scene.work / "out").symlink_to("real")
    scene.accepted("link as output", "render", "lab.yaml", "-o", "out")
    scene.check((scene.work / "real" / FILE).is_file(), "nothing was written")
    scene.check((scene.work / "out").is_symlink(), "the link was replaced")


def exchange(first, second):
    """Swaps two names in one step."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(-100, str(first).encode(), -100, str(second).encode(), 2) != 0:
        raise OSError(ctypes.get_errno(), "renameat2")


def check_race(scene, place, swaps, target):
    """While gpuctl renders, a directory of its output turns into a link and back, over and over."""
    scene.good()
    out, outside = scene.work / "out", scene.folder / "outside"
    scene.accepted("before", "render", "lab.yaml", "-o", "out")
    # The same folders, so that whoever follows the link finds all it looks for.
    subprocess.run(["cp", "-a", str(out / place), str(outside)], check=True)
    for path in outside.rglob("*"):
        if path.is_file():
            path.write_text("precious\n")
    before = snapshot(outside)
    spare = (out / place).parent / "spare"
    spare.symlink_to(outside if target == "absolute" else os.path.relpath(outside, spare.parent))
    counted, ended = [0], threading.Event()

    def attack():
        while not ended.is_set():
            with contextlib.suppress(OSError):
                exchange(out / place, spare)
                counted[0] += 1
            if counted[0] % 7 == 0:
                time.sleep(0.0002)

    attacker = threading.Thread(target=attack)
    attacker.start()
    runs, wanted, refused = 0, [larger, lambda scene: scene.good()], 0
    deadline = time.monotonic() + 20
    try:
        while (counted[0] < swaps or runs < 12) and time.monotonic() < deadline:
            wanted[runs % 2](scene)
            done = render(scene, "--take-over")
            scene.sane(done, f"run {runs}")
            if done.code != 0:
                refused += 1
                scene.check("GPU0003" in done.text or "GPU061" in done.text, done.text)
            runs += 1
    finally:
        ended.set()
        attacker.join()
    changes = difference(before, snapshot(outside))
    scene.check(not changes, f"written through a link: {changes}")
    scene.check(counted[0] >= swaps, f"only {counted[0]} swaps in {runs} runs")
    if (out / place).is_symlink():
        exchange(out / place, spare)
    spare.unlink()
    scene.good()
    scene.accepted("afterwards", "render", "lab.yaml", "-o", "out", "--take-over")


def check_readers(scene, runs):
    """Whoever reads a file during renders sees all of its old or all of its new content."""
    scene.good()
    scene.accepted("one", "render", "lab.yaml", "-o", "out")
    cluster = scene.work / "out" / CLUSTER
    one = read_tree(cluster)
    larger(scene)
    scene.accepted("two", "render", "lab.yaml", "-o", "out")
    two = read_tree(cluster)
    both = sorted(path for path in one if path in two and one[path] != two[path])
    scene.check(len(both) >= 2, f"only {both} change")
    torn, reads, ended = [], [0], threading.Event()

    def read():
        while not ended.is_set():
            for path in both:
                try:
                    content = (cluster / path).read_bytes()
                except FileNotFoundError:
                    torn.append(f"{path} was gone")
                    continue
                reads[0] += 1
                if content not in (one[path], two[path]):
                    torn.append(f"{path}: {len(content)} bytes")

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for i in range(runs):
            (scene.good if i % 2 == 0 else lambda: larger(scene))()
            scene.accepted(f"run {i}", "render", "lab.yaml", "-o", "out")
    finally:
        ended.set()
        reader.join()
    scene.check(not torn, f"{len(torn)} of {reads[0]} reads: {torn[:3]}")
    scene.check(reads[0] > 20 * runs, f"only {reads[0]} reads")


def check_modes(scene, mask):
    """Nothing is writable by others, secrets are private, whatever the umask."""
    scene.good()
    scene.accepted("render", "render", "lab.yaml", "-o", "out", "--install-dir", "private",
                   umask=mask)
    scene.accepted("apply", "apply", "lab.yaml", "--repo", "repo", umask=mask)
    plain = 0o777 & ~(mask | 0o022)
    for top, directory, file in (("out", plain, plain & 0o666), ("private", 0o700, 0o600)):
        for path in [scene.work / top, *(scene.work / top).rglob("*")]:
            mode = stat.S_IMODE(path.lstat().st_mode)
            want = directory if path.is_dir() else file
            scene.check(mode == want, f"umask {mask:o}: {path.name} is {mode:o}, not {want:o}")
    for path in (scene.work / "repo").rglob("*"):
        mode = stat.S_IMODE(path.lstat().st_mode)
        scene.check(mode & 0o022 == 0, f"umask {mask:o}: {path} is {mode:o}")


def check_size_limit(scene, limit, command):
    """Files may not grow over `limit` bytes: as a full disk, it shows in the middle of a write."""
    scene.good()
    words = ["render", "lab.yaml", "-o", "out"] if command == "render" else \
        ["apply", "lab.yaml", "--repo", "repo"]
    if command == "render":
        scene.accepted("before", *words)
        larger(scene)
    before = snapshot(scene.folder, times=False)
    done = scene.run(*words, fsize=limit)
    scene.complained(done, f"limit {limit}", codes=["GPU0003", "GPU0506"],
                     names=["File too large"])
    changes = difference(before, snapshot(scene.folder, times=False))
    scene.check(not changes, f"limit {limit}: {changes}\n{done.text}")
    scene.accepted("without limit", *words)


def check_full_disk(scene, kilobytes, command):
    """A file system of a few pages. Each size stops at another place."""
    disk = scene.folder / "disk"
    disk.mkdir()
    # Without /proc nothing could be unmounted.
    mountable = ROOT and pathlib.Path("/proc/self").exists()
    if not mountable or subprocess.run(["mount", "-t", "tmpfs", "-o",
                                        f"size={kilobytes}k,mode=755", "none", str(disk)],
                                       capture_output=True, check=False).returncode:
        return scene.skip("no right to mount a small disk; limits on file sizes stand in")
    try:
        scene.good()
        target = disk / "target"
        words = ["render", "lab.yaml", "-o", target] if command == "render" else \
            ["apply", "lab.yaml", "--repo", target]
        before = snapshot(disk, times=False)
        done = scene.run(*words)
        what = f"{command} on {kilobytes} KiB"
        if done.code == 0:
            scene.check(kilobytes > 100, f"{what}: it went well")
        elif "GPU0530" in done.text:
            # The commit is made, and the work tree left to the next run.
            scene.check(done.code == 1 and "committed" in done.text and
                        "No space left on device" in done.text, f"{what}: {done.code} {done.text}")
        else:
            scene.complained(done, what, codes=["GPU0003", "GPU0506"],
                             names=["No space left on device"])
            changes = difference(before, snapshot(disk, times=False))
            scene.check(not changes, f"{what}: {changes}\n{done.text}")
        subprocess.run(["mount", "-o", "remount,size=8m", str(disk)], check=True)
        scene.accepted(f"{what}, then with room", *words)
        if command == "apply":
            status = subprocess.run(["git", "-C", target, "status", "--porcelain"],
                                    capture_output=True, text=True, check=True).stdout
            scene.check(not status, f"{what}: git status says {status}")
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=False)


def check_full_stdout(scene):
    """Standard output that takes nothing is an error that says so; a reader who left is none."""
    scene.good()
    for words in (["render", "lab.yaml", "--stdout"], ["validate", "lab.yaml"], ["version"],
                  ["catalog", "gpus"], ["explain", "GPU0001"],
                  ["apply", "lab.yaml", "--repo", "repo"]):
        with open("/dev/full", "wb") as full:
            done = scene.run(*words, stdout=full)
        scene.sane(done, f"{words[0]} to a full disk")
        scene.check(done.code == 1 and "GPU0003" in done.text and "No space left" in done.text,
                    f"{words[0]} to a full disk: {done.code} {done.text}")
    read_end, write_end = os.pipe()
    os.close(read_end)
    with open(write_end, "wb") as gone:
        done = scene.run("render", "lab.yaml", "--stdout", stdout=gone)
    scene.check(done.code == 1 and "error" not in done.text, f"no reader: {done.code} {done.text}")


def check_foreign_files(scene):
    """Files that are not ours stay, also in folders whose last file of ours goes."""
    scene.good(extraManifests=[{"layer": "50-platform", "path": "extra.yaml"}])
    scene.write("extra.yaml", {"apiVersion": "v1", "kind": "ConfigMap",
                               "metadata": {"name": "a", "namespace": "b"}})
    scene.accepted("before", "render", "lab.yaml", "-o", "out")
    cluster = scene.work / "out" / CLUSTER
    mine = [cluster / "layers/50-platform/mine.txt", cluster / "README.md",
            scene.work / "out/clusters/prod/other/x", scene.work / "out/.git/config"]
    for path in mine:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine\n")
    scene.good()
    before = {path: (path.stat().st_mtime_ns, path.read_text()) for path in mine}
    for words in ([], ["--take-over"], ["--step", "2"]):
        scene.accepted("prune", "render", "lab.yaml", "-o", "out", *words)
        after = {path: (path.stat().st_mtime_ns, path.read_text()) for path in mine}
        scene.check(before == after, "a file of somebody else was touched")
    held = os.listdir(cluster / "layers/50-platform")
    scene.check(held == ["mine.txt"], f"left in the layer: {held}")


def check_edited_file(scene):
    """An edited file stops the run before anything is written."""
    scene.good()
    scene.accepted("before", "render", "lab.yaml", "-o", "out")
    larger(scene)
    path = scene.work / "out" / CLUSTER / "layers/40-gpu/kustomization.yaml"
    path.write_text(path.read_text() + "# mine\n")
    lone = scene.work / "out" / CLUSTER / "cluster.yaml"
    lone.write_text("# mine\n")
    scene.refused("edited", "render", "lab.yaml", "-o", "out", codes=["GPU0612"],
                  names=["cluster.yaml"])
    scene.accepted("taken over", "render", "lab.yaml", "-o", "out", "--take-over")
    scene.check("# mine" not in lone.read_text(), "not taken over")


def check_unreadable_output(scene):
    """Files of the output that cannot be read are not taken for absent."""
    scene.good()
    scene.accepted("before", "render", "lab.yaml", "-o", "out")
    if ROOT:
        subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", str(scene.work)], check=True)
    larger(scene).chmod(0o644)
    for name in ("gpuctl.lock", "cluster.yaml", "layers/40-gpu/kustomization.yaml"):
        path = scene.work / "out" / CLUSTER / name
        path.chmod(0)
        for words in ([], ["--take-over"]):
            scene.refused(f"unreadable {name}", "render", "lab.yaml", "-o", "out", *words,
                          names=[name, "Permission denied"], nobody=True)
        path.chmod(0o644)


def check_forged_lock(scene, rows, where):
    """A lock that claims files of others: they stay, with and without --take-over."""
    scene.good()
    repo = scene.folder / "repo"
    words = ["render", "lab.yaml", "-o", "out"] if where == "render" else \
        ["apply", "lab.yaml", "--repo", repo]
    scene.accepted("before", *words)
    root = scene.work / "out" if where == "render" else repo
    for name in ("precious", "clusters/precious", "clusters/prod/precious"):
        (root / name).write_text("precious\n")
    if where == "render":
        (root / ".git").mkdir()
        (root / ".git/config").write_text("precious\n")
    lock = root / CLUSTER / "gpuctl.lock"
    text = lock.read_text()
    good = text.replace("\nfiles:\n", "\nfiles:\n" + "".join(
        f"  {name}:\n    sha256: \"{digest}\"\n" for name, digest in rows))
    scene.check(good != text, "the lock has no files")
    lock.write_text(good)
    if where == "apply":
        scene.git("add", "-A")
        scene.git("commit", "-qm", "forged")
    larger(scene)
    for more in ([], ["--take-over"]):
        scene.refused(f"forged lock {rows} {more}", *words, *more, codes=["GPU0611", "GPU0104"],
                      place=f"{CLUSTER}/gpuctl.lock")


# With the digest of what the victims hold, a prune would think that it removes its own file.
DIGEST = hashlib.sha256(b"precious\n").hexdigest()


def check_broken_lock(scene, kind, where):
    """A lock or facts file in the target that is no lock or no facts stops the run."""
    name, _, how = kind.partition(": ")
    scene.good()
    repo = scene.folder / "repo"
    words = ["render", "lab.yaml", "-o", "out"] if where == "render" else \
        ["apply", "lab.yaml", "--repo", repo]
    scene.accepted("before", *words)
    root = scene.work / "out" if where == "render" else repo
    path = root / CLUSTER / name
    text = path.read_text() if path.exists() else "a: b\n"
    if path.exists():
        path.unlink()
    if how == "empty":
        path.write_text("")
    elif how == "binary":
        path.write_bytes(bytes(range(256)) * 20)
    elif how == "cut off":
        path.write_text(text[:len(text) // 2] + "\n  x")
    elif how == "huge":
        path.write_text(text + "# x\n" * (5 << 20 >> 2))
    elif how == "another kind":
        path.write_text("apiVersion: v1\nkind: ConfigMap\n")
    elif how == "conflict":
        path.write_text("<<<<<<< ours\n" + text + "=======\n" + text + ">>>>>>> theirs\n")
    elif how == "link":
        path.symlink_to("../../../../work/lab.yaml" if where == "apply" else "/etc/hostname")
    elif how == "directory":
        path.mkdir()
        (path / "x").write_text("x")
    elif how == "wrong types":
        path.write_text("apiVersion: gpuctl.dev/v1alpha1\nkind: Lock\nchoices: [1, 2]\n"
                        "files: {a: {sha256: 3}}\n" if name == "gpuctl.lock" else
                        "apiVersion: gpuctl.dev/v1alpha1\nkind: Facts\nspec: {infraID: [1]}\n")
    if where == "apply":
        scene.git("add", "-A")
        scene.git("commit", "-qm", "broken")
    larger(scene)
    scene.refused(f"{where}, {kind}", *words, names=[name])


LINKS = ("directory", "file", "dangling", "etc", "relative", "self", "root", "loop",
         "real directory", "fifo")
PLACES = ("clusters", "clusters/prod", CLUSTER, f"{CLUSTER}/layers", LAYER, FILE,
          f"{CLUSTER}/gpuctl.lock", f"{LAYER}/kustomization.yaml")
BAD_OUTPUTS = ("file", "below a file", "dangling", "below a dangling link", "loop", "fifo", "device",
               "proc", "nul device below", "read-only", "not searchable", "parent read-only",
               "too long", "too deep")
BROKEN = ("empty", "binary", "cut off", "huge", "another kind", "conflict", "link", "directory",
          "wrong types")


def cases(full):
    for kind in BAD_OUTPUTS:
        yield f"at {kind}", check_bad_output, (kind,)
    yield "failure makes nothing", check_failure_makes_nothing, ()
    for i, place in enumerate(PLACES):
        for j, kind in enumerate(LINKS):
            # A directory is what belongs into the place of a directory.
            if kind == "real directory" and "." not in place:
                continue
            for first in (True, False):
                if full or (i + j + first) % 2 == 0:
                    yield (f"{kind} at {place}, {'first' if first else 'second'} run", check_link,
                           (place, kind, first))
    yield "link as root", check_link_as_root, ()
    swaps = 10_000 if full else 700
    for place in ("clusters", CLUSTER, f"{CLUSTER}/layers", LAYER):
        yield f"race at {place}", check_race, (place, swaps, "absolute")
    yield "race with a relative link", check_race, (LAYER, swaps, "relative")
    yield "readers", check_readers, (200 if full else 30,)
    for mask in (0o000, 0o022, 0o077, 0o027):
        yield f"umask {mask:03o}", check_modes, (mask,)
    for limit in (0, 1, 300, 2000) if full else (0, 300):
        yield f"render, files up to {limit}", check_size_limit, (limit, "render")
    for limit in (0, 20, 60, 300):
        yield f"apply, files up to {limit}", check_size_limit, (limit, "apply")
    for command, sizes in (("render", (4, 16, 60, 140)), ("apply", (4, 40, 120, 300))):
        for size in sizes:
            yield f"{command}, disk of {size} KiB", check_full_disk, (size, command)
    yield "full standard output", check_full_stdout, ()
    yield "foreign files", check_foreign_files, ()
    yield "edited file", check_edited_file, ()
    yield "unreadable output", check_unreadable_output, ()
    forged = [("../../../precious", DIGEST), ("../../precious", DIGEST), ("../precious", DIGEST),
              ("/etc/hostname", DIGEST), ("../../../.git/config", DIGEST), (".git/config", DIGEST),
              ("layers/../../../../precious", DIGEST), ('"a\\nb"', DIGEST), ('""', DIGEST),
              ("layers//x", DIGEST), ("mine", "0"), ("cluster.yaml", DIGEST)]
    for where in ("render", "apply"):
        for i, row in enumerate(forged):
            yield f"{where}, forged lock {row[0]}", check_forged_lock, ([row], where)
        for name in ("gpuctl.lock", "facts.yaml"):
            for how in BROKEN:
                yield f"{where}, {name}: {how}", check_broken_lock, (f"{name}: {how}", where)
