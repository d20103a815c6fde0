#!/usr/bin/env python3
"""Pools of nodes, random ones, where no MachineSet makes them.

Random blueprints with a seed, of an OpenShift of any origin and of GKE. Of those that are accepted what is rendered is
looked at with eyes of its own:
- an OpenShift: nothing makes machines; when the commands of install/nodes.md have run, no node is in two pools, nor in
  two machine config pools besides `worker`, and each has the taints of its pool;
- GKE: no two node pools have one name; sizes add up to those of the pool; of a cluster that exists nothing but pools,
  and what they need, is there, and each names that cluster.
What is refused must be refused for one of the reasons that a random blueprint can bring about.
"""

import collections
import json
import pathlib
import random
import re
import shlex
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from support import yaml_text  # noqa: E402
from support.program import Tally, arguments, environment, run  # noqa: E402

SEED = 20261124
TRIED = 100  # for each platform
LEAST_RENDERED = 0.3
ROLE = "node-role.kubernetes.io/"
MACHINES = {"MachineSet", "MachineAutoscaler", "MachineHealthCheck", "ClusterAutoscaler"}
NODES = [f"node-{i}" for i in range(12)]
RACKS = [{"example.com/rack": rack} for rack in "abc"] + [{"example.com/rack": "a", "example.com/half": "left"}]
# Nodes in two pools, roles and labels into other machine config pools, two pools of a name; on GKE pools whose names
# collide by generation, and fixed sizes that do not fit the zones.
EXPECTED = {"existing-openshift": {"GPU3312", "GPU3313", "GPU3315", "GPU3801", "GPU3802", "GPU3803"},
            "gke": {"GPU6607", "GPU6806", "GPU6840"}}


def nodes_of(rng):
    if rng.random() < 0.6:
        return {"nodes": {"names": sorted(rng.sample(NODES, rng.randint(1, 3)))}}
    return {"nodes": {"selector": rng.choice(RACKS)}, "replicas": rng.randint(1, 4)}


def openshift(rng):
    def pool(name, gpu):
        made = {"name": name, **nodes_of(rng)}
        if gpu:
            made["gpu"] = {"model": "L40S", "perNode": rng.choice([1, 4])}
        if rng.random() < 0.4:
            made["machineConfigPool"] = rng.choice(["worker", "infra", "ml", "gpu"])
        if rng.random() < 0.3:
            made["role"] = rng.choice(["infra", "storage", "ml"])
        if rng.random() < 0.4:
            made["taints"] = [{"key": "team", "value": name}]
        if rng.random() < 0.4:
            made["labels"] = {"example.com/team": name}
        return made
    names = ["a", "b", "infra", "ml", "worker"]
    return {"openshift": {"version": rng.choice(["4.18", "4.20", "4.22"])},
            "gpuPools": [pool(name, True) for name in rng.sample(names, rng.randint(0, 2))],
            "machinePools": [pool(name, False) for name in rng.sample(names[:4], rng.randint(0, 2))]}


def gke(rng):
    zones = ["us-central1-a", "us-central1-b", "us-central1-c"]

    def pool(name, machine):
        made = {"name": name, "machineType": machine}
        if rng.random() < 0.5:
            made["zones"] = sorted(rng.sample(zones, rng.randint(1, 3)))
        if rng.random() < 0.5:
            made["replicas"] = rng.randint(0, 6)
        else:
            least = rng.randint(0, 3)
            made["scaling"] = {"min": least, "max": least + rng.randint(1, 8)}
        if rng.random() < 0.3:
            made["generation"] = rng.randint(1, 3)
        if rng.random() < 0.2:
            made["spot"] = True
        if rng.random() < 0.3:
            made["labels"] = {"team": name}
        if rng.random() < 0.2:
            made["minCpuPlatform"] = "Intel Cascade Lake"
        if rng.random() < 0.2:
            made["networkTags"] = [name]
        return made
    spec = {"gke": {"project": "example-ml", "location": "us-central1", "nodeZones": zones, "version": "1.35"},
            "gpuPools": [pool(name, "g2-standard-8") for name in rng.sample(["l4", "l4-g2", "system", "a"], rng.randint(0, 3))],
            "machinePools": [pool(name, "n2-standard-8") for name in rng.sample(["infra", "infra-g3", "a"], rng.randint(0, 2))]}
    if rng.random() < 0.5:
        spec["cluster"] = {"existing": True, **({"name": "theirs"} if rng.random() < 0.5 else {})}
    else:
        spec["gke"]["controlPlane"] = {"privateEndpoint": True}
    if rng.random() < 0.3:
        spec["systemPool"] = {"machineType": "e2-standard-4"}
    return spec


def after(commands, spec):
    """Labels and taints of all nodes once the commands have run."""
    labels = {name: {} for name in NODES}
    for i, rack in enumerate(RACKS):
        labels |= {f"rack-{i}-{j}": dict(rack) for j in range(2)}
    taints = collections.defaultdict(set)
    for line in re.findall(r"^\$ (oc .*--overwrite .*)$", commands, re.M):
        words = shlex.split(line)
        rest = words[words.index("--overwrite") + 1:]
        if rest[0] == "-l":
            wanted = dict(pair.split("=", 1) for pair in rest[1].split(","))
            chosen, marks = [name for name in labels if wanted.items() <= labels[name].items()], rest[2:]
        else:
            chosen, marks = [word for word in rest if word in labels], [word for word in rest if word not in labels]
        for name in chosen:
            if words[1] == "label":
                labels[name] |= dict(mark.split("=", 1) for mark in marks)
            else:
                taints[name] |= set(marks)
    return labels, taints


