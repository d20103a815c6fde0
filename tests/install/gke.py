#!/usr/bin/env python3
"""Installs and destroys clusters on GKE with doubles of gcloud and kubectl: by gcloud, by Config Connector,
what is there already and what differs, stockouts, quotas, and changes that ended half way.

  gke.py [--gpuctl FILE] [--filter TEXT] [--show]
"""

import json
import re
import shutil
import subprocess
import sys

from run import CAUSES, Checks, known_lines, main
from world import DOUBLES, ROOT, GkeWorld

CASES = []
ONLY_ONCE = ("create ", "enable ", "add-iam", "exclude ", "delete ")
STOCKOUT = known_lines()["gke", "stockout"]
QUOTA = known_lines()["gke", "quota"]


def case(function):
    CASES.append((function.__name__.replace("_", " "), function))
    return function


def changes(world, since=0):
    return [call for call in world.calls()[since:] if call.startswith(ONLY_ONCE) and "namespace" not in call]


def well(check, world, pools=("gpu", "spare", "system")):
    found = [name.partition("--lab.")[2] for name in world.alive() if name.startswith("node-pools--")]
    check.that(tuple(found) == pools, f"pools: {found}")
    check.that("clusters--lab" in world.alive(), f"alive: {world.alive()}")
    check.that(not any(call.startswith("refused") for call in world.calls()), f"at once: {world.calls()}")
    for line in set(changes(world)):
        check.that(changes(world).count(line) == 1, f"twice: {line}")
    check.clean(world)


def again(check, world, texts=()):
    """What is mended goes on."""
    world.scenario, world.cluster = {}, {}
    code, said = world.install()
    check.that(code == 0, said)
    check.says(said, "dev/lab is installed", *texts)
    return said


def refused(check, world, *texts):
    code, said = world.install()
    check.that(code == 1, said)
    check.says(said, *texts)
    check.clean(world)
    return said


def gone(check, world):
    code, said = world.destroy()
    check.that(code == 0, said)
    check.clean(world)
    return said


@case
def healthy(check, world):
    code, said = world.install("--dry-run")
    check.that(code == 0, said)
    check.says(said, "gcloud container clusters create lab", "gcloud container node-pools create gpu")
    check.that(not (world.place / "journal.jsonl").exists() and not world.calls(), "a rehearsal does something")
    code, said = world.install()
    check.that(code == 0, said)
    check.says(said, "cluster `lab`: PROVISIONING", "cluster `lab`: RUNNING", "committed", "dev/lab is installed")
    well(check, world)
    calls = world.calls()
    order = ["create networks lab", "create subnets lab", "create routers lab", "create nats lab",
             "create service-accounts lab-nodes", "create clusters lab", "exclude fair", "delete node-pools default-pool",
             "create node-pools system", "create node-pools gpu", "create node-pools spare", "get-credentials",
             "create namespace argocd", "apply -n argocd", "apply argocd/bootstrap/2-controller",
             "rollout restart -n argocd statefulset/argocd-application-controller", "apply argocd/bootstrap/3-root"]
    check.that([call for call in calls if call in order] == order, f"{calls}")
    check.that((world.place / "kubeconfig").stat().st_mode & 0o777 == 0o600, "the kubeconfig is not private")
    before = len(calls)
    again(check, world, ["node pool `gpu`: there before"])
    check.that(not changes(world, before), f"done twice: {changes(world, before)}")
    code, said = world.run("status", "lab")
    check.that(code == 0, said)
    check.says(said, "dev/lab on gke, attempt 1", "pools done", "gpus ok")
    code, said = world.run("destroy", "lab", "--dry-run")
    check.says(said, "gcloud container clusters delete lab")
    said = gone(check, world)
    check.says(said, "cluster `lab`: gone", "dev/lab is gone", "gcloud compute disks list")
    check.that(not world.alive(), f"left: {world.alive()}")


@case
def healthy_flux(check, world):
    world.edit(("argocd", "flux"))
    code, said = world.install()
    check.that(code == 0, said)
    check.that("helm upgrade flux-operator" in world.calls() and "apply flux/bootstrap/3-root" in world.calls(), f"{world.calls()}")
    well(check, world)


