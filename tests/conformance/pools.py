#!/usr/bin/env python3
"""Pools of random kinds, with and without GPUs, make a cluster that can work.

Random blueprints of the platforms with machine sets, with a seed. Of those that are accepted what is rendered is
looked at with eyes of its own:
- no two MachineSets have one name, and each selects its own machines;
- no node is in two machine config pools besides `worker`, and each role that a machine config pool selects by is
  that of a pool or was asked for;
- each limit of GPUs of the autoscaler is that of some machines, and lets each pool have its largest size;
- the autoscaler may make as many nodes as there are and may come;
- taints, labels and spot machines are those of the pool, and ARM machines start with an image of their kind;
- of a cluster that exists nothing is written for an installer;
- each MachineAutoscaler and each health check names MachineSets that are there, and minima and maxima of the zones
  add up to those of the pool.
What is refused must be refused for one of the reasons that a random blueprint can bring about.
"""

import collections
import json
import pathlib
import random
import re
import sys
import tempfile

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from conformance.releases_rendered import START  # noqa: E402
from support import yaml_text  # noqa: E402
from support.program import Tally, arguments, environment, run  # noqa: E402

SEED = 20261123
TRIED = 120  # for each platform
LEAST_RENDERED = 0.4
# Two pools of a name, roles and labels into other machine config pools, names of MachineSets given twice.
EXPECTED = {"GPU0208", "GPU3312", "GPU3313", "GPU3315", "GPU3316", "GPU3317", "GPU3318", "GPU5303"}
ROLE = "node-role.kubernetes.io/"
ZONES = {"aws": ["eu-central-1a", "eu-central-1b", "eu-central-1c"],
         "gcp": ["us-central1-a", "us-central1-b", "us-central1-c"], "vsphere": ["fd-1"]}
INFRA = "lab-x7k2p"
ARM = {"aws": {"instanceType": "m7g.xlarge"}, "gcp": {"machineType": "t2a-standard-4"}}
IMAGES = {"aws": {"amd64": "ami-0a1b2c3d4e5f60718", "arm64": "ami-0b1b2c3d4e5f60718"},
          "gcp": {"amd64": "projects/rhcos-cloud/global/images/rhcos", "arm64": "projects/rhcos-cloud/global/images/rhcos-arm"}}


def count(rng):
    if rng.random() < 0.5:
        return {"replicas": rng.randint(0, 7)}
    least = rng.randint(0, 3)
    return {"scaling": {"min": least, "max": least + rng.randint(1, 8)}}


def pool(rng, platform, name, gpu):
    made = {"name": name, **count(rng)}
    zones = rng.sample(ZONES[platform], rng.randint(1, len(ZONES[platform])))
    if rng.random() < 0.6:
        made["failureDomains" if platform == "vsphere" else "zones"] = sorted(zones)
    if gpu:
        start = START[platform]["gpuPools"][0]
        made.update({key: value for key, value in start.items() if key not in ("name", "replicas")})
        if platform == "aws":
            made["instanceType"] = rng.choice(["g5.xlarge", "g6.xlarge", "p4d.24xlarge"])
    if rng.random() < 0.4:
        made["machineConfigPool"] = rng.choice(["worker", "infra", "ml"])
    if rng.random() < 0.3:
        made["role"] = rng.choice(["infra", "storage", "ml", "gpu"])
    if rng.random() < 0.2:
        made["labels"] = {ROLE + rng.choice(["infra", "app"]): ""}
    if rng.random() < 0.2:
        made["machineSet"] = {"names": {zone: rng.choice([f"old-{name}-{i}", f"old-{i}"])
                                        for i, zone in enumerate(zones)}}
    if rng.random() < 0.2:
        made["healthCheck"] = {"maxUnhealthy": 1}
    if rng.random() < 0.3:
        made["taints"] = [{"key": "team", "value": name, "effect": rng.choice(["NoSchedule", "PreferNoSchedule"])}]
    if rng.random() < 0.3:
        made.setdefault("labels", {})["example.com/team"] = name
    if gpu and rng.random() < 0.3:
        made.setdefault("labels", {})["cluster-api/accelerator"] = rng.choice(["ours", "theirs"])
    if platform != "vsphere" and rng.random() < 0.2:
        made["spot"] = True
    if platform in ARM and not gpu and name != "worker" and rng.random() < 0.3:
        made.update(ARM[platform])
    return made


