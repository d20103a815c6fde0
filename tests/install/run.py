#!/usr/bin/env python3
"""Installs, watches and destroys clusters with doubles of the programs (doubles/), and looks at what
is said, done and left: the healthy way, every exit code, every signature, each way to go on, waits that
end, and journals that are not as they should be.

  run.py [--gpuctl FILE] [--filter TEXT] [--show]
"""

import concurrent.futures
import fcntl
import json
import os
import re
import signal
import sys
import time

import waits
from world import HERE, ROOT, World, parse_arguments

try:
    import jsonschema
except ImportError:
    jsonschema = None

SCHEMA = json.loads((ROOT / "docs/results.schema.json").read_text())
CASES = []


def case(function):
    CASES.append((function.__name__.replace("_", " "), function))
    return function


class Checks:
    def __init__(self, name, show):
        self.name, self.show, self.passed, self.failures = name, show, 0, []

    def that(self, good, what):
        if good:
            self.passed += 1
        else:
            self.failures.append(f"{self.name}: {what}")

    def says(self, said, *texts):
        flat = re.sub(r"\s+", " ", said)
        for text in texts:
            self.that(text in flat, f"does not say `{text}`:\n{said}")

    def document(self, said, kind, **fields):
        """The result on the last line is of this kind, has these fields, and is as the schema says."""
        found = json.loads(said.splitlines()[-1])
        self.that(found["kind"] == kind and fields.items() <= found.items(), said)
        if jsonschema is not None:
            errors = [error.message for error in jsonschema.Draft202012Validator(SCHEMA).iter_errors(found)]
            self.that(not errors, f"{kind}: {errors}")

    def clean(self, world):
        self.that(not world.leaks(), f"secrets leak: {world.leaks()}")
        self.that(not world.orphans(), f"processes are left: {world.orphans()}")
        try:
            world.events()
            self.passed += 1
        except ValueError as error:
            self.failures.append(f"{self.name}: the journal is torn: {error}")


def well(check, world, infra_count=1):
    check.that(len(world.alive()) == infra_count, f"alive: {world.alive()}")
    check.clean(world)


@case
def healthy(check, world):
    code, said = world.install("--dry-run")
    check.that(code == 0 and "openshift-install create cluster" in said, f"rehearsal: {said}")
    check.that(not (world.place / "journal.jsonl").exists(), "a rehearsal leaves a journal")
    code, said = world.install()
    check.that(code == 0, said)
    check.says(said, "committed", "operators (at most", "dev/lab is installed")
    calls = world.calls()
    for verb in ("create manifests", "create ignition-configs", "create cluster"):
        check.that(calls.count(f"{verb} attempt-1") == 1, f"{verb}: {calls}")
    check.that(any(call.startswith("day-zero 99_gpuctl_machineconfigpool") for call in calls), f"day zero: {calls}")
    check.that([call for call in calls if call.startswith("apply")] ==
               [f"apply argocd/bootstrap/{step}" for step in ("1-operator", "2-controller", "3-root")], f"{calls}")
    facts = (world.directory / "fleet/clusters/dev/lab/facts.yaml").read_text()
    check.that(f"infraID: {world.alive()[0]}" in facts and "ami-0a1b2c3d4e5f60718" in facts, facts)
    before = len(world.calls())
    code, said = world.install()
    check.that(code == 0, said)
    check.says(said, "Create the cluster: done before")
    check.that(all(call.startswith("apply") for call in world.calls()[before:]), f"done twice: {world.calls()[before:]}")
    well(check, world)
    code, said = world.run("status", "lab")
    check.that(code == 0, said)
    check.says(said, "dev/lab on aws, attempt 1", "cluster done", "gpus ok")
    code, said = world.run("--format", "json", "status", "dev/lab")
    check.document(said, "Status", good=True)
    check.document(world.run("--format", "json", "install", "lab.yaml", "--repo", "fleet", "--dry-run")[1], "Install")
    check.document(world.run("--format", "json", "install", "lab.yaml", "--repo", "fleet", "--no-preflight")[1], "Install", status="done")
    check.document(world.run("--format", "json", "destroy", "lab", "--dry-run")[1], "Destroy")
    code, said = world.destroy()
    check.that(code == 0, said)
    check.says(said, "will be destroyed", "Uninstallation" if False else "dev/lab is gone", "resourcegroupstaggingapi")
    well(check, world, 0)
    code, said = world.install("--until", "manifests")
    check.that(code == 0, said)
    check.says(said, "done until manifests")
    check.clean(world)


