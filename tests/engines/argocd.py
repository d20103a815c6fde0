"""What Argo CD does with what is rendered, by a model of its rules: CI does not have the programs themselves
(argocd_controller.py runs them where they are).

The model knows options of syncs and of objects, waves, what is compared, and what a sync prunes (the documentation of
Argo CD 3.5: Sync Options, Sync Phases and Waves, Diff Customization). It goes through:

- every sample with Argo CD: options it has never heard of, waves that do not follow the layers, custom kinds that a dry
  run would stumble over, and what it takes for a difference when others change what Git leaves to them;
- the commits of a pool and of a whole layer that leave: no sync waits for an approval, no change is held up, and
  nothing is left behind;
- the commits after which a sample on OpenShift has nothing but its machines: Argo CD has the right to delete the rest;
- slips: a protected object that is lost from Git stays.
"""

import dataclasses
import json
import pathlib
import re
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from engines.rights import ACCOUNT, OWN_RULES  # noqa: E402
from engines.schemas import FOLDERS, published  # noqa: E402
from interop.ordering import BROUGHT  # noqa: E402
from interop.run import as_objects, resources_of  # noqa: E402
from interop.variants import with_engine, write_variant  # noqa: E402
from support.program import ROOT, environment, run, samples  # noqa: E402

PREFIX = "argocd.argoproj.io/"
# Options of syncs, of an Application or of one object.
OPTIONS = {
    "ApplyOutOfSyncOnly": {"true"}, "Delete": {"false", "confirm"}, "FailOnSharedResource": {"true"}, "Prune": {"false", "confirm"},
    "PruneLast": {"true"}, "RespectIgnoreDifferences": {"true"}, "ServerSideApply": {"true"},
    "SkipDryRunOnMissingResource": {"true"}}
COMPARED = {"ServerSideDiff=true", "IgnoreExtraneous"}
ANNOTATIONS = {"sync-options", "compare-options", "sync-wave", "manifest-generate-paths"}
ALLOWED = ["--max-effect", "upgrade", "--allow", "refused", "--allow", "unknown", "--quiet"]
POOL = "training"
ROLE = "gpuctl-argocd-application-controller"
# What a sample has besides machines, and may have no more.
SERVICES = ("teams", "queues", "platformServices", "acceptance")


def note(value, name):
    return value["metadata"].get("annotations", {}).get(PREFIX + name, "")


def wave(value):
    return int(note(value, "sync-wave") or "0")


def options_of(value):
    """name -> value, of an object's own options."""
    return dict(word.split("=", 1) for word in note(value, "sync-options").split(",") if word)


def app_options(application):
    return dict(word.split("=", 1) for word in application["spec"]["syncPolicy"]["syncOptions"])


def at(value, pointer):
    """(the mapping that has the field, its name) of a JSON pointer; the mapping is None where there is none."""
    *parents, last = [word.replace("~1", "/").replace("~0", "~") for word in pointer.split("/")[1:]]
    for word in parents:
        value = value.get(word) if isinstance(value, dict) else None
    return (value if isinstance(value, dict) else None), last


def rules_for(application, value):
    group = value["apiVersion"].rpartition("/")[0]
    return [rule for rule in application["spec"].get("ignoreDifferences", [])
            if rule.get("group", "") == group and rule["kind"] == value["kind"]
            and rule.get("name", value["metadata"]["name"]) == value["metadata"]["name"]
            and rule.get("namespace", value["metadata"].get("namespace")) == value["metadata"].get("namespace")]


def out_of_sync(application, wanted, live):
    """Whether a live object differs for Argo CD from that of Git: fields that Git has, but for the ignored ones."""
    sides = [json.loads(json.dumps(wanted)), json.loads(json.dumps(live))]
    for rule in rules_for(application, wanted):
        for pointer in rule["jsonPointers"]:
            for side in sides:
                place, last = at(side, pointer)
                if place:
                    place.pop(last, None)
    return not covers(*sides)


