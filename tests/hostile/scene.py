"""What all hostile cases share: a folder of their own, runs with limits, and a look at everything
that must not have changed."""

import contextlib
import copy
import fcntl
import hashlib
import json
import os
import pathlib
import re
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from support.cases import Checks  # noqa: E402
from support.program import environment  # noqa: E402

DEADLINE_S = 20             # for one run, on a busy machine; all but a few take 0.05 s
MOST_MEMORY = 256 << 20     # resident bytes of one run
ADDRESS_SPACE = 512 << 20   # of one run, and of each program that it starts
HASHED = 2 << 20            # larger files are compared by size and times
NOBODY = 65534
ROOT = os.geteuid() == 0
CODE = re.compile(r"error\[(GPU\d{4})\]")
CLUSTER = "clusters/prod/lab"

BLUEPRINT = {
    "apiVersion": "gpuctl.dev/v1alpha1", "kind": "Blueprint",
    "metadata": {"name": "lab"},
    "spec": {
        "platform": "aws", "baseDomain": "example.com", "openshift": {"version": "4.20"},
        "aws": {"region": "eu-central-1"},
        "access": {"pullSecret": {"env": "PULL_SECRET"}},
        "gpuPools": [{"name": "gpu", "instanceType": "g5.xlarge", "replicas": 1, "healthCheck": {}}],
        "gitops": {"engine": "argocd", "repoURL": "https://git.example.com/fleet.git",
                   "secretName": "fleet-read", "maxEffect": "upgrade"},
    },
}
# Creates, updates and removes files; taken back, all is as it was: nothing here leaves in steps.
CHANGED = [{"name": "gpu", "instanceType": "g5.2xlarge", "scaling": {"min": 1, "max": 3}}]
ADDED = "layers/20-machines/machineautoscaler-openshift-machine-api-lab-x7k2p-gpu-eu-central-1a.yaml"
FACTS = {"apiVersion": "gpuctl.dev/v1alpha1", "kind": "Facts", "metadata": {"name": "lab"},
         "spec": {"infraID": "lab-x7k2p", "bootImages": {"amd64": "ami-0a1b2c3d4e5f60718"}}}
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap",
              "metadata": {"name": "extra", "namespace": "default"}, "data": {"a": "b"}}


def blueprint(**spec):
    """A good blueprint; keyword arguments replace or add fields of `spec`."""
    made = copy.deepcopy(BLUEPRINT)
    made["spec"].update(spec)
    return made


def as_yaml(value):
    """JSON is YAML, but for characters beyond 16 bits; one field a line, so that places differ."""
    def whole(match):
        return f"\\U{ord(json.loads(f'{chr(34)}{match[0]}{chr(34)}')):08x}"

    text = json.dumps(value, indent=1) + "\n"
    return re.sub(r"\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}", whole, text)


def describe(path):
    """Everything about one directory entry that a run could change."""
    info = os.lstat(path)
    what = [stat.S_IFMT(info.st_mode), stat.S_IMODE(info.st_mode), info.st_uid, info.st_gid,
            info.st_mtime_ns]
    if stat.S_ISLNK(info.st_mode):
        what.append(os.readlink(path))
    elif stat.S_ISREG(info.st_mode):
        what.append(info.st_size)
        if info.st_size <= HASHED:
            with contextlib.suppress(PermissionError):
                what.append(hashlib.sha256(path.read_bytes()).hexdigest())
    return tuple(what)


def snapshot(folder, ignored=(), times=True):
    """Path -> description of all below and including `folder`. Without `times` the modification
    times of directories do not count: files came and went in them."""
    found = {}
    waiting = [pathlib.Path(folder)]
    while waiting:
        path = waiting.pop()
        relative = str(path.relative_to(folder))
        if relative in ignored:
            continue
        row = describe(path)
        if stat.S_ISDIR(row[0]):
            found[relative] = row if times else row[:4]
            with contextlib.suppress(PermissionError):
                waiting += [path / name for name in os.listdir(path)]
        else:
            found[relative] = row
    return found


