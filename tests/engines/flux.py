"""Flux follows what is rendered: its kustomize-controller, built from its module, on a real API server.

The part of source-controller is a web server that hands out commits of a repository made by `gpuctl apply`
(source.py); operators are played (statuses.py). Samples with Flux, as users start: the bootstrap is applied, and from then
on everything comes from Git.

- Every layer becomes ready, each after those that it depends on, also when the kinds of operators come late.
- A second sync changes no resource version.
- Somebody's edit of a field of Git is undone; that of a field that Git leaves to others stays.
- A MachineSet that is lost from Git by a slip stays. The pool is removed as documented (GPU0617): the first commit
  brings it to zero, the second lets Flux delete it.
- The controller is changed by the commands that `plan` gives: never do two work on one object, and nothing that the old
  one owned is left with it.
"""

import dataclasses
import json
import pathlib
import re
import shutil
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from engines.applied import folders_of, kinds_in, live_objects  # noqa: E402
from engines.schemas import FOLDERS, Kinds, published  # noqa: E402
from engines.server import Api, ApiServer  # noqa: E402
from engines.source import Source  # noqa: E402
from engines.statuses import Operators  # noqa: E402
from engines.watch import Watch  # noqa: E402
from interop.run import as_objects, resources_of  # noqa: E402
from interop.tools import go_program  # noqa: E402
from interop.variants import with_engine  # noqa: E402
from support.program import ROOT, environment, run, samples  # noqa: E402

PACKAGE = "github.com/fluxcd/kustomize-controller"
BUILD_TIMEOUT_S = 1800
READY_S = 240
FLUX = "flux-system"
KUSTOMIZE = "kustomize.toolkit.fluxcd.io/v1"
SOURCES = ("gitrepositories", "ocirepositories", "buckets", "externalartifacts", "helmrepositories", "helmcharts")
MACHINES = "machine.openshift.io/v1beta1"
LIMITS = ["--max-effect", "upgrade", "--allow", "refused", "--allow", "unknown"]


def controller():
    return go_program(HERE / "kustomize-controller", PACKAGE, ("-trimpath", "-ldflags", "-s -w"), BUILD_TIMEOUT_S)


@dataclasses.dataclass(frozen=True)
class Story:
    sample: str
    late: bool  # whether the kinds of operators come late
    pool: str = ""  # which one is removed
    switch: bool = False  # whether Argo CD takes the cluster over in the end


STORIES = [Story("aws-p4d-mig-mixed", late=True, pool="training"), Story("gcp-n1-t4", late=False, switch=True)]


def all_stories():
    """Every sample, besides what CI runs."""
    known = {story.sample: story for story in STORIES}
    return [known.get(sample.stem, Story(sample.stem, late=True)) for sample in samples()]


def until(look, limit, otherwise):
    """What `look` gives once it gives something."""
    end = time.monotonic() + limit
    while True:
        found = look()
        if found:
            return found
        if time.monotonic() > end:
            raise RuntimeError(otherwise() if callable(otherwise) else otherwise)
        time.sleep(0.1)


class Order(Watch):
    """Watches all Kustomizations in a thread: which became ready when, and which waited for others."""

    def __init__(self, api):
        self.api, self.waited, self.ready = api, set(), {}
        super().__init__(0.2)

    def look(self):
        for item in kustomizations(self.api):
            for one in item.get("status", {}).get("conditions", []):
                if one["type"] == "Ready" and one["status"] == "True":
                    self.ready.setdefault(item["metadata"]["name"], one["lastTransitionTime"])
                if one.get("reason") == "DependencyNotReady":
                    self.waited.add(item["metadata"]["name"])


def kustomizations(api):
    code, answer = api.server.request("GET", f"/apis/{KUSTOMIZE}/namespaces/{FLUX}/kustomizations")
    return answer["items"] if code == 200 else []


