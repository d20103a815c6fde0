"""Cases of run.py: what is waited for once the cluster follows its repository."""

import re

BLUEPRINT = """apiVersion: gpuctl.dev/v1alpha1
kind: Blueprint
metadata: {{name: lab}}
spec:
  platform: existing-openshift
  stage: dev
  openshift: {{version: "4.20"}}
{}  gitops: {{repoURL: "https://git.example.com/fleet.git"}}
"""

TEAMS = """  gpuPools:
    - {name: train, nodes: {names: [a]}, replicas: 1, gpu: {model: A30, perNode: 2}}
  teams:
    - {name: vision, namespaces: [vision], share: 50}
    - {name: language, namespaces: [language], share: 50}
  queues: {controller: kueue, nodes: [{pool: train, cpu: 16, memoryGiB: 64}]}
"""

METAL = """  gpuPools:
    - {name: named, nodes: {names: [a, b]}, replicas: 2, gpu: {model: A30, perNode: 2}}
    - {name: labelled, nodes: {selector: {rack: r1}}, replicas: 3, gpu: {model: A30, perNode: 2}}
  gpuStack:
    smokeTests: {enabled: true, pools: [named]}
    acceptance: {enabled: true, pools: [named], betweenMachines: {enabled: true}}
"""


def write(world, fields):
    (world.directory / "lab.yaml").write_text(BLUEPRINT.format(fields))


def teams(world, controller):
    write(world, TEAMS.replace("controller: kueue", f"controller: {controller}"))
    packages = ("nfd", "gpu-operator-certified", "kueue-operator", "openshift-cert-manager-operator")
    world.cluster = {
        "nodes": {"items": [{"metadata": {"name": "a"}, "status": {"allocatable": {"nvidia.com/gpu": "2"}}}]},
        "subscriptions.operators.coreos.com": {"items": [{"spec": {"name": name}, "status": {"state": "AtLatestKnown"}}
                                                         for name in packages]}}


def condition(kind, status, **more):
    return {"type": kind, "status": status, **more}


def queues_of_teams(check, world):
    teams(world, "kueue")
    absent = "error: the server doesn't have a resource type \"kueues\""
    world.cluster["kueues.kueue.openshift.io"] = absent
    code, said = world.install()
    check.that(code == 1, said)
    check.says(said, "GPU0711", "`queue-controller` did not come true", "doesn't have a resource type")
    # The kind comes while somebody waits for it.
    world.cluster["kueues.kueue.openshift.io"] = [
        {"turn": absent}, {"turn": {"items": []}},
        {"turn": {"items": [{"metadata": {"name": "cluster"}, "status": {"conditions": [condition("Available", "True")]}}]}}]
    active = {"metadata": {"name": "vision"}, "status": {"conditions": [condition("Active", "True")]}}
    late = {"metadata": {"name": "language"},
            "status": {"conditions": [condition("Active", "False", message="can't admit new workloads: FlavorNotFound")]}}
    world.cluster["clusterqueues.kueue.x-k8s.io"] = {"items": [active, late]}
    code, said = world.install()
    check.that(code == 1, said)
    check.says(said, "`queues` did not come true", "ClusterQueue `language` is not active: can't admit new workloads")
    late["status"]["conditions"] = [condition("Active", "True")]
    code, said = world.install()
    check.that(code == 0, said)
    check.clean(world)


def queues_of_the_kai_scheduler(check, world):
    teams(world, "kai")
    three = ("DependenciesFulfilled", "Deployed", "Available")
    settings = {"metadata": {"name": "kai-config", "generation": 2},
                "status": {"conditions": [condition(kind, "True", observedGeneration=1) for kind in three]}}
    world.cluster["configs.kai.scheduler"] = {"items": [settings]}
    code, said = world.install()
    check.says(said, "GPU0711", "`kai-scheduler` did not come true")
    settings["status"]["conditions"] = [condition(kind, "True", observedGeneration=2) for kind in three]
    parent = {"metadata": {"name": "all.teams"}, "status": {"childQueues": ["vision"]}}
    world.cluster["queues.scheduling.run.ai"] = {"items": [parent]}
    code, said = world.install()
    check.says(said, "`kai-queues` did not come true", "queue `language`")
    parent["status"]["childQueues"].append("language")
    code, said = world.install()
    check.that(code == 0, said)
    check.clean(world)