@case
def kubeflow(check, world):
    world.edit(("  gitops:\n    engine: argocd", "  platformServices:\n    kubeflow: {user: alice@example.com, components: [trainer]}\n  gitops:\n    engine: flux"))
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    parts = {name: {"metadata": {"name": "lab-kubeflow-" + name}, "status": ready}
             for name in ("cert-manager", "istio-crds", "istio-namespace", "istio", "oauth2-proxy", "dex", "namespace", "roles",
                          "gateway", "profiles", "dashboard", "trainer")}
    waits = {"conditions": [{"type": "Ready", "status": "False", "message": "dex: secret not found"}]}
    parts["dex"]["status"] = waits
    world.cluster["kustomizations.kustomize.toolkit.fluxcd.io"] = {"items": [parts[name] for name in parts if name != "trainer"]}
    code, said = world.install()
    check.that(code == 1, said)
    check.says(said, "GPU0711", "`kubeflow` did not come true", "dex: dex: secret not found", "trainer is not there")
    parts["dex"]["status"] = ready
    world.cluster["kustomizations.kustomize.toolkit.fluxcd.io"] = {"items": list(parts.values())}
    code, said = world.install()
    check.that(code == 0, said)
    check.clean(world)


@case
def a_pool_that_comes_later(check, world):
    check.that(world.install()[0] == 0, world.said)
    world.edit(("    - {name: spare,", "    - {name: more, machineType: g2-standard-8, zones: [us-central1-b], replicas: 1}\n    - {name: spare,"))
    before = len(world.calls())
    again(check, world)
    check.that(changes(world, before) == ["create node-pools more"], f"{changes(world, before)}")
    well(check, world, ("gpu", "more", "spare", "system"))


@case
def stockout_of_a_pool(check, world):
    world.scenario = {"stockout": {"gpu": STOCKOUT}, "polls": 3}
    said = refused(check, world, "GPU0723", "node pool `gpu` is there, but has failed", "ZONE_RESOURCE_POOL_EXHAUSTED",
                   "zones that may offer these GPUs, too: us-central1-b, us-central1-c",
                   "the next `gpuctl install` takes it away and makes it again", "GPU0708", CAUSES["gke", "stockout"]["cause"])
    check.that("create node-pools spare" not in world.calls(), said)
    again(check, world, ["has failed (status ERROR", "it is taken away and made again"])
    check.that([call for call in world.calls() if call.endswith(" gpu")] ==
               ["create node-pools gpu", "delete node-pools gpu", "create node-pools gpu"], f"{world.calls()}")
    check.that(world.thing("node-pools--lab.gpu")["status"] == "RUNNING", "not made again")
    gone(check, world)
    check.that(not world.alive(), f"left: {world.alive()}")


@case
def stockout_in_another_zone(check, world):
    """The blueprint takes another zone; the failed pool would differ, but is ours and goes first."""
    world.scenario = {"stockout": {"gpu": STOCKOUT}}
    refused(check, world, "GPU0723")
    world.edit(("machineType: g2-standard-8, zones: [us-central1-a]", "machineType: g2-standard-8, zones: [us-central1-b]"))
    again(check, world, ["it is taken away and made again"])
    check.that(world.thing("node-pools--lab.gpu")["locations"] == ["us-central1-b"], "in the old zone")


FALLBACK = ("machineType: g2-standard-8, zones: [us-central1-a]",
            "machineType: g2-standard-8, zones: [us-central1-a], fallbackZones: [us-central1-b, us-central1-c]")


def tries(world, since=0):
    return [call for call in world.calls()[since:] if call.endswith("node-pools gpu")]


def made_in(check, world, zone, where):
    """One pool, and the repository says where."""
    check.that(world.thing("node-pools--lab.gpu")["locations"] == [zone] and
               world.thing("node-pools--lab.gpu")["status"] == "RUNNING", f"{where}: {world.thing('node-pools--lab.gpu')}")
    check.that([name for name in world.alive() if "node-pools" in name] ==
               [f"node-pools--lab.{pool}" for pool in ("gpu", "spare", "system")], f"{where}: {world.alive()}")
    cluster = world.directory / "fleet/clusters/dev/lab"
    facts = cluster / "facts.yaml"
    said = zone == "us-central1-a" or zone in facts.read_text()
    check.that(said, f"{where}: the facts do not say {zone}")
    script = (cluster / "install/create.sh").read_text()
    check.that(f"--node-locations={zone}" in script.replace("'", ""), f"{where}: the output does not say {zone}")
    check.clean(world)


