#!/usr/bin/env python3
"""The script of the Job that tests the data science platform, with a program in place of `oc`.

The Job is rendered, its script runs in the shell of this machine, and a small cluster answers: it has a
DataScienceCluster, which says something else each time that it is read. What the program is asked for is what the role
of the Job grants.
"""

import json
import os
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from support import jobs  # noqa: E402
from support.program import ROOT, Tally, arguments  # noqa: E402

RIGHTS = ROOT / "templates/open-data-hub/test-rights.yaml"
BLUEPRINT = ROOT / "blueprints/aws-openshift-ai.yaml"

# What the real program does for these arguments. An answer that is no object is an error; the last one stays.
OC = '''#!/usr/bin/env python3
import json, os, sys
path = os.environ["CLUSTER"]
answers = json.load(open(path))
words = sys.argv[1:]
if words[:4] != ["get", "datascienceclusters.datasciencecluster.opendatahub.io/default-dsc", "--request-timeout=30s", "-o"]:
    sys.exit("unexpected: " + " ".join(words))
assert words[4:] == ["""jsonpath={.metadata.generation}|{.status.observedGeneration}|{.status.phase}{"\\\\n"}"""
                     """{range .status.conditions[*]}{.type}|{.status}|{.severity}|{.reason}|{.message}{"\\\\n"}{end}"""], words
answer = answers[0]
if len(answers) > 1:
    json.dump(answers[1:], open(path, "w"))
if isinstance(answer, str):
    sys.exit(answer)
status = answer.get("status", {})
print(answer["generation"], status.get("observedGeneration", ""), status.get("phase", ""), sep="|")
for one in status.get("conditions", []):
    print(*(one.get(key, "") for key in ("type", "status", "severity", "reason", "message")), sep="|")
'''

# In place of waiting, and of the clock: each round takes 300 seconds.
SLEEP = '''#!/bin/sh
[ "$1" = 10 ] || exit 9
echo round >>"$CLUSTER.rounds"
'''
DATE = '''#!/bin/sh
[ "$*" = +%s ] || exit 9
echo $((1700000000 + 300 * $(wc -l <"$CLUSTER.rounds")))
'''

OFF = {"type": "RayReady", "status": "False", "severity": "Info", "reason": "Removed",
       "message": "Component ManagementState is set to Removed"}


def condition(kind, status, reason="", message=""):
    return {"type": kind, "status": status} | ({"reason": reason} if reason else {}) | ({"message": message} if message else {})


def object_of(phase, conditions, generation=2, observed=None):
    status = {"phase": phase, "conditions": conditions}
    return {"generation": generation, "status": status | ({"observedGeneration": observed} if observed else {})}


GOOD = [condition("Ready", "True"), condition("ComponentsReady", "True"), condition("DashboardReady", "True"), OFF]
READY = object_of("Ready", GOOD, observed=2)
STALE = object_of("Ready", GOOD, generation=3, observed=2)
BAD = [condition("Ready", "False", "NotReady", "Some components are not ready: kserve"),
       condition("ComponentsReady", "False", "NotReady", "Some components are not ready: kserve"),
       condition("DashboardReady", "True"), OFF,
       condition("KserveReady", "False", "DeploymentsNotReady", "1/2 deployments ready | $(touch broken) `touch broken`")]
UNREADY = object_of("Not Ready", BAD, observed=1)
LATER = object_of("Not Ready", [*BAD[:4], condition("KserveReady", "Unknown", "", "first\nsecond line|False|")])
ABSENT = "error: the server doesn't have a resource type \"datascienceclusters\""
KSERVE = "  KserveReady: DeploymentsNotReady 1/2 deployments ready | $(touch broken) `touch broken`\n"
DONE = "the DataScienceCluster is Ready: aipipelines dashboard kserve workbenches\n"

