"""Argo CD follows what is rendered: its application controller and its repository server on a real API server.

The programs come from outside: GPUCTL_ARGOCD names the folder that has them (docs/testing.md says how to make one), and
redis-server is in PATH. They begin as on a cluster: the steps of install/steps.md make the Secret and the settings, and the
root Application leads to the repository, which a Git server hands out over HTTPS to who has the password of the Secret
(gitserver.py). OLM, OpenShift GitOps' operator and the operators of the layers are played (operators.py, statuses.py).

- Every layer becomes Synced and Healthy, and no Application of a layer is made before all layers before it are: also when
  the kinds of operators come late.
- A sync of everything, by hand, changes no resource version.
- Somebody's edit of a field of Git is undone; that of a field that Git leaves to others stays, also through a sync.
- A MachineSet that is lost from Git by a slip stays until somebody approves. Once its file is back, the sync that waits is
  ended, and it still stays; approved, it goes.
- A pool that is removed as documented (GPU0617) goes with two commits, without an approval; so does a whole layer.
"""

import os
import pathlib
import re
import shutil
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from engines import flux, places  # noqa: E402
from engines.argocd import app_options, wave  # noqa: E402
from engines.flux import Story, field, plural_of, until  # noqa: E402
from engines.gitserver import GitServer  # noqa: E402
from engines.operators import Player  # noqa: E402
from engines.server import Api, ApiServer, free_ports  # noqa: E402
from engines.statuses import Collector, Operators, of_google_resource  # noqa: E402
from engines.steps import blocks_of, run_block, steps_of  # noqa: E402
from engines.watch import Watch  # noqa: E402
from interop.run import resources_of  # noqa: E402
from interop.tools import kustomize  # noqa: E402

PROGRAMS = ("argocd", "argocd-application-controller", "argocd-repo-server")
BESIDE = ("argocd", "git-verify-wrapper.sh", "kustomize")  # what the repository server calls
APPLICATION = "argoproj.io/v1alpha1"
PREFIX = "argocd.argoproj.io/"
USER, PASSWORD = "reader", "not-a-secret-of-anybody"
APPROVAL = "waiting for pruning confirmation"
READY_S = 600  # syncs that fail are tried again after up to five minutes
RESYNC_S = 5  # three minutes otherwise: how long a commit may stay unseen
STORIES = [(Story("aws-p4d-mig-mixed", late=True, pool="training"), places.OPENSHIFT_ARGOCD),
           (Story("gke-l4-separate-pool", late=False), places.GKE_ARGOCD)]


def argocd_programs():
    """Name -> program, for those that this part starts; None: they are not here, which is said."""
    folder = os.environ.get("GPUCTL_ARGOCD")
    if not folder:
        print("engines: left out: Argo CD itself; its programs are not here (GPUCTL_ARGOCD=DIR, docs/testing.md)", flush=True)
        return None
    found = {name: pathlib.Path(folder).resolve() / name for name in (*PROGRAMS, "git-verify-wrapper.sh")}
    found["redis-server"] = shutil.which("redis-server")
    missing = [name for name, path in found.items() if not path or not os.access(path, os.X_OK)]
    if missing:
        sys.exit(f"GPUCTL_ARGOCD={folder}: no {', '.join(missing)}")
    return {**found, "kustomize": kustomize()}


def is_good(item, revision=None):
    """Synced, Healthy, and nothing under way."""
    status = item.get("status", {})
    return (status.get("sync", {}).get("status") == "Synced" and status.get("health", {}).get("status") == "Healthy"
            and status.get("operationState", {}).get("phase", "Succeeded") == "Succeeded" and not item.get("operation")
            and (revision is None or status["sync"].get("revision") == revision))


def told(items):
    """What is to be said about those that are not good."""
    texts = []
    for item in items:
        status = item.get("status", {})
        operation = status.get("operationState", {})
        if not is_good(item):
            texts.append(f"{item['metadata']['name']}: {status.get('sync', {}).get('status')}, {status.get('health')}, "
                         f"{operation.get('phase')}: {operation.get('message', '')[:300]}, {status.get('conditions', [])}")
    return "; ".join(texts)