@case
def fallback_zone(check, world):
    """A zone without machines: the pool goes, and comes in the next zone of the list; Git says which."""
    world.edit(FALLBACK)
    world.scenario = {"stockout": {"gpu@us-central1-a": STOCKOUT}}
    code, said = world.install()
    check.that(code == 0, said)
    check.says(said, "node pool `gpu` has failed (status ERROR", "the next try is zone us-central1-b",
               "it is taken away and made again", "dev/lab is installed")
    check.that(tries(world) == ["create node-pools gpu", "delete node-pools gpu", "create node-pools gpu"], f"{world.calls()}")
    check.that([event["way"] for event in world.events() if event["event"] == "otherwise"] == ["zone us-central1-b"],
               f"{world.events()}")
    made_in(check, world, "us-central1-b", "after the fallback")
    before = len(world.calls())
    again(check, world, ["node pool `gpu`: there before"])
    check.that(not changes(world, before), f"done twice: {changes(world, before)}")
    code, said = world.run("apply", "lab.yaml", "--repo", "fleet")
    check.says(said, "no change")
    gone(check, world)
    check.that(not world.alive(), f"left: {world.alive()}")


@case
def fallback_zone_of_a_refusal(check, world):
    world.edit(FALLBACK)
    world.scenario = {"refuse": {"gpu@us-central1-a": STOCKOUT, "gpu@us-central1-b": STOCKOUT}}
    code, said = world.install()
    check.that(code == 0, said)
    check.that(tries(world) == ["create node-pools gpu"], f"{world.calls()}")
    made_in(check, world, "us-central1-c", "after two refusals")


@case
def fallback_zones_that_are_all_empty(check, world):
    """Each is tried once a run; the next run begins where this one ended."""
    world.edit(FALLBACK)
    world.scenario = {"stockout": {"gpu": STOCKOUT}}
    refused(check, world, "GPU0723", "node pool `gpu` is there, but has failed", "the next try is zone us-central1-c")
    check.that(tries(world).count("create node-pools gpu") == 3, f"{world.calls()}")
    check.that(world.thing("node-pools--lab.gpu")["locations"] == ["us-central1-c"], "not in the last zone")
    world.scenario = {"stockout": {"gpu@us-central1-c": STOCKOUT}}
    code, said = world.install()
    check.that(code == 0, said)
    check.says(said, "the next try is zone us-central1-a")
    made_in(check, world, "us-central1-a", "after all others")


@case
def fallback_only_for_lack_of_machines(check, world):
    world.edit(FALLBACK)
    world.scenario = {"refuse": {"gpu": QUOTA}}
    said = refused(check, world, "GPU0722")
    check.that("the next try" not in said and not tries(world), said)


@case
def fallback_after_a_kill(check, world):
    """Wherever it is killed, one pool is left, in one zone."""
    for when in ("before", "after"):
        for verb in ("create", "delete"):
            name = f"killed {when} {verb}"
            world.edit(*([FALLBACK] if "fallbackZones" not in (world.directory / "lab.yaml").read_text() else []))
            world.scenario = {"stockout": {"gpu@us-central1-a": STOCKOUT},
                              "kill": {"verb": verb, "name": "gpu", "when": when, "who": "driver", "nth": 2 if verb == "create" else 1}}
            for left in ("killed", "counted"):
                (world.directory / left).unlink(missing_ok=True)
            check.that(world.install()[0] != 0, f"{name}: was not killed")
            world.scenario = {"stockout": {"gpu@us-central1-a": STOCKOUT}}
            code, said = world.install()
            check.that(code == 0, f"{name}: {said}")
            made_in(check, world, "us-central1-b", name)
            gone(check, world)
            check.that(not world.alive(), f"{name}: left: {world.alive()}")
            shutil.rmtree(world.directory / "fleet")
            subprocess.run(["git", "init", "-q", "-b", "main", str(world.directory / "fleet")], check=True)