def blueprint(rng, platform):
    start = {key: value for key, value in START[platform].items() if key != "gpuPools"}
    names = ["worker", "infra", "a", "a-b", "a-b-0", "b", "storage", "ml"]
    spec = {"platform": platform, "baseDomain": "example.com",
            "openshift": {"version": rng.choice(["4.18", "4.20", "4.22", "5.0"])},
            "access": {"pullSecret": {"env": "PULL_SECRET"}}, **json.loads(json.dumps(start)),
            "gpuPools": [pool(rng, platform, name, True) for name in rng.sample(names[2:], rng.randint(0, 2))],
            "machinePools": [pool(rng, platform, name, False) for name in rng.sample(names, rng.randint(0, 3))]}
    if not any(one["name"] == "worker" for one in spec["machinePools"]) and rng.random() < 0.5:
        spec["workers"] = {"replicas": rng.randint(2, 5)}
    if rng.random() < 0.3:
        spec["openshift"]["machineConfigPools"] = [{"name": rng.choice(["infra", "ml", "spare"]), "maxUnavailable": 2}]
    if rng.random() < 0.3:
        spec["cluster"] = {"existing": True, "installedWith": rng.choice(["4.14", "4.18"])}
        del spec["baseDomain"], spec["access"]
        for center in spec.get("vsphere", {}).get("vCenters", []):
            center.pop("user", None)
            center.pop("password", None)
    return {"apiVersion": "gpuctl.dev/v1alpha1", "kind": "Blueprint", "metadata": {"name": "lab"}, "spec": spec}


def check_machine_sets(tally, what, spec, sets):
    names = [one["metadata"]["name"] for one in sets]
    tally.check(len(names) == len(set(names)), f"{what}: MachineSets of one name among {sorted(names)}")
    for one in sets:
        labels = one["spec"]["template"]["metadata"]["labels"]
        selector = one["spec"]["selector"]["matchLabels"]
        tally.check(selector.items() <= labels.items()
                    and selector["machine.openshift.io/cluster-api-machineset"] == one["metadata"]["name"],
                    f"{what}: {one['metadata']['name']} selects {selector}")
    for pool in pools_of(spec):
        own = [one for one in sets if node_labels(one).get("example.com/team") == pool["name"]]
        if "example.com/team" in pool.get("labels", {}):
            tally.check(bool(own), f"{what}: no machines have the label of {pool['name']}")
        for one in own:
            check_machines(tally, f"{what}: {one['metadata']['name']}", spec, pool, one["spec"]["template"]["spec"])
    wanted = sum(one.get("replicas", one.get("scaling", {}).get("min")) for one in pools_of(spec))
    tally.check(sum(one["spec"]["replicas"] for one in sets) == wanted,
                f"{what}: {wanted} machines are wanted at first")


def check_machines(tally, what, spec, pool, machine):
    value = machine["providerSpec"]["value"]
    taints = [{"key": "team", "value": pool["name"], "effect": pool["taints"][0]["effect"]}] if "taints" in pool else None
    tally.check(taints is None or machine.get("taints") == taints, f"{what} has taints {machine.get('taints')}")
    is_spot = "spotMarketOptions" in value or value.get("preemptible") or value.get("provisioningModel") == "Spot"
    tally.check(bool(is_spot) == pool.get("spot", False), f"{what} is {'' if is_spot else 'not '}spot")
    if spec["platform"] in IMAGES:
        type_of = value.get("instanceType", value.get("machineType"))
        kind = "arm64" if type_of in ARM[spec["platform"]].values() else "amd64"
        image = value["ami"]["id"] if spec["platform"] == "aws" else value["disks"][0]["image"]
        tally.check(image == IMAGES[spec["platform"]][kind], f"{what}, {type_of}, starts with {image}")


def pools_of(spec):
    return spec["gpuPools"] + spec["machinePools"]


def node_labels(machine_set):
    return machine_set["spec"]["template"]["spec"]["metadata"].get("labels", {})


def check_config_pools(tally, what, spec, sets, config_pools):
    roles = {next(iter(one["spec"]["nodeSelector"]["matchLabels"])).removeprefix(ROLE): one for one in config_pools}
    tally.check(len(roles) == len(config_pools), f"{what}: machine config pools of one role")
    for one in sets:
        own = {key.removeprefix(ROLE) for key in node_labels(one) if key.startswith(ROLE)} & set(roles)
        tally.check(len(own) <= 1, f"{what}: nodes of {one['metadata']['name']} are in {sorted(own)}")
        secret = one["spec"]["template"]["spec"]["providerSpec"]["value"]["userDataSecret"]["name"]
        tally.check(secret == "worker-user-data" or secret.removesuffix("-user-data-managed") in own,
                    f"{what}: {one['metadata']['name']} starts with {secret}")
    asked = {one["name"] for one in spec["openshift"].get("machineConfigPools", [])}
    asked |= {one.get("machineConfigPool", "gpu") for one in spec["gpuPools"]}
    asked |= {one.get("machineConfigPool", "worker") for one in spec["machinePools"]}
    tally.check(set(roles) == asked - {"worker"}, f"{what}: machine config pools {sorted(roles)}, not {sorted(asked)}")


