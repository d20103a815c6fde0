#!/usr/bin/env python3
"""Our MachineSets are the installer's own, but for what a GPU machine has to have otherwise.

Each case of ../shared/conformance/machinesets holds what the code of openshift-install wrote for
its worker pool. tests/conformance/machinesets/CASE has a blueprint whose GPU pool asks for the
same, and facts. Every field of either side must be equal, or stand in differences.yaml with the
value of both sides and the reason; an entry that is not needed is a failure too. worker.yaml has
the same machines as a pool without GPUs that stands for the installer's own: there only entries
with `workers: true` count.

Each case runs with the release whose installer was measured, and again with an older one.
"""

import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from support.program import SHARED, Tally, arguments, environment, run, skip  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent / "machinesets"
CASES = SHARED / "conformance/machinesets"
RELEASES = ["5.0", "4.20"]  # the measured one first: blueprints are written for it
POOL = "gpu"  # of our blueprints; the installer's is `worker`
ABSENT = "(absent)"
ENTRY_KEYS = {"path", "installer", "ours", "because", "cases", "releases", "workers"}


def parts_of(pointer):
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def step(node, part):
    if isinstance(node, list):
        index = int(part) if part.isdigit() else -1
        return node[index] if 0 <= index < len(node) else ABSENT
    return node.get(part, ABSENT) if isinstance(node, dict) else ABSENT


def value_at(node, pointer):
    for part in parts_of(pointer):
        node = step(node, part)
    return node


def remove_at(node, pointer):
    *way, last = parts_of(pointer)
    for part in way:
        node = step(node, part)
    if isinstance(node, list):
        del node[int(last)]
    elif isinstance(node, dict):
        node.pop(last, None)


def leaves(node, pointer=""):
    """Pointer -> scalar or empty container, of all that is in the node."""
    if isinstance(node, dict) and node:
        items = [(key.replace("~", "~0").replace("/", "~1"), value) for key, value in node.items()]
    elif isinstance(node, list) and node:
        items = [(str(index), value) for index, value in enumerate(node)]
    else:
        return {pointer: node}
    found = {}
    for key, value in items:
        found.update(leaves(value, f"{pointer}/{key}"))
    return found


def same(left, right):
    """Equal in value and type: in YAML `1`, `true` and `"1"` are three things."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right


def without_artefacts(machine_set):
    """What the INDEX of the cases names as traces of how Go writes objects."""
    machine_set.pop("status", None)
    template = machine_set["spec"]["template"]
    value = template["spec"]["providerSpec"]["value"]
    for node, key, empty in ((machine_set["metadata"], "creationTimestamp", None),
                             (template["metadata"], "creationTimestamp", None),
                             (template["spec"], "lifecycleHooks", {}),
                             (template["spec"], "metadata", {}),
                             (value, "metadata", {})):
        if key in node and node[key] == empty:
            del node[key]
    return machine_set


def with_pool_name(machine_set, infra):
    """Our MachineSet with the installer's name of the pool, in the three places that have it."""
    template = machine_set["spec"]["template"]
    key = "machine.openshift.io/cluster-api-machineset"
    for node, name in ((machine_set["metadata"], "name"),
                       (machine_set["spec"]["selector"]["matchLabels"], key),
                       (template["metadata"]["labels"], key)):
        node[name] = re.sub(rf"^{re.escape(infra)}-{POOL}-", f"{infra}-worker-", node[name])
    return machine_set


def read_differences(yaml, tally, cases):
    entries = yaml.safe_load((HERE / "differences.yaml").read_text())
    for number, entry in enumerate(entries):
        where = f"differences.yaml, entry {number + 1} ({entry.get('path')})"
        tally.check(set(entry) <= ENTRY_KEYS and {"path", "installer", "ours", "because"} <= set(entry),
                    f"{where}: has the keys {sorted(entry)}")
        tally.check(not same(entry["installer"], entry["ours"]), f"{where}: names no difference")
        for case in entry.get("cases", []):
            tally.check(case in cases, f"{where}: there is no case {case}")
        for release in entry.get("releases", []):
            tally.check(release in RELEASES, f"{where}: release {release} is not tested")
    return entries


def compare(tally, what, theirs, ours, entries, used):
    """`used` collects the entries that were needed."""
    for entry in entries:
        pair = value_at(theirs, entry["path"]), value_at(ours, entry["path"])
        if same(pair[0], entry["installer"]) and same(pair[1], entry["ours"]):
            used.add(id(entry))
            for side in (theirs, ours):
                if value_at(side, entry["path"]) != ABSENT:
                    remove_at(side, entry["path"])
        else:
            tally.check(False, f"{what}: {entry['path']} is listed as {entry['installer']!r} and "
                               f"{entry['ours']!r}, but is {pair[0]!r} and {pair[1]!r}")
    left, right = leaves(theirs), leaves(ours)
    for pointer in sorted(set(left) | set(right)):
        pair = left.get(pointer, ABSENT), right.get(pointer, ABSENT)
        tally.check(same(*pair), f"{what}: {pointer}: the installer has {pair[0]!r}, we have {pair[1]!r}")