class Order(Watch):
    """Watches all Applications in a thread: which became good, and which came before those of waves before its own."""

    def __init__(self, cluster):
        self.cluster, self.good, self.known, self.early, self.begin = cluster, [], [], [], time.monotonic()
        super().__init__(0.1)

    def look(self):
        """One list is one moment: what is made in it, and whether that before it has become good by then."""
        items = self.cluster.layers()
        now = time.monotonic() - self.begin
        for item in items:
            name = item["metadata"]["name"]
            if is_good(item) and name not in dict(self.good):
                self.good.append((name, now))
        for item in items:
            name = item["metadata"]["name"]
            if name not in self.known:
                self.known.append(name)
                self.early += [f"{name} before {told([other])}" for other in items
                               if wave(other) < wave(item) and other["metadata"]["name"] not in dict(self.good)]


class Cluster(flux.Cluster):
    """A server, a repository, and Argo CD between them."""

    ENGINE = "argocd"

    def __init__(self, tally, gpuctl, found, server, story, place, port):
        self.place, self.started = place, False
        self.address = f"https://127.0.0.1:{port}/fleet.git"
        super().__init__(tally, gpuctl, found, server, story)

    def commit(self, *more):
        text, count = re.subn(r"(repoURL:) https://\S+/fleet\.git", rf"\1 {self.address}", self.blueprint.read_text())
        if count != 1:
            raise ValueError(f"{self.blueprint.name} names {count} repositories")
        self.blueprint.write_text(text)
        super().commit(*more)

    def followed(self):
        management = self.folder / "management"  # one server is both clusters here
        return super().followed() + (resources_of(management) if management.is_dir() else [])

    def applications(self):
        code, answer = self.server.request("GET", f"/apis/{APPLICATION}/namespaces/{self.place.namespace}/applications")
        return answer["items"] if code == 200 else []

    def layers(self):
        return [item for item in self.applications() if item["metadata"]["name"].startswith(f"{self.name}-")
                and "/layers/" in item["spec"]["source"].get("path", "")]

    def application(self, layer):
        return next(item for item in self.applications() if item["metadata"]["name"] == f"{self.name}-{layer}")

    def bring_kinds(self):
        """All but those that come with Argo CD, and those of operators that come late."""
        self.kinds.bring([one for one in self.wanted_kinds() if one.group != "argoproj.io"])
        for name in self.place.knows:
            group, _, plural = name.rpartition("_")
            self.api.apply_text(self.api.path("apiextensions.k8s.io/v1", "customresourcedefinitions", f"{plural}.{group}"),
                                places.schema_of(name))

    def start(self, git):
        """The steps of the bootstrap, with Argo CD as it is once the third is done."""
        self.make_namespaces()
        self.place.doubles(self.server)
        deeds = self.place.deeds(self.server, places.schema_of, self.folder)
        player = Player([(name, deed) for name, deed in deeds if name != "repository"], 0.2)
        password = self.server.folder / "password"
        password.touch(mode=0o600)
        password.write_text(f"{PASSWORD}\n")
        env = self.server.environment(GIT_USERNAME=USER, GIT_PASSWORD_FILE=password)
        page = (self.folder / "install/steps.md").read_text()
        player.play()
        try:
            management = [one for one in blocks_of(page) if one[0] == "On the management cluster"]
            for heading, text in steps_of(page) + management:
                if heading.startswith("4. ") and not self.started:
                    self.start_programs(git)
                code, said = run_block(text, self.repository, env)
                if not self.check(code == 0, f"{heading}: {code} {said}"):
                    raise RuntimeError(f"{told(self.applications())}\n{self.log()}")
        finally:
            player.stop()
        self.check(player.problem is None and player.done == len(player.deeds), f"{player.done} deeds: {player.problem}")

    def start_programs(self, git):
        """redis, the repository server and the controller, with what the bootstrap has set for it."""
        self.started = True
        for folder in ("tmp", "tls", "redis"):
            (self.server.folder / folder).mkdir()
        shutil.copy(git.certificate, self.server.folder / "tls/127.0.0.1")
        for name in BESIDE:
            (self.server.folder / "bin" / name).symlink_to(self.found[name])
        # The real installation makes it.
        self.api.apply("secrets", {
            "apiVersion": "v1", "kind": "Secret", "stringData": {"server.secretkey": "of-nobody"},
            "metadata": {"name": "argocd-secret", "namespace": self.place.namespace,
                         "labels": {"app.kubernetes.io/part-of": "argocd"}}})
        redis, repository, *metrics = free_ports(4)
        common = {"KUBECONFIG": self.server.kubeconfig, "ARGOCD_FAKE_IN_CLUSTER": "true", "ARGOCD_GPG_ENABLED": "false",
                  "ARGOCD_TLS_DATA_PATH": self.server.folder / "tls", "TMPDIR": self.server.folder / "tmp",
                  "ARGOCD_ASK_PASS_SOCK": self.server.folder / "tmp/ask", "PATH": self.server.environment()["PATH"]}
        self.server.start("redis-server", "--bind", "127.0.0.1", "--port", str(redis), "--save", "", "--appendonly", "no",
                          "--dir", str(self.server.folder / "redis"))
        self.server.start("argocd-repo-server", "--address", "127.0.0.1", "--port", str(repository),
                          "--metrics-address", "127.0.0.1", "--metrics-port", str(metrics[0]),
                          "--redis", f"127.0.0.1:{redis}", "--logformat", "text", "--revision-cache-expiration", "1s", **common)
        self.server.start("argocd-application-controller", "--namespace", self.place.namespace, "--kubeconfig",
                          str(self.server.kubeconfig), "--metrics-port", str(metrics[1]), "--redis", f"127.0.0.1:{redis}",
                          "--repo-server", f"127.0.0.1:{repository}", "--logformat", "text",
                          "--app-resync", str(RESYNC_S), "--app-resync-jitter", "0", **common, **self.settings())

    def settings(self):
        """What the ArgoCD resource, or the ConfigMap of the published manifest, puts into the controller's environment."""
        if self.place is places.OPENSHIFT_ARGOCD:
            spec = self.api.get("argoproj.io/v1beta1", "argocds", self.place.namespace, self.place.namespace)["spec"]
            found = {one["name"]: one["value"] for one in spec["controller"]["env"]}
        else:
            data = self.api.get("v1", "configmaps", "argocd-cmd-params-cm", self.place.namespace)["data"]
            found = {"ARGOCD_APPLICATION_CONTROLLER_SYNC_TIMEOUT": data["controller.sync.timeout.seconds"]}
        self.check(found.get("ARGOCD_APPLICATION_CONTROLLER_SYNC_TIMEOUT") == "1800", f"the controller starts with {found}")
        return found

    def log(self):
        return "\n".join(self.server.log_of(name) for name in PROGRAMS[1:] if (self.server.folder / f"{name}.log").exists())

    def change(self, item, change):
        self.merge(APPLICATION, "applications", item["metadata"]["name"], self.place.namespace, change)

    def until_good(self, revision, names=None):
        def look():
            items = [item for item in self.applications() if names is None or item["metadata"]["name"] in names]
            return bool(items) and all(is_good(item, revision) for item in items)
        until(look, READY_S, lambda: f"not there: {told(self.applications())}\n{self.log()}")

    def follow(self, source, branch="main"):
        self.until_good(source.publish(self.repository, branch))

    def request(self, _=None):
        """Syncs all Applications by hand, with every object, whether it differs or not."""
        def started():
            return {item["metadata"]["name"]: field(item, ["status", "operationState", "startedAt"]) for item in self.applications()}
        before = started()
        time.sleep(1.1)  # times of operations have whole seconds
        for item in self.applications():
            options = [f"{name}={value}" for name, value in app_options(item).items() if name != "ApplyOutOfSyncOnly"]
            self.change(item, {"operation": {"initiatedBy": {"username": "somebody"},
                                             "sync": {"prune": True, "syncOptions": options}}})
        until(lambda: all(is_good(item) for item in self.applications())
              and all(when != before[name] for name, when in started().items()),
              READY_S, lambda: f"not synced: {told(self.applications())}\n{self.log()}")

    def heal(self, edited):
        """Argo CD undoes edits by itself; what Git leaves to others then has to outlive a sync, too."""
        def bad():
            live = self.live()
            return [f"{key} {words}" for key, words in edited if field(live[key], words) != field(self.objects[key], words)]
        until(lambda: not bad(), READY_S, lambda: f"not undone: {bad()}\n{told(self.applications())}")
        self.request()