@case
def stockout_of_the_cluster(check, world):
    world.scenario = {"stockout": {"lab": STOCKOUT}}
    refused(check, world, "cluster `lab` is there, but has failed", "GPU0708", "nodeZones")
    again(check, world, ["it is taken away and made again"])
    check.that(changes(world).count("create clusters lab") == 2 and "delete clusters lab" in changes(world), f"{changes(world)}")


@case
def half_made_cluster(check, world):
    """The call fails, and the cluster comes all the same."""
    world.scenario = {"half": {"lab": "Operation timed out"}}
    code, said = world.install()
    check.that(code == 0, said)
    check.says(said, "cluster `lab` was begun all the same", "cluster `lab`: RUNNING")
    well(check, world)


@case
def failed_pool_of_somebody_else(check, world):
    check.that(world.install("--until", "first-pool")[0] == 0, world.said)
    world.install("--until", "pools")
    world.thing("node-pools--lab.gpu", status="ERROR", statusMessage="broken")
    journal = world.place / "journal.jsonl"
    journal.write_text("".join(line for line in journal.read_text().splitlines(True) if '"node pool `gpu`"' not in line))
    before = len(world.calls())
    refused(check, world, "GPU0723", "no run of this journal made it, so none takes it away")
    check.that(not changes(world, before), f"{changes(world, before)}")


@case
def quota(check, world):
    world.scenario = {"refuse": {"gpu": QUOTA}}
    refused(check, world, "GPU0722", "node pool `gpu` cannot be made", "GPU0708", CAUSES["gke", "quota"]["cause"])
    again(check, world)
    well(check, world)


@case
def unreadable(check, world):
    world.scenario = {"unreadable": ["lab"]}
    refused(check, world, "GPU0721", "whether network `lab` is there cannot be told", "GPU0708", CAUSES["gke", "permissions"]["cause"])
    check.that(not any(call.startswith("create") for call in world.calls()), f"{world.calls()}")


@case
def somebody_is_faster(check, world):
    world.scenario = {"taken": ["gpu"]}
    code, said = world.install()
    check.that(code == 0, said)
    gone_said = gone(check, world)
    check.says(gone_said, "node pool `gpu`: was there before, and stays")


@case
def one_change_at_a_time(check, world):
    world.scenario = {"busy": 3, "polls": 2}
    code, said = world.install()
    check.that(code == 0, said)
    check.says(said, "too early: ERROR: (gcloud.container.node-pools.delete) ResponseError: code=400, message=FAILED_PRECONDITION")
    well(check, world)


@case
def never_ready(check, world):
    world.scenario = {"polls": 100000}
    refused(check, world, "GPU0711", "cluster `lab` was not ready within 5s", "it is PROVISIONING",
            "gcloud container operations list", "it goes on from here")
    world.thing("clusters--lab", left=0)
    again(check, world)
    well(check, world)


@case
def another_network_is_adopted(check, world):
    """Of the same name and like it: it is taken as it is, and stays when the cluster goes."""
    (world.directory / "cloud/networks--lab").write_text(json.dumps({"name": "lab", "mtu": 1460}))
    code, said = world.install()
    check.that(code == 0, said)
    check.says(said, "network `lab`: there before")
    code, said = world.run("destroy", "lab", "--dry-run")
    check.says(said, "network `lab` stays: it was there before, or never made")
    said = gone(check, world)
    check.says(said, "network `lab`: was there before, and stays")
    check.that(world.alive() == ["networks--lab"], f"{world.alive()}")


