"""The GitOps controller is changed, from Flux to Argo CD and back, by the commands that `plan` gives.

Flux is the real one. Argo CD is played by what it does to objects: it applies them by the server side as `argocd-controller`
with force, with its tracking annotation, and without the fields that its Applications leave to others.
"""

import json
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from engines.flux import FLUX, LIMITS, change_of, field, kustomizations, plural_of, until  # noqa: E402
from engines.server import Api  # noqa: E402
from interop.run import as_objects  # noqa: E402
from interop.variants import with_engine  # noqa: E402
from support.program import environment, run  # noqa: E402

ARGOCD = "argocd-controller"
TRACKING = "argocd.argoproj.io/tracking-id"
# By these a controller knows its objects. While they and all values are right, it applies nothing, and owns nothing.
MARKS = {ARGOCD: {TRACKING}, "kustomize-controller": {"kustomize.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/namespace"}}
APPLICATIONS = ("argoproj.io/v1alpha1", "applications")
GITOPS = "openshift-gitops"
COMMAND_S = 120
QUIET_S = 4.0  # longer than Flux would wait for a dependency here


def sequence(cluster, engine):
    """The steps that `plan` gives for the blueprint with another engine, which it gets with this."""
    cluster.blueprint.write_text(with_engine(cluster.blueprint.read_text(), engine))
    done = run([cluster.gpuctl, "plan", cluster.blueprint, "--repo", cluster.repository, *LIMITS, "-o", "json"],
               env=environment(cluster.server.folder))
    if done.returncode != 0:
        raise RuntimeError(f"plan: {done.stderr.decode()}")
    found = [one for planned in json.loads(done.stdout)["clusters"] for one in planned["sequences"]
             if one["name"].startswith("leave-")]
    cluster.check(len(found) == 1 and found[0].get("step") == 2, f"to {engine}: {[one['name'] for one in found]}")
    return found[0]["steps"]


def take(cluster, step, namespace):
    """Runs the commands of a step at the root of the repository."""
    cluster.check(bool(step["run"]), f"no commands: {step['text']}")
    stage = cluster.folder.parent.name
    for line in step["run"]:
        for word, value in (("NAMESPACE", namespace), ("STAGE", stage), ("NAME", cluster.name)):
            line = re.sub(rf"(?<![A-Z:]){word}(?![A-Z:])", value, line)
        done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", line], cwd=cluster.repository, stdin=subprocess.DEVNULL,
                              env=cluster.server.environment(), capture_output=True, timeout=COMMAND_S, check=False)
        cluster.check(done.returncode == 0, f"{line}: {done.stderr.decode()}")


def owners(value):
    return {one["manager"] for one in value["metadata"].get("managedFields", []) if one.get("operation") == "Apply"}


def identities(live):
    return {key: value["metadata"]["uid"] for key, value in live.items()}