@case
def healthy_flux(check, world):
    (world.directory / "lab.yaml").write_text((world.directory / "lab.yaml").read_text().replace("argocd", "flux"))
    code, said = world.install()
    check.that(code == 0, said)
    check.that("apply flux/bootstrap/3-root" in world.calls(), f"{world.calls()}")
    well(check, world)


@case
def nothing_follows(check, world):
    text = (world.directory / "lab.yaml").read_text()
    (world.directory / "lab.yaml").write_text(text[:text.index("  gitops:")])
    code, said = world.install()
    check.that(code == 0 and not any(call.startswith("apply") for call in world.calls()), said)
    well(check, world)


def ends(check, world, exit_code, after, means, follows):
    """The installer ends with a code; the next run does what follows."""
    world.scenario = {"fail": {"after": after, "exit": exit_code, "lines": [["error", "something happened"]]}}
    code, said = world.install()
    check.that(code == 1, said)
    check.says(said, f"ended with exit code {exit_code}: {means}", "it said: something happened", "GPU0707")
    check.clean(world)
    world.scenario = {}
    before = len(world.calls())
    code, said = world.install()
    check.that(code == 0, said)
    after_calls = [call for call in world.calls()[before:] if not call.startswith(("apply", "alive", "day-zero"))]
    check.that(after_calls == follows or follows is None, f"follows: {after_calls}\n{said}")
    well(check, world)


ANEW = ["destroy cluster attempt-1", "create manifests attempt-2", "create ignition-configs attempt-2",
        "create cluster attempt-2", "destroy bootstrap first"]


def anew(world):
    return None


for number, means, after, follows in (
        (1, "the installer gave up", "Credentials loaded", ["create cluster attempt-1", "destroy bootstrap first"]),
        (1, "the installer gave up", "Creating infrastructure resources", "anew"),
        (3, "the installer does not accept install-config.yaml", "Credentials loaded", "anew"),
        (4, "the infrastructure could not be made", "Waiting up to 15m0s (until 12:15PM UTC) for machines", "anew"),
        (5, "bootstrapping failed", "for bootstrapping to complete", "anew"),
        (6, "the cluster did not become complete in time", "to initialize", ["wait-for install-complete attempt-1"]),
        (7, "operators were not stable in time; the cluster can be used", "finished progressing",
         ["wait-for install-complete attempt-1"]),
        (8, "the installer was interrupted", "to initialize", ["wait-for install-complete attempt-1"])):
    def one(check, world, number=number, means=means, after=after, follows=follows):
        ends(check, world, number, after, means, None if follows == "anew" else follows)
        if follows == "anew":
            check.that("create cluster attempt-2" in world.calls() and
                       any(call.startswith("destroy lab-") for call in world.calls()), f"{world.calls()}")
    CASES.append((f"exit code {number} in {after}", one))


@case
def exit_code_8_while_machines_come(check, world):
    world.scenario = {"fail": {"after": "for machines", "exit": 8}}
    code, said = world.install()
    check.says(said, "the next `gpuctl install` destroys what there is and begins anew")
    world.scenario = {}
    check.that(world.install()[0] == 0, "does not go on")
    well(check, world)


def signature_cases():
    for line in (HERE / "signatures.txt").read_text().splitlines():
        if line.startswith("#"):
            continue
        head, text = line.split(": ", 1)
        yield (*head.split(), text)


def known_lines():
    """By folder and name."""
    return {(folder, name): text for folder, name, text in signature_cases()}


def known_causes():
    import yaml
    out = {}
    for file in sorted(ROOT.glob("providers/*/signatures.yaml")):
        if file.parent.name == "formats":
            continue
        for row in yaml.safe_load(file.read_text())["spec"]["signatures"]:
            if "installer" in row.get("of", ["installer"]):  # the others are of a diagnosis
                out[file.parent.name, row["name"]] = row
    return out