DIFFERENCES = [
    ("networks--lab", {"name": "lab", "mtu": 1460}, [("  gpuPools:", "  gpuPools:")],
     None),
    ("subnets--lab", {"name": "lab", "ipCidrRange": "10.9.0.0/20", "network": "x/lab", "secondaryIpRanges": []}, [],
     ["subnetwork `lab` is there, and its range of addresses is `10.9.0.0/20`, not `10.0.0.0/20`", "its list of secondary ranges is ``"]),
    ("routers--lab", {"name": "lab", "network": "x/other"}, [], ["router `lab` is there, and its network is `x/other`, not `lab`"]),
    ("clusters--lab", {"name": "lab", "status": "RUNNING", "network": "default", "subnetwork": "default"}, [],
     ["cluster `lab` is there, and its network is `default`, not `lab`", "its range of pods is `nothing`, not `pods`",
      "its choice of private nodes is `false`, not `true`"]),
    ("node-pools--lab.gpu", {"name": "gpu", "status": "RUNNING", "locations": ["us-central1-b"], "config": {
        "machineType": "g2-standard-4", "accelerators": [{"acceleratorType": "nvidia-l4", "acceleratorCount": "1"}]}}, [],
     ["node pool `gpu` is there, and its machine type is `g2-standard-4`, not `g2-standard-8`",
      "its list of zones is `us-central1-b`, not `us-central1-a`"]),
]
for file, thing, _, texts in DIFFERENCES:
    def one(check, world, file=file, thing=thing, texts=texts):
        if file.startswith(("subnets", "routers")):
            (world.directory / "cloud/networks--lab").write_text(json.dumps({"name": "lab", "mtu": 1460}))
        (world.directory / "cloud" / file).write_text(json.dumps(thing))
        before = (world.directory / "cloud" / file).read_text()
        refused(check, world, "GPU0720", "what is there is never changed", *texts)
        check.that((world.directory / "cloud" / file).read_text() == before, "it was changed")
    if texts:
        CASES.append((f"difference {file}", one))


@case
def a_pool_that_was_changed_in_the_blueprint(check, world):
    check.that(world.install()[0] == 0, world.said)
    world.edit(("name: gpu, machineType: g2-standard-8", "name: gpu, machineType: g2-standard-12"))
    code, said = world.install()
    check.that(code == 1, said)
    check.that(world.thing("node-pools--lab.gpu")["config"]["machineType"] == "g2-standard-8", "it was changed")


@case
def existing_cluster(check, world):
    check.that(world.install("--until", "first-pool")[0] == 0, world.said)
    journal = world.place / "journal.jsonl"
    journal.rename(world.place / "journal-0.jsonl")
    text = (world.directory / "lab.yaml").read_text()
    text = re.sub(r"  systemPool:.*\n", "  cluster: {existing: true}\n", text)
    text = re.sub(r"    controlPlane:.*\n    maintenanceExclusions:\n.*\n", "", text)
    (world.directory / "lab.yaml").write_text(text)
    shutil.rmtree(world.directory / "fleet")
    subprocess.run(["git", "init", "-q", "-b", "main", str(world.directory / "fleet")], check=True)
    code, said = world.install()
    check.that(code == 0, said)
    check.that([call for call in world.calls() if "node-pools" in call][-2:] == ["create node-pools gpu", "create node-pools spare"],
               f"{world.calls()}")
    gone(check, world)
    check.that("clusters--lab" in world.alive() and "networks--lab" in world.alive(), f"{world.alive()}")
    check.that(not any(name.startswith("node-pools--") for name in world.alive()), f"{world.alive()}")


@case
def no_cluster_that_should_exist(check, world):
    text = (world.directory / "lab.yaml").read_text()
    text = re.sub(r"  systemPool:.*\n", "  cluster: {existing: true}\n", text)
    text = re.sub(r"    controlPlane:.*\n    maintenanceExclusions:\n.*\n", "", text)
    (world.directory / "lab.yaml").write_text(text)
    refused(check, world, "GPU0711", "`cluster-there` did not come true", "Not found: projects/p/clusters/lab")


@case
def leftovers_of_the_cluster(check, world):
    check.that(world.install()[0] == 0, world.said)
    (world.directory / "cloud/firewall-rules--k8s-fw-a1").write_text(json.dumps({"name": "k8s-fw-a1", "network": "x/lab"}))
    world.cluster = {"services,ingresses": {"items": [
        {"kind": "Service", "metadata": {"name": "web", "namespace": "shop"}, "spec": {"type": "LoadBalancer"}},
        {"kind": "Service", "metadata": {"name": "plain", "namespace": "shop"}, "spec": {"type": "ClusterIP"}},
        {"kind": "Ingress", "metadata": {"name": "front", "namespace": "shop"}}]},
        "persistentvolumeclaims": {"items": [{"metadata": {"name": "data", "namespace": "shop"}}]}}
    gone(check, world)
    check.that(not world.alive(), f"{world.alive()}")
    calls = [call for call in world.calls() if call.startswith("delete ") and "shop" in call]
    check.that([call.split(" -n")[0] for call in calls] ==
               ["delete service web", "delete ingress front", "delete persistentvolumeclaim data"], f"{calls}")


