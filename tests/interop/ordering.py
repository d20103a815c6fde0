#!/usr/bin/env python3
"""No custom resource is rendered into a layer that comes before what brings its kind.

The samples with either GitOps engine, and all that the golden cases render. The table says what brings a kind: an OLM
Subscription, a chart, another object whose operator makes the kind, the bootstrap of the GitOps engine, the platform, or
somebody else. What brings it stands in an earlier layer: by name, by the sync waves of Argo CD, and by `dependsOn` of Flux,
which has to wait for the health of that layer. Argo CD must not stumble over a missing kind in its dry run. A kind that no
row knows fails, and so does a row that nothing needs.

Each object of the samples is then moved into the layer of what brings its kind, which has to be found.
"""

import concurrent.futures
import dataclasses
import functools
import os
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from golden import cases as golden_cases  # noqa: E402
from golden.run import environment as golden_environment  # noqa: E402
from interop.golden_crds import renderings  # noqa: E402
from interop.variants import engines_of, write_variant  # noqa: E402
from support.program import Tally, arguments, environment, run, samples, skip  # noqa: E402

try:
    import yaml
except ImportError:
    skip("what comes before what", "PyYAML is not here (Debian: python3-yaml)")

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
FEWEST = 250  # clusters
# API group -> what brings its kinds, one of them: `KIND/NAME` of an object, or `chart/NAME` with either engine.
BROUGHT = {
    "apps.nvidia.com": ["Subscription/nim-operator-certified", "chart/k8s-nim-operator"],
    "datasciencecluster.opendatahub.io": ["Subscription/rhods-operator", "Subscription/opendatahub-operator"],
    "dscinitialization.opendatahub.io": ["Subscription/rhods-operator", "Subscription/opendatahub-operator"],
    "infrastructure.opendatahub.io": ["Subscription/rhods-operator", "Subscription/opendatahub-operator"],
    "kai.scheduler": ["chart/kai-scheduler"],
    "kueue.openshift.io": ["Subscription/kueue-operator"],
    "kueue.x-k8s.io": ["Kueue/cluster", "chart/kueue"],  # the operator installs Kueue for its own kind
    "lvm.topolvm.io": ["Subscription/lvms-operator"],
    "mellanox.com": ["Subscription/nvidia-network-operator"],
    "nfd.openshift.io": ["Subscription/nfd"],
    "nv-ipam.nvidia.com": ["NicClusterPolicy/nic-cluster-policy"],  # the IPAM plug-in brings them, not the bundle
    "nvidia.com": ["Subscription/gpu-operator-certified", "chart/gpu-operator"],
    "scheduling.run.ai": ["chart/kai-scheduler"],
    "serving.kserve.io": ["DataScienceCluster/default-dsc"],  # its component KServe
    "sriovnetwork.openshift.io": ["Subscription/sriov-network-operator"],
}
# Those of GitOps engines: their first step is there, or people install what it would (install/steps.md).
ENGINES = {
    "argoproj.io": "Subscription/openshift-gitops-operator", "fluxcd.controlplane.io": "Subscription/flux-operator",
    "helm.toolkit.fluxcd.io": "FluxInstance/flux", "kustomize.toolkit.fluxcd.io": "FluxInstance/flux",
    "source.toolkit.fluxcd.io": "FluxInstance/flux"}
# Kinds that a platform has from its start; a newer one says since when.
PLATFORMS = {
    "autoscaling.openshift.io": "openshift", "cloud.google.com": "gke", "config.openshift.io": "openshift",
    "console.openshift.io": "openshift", "machine.openshift.io": "openshift", "machineconfiguration.openshift.io": "openshift",
    "monitoring.coreos.com": "openshift", "monitoring.googleapis.com": "gke", "networking.gke.io": "gke",
    "operators.coreos.com": "openshift", "security.openshift.io": "openshift"}
SINCE = {"ConsolePlugin": (4, 12), "ImageDigestMirrorSet": (4, 13), "ImageTagMirrorSet": (4, 13)}
# What a hub has, and what people install before: secrets by reference need their controllers (docs/secrets.md).
OTHERS = {"apps.open-cluster-management.io", "bitnami.com", "cluster.open-cluster-management.io", "external-secrets.io"}


@dataclasses.dataclass(frozen=True)
class Thing:
    """An object that is rendered. Its place: (0, step of the bootstrap) or (1, name of its layer)."""
    place: tuple
    group: str
    kind: str
    name: str
    chart: str
    path: str

    def said(self):
        return f"{self.kind} {self.name} in {self.place[1]}"

    def is_called(self, what):
        return what in (f"{self.kind}/{self.name}", f"chart/{self.chart}")


