#!/usr/bin/env python3
"""Runs that are killed, or told to end, before each of their calls that change something on disk.

The branch is at the old or at the new commit and nothing is damaged; after a kill between the move
of the branch and the update of the work tree the next run, which has nothing else to do, brings the
work tree along and says so; what the user did meanwhile stays; and nothing temporary is left. A run
that is told to end (SIGTERM, SIGHUP, SIGINT) ends by that signal, and never between the two.

    interrupted.py [--gpuctl BIN] [--filter TEXT] [--points N] [--full] [--list]

--points says how many calls of each case are looked at, spread over all; --full looks at all.
"""

import fcntl
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
from support.cases import case_arguments, chosen, memory, outcome, run_all  # noqa: E402
from support.program import Tally, skip  # noqa: E402
import scene  # noqa: E402
from run import build_shim  # noqa: E402
from scene import BLUEPRINT, CHANGED, CLUSTER, FACTS, Scene, blueprint, remove, sound  # noqa: E402

WORDS = ["apply", "lab.yaml", "--facts", "lab.facts.yaml", "--repo", "repo"]
DATES = {"GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"}
FLEET_WORDS = ["apply", "fleet.yaml", "--repo", "repo"]
FINISHED = "GPU0529"
PARTS = 4  # of a case, so that they run side by side


def write_fleet(scene, clusters, pools):
    """fleet.yaml with this many clusters in one stage, and facts for each."""
    names = [f"lab-{number}" for number in range(clusters)]
    scene.write("fleet.yaml", {
        "apiVersion": BLUEPRINT["apiVersion"], "kind": "Fleet", "metadata": {"name": "labs"},
        "spec": {"stages": [{"name": "prod", "spec": {**BLUEPRINT["spec"], "gpuPools": pools}}],
                 "clusters": [{"name": name, "stage": "prod"} for name in names]}})
    for name in names:
        scene.write(f"prod/{name}.facts.yaml", {**FACTS, "metadata": {"name": name},
                                                "spec": {**FACTS["spec"], "infraID": f"{name}-x7k2p"}})