def check_order(cluster, git):
    cluster.bring_kinds()
    google = {(key[0], plural_of(cluster, key)): of_google_resource for key in cluster.objects
              if ".cnrm.cloud.google.com/" in key[0]}
    revision = git.publish(cluster.repository)
    with Operators(Api(cluster.server, "operators"), 0.5, google) as operators, Order(cluster) as order:
        cluster.start(git)
        if cluster.late:
            first = next(name for name in ("30-operator-crs", "40-gpu") if (cluster.folder / "layers" / name).is_dir())
            until(lambda: any(item["metadata"]["name"] == f"{cluster.name}-{first}"
                              and field(item, ["status", "operationState", "phase"]) for item in cluster.layers()),
                  READY_S, lambda: f"nothing waits for a kind: {told(cluster.applications())}\n{cluster.log()}")
            time.sleep(RESYNC_S)
            item = cluster.application(first)
            cluster.check(not is_good(item), f"{first} is good without the kinds of operators")
            print(f"argocd: {first} without its kinds: {told([item])}", flush=True)
            cluster.kinds.bring(cluster.late)
        cluster.until_good(revision)
        cluster.check(operators.problem is None, f"{operators.problem}")
    count = len(list(cluster.folder.glob("layers/*/kustomization.yaml")))
    cluster.check(order.problem is None, f"{order.problem}")
    cluster.check(len(order.known) == count and len(order.good) == count, f"{order.good} of {count} layers")
    cluster.check(not order.early, f"{order.early}")
    for names in (order.known, [name for name, _ in order.good]):
        cluster.check(names == sorted(names), f"layers came, or became good, in the order {names}")
    cluster.check(git.served > 0, "nobody read the repository")
    times = ", ".join(f"{name.removeprefix(cluster.name + '-')} {seconds:.0f} s" for name, seconds in order.good)
    print(f"argocd, {cluster.story.sample}: {len(cluster.applications())} Applications, {len(cluster.objects)} objects; "
          f"layers good after {times}", flush=True)


