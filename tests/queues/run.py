#!/usr/bin/env python3
"""Quotas of teams equal what counting device by device gives, for a thousand random sets of pools and teams.

Each set is rendered: flavors select the machines of their pools and no others, queues have the parts that tests/queues/sets.py
finds, Kueue knows each class of devices that pods claim, the published CRDs take all objects, and a quota of one more than there
can be is refused.
"""

import itertools
import json
import pathlib
import random
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from queues.sets import Set  # noqa: E402
from support.program import ROOT, SHARED, Tally, arguments, environment, run, skip  # noqa: E402

try:
    from support import yaml_text
except ImportError:
    skip("queues", "Python has no PyYAML (Debian: python3-yaml)")
SETS = 1000
BATCH = 50
SEED = 3901
UNITS = {"": 1, "k": 10**3, "M": 10**6}
BINARY = {"Gi": 1, "Ti": 2**10, "Pi": 2**20}
CRDS = [SHARED / "schemas/queues", SHARED / "schemas/openshift"]


def amount(quantity, memory):
    """A quantity as a number, memory in GiB; it has the largest unit without a fraction."""
    number, unit = re.fullmatch(r"(\d+)([a-zA-Z]*)", quantity).groups()
    units = BINARY if memory else UNITS
    if quantity == "0":
        return 0
    value = int(number) * units[unit]
    largest = max((size, name) for name, size in units.items() if value % size == 0)[1]
    assert unit == largest, f"{quantity} could have the unit {largest}"
    return value


def objects(cluster):
    """kind -> documents, of the kinds that are looked at."""
    found = {}
    for kind in ("ClusterQueue", "LocalQueue", "ResourceFlavor", "ResourceQuota", "MachineSet", "ContainerNodePool", "DeviceClass",
                 "Kueue", "Application"):
        paths = [path for folder in ("layers", "management") for path in (cluster / folder).rglob(f"{kind.lower()}-*.yaml")]
        found[kind] = [yaml_text.load(path.read_text()) for path in sorted(paths)]
    return found


def machines(one, cluster, found):
    """Labels of the nodes, by what makes them."""
    if one.platform == "gke":
        return [{"cloud.google.com/gke-nodepool": document["spec"]["resourceID"]} for document in found["ContainerNodePool"]]
    if one.platform == "existing-openshift":
        commands = re.findall(r"^\$ oc label nodes .*$", (cluster / "install/nodes.md").read_text(), re.M)
        return [dict(re.findall(r"'([^'=]+)=([^']*)'", command)) for command in commands]
    return [document["spec"]["template"]["spec"]["metadata"].get("labels", {}) for document in found["MachineSet"]]


def check_flavors(tally, one, cluster, found):
    nodes = machines(one, cluster, found)
    flavors = {document["metadata"]["name"]: document["spec"]["nodeLabels"] for document in found["ResourceFlavor"]}
    tally.check(sorted(flavors) == sorted(one.flavors), f"{one.name}: flavors {sorted(flavors)}, not {sorted(one.flavors)}")
    for name, labels in flavors.items():
        tally.check(any(labels.items() <= node.items() for node in nodes), f"{one.name}: flavor {name} selects no machine")
    for node in nodes:
        selecting = [name for name, labels in flavors.items() if labels.items() <= node.items()]
        tally.check(len(selecting) <= 1, f"{one.name}: flavors {selecting} select the same machines")


def check_queues(tally, one, found):
    expected = one.expected()
    queues = {document["metadata"]["name"]: document["spec"] for document in found["ClusterQueue"]}
    tally.check(sorted(queues) == sorted(expected), f"{one.name}: queues {sorted(queues)}")
    names = {name for offers in one.offers.values() for name in offers}
    for team in one.teams:
        spec = queues[team["name"]]
        group, = spec["resourceGroups"]
        what = f"{one.name}, team {team['name']}"
        tally.check(set(group["coveredResources"]) == names, f"{what}: covers {group['coveredResources']}")
        tally.check(("cohortName" in spec) == one.borrows, f"{what}: cohort")
        limits = team.get("borrowing", {})
        for flavor in group["flavors"]:
            own = expected[team["name"]][flavor["name"]]
            for resource in flavor["resources"]:
                name = resource["name"]
                wanted = {"nominalQuota": own[name]}
                if "limit" in limits:
                    wanted["borrowingLimit"] = one.offers[flavor["name"]][name] * limits["limit"] // 100
                if "lend" in limits:
                    wanted["lendingLimit"] = own[name] * limits["lend"] // 100
                got = {key: amount(value, name == "memory") for key, value in resource.items() if key != "name"}
                tally.check(got == wanted, f"{what}: {flavor['name']}, {name}: {got}, not {wanted}")
        tally.check({flavor["name"] for flavor in group["flavors"]} == set(one.flavors), f"{what}: flavors")
    local = {(document["metadata"]["namespace"], document["spec"]["clusterQueue"]) for document in found["LocalQueue"]}
    tally.check(local == {(place, team["name"]) for team in one.teams for place in team["namespaces"]},
                f"{one.name}: local queues {sorted(local)}")