class Repository:
    """A repository in a known state, and a run on it that makes a commit."""

    def __init__(self, scene, kind):
        self.scene, self.kind = scene, kind
        self.words = FLEET_WORDS if kind == "fleet" else WORDS
        self.repo, self.pristine = scene.work / "repo", scene.folder / "pristine"
        scene.env.update(DATES)
        scene.good()
        if kind == "first commit":
            scene.git("init", "-q", "-b", "main", self.repo, at=scene.folder)
            (self.repo / "mine").write_text("mine\n")
            scene.git("add", "-A", at=self.repo)
            scene.git("commit", "-qm", "mine", at=self.repo)
        elif kind == "fleet":  # two clusters change and one comes
            write_fleet(scene, 2, BLUEPRINT["spec"]["gpuPools"])
            scene.accepted("before", *self.words)
            write_fleet(scene, 3, CHANGED)
        else:
            scene.accepted("before", *WORDS)
            scene.write("lab.yaml", blueprint(gpuPools=CHANGED))
        self.copy(self.repo, self.pristine)
        self.old = self.tip()
        scene.accepted("unharmed", *self.words)
        self.new = self.tip()
        self.calls = self.first(lambda at: not self.run_to(at, signal.SIGKILL)[1], 4096) - 1
        # The first call that comes when the branch has moved.
        self.moved = self.first(lambda at: self.run_to(at, signal.SIGKILL) and
                                self.tip() == self.new, self.calls)

    @staticmethod
    def copy(source, target):
        remove(target)
        subprocess.run(["cp", "-a", str(source), str(target)], check=True)

    def restore(self):
        self.copy(self.pristine, self.repo)

    def tip(self):
        return self.scene.git("rev-parse", "refs/heads/main", at=self.repo).strip()

    def status(self):
        return self.scene.git("status", "--porcelain", at=self.repo)

    def run_to(self, at, number):
        """One run that gets a signal before its call `at`; whether it came that far."""
        mark = self.scene.folder / "mark"
        mark.unlink(missing_ok=True)
        done = self.scene.run(*self.words, env={"LD_PRELOAD": str(self.scene.shim), "FAIL_CALL": "any",
                                           "FAIL_AT": str(at), "FAIL_SIGNAL": str(int(number)),
                                           "FAIL_MARK": str(mark)})
        return done, mark.exists()

    def first(self, holds, high):
        """The first call at which it holds, which it does at `high`, by bisection."""
        low = 0
        while high - low > 1:
            at = (low + high) // 2
            self.restore()
            if holds(at):
                high = at
            else:
                low = at
        return high

    def points(self, wanted, part):
        """Calls to stop at: half of them before the branch moves, half after, evenly spread, and of
        these a part; 0 is all."""
        chosen = []
        for begin, end in ((1, self.moved), (self.moved, self.calls + 1)):
            count = min(wanted // 2 or end - begin, end - begin)
            chosen += [begin + number * (end - begin) // count for number in range(count)]
        return chosen[part::PARTS]

    def leftovers(self):
        """What no finished run leaves."""
        names = (".gpuctl-", "tmp_", "pack_git2", "gpuctl-index", "gpuctl-checkout")
        return [str(path.relative_to(self.repo)) for path in self.repo.rglob("*")
                if path.name.startswith(names)
                or path.name.endswith(".lock") and path.name != "gpuctl.lock"]


def check_killed(scene, kind, wanted, part):
    repository = Repository(scene, kind)
    behind = 0
    for at in repository.points(wanted, part):
        repository.restore()
        done, _ = repository.run_to(at, signal.SIGKILL)
        what = f"{kind}, killed before call {at}"
        scene.check(done.code == -signal.SIGKILL, f"{what}: ended with {done.code}: {done.text}")
        tip = repository.tip()
        scene.check(tip in (repository.old, repository.new), f"{what}: at another commit")
        sound(scene, what, repository.repo)
        stale = tip == repository.new and repository.status()
        again = scene.run(*repository.words)
        scene.check(again.code == 0, f"{what}: next run: {again.code}: {again.text}")
        scene.check(repository.tip() == repository.new, f"{what}: next run made another commit")
        scene.check(not repository.status(), f"{what}: work tree: {repository.status()}")
        if stale:
            behind += 1
            scene.check(FINISHED in again.text, f"{what}: finished without a word: {again.text}")
            scene.check("no change" in again.stdout.decode(), f"{what}: {again.stdout}")
        else:
            scene.check(FINISHED not in again.text, f"{what}: finished nothing: {again.text}")
        left = repository.leftovers()
        scene.check(not left, f"{what}: left {left[:3]}")
        third = scene.accepted(f"{what}: third run", *repository.words)
        scene.check(FINISHED not in third.text, f"{what}: says it twice")
    scene.check(behind, f"{kind}: no kill between branch and work tree")


def check_told(scene, kind, number, wanted, part):
    repository = Repository(scene, kind)
    for at in repository.points(wanted, part):
        repository.restore()
        done, _ = repository.run_to(at, number)
        what = f"{kind}, {number.name} before call {at}"
        scene.check(done.code == -number, f"{what}: ended with {done.code}: {done.text}")
        moved = repository.tip() == repository.new
        said = b"committed " in done.stdout
        scene.check(moved or repository.tip() == repository.old, f"{what}: at another commit")
        scene.check(moved == said, f"{what}: moved {moved}, said so {said}: {done.text}")
        scene.check(not repository.status(), f"{what}: work tree: {repository.status()}")
        again = scene.accepted(f"{what}: next run", *repository.words)
        scene.check(FINISHED not in again.text, f"{what}: left half a work tree")
        scene.check(repository.tip() == repository.new and not repository.status(),
                    f"{what}: next run")
        left = repository.leftovers()
        scene.check(not left, f"{what}: left {left[:3]}")


def behind(scene, kind="change"):
    """A repository whose branch has moved, and whose work tree has not."""
    repository = Repository(scene, kind)
    repository.restore()
    repository.run_to(repository.moved, signal.SIGKILL)
    scene.check(repository.tip() == repository.new and repository.status(), "not behind")
    return repository


def check_meanwhile(scene, what):
    """What the user does between the kill and the next run."""
    repository = behind(scene)
    repo, git = repository.repo, lambda *words: scene.git(*words, at=repository.repo)
    ours = repo / CLUSTER / "gpuctl.lock"
    stale = repository.status()
    # It keeps others from committing on what is stale; Git tells the user to remove it by hand.
    lock = repo / ".git/index.lock"
    scene.check(lock.exists(), "the index is not locked")
    if what not in ("a dry run", "another change", "nothing"):
        lock.unlink()
    if what == "edits":
        ours.write_text("mine\n")
        other = repo / CLUSTER / "cluster.yaml"
        other.write_text("staged\n")
        git("add", other)
        done = scene.run(*WORDS)
        scene.check(done.code == 0 and "GPU0509" in done.text and FINISHED in done.text, done.text)
        scene.check(ours.read_text() == "mine\n", "an edit was overwritten")
        scene.check(other.read_text() == "staged\n", "a staged edit was overwritten")
        scene.check(git("diff", "--cached", "--name-only").split() == [f"{CLUSTER}/cluster.yaml"],
                    "staged: " + git("diff", "--cached", "--name-only"))
        return
    if what == "a dry run":
        done = scene.run("upgrade", *WORDS[1:], "--dry-run")
        scene.check(done.code == 0 and FINISHED in done.text, done.text)
        scene.check(repository.status() == stale, "a dry run changed the work tree")
    elif what == "another change":
        scene.write("lab.yaml", blueprint(
            gpuPools=[{"name": "gpu", "instanceType": "g5.xlarge", "replicas": 3}]))
        done = scene.run(*WORDS)
        scene.check(done.code == 0 and FINISHED in done.text and b"committed " in done.stdout,
                    done.text)
        scene.check(git("rev-parse", "main~1").strip() == repository.new, "not on the commit")
        scene.check(not repository.status(), repository.status())
        return
    elif what == "commits all":  # and so takes the commit back, which nobody can forbid
        git("commit", "-qam", "mine")
        done = scene.run(*WORDS)
        scene.check(done.code == 0 and b"committed " in done.stdout, done.text)
        scene.check(FINISHED not in done.text and not repository.status(), done.text)
        return
    elif what == "brings it along":
        git("reset", "-q", "--hard")
        done = scene.run(*WORDS)
        scene.check(done.code == 0 and FINISHED not in done.text, done.text)
        scene.check(not repository.status() and not repository.leftovers(), repository.leftovers())
        return
    elif what == "goes back":
        git("reset", "-q", "--hard", "HEAD~1")
        done = scene.run(*WORDS)
        scene.check(done.code == 0 and b"committed " in done.stdout, done.text)
        scene.check(FINISHED not in done.text and not repository.status(), done.text)
        return
    elif what == "is committing":  # the lock of the user's own git
        lock.write_text("")
        done = scene.run(*WORDS)
        scene.complained(done, what, codes=["GPU0504"], names=["index.lock"])
        scene.check(lock.exists() and repository.status() == stale, "taken from the user")
        lock.unlink()
    done = scene.run(*WORDS)
    scene.check(done.code == 0 and FINISHED in done.text, done.text)
    scene.check(not repository.status(), repository.status())


def check_render(scene, kind, wanted):
    """A killed render leaves files with names of its own; the next one removes them, and leaves
    those of a run that lives."""
    words = ["render", "lab.yaml", "--facts", "lab.facts.yaml", "-o", "out", "--install-dir",
             "private"]
    out, private, pristine = scene.work / "out", scene.work / "private", scene.folder / "pristine"
    scene.good()
    pristine.mkdir()
    if kind == "second run":
        scene.accepted("before", *words)
        remove(pristine)
        shutil.copytree(out, pristine)
        scene.write("lab.yaml", blueprint(gpuPools=CHANGED))

    def left():
        return [path for place in (out, private) for path in place.rglob(".gpuctl-tmp-*")]

    found, at, mark = 0, 0, scene.folder / "mark"
    while True:
        at += 7 if wanted else 1
        remove(out)
        remove(private)
        shutil.copytree(pristine, out)
        mark.unlink(missing_ok=True)
        scene.run(*words, env={"LD_PRELOAD": str(scene.shim), "FAIL_CALL": "any", "FAIL_AT": str(at),
                               "FAIL_SIGNAL": "9", "FAIL_MARK": str(mark)})
        if not mark.exists():
            break
        found += bool(left())
        scene.accepted(f"after call {at}", *words)
        scene.check(not left(), f"{kind}, killed before call {at}: left {left()[:3]}")
    scene.check(found, f"{kind}: nothing was left by any kill")
    # A mark that is locked belongs to a run that lives.
    journal, file = out / f".gpuctl-tmp-{'a' * 16}", out / f"clusters/.gpuctl-tmp-{'a' * 16}-1"
    other = out / "clusters/.gpuctl-tmp-mine"
    for path in (file, other):
        path.write_text("x")
    with journal.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        (out / "clusters/prod/lab/cluster.yaml").unlink()
        scene.accepted("beside another", *words)
        scene.check(journal.exists() and file.exists(), "taken from a run that lives")
    (out / "clusters/prod/lab/cluster.yaml").unlink()
    scene.accepted("after the other", *words)
    scene.check(not journal.exists() and not file.exists(), "left")
    scene.check(other.exists(), "a file of somebody else was removed")


def check_packs(scene):
    """Packs that a killed run was writing go, those of a run that lives stay."""
    scene.good()
    words = ["apply", "lab.yaml", "--repo", "repo.git"]
    scene.accepted("first", *words)
    packs = scene.work / "repo.git/objects/pack"
    names = ("tmp_pack_gpuctl_aaaaaa", "tmp_pack_gpuctl_bbbbbb", "tmp_pack_cccccc")
    for name in names:
        (packs / name).write_text("x")
    with (packs / names[1]).open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        scene.accepted("again", *words)
        there = {path.name for path in packs.iterdir()}
        scene.check(not there & {names[0]} and {names[1], names[2]} <= there, f"{there}")
    scene.accepted("and again", *words)
    scene.check(not (packs / names[1]).exists(), "left")


def cases(options):
    each = 0 if options.full else options.points
    rows = []
    for part in range(PARTS):
        for kind in ("change", "first commit", "fleet"):
            rows.append((f"killed, {kind} {part}", check_killed, (kind, each, part)))
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            if options.full or number == signal.SIGTERM or part == 0:
                rows.append((f"{number.name} {part}", check_told,
                             ("change", number, each, part)))
    rows += [(f"render, {kind}", check_render, (kind, each)) for kind in ("new", "second run")]
    rows.append(("packs", check_packs, ()))
    rows += [(f"meanwhile the user {what}", check_meanwhile, (what,))
             for what in ("edits", "a dry run", "another change", "commits all", "brings it along",
                          "goes back", "is committing")]
    return rows


def run_case(job):
    name, function, arguments, gpuctl, folder, shim = job
    place = pathlib.Path(tempfile.mkdtemp(dir=folder))
    case = Scene(gpuctl, place, False, shim)
    found = outcome(name, case, lambda: function(case, *arguments))
    remove(place)
    return found


def add_options(parser):
    parser.add_argument("--points", type=int, default=24, help="calls of each case (24)")
    parser.add_argument("--full", action="store_true", help="all calls")


def main():
    # Whoever started this may ignore them (nohup, a job in the background), and children would, too.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    options, tally = case_arguments(__doc__, add_options), Tally()
    if options.sanitized:
        sys.exit("a build with sanitizers wants to be loaded first")
    rows = chosen(cases(options), options, tally)
    with tempfile.TemporaryDirectory(prefix="interrupted-") as tools, \
            tempfile.TemporaryDirectory(prefix="interrupted-", dir=memory()) as folder:
        shim = build_shim(pathlib.Path(tools))
        if shim is None:
            skip("interrupted runs", "no C compiler for the library that stops them")
        # One that waits for a lock comes first; the others fill the time.
        rows.sort(key=lambda case: "committing" not in case[0])
        jobs = [(*case, options.gpuctl, pathlib.Path(folder), shim) for case in rows]
        run_all(run_case, jobs, 1 + (os.cpu_count() or 1), tally)
    tally.close()


if __name__ == "__main__":
    main()