def covers(wanted, live):
    if isinstance(wanted, dict) and isinstance(live, dict):
        return all(key in live and covers(value, live[key]) for key, value in wanted.items())
    if isinstance(wanted, list) and isinstance(live, list):
        return len(wanted) == len(live) and all(map(covers, wanted, live))
    return wanted == live


def pointers(value, place=""):
    """The JSON pointers of all scalars in mappings."""
    for key, one in value.items():
        path = f"{place}/{key.replace('~', '~0').replace('/', '~1')}"
        if isinstance(one, dict):
            yield from pointers(one, path)
        elif not isinstance(one, list):
            yield path


@dataclasses.dataclass
class Synced:
    """What came of a sync."""
    waits: list = dataclasses.field(default_factory=list)    # objects whose removal somebody has to approve
    stays: list = dataclasses.field(default_factory=list)    # not in Git, never pruned: out of sync for ever
    pruned: list = dataclasses.field(default_factory=list)
    forbidden: list = dataclasses.field(default_factory=list)  # would be pruned, but for the rights
    refused: str = ""


class Argocd:
    """The objects that each Application has in the cluster."""

    def __init__(self, kubectl, scratch):
        self.kubectl, self.scratch, self.live = kubectl, scratch, {}
        self.applications = {}
        self.rules = None  # without a role of ours: an administrator's

    def take_rights(self, objects):
        given = [value["rules"] for value in objects if value["kind"] == "ClusterRole" and value["metadata"]["name"] == ROLE]
        self.rules = [*OWN_RULES, *given[0]] if given else None

    def may_delete(self, value):
        """In its own namespace the operator lets it do everything (argocd-operator, controllers/argocd/policyrule.go)."""
        group = value["apiVersion"].rpartition("/")[0]
        return self.rules is None or value["metadata"].get("namespace") == ACCOUNT["namespace"] or any(
            group in rule["apiGroups"] and {"*", f"{value['kind'].lower()}s"} & set(rule["resources"])
            and {"*", "delete"} & set(rule["verbs"]) for rule in self.rules)

    def read(self, folder):
        files = resources_of(folder)
        return as_objects(self.kubectl, self.scratch, b"---\n".join(path.read_bytes() for path in files)) if files else {}

    def sync(self, tree, cluster):
        """Follows a commit: name of the Application -> Synced. `tree` is the repository, `cluster` the folder in it."""
        root = as_objects(self.kubectl, self.scratch, (cluster / "argocd/bootstrap/3-root/root.yaml").read_bytes())
        root = next(iter(root.values()))
        # The root applies the rights in its first wave, before the Applications of the layers hear of anything.
        found = {root["metadata"]["name"]: self.one(root, self.read(cluster / "argocd"))}
        self.take_rights(self.live[root["metadata"]["name"]].values())
        self.applications = {value["metadata"]["name"]: value for value in self.live[root["metadata"]["name"]].values()
                             if value["kind"] == "Application"}
        for name, application in sorted(self.applications.items(), key=lambda item: wave(item[1])):
            found[name] = self.one(application, self.read(tree / application["spec"]["source"]["path"]))
        return found

    def one(self, application, wanted):
        live = self.live.setdefault(application["metadata"]["name"], {})
        result = Synced()
        if live and not wanted and not application["spec"]["syncPolicy"]["automated"].get("allowEmpty"):
            result.refused = "would take everything away"
            return result
        gone = [key for key in live if key not in wanted]
        for key in gone:
            way = options_of(live[key]).get("Prune")
            {"false": result.stays, "confirm": result.waits}.get(way, result.pruned).append(key)
        if result.waits:  # the operation runs until somebody approves, or its time is up
            return result
        if application["metadata"]["name"] in self.applications:  # the root deletes in its own namespace alone
            result.forbidden = [key for key in result.pruned if not self.may_delete(live[key])]
        for key in result.pruned:
            if key not in result.forbidden:
                del live[key]
        live.update(wanted)
        return result


