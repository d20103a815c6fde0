"""What servers say of a push: refused by a hook, lost to somebody else, and half truths."""

import os
import shutil
import signal
import time

import servers
from transports import reach

TRIES = 20  # of one run


def hook_refuses(scene, kind, hook):
    """The server's words come through, nothing is retried, and nothing is left behind."""
    scene.fill()
    url = reach(scene, kind)
    if not url:
        return
    before = scene.tip()
    path = scene.hook(hook, f'echo run >>"{scene.folder}/runs"\n'
                            "printf 'no \\033[31mticket\\033[0m named\\a\\n' >&2\n"
                            "i=0; while [ $i -lt 40 ]; do echo \"line $i\" >&2; i=$((i+1)); done\n"
                            "head -c 9000 /dev/zero | tr '\\0' x >&2\necho >&2\n"
                            "echo 'ask the platform team' >&2\nexit 1\n")
    done = scene.apply(url)
    words = ["ask the platform team", "hook declined", "lines before this are left out"]
    scene.refused(done, "GPU0521", hook, words)
    scene.check(len(done.stderr) < 12000, f"{len(done.stderr)} bytes of words")
    scene.check((scene.folder / "runs").read_text() == "run\n", "it was tried again")
    scene.check(scene.tip() == before, "the branch moved")
    scene.check(scene.tip(at=scene.caches()[0]) == before, "the copy has the refused commit")
    path.unlink()
    scene.accepted(scene.apply(url), "after the hook is gone")
    scene.check(scene.git("rev-parse", "main~1").strip() == before, "the refused commit is in it")
    scene.sound(hook)


def protected(scene):
    url = scene.fill()
    scene.hook("pre-receive", "echo 'error: GH006: Protected branch update failed for "
                              "refs/heads/main.' >&2\nexit 1\n")
    done = scene.apply(url)
    scene.refused(done, "GPU0522", "protected", ["--branch", "GH006"])


def checked_out(scene):
    """A server's repository with a work tree."""
    scene.fill()
    place = scene.folder / "tree"
    scene.git("clone", "-q", scene.fleet, place, at=None)
    done = scene.apply(f"file://{place}")
    scene.refused(done, "GPU0521", "checked out", ["bare repository"])
    scene.check(scene.tip(at=place) == scene.tip(), "the branch moved")


def loses(scene, times):
    """Somebody else pushes between our fetch and our push, so and so often."""
    scene.fill()
    count = scene.folder / "count"
    count.write_text(str(times))
    # The client's git, which does it before each of the first pushes.
    scene.git("clone", "-q", scene.fleet, scene.folder / "other", at=None)
    real = shutil.which("git")
    scene.tool("git", f"""
case " $* " in *" push --porcelain "*)
  left=$(cat "{count}")
  if [ "$left" -gt 0 ]; then
    echo $((left - 1)) >"{count}"
    cd "{scene.folder}/other" && {real} pull -q && {real} commit -q --allow-empty -m "other $left" &&
      {real} push -q origin main
  fi
esac
exec {real} "$@"
""")
    done = scene.apply(f"file://{scene.fleet}")
    if times >= TRIES:
        scene.refused(done, "GPU0523", f"{times} times", [f"{TRIES} attempts"])
        scene.check("lab" not in str(scene.files()), "pushed all the same")
        count.write_text("0")
        done = scene.apply(f"file://{scene.fleet}")
    scene.accepted(done, f"{times} times")
    scene.check(done.stderr.count("note[GPU1501]") == 1, f"said several times: {done.stderr}")
    others = scene.git("log", "--format=%s", "main").count("other")
    scene.check(others == min(times, TRIES), f"{others} commits of others, not {times}")
    scene.check(not scene.git("rev-list", "--min-parents=2", "main"), "merges")
    scene.sound(f"{times} times")


def takes_part(scene):
    """What somebody else changed between our fetch and our push is planned on: an edit by hand in
    one of our files stops the run, however late it comes."""
    url = scene.fill()
    scene.accepted(scene.apply(url), "first")
    scene.blueprint(replicas=4)
    scene.git("clone", "-q", scene.fleet, scene.folder / "other", at=None)
    real = shutil.which("git")
    scene.tool("git", f"""
case " $* " in *" push --porcelain "*)
  if mkdir "{scene.folder}/once" 2>/dev/null; then
    cd "{scene.folder}/other" && echo mine >>clusters/prod/lab/cluster.yaml &&
      {real} commit -q -a -m edit && {real} push -q origin main
  fi
esac
exec {real} "$@"
""")
    done = scene.apply(url)
    scene.check(done.code == 1 and done.codes == ["GPU0612"], f"edited: {done.text}")
    scene.check("nothing was pushed" in done.stderr, f"edited: {done.stderr}")
    scene.check(scene.git("log", "-1", "--format=%s", "main").strip() == "edit", "pushed over it")


def rewritten(scene, kind):
    """The remote went back or elsewhere between two runs: what it took away stays away."""
    url = scene.fill()
    base = scene.tip()
    scene.accepted(scene.apply(url), "first")
    if kind == "back":
        scene.git("update-ref", "refs/heads/main", base)
        scene.accepted(scene.apply(url), kind)
        scene.check(scene.git("rev-parse", "main~1").strip() == base, "on another commit")
    elif kind == "unrelated":
        tree = scene.git("rev-parse", f"{base}^{{tree}}").strip()
        other = scene.git("commit-tree", "-m", "anew", tree).strip()
        scene.git("update-ref", "refs/heads/main", other)
        scene.accepted(scene.apply(url), kind)
        scene.check(scene.git("rev-parse", "main~1").strip() == other, "on another commit")
    else:  # while we push: back to a commit that ours would be a descendant of
        scene.commit_elsewhere("taken-back", "x\n")
        scene.blueprint(replicas=2)
        real = shutil.which("git")
        scene.tool("git", f"""
case " $* " in *" push --porcelain "*)
  mkdir "{scene.folder}/once" 2>/dev/null &&
    {real} -C "{scene.fleet}" update-ref refs/heads/main main~1
esac
exec {real} "$@"
""")
        scene.accepted(scene.apply(url), kind)
        scene.check("taken-back" not in scene.files(), "what was taken back is there again")
    scene.sound(kind)


