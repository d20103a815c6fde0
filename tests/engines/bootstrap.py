"""The steps of install/steps.md, taken on a real API server by kubectl under the name oc.

On some clusters, kinds and operators come late: the commands run word by word. On others, operators stop before each
of their deeds in turn: the command that waits for it must end within
its limit, say what it waited for, and let nothing after it happen; then all commands run again from the first.
"""

import pathlib
import re
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from engines.operators import Player  # noqa: E402
from engines.places import INSTALLED, schema_of  # noqa: E402
from engines.server import Api, ApiServer  # noqa: E402
from engines.steps import blocks_of, run_block, steps_of, with_limit  # noqa: E402
from support.program import ROOT, environment, run  # noqa: E402

LATE_S = 1.0
SHORT = "2s"
PASSWORD = "not-a-secret-of-anybody"
# What a controller finds in its Secret, by the way it reads: key -> value.
KEYS = {
    ("argocd", "https"): {"type": "git", "url": "https://git.example.com/fleet.git", "username": "reader",
                          "password": PASSWORD},
    ("argocd", "ssh"): {"type": "git", "url": "ssh://git@git.example.com/fleet.git", "sshPrivateKey": "PRIVATE\n"},
    ("flux", "https"): {"username": "reader", "password": PASSWORD},
    ("flux", "ssh"): {"identity": "PRIVATE\n", "identity.pub": "PUBLIC\n", "known_hosts": "HOST KEY\n"},
}


class Cluster:
    """A server, what was rendered for it, and the operators that work on it."""

    def __init__(self, tally, gpuctl, server, place, way, pause):
        self.tally, self.server, self.place, self.way = tally, server, place, way
        self.what = f"{place.name} by {way}"
        self.tree = self.render(gpuctl)
        self.folder = next(path.parent for path in self.tree.rglob("gpuctl.lock"))
        self.page = (self.folder / "install/steps.md").read_text()
        self.api = Api(server, "test")
        for name in place.knows:
            group, _, plural = name.rpartition("_")
            self.api.apply_text(self.api.path("apiextensions.k8s.io/v1", "customresourcedefinitions",
                                              f"{plural}.{group}"), schema_of(name))
        place.doubles(server)
        self.player = Player(place.deeds(server, schema_of, self.folder), pause)
        self.env = server.environment(GIT_USERNAME="reader", **self.credentials())

    def render(self, gpuctl):
        inputs = self.server.folder / "in"
        shutil.copytree(ROOT / "blueprints", inputs)
        blueprint = inputs / self.place.sample
        if self.way == "ssh":
            text = blueprint.read_text()
            changed = re.sub(r"repoURL: \S+", "repoURL: ssh://git@git.example.com/fleet.git", text)
            if changed == text:
                raise ValueError(f"{blueprint.name} names no repository")
            blueprint.write_text(changed)
        tree = self.server.folder / "tree"
        done = run([gpuctl, "render", blueprint, "-o", tree], env=environment(self.server.folder))
        if done.returncode != 0:
            raise RuntimeError(done.stderr.decode())
        return tree

    def credentials(self):
        """Files as an editor leaves them, with a line end; variable -> path."""
        texts = {"password": f"{PASSWORD}\n", "key": "PRIVATE\n", "key.pub": "PUBLIC\n", "hosts": "HOST KEY\n"}
        for name, text in texts.items():
            path = self.server.folder / name
            path.touch(mode=0o600)
            path.write_text(text)
        return {"GIT_PASSWORD_FILE": self.server.folder / "password", "GIT_KEY_FILE": self.server.folder / "key",
                "GIT_KNOWN_HOSTS_FILE": self.server.folder / "hosts"}

    def check(self, good, what):
        return self.tally.check(good, f"{self.what}: {what}")

    def take(self, never=None):
        """Takes all steps from the first; those of the blocks that were run: (commands, exit code, output)."""
        taken, limited = [], never is None
        self.player.play(never)
        try:
            for _, text in steps_of(self.page):
                if never and (shorter := with_limit(text, self.place.waits[never], SHORT)):
                    text, limited = shorter, True
                done = run_block(text, self.tree, self.env)
                # kubectl 1.35 gives up on a CRD that is so new that its status has no conditions, where the
                # server is slow; whoever reads the page takes the step again.
                if done[0] != 0 and "accessor error" in done[1]:
                    done = run_block(text, self.tree, self.env)
                taken.append((text, *done))
                if taken[-1][1] != 0:
                    break
        finally:
            self.player.stop()
        self.check(limited, f"nothing waits for {never}, or what does is not reached")
        return taken

    def rooted(self):
        """Whether something leads the controller to the repository."""
        version, plural = (("argoproj.io/v1alpha1", "applications") if self.place.engine == "argocd"
                           else ("kustomize.toolkit.fluxcd.io/v1", "kustomizations"))
        return self.api.get(version, plural, self.folder.name, self.place.namespace) is not None

    def expect_done(self, taken):
        good = len(taken) == len(steps_of(self.page)) and all(code == 0 for _, code, _ in taken)
        self.check(good, f"step {len(taken)} ended with {taken[-1][1]}:\n{taken[-1][0]}{taken[-1][2]}")
        self.check(self.player.problem is None, f"{self.player.problem}")
        self.check(self.player.done == len(self.player.deeds),
                   f"the operators did {self.player.done} of {len(self.player.deeds)} deeds")
        self.check(self.rooted(), "nothing leads to the repository")

    def versions(self):
        """File -> (resource version, managers by field managers' names) of what the bootstrap applies."""
        found = {}
        for path in sorted((self.folder / self.place.engine / "bootstrap").rglob("*.yaml")):
            if path.name == "kustomization.yaml":
                continue
            done = run([self.server.folder / "bin/oc", "get", "--show-managed-fields", "-o", "json", "-f", path], env=self.env)
            if self.check(done.returncode == 0, f"{path.name}: {done.stderr.decode()}"):
                text = done.stdout.decode()
                found[path.name] = (re.search(r'"resourceVersion": "(\d+)"', text)[1],
                                    re.findall(r'"manager": "([^"]+)"', text))
        return found


