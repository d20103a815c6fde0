"""What the operators and controllers of a cluster write while a GitOps controller applies the layers: statuses, each a
moment after what it is about."""

import time

from engines.watch import Watch

POLL_S = 0.4
NOW = "2026-01-01T00:00:00Z"


def condition(kind, value="True", reason="Done", **more):
    return {"type": kind, "status": value, "reason": reason, "message": "", "lastTransitionTime": NOW, **more}


def of_subscription(found):
    installed = f"{found['spec']['name']}.v1.0.0"
    return {"state": "AtLatestKnown", "currentCSV": installed, "installedCSV": installed, "lastUpdated": NOW}


def of_config_pool(found):
    return {"observedGeneration": found["metadata"]["generation"], "machineCount": 0, "degradedMachineCount": 0,
            "readyMachineCount": 0, "unavailableMachineCount": 0, "updatedMachineCount": 0,
            "conditions": [condition("Updated"), condition("Degraded", "False")]}


def of_job(_):
    times = {"lastProbeTime": NOW, "lastTransitionTime": NOW, "status": "True", "reason": "CompletionsReached", "message": ""}
    return {"startTime": NOW, "completionTime": NOW, "succeeded": 1,
            "conditions": [{"type": "SuccessCriteriaMet", **times}, {"type": "Complete", **times}]}


# apiVersion, plural -> the status that says: done.
DONE = {
    ("operators.coreos.com/v1alpha1", "subscriptions"): of_subscription,
    ("machineconfiguration.openshift.io/v1", "machineconfigpools"): of_config_pool,
    ("batch/v1", "jobs"): of_job,
    ("nfd.openshift.io/v1", "nodefeaturediscoveries"): lambda _: {"conditions": [
        condition("Available"), condition("Degraded", "False")]},
    ("nvidia.com/v1", "clusterpolicies"): lambda _: {"state": "ready", "namespace": "nvidia-gpu-operator"},
    ("nvidia.com/v1alpha1", "nvidiadrivers"): lambda _: {"state": "ready"},
    ("mellanox.com/v1alpha1", "nicclusterpolicies"): lambda _: {"state": "ready"},
    ("helm.toolkit.fluxcd.io/v2", "helmreleases"): lambda found: {
        "observedGeneration": found["metadata"]["generation"], "conditions": [condition("Ready")]},
    ("source.toolkit.fluxcd.io/v1", "helmrepositories"): lambda found: {
        "observedGeneration": found["metadata"]["generation"], "conditions": [condition("Ready")]},
    ("fluxcd.controlplane.io/v1", "fluxinstances"): lambda found: {
        "conditions": [condition("Ready", observedGeneration=found["metadata"]["generation"])]},
}


def of_google_resource(found):
    return {"observedGeneration": found["metadata"]["generation"], "conditions": [condition("Ready", reason="UpToDate")]}


class Operators(Watch):
    """Writes statuses in a thread, between entry and exit, each `pause` seconds after it saw the object. `more` is like
    DONE."""

    def __init__(self, api, pause, more=None):
        self.api, self.pause, self.seen, self.done = api, pause, {}, set()
        self.kinds = {**DONE, **(more or {})}
        super().__init__(POLL_S)

    def look(self):
        for (version, plural), status in self.kinds.items():
            for found in self.listed(version, plural):
                self.settle(plural, {"apiVersion": version, **found}, status)

    def listed(self, version, plural):
        root = "apis" if "/" in version else "api"
        code, answer = self.api.server.request("GET", f"/{root}/{version}/{plural}")
        if code == 404:
            return []  # the kind is not known yet
        if code != 200:
            raise RuntimeError(f"{plural}: {code} {answer}")
        kind = answer["kind"].removesuffix("List")
        return [{"kind": kind, **item} for item in answer["items"]]

    def settle(self, plural, found, status):
        key = (found["metadata"]["uid"], found["metadata"].get("generation"))
        if key in self.done:
            return
        if time.monotonic() < self.seen.setdefault(key, time.monotonic()) + self.pause:
            return
        self.api.status(plural, found, status(found))
        self.done.add(key)


class Collector(Watch):
    """The garbage collector, which a lone API server lacks: ends foreground deletions, as Argo CD asks for them, of
    kinds as (apiVersion, plural). Nothing here owns anything."""

    def __init__(self, api, kinds):
        self.api, self.kinds = api, sorted(kinds)
        super().__init__(POLL_S)

    def look(self):
        for version, plural in self.kinds:
            root = "apis" if "/" in version else "api"
            code, answer = self.api.server.request("GET", f"/{root}/{version}/{plural}")
            for item in answer["items"] if code == 200 else []:
                metadata = item["metadata"]
                if metadata.get("deletionTimestamp") and metadata.get("finalizers") == ["foregroundDeletion"]:
                    path = self.api.path(version, plural, metadata["name"], metadata.get("namespace"))
                    self.api.server.request("PATCH", path, '{"metadata": {"finalizers": null}}', "application/merge-patch+json")
