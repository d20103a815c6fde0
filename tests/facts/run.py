#!/usr/bin/env python3
"""Asks a running cluster for its facts: a double of its program (doubles/oc) answers.

  run.py [--gpuctl FILE] [--filter TEXT] [--show]
"""

import argparse
import copy
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SECRET = "TOKEN-IN-AN-ERROR-MESSAGE"

BLUEPRINT = """apiVersion: gpuctl.dev/v1alpha1
kind: Blueprint
metadata: {name: lab}
spec:
  platform: aws
  stage: dev
  baseDomain: example.com
  openshift: {version: "4.20"}
  aws: {region: eu-central-1, zones: [eu-central-1a]}
  access: {pullSecret: {env: PULL_SECRET}}
  gpuPools:
    - name: gpu
      instanceType: g5.xlarge
      replicas: 2
      sharing: {default: shared, profiles: {shared: {timeSlicing: {replicas: %d}}}}
"""
# A cluster that was there before.
METAL = """apiVersion: gpuctl.dev/v1alpha1
kind: Blueprint
metadata: {name: lab}
spec:
  platform: existing-openshift
  openshift: {version: "4.20"}
  gpuPools:
    - {name: gpu, gpu: {model: A100-40GB, perNode: 4}, replicas: 2, nodes: {selector: {example.com/gpu: "true"}}}
"""
INFRA = "lab-x7k2p"


def machine_set(name, ami):
    return {"apiVersion": "machine.openshift.io/v1beta1", "kind": "MachineSet",
            "metadata": {"name": name, "labels": {"machine.openshift.io/cluster-api-cluster": INFRA}},
            "spec": {"template": {"spec": {"providerSpec": {"value": {
                "kind": "AWSMachineProviderConfig", "ami": {"id": ami}, "instanceType": "m6i.xlarge",
                "placement": {"region": "eu-central-1", "availabilityZone": "eu-central-1a"},
                "securityGroups": [{"filters": []}], "subnet": {"filters": []},
                "iamInstanceProfile": {"id": f"{INFRA}-worker-profile"}}}}}}}


def machine(number, labels):
    return {"apiVersion": "machine.openshift.io/v1beta1", "kind": "Machine",
            "metadata": {"name": f"{INFRA}-gpu-eu-central-1a-{number}",
                         "labels": {"machine.openshift.io/cluster-api-machineset": f"{INFRA}-gpu-eu-central-1a"}},
            "spec": {"metadata": {"labels": labels}}}


CLUSTER = {
    "infrastructures.config.openshift.io": [{
        "apiVersion": "config.openshift.io/v1", "kind": "Infrastructure", "metadata": {"name": "cluster"},
        "status": {"infrastructureName": INFRA, "platformStatus": {"type": "AWS", "aws": {"region": "eu-central-1"}}}}],
    "clusterversions.config.openshift.io": [{
        "apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion", "metadata": {"name": "version"},
        "spec": {"clusterID": "6f1e0b1c-6c39-4f0e-9d58-0a8f3d5f2b11"},
        "status": {"history": [{"state": "Completed", "version": "4.20.11"}]}}],
    "machinesets.machine.openshift.io": [machine_set(f"{INFRA}-worker-eu-central-1a", "ami-0a1b2c3d4e5f60718")],
    "machines.machine.openshift.io": [machine(1, {"nvidia.com/device-plugin.config": "gpu.shared"}),
                                      machine(2, {"nvidia.com/device-plugin.config": "gpu.shared"})],
}
OWNED = [{"apiVersion": "operator.openshift.io/v1", "kind": "MachineConfiguration", "metadata": {"name": "cluster"},
          "status": {"managedBootImagesStatus": {"machineManagers": [
              {"apiGroup": "machine.openshift.io", "resource": "machinesets", "selection": {"mode": "All"}}]}}}]
CASES = []


def case(function):
    CASES.append(function)
    return function