CAUSES = known_causes()
# Tried as lines alone: the machine is AWS's. With the folders that their platforms have besides.
OTHERS = {"gcp": ["openshift"], "vsphere": ["openshift"], "gke": []}


def signature(check, world, folder, name, text):
    row = CAUSES[folder, name]
    world.scenario = {"fail": {"after": "Creating infrastructure resources", "exit": 4, "lines": [["error", text]]}}
    code, said = world.install()
    check.that(code == 1, said)
    check.says(said, "GPU0708", row["cause"], re.sub(r"\s+", " ", row["remedy"]))
    check.clean(world)


for folder, name, text in signature_cases():
    if folder not in OTHERS:
        CASES.append((f"signature {folder} {name}",
                      lambda check, world, f=folder, n=name, t=text: signature(check, world, f, n, t)))


@case
def signatures_of_other_platforms(check, _world):
    """Each line fits its row, and no row before it, among those of its platform."""
    import yaml
    for folder in sorted(OTHERS):
        rows = []
        for part in (folder, *OTHERS[folder]):
            rows += yaml.safe_load((ROOT / f"providers/{part}/signatures.yaml").read_text())["spec"]["signatures"]
        for case_folder, name, text in signature_cases():
            if case_folder == folder:
                fits = [row["name"] for weak in (False, True) for row in rows
                        if "installer" in row.get("of", ["installer"]) and row.get("weak", False) == weak and
                        re.search(row["pattern"], text, re.I)]
                check.that(fits[:1] == [name], f"{name}: {fits}")
    check.that({(f, n) for f, n, _ in signature_cases()} == set(CAUSES), "a signature has no line in signatures.txt")


@case
def dropped_manifests(check, world):
    world.scenario = {"drops": True}
    code, said = world.install()
    check.that(code == 1, said)
    check.says(said, "GPU0718", "the installer dropped manifests that were added to its own")
    check.that("create cluster attempt-1" not in world.calls(), "it goes on")
    world.scenario = {}
    check.that(world.install()[0] == 0, "does not begin anew")
    check.that("create cluster attempt-1" not in world.calls() and "create cluster attempt-2" in world.calls(),
               f"goes on without what was dropped: {world.calls()}")
    well(check, world)


@case
def killed_while_it_wrote_its_state(check, world):
    """The installer refuses half a state file forever: a new directory, and nothing is destroyed for it."""
    for who in ("installer", "driver"):
        world.scenario = {"killed": {"verb": "create manifests", "after": "half of the state", "who": who}}
        world.install()
    world.scenario = {}
    code, said = world.install()
    check.that(code == 0, said)
    check.says(said, "nothing was made", "attempt 3 begins in a new directory")
    check.that(not [call for call in world.calls() if call.startswith("destroy cluster")], f"{world.calls()}")
    well(check, world)


@case
def destroyed_after_a_kill(check, world):
    """Controllers that outlived the installer are ended before it destroys."""
    world.scenario = {"killed": {"after": "for machines", "who": "both"}}
    world.install()
    world.scenario = {}
    code, said = world.destroy()
    check.that(code == 0, said)
    check.that("destroys beside controllers" not in world.calls(), f"{world.calls()}")
    well(check, world, 0)


@case
def installed_again_after_destroy(check, world):
    """What is left of the first cluster says nothing of the second."""
    check.that(world.install()[0] == 0 and world.destroy()[0] == 0, world.said)
    world.scenario = {"fail": {"after": "for machines", "exit": 4}}
    code, said = world.install()
    check.that(code == 1, said)
    check.says(said, "ended with exit code 4")
    world.scenario = {}
    code, said = world.install()
    check.that(code == 0, said)
    facts = (world.directory / "fleet/clusters/dev/lab/facts.yaml").read_text()
    check.that(f"infraID: {world.alive()[0]}" in facts, facts)
    well(check, world)