def blueprint_for(text, release):
    """The case's blueprint for another release; streams of the operating system came with 5.0."""
    if release == RELEASES[0]:
        return text
    changed, times = re.subn(r"^  openshift: \{.*\}$", f'  openshift: {{version: "{release}"}}', text,
                             flags=re.M)
    return changed if times == 1 else ""


def render(tally, yaml, gpuctl, folder, release, scratch, workers):
    """Our MachineSets by name, or None. With `workers` those of the pool in worker.yaml."""
    text = blueprint_for((folder / "blueprint.yaml").read_text(), release)
    if not tally.check(text, f"{folder.name}: wants one line `openshift: {{...}}`"):
        return None
    if workers:
        blueprint = yaml.safe_load(text)
        del blueprint["spec"]["gpuPools"]
        pools = yaml.safe_load((folder / "worker.yaml").read_text())["machinePools"]
        blueprint["spec"]["machinePools"] = pools
        text = yaml.safe_dump(blueprint)
    scratch.mkdir()
    (scratch / "blueprint.yaml").write_text(text)
    done = run([gpuctl, "render", scratch / "blueprint.yaml", "--facts", folder / "facts.yaml",
                "-o", scratch / "out"], env=environment(scratch))
    if not tally.check(done.returncode == 0, f"{folder.name}: render: {done.stderr.decode()}"):
        return None
    found = [yaml.safe_load(path.read_text())
             for path in (scratch / "out").rglob("layers/*/machineset-*.yaml")]
    return {machine_set["metadata"]["name"]: machine_set for machine_set in found}


def check_case(tally, yaml, gpuctl, case, release, scratch, entries, used, workers):
    what = f"{case} with {release}{', workers' if workers else ''}"
    ours = render(tally, yaml, gpuctl, HERE / case, release, scratch, workers)
    if ours is None:
        return
    infra = yaml.safe_load((HERE / case / "facts.yaml").read_text())["spec"]["infraID"]
    ours = [with_pool_name(without_artefacts(machine_set), infra) for machine_set in ours.values()]
    ours = {machine_set["metadata"]["name"]: machine_set for machine_set in ours}
    text = (CASES / case / "expected/machinesets.yaml").read_text()
    theirs = [without_artefacts(document) for document in yaml.safe_load_all(text) if document]
    theirs = {machine_set["metadata"]["name"]: machine_set for machine_set in theirs}
    tally.check(theirs and set(theirs) == set(ours),
                f"{what}: the installer makes {sorted(theirs)}, we make {sorted(ours)}")
    applying = [entry for entry in entries if case in entry.get("cases", [case])
                and release in entry.get("releases", [release])
                and (entry.get("workers") or not workers)]
    for name in sorted(set(theirs) & set(ours)):
        compare(tally, f"{what}: {name}", theirs[name], ours[name], applying, used)


def main():
    gpuctl = arguments(__doc__).gpuctl
    if not CASES.exists():
        skip("MachineSets of the installer", "../shared/conformance is absent")
    try:
        import yaml
    except ImportError:
        skip("MachineSets of the installer", "Python has no yaml (package python3-yaml)")
    tally = Tally()
    given = {path.name for path in CASES.iterdir() if path.is_dir()}
    written = {path.name for path in HERE.iterdir() if path.is_dir()}
    # The cases lie outside the project and may grow without it.
    for case in sorted(given - written):
        print(f"NOT COMPARED: {case}: no blueprint for it in {HERE.relative_to(HERE.parent.parent.parent)}")
    for case in sorted(written - given):
        tally.check(False, f"{case}: there is no such case")
    cases = sorted(given & written)
    entries = read_differences(yaml, tally, cases)
    used = set()
    with tempfile.TemporaryDirectory(prefix="machinesets-") as temporary:
        for case in cases:
            for release in RELEASES:
                worker = yaml.safe_load((HERE / case / "worker.yaml").read_text())
                for workers in (False, True):
                    # An older installer may not know a field, and the install-config has it as well.
                    if workers and release not in worker.get("releases", RELEASES):
                        continue
                    scratch = pathlib.Path(temporary) / f"{case}-{release}-{workers}"
                    check_case(tally, yaml, gpuctl, case, release, scratch, entries, used, workers)
    for number, entry in enumerate(entries):
        tally.check(id(entry) in used,
                    f"differences.yaml, entry {number + 1} ({entry['path']}): no case needs it")
    tally.close()


if __name__ == "__main__":
    main()
