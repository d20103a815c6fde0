"""Runs killed at random moments, as the system does it (SIGKILL): the branch is at the old or at the
new commit, nothing is damaged, and the next run goes well."""

import pathlib
import random
import shutil
import signal
import tempfile
import time

import servers

CASES = 4  # for each kind, so that they run side by side


def lock_files(repository):
    """What a killed run has left to the next one: its note, and Git's lock files."""
    found = []
    for path in sorted(repository.rglob("*.lock")):
        status = path.stat()
        found.append(f"{path.name}: {path.read_bytes()!r}, changed {status.st_ctime_ns}, "
                     f"written {status.st_mtime_ns}")
    return "; ".join(found)


def killed(scene, kind, part, kills):
    scene.fill()
    if kind == "local":
        # On a disk, where syncing takes most of the time, so that locks are held for long.
        disk = pathlib.Path(scene.stack.enter_context(tempfile.TemporaryDirectory(prefix="kill-")))
        scene.fleet = disk / "local"
        url = scene.fleet
        scene.git("clone", "-q", scene.server / "fleet.git", url, at=None)
    else:
        url = servers.daemon(scene)
    chance = random.Random(f"{kind} {part}")
    expected = {}  # replicas -> id of the tree
    lengths = []
    for replicas in (2, 1, 2, 1):  # what a run takes, and what it makes
        scene.blueprint(replicas=replicas)
        done = scene.apply(url)
        scene.check(done.code == 0, f"before: {done.text}")
        lengths.append(done.seconds)
        expected[replicas] = scene.git("rev-parse", "main^{tree}").strip()
    longest = sorted(lengths)[1] * 1.2
    moved = 0
    for number in range(kills):
        replicas = 2 if expected[1] == scene.git("rev-parse", "main^{tree}").strip() else 1
        if kind != "local" and number % 5 == 4:
            shutil.rmtree(scene.cache_home)  # the first fetch of a machine is killed, too
        scene.blueprint(replicas=replicas)
        old = scene.tip()
        child = scene.start("apply", "lab.yaml", "--repo", url)
        time.sleep(chance.uniform(0, longest))
        child.send_signal(signal.SIGKILL)
        out, _ = child.communicate()
        what = f"{kind} {part}.{number}"
        scene.check(scene.wait_for(lambda: not scene.git_processes(), 10),
                    f"{what}: left running: {scene.git_processes()}")
        new = scene.tip()
        if new != old:
            moved += 1
            scene.check(scene.git("rev-parse", "main^{tree}").strip() == expected[replicas],
                        f"{what}: another tree")
            scene.check(scene.git("rev-parse", "main~1").strip() == old, f"{what}: another parent")
        elif b"pushed " in out or b"committed " in out:
            scene.check(False, f"{what}: said it was done, and it was not")
        scene.sound(what)
        left = lock_files(scene.fleet / ".git") if kind == "local" else ""
        done = scene.apply(url)
        scene.check(done.code == 0, f"{what}: next run: {done.text} ({left})")
        scene.check(scene.git("rev-parse", "main^{tree}").strip() == expected[replicas],
                    f"{what}: next run made another tree")
        if kind == "local" and new == old:
            left = [line for line in scene.git("status", "--porcelain").splitlines()
                    if "/.gpuctl-tmp-" not in line]
            scene.check(not left, f"{what}: work tree: {left[:3]}")
        if kind != "local":
            scene.sound(f"{what}: copy", at=scene.caches()[0])
    scene.check(kills < 20 or 0 < moved < kills, f"{kind}: {moved} of {kills} moved: no spread")


def cases(options):
    each = -(-options.kills // CASES)
    return [(f"{kind} {part}", killed, kind, part, each)
            for part in range(CASES) for kind in ("local", "git")]