def check_openshift(tally, what, spec, out, documents):
    tally.check(not MACHINES & set(documents), f"{what}: machines are made: {sorted(documents)}")
    commands = next(out.rglob("install/nodes.md")).read_text()
    labels, taints = after(commands, spec)
    roles = {next(iter(one["spec"]["nodeSelector"]["matchLabels"])).removeprefix(ROLE)
             for one in documents["MachineConfigPool"]}
    pools = {one["name"]: one for one in spec["gpuPools"] + spec["machinePools"]}
    for name, found in labels.items():
        wanted = [pool for pool, one in pools.items() if name in one["nodes"].get("names", [])
                  or one["nodes"].get("selector") and one["nodes"]["selector"].items() <= found.items()]
        tally.check(len(wanted) <= 1, f"{what}: {name} is in {wanted}")
        own = {key.removeprefix(ROLE) for key in found if key.startswith(ROLE)} & roles
        tally.check(len(own) <= 1, f"{what}: {name} is in machine config pools {sorted(own)}")
        tally.check([found.get("gpuctl.dev/pool")] == (wanted or [None]), f"{what}: {name} has {found}, not of {wanted}")
        if wanted:
            pool = pools[wanted[0]]
            tally.check(pool.get("labels", {}).items() <= found.items(), f"{what}: {name} lacks labels of {wanted[0]}")
            usual = [{"key": "nvidia.com/gpu"}] if "gpu" in pool else []
            asked = {one["key"] + (f"={one['value']}" if "value" in one else "") + ":NoSchedule"
                     for one in pool.get("taints", usual)}
            tally.check(taints[name] == asked, f"{what}: {name} has taints {taints[name]}, not {asked}")


def check_gke(tally, what, spec, out, documents):
    existing = spec.get("cluster", {}).get("existing", False)
    cluster = spec.get("cluster", {}).get("name", "lab")
    names = [one["spec"]["resourceID"] for one in documents["ContainerNodePool"]]
    tally.check(len(names) == len(set(names)), f"{what}: node pools {sorted(names)}")
    for pool in spec["gpuPools"] + spec["machinePools"]:
        number = pool.get("generation", 1)
        name = pool["name"] if number == 1 else f"{pool['name']}-g{number}"
        made = next((one["spec"] for one in documents["ContainerNodePool"] if one["spec"]["resourceID"] == name), None)
        if not tally.check(made is not None, f"{what}: no node pool {name} among {names}"):
            continue
        if "scaling" in pool:
            sizes = (made["autoscaling"]["totalMinNodeCount"], made["autoscaling"]["totalMaxNodeCount"])
            tally.check(sizes == (pool["scaling"]["min"], pool["scaling"]["max"]), f"{what}: {name} has {sizes}")
        else:
            size = made["nodeCount"] * len(made["nodeLocations"])
            tally.check(size == pool["replicas"], f"{what}: {name} has {size} nodes, not {pool['replicas']}")
        node = made["nodeConfig"]
        tally.check(node.get("spot", False) == pool.get("spot", False), f"{what}: {name} has spot {node.get('spot')}")
        tally.check(pool.get("labels", {}).items() <= node.get("labels", {}).items(), f"{what}: {name} lacks its labels")
        tally.check(node.get("minCpuPlatform") == pool.get("minCpuPlatform") and node.get("tags") == pool.get("networkTags"),
                    f"{what}: {name} has {node.get('minCpuPlatform')} and {node.get('tags')}")
        theirs = {"external": f"projects/example-ml/locations/us-central1/clusters/{cluster}"}
        tally.check(made["clusterRef"] == (theirs if existing else {"name": "lab"}), f"{what}: {made['clusterRef']}")
    if existing:
        beside = {"ComputeNetwork", "ComputeSubnetwork", "ComputeRouter", "ContainerCluster", "Service"} & set(documents)
        tally.check(not beside and len(names) == len(spec["gpuPools"] + spec["machinePools"]), f"{what}: {sorted(beside)}, {names}")


PLATFORMS = {"existing-openshift": (openshift, check_openshift), "gke": (gke, check_gke)}


def check(tally, gpuctl, platform, what, spec, scratch):
    """Whether it was rendered."""
    scratch.mkdir()
    (scratch / "blueprint.yaml").write_text(json.dumps(
        {"apiVersion": "gpuctl.dev/v1alpha1", "kind": "Blueprint", "metadata": {"name": "lab"},
         "spec": {"platform": platform, **spec}}))
    done = run([gpuctl, "render", scratch / "blueprint.yaml", "-o", scratch / "out"], env=environment(scratch))
    if done.returncode != 0:
        codes = set(re.findall(r"^error\[(GPU[0-9]{4})\]", done.stderr.decode(), re.M))
        tally.check(codes and codes <= EXPECTED[platform], f"{what}: refused: {done.stderr.decode()}")
        return False
    documents = collections.defaultdict(list)
    for folder in ("layers/*", "management"):
        for path in (scratch / "out").rglob(f"{folder}/*.yaml"):
            document = yaml_text.load(path.read_text())
            documents[document["kind"]].append(document)
    PLATFORMS[platform][1](tally, what, spec, scratch / "out", documents)
    return True


def main():
    gpuctl = arguments(__doc__).gpuctl
    tally = Tally()
    rng = random.Random(SEED)
    with tempfile.TemporaryDirectory(prefix="node-pools-") as temporary:
        for platform, (made, _) in PLATFORMS.items():
            rendered = sum(check(tally, gpuctl, platform, f"{platform} {number}", made(rng),
                                 pathlib.Path(temporary) / f"{platform}-{number}") for number in range(TRIED))
            print(f"{platform}: {rendered} of {TRIED} rendered")
            tally.check(rendered >= LEAST_RENDERED * TRIED, f"{platform}: only {rendered} of {TRIED} rendered")
    tally.close()


if __name__ == "__main__":
    main()
