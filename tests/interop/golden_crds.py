#!/usr/bin/env python3
"""All that the golden cases render stands up to the published CRDs.

Golden output must not depend on which CRDs lie in ../shared, so no case names them. Each `render` or
`validate` of a blueprint that is expected to succeed runs here again, with the CRDs of the operator
lines that the cluster uses before the newest ones. Needs the published schemas beside the project (../shared/schemas).
"""

import concurrent.futures
import os
import pathlib
import re
import shlex
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from golden import cases as golden_cases  # noqa: E402
from golden.run import environment  # noqa: E402
from interop.crds import SCHEMAS, crd_options, unpublished  # noqa: E402
from support.program import ROOT, Tally, arguments, run, skip  # noqa: E402

# Groups of cases about clusters as users would have them.
GROUPS = ("policy", "render", "rules", "versions", "apply")
# What a schema says, and a rule of a schema that was not understood.
OBJECTION = re.compile(r"^(?:error\[GPU02\d\d\]|(?:note|warning)\[GPU0220\]).*$", re.M)
# Kinds that ../shared/schemas has no CRD of: that of ComputeClass is published nowhere.
UNSEEN = {"cloud.google.com/v1 ComputeClass", "config.openshift.io/v1 OperatorHub", "monitoring.googleapis.com/v1 PodMonitoring"}
FEWEST = 50


def renderings(case):
    """The words of each `render` into a directory that ends well and brings no CRDs of its own, and of
    each `validate` of blueprints, as a `render`."""
    lines = case.runs()
    for line, code in zip(lines, golden_cases.expected_exits(case, len(lines))):
        words = [word.replace("{case}", str(case.folder)).replace("{root}", str(ROOT)) for word in shlex.split(line)]
        if code != 0 or "--crds" in words:
            continue
        if words[0] == "render" and "-o" in words:
            yield words
        elif words[0] == "validate" and all(golden_cases.is_blueprint(case.folder / word) for word in words[1:]):
            yield ["render", *words[1:], "-o", "{out}"]


def objections(gpuctl, case, words, without):
    """What the CRDs object to in the clusters of one run: a text, empty when nothing. `without` takes kinds that have none."""
    with tempfile.TemporaryDirectory(prefix="golden-crds-") as temporary:
        scratch = pathlib.Path(temporary)
        words = [word.replace("{out}", str(scratch / "out")) for word in words]
        done = run([gpuctl, *words], cwd=case.folder, env=environment(case.folder, scratch))
        if done.returncode != 0:
            return f"exit code {done.returncode}\n{done.stderr.decode()}"
        locks = sorted((scratch / "out").rglob("gpuctl.lock"))
        if not locks:
            return "no cluster was rendered"
        options = [option for lock in locks for option in crd_options(lock.parent)]
        without.update(kind for lock in locks for kind in unpublished(lock.parent, options))
        done = run([gpuctl, *words, *options], cwd=case.folder, env=environment(case.folder, scratch))
        text = done.stderr.decode()
        if done.returncode != 0 or OBJECTION.search(text):
            return f"exit code {done.returncode}\n{text}"
        return ""


def main():
    gpuctl = arguments(__doc__).gpuctl
    if not SCHEMAS.exists():
        skip("published CRDs for golden cases", "../shared/schemas is absent")
    tally, without = Tally(), set()
    with tempfile.TemporaryDirectory(prefix="golden-cases-") as unpacked, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [(case, words) for case in golden_cases.find(unpacked) if case.group in GROUPS
                for words in renderings(case)]
        for (case, words), found in zip(jobs, pool.map(lambda job: objections(gpuctl, *job, without), jobs)):
            tally.check(not found, f"{case.name}: {shlex.join(words)}: {found}")
    tally.check(without == UNSEEN, f"kinds without a published schema: {sorted(without)}")
    tally.check(len(jobs) >= FEWEST, f"only {len(jobs)} runs are looked at")
    tally.close()


if __name__ == "__main__":
    main()