@case
def warnings_of_a_destruction(check, world):
    check.that(world.install()[0] == 0, "does not install")
    world.cluster = {"persistentvolumeclaims": {"items": [{"metadata": {"name": "data", "namespace": "shop"}}]},
                     "refused": ["delete"]}
    code, said = world.destroy()
    check.that(code == 0, said)
    check.says(said, "warning[GPU0707]: `oc delete persistentvolumeclaim data")
    well(check, world, 0)


@case
def files_that_are_not_written(check, world):
    world.scenario = {"shorter": ["bootstrap.ign"]}
    code, said = world.install()
    check.that(code == 1, said)
    check.says(said, "GPU0710", "`bootstrap.ign` is not in")
    world.scenario = {}
    check.that(world.install()[0] == 0, "does not go on")


@case
def files_that_are_no_documents(check, world):
    world.scenario = {"garbage": ["metadata.json"]}
    code, said = world.install()
    check.that(code == 1, said)
    check.says(said, "GPU0717", "cannot read `metadata.json`: is neither JSON nor YAML")


WAITS = [
    ("clusterversion", {"status": {"conditions": [{"type": "Available", "status": "False", "message": "Working towards it"}]}},
     ["`cluster-version` did not come true within", "missing: Available is False: Working towards it", "oc get clusterversion"]),
    ("clusteroperators", {"items": [{"metadata": {"name": "ingress"}, "status": {"conditions": [{"type": "Degraded", "status": "True"}]}}]},
     ["operator `ingress`"]),
    ("clusterserviceversions", {"items": []}, ["no ClusterServiceVersion of `openshift-gitops-operator`"]),
    ("argocds.argoproj.io", {"items": []}, ["missing: the controller's resource"]),
    ("subscriptions.operators.coreos.com", {"items": [{"spec": {"name": "nfd"}}]}, ["operator `gpu-operator-certified`"]),
    ("machinesets", {"items": []}, ["not 1 ready machines", "oc get machinesets,machines"]),
    ("clusterpolicies.nvidia.com", {"items": [{"metadata": {"name": "p"}, "status": {"state": "ready", "conditions": [
        {"type": "Ready", "status": "True", "reason": "NoGPUNodes", "message": "no node has a GPU"}]}}]},
     ["`p` is ready (NoGPUNodes: no node has a GPU)"]),
    ("nodes", {"items": []}, ["`node-features` did not come true", "a node with the label"]),
    ("applications.argoproj.io", {"items": [{"metadata": {"name": "lab-40-gpu"}, "status": {
        "sync": {"status": "OutOfSync"}, "health": {"status": "Degraded"}}}]}, ["`lab-40-gpu` is OutOfSync and Degraded"]),
    ("clusterversion", "Unable to connect to the server: dial tcp 10.0.0.1:6443: i/o timeout",
     ["the last question was not answered: Unable to connect"]),
]
for number, (resource, answer, texts) in enumerate(WAITS):
    def one(check, world, resource=resource, answer=answer, texts=texts):
        world.cluster = {resource: answer}
        code, said = world.install()
        check.that(code == 1, said)
        check.says(said, "GPU0711", "the next `gpuctl install` waits on from here", *texts)
        code, shown = world.run("status", "lab")
        check.that(code == 1, shown)
        world.cluster = {}
        before = len(world.calls())
        code, said = world.install()
        check.that(code == 0, said)
        check.that(all(call.startswith("apply") for call in world.calls()[before:]), f"{world.calls()[before:]}")
        well(check, world)
    CASES.append((f"wait {number} {resource}", one))


@case
def kinds_come_late(check, world):
    late = 'error: resource mapping not found for name: "root": no matches for kind "Application" in version "argoproj.io/v1alpha1"'
    world.cluster = {"apply": [late, late, 'Internal error occurred: failed calling webhook "x"']}
    code, said = world.install()
    check.that(code == 0, said)
    check.says(said, "too early:")
    well(check, world)


@case
def refused_change(check, world):
    world.cluster = {"apply": ["Error from server (Forbidden): clusterroles is forbidden: User cannot patch"] * 2}
    code, said = world.install()
    check.that(code == 1, said)
    check.says(said, "GPU0712", "could not be applied", "it said: Error from server (Forbidden)")