@case
def network_that_stays_in_use(check, world):
    check.that(world.install()[0] == 0, world.said)
    world.thing("networks--lab")
    (world.directory / "cloud/subnets--foreign").write_text(json.dumps({"name": "foreign", "network": "x/lab"}))
    code, said = world.destroy()
    check.that(code == 1, said)
    check.says(said, "GPU0713", "network `lab` was not gone within", "already being used by")
    (world.directory / "cloud/subnets--foreign").unlink()
    gone(check, world)
    check.that(not world.alive(), f"{world.alive()}")


@case
def destroy_of_half_an_installation(check, world):
    world.scenario = {"stockout": {"lab": STOCKOUT}}
    refused(check, world, "GPU0723")
    world.scenario = {}
    gone(check, world)
    check.that(not world.alive(), f"{world.alive()}")


@case
def nodes_that_lack_gpus(check, world):
    world.cluster = {"nodes": {"items": [{"metadata": {"name": f"n{n}", "labels": {"cloud.google.com/gke-nodepool": pool}},
                                          "status": {"conditions": [{"type": "Ready", "status": "True"}]}}
                                         for pool in ("system", "gpu") for n in range(2)]}}
    refused(check, world, "GPU0711", "pool `gpu`: not 1 nodes with 1 nvidia.com/gpu", "nvidia-gpu-device-plugin")
    world.cluster = {"nodes": {"items": []}}
    refused(check, world, "pool `system`: not 1 nodes that are ready")
    again(check, world)
    well(check, world)


@case
def gpus_that_nobody_publishes(check, world):
    world.edit(("    provisioner: gcloud", "    gpuDriver: {installedBy: googleInstaller}\n    provisioner: gcloud"),
               ("  gitops:", "  gpuStack: {allocation: dra}\n  gitops:"))
    world.cluster = {"resourceslices.resource.k8s.io": {"items": []}}
    refused(check, world, "GPU0711", "1 GPUs in slices of gpu.nvidia.com; there are 0", "kubectl get resourceslices")
    published = {"spec": {"driver": "gpu.nvidia.com", "nodeName": "gke-gpu-0",
                          "devices": [{"name": "gpu-0", "attributes": {"type": {"string": "gpu"}}}]}}
    world.cluster = {"resourceslices.resource.k8s.io": {"items": [published]}}
    code, said = world.install()
    check.that(code == 0, said)
    well(check, world)


@case
def domains_that_are_not_there(check, world):
    world.edit(("machineType: g2-standard-8, zones: [us-central1-a], replicas: 1", "machineType: a4x-highgpu-4g, zones: [us-central1-a], "
                "replicas: 2, reservation: {name: gb200}, placementPolicy: nvlink"),
               ("  gitops:", "  gpuStack: {computeDomains: true}\n  gitops:"))
    slices = [{"spec": {"driver": "compute-domain.nvidia.com", "nodeName": f"gke-gpu-{n}"}} for n in (0, 0, 1)]
    world.cluster = {"resourceslices.resource.k8s.io": {"items": slices[:2]}}
    refused(check, world, "GPU0711", "2 nodes with slices of compute-domain.nvidia.com; there are 1", "dra-driver-nvidia-gpu")
    world.cluster = {"resourceslices.resource.k8s.io": {"items": slices}}
    code, said = world.install()
    check.that(code == 0, said)
    well(check, world)


@case
def volumes_that_are_not_there(check, world):
    world.edit(("machineType: g2-standard-8, zones: [us-central1-a], replicas: 1",
                "machineType: g2-standard-8, zones: [us-central1-a], replicas: 2, localSsd: {count: 1, use: block}"),
               ("  gitops:", "  platformServices: {localStorage: {pools: [gpu]}}\n  gitops:"))
    volumes = [{"spec": {"storageClassName": name}} for name in ("local-ssd", "standard-rwo", "local-ssd")]
    world.cluster = {"persistentvolumes": {"items": volumes[:2]}}
    refused(check, world, "GPU0711", "2 volumes of `local-ssd`; there are 1", "local-ssd-disks")
    world.cluster = {"persistentvolumes": {"items": volumes}}
    code, said = world.install()
    check.that(code == 0, said)
    well(check, world)


