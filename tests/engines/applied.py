"""All that is rendered, on a real API server: every sample, and every release line of the operators.

A sample's layers are applied one after the other, as `oc apply --server-side` does it, with unknown fields refused;
then its wiring and what belongs to a management cluster. After that nothing differs (`diff`), a second time changes no
resource version, and each object has all fields of its file with their values, and besides them defaults alone.
Lines of operators differ in some of their objects: one that stood in the same form with the same schema is not
applied again.
"""

import functools
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from engines.schemas import Kinds, complete, differs  # noqa: E402
from engines.server import Api, ApiServer  # noqa: E402
from interop.run import as_objects, identity, parse_json_stream, resources_of  # noqa: E402
from support.program import ROOT, environment, run, samples  # noqa: E402

MANAGER = "gpuctl"
# What the server writes into every object.
OWN = {"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"}
# Defaults of the server's own kinds, by kind: names of fields. Those of custom kinds stand in their schemas.
BUILT_IN = {
    "Namespace": {"spec", "labels", "kubernetes.io/metadata.name"},
    "PersistentVolumeClaim": {"finalizers", "volumeMode"},
    "ResourceClaimTemplate": {"metadata"},
    "Service": {"clusterIP", "clusterIPs", "internalTrafficPolicy", "ipFamilies", "ipFamilyPolicy", "protocol", "sessionAffinity",
                "type"},
    "Deployment": {"progressDeadlineSeconds", "revisionHistoryLimit", "imagePullPolicy", "failureThreshold", "scheme",
                   "periodSeconds", "successThreshold", "timeoutSeconds", "protocol", "terminationMessagePath",
                   "terminationMessagePolicy", "dnsPolicy", "restartPolicy", "schedulerName", "terminationGracePeriodSeconds"},
    "DaemonSet": {"annotations", "deprecated.daemonset.template.generation", "revisionHistoryLimit", "updateStrategy",
                  "imagePullPolicy", "terminationMessagePath", "terminationMessagePolicy", "dnsPolicy", "restartPolicy",
                  "schedulerName", "securityContext", "terminationGracePeriodSeconds"},
    "Job": {"backoffLimit", "completionMode", "completions", "manualSelector", "parallelism", "podReplacementPolicy", "suspend",
            "selector", "labels", "dnsPolicy", "schedulerName", "securityContext", "terminationGracePeriodSeconds",
            "imagePullPolicy", "resources", "terminationMessagePath", "terminationMessagePolicy", "restartPolicy",
            "serviceAccount", "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name", "controller-uid",
            "job-name", "protocol", "apiVersion", "defaultMode"},
}


def folders_of(cluster):
    """What is applied, in order: the layers, the wiring, and what another cluster gets."""
    found = sorted(path.parent for path in cluster.glob("layers/*/kustomization.yaml"))
    return found + [path.parent for name in ("argocd", "flux", "management", "management/argocd", "management/flux")
                    for path in [cluster / name / "kustomization.yaml"] if path.exists()]


def kinds_in(objects):
    return {(value["apiVersion"], value["kind"]) for value in objects}


def kubectl(server, *words):
    return run([server.folder / "bin/kubectl", *words], env=server.environment())


class Tree:
    """What was rendered for one cluster, and its objects as kubectl reads them."""

    def __init__(self, gpuctl, found, blueprint, scratch):
        scratch.mkdir(mode=0o700, exist_ok=True)
        done = run([gpuctl, "render", blueprint, "-o", scratch / "out"], env=environment(scratch))
        if done.returncode != 0:
            raise RuntimeError(f"{blueprint.name}: {done.stderr.decode()}")
        self.cluster = next(path.parent for path in (scratch / "out").rglob("gpuctl.lock"))
        self.folders = folders_of(self.cluster)
        self.files = [path for folder in self.folders for path in resources_of(folder)]
        self.all = scratch / "all.yaml"
        self.all.write_bytes(b"---\n".join(path.read_bytes() for path in self.files))
        self.objects = as_objects(found["kubectl"], scratch, self.all.read_bytes())


def live_objects(server, path):
    done = kubectl(server, "get", "-o", "json", "--show-managed-fields", "--ignore-not-found", "-f", path)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.decode())
    return {identity(value): value for value in parse_json_stream(done.stdout.decode())}


def added(kinds, wanted, live):
    """What a live object has besides what Git has and the defaults: [text]."""
    group, _, version = live["apiVersion"].rpartition("/")
    schema = kinds.schema(group, version, live["kind"])
    if schema is None:
        return unusual(BUILT_IN.get(live["kind"], set()), wanted, {**live, "metadata": metadata_of(live)})
    whole = complete(schema, wanted)
    return differs({**live, "metadata": metadata_of(live)}, {**whole, "status": live.get("status"), "metadata": wanted["metadata"]})