@case
def choices_of_the_lock(check, world):
    """What is installed is looked at and destroyed as it was chosen, from any directory, whatever a later version of
    the knowledge would choose."""
    world.directory.joinpath("lab.yaml").write_text((world.directory / "lab.yaml").read_text().replace(
        "replicas: 1, zones: [eu-central-1a]", "replicas: 3"))
    environment = world.environment
    world.environment = lambda: {**environment(), "DOUBLE_SETS": "gpu-eu-central-1a gpu-eu-central-1b gpu-eu-central-1c"}
    code, said = world.install()
    check.that(code == 0, said)
    begun = next(event for event in world.events() if event["event"] == "begin")
    check.that(begun["repository"] == str(world.directory / "fleet"), f"{begun}")
    knowledge = (ROOT / "providers/aws/derive.yaml").read_text()
    check.that('["a", "b", "c"]' in knowledge, "the choice of zones is written otherwise by now")
    (world.directory / "providers/aws").mkdir(parents=True)
    (world.directory / "providers/aws/derive.yaml").write_text(knowledge.replace('["a", "b", "c"]', '["d", "e", "f"]'))
    code, said = world.run("status", "lab", below="state")
    check.that(code == 0 and "without the lock" not in said, said)
    code, said = world.run("destroy", "lab", "--dry-run", below="state")
    check.that(code == 0 and "without the lock" not in said, said)
    (world.directory / "fleet").rename(world.directory / "moved")
    code, said = world.run("status", "lab")
    check.that(code == 1, said)
    check.says(said, "goes on without the lock of the repository: it cannot be read: there is no commit", "eu-central-1d")
    code, said = world.run("status", "lab", "--repo", "moved")
    check.that(code == 0, said)
    # Journals of earlier versions have the path as it was given: it says nothing elsewhere.
    journal = world.place / "journal.jsonl"
    journal.write_text(journal.read_text().replace(f'"{world.directory}/fleet"', '"fleet"'))
    code, said = world.destroy()
    check.that(code == 0, said)
    well(check, world, 0)


@case
def a_blueprint_that_changed_since(check, world):
    """What the lock forbids to change keeps nobody from looking, or from destroying."""
    check.that(world.install()[0] == 0, world.said)
    lock = world.directory / "fleet/clusters/dev/lab/gpuctl.lock"
    lock.write_text("no lock at all\n")
    world.git("commit", "-qam", "edit")
    code, said = world.destroy("--dry-run")
    check.that(code == 0, said)
    check.says(said, "goes on without the lock of the repository: the blueprint does not go with it")
    code, said = world.destroy()
    check.that(code == 0, said)
    well(check, world, 0)


PROXY = """Unable to connect to the server: proxyconnect tcp: dial tcp 10.0.0.1:3128: i/o timeout
The connection was tried several times.
error: giving up"""


@case
def cause_in_an_earlier_line(check, world):
    """Of all that a program printed any line may show the cause: a question, a change, a deletion."""
    row = CAUSES["openshift", "proxy-unreachable"]
    line = "it said: Unable to connect to the server: proxyconnect tcp"
    world.cluster = {"clusterversion": PROXY}
    code, said = world.install()
    check.that(code == 1, said)
    check.says(said, "GPU0711", "the last question was not answered: Unable to connect", "GPU0708", row["cause"], line)
    world.cluster = {"apply": [PROXY] * 2}
    code, said = world.install()
    check.that(code == 1, said)
    check.says(said, "GPU0712", "GPU0708", row["cause"], line)
    world.cluster = {}
    check.that(world.install()[0] == 0, "does not go on")
    world.cluster = {"persistentvolumeclaims": {"items": [{"metadata": {"name": "data", "namespace": "shop"}}]},
                     "refused": ["delete"], "refusal": PROXY}
    code, said = world.destroy()
    check.that(code == 0, said)
    check.says(said, "warning[GPU0707]", line, "the cause is known: " + row["cause"], row["remedy"])
    check.clean(world)