def difference(before, after):
    """The first paths that differ between two snapshots, in words."""
    words = [f"{path} {'new' if path not in before else 'gone' if path not in after else 'changed'}"
             for path in sorted(before.keys() | after.keys())
             if before.get(path) != after.get(path)]
    return ", ".join(words[:6])


class Pipe:
    """Takes up to a MiB without a reader, and gives it back once the writers are gone."""

    def __enter__(self):
        self.ends = os.pipe()
        fcntl.fcntl(self.ends[0], 1031, 1 << 20)  # F_SETPIPE_SZ
        return self

    def __exit__(self, *_):
        os.close(self.ends[0])
        if self.ends[1] >= 0:
            os.close(self.ends[1])

    def fileno(self):
        return self.ends[1]

    def seek(self, _):
        os.close(self.ends[1])
        self.ends = (self.ends[0], -1)

    def read(self):
        return b"".join(iter(lambda: os.read(self.ends[0], 1 << 16), b""))


class Done:
    def __init__(self, code, stdout, stderr, memory):
        self.code, self.stdout, self.stderr, self.memory = code, stdout, stderr, memory
        self.text = stderr.decode("utf-8", "replace")


class Scene(Checks):
    """One case: its folder, and checks that are counted."""

    def __init__(self, gpuctl, folder, sanitized, shim):
        self.gpuctl, self.sanitized, self.shim = gpuctl, sanitized, shim
        super().__init__()
        self.folder = pathlib.Path(folder)
        self.folder.chmod(0o755)
        self.home = self.folder / "home"
        self.work = self.folder / "work"     # current directory of runs, holds the inputs
        for place in (self.home, self.work):
            place.mkdir()
        self.env = environment(self.home, PULL_SECRET='{"auths": {"quay.io": {"auth": "bm9ib2R5"}}}')
        if sanitized:
            self.env["ASAN_OPTIONS"] = self.env.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"

    # Inputs

    def write(self, name, content, mode=None):
        """Writes text, bytes or a value (as YAML) below the work folder."""
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, (dict, list)):
            content = as_yaml(content)
        if isinstance(content, str):
            content = content.encode()
        path.write_bytes(content)
        if mode is not None:
            path.chmod(mode)
        return path

    def good(self, **spec):
        """A good blueprint with facts beside it."""
        self.write("lab.facts.yaml", FACTS)
        return self.write("lab.yaml", blueprint(**spec))

    # Runs

    def run(self, *words, fsize=None, nobody=False, umask=0o022, env=None, deadline=DEADLINE_S,
            stdout=None, program=None):
        """Runs gpuctl in the work folder. Output goes to files, so that nothing can block."""
        def limit():
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if not self.sanitized:
                resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
            if fsize is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (fsize, fsize))
            if nobody and ROOT:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)

        command = [str(word) for word in (program or self.gpuctl, *words)]
        environ = {**self.env, **(env or {})}
        # A limit on file sizes would hold for the files that take the output, too.
        sinks = [Pipe() if fsize is not None else tempfile.TemporaryFile() for _ in range(2)]
        with contextlib.ExitStack() as stack:
            out, err = (stack.enter_context(sink) for sink in sinks)
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout or out,
                                     stderr=err, cwd=self.work, env=environ, umask=umask,
                                     preexec_fn=limit, start_new_session=True)
            late = threading.Timer(deadline * (5 if self.sanitized else 1), child.kill)
            late.start()
            _, status, usage = os.wait4(child.pid, 0)
            late.cancel()
            child.returncode = code = os.waitstatus_to_exitcode(status)
            texts = []
            for sink in (out, err):
                sink.seek(0)
                texts.append(sink.read())
            return Done(code, *texts, usage.ru_maxrss * 1024)

    def git(self, *words, at=None, good=True, given=None):
        """Runs git in a repository; text comes back."""
        done = subprocess.run(["git", "-C", str(at or self.folder / "repo"), *words],
                              capture_output=True, env=self.env, check=False, input=given,
                              stdin=None if given is not None else subprocess.DEVNULL, timeout=60)
        if good and done.returncode:
            raise RuntimeError(f"git {' '.join(words)}: {done.stderr.decode()}")
        return done.stdout.decode("utf-8", "surrogateescape")

    # Checks

    def skip(self, why):
        self.skipped.append(why)

    def sane(self, done, what):
        """Whatever the input: an exit code that is documented, in time, within memory."""
        if done.code == -signal.SIGKILL:
            return self.check(False, f"{what}: no end within {DEADLINE_S} s")
        return (self.check(done.code in (0, 1, 64), f"{what}: ended with {done.code}: {done.text}")
                and self.check("internal error" not in done.text, f"{what}: {done.text}")
                and self.check(self.sanitized or done.memory <= MOST_MEMORY,
                               f"{what}: took {done.memory >> 20} MiB"))

    def complained(self, done, what, codes=None, names=(), place=None, exit_code=1):
        """Refused in the way users get: exit code, code, the file's name, the place in it."""
        if not self.sane(done, what):
            return False
        found = CODE.findall(done.text)
        good = self.check(done.code == exit_code,
                          f"{what}: exit code {done.code}, not {exit_code}\n{done.text}")
        good &= self.check(found, f"{what}: no diagnostic\n{done.text}")
        if codes:
            good &= self.check(set(found) & set(codes),
                               f"{what}: {sorted(set(found))}, not one of {codes}\n{done.text}")
        for name in names:
            good &= self.check(str(name) in done.text, f"{what}: does not name {name}\n{done.text}")
        if place:
            good &= self.check(re.search(rf"--> {re.escape(str(place))}:\d+:\d+", done.text),
                               f"{what}: no place in {place}\n{done.text}")
        said = done.stdout.decode("utf-8", "replace").splitlines()
        good &= self.check(all(line.endswith(": refused") for line in said),
                           f"{what}: standard output holds {said[:3]}")
        return good

    def refused(self, what, *words, codes=None, names=(), place=None, exit_code=1, times=True,
                **more):
        """Runs and expects a refusal that leaves everything in the case's folder as it was. Without
        `times` something may have come and gone meanwhile."""
        before = snapshot(self.folder, times=times)
        done = self.run(*words, **more)
        self.complained(done, what, codes, names, place, exit_code)
        changes = difference(before, snapshot(self.folder, times=times))
        self.check(not changes, f"{what}: {changes}\n{done.text}")
        return done

    def accepted(self, what, *words, **more):
        done = self.run(*words, **more)
        self.sane(done, what)
        self.check(done.code == 0, f"{what}: exit code {done.code}\n{done.text}")
        return done

    def nothing_temporary(self, folder, what):
        left = [str(path) for path in pathlib.Path(folder).rglob("*")
                if ".gpuctl-" in path.name or path.name.startswith("tmp_obj")]
        self.check(not left, f"{what}: left {left[:3]}")