def check_classes(tally, one, found):
    """Kueue knows each class of the cluster by the name that queues cover, and no other."""
    classes = sorted(document["metadata"]["name"] for document in found["DeviceClass"])
    charts = [document["spec"]["source"]["helm"]["valuesObject"] for document in found["Application"]
              if document["spec"]["source"].get("chart") == "kueue"]
    settings = [yaml_text.load(values["managerConfig"]["controllerManagerConfigYaml"]) for values in charts]
    settings += [document["spec"]["config"] for document in found["Kueue"]]
    kueue, = settings
    mapped = {row["name"]: row["deviceClassNames"] for row in kueue.get("resources", {}).get("deviceClassMappings", [])}
    wanted = {"nvidia.com/" + written["name"]: [written["name"]] for written, _ in one.pools} if one.claimed else {}
    tally.check(mapped == wanted, f"{one.name}: classes that count {mapped}, not {wanted}")
    tally.check(classes == sorted(name for names in wanted.values() for name in names), f"{one.name}: classes {classes}")


def check_limits(tally, one, found):
    expected = one.expected()
    got = {}
    for document in found["ResourceQuota"]:
        if document["metadata"]["name"].endswith("-gpus"):
            for name, value in document["spec"]["hard"].items():
                claims = re.fullmatch(r"(.+)\.deviceclass\.resource\.k8s\.io/devices", name)
                resource = "nvidia.com/" + claims[1] if claims else name.removeprefix("requests.")
                key = document["metadata"]["name"].removesuffix("-gpus"), resource
                got.setdefault(key, []).append(amount(value, False))
    for team in one.teams:
        for name in {name for offers in one.offers.values() for name in offers} - {"cpu", "memory"}:
            total = sum(own[name] for own in expected[team["name"]].values())
            parts = got.get((team["name"], name), [])
            tally.check(len(parts) == len(team["namespaces"]) and sum(parts) == total and max(parts) - min(parts) <= 1,
                        f"{one.name}, team {team['name']}: {name}: {parts}, not {total}")


def check_refusal(tally, gpuctl, env, one, folder):
    """One device more than there can be, for a team with a quota."""
    entries = [entry for team in one.teams for entry in team.get("quota", [])]
    if not entries:
        return
    entry = entries[0]
    name = next(iter(entry["resources"]))
    before = entry["resources"][name]
    taken = sum(other["resources"].get(name, 0) for other in entries if other["flavor"] == entry["flavor"])
    entry["resources"][name] = before + one.offers[entry["flavor"]][name] - taken + 1
    path = folder / "more.yaml"
    path.write_text(json.dumps(one.blueprint, indent=1))
    entry["resources"][name] = before
    done = run([gpuctl, "validate", path], env=env)
    tally.check(done.returncode == 1 and re.search(rb"error\[GPU390[45]\]", done.stderr),
                f"{one.name}: one more than there can be: exit code {done.returncode}\n{done.stderr.decode()}")


def main():
    gpuctl = arguments(__doc__).gpuctl
    tally = Tally()
    base = yaml_text.load((ROOT / "blueprints/vsphere-vgpu-licensed.yaml").read_text())
    options = [word for folder in CRDS if folder.is_dir() for word in ("--crds", folder)]
    with tempfile.TemporaryDirectory(prefix="queues-") as temporary:
        place = pathlib.Path(temporary)
        env = environment(place, PULL_SECRET="x")
        for start in range(0, SETS, BATCH):
            folder = place / str(start)
            folder.mkdir()
            sets = [Set(random.Random(SEED + i), f"set-{i}", base) for i in range(start, start + BATCH)]
            for one in sets:
                (folder / f"{one.name}.yaml").write_text(json.dumps(one.blueprint, indent=1))
                (folder / f"{one.name}.facts.yaml").write_text(json.dumps(one.facts, indent=1))
            done = run([gpuctl, "render", *(folder / f"{one.name}.yaml" for one in sets), "-o", folder / "out", *options], env=env)
            errors = re.findall(r"^error\[(?:.+\n)*", done.stderr.decode(), re.M)
            if not tally.check(done.returncode == 0, f"sets from {start}: " + "".join(errors)):
                continue
            for one in sets:
                cluster = folder / "out/clusters/dev" / one.name
                found = objects(cluster)
                if one.queued:
                    check_flavors(tally, one, cluster, found)
                    check_queues(tally, one, found)
                    check_classes(tally, one, found)
                else:
                    check_limits(tally, one, found)
            for one in itertools.islice(sets, 0, None, 10):
                check_refusal(tally, gpuctl, env, one, folder)
    tally.close()


if __name__ == "__main__":
    main()