def check_options(tally, application, objects, what):
    for value in [application, *objects.values()]:
        name = f"{what}: {value['kind']} {value['metadata']['name']}"
        used = {key.removeprefix(PREFIX) for key in value["metadata"].get("annotations", {}) if key.startswith(PREFIX)}
        tally.check(used <= ANNOTATIONS, f"{name}: {used - ANNOTATIONS}")
        for key, one in options_of(value).items():
            tally.check(one in OPTIONS.get(key, set()), f"{name}: sync option {key}={one}")
        for one in filter(None, note(value, "compare-options").split(",")):
            tally.check(one in COMPARED, f"{name}: compare option {one}")
    for key, one in app_options(application).items():
        tally.check(one in OPTIONS.get(key, set()), f"{what}: sync option {key}={one}")
    tally.check(app_options(application).get("RespectIgnoreDifferences") == "true" or not application["spec"].get("ignoreDifferences"),
                f"{what}: what is ignored is undone by the next sync")
    tally.check(not application["metadata"].get("finalizers"), f"{what}: its removal deletes everything")


def check_custom(tally, application, objects, operators, what):
    """Kinds that an operator brings are not there when the first sync looks at them."""
    for value in objects.values():
        group = value["apiVersion"].rpartition("/")[0]
        if group in BROUGHT or (group, value["kind"]) in operators:
            lenient = {**app_options(application), **options_of(value)}.get("SkipDryRunOnMissingResource")
            tally.check(lenient == "true", f"{what}: {value['kind']} fails the sync as long as its kind is not there")


def check_differences(tally, application, objects, what):
    """What others change is no difference where Git leaves it to them, and one everywhere else."""
    ignored = 0
    for rule in application["spec"].get("ignoreDifferences", []):
        tally.check(any(rule in rules_for(application, value) for value in objects.values()), f"{what}: {rule} is about nothing")
    for value in objects.values():
        tally.check(not out_of_sync(application, value, value), f"{what}: {value['kind']} differs from itself")
        left = {pointer for rule in rules_for(application, value) for pointer in rule["jsonPointers"]}
        for pointer in pointers(value):
            live = json.loads(json.dumps(value))
            place, last = at(live, pointer)
            place[last] = f"{place[last]}x"
            covered = any(pointer == one or pointer.startswith(one + "/") for one in left)
            ignored += covered
            tally.check(out_of_sync(application, value, live) != covered, f"{what}: {value['kind']} {pointer}, ignored: {covered}")
    return ignored


def check_scaled(tally, application, objects, what):
    """Numbers of machines are left to an autoscaler, and to nobody else."""
    scaled = {value["spec"]["scaleTargetRef"]["name"] for value in objects.values() if value["kind"] == "MachineAutoscaler"}
    for value in objects.values():
        if value["kind"] == "MachineSet":
            left = any("/spec/replicas" in rule["jsonPointers"] for rule in rules_for(application, value))
            tally.check(left == (value["metadata"]["name"] in scaled), f"{what}: {value['metadata']['name']}: replicas ignored: {left}")


def check_sample(tally, gpuctl, kubectl, scratch, sample, operators):
    scratch.mkdir()
    done = run([gpuctl, "render", write_variant(sample, "argocd", scratch / "in"), "-o", scratch / "out"], env=environment(scratch))
    if not tally.check(done.returncode == 0, f"{sample.stem}: {done.stderr.decode()}"):
        return 0
    cluster = next(path.parent for path in (scratch / "out").rglob("gpuctl.lock"))
    if not list(cluster.glob("layers/*/kustomization.yaml")):
        return 0  # the cluster is made, and nothing is in it
    if (cluster / "management/argocd").is_dir() and not (cluster / "argocd/bootstrap/3-root").is_dir():
        return 0  # the Argo CD of a hub syncs it, by an ApplicationSet
    argocd = Argocd(kubectl, scratch)
    argocd.sync(scratch / "out", cluster)
    ignored = 0
    for name, application in argocd.applications.items():
        what = f"argocd, {sample.stem}: {name}"
        if "chart" in application["spec"]["source"]:
            continue
        objects = argocd.live[name]
        check_options(tally, application, objects, what)
        check_custom(tally, application, objects, operators, what)
        check_scaled(tally, application, objects, what)
        ignored += check_differences(tally, application, objects, what)
    check_waves(tally, argocd, cluster, f"argocd, {sample.stem}")
    return ignored