class Argocd:
    """What Argo CD does to a cluster's objects."""

    def __init__(self, cluster):
        self.cluster, self.api = cluster, Api(cluster.server, ARGOCD)

    def applications(self):
        code, answer = self.cluster.server.request("GET", f"/apis/{APPLICATIONS[0]}/namespaces/{GITOPS}/{APPLICATIONS[1]}")
        return answer["items"] if code == 200 else []

    def start(self):
        """The kinds of OpenShift GitOps, what is applied by hand, and the Applications that the root brings."""
        cluster = self.cluster
        wiring = [path for path in sorted((cluster.folder / "argocd").rglob("*.yaml")) if path.name != "kustomization.yaml"]
        objects = as_objects(cluster.found["kubectl"], cluster.server.folder, b"---\n".join(path.read_bytes() for path in wiring))
        wanted, unknown = cluster.kinds.wanted(cluster.folder, {(one["apiVersion"], one["kind"]) for one in objects.values()})
        cluster.check(not unknown, f"nobody publishes {unknown}")
        cluster.kinds.bring(wanted)
        for namespace in sorted({key[2] for key in objects if key[2]}):
            cluster.api.apply("namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
        for path in wiring:
            cluster.kubectl("apply", "--server-side", "--force-conflicts", "--field-manager=gpuctl", "-f", path)

    def sync(self):
        """All layers, as Git has them now, by those Applications that are synced automatically."""
        synced = 0
        for item in self.applications():
            path = item["spec"]["source"]["path"]
            if item["metadata"]["name"] == self.cluster.name or not item["spec"].get("syncPolicy", {}).get("automated"):
                continue
            for value in self.cluster.layer(path).values():
                self.apply(item, value)
                synced += 1
        return synced

    def apply(self, item, value):
        for rule in item["spec"].get("ignoreDifferences", []):
            if rule["kind"] == value["kind"] and rule.get("name", value["metadata"]["name"]) == value["metadata"]["name"]:
                for pointer in rule["jsonPointers"]:
                    *parents, last = pointer.split("/")[1:]
                    place = field(value, parents)
                    if isinstance(place, dict):
                        place.pop(last, None)
        group, kind = value["apiVersion"].rpartition("/")[0], value["kind"]
        name, namespace = value["metadata"]["name"], value["metadata"].get("namespace", "")
        value["metadata"].setdefault("annotations", {})[TRACKING] = (
            f"{item['metadata']['name']}:{group}/{kind}:{namespace}/{name}")
        self.api.apply(plural_of(self.cluster, (value["apiVersion"], kind, namespace, name)), value)


def numbers(cluster):
    """MachineSet -> how many machines it has."""
    return {key: value["spec"]["replicas"] for key, value in cluster.live().items() if key[1] == "MachineSet"}


def check_left(cluster, before, sizes, old, new):
    """After the last step: all objects are the same ones, only the new controller has them, and numbers of machines
    are what they were."""
    live = cluster.live()
    cluster.check(identities(live) == before, f"from {old}: objects were made anew: {set(before) ^ set(identities(live))}")
    shared = sorted(str(key) for key, value in live.items() if old in owners(value))
    cluster.check(not shared, f"{old} still owns fields of {shared}")
    marked = sorted(str(key) for key, value in live.items()
                    for place in ("labels", "annotations") if MARKS[old] & set(value["metadata"].get(place, {})))
    cluster.check(not marked, f"{old} still has its marks on {marked}")
    lost = sorted(str(key) for key, value in live.items() if new not in owners(value))
    cluster.check(not lost, f"{new} does not own {lost}")
    cluster.check(numbers(cluster) == sizes, f"from {old}: {numbers(cluster)} machines instead of {sizes}")


def edited(cluster):
    """A ConfigMap of Git and its first key."""
    key = next(key for key, value in cluster.objects.items() if key[1] == "ConfigMap" and value.get("data"))
    return key, next(iter(cluster.objects[key]["data"]))


def check_dropped(cluster, argocd):
    """A field that both controllers had applied, and that leaves Git now, leaves the cluster."""
    key, word = edited(cluster)
    layer = next(path.parent.name for path in cluster.files if path.name == f"configmap-{key[2]}-{key[3]}.yaml")
    item = next(one for one in argocd.applications() if one["metadata"]["name"] == f"{cluster.name}-{layer}")
    value = json.loads(json.dumps(cluster.objects[key]))
    del value["data"][word]
    argocd.apply(item, value)
    left = cluster.api.get(key[0], "configmaps", key[3], key[2]).get("data") or {}
    cluster.check(word not in left, f"{word} leaves Git, and stays in {key[3]}")
    argocd.apply(item, json.loads(json.dumps(cluster.objects[key])))


def check_switch(cluster, source):
    for key in [key for key in cluster.objects if key[1] == "MachineSet"]:
        cluster.merge(key[0], "machinesets", key[3], key[2], {"spec": {"replicas": 3}}, "machine-autoscaler")
    to_argocd(cluster, source)
    back_to_flux(cluster, source)


def to_argocd(cluster, source):
    cluster.request()
    before, sizes = identities(cluster.live()), numbers(cluster)
    suspend, _, _, delete, release = sequence(cluster, "argocd")
    take(cluster, suspend, FLUX)
    cluster.commit()
    source.publish(cluster.name, FLUX)
    cluster.read()
    argocd = Argocd(cluster)
    argocd.start()
    cluster.check(argocd.sync() > 0, "Argo CD syncs nothing")
    # Flux is there, has seen the commit, and must not undo what Argo CD or anybody does.
    key, word = edited(cluster)
    cluster.merge(key[0], "configmaps", key[3], key[2], change_of(["data", word], "from Argo CD"), ARGOCD)
    time.sleep(QUIET_S)
    cluster.check(cluster.api.get(key[0], "configmaps", key[3], key[2])["data"][word] == "from Argo CD",
                  "Flux applies after it was suspended")
    argocd.sync()
    take(cluster, delete, FLUX)
    until(lambda: not kustomizations(cluster.api), COMMAND_S, "the Kustomizations do not go")
    take(cluster, release, FLUX)
    check_left(cluster, before, sizes, "kustomize-controller", ARGOCD)
    before_sync = {key: value["metadata"]["resourceVersion"] for key, value in cluster.live().items()}
    argocd.sync()
    after = {key: value["metadata"]["resourceVersion"] for key, value in cluster.live().items()}
    cluster.check(before_sync == after, f"the next sync changes {[key for key in after if after[key] != before_sync[key]]}")
    check_dropped(cluster, argocd)


def back_to_flux(cluster, source):
    before, sizes = identities(cluster.live()), numbers(cluster)
    argocd = Argocd(cluster)
    suspend, _, _, delete, release = sequence(cluster, "flux")
    take(cluster, suspend, GITOPS)
    cluster.check(argocd.applications() and not any(item["spec"]["syncPolicy"].get("automated") for item in argocd.applications()),
                  "an Application is still synced automatically")
    cluster.commit()
    cluster.read()
    for step in sorted((cluster.folder / "flux/bootstrap").iterdir()):
        cluster.kubectl("apply", "--server-side", "--force-conflicts", "--field-manager=gpuctl", "-k", step)
    cluster.until_ready(source.publish(cluster.name, FLUX))
    take(cluster, delete, GITOPS)
    cluster.check(not argocd.applications(), "Applications stay")
    take(cluster, release, GITOPS)
    check_left(cluster, before, sizes, ARGOCD, "kustomize-controller")
    before_sync = {key: value["metadata"]["resourceVersion"] for key, value in cluster.live().items()}
    cluster.request()
    after = {key: value["metadata"]["resourceVersion"] for key, value in cluster.live().items()}
    cluster.check(before_sync == after, f"the next sync changes {[key for key in after if after[key] != before_sync[key]]}")
