#!/usr/bin/env python3
"""The script of the Job that enables the console plug-in, with a program in place of `oc`.

The Job is rendered, its script runs in the shell of this machine, and a small cluster answers: it has a Deployment
that is available or not, and the Console `cluster` with its list of plug-ins and a version, which patches test as the
API server does it. The rights that the Job is given are no more than what the script asks for.
"""

import json
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from support import jobs  # noqa: E402
from support.program import ROOT, Tally, arguments  # noqa: E402

TEMPLATES = ROOT / "templates/gpu-monitoring-openshift"
EDITIONS = pathlib.Path(__file__).with_name("editions.txt")
BLUEPRINT = ROOT / "tests/golden/render/openshift-console-plugin/blueprint.yaml"
PLUGIN = "console-plugin-nvidia-gpu"

# What the real program does for these arguments, from a file that stands for the cluster.
OC = '''#!/usr/bin/env python3
import json, os, sys
path = os.environ["CLUSTER"]
cluster = json.load(open(path))
def save():
    with open(path + ".new", "w") as file:  # the shell may be stopped at any time
        json.dump(cluster, file)
    os.replace(path + ".new", path)
def leave(why):
    save()
    sys.exit(why)
words = sys.argv[1:]
if cluster["down"]:
    cluster["down"] -= 1
    leave("the server is away")
if words == ["-n", "space", "get", "deployments.apps/console-plugin-nvidia-gpu", "-o",
             'jsonpath={.status.conditions[?(@.type=="Available")].status}']:
    cluster["asked"].append("get apps/deployments")
    if cluster["unserved"] is None:
        leave("deployments.apps not found")
    print("False" if cluster["unserved"] else "True", end="")
    cluster["unserved"] = max(0, cluster["unserved"] - 1)
elif words == ["get", "consoles.operator.openshift.io/cluster", "-o",
               "jsonpath={.metadata.resourceVersion} {.spec.plugins[*]}"]:
    cluster["asked"].append("get operator.openshift.io/consoles")
    print(cluster["version"], " ".join(cluster["plugins"] or []), end="")
elif words[:5] == ["patch", "consoles.operator.openshift.io/cluster", "--type", "json", "--patch"] and len(words) == 6:
    cluster["asked"].append("patch operator.openshift.io/consoles")
    if cluster["forbidden"]:
        leave("Forbidden")
    if cluster["others"]:  # somebody else is faster
        cluster["plugins"] = (cluster["plugins"] or []) + [cluster["others"].pop(0)]
        cluster["version"] += 1
    test, add = json.loads(words[5])
    assert (test["op"], test["path"], add["op"]) == ("test", "/metadata/resourceVersion", "add"), words
    assert isinstance(test["value"], str), words
    if test["value"] != str(cluster["version"]):
        leave("the server rejected our request due to an error in our request")
    if add["path"] == "/spec/plugins":
        cluster["plugins"] = add["value"]
    elif add["path"] == "/spec/plugins/-" and cluster["plugins"] is not None:
        cluster["plugins"].append(add["value"])
    else:
        leave("doc is missing path")
    cluster["version"] += 1
    cluster["patches"] += 1
else:
    leave("unexpected: " + " ".join(words))
save()
'''

# In place of waiting: the script ends with it after some rounds.
ENOUGH = 77
SLEEP = f'''#!/bin/sh
echo round >>"$CLUSTER.rounds"
[ "$(wc -l <"$CLUSTER.rounds")" -lt 8 ] || exit {ENOUGH}
'''

# What it is about, the cluster, and then: how it ends, the list, and how often it was changed by the Job.
CASES = [
    ("a list with others", {"plugins": ["monitoring-plugin", "odf"]}, 0, ["monitoring-plugin", "odf", PLUGIN], 1),
    ("no list", {"plugins": None}, 0, [PLUGIN], 1),
    ("an empty list", {"plugins": []}, 0, [PLUGIN], 1),
    ("it is there", {"plugins": ["odf", PLUGIN, "acm"]}, 0, ["odf", PLUGIN, "acm"], 0),
    ("it is there alone", {"plugins": [PLUGIN]}, 0, [PLUGIN], 0),
    ("names that only resemble it", {"plugins": [PLUGIN + "-next", "my-" + PLUGIN]}, 0,
     [PLUGIN + "-next", "my-" + PLUGIN, PLUGIN], 1),
    ("others are faster, twice", {"plugins": ["odf"], "others": ["acm", "mce"]}, 0, ["odf", "acm", "mce", PLUGIN], 1),
    ("somebody else adds it meanwhile", {"plugins": ["odf"], "others": [PLUGIN]}, 0, ["odf", PLUGIN], 0),
    ("it is served later", {"plugins": ["odf"], "unserved": 3}, 0, ["odf", PLUGIN], 1),
    ("it is never served", {"plugins": ["odf"], "unserved": 100}, ENOUGH, ["odf"], 0),
    ("there is no Deployment", {"plugins": ["odf"], "unserved": None}, ENOUGH, ["odf"], 0),
    ("the server is away at first", {"plugins": ["odf"], "down": 3}, 0, ["odf", PLUGIN], 1),
    ("the Job may not", {"plugins": ["odf"], "forbidden": True}, ENOUGH, ["odf"], 0),
]
UNTOUCHED = {"version": 41, "unserved": 0, "down": 0, "others": [], "forbidden": False, "asked": [], "patches": 0}


def run(container, cluster, scratch):
    """Exit code, the cluster afterwards, and what the script said."""
    state = scratch / "cluster.json"
    state.write_text(json.dumps(UNTOUCHED | cluster))
    variables = {one["name"]: one["value"] for one in container["env"]}
    assert set(variables) == {"NAMESPACE", "SECONDS_BETWEEN"}, variables
    variables |= {"NAMESPACE": "space", "CLUSTER": str(state), "PATH": f"{scratch}:{os.environ['PATH']}"}
    pathlib.Path(f"{state}.rounds").unlink(missing_ok=True)
    code, said = jobs.run_script(container, variables)
    return code, json.loads(state.read_text()), said


def granted():
    """What the roles of the Job allow, each with the one object that it is about."""
    rights = set()
    for name in ("role", "cluster-role"):
        role = jobs.body_of(TEMPLATES / f"console-plugin-enabler-{name}.yaml")
        for rule in role["rules"]:
            assert len(rule["resourceNames"]) == 1, rule
            rights |= {f"{verb} {group}/{resource}" for verb in rule["verbs"] for group in rule["apiGroups"]
                       for resource in rule["resources"]}
    return rights


def main():
    options, tally = arguments(__doc__), Tally()
    asked = set()
    with tempfile.TemporaryDirectory() as temporary:
        scratch = pathlib.Path(temporary)
        job = jobs.rendered(options.gpuctl, BLUEPRINT, scratch, "job-*-console-plugin-enabler-*.yaml")
        container = jobs.container_of(job)
        fault = jobs.edition_fault(job, (), TEMPLATES / "console-plugin-enabler.yaml", EDITIONS)
        tally.check(not fault, fault)
        for name, text in (("oc", OC), ("sleep", SLEEP)):
            jobs.put_program(scratch, name, text)
        for what, cluster, code, plugins, patches in CASES:
            ended, after, said = run(container, cluster, scratch)
            asked |= set(after["asked"])
            tally.check((ended, after["plugins"], after["patches"]) == (code, plugins, patches),
                        f"{what}: ended with {ended}, {after['plugins']}, {after['patches']} patches\n{said}")
    tally.check(asked == granted(), f"asks for {sorted(asked)}, and is granted {sorted(granted())}")
    tally.close()


if __name__ == "__main__":
    main()