def check_waves(tally, argocd, cluster, what):
    """The root brings the bootstrap and the project before any Application, and these in the order of the layers."""
    root = next(live for live in argocd.live.values() if any(value["kind"] == "AppProject" for value in live.values()))
    layers = sorted((wave(value), value["metadata"]["name"]) for value in root.values() if value["kind"] == "Application")
    tally.check([name for _, name in layers] == sorted(name for _, name in layers), f"{what}: waves {layers}")
    tally.check(len({number for number, _ in layers}) == len(layers), f"{what}: two layers in one wave: {layers}")
    others = [wave(value) for value in root.values() if value["kind"] != "Application"]
    tally.check(not layers or max(others) < layers[0][0], f"{what}: the bootstrap comes after {layers[0]}")
    tally.check(len(layers) == len(list(cluster.glob("layers/*/kustomization.yaml"))), f"{what}: {layers} are not all layers")


class Fleet:
    """A repository with one cluster, and Argo CD that follows it."""

    def __init__(self, tally, gpuctl, kubectl, scratch, sample="aws-p4d-mig-mixed"):
        self.tally, self.gpuctl, self.scratch = tally, gpuctl, scratch
        scratch.mkdir()
        shutil.copytree(ROOT / "blueprints", scratch / "in")
        self.blueprint = scratch / f"in/{sample}.yaml"
        self.blueprint.write_text(with_engine(self.blueprint.read_text(), "argocd"))
        self.repository = scratch / "fleet"
        self.argocd = Argocd(kubectl, scratch)

    def change(self, pattern, replacement):
        text, count = re.subn(pattern, replacement, self.blueprint.read_text(), flags=re.M)
        if count != 1:
            raise ValueError(f"{pattern} is there {count} times")
        self.blueprint.write_text(text)

    def commit(self, *more):
        done = run([self.gpuctl, "apply", self.blueprint, "--repo", self.repository, *ALLOWED, *more], env=environment(self.scratch))
        if done.returncode != 0:
            raise RuntimeError(done.stderr.decode())
        self.cluster = next(path.parent for path in self.repository.glob("clusters/*/*/gpuctl.lock"))
        return self.argocd.sync(self.repository, self.cluster)

    def live(self, kind, part=""):
        return {key: value for objects in self.argocd.live.values() for key, value in objects.items()
                if key[1] == kind and part in key[3]}

    def check(self, good, what):
        return self.tally.check(good, f"argocd, removal: {what}")

    def unhindered(self, synced, what):
        waits = {name: one.waits for name, one in synced.items() if one.waits or one.refused}
        self.check(not waits, f"{what}: held up: {waits}")
        forbidden = {name: one.forbidden for name, one in synced.items() if one.forbidden}
        self.check(not forbidden, f"{what}: may not delete: {forbidden}")


