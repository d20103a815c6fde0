#!/usr/bin/env python3
"""The script of the Job that approves what is pinned, with a program in place of `oc`.

The Job is rendered, its script runs in the shell of this machine, and a small cluster answers: it has
Subscriptions, install plans and versions, and does what the Operator Lifecycle Manager would do once a
plan is approved. What the name of the Job does not tell is held by its edition: editions.txt has the
digest of each.
"""

import json
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from support import jobs  # noqa: E402
from support.program import ROOT, Tally, arguments  # noqa: E402

TEMPLATE = ROOT / "templates/openshift/operator-approver.yaml"
EDITIONS = ROOT / "tests/approver/editions.txt"

# What the real program prints for these arguments, from a file that stands for the cluster.
OC = '''#!/usr/bin/env python3
import json, os, sys
path = os.environ["CLUSTER"]
cluster = json.load(open(path))
def save():
    with open(path + ".new", "w") as file:  # the shell may be stopped at any time
        json.dump(cluster, file)
    os.replace(path + ".new", path)
words = sys.argv[1:]
assert words[:2] == ["-n", "space"], words
verb, kind = words[2], words[3].split(".")[0]
if cluster.get("down"):
    cluster["down"] -= 1
    save()
    sys.exit("the server is away")
if verb == "get" and kind == "subscriptions":
    if words[6] == "jsonpath={.status.installPlanRef.name}":
        waits = [name for name, versions in cluster["plans"].items()
                 if any(one.startswith(words[4] + ".") for one in versions)]
        print(cluster["waits"].get(words[4], waits[-1] if waits else ""), end="")
    else:
        assert words[5:] == ["-o", "jsonpath={.status.installedCSV}"], words
        print(cluster["installed"].get(words[4], ""), end="")
elif verb == "get" and kind == "clusterserviceversions":
    assert words[5:] == ["-o", "jsonpath={.status.phase}"], words
    left = cluster["installing"].get(words[4], 0)
    if left:
        cluster["installing"][words[4]] = left - 1
    print("Installing" if left else "Succeeded", end="")
elif verb == "get" and kind == "installplans":
    assert words[5:] == ["-o", "jsonpath={.spec.approved} {.spec.clusterServiceVersionNames[*]}"], words
    print("true" if words[4] in cluster["approved"] else "false", *cluster["plans"][words[4]])
elif verb == "patch" and kind == "installplans":
    assert words[5:] == ["--type", "merge", "--patch", '{"spec":{"approved":true}}'], words
    cluster["approved"].append(words[4])
    for version in cluster["plans"][words[4]]:
        cluster["installed"][version.split(".")[0]] = version
        cluster["installing"][version] = 2
        cluster["waits"].pop(version.split(".")[0], None)
else:
    sys.exit("unexpected: " + " ".join(words))
save()
'''

# In place of waiting: the script ends with it after some rounds.
ENOUGH = 77
SLEEP = f'''#!/bin/sh
echo round >>"$CLUSTER.rounds"
[ "$(wc -l <"$CLUSTER.rounds")" -lt 8 ] || exit {ENOUGH}
'''

