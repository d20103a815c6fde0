"""Answers as kubectl does on a GKE cluster that is well, and on a management cluster with Config Connector.

DOUBLE_CLUSTER as oc has it; what this one does not know, that one answers.
"""
import os
import sys

import plain_json as json

words = sys.argv[1:]
cloud = os.environ["DOUBLE_CLOUD"]
given = json.load(open(os.environ["DOUBLE_CLUSTER"])) if os.environ.get("DOUBLE_CLUSTER") else {}
hub = os.environ.get("DOUBLE_HUB", "")  # resources of Config Connector, as KIND/NAME words
home = os.path.join(cloud, "..")


def note(text):
    with open(os.path.join(cloud, "calls"), "a") as out:
        out.write(text + "\n")


def pools():
    for file in sorted(os.listdir(cloud)):
        if file.startswith("node-pools--"):
            yield json.load(open(os.path.join(cloud, file)))["name"]


def nodes():
    names = list(pools()) or os.environ.get("DOUBLE_POOLS", "").split()
    ready = [{"type": "Ready", "status": "True"}]
    return {"items": [{"metadata": {"name": f"gke-{pool}-{n}", "labels": {"cloud.google.com/gke-nodepool": pool}},
                       "status": {"conditions": ready, "allocatable": {"nvidia.com/gpu": "64"}}}
                      for pool in names for n in range(6)]}


def resource(one):
    kind, _, called = one.partition("/")
    status = {"conditions": [{"type": "Ready", "status": "True", "reason": "UpToDate", "message": "The resource is up to date"}]}
    return {"kind": kind, "metadata": {"name": called, "annotations": {"cnrm.cloud.google.com/deletion-policy": "abandon"}}, "status": status}


def of_hub(kinds):
    gone = open(os.path.join(home, "gone")).read().split() if os.path.exists(os.path.join(home, "gone")) else []
    return [resource(one) for one in hub.split() if one not in gone and one.partition("/")[0].lower() in kinds]


def answer(found):
    print(json.dumps(found))
    sys.exit(0)


what = words[1] if len(words) > 1 else ""
if words[0] == "version":
    answer({"clientVersion": {"gitVersion": "v1.34.0"}})
private = os.environ.get("KUBECONFIG", "").endswith("gpuctl/clusters/dev/lab/kubeconfig")
if what.lower().startswith(("container", "compute", "iam")):
    if private:
        sys.exit("error: the server doesn't have a resource type \"containercluster\"")
    found = of_hub(what.split(","))
    if words[0] == "get" and not words[2].startswith("-"):
        found = [one for one in found if one["metadata"]["name"] == words[2]]
        if not found:
            sys.exit(f'Error from server (NotFound): {what} "{words[2]}" not found')
        answer(found[0])
    if words[0] == "get":
        answer(given.get("connected", {"items": found}))
    note(" ".join(words[:3]))
    if words[0] == "delete":
        with open(os.path.join(home, "gone"), "a") as out:
            out.write(" ".join(one["kind"] + "/" + one["metadata"]["name"] for one in found if one["metadata"]["name"] == words[2]) + "\n")
    sys.exit(0)
if words[0] == "get" and what in given and what not in ("secret",):
    if isinstance(given[what], str):
        sys.exit(given[what])
    answer(given[what])
if what == "nodes":
    answer(nodes())
if what == "namespace":
    if words[0] == "create":
        note("create namespace " + words[2])
        open(os.path.join(home, "namespace-" + words[2]), "w").close()
        sys.exit(0)
    if not os.path.exists(os.path.join(home, "namespace-" + words[2])):
        sys.exit(f'Error from server (NotFound): namespaces "{words[2]}" not found')
    answer({"kind": "Namespace"})
if what == "customresourcedefinitions":
    answer({"status": {"conditions": [{"type": "Established", "status": "True"}]}})
if what == "statefulsets.apps":
    answer({"items": [{"metadata": {"name": "argocd-application-controller"}, "spec": {"replicas": 1},
                       "status": {"readyReplicas": 1, "updatedReplicas": 1}}]})
if words[0] == "rollout" or (words[0] == "apply" and "-k" not in words):
    note(" ".join(word for word in words if not word.startswith("--")))
    sys.exit(0)
os.execv(os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "oc"), ["oc", *words])
