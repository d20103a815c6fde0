"""A machine for an installation: doubles of the programs, a repository, a state directory."""

import atexit
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from support.knowledge import Copy  # noqa: E402

ROOT = HERE.parent.parent
DOUBLES = HERE / "doubles"

PULL_SECRET = '{"auths":{"registry.example.com":{"auth":"cHVsbDpTRUNSRVQtUFVMTA=="}}}'
# What may stand nowhere but in the private directory.
SECRETS = ["cHVsbDpTRUNSRVQtUFVMTA", "KUBEADMIN-PASSWORD-TEXT", "KUBECONFIG-TOKEN-TEXT", "PULL-SECRET-OF-THE-STATE"]

BLUEPRINT = """apiVersion: gpuctl.dev/v1alpha1
kind: Blueprint
metadata: {name: lab}
spec:
  platform: aws
  stage: dev
  baseDomain: example.com
  openshift: {version: "4.20"}
  aws: {region: eu-central-1}
  access:
    pullSecret: {env: PULL_SECRET}
  gpuPools:
    - {name: gpu, instanceType: g5.xlarge, replicas: 1, zones: [eu-central-1a]}
"""
GKE = """apiVersion: gpuctl.dev/v1alpha1
kind: Blueprint
metadata: {name: lab}
spec:
  platform: gke
  stage: dev
  gke:
    project: example-lab
    location: us-central1
    nodeZones: [us-central1-a, us-central1-b]
    version: "1.35"
    provisioner: gcloud
    setup: separatePool
    controlPlane: {authorizedNetworks: [{cidr: 203.0.113.0/24}]}
    maintenanceExclusions:
      - {name: fair, startTime: "2026-03-01T00:00:00Z", endTime: "2026-03-08T00:00:00Z"}
  systemPool: {machineType: e2-standard-4, scaling: {min: 1, max: 3}}
  gpuPools:
    - {name: gpu, machineType: g2-standard-8, zones: [us-central1-a], replicas: 1}
    - {name: spare, machineType: n1-standard-8, accelerator: {type: nvidia-tesla-t4, count: 2}, zones: [us-central1-b], scaling: {min: 0, max: 3}, spot: true}
"""
WIRED = """  gitops:
    engine: %s
    repoURL: https://git.example.com/fleet.git
"""


ONE_AT_A_TIME = threading.Lock()


@functools.cache
def packed(gpuctl, limit):
    """gpuctl on knowledge with waits of a test, packed as the build does it: to lay it over would cost each run more
    than all else it does."""
    directory = tempfile.mkdtemp(prefix="gpuctl-knowledge-")
    atexit.register(shutil.rmtree, directory)
    copy = Copy(directory, pathlib.Path(gpuctl).parent)
    for file in ROOT.glob("providers/*/install.yaml"):
        text = file.read_text()
        text = re.sub(r"^(\s+)limit: \w+$", rf"\1limit: {limit}\n\1every: 20ms", text, flags=re.MULTILINE)
        text = text.replace("settle: 30s", "settle: 20ms").replace("stalls: 30m", "stalls: 700ms")
        copy.write(file.relative_to(ROOT), text)
    assert not (said := copy.pack()), said
    return copy.gpuctl


def program_with(gpuctl, limit):
    with ONE_AT_A_TIME:
        return packed(gpuctl, limit)