PIN = "gpu-operator-certified"
LINE = f"{PIN} {PIN}.v26.7.*"
EXACT = f"{PIN} {PIN}.v26.7.1"
BOTH = f"{LINE}\nother other.*"
# What it is about, pins, cluster, and then: how it ends and what is approved.
CASES = [
    ("the first installation", LINE, {"plans": {"a": [f"{PIN}.v26.7.0"]}}, 0, ["a"]),
    ("all is there", LINE, {"plans": {"a": [f"{PIN}.v26.7.2"]}, "installed": {PIN: f"{PIN}.v26.7.0"}}, 0, []),
    ("another line", LINE, {"plans": {"a": [f"{PIN}.v26.3.4"], "b": [f"{PIN}.v26.7.0"]},
                            "installed": {PIN: f"{PIN}.v26.3.3"}}, 0, ["b"]),
    ("a plan that brings something else, too", LINE, {"plans": {"a": [f"{PIN}.v26.7.0", "stranger.v1"]}}, ENOUGH, []),
    ("a plan of a line that is not pinned", LINE, {"plans": {"a": [f"{PIN}.v26.11.0"]}}, ENOUGH, []),
    ("a plan without versions", LINE, {"plans": {"a": []}}, ENOUGH, []),
    ("no plan yet", LINE, {"plans": {}}, ENOUGH, []),
    ("the exact version", EXACT, {"plans": {"a": [f"{PIN}.v26.7.10"], "b": [f"{PIN}.v26.7.1"]}}, 0, ["b"]),
    ("the exact version waits behind another", EXACT, {"plans": {"a": [f"{PIN}.v26.7.10"], "b": [f"{PIN}.v26.7.1"]},
                                                       "waits": {PIN: "a"}}, ENOUGH, []),
    ("another version than the exact one", EXACT, {"plans": {"a": [f"{PIN}.v26.7.10"]}}, ENOUGH, []),
    ("two operators in a plan", BOTH, {"plans": {"a": [f"{PIN}.v26.7.0", "other.v1.2"]}}, 0, ["a"]),
    ("one of two is there", BOTH, {"plans": {"a": [f"{PIN}.v26.7.5"], "b": ["other.v1.2"]},
                                   "installed": {PIN: f"{PIN}.v26.7.0"}}, 0, ["b"]),
    ("an older plan that fits as well", LINE, {"plans": {"a": [f"{PIN}.v26.7.1"], "b": [f"{PIN}.v26.7.0"]},
                                               "waits": {PIN: "a"}}, 0, ["a"]),
    ("the server is away while a newer version waits", LINE, {"plans": {"a": [f"{PIN}.v26.7.1"]}, "down": 5,
                                                              "installed": {PIN: f"{PIN}.v26.7.0"}}, 0, []),
    ("the server is away at first", LINE, {"plans": {"a": [f"{PIN}.v26.7.0"]}, "down": 3}, 0, ["a"]),
]


def run(container, pins, cluster, scratch):
    """Exit code, the cluster afterwards, and what it said."""
    state = scratch / "cluster.json"
    state.write_text(json.dumps({"installed": {}, "installing": {}, "approved": [], "waits": {}} | cluster))
    environment = {one["name"]: one["value"] for one in container["env"]}
    assert set(environment) == {"NAMESPACE", "PINS", "SECONDS_BETWEEN"}, environment
    environment |= {"NAMESPACE": "space", "PINS": pins, "CLUSTER": str(state),
                    "PATH": f"{scratch}:{os.environ['PATH']}"}
    pathlib.Path(f"{state}.rounds").unlink(missing_ok=True)
    code, said = jobs.run_script(container, environment)
    return code, json.loads(state.read_text()), said


def main():
    options, tally = arguments(__doc__), Tally()
    with tempfile.TemporaryDirectory() as temporary:
        scratch = pathlib.Path(temporary)
        job = jobs.rendered(options.gpuctl, ROOT / "blueprints/aws-minimal.yaml", scratch,
                            "job-nvidia-gpu-operator-operator-approver-*.yaml")
        container = jobs.container_of(job)
        fault = jobs.edition_fault(job, ("PINS", "NAMESPACE"), TEMPLATE, EDITIONS)
        tally.check(not fault, fault)
        for name, text in (("oc", OC), ("sleep", SLEEP)):
            jobs.put_program(scratch, name, text)
        for what, pins, cluster, code, approved in CASES:
            ended, after, said = run(container, pins, cluster, scratch)
            tally.check((ended, after["approved"]) == (code, approved),
                        f"{what}: ended with {ended}, approved {after['approved']}\n{said}")
    tally.close()


if __name__ == "__main__":
    main()