def a_cluster_that_exists(check, world):
    write(world, METAL)
    code, said = world.install("--dry-run")
    check.that(code == 0 and "openshift-install" not in said and "oc get nodes" in said, said)

    def node(name, gpus, **labels):
        return {"metadata": {"name": name, "labels": labels}, "status": {"allocatable": {"nvidia.com/gpu": str(gpus)}}}
    world.cluster = {"nodes": {"items": [node("a", 2), node("b", 0), node("c", 1, rack="r1")]}}
    code, said = world.install()
    check.that(code == 1, said)
    check.says(said, "GPU0711", "pool `named`: too few nodes offer all of nvidia.com/gpu", "pool `labelled`: too few nodes")
    world.cluster["nodes"]["items"] = [node("a", 2), node("b", 2), node("c", 2, rack="r1")]
    code, said = world.install()
    check.says(said, "GPU0711", "`smoke-tests` did not come true", "of pool `named`")
    jobs = re.findall(r"Job `([^`]+)`", said)
    world.cluster["jobs"] = {"items": [{"metadata": {"name": name}, "status": {"succeeded": 1}} for name in jobs]}
    code, said = world.install()
    check.says(said, "GPU0711", "`acceptance-tests` did not come true", "of pool `named`")
    failed = re.findall(r"Job `([^`]+)`", said)[0]
    told = {"type": "Failed", "status": "True", "message": "Job has reached the specified backoff limit"}
    world.cluster["jobs"]["items"].append({"metadata": {"name": failed}, "status": {"conditions": [told]}})
    code, broken = world.install()
    check.says(broken, "GPU0725", "`acceptance-tests` waits for has failed", f"Job `{failed}` of pool `named`: Job has reached")
    check.that("GPU0711" not in broken, broken)
    jobs += re.findall(r"Job `([^`]+)`", said)
    between = {name for name in jobs if name.startswith("between-named-")}
    check.that(len(between) == 1, f"tests between machines: {between}")
    # A Job of two pods has succeeded when both have.
    world.cluster["jobs"] = {"items": [{"metadata": {"name": name}, "spec": {"completions": 1 + (name in between)},
                                        "status": {"succeeded": 1}} for name in jobs]}
    code, said = world.install()
    check.says(said, "GPU0711", "`acceptance-tests` did not come true")
    check.that(set(re.findall(r"Job `([^`]+)`", said)) == between, said)
    for job in world.cluster["jobs"]["items"]:
        job["status"]["succeeded"] = job["spec"]["completions"]
    code, said = world.install()
    check.that(code == 0, said)
    check.that(not any("create" in call for call in world.calls()), f"{world.calls()}")
    check.clean(world)


MORPHEUS = """  gpuPools:
    - {name: train, nodes: {names: [a]}, replicas: 1, gpu: {model: A30, perNode: 2}}
  platformServices:
    morpheus: {pool: train, pullSecret: {existing: ngc}, triton: {models: [sid-minibert-onnx]}}
"""


def morpheus(check, world):
    write(world, MORPHEUS)
    world.cluster = {
        "nodes": {"items": [{"metadata": {"name": "a"}, "status": {"allocatable": {"nvidia.com/gpu": "2"}}}]},
        "subscriptions.operators.coreos.com": {"items": [{"spec": {"name": name}, "status": {"state": "AtLatestKnown"}}
                                                         for name in ("nfd", "gpu-operator-certified")]},
        "deployments.apps": {"items": []}}
    code, said = world.install()
    check.that(code == 1, said)
    check.says(said, "GPU0711", "`morpheus` did not come true", "the Deployments of Morpheus")
    triton = {"metadata": {"name": "triton"}, "status": {"conditions": [condition("Available", "False")]}}
    world.cluster["deployments.apps"] = {"items": [triton]}
    code, said = world.install()
    check.says(said, "`morpheus` did not come true", "Deployment `triton` is not available")
    triton["status"]["conditions"] = [condition("Available", "True")]
    code, said = world.install()
    check.that(code == 0, said)
    check.clean(world)


DATA_SCIENCE = """  gpuPools:
    - {name: train, nodes: {names: [a]}, replicas: 1, gpu: {model: A30, perNode: 2}}
  platformServices:
    dataScience: {distribution: openDataHub, test: {}}
"""


def data_science(check, world):
    write(world, DATA_SCIENCE)
    world.cluster = {
        "nodes": {"items": [{"metadata": {"name": "a"}, "status": {"allocatable": {"nvidia.com/gpu": "2"}}}]},
        "subscriptions.operators.coreos.com": {"items": [{"spec": {"name": name}, "status": {"state": "AtLatestKnown"}} for name
                                                         in ("nfd", "gpu-operator-certified", "opendatahub-operator")]},
        "datascienceclusters.datasciencecluster.opendatahub.io": {"items": []}}
    code, said = world.install()
    check.that(code == 1, said)
    check.says(said, "GPU0711", "`data-science` did not come true", "the DataScienceCluster")
    platform = {"status": {"phase": "Not Ready", "conditions": [
        condition("Ready", "False", message="Some components are not ready: kserve"),
        condition("KserveReady", "False", message="1/2 deployments ready"),
        condition("DashboardReady", "Unknown"),
        condition("RayReady", "False", severity="Info", message="Component ManagementState is set to Removed")]}}
    world.cluster["datascienceclusters.datasciencecluster.opendatahub.io"] = {"items": [platform]}
    code, said = world.install()
    check.that(code == 1, said)
    check.says(said, "`data-science` did not come true", "KserveReady: 1/2 deployments ready", "DashboardReady")
    check.that("RayReady" not in said and "Some components" not in said, said)
    platform["status"] = {"phase": "Ready"}
    code, said = world.install()
    check.that(code == 0, said)
    check.clean(world)


CASES = [("a cluster that exists", a_cluster_that_exists), ("data science", data_science), ("morpheus", morpheus),
         ("queues of teams", queues_of_teams), ("queues of the kai scheduler", queues_of_the_kai_scheduler)]
