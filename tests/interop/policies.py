"""The settings of the GPU operator, as an API server stores them, are those that its documentation wants.

tests/golden/policy holds what is written for five platforms and five lines of the operator. Each is
given to the API server's own packages (apiserver/main.go) with the published ClusterPolicy of its line:
no field is unknown, nothing is refused, and what was written stays as it was, so that no GitOps engine
sees a difference for ever. Then the values count, defaults filled in, against the table below.

On GKE the chart of the operator makes the ClusterPolicy. What it makes of the values is known from its
template: the same fields, but for a few.
"""

import json
import pathlib
import sys

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from interop.schema import ask, same  # noqa: E402
from interop.tools import go_program  # noqa: E402
from support.program import ROOT, SHARED, skip  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
CASES = ROOT / "tests/golden/policy"
SCHEMAS = SHARED / "schemas/nvidia"
LINES = {"24.9": "gpu-operator-v24.9.2", "25.3": "gpu-operator-v25.3.4", "25.10": "gpu-operator-v25.10.1",
         "26.3": "gpu-operator-v26.3.3", "26.7": "."}
OLD = ("24.9", "25.3")  # CDI is a choice, and the licence a ConfigMap
# NVIDIA/gpu-operator, api/nvidia/v1: fields that are always written, empty at least.
ALWAYS = {"operator", "daemonsets", "driver", "toolkit", "devicePlugin", "dcgmExporter", "dcgm",
          "nodeStatusExporter", "gfd"}
ABSENT = object()
OFF = (ABSENT, False)  # the operator takes an absent switch for one that is off
TOLERATION = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
REBOOT = [{"name": "WITH_REBOOT", "value": "true"}]
INSTALL_DIR = "/home/kubernetes/bin/nvidia"

# Path -> what it is, whatever the platform (field table of the reference).
EVERYWHERE = {
    "operator.runtimeClass": (ABSENT, "nvidia"),
    "driver.useOpenKernelModules": (ABSENT,), "driver.usePrecompiled": OFF, "driver.useNvidiaDriverCRD": OFF,
    "toolkit.enabled": (True,), "migManager.enabled": (True,), "psp": (ABSENT,), "kataManager": (ABSENT,),
    "dcgm.hostPort": (ABSENT,), "gds.enabled": OFF, "gdrcopy.enabled": OFF, "sandboxWorkloads.enabled": OFF,
    # The operator's own DaemonSets have system-node-critical; the CRD has no default.
    "daemonsets.priorityClassName": (ABSENT,),
    "daemonsets.updateStrategy": ("RollingUpdate",),
    "validator.plugin.env": ([{"name": "WITH_WORKLOAD", "value": "false"}],),
}
UPGRADES = {
    "driver.upgradePolicy.autoUpgrade": (True,), "driver.upgradePolicy.maxParallelUpgrades": (1,),
    "driver.upgradePolicy.maxUnavailable": ("25%",),
}
OPENSHIFT = {
    **EVERYWHERE, **UPGRADES,
    "operator.use_ocp_driver_toolkit": (True,), "driver.enabled": (True,),
    "toolkit.installDir": ("/usr/local/nvidia",), "hostPaths": (ABSENT,), "cdi": (ABSENT,),
    "devicePlugin.enabled": (True,), "gfd.enabled": (True,), "dcgm.enabled": (True,),
    "dcgmExporter.enabled": (True,), "dcgmExporter.serviceMonitor.enabled": (True,),
    "nodeStatusExporter.enabled": (True,), "daemonsets.rollingUpdate.maxUnavailable": ("1",),
}
GKE = {
    **EVERYWHERE,
    "operator.use_ocp_driver_toolkit": OFF, "cdi.enabled": (True,), "dcgm.enabled": OFF,
    "dcgmExporter.serviceMonitor.enabled": OFF, "nodeStatusExporter.enabled": OFF,
    "mig.strategy": ("mixed",), "migManager.config.name": ("mig-parted-config",),
    "migManager.config.default": ("all-disabled",), "migManager.env": (REBOOT,),
    "daemonsets.tolerations": ([TOLERATION],), "driver.licensingConfig": (ABSENT,),
}