class Cluster:
    """What is rendered for a cluster: path -> text, of the files in its folder. Others' own manifests are left out."""

    def __init__(self, files, whole=True):
        self.files, self.whole = files, whole
        about = load(files.get("cluster.yaml", "{}"))
        self.platform = "openshift" if "openshift" in about else about.get("platform", "")
        self.release = tuple(map(int, re.findall(r"\d+", str(about.get(self.platform, "")))[:2]))
        lock = load(files.get("gpuctl.lock", "{}")).get("files")
        own = [path for path in files if lock is None or "template" in lock.get(path, {})]
        self.things = [thing for path in own for thing in [thing_of(path, files[path])] if thing]
        self.applications = {pathlib.Path(path).stem.removeprefix("app-"): load(text) for path, text in files.items()
                             if re.fullmatch(r"argocd/app-[^/]+\.yaml", path)}
        self.kustomizations = {pathlib.Path(path).stem.removeprefix("ks-"): load(text) for path, text in files.items()
                               if re.fullmatch(r"(hub/)?flux/ks-[^/]+\.yaml", path)}

    @staticmethod
    def of(folder, whole=True):
        return Cluster({path.relative_to(folder).as_posix(): path.read_text() for path in sorted(folder.rglob("*"))
                        if path.suffix in (".yaml", ".lock")}, whole)

    def findings(self, used):
        """[text] of what comes too early; `used` takes the rows that were of use."""
        return [text for thing in self.things for text in self.about(thing, used)]

    def about(self, thing, used):
        row = next((row for row in (BROUGHT, ENGINES, PLATFORMS) if thing.group in row), None)
        if thing.group in OTHERS or row is not None:
            used.add(thing.group)
        if thing.group in OTHERS:
            yield from self.stumbles(thing)
        elif row is None:
            yield f"no row of the table says what brings the kind of {thing.said()}: {thing.group}"
        elif row is PLATFORMS:
            if "cluster.yaml" in self.files and self.platform != row[thing.group]:
                yield f"{thing.said()} is a kind of {row[thing.group]}, and the cluster is {self.platform or 'another'}"
            if self.release and self.release < SINCE.get(thing.kind, ()):
                yield f"{thing.said()} came with {SINCE[thing.kind]}, and the cluster has {self.release}"
        else:
            yield from self.early(thing, self.bringers(thing), row is ENGINES)

    def bringers(self, thing):
        wanted = BROUGHT.get(thing.group) or [ENGINES[thing.group]]
        return [other for other in self.things if any(map(other.is_called, wanted))]

    def early(self, thing, bringers, engine):
        if not bringers:
            if self.whole and not engine:
                yield f"nothing brings the kind of {thing.said()}: none of {BROUGHT[thing.group]}"
            return
        for bringer in bringers:
            if thing.place <= bringer.place:
                yield f"{thing.said()} does not come after {bringer.said()}, which brings its kind"
            elif bringer.place[0] == 1:
                yield from self.unordered(thing, bringer)
        if not engine:
            yield from self.stumbles(thing)

    def unordered(self, thing, bringer):
        layer, before = thing.place[1], bringer.place[1]
        if {layer, before} <= self.applications.keys() and self.wave(layer) <= self.wave(before):
            yield f"{thing.said()}: wave {self.wave(layer)} of Argo CD is not after that of {bringer.said()}"
        if {layer, before} <= self.kustomizations.keys():
            if before not in self.awaited(layer):
                yield f"{thing.said()}: Flux does not make {layer} wait for {bringer.said()}"
            spec = self.kustomizations[before]["spec"]
            checked = any(one["kind"] == bringer.kind and one["name"] == bringer.name for one in spec.get("healthChecks", []))
            if not spec.get("wait") and not checked:
                yield f"{thing.said()}: Flux does not wait for the health of {bringer.said()}"

    def stumbles(self, thing):
        application = self.applications.get(thing.place[1])
        if application and "SkipDryRunOnMissingResource=true" not in application["spec"]["syncPolicy"]["syncOptions"]:
            yield f"{thing.said()}: the dry run of Argo CD fails while its kind is not there"

    def wave(self, layer):
        return int(self.applications[layer]["metadata"]["annotations"]["argocd.argoproj.io/sync-wave"])

    def awaited(self, layer):
        """All layers that Flux has ready before it begins with this one."""
        own = self.kustomizations[layer]["metadata"]["name"].removesuffix(layer)
        direct = {one["name"].removeprefix(own) for one in self.kustomizations[layer]["spec"].get("dependsOn", [])}
        return direct.union(*(self.awaited(name) for name in direct if name in self.kustomizations))


def load(text):
    return yaml.load(text, Loader=LOADER) or {}


