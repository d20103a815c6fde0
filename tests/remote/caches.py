"""The local copy: private, locked, and made anew whatever is wrong with it."""

import fcntl
import os
import shutil
import stat
import subprocess
import threading

import servers

def prepare(scene):
    url = scene.fill()
    scene.accepted(scene.apply(url), "first")
    scene.blueprint(replicas=2)
    return url, scene.caches()[0]


def private(scene):
    scene.fill()
    done = scene.run("apply", "lab.yaml", "--repo", f"file://{scene.fleet}",
                     env={"XDG_CACHE_HOME": ""})
    scene.accepted(done, "default place")
    place = scene.home / ".cache/gpuctl"
    for folder in (place, place / "repositories"):
        mode = stat.S_IMODE(folder.stat().st_mode)
        scene.check(mode == 0o700, f"{folder.name} has mode {mode:o}")
    names = os.listdir(place / "repositories")
    scene.check(len(names) == 2 and all("srv-fleet-git" in name for name in names), str(names))
    place.chmod(0o777)
    done = scene.run("apply", "lab.yaml", "--repo", f"file://{scene.fleet}",
                     env={"XDG_CACHE_HOME": "relative"})
    scene.unchanged(done, "again")
    scene.check(stat.S_IMODE(place.stat().st_mode) == 0o700, "the mode stayed open")
    # Addresses that differ have copies that differ.
    scene.apply(f"file://{scene.fleet}/")
    scene.apply(f"file://{scene.fleet}")
    scene.check(len(scene.caches()) == 2, f"{scene.caches()}")


def no_place(scene, kind):
    url = scene.fill()
    if kind == "file":
        scene.cache_home.write_text("x")
    elif kind == "link":
        scene.cache_home.mkdir()
        (scene.cache_home / "gpuctl").symlink_to(scene.home)
    elif kind == "of somebody else":
        if os.geteuid() != 0:
            return scene.skip("needs root", missing=False)
        (scene.cache_home / "gpuctl").mkdir(parents=True)
        os.chown(scene.cache_home / "gpuctl", 65534, 65534)
    elif kind == "read-only":
        # Where not even root makes a directory.
        done = scene.apply(url, env={"XDG_CACHE_HOME": "", "HOME": "/sys/kernel"})
        scene.refused(done, "GPU0526", kind, ["/sys/kernel/.cache", "XDG_CACHE_HOME"])
        return scene.check("No such file" not in done.text, f"not the reason: {done.text}")
    elif kind == "nowhere":
        done = scene.apply(url, env={"XDG_CACHE_HOME": "", "HOME": ""})
        return scene.refused(done, "GPU0526", kind, ["XDG_CACHE_HOME"])
    before = sorted(os.listdir(scene.home))
    scene.refused(scene.apply(url), "GPU0526", kind, ["XDG_CACHE_HOME"])
    return scene.check(sorted(os.listdir(scene.home)) == before, "written through the link")


def small_files(scene):
    """A limit on the size of files (`ulimit -f`) is an error that says so, not the end by a signal."""
    scene.fill()
    scene.commit_elsewhere("large", "".join(f"{number}\n" for number in range(20000)))
    done = scene.apply(f"file://{scene.fleet}", shell="ulimit -f 16")  # blocks of 512 bytes
    scene.refused(done, "GPU0526", "limit", ["File too large", "ulimit", "XDG_CACHE_HOME"])
    scene.check("signal" not in done.text, f"a signal: {done.text}")
    scene.accepted(scene.apply(f"file://{scene.fleet}"), "without the limit")


def pack_everything(scene, cache):
    scene.git("repack", "-adq", at=cache)
    scene.git("pack-refs", "--all", at=cache)
    return next((cache / "objects/pack").glob("*.pack"))