class World:
    def __init__(self, gpuctl):
        self.gpuctl = gpuctl
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="gpuctl-facts-"))
        self.cluster = copy.deepcopy(CLUSTER)
        self.blueprint(4)
        self.programs = HERE / "doubles"

    def blueprint(self, replicas):
        (self.directory / "lab.yaml").write_text(BLUEPRINT % replicas)

    def run(self, *words):
        """(exit code, standard output, standard error)."""
        (self.directory / "cluster.json").write_text(json.dumps(self.cluster))
        environment = {
            "PATH": f"{self.programs}:/usr/bin:/bin" if self.programs != self.directory else str(self.directory), "HOME": str(self.directory), "NO_COLOR": "1",
            "FACTS_DOUBLE": str(self.directory / "cluster.json"), "FACTS_CALLS": str(self.directory / "calls"),
            "KUBECONFIG": "/from/the/environment",
            "GIT_AUTHOR_NAME": "T", "GIT_AUTHOR_EMAIL": "t@example.invalid",
            "GIT_COMMITTER_NAME": "T", "GIT_COMMITTER_EMAIL": "t@example.invalid"}
        done = subprocess.run([self.gpuctl, *words], cwd=self.directory, env=environment, capture_output=True,
                              text=True, timeout=120, stdin=subprocess.DEVNULL, check=False)
        if SHOW:
            print("$ gpuctl " + " ".join(words) + "\n" + done.stdout + done.stderr)
        assert SECRET not in done.stdout + done.stderr, "a secret is shown"
        return done.returncode, done.stdout, done.stderr

    def calls(self):
        path = self.directory / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def facts(self):
        return (self.directory / "lab.facts.yaml").read_text()


IMPORT = ("facts", "import", "--live", "--blueprint", "lab.yaml")
CHECK = ("facts", "check", "lab.yaml", "--live")


@case
def imports_what_the_cluster_says(world):
    code, out, err = world.run(*IMPORT)
    assert code == 0, err
    for text in ("infraID: lab-x7k2p", "amd64: ami-0a1b2c3d4e5f60718", "openshiftVersion: 4.20.11", "clusterID: 6f1e0b1c"):
        assert text in world.facts(), world.facts()
    assert "usedNames" not in world.facts() and "GPU0671" in err, world.facts()
    assert "iamProfile" not in world.facts(), "what templates compute is not written"
    asked = [call.split(" |")[0] for call in world.calls()]
    assert len(asked) == len(set(asked)), f"asked twice: {asked}"
    assert all(call.endswith("| /from/the/environment") for call in world.calls()), world.calls()
    code, out, err = world.run(*IMPORT)
    assert code == 0 and "unchanged" in out, out + err


@case
def asks_the_cluster_of_a_kubeconfig(world):
    code, _, err = world.run(*IMPORT, "--kubeconfig", "admin.kubeconfig")
    assert code == 0, err
    assert all(call.endswith(f"| {world.directory}/admin.kubeconfig") for call in world.calls()), world.calls()


@case
def import_needs_all_answers(world):
    world.cluster["clusterversions.config.openshift.io"] = f'Get "https://admin:{SECRET}@api.lab.example.com:6443/apis": dial tcp: i/o timeout'
    code, _, err = world.run(*IMPORT)
    assert code == 1 and "GPU0666" in err, err
    assert not (world.directory / "lab.facts.yaml").exists(), "written all the same"


@case
def import_without_the_program(world):
    world.programs = world.directory
    code, _, err = world.run(*IMPORT)
    assert code == 1 and "GPU0410" in err, err


@case
def import_of_another_cluster(world):
    world.cluster["infrastructures.config.openshift.io"][0]["status"]["platformStatus"]["aws"]["region"] = "us-west-2"
    code, _, err = world.run(*IMPORT)
    assert code == 1 and "GPU0663" in err and "us-west-2" in err, err


@case
def file_and_cluster_disagree(world):
    (world.directory / "metadata.json").write_text('{"clusterName":"lab","clusterID":"x","infraID":"lab-q9w8e","aws":{"region":"eu-central-1"}}')
    code, _, err = world.run(*IMPORT, "metadata.json")
    assert code == 1 and "GPU0662" in err and "lab-q9w8e" in err and "lab-x7k2p" in err, err
    assert "metadata.json" in err and "oc get infrastructures" in err, err
    assert not (world.directory / "lab.facts.yaml").exists(), "written all the same"
    code, _, err = world.run(*IMPORT, "metadata.json", "--prefer", "infrastructure", "--prefer", "cluster-version")
    assert code == 0 and "lab-x7k2p" in world.facts(), err


@case
def check_finds_it_equal_then_not(world):
    assert world.run(*IMPORT)[0] == 0
    code, out, err = world.run(*CHECK)
    assert code == 0 and "equal" in out and "differs" not in out, out + err
    world.cluster["clusterversions.config.openshift.io"][0]["status"]["history"][0]["version"] = "4.20.14"
    code, out, err = world.run(*CHECK)
    assert code == 1 and "GPU0670" in err and "4.20.14" in err and "4.20.11" in err, out + err
    code, out, err = world.run("--format", "json", *CHECK)
    document = json.loads(out)
    assert [row for row in document["facts"] if row["state"] == "differs"][0]["fact"] == "openshiftVersion", out


