"""What all remote cases share: a folder of their own with a server's repository, runs of gpuctl, and
checks that are counted."""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from support.cases import Checks  # noqa: E402
from support.program import environment  # noqa: E402

DEADLINE_S = 60           # for one run, on a busy machine
ROOT = os.geteuid() == 0
CODE = re.compile(r"error\[(GPU\d{4})\]")
PUSHED = re.compile(r"^pushed ([0-9a-f]{12}) to (\S+) of ", re.M)
CLUSTER = "clusters/prod/lab"

BLUEPRINT = """apiVersion: gpuctl.dev/v1alpha1
kind: Blueprint
metadata: {{name: {name}}}
spec:
  platform: aws
  baseDomain: example.com
  gitops: {{maxEffect: machines-deleted}}  # fewer machines as well as more
  openshift: {{version: "4.20"}}
  aws: {{region: eu-central-1, zones: [eu-central-1a]}}
  access: {{pullSecret: {{env: PULL_SECRET}}}}
  gpuPools:
    - name: gpu
      instanceType: g5.xlarge
      replicas: {replicas}
"""
FACTS = """apiVersion: gpuctl.dev/v1alpha1
kind: Facts
metadata: {{name: {name}}}
spec: {{infraID: {name}-x7k2p, bootImages: {{amd64: ami-0a1b2c3d4e5f60718}}}}
"""


class Done:
    def __init__(self, code, stdout, stderr, seconds):
        self.code, self.seconds = code, seconds
        self.stdout = stdout.decode("utf-8", "replace")
        self.stderr = stderr.decode("utf-8", "replace")
        self.text = self.stdout + self.stderr

    @property
    def codes(self):
        return CODE.findall(self.stderr)

    @property
    def pushed(self):
        match = PUSHED.search(self.stdout)
        return match[1] if match else ""


