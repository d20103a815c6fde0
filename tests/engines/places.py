"""The kinds of clusters on which the steps are taken: what is rendered for them, who works on them, what stands in
for what no test can have, and which command waits for each deed of the operators."""

import dataclasses
import json
import typing

from engines import operators
from support.program import SHARED

SCHEMAS = SHARED / "schemas/gitops"
OLM_KINDS = tuple(f"operators.coreos.com_{plural}" for plural in
                  ("subscriptions", "operatorgroups", "clusterserviceversions"))
# What stands in for Argo CD's published manifest has settings, too, which nobody may take away.
INSTALLED = {"resource.exclusions": "- kinds: [Endpoints]\n", "installationID": "one"}


def schema_of(name):
    return (SCHEMAS / f"{name}.yaml").read_text()


@dataclasses.dataclass(frozen=True)
class Place:
    name: str
    sample: str
    engine: str
    namespace: str
    knows: tuple  # kinds that are there from the beginning
    deeds: typing.Callable  # (server, schemas, folder of the cluster) -> list for a Player
    # Before which deed the operators stop -> what the line holds that waits for it, its limit left out.
    waits: dict
    # A change of a file of the second step -> (file, old text, new text, field in which it conflicts)
    change: tuple
    doubles: typing.Callable = lambda server: None


def script(server, name, text):
    path = server.folder / "bin" / name
    path.unlink(missing_ok=True)
    path.write_text(f"#!/bin/sh\n{text}")
    path.chmod(0o755)


def published_manifest(server):
    """kubectl takes a small manifest in place of the one that is published, and gcloud gives no access."""
    namespaced = {"namespace": "argocd"}
    labels = {"app.kubernetes.io/part-of": "argocd"}
    objects = [
        {"apiVersion": "v1", "kind": "ConfigMap", "data": INSTALLED,
         "metadata": {**namespaced, "name": "argocd-cm", "labels": {**labels, "app.kubernetes.io/name": "argocd-cm"}}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {**namespaced, "name": "argocd-cmd-params-cm", "labels": labels}},
        {"apiVersion": "apps/v1", "kind": "StatefulSet",
         "metadata": {**namespaced, "name": "argocd-application-controller", "labels": labels},
         "spec": {"selector": {"matchLabels": labels}, "serviceName": "argocd-application-controller", "replicas": 1,
                  "template": {"metadata": {"labels": labels},
                               "spec": {"containers": [{"name": "controller", "image": "argocd:none"}]}}}}]
    texts = [schema_of(f"argoproj.io_{plural}") for plural in ("applications", "appprojects")]
    manifest = server.folder / "install.yaml"
    manifest.write_text("\n---\n".join([*texts, *map(json.dumps, objects)]))
    script(server, "kubectl", f'for word do shift; case $word in --filename=https://*) word=--filename={manifest} ;; esac\n'
                              f'set -- "$@" "$word"; done\nexec {server.folder}/bin/oc "$@"\n')
    script(server, "gcloud", "exit 0\n")


def published_chart(server):
    """helm makes the namespace and the kinds that the chart brings."""
    schema = SCHEMAS / "fluxcd.controlplane.io_fluxinstances.yaml"
    script(server, "helm", f"oc create namespace flux-system --dry-run=client --output=yaml | oc apply --server-side --filename=-\n"
                           f"exec oc apply --server-side --filename={schema}\n")
    script(server, "gcloud", "exit 0\n")


FLUX_WAITS = {"controllers": "fluxinstance.fluxcd.controlplane.io/flux",
              "instance": "fluxinstance.fluxcd.controlplane.io/flux",
              "repository": "gitrepository.source.toolkit.fluxcd.io/",
              "root": "kustomization.kustomize.toolkit.fluxcd.io/"}
OLM_WAITS = {"subscription": "=AtLatestKnown", "version": "=Succeeded"}
FLUX_CHANGE = ("fluxinstance.yaml", "multitenant: false", "multitenant: true", ".spec.cluster.multitenant")

OPENSHIFT_ARGOCD = Place(
    "openshift-argocd", "aws-g5-timeslicing.yaml", "argocd", "openshift-gitops", OLM_KINDS, operators.openshift_gitops,
    {**OLM_WAITS, "kinds": "--for=create crd/argocds",
     "instance": "--for=create --namespace openshift-gitops argocd.argoproj.io/",
     "checks": "--for=create --namespace openshift-gitops configmap/argocd-cm", "available": "=Available",
     "repository": "application.argoproj.io/"},
    ("clusterrole.yaml", "- patch\n", "- patch\n  - watch\n", ".rules"))
OPENSHIFT_FLUX = Place(
    "openshift-flux", "aws-p4d-mig-mixed.yaml", "flux", "flux-system", OLM_KINDS, operators.flux_by_olm,
    {**OLM_WAITS, "kinds": "--for=create crd/fluxinstances", **FLUX_WAITS}, FLUX_CHANGE)
GKE_ARGOCD = Place(
    "gke-argocd", "gke-l4-separate-pool.yaml", "argocd", "argocd", (), operators.argocd,
    {"controller": "rollout status", "repository": "application.argoproj.io/"},
    ("argocd-cmd-params-cm.yaml", '"1800"', '"900"', ".data.controller.sync.timeout.seconds"), published_manifest)
GKE_FLUX = Place("gke-flux", "gke-a100-only-pool.yaml", "flux", "flux-system", (), operators.flux, FLUX_WAITS, FLUX_CHANGE,
                 published_chart)