@case
def cause_in_what_is_missing(check, world):
    """What the cluster answers may name it as well as what a program prints."""
    row = CAUSES["openshift", "proxy-unreachable"]
    world.cluster = {"clusterversion": {"status": {"conditions": [
        {"type": "Available", "status": "False", "message": "proxyconnect tcp: dial tcp 10.0.0.1:3128: connection refused"}]}}}
    code, said = world.install()
    check.that(code == 1, said)
    check.says(said, "GPU0711", "GPU0708", row["cause"])
    check.clean(world)


@case
def cause_before_there_is_a_log(check, world):
    row = CAUSES["openshift", "proxy-unreachable"]
    world.scenario = {"early": {"verb": "create manifests", "text": PROXY, "exit": 1}}
    code, said = world.install()
    check.that(code == 1, said)
    check.says(said, "GPU0707", "it said: error: giving up", "GPU0708", row["cause"])
    world.scenario = {"early": {"verb": "create manifests", "text": "panic: nothing known", "exit": 2}}
    code, said = world.install()
    check.says(said, "it said: panic: nothing known")
    check.that("GPU0708" not in said, f"the cause of an earlier run is told: {said}")
    world.scenario = {}
    check.that(world.install()[0] == 0, "does not go on")
    well(check, world)


@case
def no_installer(check, world):
    environment = world.environment
    world.environment = lambda: {**environment(), "PATH": "/usr/bin:/bin"}
    code, said = world.install()
    check.that(code == 1, said)
    check.says(said, "GPU0410", "`openshift-install` is not in any directory of PATH")


@case
def secret_is_not_there(check, world):
    environment = world.environment
    world.environment = lambda: {name: value for name, value in environment().items() if name != "PULL_SECRET"}
    code, said = world.install()
    check.that(code == 1, said)
    check.says(said, "GPU0605")
    check.that(not world.calls(), f"{world.calls()}")