def damaged(scene, kind):
    """A damaged copy is no reason to fail, and nothing of it reaches the server."""
    url, cache = prepare(scene)
    ran = scene.folder / "ran"
    evil = scene.folder / "evil"
    evil.write_text(f'#!/bin/sh\ntouch "{ran}"\n')
    evil.chmod(0o755)
    if kind == "truncated pack":
        pack = pack_everything(scene, cache)
        pack.chmod(0o644)
        with pack.open("r+b") as file:
            file.truncate(pack.stat().st_size // 2)
    elif kind == "broken pack":
        pack = pack_everything(scene, cache)
        pack.chmod(0o644)
        with pack.open("r+b") as file:
            file.seek(40)
            file.write(b"\0" * (pack.stat().st_size - 80))
    elif kind == "index of the pack gone":
        pack_everything(scene, cache).with_suffix(".idx").unlink()
    elif kind == "no HEAD":
        (cache / "HEAD").unlink()
    elif kind == "empty HEAD":
        (cache / "HEAD").write_text("")
    elif kind == "no objects":
        shutil.rmtree(cache / "objects")
        (cache / "objects").mkdir()
    elif kind == "tree gone":
        tree = scene.git("rev-parse", "main:clusters/prod/lab", at=cache).strip()
        (cache / "objects" / tree[:2] / tree[2:]).unlink()
    elif kind == "old lock gone":
        blob = scene.git("rev-parse", "main:clusters/prod/lab/gpuctl.lock", at=cache).strip()
        (cache / "objects" / blob[:2] / blob[2:]).unlink()
    elif kind == "branch to nowhere":
        (cache / "refs/heads/main").write_text("1" * 40 + "\n")
    elif kind == "branch is garbage":
        (cache / "refs/heads/main").write_bytes(b"\xff\0garbage")
    elif kind == "a file":
        shutil.rmtree(cache)
        cache.write_text("x")
    elif kind == "a link":
        shutil.rmtree(cache)
        cache.symlink_to(scene.home)
    elif kind == "another repository":
        shutil.rmtree(cache)
        scene.git("init", "-q", cache, at=None)
    elif kind == "hooks":
        (cache / "hooks").mkdir()
        for name in ("reference-transaction", "post-update", "pre-push", "pre-receive", "update"):
            shutil.copy(evil, cache / "hooks" / name)
    elif kind == "configuration":
        with (cache / "config").open("a") as config:
            config.write(f'[core]\n\tsshCommand = {evil}\n\tfsmonitor = {evil}\n'
                         f'\thooksPath = {scene.folder}\n\taskPass = {evil}\n'
                         f'\talternateRefsCommand = {evil}\n'
                         f'[credential]\n\thelper = {evil}\n[url "file://{scene.home}"]\n'
                         f'\tinsteadOf = {url}\n\tpushInsteadOf = {url}\n')
    elif kind == "alternates":
        (cache / "objects/info").mkdir(exist_ok=True)
        (cache / "objects/info/alternates").write_text(f"{scene.fleet}/objects\n")
    elif kind == "locks of a killed git":
        for name in ("refs/heads/main.lock", "packed-refs.lock", "HEAD.lock", "config.lock"):
            (cache / name).write_text("")
        scene.git("pack-refs", "--all", at=scene.fleet)
        scene.commit_elsewhere("other", "x\n")
    elif kind == "left-overs":
        for end in (".new", ".old"):
            shutil.copytree(cache, f"{cache}{end}")
        shutil.rmtree(cache)
    before = sorted(os.listdir(scene.home))
    scene.accepted(scene.apply(url), kind)
    scene.check(not ran.exists(), "a program of the copy was run")
    scene.check(sorted(os.listdir(scene.home)) == before, "written elsewhere")
    scene.sound(kind)
    scene.sound(f"copy after {kind}", at=cache)
    scene.check(not (cache / "hooks").exists(), "hooks stayed")
    if kind == "left-overs":
        scene.check(len(os.listdir(cache.parent)) == 2, "left-overs stayed")
    scene.unchanged(scene.apply(url), f"after {kind}")


def held(scene):
    """Another process keeps the copy: we wait and say so, and give up in time."""
    url, cache = prepare(scene)
    with cache.with_suffix(".lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = scene.apply(url, "--timeout", "1")
        scene.refused(done, "GPU0525", "held", [str(cache.with_suffix(".lock")), "--timeout"])
        scene.check(done.stderr.startswith("waiting for another run of gpuctl (process "),
                    f"does not say it waits: {done.stderr}")
        scene.check(done.seconds < 20 * scene.slow, f"took {done.seconds:.1f} s")
        threading.Timer(1, lambda: fcntl.flock(lock, fcntl.LOCK_UN)).start()
        scene.accepted(scene.apply(url), "released")


def removed_while_waiting(scene):
    """Somebody empties the cache: the file that was locked is not the one that counts any more."""
    url, cache = prepare(scene)
    path = cache.with_suffix(".lock")
    with path.open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        child = scene.start("apply", "lab.yaml", "--repo", url)
        scene.check(scene.wait_for(lambda: child.poll() is None), "ended")
        shutil.rmtree(cache.parent.parent)
    scene.accepted(scene.finish(child), "removed")


def no_credentials(scene):
    """Nothing of an address but what may be seen is in the copy."""
    scene.fill()
    _, url = servers.web(scene, auth=False)
    done = scene.apply(url.replace("://", "://c4nary-token@"))
    scene.accepted(done, "user in the address")
    found = subprocess.run(["grep", "-rl", "c4nary", str(scene.cache_home)], capture_output=True,
                           check=False).stdout
    scene.check(not found and "c4nary" not in done.text, f"{found}: {done.text}")
    scene.check("c4nary" not in str(list(scene.cache_home.rglob("*"))), "in a name")


def cases(_):
    kinds = ("truncated pack", "broken pack", "index of the pack gone", "no HEAD", "empty HEAD",
             "no objects", "tree gone", "old lock gone", "branch to nowhere", "branch is garbage",
             "a file", "a link", "another repository", "hooks", "configuration", "alternates",
             "locks of a killed git", "left-overs")
    return ([(f"damaged: {kind}", damaged, kind) for kind in kinds] +
            [(f"no place: {kind}", no_place, kind)
             for kind in ("file", "link", "of somebody else", "read-only", "nowhere")] +
            [("private", private), ("held", held), ("removed while waiting", removed_while_waiting),
             ("no credentials", no_credentials), ("limit on the size of files", small_files)])