def check_scaling(tally, what, spec, sets, documents):
    by_name = {one["metadata"]["name"]: one for one in sets}
    ranges = {}
    for scaler in documents["MachineAutoscaler"]:
        target = scaler["spec"]["scaleTargetRef"]["name"]
        tally.check(target in by_name, f"{what}: a MachineAutoscaler of {target}, which is not there")
        ranges[target] = (scaler["spec"]["minReplicas"], scaler["spec"]["maxReplicas"])
    scaled = [one for one in pools_of(spec) if "scaling" in one]
    tally.check(sum(most for _, most in ranges.values()) == sum(one["scaling"]["max"] for one in scaled)
                and sum(least for least, _ in ranges.values()) == sum(one["scaling"]["min"] for one in scaled),
                f"{what}: MachineAutoscalers {ranges}")
    for check in documents["MachineHealthCheck"]:
        names = check["spec"]["selector"]["matchExpressions"][0]["values"]
        tally.check(set(names) <= set(by_name), f"{what}: a health check of {names}")
    autoscalers = documents["ClusterAutoscaler"]
    tally.check(len(autoscalers) == (1 if scaled else 0), f"{what}: {len(autoscalers)} autoscalers")
    most = {name: ranges.get(name, (0, one["spec"]["replicas"]))[1] for name, one in by_name.items()}
    for autoscaler in autoscalers:
        limits = autoscaler["spec"].get("resourceLimits", {})
        installed = 0 if any(one["name"] == "worker" for one in spec["machinePools"]) else \
            spec.get("workers", {}).get("replicas", 0)
        if "maxNodesTotal" in limits:
            size = 3 + installed + sum(most.values())
            tally.check(limits["maxNodesTotal"] >= size, f"{what}: {limits['maxNodesTotal']} nodes at most, of {size}")
        labels = collections.Counter()
        for name, one in by_name.items():
            label = node_labels(one).get("cluster-api/accelerator")
            if label:
                labels[label] += most[name]
        for limit in limits.get("gpus", []):
            tally.check(limit["type"] in labels and limit["max"] >= labels[limit["type"]],
                        f"{what}: the limit {limit} for {dict(labels)}")


def check(tally, gpuctl, what, made, scratch):
    """Whether it was rendered."""
    scratch.mkdir()
    (scratch / "blueprint.yaml").write_text(json.dumps(made))
    facts = {"infraID": INFRA}
    if made["spec"]["platform"] in IMAGES:
        facts["bootImages"] = IMAGES[made["spec"]["platform"]]
    (scratch / "facts.yaml").write_text(yaml.safe_dump(
        {"apiVersion": "gpuctl.dev/v1alpha1", "kind": "Facts", "spec": facts}))
    done = run([gpuctl, "render", scratch / "blueprint.yaml", "--facts", scratch / "facts.yaml", "-o", scratch / "out"],
               env=environment(scratch))
    if done.returncode != 0:
        codes = set(re.findall(r"^error\[(GPU[0-9]{4})\]", done.stderr.decode(), re.M))
        tally.check(codes and codes <= EXPECTED, f"{what}: refused: {done.stderr.decode()}")
        return False
    documents = collections.defaultdict(list)
    for path in (scratch / "out").rglob("layers/*/*.yaml"):
        document = yaml_text.load(path.read_text())
        documents[document["kind"]].append(document)
    sets = documents["MachineSet"]
    check_machine_sets(tally, what, made["spec"], sets)
    check_config_pools(tally, what, made["spec"], sets, documents["MachineConfigPool"])
    check_scaling(tally, what, made["spec"], sets, documents)
    if "cluster" in made["spec"]:
        tally.check(not list((scratch / "out").rglob("install-config.yaml")), f"{what}: an install-config")
    if not made["spec"]["gpuPools"]:
        stack = [kind for kind in ("ClusterPolicy", "NodeFeatureDiscovery", "Subscription") if documents[kind]]
        tally.check(not stack, f"{what}: a GPU stack without GPUs: {stack}")
    return True


def main():
    gpuctl = arguments(__doc__).gpuctl
    tally = Tally()
    rng = random.Random(SEED)
    with tempfile.TemporaryDirectory(prefix="pools-") as temporary:
        for platform in START:
            rendered = 0
            for number in range(TRIED):
                made = blueprint(rng, platform)
                what = f"{platform} {number}"
                rendered += check(tally, gpuctl, what, made, pathlib.Path(temporary) / f"{platform}-{number}")
            print(f"{platform}: {rendered} of {TRIED} rendered")
            tally.check(rendered >= LEAST_RENDERED * TRIED, f"{platform}: only {rendered} of {TRIED} rendered")
    tally.close()


if __name__ == "__main__":
    main()