def check_secret(cluster):
    """The Secret has the keys that the controller reads, and nothing of a line end too many."""
    done = run([cluster.server.folder / "bin/oc", "get", "secret", "fleet-read", "--namespace", cluster.place.namespace,
                "-o", "go-template={{range $key, $value := .data}}{{$key}}={{base64decode $value | printf \"%q\"}}\n{{end}}"
                "{{range $key, $value := .metadata.labels}}label {{$key}}={{$value}}\n{{end}}"], env=cluster.env)
    wanted = [f"{key}=" + '"' + value.replace("\n", "\\n") + '"' for key, value in KEYS[cluster.place.engine, cluster.way].items()]
    if cluster.place.engine == "argocd":
        wanted.append("label argocd.argoproj.io/secret-type=repository")
    cluster.check(sorted(done.stdout.decode().splitlines()) == sorted(wanted),
                  f"the Secret has {done.stdout.decode()}{done.stderr.decode()}")
    cluster.check(PASSWORD not in cluster.page and "PRIVATE" not in cluster.page, "the page holds a secret")


def check_again(cluster):
    """All commands once more change nothing, and take nothing away that operators wrote."""
    before = cluster.versions()
    cluster.check(len(before) > 2 and all("gpuctl" in managers for _, managers in before.values()),
                  f"not all applied by gpuctl: {before}")
    cluster.expect_done(cluster.take())
    after = cluster.versions()
    moved = sorted(name for name, (version, _) in after.items() if version != before[name][0])
    cluster.check(not moved, f"taken again, the steps change {moved}")
    if cluster.place.namespace == "openshift-gitops":
        spec = cluster.api.get("argoproj.io/v1beta1", "argocds", "openshift-gitops", "openshift-gitops")["spec"]
        cluster.check(spec.get("server", {}).get("route", {}).get("enabled") is True and "sso" in spec
                      and spec["controller"].get("resources") and spec["controller"].get("env"),
                      f"of the instance there is left {spec}")
    if cluster.place.namespace == "argocd":
        data = cluster.api.get("v1", "configmaps", "argocd-cm", "argocd")["data"]
        cluster.check(INSTALLED.items() <= data.items() and len(data) > len(INSTALLED), f"of the settings there is left {data}")


def check_changed(cluster):
    """Once the controller has applied the bootstrap, too, a change of it conflicts, and the page has the way."""
    manager = {"argocd": "argocd-controller", "flux": "kustomize-controller"}[cluster.place.engine]
    name, old, new, conflict = cluster.place.change
    path = cluster.folder / cluster.place.engine / "bootstrap/2-controller" / name
    text = path.read_text()
    done = run([cluster.server.folder / "bin/oc", "apply", "--server-side", f"--field-manager={manager}",
                "--force-conflicts", "-f", path], env=cluster.env)
    cluster.check(done.returncode == 0 and old in text, f"{name}: {done.stderr.decode()}")
    path.write_text(text.replace(old, new))
    third = next(block for heading, block in steps_of(cluster.page) if heading.startswith("3. "))
    code, said = run_block(third, cluster.tree, cluster.env)
    cluster.check(code != 0 and "conflict" in said and conflict in said and manager in said,
                  f"a change without --force-conflicts: {code} {said}")
    forced = [block for heading, block in blocks_of(cluster.page) if heading == "When the bootstrap has changed"]
    if cluster.check(len(forced) == 1, "the page has no commands for a bootstrap that has changed"):
        code, said = run_block(forced[0], cluster.tree, cluster.env)
        cluster.check(code == 0, f"a change with --force-conflicts: {said}")
        live = run([cluster.server.folder / "bin/oc", "diff", "--server-side", "--force-conflicts",
                    "--field-manager=gpuctl", "-f", path], env=cluster.env)
        cluster.check(live.returncode == 0, f"the change is not live: {live.stdout.decode()}{live.stderr.decode()}")


def late(cluster):
    cluster.expect_done(cluster.take())
    check_secret(cluster)
    check_again(cluster)
    check_changed(cluster)


def never(cluster):
    limited = re.findall(r"^\S+ wait .*$", cluster.page, re.M)
    cluster.check(limited and all("--timeout=" in line for line in limited), "a wait has no limit")
    for deed in cluster.place.waits:
        _, code, said = cluster.take(deed)[-1]
        cluster.check(code == 1, f"without {deed} the steps end with {code}: {said}")
        cluster.check("timed out waiting for the condition" in said, f"without {deed}: {said}")
        cluster.check(cluster.player.problem is None, f"{cluster.player.problem}")
        if deed not in ("repository", "root"):
            cluster.check(not cluster.rooted(), f"without {deed}, something leads to the repository")
    cluster.expect_done(cluster.take())
    check_secret(cluster)


def check_bootstrap(tally, gpuctl, found, scratch, place, way, story):
    """One cluster, on a server of its own. `story` is `late` or `never`."""
    folder = scratch / f"{place.name}-{way}-{story.__name__}"
    folder.mkdir(mode=0o700)
    try:
        with ApiServer(found, folder) as server:
            story(Cluster(tally, gpuctl, server, place, way, LATE_S if story is late else 0.0))
    except Exception as problem:  # the other clusters go on
        tally.check(False, f"{folder.name}: {type(problem).__name__}: {problem}")
