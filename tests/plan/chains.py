#!/usr/bin/env python3
"""Chains of edits on the samples, committed one after the other, from a fixed seed.

Every name that a label of any commit carried must be there in the last one, and must still mean what
it meant: nodes keep the labels they were made with, and a configuration that is gone, or another one
under the same name, takes their GPUs away. What `plan` said before each commit is what it wrote, and
`diff` is the patch of that commit. The plan of the edit taken back mirrors the one of the edit, but
for what leaves in steps. At the end the next steps leave nothing behind that is leaving.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

try:
    import yaml

    from support import yaml_text
except ImportError:
    print("skipped: PyYAML is not here (Debian: python3-yaml)")
    raise SystemExit(77)

LENGTH, TRIES = 5, 15
ENVIRONMENT = os.environ | {
    "PULL_SECRET": "placeholder", "SSH_PUBLIC_KEY": "placeholder", "GPUCTL_DATE": "2025-12-01",
    "GIT_AUTHOR_NAME": "lab", "GIT_AUTHOR_EMAIL": "lab@example.com",
    "GIT_COMMITTER_NAME": "lab", "GIT_COMMITTER_EMAIL": "lab@example.com", "HOME": "/nonexistent"}
LABELS = {"nvidia.com/mig.config": "mig-parted-config",
          "nvidia.com/device-plugin.config": "device-plugin-config"}
RETAINED = ("migManager.config", "devicePlugin.config", "-30-operator-crs]", "-00-namespaces]")  # as long as a name is
NOTHING = '{"clusters": [{}]}'
ALLOW = ["--max-effect", "upgrade", "--allow", "refused", "--allow", "unknown"]


# Each edit changes a blueprint in place, or gives False where it does not apply.

def pool_of(blueprint, dice, wanted=lambda pool: True):
    spec = blueprint["spec"]
    pools = [pool for pool in spec.get("gpuPools", []) + spec.get("machinePools", []) if wanted(pool)]
    return dice.choice(pools) if pools else None


def recut(blueprint, dice):
    pool = pool_of(blueprint, dice, lambda one: "layouts" in one.get("mig", {}))
    if not pool:
        return False
    layout = dice.choice(pool["mig"]["layouts"])
    parts = layout["partitions"]
    name = dice.choice(sorted(parts))
    parts[name] = max(1, parts[name] + dice.choice([-2, -1, 1]))
    return True


def share(blueprint, dice):
    pool = pool_of(blueprint, dice, lambda one: "profiles" in one.get("sharing", {}))
    if not pool:
        return False
    way = pool["sharing"]["profiles"][dice.choice(sorted(pool["sharing"]["profiles"]))]
    for part in way.values():
        if isinstance(part, dict) and "replicas" in part:
            part["replicas"] = dice.choice([2, 3, 4, 8])
            return True
    return False


def rename_profile(blueprint, dice):
    pool = pool_of(blueprint, dice, lambda one: "profiles" in one.get("sharing", {}))
    if not pool:
        return False
    sharing = pool["sharing"]
    old = dice.choice(sorted(sharing["profiles"]))
    new = dice.choice(["alpha", "beta", "gamma"])
    if new in sharing["profiles"]:
        return False
    sharing["profiles"][new] = sharing["profiles"].pop(old)
    if sharing.get("default") == old:
        sharing["default"] = new
    return True


def resize(blueprint, dice):
    pool = pool_of(blueprint, dice, lambda one: "replicas" in one)
    if not pool:
        return False
    pool["replicas"] = dice.randint(0, 6)
    return True


def rescale(blueprint, dice):
    pool = pool_of(blueprint, dice, lambda one: "scaling" in one)
    if not pool:
        return False
    pool["scaling"]["max"] = pool["scaling"]["min"] + dice.randint(1, 5)
    return True


def remove_pool(blueprint, dice):
    pools = blueprint["spec"].get("gpuPools", [])
    if len(pools) < 2:
        return False
    pools.remove(dice.choice(pools))
    return True


def add_pool(blueprint, dice):
    pools = blueprint["spec"].get("gpuPools", [])
    if not pools:
        return False
    copy = json.loads(json.dumps(dice.choice(pools)))
    copy["name"] = dice.choice(["extra", "spare", "more"])
    if any(pool["name"] == copy["name"] for pool in pools):
        return False
    pools.append(copy)
    return True


def label(blueprint, dice):
    pool = pool_of(blueprint, dice)
    if not pool:
        return False
    pool.setdefault("labels", {})["example.com/team"] = dice.choice(["a", "b", "c"])
    return True


EDITS = [recut, recut, share, share, rename_profile, resize, rescale, remove_pool, add_pool, label]


def run(gpuctl, *arguments):
    return subprocess.run([gpuctl, *map(str, arguments)], capture_output=True, text=True,
                          env=ENVIRONMENT, stdin=subprocess.DEVNULL, timeout=120)


def objects(directory):
    for path in sorted(directory.rglob("*.yaml")):
        if "layers" in path.parts or "management" in path.parts:
            document = yaml_text.load(path.read_text())
            if isinstance(document, dict) and "kind" in document:
                yield document


def labels_of(document):
    if document["kind"] == "MachineSet":
        return document["spec"]["template"]["spec"].get("metadata", {}).get("labels", {})
    if document["kind"] == "ContainerNodePool":
        return document["spec"].get("nodeConfig", {}).get("labels", {})
    return {}


def meanings_of(document):
    """ConfigMap name and key -> what it means."""
    if document["kind"] != "ConfigMap" or document["metadata"]["name"] not in LABELS.values():
        return {}
    name = document["metadata"]["name"]
    out = {}
    for key, text in document.get("data", {}).items():
        tree = yaml_text.load(text)
        if name == "mig-parted-config":
            out |= {(name, one): value for one, value in tree["mig-configs"].items()}
        elif key != "default":  # no label names it
            out[name, key] = tree
    return out


def leaving_in(plan):
    """Files that leave with the next step, without those of layers, whose wiring leaves with them."""
    cluster = json.loads(plan)["clusters"][0]
    paths = [path.split("/", 3)[3] for path in cluster.get("next", {}).get("removes", [])]
    return {path for path in paths if not path.endswith("kustomization.yaml")}, \
        {path.split("/")[1] for path in paths if path.endswith("kustomization.yaml")}


def values_of(plan, leaving):
    """(object, path) -> (value before, value after), without the names that are retained, the layer
    that is there for as long as they are, and what leaves in steps."""
    out = {}
    files, layers = leaving
    for one in json.loads(plan)["clusters"][0]["objects"]:
        if one.get("path") in files or one["name"].endswith(tuple(f"-{layer}" for layer in layers)):
            continue
        if one["name"].split("/")[-1] in LABELS.values() or one["name"].endswith("-30-operator-crs"):
            continue
        if one["operation"] != "changed":
            there, gone = (None, "an object"), ("an object", None)
            out[one["kind"], one["name"], ""] = there if one["operation"] == "created" else gone
            continue
        for finding in one["findings"]:
            for field in finding.get("fields", []):
                if field["path"].endswith(RETAINED):
                    continue
                out[one["kind"], one["name"], field["path"]] = (field.get("from"), field.get("to"))
    return out


class Chain:
    def __init__(self, gpuctl, sample, seed, scratch):
        self.gpuctl, self.seed, self.scratch = gpuctl, seed, scratch
        self.sample = sample
        self.dice = random.Random(seed)
        self.blueprint = yaml_text.load(sample.read_text())
        facts = sample.with_name(sample.stem + ".facts.yaml")
        if facts.exists():
            (scratch / "cluster.facts.yaml").write_text(facts.read_text())
        self.repo = scratch / "repo"
        self.carried, self.meanings, self.findings = {}, {}, []
        self.last_plan = None

    def fail(self, text):
        self.findings.append(f"{self.sample.stem}, seed {self.seed}: {text}")

    def commit(self, blueprint):
        path = self.scratch / "cluster.yaml"
        path.write_text(yaml.safe_dump(blueprint, sort_keys=False))
        planned, patch = None, None
        if self.repo.exists():
            planned = run(self.gpuctl, "plan", path, "--repo", self.repo, "-o", "json", *ALLOW)
            patch = run(self.gpuctl, "diff", path, "--repo", self.repo).stdout
        done = run(self.gpuctl, "apply", path, "--repo", self.repo, *ALLOW)
        if done.returncode != 0:
            if planned is not None and planned.returncode == 0:
                self.fail(f"plan had no objection, apply had: {done.stderr[-400:]}")
            return False
        if planned is not None:
            self.compare(planned, done, patch)
        self.plan_before = self.last_plan.stdout if self.last_plan else NOTHING
        self.last_plan = planned
        return True

    def git(self, *arguments):
        return subprocess.run(["git", "-C", str(self.repo), *arguments], capture_output=True, text=True,
                              check=True, env=ENVIRONMENT).stdout

    def compare(self, planned, done, patch):
        if planned.returncode != 0:
            return self.fail(f"plan failed, apply did not: {planned.stderr[-400:]}")
        cluster = json.loads(planned.stdout)["clusters"][0]
        wrote = done.stdout.splitlines()[0].split(": ", 1)[1]
        if cluster["files"] != wrote:
            self.fail(f"plan said {cluster['files']}, apply wrote {wrote}")
        if wrote == "no change":
            return None
        shown = {one["path"] for one in cluster["objects"]}
        if patch != self.git("show", "--no-renames", "--format=", "HEAD"):
            self.fail("the patch of `diff` is not that of the commit")
        for line in self.git("show", "--name-status", "--format=", "HEAD").splitlines():
            path = line.split("\t")[-1].split("/", 3)[-1]
            if path.startswith("layers/") and not path.endswith("kustomization.yaml") and path not in shown:
                self.fail(f"plan did not show {path}")
        return None

    def mirror(self, before):
        """The plan of the blueprint that was there before the last commit."""
        path = self.scratch / "cluster.yaml"
        now = path.read_text()
        path.write_text(yaml.safe_dump(before, sort_keys=False))
        back = run(self.gpuctl, "plan", path, "--repo", self.repo, "-o", "json", *ALLOW)
        path.write_text(now)
        if back.returncode != 0:
            return self.fail(f"the plan of the edit taken back failed: {back.stderr[-400:]}")
        plans = [self.last_plan.stdout, back.stdout]
        files, layers = (set().union(*parts) for parts in zip(*map(leaving_in, [*plans, self.plan_before])))
        there, again = (values_of(plan, (files, layers)) for plan in plans)
        for key, (old, new) in there.items():
            if again.get(key) != (new, old):
                self.fail(f"{key}: {old} -> {new}, and taken back {again.get(key)}")
        for key in again.keys() - there.keys():
            self.fail(f"{key}: changes only when the edit is taken back: {again[key]}")
        return None

    def look(self):
        self.now = {}
        for document in objects(self.repo):
            for key, config_map in LABELS.items():
                value = labels_of(document).get(key)
                if value is not None:
                    self.carried[config_map, value] = document["metadata"]["name"]
            self.now |= meanings_of(document)
        for key, value in self.now.items():
            if self.meanings.setdefault(key, value) != value:
                self.fail(f"{key} changed its meaning")

    def go_on(self):
        """A layer may be empty once the objects in it are gone: two steps, then nothing leaves."""
        path = self.scratch / "cluster.yaml"
        path.write_text(yaml.safe_dump(self.blueprint, sort_keys=False))
        for options in (["--step", "2"], ["--step", "2"], []):
            done = run(self.gpuctl, "apply", path, "--repo", self.repo, *ALLOW, *options)
            if done.returncode != 0:
                self.fail(f"apply {' '.join(options)} failed: {done.stderr[-400:]}")
        if not done.stdout.endswith(": no change\n"):
            self.fail(f"apply after the last step: {done.stdout[-400:]}")
        locks = list(self.repo.glob("clusters/*/*/gpuctl.lock"))
        if any("leaving: true" in lock.read_text() for lock in locks):
            self.fail("something is leaving after the last step")
        self.look()

    def run(self):
        if not self.commit(self.blueprint):
            self.fail("the sample itself was refused")
            return 0
        self.look()
        commits = 0
        for _ in range(TRIES):
            if commits == LENGTH:
                break
            edited = json.loads(json.dumps(self.blueprint))
            edit = self.dice.choice(EDITS)
            if edit(edited, self.dice) is False or not self.commit(edited):
                continue  # an edit that gpuctl refuses is none
            self.mirror(self.blueprint)
            self.blueprint = edited
            commits += 1
            self.look()
        self.go_on()
        custom = {name for name, _ in self.now}
        for (config_map, name), user in self.carried.items():
            # Without a ConfigMap of ours those of the operator serve, which has the built-in names.
            built_in = config_map == "mig-parted-config" and config_map not in custom and name.startswith("all-")
            if (config_map, name) not in self.now and not built_in:
                self.fail(f"`{name}`, which {user} had, is gone from {config_map}")
        return commits


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gpuctl", default=str(ROOT / "build/release/gpuctl"))
    parser.add_argument("--chains", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    samples = sorted(path for path in (ROOT / "blueprints").glob("*.yaml") if not path.name.endswith(".facts.yaml"))
    findings, commits = [], 0

    def run(number):
        with tempfile.TemporaryDirectory() as scratch:
            chain = Chain(arguments.gpuctl, samples[number % len(samples)], arguments.seed + number, pathlib.Path(scratch))
            return chain.run(), chain.findings

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for made, found in pool.map(run, range(arguments.chains)):
            commits += made
            findings += found
    for finding in findings[:20]:
        print(finding)
    print(f"{arguments.chains} chains, {commits} commits after the first")
    if commits < arguments.chains:
        findings.append("too few commits")
    print(f"{max(arguments.chains - len(findings), 0)} passed, {len(findings)} failed")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