def ignored_fields(cluster, live):
    """(key of an object, field as a list of words) of what Git leaves to others, where there is such a field."""
    for item in cluster.layers():
        for rule in item["spec"].get("ignoreDifferences", []):
            for key in live:
                if (key[0].rpartition("/")[0], key[1], rule.get("name", key[3])) == (rule.get("group", ""), rule["kind"], key[3]):
                    for pointer in rule["jsonPointers"]:
                        words = [word.replace("~1", "/").replace("~0", "~") for word in pointer.split("/")[1:]]
                        if isinstance(field(live[key], words), (int, str)):
                            yield key, words


def waits(cluster):
    state = cluster.application("20-machines").get("status", {}).get("operationState", {})
    return state.get("phase") == "Running" and state.get("message", "").startswith(APPROVAL)


def check_slip(cluster, git):
    """A file lost from Git: the object stays. Put back, it stays for good; approved, it goes, and comes with the file."""
    key = cluster.pool_sets()[0]
    uid = cluster.machine_set(key)["metadata"]["uid"]
    flux.commit_slip(cluster, key)

    def slip():
        git.publish(cluster.repository, "slip")
        until(lambda: waits(cluster), READY_S,
              lambda: f"nothing waits for an approval: {told(cluster.applications())}\n{cluster.log()}")
        time.sleep(RESYNC_S)
        cluster.check(waits(cluster) and cluster.machine_set(key) is not None, "a file lost from Git takes its machines away")
        root = next(item for item in cluster.applications() if item["metadata"]["name"] == cluster.name)
        cluster.check(field(root, ["status", "health", "status"]) != "Progressing",
                      f"what waits for an approval holds up the root: {told([root])}")

    slip()
    revision = git.publish(cluster.repository)
    time.sleep(2 * RESYNC_S)
    print(f"argocd: the file is back: {told(cluster.applications()) or 'all is good'}", flush=True)
    if waits(cluster):
        cluster.change(cluster.application("20-machines"), {"status": {"operationState": {"phase": "Terminating"}}})
        until(lambda: field(cluster.application("20-machines"), ["status", "operationState", "phase"]) == "Failed", READY_S,
              "the sync that waits does not end")
        # Argo CD syncs nothing again that is Synced: nobody may have to, for the root to be well.
        until(lambda: all(field(item, ["status", "health", "status"]) == "Healthy" for item in cluster.applications()),
              READY_S, lambda: f"a sync that was ended keeps others from being well: {told(cluster.applications())}")
        cluster.request()
    cluster.until_good(revision)
    cluster.check(cluster.machine_set(key)["metadata"]["uid"] == uid, "the machines of a file that came back are made anew")
    slip()
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    cluster.change(cluster.application("20-machines"), {"metadata": {"annotations": {f"{PREFIX}deletion-approved": now}}})
    until(lambda: cluster.machine_set(key) is None, READY_S,
          lambda: f"approved, it stays: {told(cluster.applications())}\n{cluster.log()}")
    cluster.follow(git)
    cluster.check(cluster.machine_set(key)["metadata"]["uid"] != uid, "the MachineSet was never away")


