"""Answers as oc does on a cluster that is well, as far as an installation asks.

DOUBLE_CLUSTER names a JSON file: what differs, by the resource that is asked for: its answer, or a
list of answers, the last of which stays; `apply`: a list of errors on standard error, one a call.
"""
import os
import sys

import plain_json as json

words = sys.argv[1:]
if words[:1] == ["version"]:
    print("Client Version: 4.20.3")
    sys.exit(0)
cloud = os.environ["DOUBLE_CLOUD"]
given = json.load(open(os.environ["DOUBLE_CLUSTER"])) if os.environ.get("DOUBLE_CLUSTER") else {}


def note(text):
    with open(os.path.join(cloud, "calls"), "a") as out:
        out.write(text + "\n")


def turn(name):
    """How often this was asked before."""
    path = os.path.join(cloud, "..", "turns-" + name.replace("/", "-"))
    count = int(open(path).read()) if os.path.exists(path) else 0
    with open(path, "w") as out:
        out.write(str(count + 1))
    return count


def answer(name, otherwise):
    if name not in given:
        return otherwise
    found = given[name]
    if isinstance(found, list) and found and isinstance(found[0], dict) and "turn" in found[0]:
        found = found[min(turn(name), len(found) - 1)]["turn"]
    if isinstance(found, str):
        print(found, file=sys.stderr)
        sys.exit(1)
    return found


def condition(kind, status, **more):
    return {"type": kind, "status": status, **more}


WELL = [condition("Available", "True"), condition("Degraded", "False"), condition("Progressing", "False")]
infra = next((name for name in os.listdir(cloud) if name != "calls"), "none-00000")
zone = os.environ.get("DOUBLE_SETS", "").split()


def objects(resource):
    if resource == "clusterversion":
        return {"kind": "ClusterVersion", "status": {"conditions": [condition("Available", "True"), condition("Failing", "False"),
                                                                  condition("Progressing", "False")]}}
    if resource == "clusteroperators":
        return {"items": [{"metadata": {"name": name}, "status": {"conditions": WELL}} for name in ("authentication", "ingress")]}
    if resource == "clusterserviceversions":
        return {"items": [{"metadata": {"name": "openshift-gitops-operator.v1.20.0"}, "status": {"phase": "Succeeded"}},
                          {"metadata": {"name": "flux-operator.v0.30.0"}, "status": {"phase": "Succeeded"}}]}
    if resource.startswith("argocds"):
        return {"items": [{"metadata": {"name": "openshift-gitops"}, "status": {"phase": "Available"}}]}
    if resource.startswith("fluxinstances"):
        return {"items": [{"metadata": {"name": "flux"}, "status": {"conditions": [condition("Ready", "True")]}}]}
    if resource.startswith("applications"):
        return {"items": [{"metadata": {"name": "root"}, "status": {"sync": {"status": "Synced"}, "health": {"status": "Healthy"}}}]}
    if resource.startswith("kustomizations"):
        return {"items": [{"metadata": {"name": "root"}, "status": {"conditions": [condition("Ready", "True")]}}]}
    if resource.startswith("subscriptions"):
        return {"items": [{"spec": {"name": name}, "status": {"state": "AtLatestKnown"}} for name in
                          ("nfd", "gpu-operator-certified", "nvidia-network-operator", "sriov-network-operator")]}
    if resource == "machinesets":
        return {"items": [{"metadata": {"name": f"{infra}-{one}"}, "spec": {"replicas": 1}, "status": {"readyReplicas": 9}} for one in zone]}
    if resource == "nodes":
        return {"items": [{"metadata": {"name": f"node-{one}", "annotations": {
            "machine.openshift.io/machine": f"openshift-machine-api/{infra}-{one}-x{n}"}},
            "status": {"allocatable": {"nvidia.com/gpu": "8", "nvidia.com/gpu.shared": "8"}}} for one in zone for n in range(4)]}
    if resource.startswith("clusterpolicies"):
        return {"items": [{"metadata": {"name": "gpu-cluster-policy"}, "status": {"state": "ready", "conditions": [
            condition("Ready", "True", reason="Reconciled")]}}]}
    return {"items": []}


if words[0] == "get":
    resource = words[1]
    if resource == "secret":
        print(json.dumps(answer("secret", words[2])))
    else:
        print(json.dumps(answer(resource, objects(resource))))
elif words[0] == "apply":
    folder = words[words.index("-k") + 1]
    errors = given.get("apply", [])
    count = turn("apply") if errors else 0
    if count < len(errors):
        print(errors[count], file=sys.stderr)
        sys.exit(1)
    if not os.path.exists(os.path.join(folder, "kustomization.yaml")):
        print(f"error: no kustomization in {folder}", file=sys.stderr)
        sys.exit(1)
    note("apply " + "/".join(folder.split("/")[-3:]))
    print("serverside-applied")
elif words[0] in given.get("refused", []):
    print(given.get("refusal", "Error from server (Forbidden): it is not allowed"), file=sys.stderr)
    sys.exit(1)
elif words[0] in ("delete", "scale"):
    note(" ".join(words))
else:
    print("unknown command", file=sys.stderr)
    sys.exit(1)
