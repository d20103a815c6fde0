#!/usr/bin/env python3
"""Bases and fleets as inputs: what a change of each file runs again, and what fleets of any size
render.

A cluster that is passed over must say the same as a run of it. The sample of a fleet has twelve
clusters in few lines, and each is what its blueprint of one file would be. The work for a fleet
grows with its clusters, not faster.
"""

import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from support.program import ROOT, Tally, arguments, environment, read_tree, run  # noqa: E402

RAN = re.compile(rb"^gpuctl: (.+): derive$", re.M)
SAMPLE = ROOT / "blueprints/fleet"
MOST_LINES = 120
MANY = 300

BASE = """apiVersion: gpuctl.dev/v1alpha1
kind: Blueprint
spec:
  platform: aws
  baseDomain: example.com
  openshift: {version: "4.20"}
  aws: {region: eu-central-1, zones: [eu-central-1a]}
  access: {pullSecret: {env: PULL_SECRET}}
  gpuPools:
    - {name: gpu, instanceType: g5.xlarge, replicas: 1}
  ignore:
    - {code: GPU4609, reason: the quota is there}
"""
FLEET = """apiVersion: gpuctl.dev/v1alpha1
kind: Fleet
metadata: {name: ml}
spec:
  extends: base.yaml
  stages:
    - {name: dev}
    - {name: prod, extends: prod/base.yaml, spec: {gitops: {maxEffect: drain}}}
  clusters:
    - {name: one, stage: dev}
    - name: ${item.name}
      stage: prod
      table: sites.csv
      spec:
        gpuPools: [{name: gpu, replicas: "${int(item.replicas)}"}]
"""
PROD = """apiVersion: gpuctl.dev/v1alpha1
kind: Blueprint
spec:
  extraManifests: [{layer: 50-platform, path: extra.yaml}]
"""
EXTRA = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra, namespace: default}\n"
FACTS = """apiVersion: gpuctl.dev/v1alpha1
kind: Facts
metadata: {name: NAME}
spec: {infraID: NAME-x7k2p, bootImages: {amd64: ami-0a1b2c3d4e5f60718}}
"""


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def append(path, text):
    path.write_text(path.read_text() + text)


def replace(path, old, new):
    text = path.read_text()
    assert old in text, (path, old)
    path.write_text(text.replace(old, new))


class Scene:
    """A fleet of four clusters and a bare repository."""

    def __init__(self, gpuctl, folder):
        self.gpuctl, self.folder, self.env = gpuctl, folder, environment(folder)
        write(folder / "base.yaml", BASE)
        write(folder / "fleet.yaml", FLEET)
        write(folder / "prod/base.yaml", PROD)
        write(folder / "prod/extra.yaml", EXTRA)
        write(folder / "sites.csv", "name,replicas\ntwo,2\nthree,3\nfour,4\n")
        for stage, name in (("dev", "one"), ("prod", "two"), ("prod", "three"), ("prod", "four")):
            write(folder / f"{stage}/{name}.facts.yaml", FACTS.replace("NAME", name))
        run(["git", "init", "-q", "--bare", "-b", "main", folder / "fleet.git"], env=self.env)

    def apply(self, *words):
        return run([self.gpuctl, "-v", "apply", self.folder / "fleet.yaml", "--repo",
                    self.folder / "fleet.git", *words], env=self.env)


def ran(done):
    return {name.decode().rpartition("#")[2] for name in RAN.findall(done.stderr)}


def said(done):
    return [line for line in done.stderr.splitlines() if not line.startswith(b"gpuctl: ")]