@case
def by_config_connector(check, world):
    world.edit(("provisioner: gcloud", "provisioner: configConnector"))
    (world.directory / "cloud/clusters--lab").write_text("{}")  # what get-credentials looks for
    code, said = world.install()
    check.that(code == 0, said)
    check.that("apply applied/management/argocd" in world.calls() and "get-credentials" in world.calls(), f"{world.calls()}")
    check.that(not any(call.startswith("create clusters") for call in world.calls()), f"{world.calls()}")
    check.clean(world)
    said = gone(check, world)
    kinds = [call.split()[1] for call in world.calls() if call.startswith("delete c") and call.split()[1] != "customresource"]
    check.that(kinds.index("containernodepool") < kinds.index("containercluster") < kinds.index("computenetwork"), f"{kinds}")
    check.that(any(call.startswith("annotate containercluster lab") for call in world.calls()), f"{world.calls()}")


@case
def config_connector_leaves_nothing(check, world):
    """What is awaited and deleted by name is what `management/` has, but for the services of the project."""
    import yaml
    own = (world.directory / "lab.yaml").read_text().replace("provisioner: gcloud", "provisioner: configConnector")
    cards = (ROOT / "tests/golden/render/gke-gpu-networks/blueprint.yaml").read_text()
    for name, text in (("lab", own), ("train", cards)):
        (world.directory / "one.yaml").write_text(text)
        shutil.rmtree(world.directory / "out", ignore_errors=True)
        code, said = world.run("render", "one.yaml", "-o", "out")
        check.that(code == 0, said)
        rendered = set()
        for path in (world.directory / "out").glob(f"clusters/*/{name}/management/*.yaml"):
            one = yaml.safe_load(path.read_text())
            if ".cnrm." in one["apiVersion"] and one["kind"] != "Service":
                rendered.add((one["kind"].lower(), one["metadata"]["name"]))
        place = ("--dir", str(world.directory / f"place-{name}"))
        code, said = world.run("install", "one.yaml", "--repo", "fleet", "--no-preflight", "--until", "commands", *place)
        check.that(code == 0, said)
        code, said = world.run("destroy", name, "--dry-run", *place)
        deleted = set(re.findall(r"kubectl delete ([a-z]+) (\S+) -n \S+ --wait=false", said))
        check.that(deleted == rendered and len(rendered) > 9, f"{name}: {sorted(deleted ^ rendered)}")


@case
def config_connector_says_why(check, world):
    world.edit(("provisioner: gcloud", "provisioner: configConnector"))
    items = []
    for one in world.hub():
        kind, name = one.split("/")
        ready = {"type": "Ready", "status": "True", "reason": "UpToDate"}
        if kind == "ContainerNodePool":
            ready = {"type": "Ready", "status": "False", "reason": "UpdateFailed", "message": "Update call failed: GCE_STOCKOUT"}
        items.append({"kind": kind, "metadata": {"name": name}, "status": {"conditions": [ready]}})
    world.cluster = {"connected": {"items": items[1:]}}
    refused(check, world, "GPU0711", "ComputeNetwork `lab` is not there",
            "ContainerNodePool `lab-gpu`: UpdateFailed: Update call failed: GCE_STOCKOUT", "kubectl describe containerclusters")
    (world.directory / "cloud/clusters--lab").write_text("{}")
    again(check, world)


@case
def no_login_plugin(check, world):
    environment = world.environment
    programs = world.directory / "bin"
    programs.mkdir()
    for one in ("git", "kubectl", "sh", "python3", "env"):
        (programs / one).symlink_to(DOUBLES / one if one == "kubectl" else shutil.which(one))
    world.environment = lambda: {**environment(), "PATH": str(programs)}
    refused(check, world, "GPU0410", "gke-gcloud-auth-plugin")
    check.that(not world.calls(), f"{world.calls()}")


if __name__ == "__main__":
    sys.exit(main(CASES, GkeWorld, __doc__))
