"""Argo CD of OpenShift GitOps may write all that is rendered for it, with its own rights and those of the
bootstrap together; asked of the server's RBAC. Its own alone do not do."""

import json
import pathlib
import re
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from engines.server import Api, ApiServer  # noqa: E402
from interop.variants import write_variant  # noqa: E402
from support.program import SHARED, environment, run, samples  # noqa: E402

ACCOUNT = {"kind": "ServiceAccount", "name": "openshift-gitops-argocd-application-controller",
           "namespace": "openshift-gitops"}
RBAC = "rbac.authorization.k8s.io"
# redhat-developer/gitops-operator v1.20.0, controllers/argocd/openshift/openshift.go: what it grants by itself.
OWN_GROUPS = ["operators.coreos.com", "operator.openshift.io", "user.openshift.io", "config.openshift.io",
              "console.openshift.io", "machine.openshift.io", "machineconfiguration.openshift.io", RBAC, "storage.k8s.io"]
OWN_RULES = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]},
             {"apiGroups": OWN_GROUPS, "resources": ["*"], "verbs": ["*"]},
             {"apiGroups": [""], "verbs": ["*"],
              "resources": ["namespaces", "persistentvolumeclaims", "persistentvolumes", "configmaps"]}]
VERBS = ("create", "patch", "delete")
SETTLED_S = 10  # the server's authorizer hears of a binding a moment after it was written


def plurals():
    """(group, kind) -> plural of the published kinds."""
    found = {}
    for path in sorted((SHARED / "schemas").rglob("*.yaml")):
        text = path.read_text()
        group, kind, plural = (re.search(pattern, text, re.M) for pattern in
                               (r"^  group: (\S+)$", r"^    kind: (\S+)$", r"^    plural: (\S+)$"))
        if group and kind and plural:
            found[group[1], kind[1]] = plural[1]
    return found


def written(cluster, known):
    """(group, plural, namespace) of all objects of the layers."""
    found = set()
    for path in (cluster / "layers").rglob("*.yaml"):
        text = path.read_text()
        version, kind = (re.search(rf"^{field}: (\S+)$", text, re.M)[1] for field in ("apiVersion", "kind"))
        group = version.rpartition("/")[0]
        if group == "kustomize.config.k8s.io":
            continue
        namespace = re.search(r"^metadata:\n(?:  .*\n)*?  namespace: (\S+)$", text, re.M)
        found.add((group, known.get((group, kind), f"{kind.lower()}s"), namespace[1] if namespace else ""))
    return sorted(found)


def may(server, group, plural, namespace, verb):
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": {
        "user": f"system:serviceaccount:{ACCOUNT['namespace']}:{ACCOUNT['name']}",
        "resourceAttributes": {"group": group, "resource": plural, "namespace": namespace, "verb": verb, "name": "one"}}}
    status, answer = server.request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", json.dumps(review))
    if status != 201:
        raise RuntimeError(f"{status} {answer}")
    return answer["status"]["allowed"]


def settled(server, one, allowed):
    """Waits until the server has heard of what was bound, or no longer is."""
    end = time.monotonic() + SETTLED_S
    while may(server, *one, "create") != allowed and time.monotonic() < end:
        time.sleep(0.05)


def check_rights(tally, gpuctl, found, scratch):
    folder = scratch / "rights"
    folder.mkdir(mode=0o700)
    known = plurals()
    with ApiServer(found, folder) as server:
        api = Api(server, "openshift-gitops")
        api.apply("clusterroles", {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole",
                                   "metadata": {"name": "own"}, "rules": OWN_RULES})
        api.apply("clusterrolebindings", {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRoleBinding",
                                          "metadata": {"name": "own"}, "subjects": [ACCOUNT], "roleRef": {
                                              "apiGroup": RBAC, "kind": "ClusterRole", "name": "own"}})
        for sample in samples():
            place = folder / sample.stem
            place.mkdir()
            done = run([gpuctl, "render", write_variant(sample, "argocd", place / "in"), "-o", place / "out"],
                       env=environment(place))
            if not tally.check(done.returncode == 0, f"{sample.stem}: {done.stderr.decode()}"):
                continue
            cluster = next(path.parent for path in (place / "out").rglob("gpuctl.lock"))
            roles = cluster / "argocd/bootstrap/2-controller"
            if not (roles / "clusterrole.yaml").exists():
                continue  # no OpenShift GitOps
            asked = written(cluster, known)
            refused = [one for one in asked if not may(server, *one, "create")]
            if not tally.check(bool(refused), f"{sample.stem}: the own rights do, and the test cannot fail"):
                continue
            for name, plural in (("clusterrole", "clusterroles"), ("clusterrolebinding", "clusterrolebindings")):
                api.apply_text(api.path(f"{RBAC}/v1", plural, "gpuctl-argocd-application-controller"),
                               (roles / f"{name}.yaml").read_text())
            settled(server, refused[0], True)
            for one in asked:
                for verb in VERBS:
                    tally.check(may(server, *one, verb), f"{sample.stem}: may not {verb} {one}")
            server.request("DELETE", api.path(f"{RBAC}/v1", "clusterrolebindings", "gpuctl-argocd-application-controller"))
            settled(server, refused[0], False)