def changes():
    """(what is changed, how, which clusters must run again)."""
    all_four = {"dev/one", "prod/two", "prod/three", "prod/four"}
    prod = all_four - {"dev/one"}
    yield "a comment at the head of the fleet", lambda s: replace(
        s.folder / "fleet.yaml", "spec:\n  extends", "# moved\nspec:\n  extends"), set()
    yield "a base of all", lambda s: replace(s.folder / "base.yaml", "g5.xlarge", "g6.xlarge"), all_four
    yield "a base of a stage", lambda s: replace(
        s.folder / "prod/base.yaml", "spec:", "metadata: {labels: {a: b}}\nspec:"), prod
    yield "what a base names", lambda s: append(s.folder / "prod/extra.yaml", "data: {a: b}\n"), prod
    yield "the spec of a stage", lambda s: replace(
        s.folder / "fleet.yaml", "maxEffect: drain", "maxEffect: gpu-pods"), prod
    yield "an entry", lambda s: replace(
        s.folder / "fleet.yaml", "{name: one, stage: dev}",
        "{name: one, stage: dev, labels: {team: ml}}"), {"dev/one"}
    yield "a row of the table", lambda s: replace(s.folder / "sites.csv", "three,3", "three,5"), {"prod/three"}
    yield "a row that is new", lambda s: (
        append(s.folder / "sites.csv", "five,1\n"),
        write(s.folder / "prod/five.facts.yaml", FACTS.replace("NAME", "five"))), {"prod/five"}
    yield "a row that is gone", lambda s: replace(s.folder / "sites.csv", "three,3\n", ""), set()
    yield "facts", lambda s: append(s.folder / "prod/two.facts.yaml", "# x\n"), {"prod/two"}
    yield "facts that are gone", lambda s: (s.folder / "dev/one.facts.yaml").unlink(), {"dev/one"}


def check_changes(gpuctl, scratch, tally):
    for number, (what, change, expected) in enumerate(changes()):
        scene = Scene(gpuctl, scratch / f"change-{number}")
        first = scene.apply()
        tally.check(first.returncode == 0 and len(ran(first)) == 4,
                    f"{what}: the first run: {first.stderr.decode()[-800:]}")
        again = scene.apply()
        tally.check(again.returncode == 0 and not ran(again) and not said(again),
                    f"{what}: the second run: {ran(again)} {again.stderr.decode()[-500:]}")
        change(scene)
        seen = scene.apply("--allow", "machines-deleted", "--allow", "drain", "--allow", "node-recreate")
        tally.check(seen.returncode == 0 and ran(seen) == expected,
                    f"{what}: ran {ran(seen)}, not {expected}: {seen.stderr.decode()[-800:]}")


def check_moved_lines(gpuctl, scratch, tally):
    """Where there is something to say, a line that moves is said at its new place."""
    scene = Scene(gpuctl, scratch / "moved")
    (scene.folder / "dev/one.facts.yaml").unlink()
    scene.apply()
    replace(scene.folder / "fleet.yaml", "spec:\n  extends", "# moved\nspec:\n  extends")
    done = scene.apply()
    tally.check(ran(done) == {"dev/one"} and b"fleet.yaml:11:" in done.stderr,
                f"a place that moved: {ran(done)} {done.stderr.decode()[-800:]}")


def check_extends(gpuctl, scratch, tally):
    """A base is an input of the blueprints that extend it, and of no other."""
    folder, env = scratch / "extends", environment(scratch)
    write(folder / "deep/common.yaml", BASE)
    write(folder / "base.yaml",
          "apiVersion: gpuctl.dev/v1alpha1\nkind: Blueprint\nextends: deep/common.yaml\n")
    for name, extends in (("a", "base.yaml"), ("b", "base.yaml"), ("c", "deep/common.yaml")):
        write(folder / f"{name}.yaml", "apiVersion: gpuctl.dev/v1alpha1\nkind: Blueprint\n"
              f"metadata: {{name: {name}}}\nextends: {extends}\n")
    run(["git", "init", "-q", "--bare", "-b", "main", folder / "fleet.git"], env=env)

    def apply():
        done = run([gpuctl, "-v", "apply", folder / "a.yaml", folder / "b.yaml", folder / "c.yaml",
                    "--repo", folder / "fleet.git"], env=env)
        tally.check(done.returncode == 0, f"extends: {done.stderr.decode()[-500:]}")
        return {pathlib.Path(name).stem for name in ran(done)}

    tally.check(apply() == {"a", "b", "c"}, "extends: the first run")
    tally.check(apply() == set(), "extends: the second run")
    append(folder / "base.yaml", "spec: {stage: prod}\n")
    tally.check(apply() == {"a", "b"}, "extends: a base that two extend")
    append(folder / "deep/common.yaml", "# x\n")
    tally.check(apply() == {"a", "b", "c"}, "extends: a base behind a base")