def check_removal(tally, gpuctl, kubectl, scratch):
    fleet = Fleet(tally, gpuctl, kubectl, scratch)
    fleet.unhindered(fleet.commit(), "first commit")
    fleet.check(fleet.live("MachineSet", f"-{POOL}-") and fleet.live("PrometheusRule"), "the sample has changed")
    check_slips(fleet)
    # The pool goes, and all of the layer with alerts and dashboard.
    fleet.change(rf"^    - name: {POOL}\n(?:^      .*\n|^\s*#.*\n)*", "")
    fleet.change(r"^  gpuStack:\n    monitoring:\n(?:^      .*\n)*", "")
    fleet.unhindered(fleet.commit(), "the pool leaves")
    sizes = {key[3]: value["spec"]["replicas"] for key, value in fleet.live("MachineSet", f"-{POOL}-").items()}
    fleet.check(sizes and set(sizes.values()) == {0}, f"after the first commit there are {sizes}")
    fleet.check(not fleet.live("PrometheusRule"), "alerts stay when their layer goes")
    fleet.check(any(name.endswith("-50-platform") for name in fleet.argocd.applications), "the layer goes with its last objects")
    # What comes meanwhile arrives.
    fleet.change(r"iops: 6000", "iops: 7000")
    fleet.unhindered(fleet.commit(), "another change")
    fleet.check(any("7000" in json.dumps(value) for value in fleet.live("MachineSet").values()), "a later change does not arrive")
    before = dict(fleet.argocd.live)
    fleet.unhindered(fleet.commit("--step", "2"), "the second step")
    fleet.check(not fleet.live("MachineSet", f"-{POOL}-"), "the pool stays after the second step")
    gone = [name for name in before if name not in fleet.argocd.applications and name in fleet.argocd.live
            and name != fleet.cluster.name]
    fleet.check(any(name.endswith("-50-platform") for name in gone), f"the empty layer stays: {sorted(fleet.argocd.applications)}")
    for name in gone:
        fleet.check(not fleet.argocd.live[name], f"{name} goes, and leaves {list(fleet.argocd.live[name])}")


def check_services(tally, gpuctl, kubectl, scratch):
    """Samples on OpenShift lose what they have besides machines; each commit is followed."""
    scratch.mkdir()
    seen = 0
    for sample in samples():
        text = sample.read_text()
        had = [name for name in SERVICES if re.search(rf"^  {name}:", text, re.M)]
        if not had or re.search(r"^  platform: gke$|^kind: Fleet$", text, re.M):
            continue
        fleet = Fleet(tally, gpuctl, kubectl, scratch / sample.stem, sample.stem)
        fleet.unhindered(fleet.commit(), f"{sample.stem}, first commit")
        before = sum(map(len, fleet.argocd.live.values()))
        for name in had:
            fleet.change(rf"^  {name}:.*\n(?:^(?:    |\s*#|\s*$).*\n)*", "")
        fleet.unhindered(fleet.commit(), f"{sample.stem} without {had}")
        fleet.unhindered(fleet.commit("--step", "2"), f"{sample.stem} without {had}, the second step")
        seen += sum(map(len, fleet.argocd.live.values())) < before
    tally.check(seen > 0, "argocd: no sample has services that may leave")


def check_slips(fleet):
    """Files that are lost from Git: what is protected stays, whatever the next sync does."""
    for kind, held in (("MachineSet", "waits"), ("Namespace", "stays")):
        name, key = next((name, key) for name in fleet.argocd.applications for key in fleet.argocd.live[name] if key[1] == kind)
        wanted = {other: value for other, value in fleet.argocd.live[name].items() if other != key}
        result = fleet.argocd.one(fleet.argocd.applications[name], wanted)
        fleet.check(getattr(result, held) == [key] and key in fleet.argocd.live[name], f"a lost {kind} {result}")


def check_argocd(tally, gpuctl, kubectl, scratch):
    folder = scratch / "argocd"
    folder.mkdir()
    operators = set(published(FOLDERS[0]))
    try:
        ignored = sum(check_sample(tally, gpuctl, kubectl, folder / sample.stem, sample, operators) for sample in samples())
        tally.check(ignored > 0, "argocd: nothing is left to others")
        check_removal(tally, gpuctl, kubectl, folder / "removal")
        check_services(tally, gpuctl, kubectl, folder / "services")
    except Exception as problem:  # the other parts go on
        tally.check(False, f"argocd: {type(problem).__name__}: {problem}")
