"""Branches that are to be merged: planned anew on their base, and merged as a forge does it."""

import json
import pathlib
import shutil

import yaml

import servers
from transports import reach

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The sample of each platform; pools are copies of its first one.
SAMPLES = {"aws": "aws-p4d-mig-mixed", "gcp": "gcp-n1-t4", "gke": "gke-l4-separate-pool",
           "vsphere": "vsphere-passthrough-rdma"}
NAMES = ("first", "alpha", "omega")


def write(scene, platform, *numbers, branch=None):
    """The blueprint of a platform with the first pool and those of these numbers."""
    blueprint = yaml.safe_load((ROOT / f"blueprints/{SAMPLES[platform]}.yaml").read_text())
    old = blueprint["metadata"]["name"]
    blueprint["metadata"]["name"] = "lab"
    if branch:
        blueprint["spec"]["gitops"]["branch"] = branch
    first = blueprint["spec"]["gpuPools"][0]
    blueprint["spec"]["gpuPools"] = [{**first, "name": NAMES[number]} for number in (0, *numbers)]
    # JSON is YAML too, and has no aliases.
    (scene.work / "lab.yaml").write_text(json.dumps(blueprint, indent=2))
    facts = ROOT / f"blueprints/{SAMPLES[platform]}.facts.yaml"
    text = facts.read_text().replace(old, "lab") if facts.exists() else (
        "apiVersion: gpuctl.dev/v1alpha1\nkind: Facts\nmetadata: {name: lab}\nspec: {}\n")
    (scene.work / "lab.facts.yaml").write_text(text)


def apply(scene, url, branch, name="lab"):
    return scene.apply(url, *(["--branch", branch] if branch else []), "--max-effect", "upgrade",
                       "--allow", "unknown", name=name)


def propose(scene, url, platform, branch, *numbers):
    write(scene, platform, *numbers)
    done = apply(scene, url, branch)
    scene.check(done.code == 0, f"{branch}: {done.text}")
    return done


def merge(scene, branch, squash):
    """As the server of a forge does it; False when there is a conflict."""
    clone = scene.folder / "forge"
    shutil.rmtree(clone, ignore_errors=True)
    scene.git("clone", "-q", scene.fleet, clone, at=None)
    way = ["--squash"] if squash else ["--no-ff", "-m", f"merge {branch}"]
    scene.git("merge", "-q", *way, f"origin/{branch}", at=clone, good=False)
    if scene.git("ls-files", "--unmerged", at=clone):
        return False
    if squash:
        scene.git("commit", "-qm", f"squash {branch}", at=clone)
    scene.git("push", "-q", "origin", "main", at=clone)
    return True


def two(scene, platform, squash, first):
    """Two pull requests for different pools of one cluster, made from the same base, merge in either
    order with one more `apply --branch` in between at most, and give what one apply gives."""
    scene.fill()
    url = reach(scene, "git")
    propose(scene, url, platform, "")
    base = scene.tip()
    propose(scene, url, platform, "both", 1, 2)
    wanted = scene.git("rev-parse", "both:clusters").strip()
    second = 3 - first
    for number in (1, 2):
        propose(scene, url, platform, f"pool-{number}", number)
        scene.check(scene.git("rev-parse", f"pool-{number}~1").strip() == base, "another parent")
    scene.check(merge(scene, f"pool-{first}", squash), "the first does not merge")
    merged = scene.tip()
    propose(scene, url, platform, f"pool-{second}", 1, 2)
    scene.check(scene.git("rev-parse", f"pool-{second}~1").strip() == merged,
                "the second was not planned anew on its base")
    scene.check(merge(scene, f"pool-{second}", squash), "the second does not merge")
    scene.check(scene.git("rev-parse", "main:clusters").strip() == wanted, "another tree in the end")
    propose(scene, url, platform, "", 1, 2)
    scene.check(scene.git("rev-parse", "main:clusters").strip() == wanted, "apply finds a difference")
    scene.sound("two")


def anew(scene, kind):
    """One branch, planned again and again: it has one commit, on the newest base, or is left alone."""
    scene.fill()
    url = scene.fleet if kind == "local" else reach(scene, kind)
    propose(scene, url, "aws", "")
    propose(scene, url, "aws", "more", 1)
    scene.commit_elsewhere("docs/page.md", "more\n")
    moved = scene.tip()
    done = propose(scene, url, "aws", "more", 1, 2)
    scene.check("GPU0536" not in done.stderr, done.text)
    scene.check(scene.git("rev-list", "--count", "main..more").strip() == "1", "one commit")
    scene.check(scene.git("rev-parse", "more~1").strip() == moved, "not on the newest base")
    tip = scene.tip("more")
    done = propose(scene, url, "aws", "more", 1, 2)
    scene.check("branch more has that already" in done.stdout and scene.tip("more") == tip, done.text)
    # Back to what the base has: there is nothing to propose, and the branch says otherwise.
    done = propose(scene, url, "aws", "more")
    scene.check("GPU0537" in done.stderr and scene.tip("more") == tip, done.text)
    scene.sound(kind)