def metadata_of(live):
    return {key: value for key, value in live["metadata"].items() if key not in OWN}


def unusual(usual, wanted, live, place=""):
    if isinstance(wanted, dict) and isinstance(live, dict):
        found = []
        for key, value in live.items():
            if key in wanted:
                found += unusual(usual, wanted[key], value, f"{place}.{key}")
            elif key not in usual and f"{place}.{key}" != ".status":
                found.append(f"{place}.{key} is {value!r}")
        return found
    if isinstance(wanted, list) and isinstance(live, list):
        return [text for one, other in zip(wanted, live) for text in unusual(usual, one, other, f"{place}[]")]
    return []


class Applied:
    """A server for many clusters, one after the other."""

    def __init__(self, tally, server):
        self.tally, self.server = tally, server
        self.kinds, self.seen, self.count = Kinds(Api(server, "crds")), set(), 0

    def check(self, good, what):
        return self.tally.check(good, what)

    def bring(self, tree, what):
        wanted, unknown = self.kinds.wanted(tree.cluster, kinds_in(tree.objects.values()))
        self.check(not unknown, f"{what}: nobody publishes {unknown}")
        self.kinds.bring(wanted)
        # What the platform or the step before has made.
        made = {key[3] for key in tree.objects if key[1] == "Namespace"}
        for name in sorted({key[2] for key in tree.objects if key[2]} - made):
            self.kinds.api.apply("namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})

    def apply(self, *words):
        return kubectl(self.server, "apply", "--server-side", f"--field-manager={MANAGER}", "--validate=strict", *words)

    def sample(self, tree, what):
        self.bring(tree, what)
        for folder in tree.folders:
            if not resources_of(folder):
                continue
            done = self.apply("-k", folder)
            if not self.check(done.returncode == 0, f"{what}: {folder.name}: {done.stderr.decode()}"):
                return
        self.compare(tree.all, tree.objects, what)
        self.refuses(tree, what)
        self.clear(tree)

    def line(self, tree, what):
        """Like a sample, but only what no cluster before had in this form."""
        self.bring(tree, what)
        new = {key: value for key, value in tree.objects.items() if self.form(value) not in self.seen}
        if not new:
            return
        self.seen |= {self.form(value) for value in new.values()}
        for name in sorted({key[2] for key in new if key[2]}):
            self.kinds.api.apply("namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        path = tree.all.with_name("new.json")
        path.write_text("\n---\n".join(json.dumps(value) for value in ordered(new)))
        done = self.apply("-f", path)
        if self.check(done.returncode == 0, f"{what}: {done.stderr.decode()}"):
            self.compare(path, new, what)
        self.clear(tree)

    def form(self, value):
        group = value["apiVersion"].rpartition("/")[0]
        crd = next((hash(text) for name, text in self.kinds.there.items() if name.partition(".")[2] == group
                    and re.search(rf"^    kind: {value['kind']}$", text, re.M)), 0)
        return json.dumps(value, sort_keys=True), crd

    def compare(self, path, objects, what):
        done = kubectl(self.server, "diff", "--server-side", f"--field-manager={MANAGER}", "-f", path)
        self.check(done.returncode == 0 and not done.stdout, f"{what}: differs: {done.stdout.decode()}{done.stderr.decode()}")
        before = live_objects(self.server, path)
        done = self.apply("-f", path)
        self.check(done.returncode == 0, f"{what}: again: {done.stderr.decode()}")
        after = live_objects(self.server, path)
        self.check(set(before) == set(after) == set(objects), f"{what}: {set(objects) ^ set(after)} is not there")
        for key, wanted in objects.items():
            live = after.get(key, {"metadata": {}, "apiVersion": key[0], "kind": key[1]})
            name = f"{what}: {key[1]} {key[2] or ''}/{key[3]}"
            self.check(self.state(live) == self.state(before.get(key, live)), f"{name}: applied again, it changes")
            lost = differs(wanted, live)
            self.check(not lost, f"{name}: {lost}")
            more = added(self.kinds, wanted, live)
            self.check(not more, f"{name}: more than defaults: {more}")
            self.count += 1

    def state(self, live):
        """What a second time leaves alone: the version. Where the kind has a default for the whole status, the
        server stores it with the first change of whatever sort, which is a version more; that of a claim for a
        volume moves with each apply, so that its spec is compared."""
        if live["kind"] == "PersistentVolumeClaim":
            return live.get("spec")
        group, _, version = live["apiVersion"].rpartition("/")
        schema = self.kinds.schema(group, version, live["kind"]) or {}
        return live["metadata"].get("generation" if "default" in schema.get("properties", {}).get("status", {})
                                    else "resourceVersion")

    def refuses(self, tree, what):
        """None of this proves anything unless the server looks at fields, and `diff` at values."""
        value = next(value for value in reversed(list(tree.objects.values()))
                     if "." in value["apiVersion"].rpartition("/")[0] and isinstance(value.get("spec"), dict))
        path = tree.all.with_name("wrong.json")
        path.write_text(json.dumps({**value, "spec": {**value["spec"], "noSuchField": 1}}))
        done = self.apply("--dry-run=server", "-f", path)
        self.check(done.returncode != 0 and b"noSuchField" in done.stderr, f"{what}: an unknown field is taken: {done.stderr.decode()}")
        path.write_text(json.dumps({**value, "metadata": {**value["metadata"], "labels": {"one": "more"}}}))
        done = kubectl(self.server, "diff", "--server-side", f"--field-manager={MANAGER}", "-f", path)
        self.check(done.returncode == 1 and b"more" in done.stdout, f"{what}: diff sees nothing: {done.stderr.decode()}")

    def clear(self, tree):
        """Takes all objects away but namespaces, which nobody here would finish."""
        path = tree.all.with_name("old.json")
        path.write_text("\n---\n".join(json.dumps({"apiVersion": value["apiVersion"], "kind": value["kind"], "metadata": {
            key: value["metadata"][key] for key in ("name", "namespace") if key in value["metadata"]}})
            for value in tree.objects.values() if value["kind"] != "Namespace"))
        # Nobody here finishes them.
        for value in tree.objects.values():
            if value["kind"] == "PersistentVolumeClaim":
                kubectl(self.server, "patch", "persistentvolumeclaim", value["metadata"]["name"], "--namespace",
                        value["metadata"]["namespace"], "--type=merge", "--patch", '{"metadata": {"finalizers": null}}')
        done = kubectl(self.server, "delete", "--ignore-not-found", "--timeout=30s", "-f", path)
        if done.returncode != 0:
            raise RuntimeError(f"{tree.cluster.name} does not go: {done.stderr.decode()}")


def ordered(objects):
    return sorted(objects.values(), key=lambda value: value["kind"] != "Namespace")


def all_samples(gpuctl, found, scratch):
    for sample in samples():
        yield sample.stem, functools.partial(Tree, gpuctl, found, sample, scratch / sample.stem)


def lines_of_operators(gpuctl, found, scratch):
    """Clusters of each release line: those of the golden cases about policies, and a sample with each line of
    the Network Operator."""
    for blueprint in sorted((ROOT / "tests/golden/policy").glob("*/[0-9]*.yaml")):
        name = f"{blueprint.parent.name}-{blueprint.stem}"
        yield name, functools.partial(Tree, gpuctl, found, blueprint, scratch / name)
    table = (ROOT / "providers/network-operator/tables/network-operator-releases.yaml").read_text()
    for line in re.findall(r'^    - line: "(\S+)"$', table, re.M):
        sample = ROOT / "blueprints/vsphere-passthrough-rdma.yaml"
        folder = scratch / f"network-{line}"
        folder.mkdir()
        text, changed = re.subn(r"^    networkOperator:.*\n", f'    networkOperator:\n      release: "{line}"\n',
                                sample.read_text(), flags=re.M)
        if changed != 1:
            raise ValueError(f"{sample.name} has {changed} places for a line")
        (folder / sample.name).write_text(text)
        facts = sample.with_suffix(".facts.yaml")
        (folder / facts.name).write_text(facts.read_text())
        yield folder.name, functools.partial(Tree, gpuctl, found, folder / sample.name, folder / "rendered")


def check_applied(tally, gpuctl, found, scratch, clusters, way):
    """All `clusters` on one server. `way` is a method of Applied."""
    folder = scratch / f"applied-{way}"
    folder.mkdir(mode=0o700)
    (folder / "trees").mkdir()
    server_folder = folder / "server"
    server_folder.mkdir(mode=0o700)
    try:
        with ApiServer(found, server_folder) as server:
            applied = Applied(tally, server)
            for name, make in clusters(gpuctl, found, folder / "trees"):
                getattr(applied, way)(make(), name)
            tally.check(applied.count > 0, f"{way}: nothing was applied")
            print(f"applied: {applied.count} objects of {way}s", flush=True)
    except Exception as problem:  # the other parts go on
        tally.check(False, f"{folder.name}: {type(problem).__name__}: {problem}")