class World:
    """`engine`: "argocd", "flux" or "" for a cluster that nothing follows."""

    blueprint = BLUEPRINT
    limit = "400ms"  # of a wait

    def __init__(self, gpuctl, engine="argocd", base=None):
        self.gpuctl = program_with(gpuctl, self.limit)
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="gpuctl-install-"))
        if base is not None:
            shutil.copytree(base.directory, self.directory, dirs_exist_ok=True, symlinks=True)
            self.rebase(base)
        else:
            for name in ("cloud", "state"):
                (self.directory / name).mkdir()
            subprocess.run(["git", "init", "-q", "-b", "main", str(self.directory / "fleet")], check=True)
            (self.directory / "lab.yaml").write_text(self.blueprint + (WIRED % engine if engine else ""))
        self.place = self.directory / "state/gpuctl/clusters/dev/lab"
        self.scenario = {}
        self.cluster = {}
        self.said = ""

    def rebase(self, base):
        """Where the first world noted its own directory."""
        journal = self.directory / "state/gpuctl/clusters/dev/lab/journal.jsonl"
        if journal.exists():
            journal.write_text(journal.read_text().replace(str(base.directory), str(self.directory)))

    def environment(self):
        scenario = self.directory / "scenario.json"
        scenario.write_text(json.dumps(self.scenario))
        cluster = self.directory / "cluster.json"
        cluster.write_text(json.dumps(self.cluster))
        return {
            "PATH": f"{DOUBLES}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": str(self.directory), "XDG_STATE_HOME": str(self.directory / "state"),
            "PULL_SECRET": PULL_SECRET, "DOUBLE_SCENARIO": str(scenario), "DOUBLE_CLUSTER": str(cluster),
            "DOUBLE_CLOUD": str(self.directory / "cloud"), "DOUBLE_SETS": "gpu-eu-central-1a",
            "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@example.com",
            "GPUCTL_DATE": "2025-12-01", "LANG": "C.UTF-8",
        }

    def command(self, *words):
        over = self.directory / "providers"  # what a case lays over the knowledge
        return [self.gpuctl, *(["--providers", str(over)] if over.exists() else []), *words]

    def start(self, *words):
        return subprocess.Popen(self.command(*words), cwd=self.directory, env=self.environment(), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def run(self, *words, below=""):
        """Exit code and all it said, in a directory of this world."""
        ran = subprocess.run(self.command(*words), cwd=self.directory / below, env=self.environment(), stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False)
        self.said += ran.stdout
        return ran.returncode, ran.stdout

    def install(self, *words):
        """Without what is checked before, which asks the world outside."""
        return self.run("install", "lab.yaml", "--repo", "fleet", "--no-preflight", *words)

    def destroy(self, *words):
        return self.run("destroy", "lab", *(words or ("--yes", "lab")))

    def git(self, *words):
        """In the repository."""
        subprocess.run(["git", "-C", str(self.directory / "fleet"), *words], env=self.environment() | {
            "GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@example.com"}, check=True)

    def calls(self):
        path = self.directory / "cloud/calls"
        return path.read_text().splitlines() if path.exists() else []

    def alive(self):
        return sorted(name for name in os.listdir(self.directory / "cloud") if name != "calls")

    def events(self):
        """Of the journal, also of one that was put aside. Raises when a whole line is no JSON."""
        out = []
        for path in sorted(self.place.glob("journal*.jsonl")):
            text = path.read_text()
            for line in text[:text.rfind("\n") + 1].splitlines():
                out.append(json.loads(line))
        return out

    def orphans(self):
        """Processes that run from below this world."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                program = os.readlink(entry / "exe")
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if program.startswith(str(self.directory)) or str(self.directory).encode() in words:
                found.append(words.replace(b"\0", b" ").decode(errors="replace"))
        return found

    def leaks(self):
        """Secrets that stand where they must not."""
        found = [secret for secret in SECRETS if secret in self.said]
        for path in self.directory.rglob("*"):
            inside = self.directory / "state" in path.parents
            if path.is_file() and not path.is_symlink():
                mode = path.stat().st_mode & 0o777
                if inside and mode & 0o077 and path.name != "cluster-api":
                    found.append(f"{path} has mode {mode:o}")
                if not inside or path.name.startswith("journal"):
                    text = path.read_bytes()
                    found += [f"{secret} in {path}" for secret in SECRETS if secret.encode() in text]
        return found

    def close(self):
        shutil.rmtree(self.directory, ignore_errors=True)


class GkeWorld(World):
    """The same where gcloud makes all."""

    blueprint = GKE
    limit = "5s"  # within which several looks fit

    def environment(self):
        return {**super().environment(), "DOUBLE_POOLS": "system gpu spare", "DOUBLE_HUB": " ".join(self.hub())}

    def hub(self):
        roles = ("artifactregistry.reader", "container.defaultnodeserviceaccount", "monitoring.metricwriter",
                 "stackdriver.resourcemetadata.writer")
        return [f"{kind}/lab" for kind in ("ComputeNetwork", "ComputeSubnetwork", "ComputeRouter", "ComputeRouterNAT",
                                           "ContainerCluster")] + ["IAMServiceAccount/lab-nodes"] + \
            [f"IAMPolicyMember/lab-nodes-{role}" for role in roles] + \
            [f"ContainerNodePool/lab-{pool}" for pool in ("system", "gpu", "spare")]

    def edit(self, *pairs):
        """Other words in the blueprint."""
        text = (self.directory / "lab.yaml").read_text()
        for before, after in pairs:
            assert before in text, before
            text = text.replace(before, after)
        (self.directory / "lab.yaml").write_text(text)

    def thing(self, name, **changes):
        """What the cloud knows of something, with changes."""
        path = self.directory / "cloud" / name
        found = json.loads(path.read_text())
        if changes:
            path.write_text(json.dumps({**found, **changes}))
        return found


def parse_arguments(description, add=None):
    import argparse
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--gpuctl", default=str(ROOT / "build/release/gpuctl"))
    parser.add_argument("--filter", default="", help="only cases whose name holds this text")
    if add is not None:
        add(parser)
    options = parser.parse_args()
    options.gpuctl = os.path.abspath(options.gpuctl)
    if not os.access(options.gpuctl, os.X_OK):
        sys.exit(f"{options.gpuctl} is not there; build it first")
    return options