def is_ready(item, revision=None):
    status = item.get("status", {})
    good = status.get("observedGeneration") == item["metadata"]["generation"] and any(
        one["type"] == "Ready" and one["status"] == "True" for one in status.get("conditions", []))
    return good and (revision is None or status.get("lastAppliedRevision") == revision)


def said(items):
    return "; ".join(f"{item['metadata']['name']}: " + ", ".join(
        f"{one['type']}={one['status']} {one['message'][:300]}" for one in item.get("status", {}).get("conditions", []))
        for item in items if not is_ready(item))


class Cluster:
    """A server, a repository, and the controller that brings both together."""

    ENGINE = "flux"

    def __init__(self, tally, gpuctl, found, server, story):
        self.tally, self.gpuctl, self.found, self.server, self.story = tally, gpuctl, found, server, story
        self.api, self.kinds = Api(server, "test"), Kinds(Api(server, "crds"))
        self.repository = server.folder / "fleet"
        inputs = server.folder / "in"
        shutil.copytree(ROOT / "blueprints", inputs)
        self.blueprint = inputs / f"{story.sample}.yaml"
        self.blueprint.write_text(with_engine(self.blueprint.read_text(), self.ENGINE))
        self.commit()
        self.read()
        self.name = re.search(r"^  name: (\S+)$", (self.folder / self.ENGINE / "bootstrap/3-root/root.yaml").read_text(), re.M)[1]

    def check(self, good, what):
        return self.tally.check(good, f"{self.ENGINE}, {self.story.sample}: {what}")

    def commit(self, *more):
        done = run([self.gpuctl, "apply", self.blueprint, "--repo", self.repository, *LIMITS, "--quiet", *more],
                   env=environment(self.server.folder))
        if done.returncode != 0:
            raise RuntimeError(f"apply: {done.stderr.decode()}")

    def read(self):
        """The newest commit, as files and as objects."""
        self.folder = next(path.parent for path in self.repository.glob("clusters/*/*/gpuctl.lock"))
        self.files = self.followed()
        self.all = self.server.folder / "all.yaml"
        self.all.write_bytes(b"---\n".join(path.read_bytes() for path in self.files))
        self.objects = as_objects(self.found["kubectl"], self.server.folder, self.all.read_bytes())

    def followed(self):
        """The files that the controller follows, but for those that wire it."""
        return [path for path in self.folder.glob("layers/*/*.yaml") if path.name != "kustomization.yaml"]

    def layer(self, path):
        """The objects of a folder of the repository."""
        return as_objects(self.found["kubectl"], self.server.folder, b"---\n".join(
            file.read_bytes() for file in resources_of(self.repository / path)))

    def kubectl(self, *words):
        done = run([self.server.folder / "bin/oc", *words], env=self.server.environment())
        if done.returncode != 0:
            raise RuntimeError(f"{words}: {done.stderr.decode()}")
        return done.stdout.decode()

    def wanted_kinds(self):
        """The kinds that are there before any operator; those that come later are in `late`."""
        operators = published(FOLDERS[0])
        wiring = [value for folder in folders_of(self.folder) if folder.name == self.ENGINE
                  for value in as_objects(self.found["kubectl"], self.server.folder, b"---\n".join(
                      path.read_bytes() for path in resources_of(folder))).values()]
        wanted, unknown = self.kinds.wanted(self.folder, kinds_in([*self.objects.values(), *wiring]))
        self.check(not unknown, f"nobody publishes {unknown}")
        self.late = [one for one in wanted if self.story.late and (one.group, one.kind) in operators]
        return [one for one in wanted if one not in self.late]

    def bring_kinds(self):
        gitops = {one.plural: one for one in published(FOLDERS[3]).values() if one.group == "source.toolkit.fluxcd.io"}
        early = self.wanted_kinds()
        self.kinds.bring(early + [gitops[name] for name in SOURCES if gitops[name] not in early])

    def make_namespaces(self, *more):
        """Those that the platform has made."""
        made = {key[3] for key in self.objects if key[1] == "Namespace"}
        for name in sorted({*more, *(key[2] for key in self.objects if key[2])} - made):
            self.api.apply("namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})

    def start(self):
        """The steps of the bootstrap, and the controller that its FluxInstance stands for."""
        self.make_namespaces(FLUX)
        for step in sorted((self.folder / "flux/bootstrap").iterdir()):
            self.kubectl("apply", "--server-side", "--field-manager=gpuctl", "-k", step)
        (self.server.folder / "tmp").mkdir()
        self.server.start("kustomize-controller", "--metrics-addr=0", "--health-addr=127.0.0.1:0", "--requeue-dependency=1s",
                          "--kube-api-qps=500", "--kube-api-burst=1000", "--interval-jitter-percentage=0",
                          "--watch-all-namespaces", KUBECONFIG=self.server.kubeconfig, RUNTIME_NAMESPACE=FLUX,
                          TMPDIR=self.server.folder / "tmp")

    def log(self):
        return self.server.log_of("kustomize-controller")

    def until_ready(self, revision, names=None):
        def look():
            items = [item for item in kustomizations(self.api) if names is None or item["metadata"]["name"] in names]
            return len(items) > 1 and all(is_ready(item, revision) for item in items)
        until(look, READY_S, lambda: f"not ready: {said(kustomizations(self.api))}\n{self.log()}")

    def follow(self, source, branch="main"):
        """Publishes a branch, and waits until it is there as far as the machines; the layers behind them go on by
        themselves."""
        self.until_ready(source.publish(self.name, FLUX, branch), {self.name, f"{self.name}-20-machines"})

    def request(self, names=None):
        """Asks for a sync of the Kustomizations, as `flux reconcile` does, and waits for its end."""
        token = str(time.monotonic())
        asked = [item["metadata"]["name"] for item in kustomizations(self.api)]
        asked = [name for name in asked if names is None or name in names]
        for name in asked:
            self.merge(KUSTOMIZE, "kustomizations", name, FLUX,
                       {"metadata": {"annotations": {"reconcile.fluxcd.io/requestedAt": token}}})
        until(lambda: all(item.get("status", {}).get("lastHandledReconcileAt") == token and is_ready(item)
                          for item in kustomizations(self.api) if item["metadata"]["name"] in asked),
              READY_S, lambda: f"not synced: {said(kustomizations(self.api))}\n{self.log()}")

    def heal(self, _):
        """What somebody edited is undone where it has to be: here with the next sync."""
        self.request()

    def merge(self, version, plural, name, namespace, change, manager="somebody"):
        path = f"{self.api.path(version, plural, name, namespace)}?fieldManager={manager}"
        code, answer = self.server.request("PATCH", path, json.dumps(change), "application/merge-patch+json")
        if code != 200:
            raise RuntimeError(f"{name}: {code} {answer}")
        return answer

    def live(self):
        return live_objects(self.server, self.all)

    def machine_set(self, key):
        return self.api.get(MACHINES, "machinesets", key[3], key[2])

    def pool_sets(self):
        """The MachineSets of the pool that is removed."""
        return [key for key, value in self.objects.items() if key[1] == "MachineSet"
                and f"-{self.story.pool}-" in key[3]]


def check_order(cluster, source):
    cluster.bring_kinds()
    order = Order(cluster.api)
    cluster.start()
    with Operators(Api(cluster.server, "operators"), 1.0) as operators, order:
        revision = source.publish(cluster.name, FLUX)
        if cluster.late:
            until(lambda: "no matches for kind" in said(kustomizations(cluster.api)), READY_S,
                  lambda: f"nothing waits for a kind: {said(kustomizations(cluster.api))}\n{cluster.log()}")
            cluster.kinds.bring(cluster.late)
            # Flux tries again by itself every two minutes (`retryInterval`), longer than a test has.
            waiting = [item["metadata"]["name"] for item in kustomizations(cluster.api) if "no matches for kind" in said([item])]
            for name in waiting:
                cluster.merge(KUSTOMIZE, "kustomizations", name, FLUX,
                              {"metadata": {"annotations": {"reconcile.fluxcd.io/requestedAt": "late"}}})
        cluster.until_ready(revision)
        cluster.check(operators.problem is None and order.problem is None, f"{operators.problem} {order.problem}")
        layers = len(list(cluster.folder.glob("layers/*/kustomization.yaml")))
        until(lambda: len(order.ready) > layers, READY_S, lambda: f"ready were only {sorted(order.ready)} of {layers} layers")
    cluster.check(len(order.ready) == layers + 1, f"{len(order.ready)} Kustomizations of {layers} layers and the root")
    cluster.check(bool(order.waited), "no layer ever waited for another")
    live = cluster.live()
    for item in kustomizations(cluster.api):
        for before in item["spec"].get("dependsOn", []):
            early = [key for key in cluster.layer(item["spec"]["path"])
                     if live[key]["metadata"]["creationTimestamp"] < order.ready[before["name"]]]
            cluster.check(not early, f"{early} were made before {before['name']} was ready")


def check_again(cluster):
    before = cluster.live()
    cluster.check(len(before) == len(cluster.objects), f"{set(cluster.objects) ^ set(before)}")
    cluster.request()
    after = cluster.live()
    moved = [key for key in before if before[key]["metadata"]["resourceVersion"] != after[key]["metadata"]["resourceVersion"]]
    cluster.check(not moved, f"synced again, {moved} change")


def ignored_fields(cluster, live):
    """(key of an object, field as a list of words) of what Flux leaves to others, where there is such a field."""
    for item in kustomizations(cluster.api):
        for rule in item["spec"].get("ignore", []):
            for key in live:
                wanted = rule.get("target", {})
                if (re.fullmatch(wanted.get("group", ".*"), key[0].rpartition("/")[0]) and key[1] == wanted.get("kind", key[1])
                        and re.fullmatch(wanted.get("name", ".*"), key[3])):
                    for path in rule["paths"]:
                        words = [word.replace("~1", "/").replace("~0", "~") for word in path.split("/")[1:]]
                        if isinstance(field(live[key], words), (int, str)):
                            yield key, words


def field(value, words):
    for word in words:
        value = value.get(word) if isinstance(value, dict) else None
    return value


def change_of(words, value):
    for word in reversed(words):
        value = {word: value}
    return value


def plural_of(cluster, key):
    one = next((one for one in cluster.kinds.there if one.partition(".")[2] == key[0].rpartition("/")[0]
                and re.search(rf"^    kind: {key[1]}$", cluster.kinds.there[one], re.M)), None)
    return one.partition(".")[0] if one else f"{key[1].lower()}s"


def check_drift(cluster, ignored):
    """Somebody edits one field of each kind in Git, and all that Git leaves to others: those that `ignored` finds."""
    edits, live = [], cluster.live()
    for key, words in ignored(cluster, live):
        old = field(cluster.objects[key], words)
        edits.append((key, words, field(live[key], words) + 1 if isinstance(old, int) else f"{old}-other", True))
    cluster.check(bool(edits), "there is no field that Git leaves to others")
    owned = {}
    for key, value in cluster.objects.items():
        for parents in (["data"], ["spec"], ["metadata", "labels"]):
            words = next(([*parents, word] for word, one in (field(value, parents) or {}).items() if isinstance(one, str)), None)
            if words and value["kind"] != "Job":
                owned.setdefault(value["kind"], (key, words))
    edits += [(key, words, f"{field(cluster.objects[key], words)}x", False) for key, words in owned.values()]
    done = []
    for key, words, value, kept in edits:
        try:
            cluster.merge(key[0], plural_of(cluster, key), key[3], key[2], change_of(words, value))
            done.append((key, words, value, kept))
        except RuntimeError as problem:  # a value that the kind does not take
            if kept:
                cluster.check(False, f"{key}: {problem}")
    cluster.heal([(key, words) for key, words, _, kept in done if not kept])
    live = cluster.live()
    for key, words, value, kept in done:
        wanted = value if kept else field(cluster.objects[key], words)
        cluster.check(field(live[key], words) == wanted,
                      f"{key} {words}: {field(live[key], words)!r} instead of {wanted!r}, edited to {value!r}")
    cluster.check(sum(not kept for *_, kept in done) > 1, f"only {done} were edited")


def commit_slip(cluster, key):
    """A file is lost from Git with its line, in a commit of a branch of its own."""
    clone = cluster.server.folder / "slip"
    for words in (["clone", "-q", cluster.repository, clone], ["-C", clone, "checkout", "-q", "-b", "slip"]):
        done = run(["git", *words], env=environment(cluster.server.folder))
        if done.returncode != 0:
            raise RuntimeError(done.stderr.decode())
    folder = next(path.parent for path in clone.rglob("layers/20-machines/kustomization.yaml"))
    name = next(path.name for path in folder.iterdir() if key[3] in path.name and path.name.startswith("machineset"))
    (folder / name).unlink()
    listed = folder / "kustomization.yaml"
    listed.write_text("".join(line for line in listed.read_text().splitlines(keepends=True) if name not in line))
    for words in (["commit", "-q", "-a", "-m", "slip"], ["push", "-q", "origin", "slip"]):
        done = run(["git", "-C", clone, *words], env=environment(cluster.server.folder))
        if done.returncode != 0:
            raise RuntimeError(done.stderr.decode())


def check_slip(cluster, source):
    """A file that is lost from Git leaves its object where it is."""
    key = cluster.pool_sets()[0]
    commit_slip(cluster, key)
    cluster.follow(source, "slip")
    cluster.check(cluster.machine_set(key) is not None, "a file lost from Git takes its machines away")
    cluster.follow(source)


def without_pool(text, name):
    changed, count = re.subn(rf"^    - name: {name}\n(?:^      .*\n|^\s*#.*\n)*", "", text, flags=re.M)
    if count != 1:
        raise ValueError(f"{count} pools are called {name}")
    return changed


def check_removal(cluster, source):
    keys = cluster.pool_sets()
    cluster.check(bool(keys) and all(cluster.machine_set(key) for key in keys), f"no MachineSets of {cluster.story.pool}: {keys}")
    for key in keys:  # an autoscaler has made some
        cluster.merge(MACHINES, "machinesets", key[3], key[2], {"spec": {"replicas": 2}}, "machine-autoscaler")
    cluster.blueprint.write_text(without_pool(cluster.blueprint.read_text(), cluster.story.pool))
    cluster.commit()
    cluster.follow(source)
    sizes = {key[3]: field(cluster.machine_set(key) or {}, ["spec", "replicas"]) for key in keys}
    cluster.check(set(sizes.values()) == {0}, f"after the first commit the MachineSets have {sizes}")
    cluster.commit("--step", "2")
    cluster.follow(source)
    left = [key[3] for key in keys if cluster.machine_set(key)]
    cluster.check(not left, f"after the second commit {left} stay")
    cluster.read()
    missing = set(cluster.objects) - set(cluster.live())
    cluster.check(not missing, f"{missing} went with the pool")


def check_flux(tally, gpuctl, found, scratch, story):
    from engines.switch import check_switch  # it builds on this module
    folder = scratch / f"flux-{story.sample}"
    folder.mkdir(mode=0o700)
    try:
        with ApiServer(found, folder) as server:
            cluster = Cluster(tally, gpuctl, found, server, story)
            with Source(Api(server, "source-controller"), cluster.repository) as source:
                check_order(cluster, source)
                check_again(cluster)
                with Operators(Api(server, "operators"), 0.0) as operators:
                    check_drift(cluster, ignored_fields)
                    if story.pool:
                        check_slip(cluster, source)
                        check_removal(cluster, source)
                    if story.switch:
                        check_switch(cluster, source)
                    cluster.check(operators.problem is None, f"{operators.problem}")
    except Exception as problem:  # the other clusters go on
        tally.check(False, f"{folder.name}: {type(problem).__name__}: {problem}")
