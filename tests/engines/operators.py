"""What the operators of a cluster do while somebody takes the steps: OLM, OpenShift GitOps, Flux.

Each part is a list of deeds in the order in which the real ones happen. A `Player` does them one after the
other in a thread of its own, with a pause before each, and can stop before one of them: what waits for that
then waits in vain. A deed waits for what it reacts to.
"""

import threading
import time

from engines.server import Api

POLL_S = 0.1
OLM = "operators.coreos.com/v1alpha1"
CHECK = "resource.customizations.health.argoproj.io_Application"
GITOPS = "openshift-gitops"
ARGOCD_KINDS = ("argocds", "applications", "appprojects")
FLUX_KINDS = ("source.toolkit.fluxcd.io_gitrepositories", "kustomize.toolkit.fluxcd.io_kustomizations")


class Stopped(Exception):
    """The test is over, or the deed is not to be done."""


class Player:
    """Does the deeds from `done` on in a thread, up to the one called `never`."""

    def __init__(self, deeds, pause=0.0):
        self.deeds, self.pause, self.done = deeds, pause, 0
        self.problem = None

    def play(self, never=None):
        self.never, self.over = never, threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        try:
            for name, deed in self.deeds[self.done:]:
                if name == self.never:
                    return
                deed(self)
                self.done += 1
        except Stopped:
            pass
        except Exception as problem:  # what goes wrong in a thread is told by the test
            self.problem = f"{type(problem).__name__}: {problem}"

    def until(self, look):
        """What `look` gives once it gives something, a pause after that."""
        while not self.over.is_set():
            found = look()
            if found:
                if self.over.wait(self.pause):
                    break
                return found
            time.sleep(POLL_S)
        raise Stopped

    def stop(self):
        self.over.set()
        self.thread.join()


def olm(api, package, namespace):
    """Of a Subscription OLM makes a ClusterServiceVersion, whose pods start some time later."""
    version = f"{package}.v1.0.0"
    labels = {f"operators.coreos.com/{package}.{namespace}": ""}

    def subscription():
        return api.get(OLM, "subscriptions", package, namespace)

    def resolve(player):
        found = player.until(subscription)
        api.apply("clusterserviceversions", {
            "apiVersion": OLM, "kind": "ClusterServiceVersion",
            "metadata": {"name": version, "namespace": namespace, "labels": labels},
            "spec": {"displayName": package, "install": {"strategy": "deployment", "spec": {"deployments": []}}}})
        common = {"currentCSV": version, "lastUpdated": "2026-01-01T00:00:00Z"}
        api.status("subscriptions", found, {**common, "state": "UpgradePending"})
        player.until(subscription)
        api.status("subscriptions", found, {**common, "state": "AtLatestKnown", "installedCSV": version})

    def start(player):
        found = player.until(lambda: api.get(OLM, "clusterserviceversions", version, namespace))
        api.status("clusterserviceversions", found, {"phase": "Installing"})
        player.until(lambda: True)
        api.status("clusterserviceversions", found, {"phase": "Succeeded"})

    return [("subscription", resolve), ("version", start)]


def brings(api, plurals, schemas):
    """CustomResourceDefinitions that come one after the other."""
    def bring(player):
        for plural in plurals:
            player.until(lambda: True)
            text = schemas(plural)
            group, _, name = plural.rpartition("_")
            api.apply_text(api.path("apiextensions.k8s.io/v1", "customresourcedefinitions", f"{name}.{group}"), text)
    return bring