@case
def another_run(check, world):
    world.install("--until", "manifests")
    with open(world.place / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for words in (("install", "lab.yaml", "--repo", "fleet", "--no-preflight"), ("destroy", "lab", "--yes", "lab")):
            code, said = world.run(*words)
            check.that(code == 1, said)
            check.says(said, "GPU0702", "another gpuctl works on this cluster")
        code, said = world.run("status", "lab", "--journal")
        check.that(code == 0, said)


@case
def faulty_journal(check, world):
    world.install("--until", "manifests")
    journal = world.place / "journal.jsonl"
    whole = journal.read_text()
    journal.write_text(whole + '{"event":"inte')
    code, said = world.install("--until", "facts")
    check.that(code == 0, said)
    check.clean(world)
    journal.write_text("{no json\n" + whole)
    code, said = world.install()
    check.that(code == 1, said)
    check.says(said, "GPU0703", "line 1 of the journal")


@case
def open_directory(check, world):
    world.place.mkdir(parents=True)
    world.place.chmod(0o755)
    code, said = world.install()
    check.that(code == 1, said)
    check.says(said, "GPU0701", "chmod 700")


@case
def another_cluster(check, world):
    world.install("--until", "manifests")
    text = (world.directory / "lab.yaml").read_text().replace("name: lab", "name: other")
    (world.directory / "other.yaml").write_text(text)
    code, said = world.run("install", "other.yaml", "--repo", "fleet", "--dir", str(world.place))
    check.that(code == 1, said)
    check.says(said, "GPU0704", "is of cluster `dev/lab`, not of `dev/other`")
    code, said = world.run("destroy", "other", "--dir", str(world.place), "--yes", "other")
    check.that(code == 1, said)
    check.says(said, "GPU0704")


@case
def unknown_words(check, world):
    code, said = world.install("--until", "manifest")
    check.that(code == 1, said)
    check.says(said, "GPU0706", "did you mean `manifests`?")
    code, said = world.run("status", "nothing")
    check.that(code == 1, said)
    check.says(said, "GPU0716", "no cluster `nothing` was installed from here")
    code, said = world.run("destroy", "lab", "--dir", str(world.directory / "none"), "--yes", "lab")
    check.that(code == 1, said)
    check.says(said, "GPU0716")


@case
def another_name_of_the_infrastructure(check, world):
    world.install("--until", "ignition")
    path = world.place / "attempt-1/metadata.json"
    path.write_text(path.read_text().replace('"infraID": "lab-', '"infraID": "lap-'))
    code, said = world.install()
    check.that(code == 1, said)
    check.says(said, "GPU0709", "`infraID` of this attempt was")
    check.that("create cluster attempt-1" not in world.calls(), "it goes on")


@case
def platform_without_steps(check, world):
    """What is laid over the knowledge takes all steps away."""
    for file in ROOT.glob("providers/*/install.yaml"):
        over = world.directory / file.relative_to(ROOT)
        over.parent.mkdir(parents=True)
        over.write_text("apiVersion: gpuctl.dev/v1alpha1\nkind: Installation\nmetadata: {name: none}\nspec: {}\n")
    code, said = world.install()
    check.that(code == 1, said)
    check.says(said, "GPU0705", "platform `aws` has no installation")


@case
def interrupted(check, world):
    for attempt, number in enumerate((signal.SIGTERM, signal.SIGINT), 1):
        world.scenario = {"lines": 0.05}
        running = world.start("install", "lab.yaml", "--repo", "fleet", "--no-preflight")
        log = world.place / f"attempt-{attempt}/.openshift_install.log"
        for _ in range(1500):
            if log.exists() and "Started local" in log.read_text():
                break
            time.sleep(0.02)
        running.send_signal(number)
        said, _ = running.communicate(timeout=60)
        check.that(running.returncode == -number, f"{running.returncode}: {said}")
        check.says(said, "GPU0714", "was interrupted by signal")
        check.clean(world)
    world.scenario = {}
    code, said = world.install()
    check.that(code == 0, said)
    check.says(said, "begins in a new directory")
    well(check, world)


@case
def destroy_needs_the_name(check, world):
    world.install("--until", "manifests")
    for words in ((), ("--yes", "other")):
        code, said = world.run("destroy", "lab", *words)
        check.that(code == 1, said)
        check.says(said, "GPU0715", "nothing was changed")
    code, said = world.run("destroy", "lab", "--dry-run")
    check.that(code == 0 and "openshift-install destroy cluster" in said, said)
    code, said = world.destroy()
    check.that(code == 0, said)
    check.says(said, "nothing was made")


@case
def destroy_that_never_ends(check, world):
    check.that(world.install()[0] == 0, "does not install")
    world.scenario = {"loop": True}
    code, said = world.destroy()
    check.that(code == 1, said)
    check.says(said, "GPU0713", "has said nothing new for", "the next `gpuctl destroy` goes on")
    check.clean(world)
    world.scenario = {}
    code, said = world.destroy()
    check.that(code == 0, said)
    well(check, world, 0)


@case
def destroy_deletes_what_workloads_made(check, world):
    check.that(world.install()[0] == 0, "does not install")
    world.cluster = {
        "services": {"items": [{"metadata": {"name": "web", "namespace": "shop"}, "spec": {"type": "LoadBalancer"}},
                               {"metadata": {"name": "router", "namespace": "openshift-ingress"}, "spec": {"type": "LoadBalancer"}},
                               {"metadata": {"name": "plain", "namespace": "shop"}, "spec": {"type": "ClusterIP"}}]},
        "persistentvolumeclaims": {"items": [{"metadata": {"name": "data", "namespace": "shop"}}]},
        "deployments,statefulsets": {"items": [{"kind": "Deployment", "metadata": {"name": "argo"}}]}}
    code, said = world.destroy()
    check.that(code == 0, said)
    check.says(said, "What workloads made goes with it: Stop the GitOps controller: oc scale",
               "Delete the volumes that claims made: oc delete persistentvolumeclaim data -n shop")
    calls = [call for call in world.calls() if call.startswith(("delete", "scale"))]
    check.that([call.split(" --")[0] for call in calls] ==
               ["scale", "delete service web -n shop", "delete persistentvolumeclaim data -n shop"], f"{calls}")
    well(check, world, 0)


@case
def destroy_of_half_a_cluster(check, world):
    world.scenario = {"fail": {"after": "for machines", "exit": 4}}
    world.install()
    world.scenario = {}
    world.cluster = {"services": "Unable to connect to the server: EOF", "persistentvolumeclaims": "Unable to connect",
                     "deployments,statefulsets": "Unable to connect"}
    code, said = world.destroy()
    check.that(code == 0, said)
    check.says(said, "skipped: Unable to connect to the server: EOF")
    well(check, world, 0)


@case
def every_command_of_the_page(check, world):
    """docs/install.md, word by word, in its order."""
    for name, sample in (("gpu-lab", "aws-minimal"), ("gcp-lab", "gcp-n1-t4"), ("vgpu-lab", "vsphere-vgpu-licensed"),
                         ("bare-metal", "openshift-bare-metal"), ("gke-lab", "gke-l4-separate-pool"), ("gke-script", "gke-l4-separate-pool")):
        text = (ROOT / f"blueprints/{sample}.yaml").read_text()
        if name == "gke-script":
            text = text.replace("  gke:\n", "  gke:\n    provisioner: gcloud\n")
        (world.directory / f"{name}.yaml").write_text(text)
        # Secrets that blueprints name are files and variables of the user's.
        for file in re.findall(r"\{file: ([^},]+)\}", text):
            path = world.directory / file.strip().replace("~/", "")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("secret\n")
    blocks = re.findall(r"^```console\n(.*?)^```", (ROOT / "docs/install.md").read_text(), re.DOTALL | re.MULTILINE)
    commands = [line for block in blocks for line in block.splitlines()]
    check.that(len(commands) >= 10, f"{commands}")
    sections = (ROOT / "docs/install.md").read_text()
    for title in ("OpenShift on AWS", "OpenShift on GCP", "OpenShift on vSphere", "GKE", "An OpenShift that exists"):
        check.that(f"## {title}\n" in sections, f"no section {title}")
    for line in commands:
        words = line.split()
        check.that(words[0] == "gpuctl", f"not one of ours: {line}")
        if words[1] == "install" and "--dry-run" not in words:
            words.append("--no-preflight")  # it asks the world outside; the case after this one has it
        code, said = world.run(*words[1:])
        check.that(code == 0, f"{line}: {said}")
    check.clean(world)


@case
def what_must_not_fail(check, world):
    """Before anything is made, and only then. Where nothing answers, nothing is held against it."""
    environment = world.environment
    world.environment = lambda: {**environment(), "DOUBLE_RELEASE": "4.19.3"}
    code, said = world.run("install", "lab.yaml", "--repo", "fleet", "--until", "manifests")
    check.that(code == 1, said)
    check.says(said, "GPU0724", "D10", "4.19.3")
    check.that(not any(call.startswith("create") for call in world.calls()), f"{world.calls()}")
    world.environment = environment
    code, said = world.install("--until", "manifests")
    check.that(code == 0, said)
    world.environment = lambda: {**environment(), "DOUBLE_RELEASE": "4.19.3"}
    code, said = world.run("install", "lab.yaml", "--repo", "fleet", "--until", "facts")
    check.that(code == 0 and "GPU0724" not in said, said)
    check.clean(world)


def run_case(options, name, function, make):
    check = Checks(name, options.show)
    world = make(options.gpuctl)
    try:
        function(check, world)
        if options.show:
            print(f"=== {name}\n{world.said}")
    except Exception as error:  # noqa: BLE001: a case that breaks is a failure of that case
        check.failures.append(f"{name}: {type(error).__name__}: {error}\n{world.said[-3000:]}")
    finally:
        world.close()
    return check


def main(cases, make, description):
    options = parse_arguments(description, lambda parser: parser.add_argument("--show", action="store_true"))
    chosen = [(name, function) for name, function in cases if options.filter in name]
    passed, failures = 0, []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for check in pool.map(lambda one: run_case(options, *one, make), chosen):
            passed += check.passed
            failures += check.failures
    for failure in failures:
        print("FAILED", failure)
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(CASES + waits.CASES, World, __doc__))
