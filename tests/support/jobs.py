"""What tests of scripts share that are rendered into a Job or a DaemonSet.

No field of a Job that exists can change, so its name has to tell its content. What the name does not tell is held by
an edition, which the template hashes into the name: a file `editions.txt` has the digest of each.
"""

import hashlib
import json
import pathlib
import re
import subprocess
import sys

from support.program import environment, run, skip

try:
    import yaml
except ImportError:
    skip("scripts of Jobs", "PyYAML is not here (Debian: python3-yaml)")

TIMEOUT_S = 120


def container_of(job):
    return job["spec"]["template"]["spec"]["containers"][0]


def fixed_part(job, told):
    """The Job without its name, its image and the variables that `told` names, which the name tells."""
    job = json.loads(json.dumps(job))
    job["metadata"]["name"] = ""
    container = container_of(job)
    container["image"] = ""
    for entry in container["env"]:
        if entry["name"] in told:
            entry["value"] = ""
    return job


def edition_fault(job, told, template, editions):
    """What is wrong with the edition of a template; empty when nothing."""
    edition = re.search(r"edition: \$\{\"(\d+)\"\}", template.read_text())[1]
    known = dict(line.split() for line in editions.read_text().splitlines() if not line.startswith("#"))
    digest = hashlib.sha256(json.dumps(fixed_part(job, told), sort_keys=True).encode()).hexdigest()
    if known.get(edition) == digest:
        return ""
    return (f"edition {edition} in {editions.name} is {known.get(edition)}, and the Job {digest}: count `edition` of "
            f"{template.name} up, and add a line")


def rendered(gpuctl, blueprint, scratch, pattern):
    """The object in the one file below the rendered cluster that fits."""
    done = run([gpuctl, "render", blueprint, "-o", scratch / "out"], env=environment(scratch, PULL_SECRET="placeholder"))
    assert done.returncode == 0, done.stderr.decode()
    found = list((scratch / "out").rglob(pattern))
    assert len(found) == 1, found
    return yaml.safe_load(found[0].read_text())


def body_of(template):
    """What a template makes, as it is written there."""
    return yaml.safe_load(template.read_text())["spec"]["template"]


def put_program(folder, name, text):
    path = pathlib.Path(folder) / name
    # Not what `env` finds: it may be a script that looks for the right Python first.
    path.write_text(text.replace("#!/usr/bin/env python3\n", f"#!{sys.executable} -IS\n", 1))
    path.chmod(0o755)


def run_script(container, variables):
    """(exit code, what was said) of the container's script in the shell of this machine."""
    done = subprocess.run([*container["command"], *container["args"]], env=variables, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=TIMEOUT_S, check=False)
    return done.returncode, done.stdout + done.stderr