# What it is about, what the cluster says in turn, how it ends, lines that are said once each, and what is not said.
CASES = [
    ("it is ready", [READY], 0, [DONE], ["not Ready", "RayReady"]),
    ("it gets ready", [ABSENT, "not found", UNREADY, UNREADY, READY], 0,
     [ABSENT, "the DataScienceCluster: it cannot be read\n", "the DataScienceCluster: Not Ready\n", KSERVE,
      "  ComponentsReady: NotReady Some components are not ready: kserve\n", DONE], ["RayReady", "  Ready:", "DashboardReady:"]),
    ("it was ready of another generation", [STALE, STALE, object_of("Ready", GOOD, 3, 3)], 0,
     ["its operator has not taken up the last change", DONE], ["RayReady"]),
    ("the operator is not there yet", [{"generation": 1}, READY], 0, ["its operator has said nothing yet", DONE], []),
    ("another reason, and a message of several lines", [UNREADY, LATER, READY], 0, [KSERVE, "  KserveReady:  first\n", DONE],
     ["second"]),
    ("it never gets ready", [UNREADY], 1, ["not Ready after 3600 seconds; the last state: Not Ready\n"], [DONE]),
    ("it is ready of another generation for ever", [STALE], 1, ["not Ready after 3600 seconds"], [DONE]),
    ("it is never read", [ABSENT], 1, ["not Ready after 3600 seconds; the last state: it cannot be read\n"], [DONE]),
    ("nothing is ever said of it", [{"generation": 1}], 1, ["the last state: its operator has said nothing yet\n"], [DONE]),
]


def run(container, answers, scratch):
    state = scratch / "cluster.json"
    state.write_text(json.dumps(answers))
    pathlib.Path(f"{state}.rounds").write_text("")
    variables = {one["name"]: one["value"] for one in container["env"]}
    variables |= {"CLUSTER": str(state), "PATH": f"{scratch}:{os.environ['PATH']}"}
    code, said = jobs.run_script(container, variables)
    return code, said, pathlib.Path(f"{state}.rounds").read_text().count("\n")


def check_cases(tally, container, scratch):
    for what, answers, code, lines, never in CASES:
        ended, said, rounds = run(container, answers, scratch)
        wrong = [f"`{line}` {said.count(line)} times" for line in lines if code == 0 and said.count(line) != 1
                 or line not in said]
        wrong += [f"says `{line}`" for line in never if line in said]
        wrong += ["waits for too long"] if rounds > 12 else []
        tally.check(ended == code and not wrong,
                    f"{what}: ended with {ended} after {rounds} rounds; {'; '.join(wrong)}\n{said}")


def main():
    options, tally = arguments(__doc__), Tally()
    with tempfile.TemporaryDirectory() as temporary:
        scratch = pathlib.Path(temporary)
        job = jobs.rendered(options.gpuctl, BLUEPRINT, scratch, "job-*-data-science-ready-*.yaml")
        for name, text in (("oc", OC), ("sleep", SLEEP), ("date", DATE)):
            jobs.put_program(scratch, name, text)
        container = jobs.container_of(job)
        check_cases(tally, container, scratch)
        tally.check(not (scratch / "broken").exists() and not pathlib.Path("broken").exists(), "what a condition says is run")
        # The script ends first: the deadline of the Job would take its log away.
        waits = {one["name"]: one["value"] for one in container["env"]}["SECONDS_TO_WAIT"]
        tally.check(job["spec"]["activeDeadlineSeconds"] >= int(waits) + 300,
                    f"the Job ends after {job['spec']['activeDeadlineSeconds']} seconds, the script after {waits}")
        # Each call is for one object, by its name.
        calls = re.findall(r"\boc ([a-z]+)", container["args"][0])
        rules = jobs.body_of(RIGHTS)["rules"]
        granted = [{"apiGroups": ["datasciencecluster.opendatahub.io"], "resources": ["datascienceclusters"],
                    "resourceNames": ["default-dsc"], "verbs": calls}]
        tally.check(rules == granted, f"asks for {granted}, and is granted {rules}")
    tally.close()


if __name__ == "__main__":
    main()