def thing_of(path, text):
    """The custom resource in a file of a layer or of a bootstrap, and whatever brings kinds; None: another file."""
    match = re.fullmatch(r"layers/([^/]+)/[^/]+\.yaml|(?:argocd|flux)/bootstrap/(\d)[^/]*/[^/]+\.yaml", path)
    version, kind, name = (re.search(pattern, text, re.M) for pattern in (
        r"^apiVersion: (\S+)$", r"^kind: (\S+)$", r"^  name: (\S+)$"))
    if not match or not version or not kind or not name or path.endswith("/kustomization.yaml"):
        return None
    group = version[1].rpartition("/")[0]
    if "." not in group or group.endswith(".k8s.io") and not group.endswith(".x-k8s.io"):
        return None
    chart = re.search(r"^ +chart: ([^\s:]+)$", text, re.M) if kind[1] in ("Application", "HelmRelease") else None
    release = re.search(r"^ +releaseName: (\S+)$", text, re.M)
    charts = chart[1] if chart else release[1] if release else name[1] if kind[1] == "HelmRelease" else ""
    return Thing((1, match[1]) if match[1] else (0, int(match[2])), group, kind[1], name[1], charts, path)


def clusters_in(folder, whole=True):
    """Those below a folder; a tree that shows a part of a cluster has no lock."""
    found = {path.parent for name in ("gpuctl.lock", "layers") for path in folder.rglob(name)}
    return [(path.name, Cluster.of(path, whole)) for path in sorted(found)]


def moved(cluster):
    """(what, cluster) with one object of each group in the layer of what brings it."""
    for thing in {thing.group: thing for thing in cluster.things if thing.group in BROUGHT}.values():
        bringer = next((one for one in cluster.bringers(thing) if one.place[0] == 1), None)
        if bringer:
            target = f"layers/{bringer.place[1]}/{pathlib.Path(thing.path).name}"
            files = {target if path == thing.path else path: text for path, text in cluster.files.items()}
            files["gpuctl.lock"] = files["gpuctl.lock"].replace(f"  {thing.path}:", f"  {target}:")
            yield f"{thing.said()} beside {bringer.said()}", Cluster(files)


def of_sample(gpuctl, scratch, sample, engine):
    folder = scratch / f"{sample.stem}-{engine}"
    folder.mkdir()
    done = run([gpuctl, "render", write_variant(sample, engine, folder / "in"), "-o", folder / "out"], env=environment(folder))
    if done.returncode != 0:
        return [(f"render: {done.stderr.decode()}", None)]
    return clusters_in(folder / "out")


def of_case(gpuctl, scratch, case):
    """What a golden case renders; where it renders nothing that this can run, the tree that it has."""
    found = []
    for number, words in enumerate(renderings(case)):
        folder = scratch / f"{case.name.replace('/', '-')}-{number}"
        folder.mkdir()
        env = golden_environment(case.folder, folder)
        run([gpuctl, *(word.replace("{out}", str(folder / "out")) for word in words)], cwd=case.folder, env=env)
        found += clusters_in(folder / "out")  # none, where the case only validates what `render` refuses
    return found or clusters_in(case.folder / "tree", whole=False)


def main():
    gpuctl = arguments(__doc__).gpuctl
    tally, used, seen, bitten = Tally(), set(), 0, 0
    with tempfile.TemporaryDirectory(prefix="ordering-") as temporary, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        scratch = pathlib.Path(temporary)
        jobs = [(f"{sample.stem} with {engine}", True, functools.partial(of_sample, gpuctl, scratch, sample, engine))
                for sample in samples() for engine in engines_of(sample)]
        # The knowledge of group `provider` is that of a platform made up for it.
        jobs += [(case.name, False, functools.partial(of_case, gpuctl, scratch, case))
                 for case in golden_cases.find(scratch / "cases") if case.group != "provider"]
        for (what, is_sample, _), clusters in zip(jobs, pool.map(lambda job: job[2](), jobs)):
            for name, cluster in clusters:
                if not tally.check(cluster is not None, f"{what}: {name}"):
                    continue
                seen += 1
                found = cluster.findings(used)
                tally.check(not found, f"{what}: {name}: " + "; ".join(found))
                for change, broken in moved(cluster) if is_sample else []:
                    bitten += 1
                    tally.check(broken.findings(set()), f"{what}: {name}: {change} is not found")
    rows = BROUGHT.keys() | ENGINES.keys() | PLATFORMS.keys() | OTHERS
    tally.check(rows == used, f"rows that nothing needs: {sorted(rows - used)}")
    tally.check(seen >= FEWEST and bitten >= 40, f"only {seen} clusters are looked at, and {bitten} objects moved")
    print(f"{seen} clusters, {bitten} objects moved")
    tally.close()


if __name__ == "__main__":
    main()