def kept(scene, why):
    """What others did on a branch stays, and is built on; a note says so."""
    scene.fill()
    url = reach(scene, "git")
    propose(scene, url, "aws", "")
    propose(scene, url, "aws", "more", 1)
    if why == "commit":
        scene.commit_elsewhere("notes.md", "mine\n", branch="more")
    elif why == "edit":  # amended: gpuctl's message, and not its files
        clone = scene.folder / "amender"
        scene.git("clone", "-q", "-b", "more", scene.fleet, clone, at=None)
        path = clone / "clusters/prod/lab/cluster.yaml"
        path.write_text(path.read_text() + "# mine\n")
        scene.git("commit", "-qa", "--amend", "--no-edit", at=clone)
        scene.git("push", "-q", "--force", "origin", "more", at=clone)
    elif why == "merge":
        scene.commit_elsewhere("docs/page.md", "more\n")
        clone = scene.folder / "merger"
        scene.git("clone", "-q", "-b", "more", scene.fleet, clone, at=None)
        scene.git("merge", "-q", "--no-edit", "origin/main", at=clone)
        scene.git("push", "-q", "origin", "more", at=clone)
    elif why == "cluster":
        scene.blueprint(name="other")
        done = apply(scene, url, "more", "other")
        scene.check(done.code == 0 and done.pushed, done.text)
    tip = scene.tip("more")
    write(scene, "aws", 1, 2)
    done = apply(scene, url, "more")
    scene.check("GPU0536" in done.stderr, f"{why}: {done.text}")
    if why == "edit":
        scene.check(done.codes == ["GPU0612"] and scene.tip("more") == tip, done.text)
        return
    scene.check(done.code == 0 and done.pushed, done.text)
    scene.check(scene.git("rev-parse", "more~1").strip() == tip, "what was there is lost")
    scene.sound(why)


def followed(scene):
    """A branch that the cluster's GitOps controller follows is never made anew."""
    scene.fill()
    url = reach(scene, "git")
    propose(scene, url, "aws", "")
    for numbers in ((1,), (1, 2)):
        write(scene, "aws", *numbers, branch="live")
        tip = scene.tip("live") or scene.tip()
        done = apply(scene, url, "live")
        scene.check(done.code == 0 and done.pushed and "GPU0536" not in done.stderr, done.text)
        scene.check(scene.git("rev-parse", "live~1").strip() == tip, "made anew")


def moved(scene):
    """Somebody pushes to the branch between fetch and push: the lease holds, and the next try finds
    that the branch is no longer only ours."""
    scene.fill()
    url = reach(scene, "git")
    propose(scene, url, "aws", "")
    propose(scene, url, "aws", "more", 1)
    theirs = scene.git("commit-tree", "more^{tree}", "-p", "more", "-m", "theirs").strip()
    real = shutil.which("git")
    once = scene.folder / "once"
    scene.tool("git", f'case " $* " in *" push "*) [ -e {once} ] || {{ : >{once}; '
                      f'{real} -C {scene.fleet} update-ref refs/heads/more {theirs}; }};; esac\n'
                      f'exec {real} "$@"\n')
    write(scene, "aws", 1, 2)
    done = apply(scene, url, "more")
    scene.check(done.code == 0 and done.pushed, done.text)
    scene.check(once.exists(), "no push was seen")
    scene.check(scene.git("rev-parse", "more~1").strip() == theirs, "their commit is lost")
    scene.sound("moved")


def guarded(scene):
    """A server that takes no branch back says so; nothing else happens."""
    scene.fill()
    scene.git("config", "receive.denyNonFastForwards", "true")
    url = servers.daemon(scene)
    propose(scene, url, "aws", "")
    propose(scene, url, "aws", "more", 1)
    tip = scene.tip("more")
    write(scene, "aws", 1, 2)
    done = apply(scene, url, "more")
    scene.check(done.code == 1 and done.codes and scene.tip("more") == tip, done.text)


def cases(_options):
    return ([(f"two, {platform}, {'squashed' if squash else 'merged'}, {first} first", two, platform,
              squash, first) for platform in SAMPLES for squash in (False, True)
             for first in (1, 2)] +
            [(f"anew, {kind}", anew, kind) for kind in ("git", "local")] +
            [(f"kept for a {why}", kept, why) for why in ("commit", "edit", "merge", "cluster")] +
            [("followed", followed), ("moved", moved), ("guarded", guarded)])