def openshift_gitops(server, schemas, cluster):
    """OpenShift GitOps, whose operator makes an instance by itself, and Argo CD. Of `cluster`, the folder that
    was rendered, only the first layer's Application comes from Git."""
    operator, controller = Api(server, "manager"), Api(server, "argocd-controller")
    version = "argoproj.io/v1beta1"

    def instance():
        return operator.get(version, "argocds", GITOPS, GITOPS)

    def make(player):
        # A kind is served some time after its definition came.
        player.until(lambda: server.request("GET", f"/apis/{version}/argocds?limit=1")[0] == 200)
        operator.apply("namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": GITOPS}})
        operator.apply("argocds", {
            "apiVersion": version, "kind": "ArgoCD", "metadata": {"name": GITOPS, "namespace": GITOPS},
            "spec": {"server": {"route": {"enabled": True}},
                     "controller": {"resources": {"requests": {"cpu": "250m", "memory": "1Gi"}}},
                     "sso": {"provider": "dex", "dex": {"openShiftOAuth": True}}}})
        operator.status("argocds", instance(), {"phase": "Available"})

    def settings(more):
        return {"apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": "argocd-cm", "namespace": GITOPS, "labels": {"app.kubernetes.io/part-of": "argocd"}},
                "data": {"url": "https://gitops.example.com", **more}}

    def take_over(player):
        found = player.until(lambda: (instance() or {}).get("spec", {}).get("resourceHealthChecks") and instance())
        operator.status("argocds", found, {"phase": "Pending"})
        player.until(lambda: True)
        operator.apply("configmaps", settings({}))
        player.until(lambda: True)
        operator.apply("configmaps", settings({
            "application.resourceTrackingMethod": found["spec"]["resourceTrackingMethod"],
            **{f"resource.customizations.health.{check['group']}_{check['kind']}": check["check"]
               for check in found["spec"]["resourceHealthChecks"]}}))

    def restart(player):
        player.until(lambda: True)
        operator.status("argocds", instance(), {"phase": "Available"})

    def follow(player):
        name = cluster.name
        player.until(lambda: controller.get("argoproj.io/v1alpha1", "applications", name, GITOPS)
                     and controller.get("argoproj.io/v1alpha1", "appprojects", name, GITOPS))
        # Whoever leads it to the repository before the checks are in force gets all layers at once.
        held = controller.get("v1", "configmaps", "argocd-cm", GITOPS)["data"]
        if CHECK not in held or instance()["status"]["phase"] != "Available":
            raise RuntimeError("the root Application came before the health checks")
        first = sorted((cluster / "argocd").glob("app-*.yaml"))[0]
        layer = f"{name}-{first.stem.removeprefix('app-')}"
        controller.apply_text(controller.path("argoproj.io/v1alpha1", "applications", layer, GITOPS), first.read_text())

    plurals = [f"argoproj.io_{plural}" for plural in ARGOCD_KINDS]
    return [*olm(Api(server, "olm"), "openshift-gitops-operator", "openshift-gitops-operator"),
            ("kinds", brings(Api(server, "olm"), plurals, schemas)), ("instance", make), ("checks", take_over),
            ("available", restart), ("repository", follow)]


def argocd(server, _, cluster):
    """Argo CD of its published manifest: a controller that restarts, and what it does with the root."""
    api = Api(server, "argocd-controller")

    def restarted():
        found = api.get("apps/v1", "statefulsets", "argocd-application-controller", "argocd")
        marks = (found or {}).get("spec", {}).get("template", {}).get("metadata", {}).get("annotations", {})
        return found if "kubectl.kubernetes.io/restartedAt" in marks else None

    def restart(player):
        found = player.until(restarted)
        if CHECK not in api.get("v1", "configmaps", "argocd-cm", "argocd")["data"]:
            raise RuntimeError("the controller restarts before the health checks are there")
        # Later restarts are observed, too.
        api.status("statefulsets", found, {"observedGeneration": 1000, "replicas": 1, "readyReplicas": 1,
                                           "currentReplicas": 1, "updatedReplicas": 1})

    def follow(player):
        version, name = "argoproj.io/v1alpha1", cluster.name
        player.until(lambda: api.get(version, "applications", name, "argocd")
                     and api.get(version, "appprojects", name, "argocd"))
        api.apply("applications", {"apiVersion": version, "kind": "Application",
                                   "metadata": {"name": name, "namespace": "argocd"},
                                   "status": {"sync": {"status": "Synced"}}})

    return [("controller", restart), ("repository", follow)]


def flux(server, schemas, cluster):
    """The Flux operator, whose FluxInstance brings the other kinds, and Flux."""
    api = Api(server, "flux-operator")
    namespace = "flux-system"
    ready = {"type": "Ready", "status": "True", "reason": "ReconciliationSucceeded", "message": "done",
             "lastTransitionTime": "2026-01-01T00:00:00Z"}

    def settle(plural, look, reason):
        def deed(player):
            found = player.until(look)
            generation = found["metadata"]["generation"]
            begun = {**ready, "status": "Unknown", "reason": "Progressing", "observedGeneration": generation}
            api.status(plural, found, {"conditions": [begun]})
            player.until(lambda: True)
            api.status(plural, found, {"conditions": [{**ready, "reason": reason, "observedGeneration": generation}]})
        return deed

    def look(version, plural, name):
        return lambda: api.get(version, plural, name, namespace)

    instance = look("fluxcd.controlplane.io/v1", "fluxinstances", "flux")
    bring_flux = brings(api, FLUX_KINDS, schemas)

    def install(player):
        player.until(instance)
        bring_flux(player)

    return [("controllers", install),
            ("instance", settle("fluxinstances", instance, "ReconciliationSucceeded")),
            ("repository", settle("gitrepositories", look("source.toolkit.fluxcd.io/v1", "gitrepositories", cluster.name),
                                  "Succeeded")),
            ("root", settle("kustomizations", look("kustomize.toolkit.fluxcd.io/v1", "kustomizations", cluster.name),
                            "ReconciliationSucceeded"))]


def flux_by_olm(server, schemas, cluster):
    """The same, installed by OLM."""
    api = Api(server, "olm")
    return [*olm(api, "flux-operator", "flux-system"),
            ("kinds", brings(api, ["fluxcd.controlplane.io_fluxinstances"], schemas)), *flux(server, schemas, cluster)]
