#!/usr/bin/env python3
"""ClusterPolicies that the console makes, of every release line that gpuctl knows, come back in few words.

Each is imported as it was written and as the API server gives it back, with the Subscription of its line and without;
all of it comes back (tests/imports/run.py compares). What the console offers needs no override at all, and what
people set in its form overrides of at most 15 values. How many they have is printed.
"""

import copy
import pathlib
import sys
import tempfile

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import imports.run as imports  # noqa: E402
from support import yaml_text  # noqa: E402
from support.program import ROOT, Tally, arguments  # noqa: E402

FILE = pathlib.Path(__file__).with_name("console_policies.yaml")
LINES = ROOT / "providers/gpu-operator/tables/gpu-operator-releases.yaml"
MOST = 15


def merged(*trees):
    out = {}
    for tree in trees:
        for key, value in tree.items():
            out[key] = merged(out.get(key, {}), value) if isinstance(value, dict) else copy.deepcopy(value)
    return out


def subscription(channel):
    return {"apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription",
            "metadata": {"name": "gpu-operator-certified", "namespace": "nvidia-gpu-operator"},
            "spec": {"channel": channel, "name": "gpu-operator-certified", "source": "certified-operators",
                     "sourceNamespace": "openshift-marketplace", "installPlanApproval": "Automatic"}}


def policies(known):
    """(name, documents) of all that is tried."""
    for line, own in known["lines"].items():
        for index, changed in enumerate(known["changed"]):
            for read in (False, True):
                for channel in (None, line):
                    spec = merged(known["common"], own, known["filled"][line] if read else {}, changed)
                    policy = {"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy",
                              "metadata": {"name": "gpu-cluster-policy"}, "spec": spec}
                    if read:
                        policy["metadata"] |= {"uid": "5f6c0d1e-7f5e-4d8e-9a43-0c9d7a1c2b3d", "generation": 3}
                        policy["status"] = {"namespace": "nvidia-gpu-operator", "state": "ready"}
                    name = f"{line}, change {index}, {'read' if read else 'written'}"
                    yield (name + (", subscribed" if channel else ""), line, MOST if changed else 0,
                           [policy] + ([subscription(channel)] if channel else []))


def main():
    options = arguments(__doc__)
    tally = Tally()
    known = yaml_text.load(FILE.read_text(encoding="utf-8"))
    table = yaml_text.load(LINES.read_text(encoding="utf-8"))
    channels = {row["channel"] for row in table["spec"]["rows"]}
    tally.check(channels <= known["lines"].keys(), f"no policies of {channels - known['lines'].keys()}")
    most = {}
    for name, line, allowed, documents in policies(known):
        with tempfile.TemporaryDirectory() as folder:
            case = pathlib.Path(folder) / name
            (case / "input").mkdir(parents=True)
            (case / "input/policy.yaml").write_text(yaml.safe_dump_all(documents), encoding="utf-8")
            (case / "cmd").write_text("import '{case}/input' -o {out}\n", encoding="utf-8")
            found = imports.foreign(options.gpuctl, case, tally)
            if found is not None:
                tally.check(found <= allowed, f"{name}: overrides of {found} values")
                most[line] = max(most.get(line, 0), found)
    print("most values of overrides: " + ", ".join(f"{line} {count}" for line, count in most.items()))
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