def repository_state(scene, repo=None):
    """Refs, and what they hold, as one value."""
    refs = scene.git("for-each-ref", "--format=%(refname) %(objectname)", at=repo, good=False)
    return refs, scene.git("symbolic-ref", "-q", "HEAD", at=repo, good=False)


def tree_of(scene, revision="HEAD", repo=None):
    """Path -> 'mode type id' of all files of a commit."""
    rows = scene.git("ls-tree", "-r", "-z", "--full-tree", revision, at=repo).split("\0")
    return {row.split("\t", 1)[1]: row.split("\t", 1)[0] for row in rows if row}


def sound(scene, what, repo=None):
    """git fsck has nothing to say but about objects that nothing uses."""
    done = subprocess.run(["git", "-C", str(repo or scene.folder / "repo"), "fsck", "--full",
                           "--no-progress"], capture_output=True, env=scene.env, check=False,
                          stdin=subprocess.DEVNULL, timeout=60)
    said = [line for line in (done.stdout + done.stderr).decode().splitlines()
            if not line.startswith(("dangling", "notice", "Checking", "hint"))]
    return scene.check(done.returncode == 0 and not said, f"{what}: git fsck: {said[:3]}")


def remove(folder):
    """Removes a folder whatever names, depths and modes are in it."""
    for command in (["chmod", "-R", "u+rwx", "--", folder], ["rm", "-rf", "--", folder]):
        subprocess.run([str(word) for word in command], check=False, capture_output=True)