def wanted(platform, line):
    """Path -> the values that it may have."""
    modules = (ABSENT,) if line == "24.9" else ("auto",)
    own_image = {f"driver.{key}": (ABSENT,) for key in ("repository", "image", "version", "imagePullSecrets",
                                                         "licensingConfig")}
    if platform == "openshift-cloud":
        team = {**TOLERATION, "key": "example.com/team"}
        return {**OPENSHIFT, **own_image, "driver.kernelModuleType": modules, "mig.strategy": ("mixed",),
                "migManager.env": (REBOOT,), "daemonsets.tolerations": ([TOLERATION, team],),
                "devicePlugin.config": ({"name": "device-plugin-config", "default": "default"},)}
    if platform == "openshift-passthrough":
        return {**OPENSHIFT, **own_image, "driver.kernelModuleType": modules, "mig.strategy": ("single",),
                "migManager.env": (REBOOT,), "daemonsets.tolerations": ([TOLERATION],)}
    if platform == "openshift-vgpu":
        licence = "configMapName" if line in OLD else "secretName"
        return {**OPENSHIFT, "driver.kernelModuleType": modules,
                "driver.repository": ("registry.example.com/nvidia",), "driver.image": ("vgpu-guest-driver",),
                "driver.version": ("550.163.01" if line == "24.9" else "580.159.03",),
                "driver.imagePullSecrets": (["registry-credentials"],),
                "driver.licensingConfig": ({licence: "licensing", "nlsEnabled": True},),
                "mig.strategy": ("single",), "migManager.env": (ABSENT,),
                "daemonsets.tolerations": ([TOLERATION],)}
    # The cases run on GKE 1.31 to 1.36, one for each line; from 1.33 on the runtime is set up by its file.
    runtime = ABSENT if line in OLD else [{"name": "RUNTIME_CONFIG_SOURCE", "value": "file"}]
    if platform == "gke-cos":
        return {**GKE, "driver.enabled": (False,), "toolkit.installDir": (INSTALL_DIR,),
                "hostPaths.driverInstallDir": (INSTALL_DIR,), "toolkit.env": (runtime,),
                "cdi.default": (True,) if line in OLD else (ABSENT, False)}
    if platform == "gke-ubuntu":
        return {**GKE, **UPGRADES, **own_image, "driver.enabled": (True,), "driver.kernelModuleType": modules,
                "toolkit.installDir": ("/usr/local/nvidia",), "hostPaths": (ABSENT,), "toolkit.env": (runtime,),
                "cdi.default": (ABSENT, False)}
    return None


def policy_of_chart(values):
    """The spec that the chart makes of these values, as far as they say something."""
    spec = json.loads(json.dumps({key: value for key, value in values.items() if key != "node-feature-discovery"}))
    upgrades = spec.get("driver", {}).get("upgradePolicy", {})
    if "gpuPodDeletion" in upgrades:
        upgrades["podDeletion"] = upgrades.pop("gpuPodDeletion")
    spec.get("migManager", {}).get("config", {}).pop("create", None)
    for part in ALWAYS:
        spec.setdefault(part, {})
    return spec


def found(tree, path):
    """The value at a path with dots, or ABSENT."""
    for key in path.split("."):
        if not isinstance(tree, dict) or key not in tree:
            return ABSENT
        tree = tree[key]
    return tree


def changed(before, after, path="spec"):
    """Paths of what was written and is something else now."""
    if isinstance(before, dict) and isinstance(after, dict):
        return [one for key, value in before.items()
                for one in (changed(value, after[key], f"{path}.{key}") if key in after else [f"{path}.{key}"])]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return [one for number, pair in enumerate(zip(before, after)) for one in changed(*pair, f"{path}[{number}]")]
    return [] if same(before, after) else [path]


def requests():
    """(platform, line, spec) of every golden policy."""
    for case in sorted(path for path in CASES.iterdir() if path.is_dir()):
        for line in LINES:
            for path in sorted((case / "tree" / line).rglob("layers/40-gpu/*.yaml")):
                document = yaml.safe_load(path.read_text())
                spec = document["spec"]
                yield case.name, line, (spec if document["kind"] == "ClusterPolicy"
                                        else policy_of_chart(spec["values"]))


def check_policies(tally, scratch):
    """All golden policies, by the API server's own packages."""
    if not SCHEMAS.exists():
        skip("ClusterPolicy", "../shared/schemas is absent")
    asked = list(requests())
    tally.check(len(asked) == len(LINES) * 5, f"policies: {len(asked)}, not {len(LINES) * 5}")
    answers = ask(go_program(HERE / "apiserver"), [
        {"file": str(SCHEMAS / LINES[line] / "nvidia.com_clusterpolicies.yaml"), "kind": "ClusterPolicy", "version": "v1",
         "text": json.dumps({"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", "metadata": {"name": "policy"},
                             "spec": spec})} for _, line, spec in asked], scratch)
    for (platform, line, spec), answer in zip(asked, answers):
        what = f"{platform}, line {line}"
        tally.check(not answer["crd"] and not answer["refused"] and not answer["unknown"] and not answer["errors"],
                    f"{what}: the server says {answer}")
        tally.check(answer["defaulted"], f"{what}: nothing was filled in, so defaults were not looked at")
        stored = (answer["document"] or {}).get("spec", {})
        tally.check(not changed(spec, stored), f"{what}: changed by the server: {changed(spec, stored)}")
        tally.check(ALWAYS <= set(spec), f"{what}: not given: {sorted(ALWAYS - set(spec))}")
        table = wanted(platform, line)
        if not tally.check(table is not None, f"{what}: no table says what is wanted"):
            continue
        for path, values in table.items():
            have = found(stored, path)
            tally.check(any(have is value or value is not ABSENT and have is not ABSENT and same(value, have)
                            for value in values),
                        f"{what}: {path} is {'absent' if have is ABSENT else json.dumps(have)}")