class Scene(Checks):
    """One case. `srv/fleet.git` is the repository on the server, with a first commit of somebody
    else on `main`."""

    def __init__(self, gpuctl, folder, sanitized):
        self.gpuctl, self.sanitized = gpuctl, sanitized
        super().__init__()
        self.folder = pathlib.Path(folder)
        self.home, self.work = self.folder / "home", self.folder / "work"
        self.server, self.cache_home = self.folder / "srv", self.folder / "cache"
        self.tools = self.folder / "tools"
        for place in (self.home, self.work, self.server, self.tools):
            place.mkdir()
        self.fleet = self.server / "fleet.git"
        # Stops that run in reverse at the end.
        self.stack = contextlib.ExitStack()
        self.gitconfig = self.folder / "gitconfig"
        self.gitconfig.write_text("")
        self.env = environment(self.home, PULL_SECRET='{"auths":{}}',
                               XDG_CACHE_HOME=self.cache_home, GIT_CONFIG_GLOBAL=self.gitconfig)
        self.slow = 5 if sanitized else 1

    # Inputs

    def blueprint(self, replicas=1, name="lab"):
        (self.work / f"{name}.facts.yaml").write_text(FACTS.format(name=name))
        path = self.work / f"{name}.yaml"
        path.write_text(BLUEPRINT.format(name=name, replicas=replicas))
        return path

    def fill(self, empty=False):
        """The server's repository, and a good blueprint."""
        self.blueprint()
        self.git("init", "-q", "--bare", "-b", "main", self.fleet, at=None)
        if not empty:
            self.commit_elsewhere("README.md", "mine\n")
        return f"file://{self.fleet}"

    def commit_elsewhere(self, path, text, branch="main"):
        """A commit that somebody else pushes."""
        clone = self.folder / "elsewhere"
        shutil.rmtree(clone, ignore_errors=True)
        self.git("clone", "-q", str(self.fleet), clone, at=None)
        self.git("checkout", "-q", "-B", branch, at=clone)
        if self.git("ls-remote", self.fleet, f"refs/heads/{branch}", at=clone).strip():
            self.git("reset", "-q", "--hard", f"origin/{branch}", at=clone)
        (clone / path).parent.mkdir(parents=True, exist_ok=True)
        (clone / path).write_text(text)
        self.git("add", "-A", at=clone)
        self.git("commit", "-qm", f"write {path}", at=clone)
        self.git("push", "-q", "origin", branch, at=clone)

    def hook(self, name, text):
        path = self.fleet / "hooks" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        return path

    def tool(self, name, text):
        """A program that comes first in PATH."""
        path = self.tools / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        if not self.env["PATH"].startswith(str(self.tools)):
            self.env["PATH"] = f"{self.tools}:{self.env['PATH']}"
        return path

    # Runs

    def start(self, *words, env=None, shell=""):
        """`shell` is run by a shell that then becomes gpuctl. (Python's own way, a function between
        fork and exec, can wait forever in a process with threads, such as these servers.)"""
        before = ["sh", "-c", f'{shell} && exec "$@"', "sh"] if shell else []
        return subprocess.Popen([*before, *(str(word) for word in (self.gpuctl, *words))],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, cwd=self.work,
                                env={**self.env, **(env or {})}, start_new_session=True)

    def finish(self, child, started=None, deadline=DEADLINE_S):
        started = started or time.monotonic()
        late = threading.Timer(deadline * self.slow, child.kill)
        late.start()
        out, err = child.communicate()
        late.cancel()
        done = Done(child.returncode, out, err, time.monotonic() - started)
        if child.returncode == -signal.SIGKILL:
            self.check(False, f"no end within {deadline * self.slow} s: {done.text}")
        return done

    def run(self, *words, env=None, shell=""):
        started = time.monotonic()
        return self.finish(self.start(*words, env=env, shell=shell), started)

    def apply(self, url, *words, env=None, name="lab", shell=""):
        return self.run("apply", f"{name}.yaml", "--repo", url, *words, env=env, shell=shell)

    def git(self, *words, at="", good=True):
        where = [] if at is None else ["-C", str(at or self.fleet)]
        done = subprocess.run(["git", *where, *map(str, words)], capture_output=True, env=self.env,
                              check=False, stdin=subprocess.DEVNULL, timeout=120)
        if good and done.returncode:
            raise RuntimeError(f"git {words}: {done.stderr.decode()}")
        return done.stdout.decode("utf-8", "surrogateescape")

    # What there is

    def tip(self, branch="main", at=""):
        return self.git("rev-parse", "-q", "--verify", f"refs/heads/{branch}", good=False,
                        at=at).strip()

    def files(self, commit="main"):
        return set(self.git("ls-tree", "-r", "--name-only", commit).split())

    def caches(self):
        return sorted((self.cache_home / "gpuctl/repositories").glob("*.git"))

    def git_processes(self):
        """Running programs that have this case's folder among their arguments, but for servers."""
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                words = path.read_bytes().decode(errors="replace").split("\0")
                if str(self.cache_home) in " ".join(words):
                    found.append(" ".join(words))
        return found

    def wait_for(self, holds, seconds=20):
        limit = time.monotonic() + seconds * self.slow
        while time.monotonic() < limit:
            if holds():
                return True
            time.sleep(0.02)
        return False

    # Checks

    def skip(self, why, missing=True):
        """Leaves the case out: something is missing that can be installed, or the place does not
        have it (not root)."""
        self.skipped.append((why, missing))

    def sound(self, what, at=""):
        """git fsck has nothing to say but about objects that nothing uses. A server may still be at
        the push of a client that was killed, and move objects under fsck's eyes: what is damaged
        stays so."""
        def fsck():
            done = subprocess.run(["git", "-C", str(at or self.fleet), "fsck", "--full",
                                   "--no-progress"], capture_output=True, env=self.env, check=False,
                                  stdin=subprocess.DEVNULL, timeout=120)
            found[:] = [line for line in (done.stdout + done.stderr).decode().splitlines()
                        if not line.startswith(("dangling", "notice", "Checking", "hint"))]
            return done.returncode == 0 and not found
        found = []
        return self.check(self.wait_for(fsck, 2), f"{what}: git fsck: {found[:3]}")

    def accepted(self, done, what, branch="main"):
        """The run has pushed, and the server has what it says."""
        good = self.check(done.code == 0 and done.pushed, f"{what}: {done.code}: {done.text}")
        if good:
            self.check(self.tip(branch).startswith(done.pushed),
                       f"{what}: the server has {self.tip(branch)}, not {done.pushed}")
            self.check(f"{CLUSTER}/gpuctl.lock" in self.files(branch), f"{what}: files are missing")
        return good

    def unchanged(self, done, what):
        return self.check(done.code == 0 and "no change" in done.stdout and not done.pushed,
                          f"{what}: {done.code}: {done.text}")

    def refused(self, done, code, what, words=()):
        """The run has failed with this code, says these words, and has pushed nothing."""
        self.check(done.code == 1, f"{what}: ended with {done.code}: {done.text}")
        self.check(done.codes == [code], f"{what}: {done.codes}, not {code}: {done.stderr}")
        self.check(not done.pushed, f"{what}: says it has pushed")
        self.check("help: " in done.stderr, f"{what}: no help: {done.stderr}")
        self.check(not any(ord(c) < 32 and c != "\n" for c in done.text),
                   f"{what}: control characters: {done.text!r}")
        for word in words:
            self.check(word in done.stderr, f"{what}: nothing of `{word}`: {done.stderr}")
