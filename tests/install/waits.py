"""Cases of run.py: what is waited for once the cluster follows its repository."""

TEAMS = """apiVersion: gpuctl.dev/v1alpha1
kind: Blueprint
metadata: {name: lab}
spec:
  platform: existing-openshift
  stage: dev
  openshift: {version: "4.20"}
  gpuPools:
    - {name: train, nodes: {names: [a]}, replicas: 1, gpu: {model: A30, perNode: 2}}
  teams:
    - {name: vision, namespaces: [vision], share: 50}
    - {name: language, namespaces: [language], share: 50}
  queues: {controller: kueue, nodes: [{pool: train, cpu: 16, memoryGiB: 64}]}
  gitops: {repoURL: "https://git.example.com/fleet.git"}
"""


def teams(world, controller):
    (world.directory / "lab.yaml").write_text(TEAMS.replace("controller: kueue", f"controller: {controller}"))
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


MORPHEUS = """apiVersion: gpuctl.dev/v1alpha1
kind: Blueprint
metadata: {name: lab}
spec:
  platform: existing-openshift
  stage: dev
  openshift: {version: "4.20"}
  gpuPools:
    - {name: train, nodes: {names: [a]}, replicas: 1, gpu: {model: A30, perNode: 2}}
  platformServices:
    morpheus: {pool: train, pullSecret: {existing: ngc}, triton: {models: [sid-minibert-onnx]}}
  gitops: {repoURL: "https://git.example.com/fleet.git"}
"""


def morpheus(check, world):
    (world.directory / "lab.yaml").write_text(MORPHEUS)
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


CASES = [("morpheus", morpheus), ("queues of teams", queues_of_teams), ("queues of the kai scheduler", queues_of_the_kai_scheduler)]