def check_layer(cluster, git):
    """All of a layer leaves: first its objects, with the second commit its Application."""
    text, count = re.subn(r"^  gpuStack:\n    monitoring:\n(?:^      .*\n)*", "", cluster.blueprint.read_text(), flags=re.M)
    gone = [key for key in cluster.objects if key[1] == "PrometheusRule"]
    cluster.check(count == 1 and bool(gone), "the sample has changed")
    cluster.blueprint.write_text(text)
    cluster.commit()
    cluster.follow(git)
    left = [key for key in gone if cluster.api.get(key[0], "prometheusrules", key[3], key[2])]
    cluster.check(not left, f"{left} stay when their layer goes")
    names = [item["metadata"]["name"] for item in cluster.layers()]
    cluster.check(f"{cluster.name}-50-platform" in names, f"the layer goes with its last objects: {names}")
    cluster.commit("--step", "2")
    cluster.follow(git)
    until(lambda: not any(item["metadata"]["name"].endswith("-50-platform") for item in cluster.layers()), READY_S,
          lambda: f"the empty layer stays: {told(cluster.applications())}")
    cluster.until_good(None)
    cluster.read()
    missing = set(cluster.objects) - set(cluster.live())
    cluster.check(not missing, f"{missing} went with the layer")


def check_argocd_controller(tally, gpuctl, found, scratch, story, place):
    folder = scratch / f"argocd-{story.sample}"
    folder.mkdir(mode=0o700)
    (folder / "git").mkdir(mode=0o700)
    (folder / "server").mkdir(mode=0o700)
    try:
        with ApiServer(found, folder / "server") as server, GitServer(folder / "git", USER, PASSWORD) as git:
            cluster = Cluster(tally, gpuctl, found, server, story, place, git.port)
            check_order(cluster, git)
            flux.check_again(cluster)
            collector = Collector(Api(server, "collector"), {(key[0], plural_of(cluster, key)) for key in cluster.objects})
            with Operators(Api(server, "operators"), 0.0) as operators, collector:
                if list(ignored_fields(cluster, cluster.live())):
                    flux.check_drift(cluster, ignored_fields)
                if story.pool:
                    check_slip(cluster, git)
                    flux.check_removal(cluster, git)
                    check_layer(cluster, git)
                cluster.check(operators.problem is None and collector.problem is None, f"{operators.problem} {collector.problem}")
    except Exception as problem:  # the other clusters go on
        tally.check(False, f"{folder.name}: {type(problem).__name__}: {problem}")