def check_sample(gpuctl, scratch, tally):
    lines = sum(len(path.read_text().splitlines()) for path in SAMPLE.iterdir())
    tally.check(lines <= MOST_LINES, f"the sample has {lines} lines, at most {MOST_LINES} are wanted")
    env = environment(scratch)
    done = run([gpuctl, "render", SAMPLE / "fleet.yaml", "-o", scratch / "sample"], env=env)
    tally.check(done.returncode == 0, f"the sample: {done.stderr.decode()[-800:]}")
    clusters = sorted(path.parent.relative_to(scratch / "sample/clusters").as_posix()
                      for path in (scratch / "sample").glob("clusters/*/*/gpuctl.lock"))
    tally.check(len(clusters) == 12 and len({one.split("/")[0] for one in clusters}) == 3,
                f"the sample has {clusters}")
    # As a blueprint of one file, each cluster is the same but for where values are written.
    for cluster in clusters:
        shown = run([gpuctl, "fleet", "show", SAMPLE / "fleet.yaml", cluster, "--plain"], env=env)
        annotated = run([gpuctl, "fleet", "show", SAMPLE / "fleet.yaml", cluster], env=env)
        bare = re.sub(rb"  # \S+:\d+$", b"", annotated.stdout, flags=re.M)
        tally.check(bare == shown.stdout, f"{cluster}: with places it is another blueprint")
        write(scratch / "alone" / cluster / "blueprint.yaml", shown.stdout.decode())
        alone = scratch / "alone" / cluster / "out"
        done = run([gpuctl, "render", scratch / "alone" / cluster / "blueprint.yaml", "-o", alone], env=env)
        tally.check(done.returncode == 0, f"{cluster} alone: {done.stderr.decode()[-500:]}")
        tally.check(read_tree(alone / "clusters") == {
            path: text for path, text in read_tree(scratch / "sample/clusters").items()
            if str(path).startswith(cluster + "/")}, f"{cluster} is another one alone")


def check_many(gpuctl, scratch, tally):
    """One fault in a base of many clusters is one finding, and each cluster is there once."""
    folder, env = scratch / "many", environment(scratch)
    write(folder / "base.yaml", BASE)
    write(folder / "sites.csv", "name,replicas\n" + "".join(f"c-{i},{i % 5 + 1}\n" for i in range(MANY)))
    write(folder / "fleet.yaml", FLEET.replace(", extends: prod/base.yaml", ""))
    trees = []
    for jobs in (1, 4):
        done = run([gpuctl, "render", folder / "fleet.yaml", "-o", folder / f"out-{jobs}", "-j", jobs], env=env)
        tally.check(done.returncode == 0, f"many: {done.stderr.decode()[-500:]}")
        trees.append(read_tree(folder / f"out-{jobs}"))
    tally.check(trees[0] == trees[1], "many: threads matter")
    tally.check(len(list((folder / "out-1").glob("clusters/*/*/gpuctl.lock"))) == MANY + 1, "many: some are missing")
    append(folder / "base.yaml", "  nonsense: 1\n")
    done = run([gpuctl, "validate", folder / "fleet.yaml"], env=env)
    tally.check(done.returncode == 1 and done.stderr.count(b"error[") == 1
                and f"and {MANY + 1 - 5} more".encode() in done.stderr and done.stderr.endswith(b"\n1 error\n"),
                f"many: one fault: {done.stderr.decode()[:1500]}")


def main():
    gpuctl = arguments(__doc__).gpuctl
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="fleets-") as temporary:
        scratch = pathlib.Path(temporary)
        check_changes(gpuctl, scratch, tally)
        check_moved_lines(gpuctl, scratch, tally)
        check_extends(gpuctl, scratch, tally)
        check_sample(gpuctl, scratch, tally)
        check_many(gpuctl, scratch, tally)
    tally.close()


if __name__ == "__main__":
    main()