def says_more_than_it_does(scene):
    """A server that says `ok` and does not move the branch."""
    scene.fill()
    decoy = scene.folder / "decoy"
    decoy.mkdir()
    shutil.copytree(scene.fleet, decoy / "fleet.git")
    _, url = servers.web(scene, auth=False,
                         folder=lambda handler: decoy if handler.is_push() else scene.server)
    before = scene.tip()
    done = scene.apply(url)
    scene.refused(done, "GPU0528", "it lies", ["not known"])
    scene.check(scene.tip() == before, "the branch moved")


def breaks_off(scene, when):
    """The connection ends before or after the server has taken the commit, without its report."""
    scene.fill()
    post = (lambda handler: handler.is_push() and handler.command == "POST")

    def before(handler):
        if when != "before" or not post(handler):
            return False
        handler.close_connection = True
        return True

    _, url = servers.web(scene, auth=False, before=before,
                         after=lambda handler: when == "after" and post(handler))
    first = scene.tip()
    done = scene.apply(url)
    if when == "after":  # asked again, the server has it
        scene.accepted(done, when)
    else:
        scene.refused(done, "GPU0527", when, ["git: ", "not known"])
        scene.check(scene.tip() == first, "the branch moved")
    scene.sound(when)


def slow_push(scene, kind):
    """The push is under way when the time is over, or we are told to end."""
    url = scene.fill()
    entered = scene.folder / "entered"
    hook = scene.hook("pre-receive", f'touch "{entered}"\nexec sleep 30\n')
    before = scene.tip()
    started = time.monotonic()
    words = ("apply", "lab.yaml", "--repo", url, "--timeout", "2" if kind == "deadline" else "60")
    child = scene.start(*words)
    if kind != "deadline":
        scene.check(scene.wait_for(entered.exists), "the hook was not reached")
        child.send_signal(signal.SIGINT if kind == "SIGINT" else signal.SIGTERM)
        started = time.monotonic()
    done = scene.finish(child)
    scene.check(time.monotonic() - started < 20 * scene.slow, f"{kind}: took {done.seconds:.1f} s")
    if kind == "deadline":
        scene.refused(done, "GPU0520", kind, ["not known"])
    else:
        scene.check(done.code == -getattr(signal, kind), f"ended with {done.code}: {done.text}")
        scene.check(not done.pushed, "says it has pushed")
    scene.check(scene.wait_for(lambda: not scene.git_processes(), 5),
                f"left running: {scene.git_processes()}")
    scene.check(scene.tip() == before, "the branch moved")
    hook.unlink()
    scene.accepted(scene.apply(url), "next run")
    scene.sound(kind)


def unset(scene):
    """Variables of a surrounding git (a hook, an alias) lead nowhere."""
    url = scene.fill()
    other = scene.folder / "other.git"
    scene.git("init", "-q", "--bare", other, at=None)
    done = scene.apply(url, env={"GIT_DIR": str(other), "GIT_INDEX_FILE": str(other / "index"),
                                 "GIT_OBJECT_DIRECTORY": str(other / "objects"),
                                 "GIT_NAMESPACE": "x", "GIT_TRACE": "1", "LANGUAGE": "de",
                                 "LC_ALL": os.environ.get("LC_ALL", "C")})
    scene.accepted(done, "environment")
    scene.check(not any((other / "objects").glob("??")), "objects in the other repository")


def head_nowhere(scene, kind):
    """HEAD of the repository names a branch that is not there: what a new branch starts with."""
    url = scene.fill()
    if kind == "local":
        url = scene.fleet
    if kind == "several":
        scene.git("branch", "-m", "main", "a")
        scene.git("branch", "b", "a")
    scene.git("symbolic-ref", "HEAD", "refs/heads/gone")
    done = scene.apply(url, "--branch", "new")
    if kind == "several":
        scene.refused(done, "GPU0503", "several", ["symbolic-ref"])
        return
    scene.check(done.code == 0, f"{kind}: {done.text}")
    scene.check(scene.git("rev-parse", "new~1").strip() == scene.tip(), f"{kind}: not from main")
    scene.sound(kind)


def cases(_):
    return ([(f"{hook} refuses by {kind}", hook_refuses, kind, hook)
             for kind, hook in (("file", "pre-receive"), ("git", "pre-receive"),
                                ("http", "update"), ("ssh", "pre-receive"))] +
            [(f"lost {times} times", loses, times) for times in (1, 4, 40)] +
            [(f"rewritten: {kind}", rewritten, kind) for kind in ("back", "unrelated", "meanwhile")] +
            [(f"connection ends {when}", breaks_off, when) for when in ("before", "after")] +
            [(f"slow push: {kind}", slow_push, kind) for kind in ("deadline", "SIGTERM", "SIGINT")] +
            [("protected branch", protected), ("checked out", checked_out),
             ("edited meanwhile", takes_part), ("says more than it does", says_more_than_it_does),
             ("variables of git", unset)] +
            [(f"HEAD leads nowhere: {kind}", head_nowhere, kind)
             for kind in ("file", "local", "several")])