@case
def check_goes_on_without_an_answer(world):
    assert world.run(*IMPORT)[0] == 0
    world.cluster["clusterversions.config.openshift.io"] = "Unable to connect"
    code, out, err = world.run(*CHECK)
    assert code == 0 and "warning[GPU0666]" in err, err
    assert "openshiftVersion  unknown" in " ".join(out.split(" ")).replace("   ", "  ") or "unknown" in out, out


@case
def check_of_a_cluster_that_is_away(world):
    world.cluster = {}
    code, out, err = world.run(*CHECK)
    assert code == 1 and "GPU0667" in err, out + err


@case
def image_that_somebody_else_writes(world):
    assert world.run(*IMPORT)[0] == 0
    world.cluster["machinesets.machine.openshift.io"] = [machine_set(f"{INFRA}-worker-eu-central-1a", "ami-0bbbbbbbbbbbbbbbb")]
    assert world.run(*CHECK)[0] == 1
    world.cluster["machineconfigurations.operator.openshift.io"] = OWNED
    code, out, err = world.run(*CHECK)
    assert code == 0 and "note[GPU0669]" in err and "owned" in out, out + err


def installed(kind, version, namespace, name, spec):
    return {"apiVersion": f"operators.coreos.com/{version}", "kind": kind,
            "metadata": {"namespace": namespace, "name": name}, "spec": spec}


@case
def operators_of_others(world):
    (world.directory / "lab.yaml").write_text(METAL)
    world.cluster["subscriptions.operators.coreos.com"] = [
        installed("Subscription", "v1alpha1", "gpu", "gpu", {"name": "gpu-operator-certified"}),
        installed("Subscription", "v1alpha1", "openshift-nfd", "nfd", {"name": "nfd"})]
    world.cluster["operatorgroups.operators.coreos.com"] = [installed("OperatorGroup", "v1", "openshift-nfd", "nfd-8xk2p", {})]
    code, out, err = world.run(*IMPORT)
    assert code == 0 and "- gpu/gpu\n" in world.facts() and "- nfd-8xk2p\n" in world.facts(), out + err
    code, out, err = world.run("validate", "lab.yaml")
    assert code == 1 and "error[GPU4078]" in err and "error[GPU4079]" in err and err.count("error[") == 2, out + err
    world.cluster["subscriptions.operators.coreos.com"].pop(0)
    world.cluster["operatorgroups.operators.coreos.com"][0]["metadata"]["name"] = "nfd"
    code, out, err = world.run(*IMPORT, "--force")
    assert code == 0 and "gpu/gpu" not in world.facts() and "nfd-8xk2p" not in world.facts(), world.facts()
    code, out, err = world.run("validate", "lab.yaml")
    assert code == 0, out + err


@case
def names_that_no_machine_has(world):
    assert world.run(*IMPORT)[0] == 0
    apply = ("apply", "lab.yaml", "--repo", "fleet", "--init", "--quiet")
    code, _, err = world.run(*apply)
    assert code == 0, err
    world.blueprint(8)
    code, _, err = world.run(*apply)
    assert code == 0, err
    code, out, err = world.run(*CHECK, "--repo", "fleet")
    assert code == 0 and "usedNames.gpu" in out and "gpu.shared" in out, out + err
    assert "retire" not in out, f"machines still go by both or the first: {out}"
    world.cluster["machines.machine.openshift.io"] = [machine(3, {"nvidia.com/device-plugin.config": "gpu.shared-2"})]
    code, out, err = world.run(*CHECK, "--repo", "fleet")
    assert code == 0 and "`gpuctl retire gpu.shared` drops it" in out, out + err
    assert "retire gpu.shared-2" not in out, out
    code, out, err = world.run("retire", "gpu.shared", "lab.yaml", "--repo", "fleet", "--quiet")
    assert code == 0, out + err


def main():
    global SHOW
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gpuctl", default=str(ROOT / "build/release/gpuctl"))
    parser.add_argument("--filter", default="")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    SHOW = options.show
    failures = 0
    for function in CASES:
        if options.filter not in function.__name__:
            continue
        world = World(str(pathlib.Path(options.gpuctl).resolve()))
        try:
            function(world)
        except AssertionError as error:
            failures += 1
            print(f"{function.__name__}: {error}", file=sys.stderr)
        finally:
            shutil.rmtree(world.directory)
    print(f"{len(CASES) - failures} of {len(CASES)} good")
    return 1 if failures else 0


SHOW = False
if __name__ == "__main__":
    sys.exit(main())
