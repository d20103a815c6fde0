#!/usr/bin/env python3
"""Diagnoses recorded states of clusters, and compares the first broken link and its cause.

A state is a file states/NAME.state: lines `# KEY: VALUE` at its head, then the files of the state,
each below a line with its name (the form of Go's txtar):

    # source: who printed what is in it
    # link: machine
    # cause: machine-capacity
    # given: machines.yaml
    -- machines.yaml --
    ...

  source     where the lines come from that components print; objects around them are cut to what
             their owners fill in
  link       the first broken link; none: the state is healthy, and there must be no finding at all
  cause      the first signature, or the check that no signature explains
  waiting    links that must be said to wait, if any
  given      the files or directories that gpuctl gets; absent: the directory of the state
  blueprint  a file of the state, or one below blueprints/

At the end --live is tried with a double of the cluster's program that answers from such files.
"""

import argparse
import gzip
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
from support import jobs  # noqa: E402

HEADER = re.compile(r"^-- (\S+) --\n", re.M)
KEY = re.compile(r"^# (source|link|cause|waiting|given|blueprint): (.*)$", re.M)
LEAST_STATES = 60
SECRET = "Hq7Zt0wX4pLm9sVb2NcK8rYe"


def unpack(text, folder):
    """Writes the files of a state; gives what its head says."""
    parts = HEADER.split(text)
    for name, content in zip(parts[1::2], parts[2::2]):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content)
    return dict(KEY.findall(parts[0]))


def run(gpuctl, arguments, folder, path=None, extra=None):
    environment = {"HOME": str(folder), "PATH": path or "/nonexistent", "LC_ALL": "C", **(extra or {})}
    return subprocess.run([gpuctl, "diagnose", *arguments], cwd=folder, env=environment, text=True,
                          capture_output=True, timeout=120, check=False)


def judged(done):
    """(first link, first cause, {link: state}) of a result."""
    result = json.loads(done.stdout)
    first = result.get("first", {})
    states = {link["name"]: link["state"] for link in result.get("links", [])}
    return first.get("link", "none"), first.get("cause", ""), states


def check_state(gpuctl, file, folder):
    said = unpack(file.read_text(), folder)
    for key in ("source", "link"):
        if not said.get(key):
            return f"{file.name}: says no `{key}`"
    arguments = ["--format", "json", *(said["given"].split() if "given" in said else ["."])]
    if "blueprint" in said:
        own = folder / said["blueprint"]
        arguments += ["--blueprint", str(own if own.exists() else ROOT / "blueprints" / said["blueprint"])]
    done = run(gpuctl, arguments, folder)
    if done.returncode not in (0, 1):
        return f"{file.name}: exit code {done.returncode}\n{done.stderr}"
    link, cause, states = judged(done)
    problems = []
    if link != said["link"]:
        problems.append(f"the first broken link is {link}, not {said['link']}")
    if link != "none" and cause != said.get("cause"):
        problems.append(f"its cause is {cause}, not {said.get('cause')}")
    if (link == "none") != (done.returncode == 0):
        problems.append(f"exit code {done.returncode}")
    if link == "none" and any(one["findings"] for one in json.loads(done.stdout)["links"]):
        problems.append("there are findings")
    for name in said.get("waiting", "").split():
        if states.get(name) != "waiting":
            problems.append(f"{name} is {states.get(name)}, not waiting")
    if problems:
        text = run(gpuctl, [*arguments[2:]], folder)
        return f"{file.name}: {'; '.join(problems)}\n{text.stdout}{text.stderr}"
    return None


DOUBLE = """#!/usr/bin/env python3
import json, os, pathlib, sys
state = pathlib.Path(os.environ["STATE"])
words = sys.argv[1:]
with open(state / "calls", "a") as calls:
    calls.write(json.dumps(words) + "\\n")
(state / "kubeconfig").write_text(os.environ.get("KUBECONFIG", ""))
if words[0] == "get":
    file = state / (words[1].split(".")[0] + ".json")
    if (state / (words[1].split(".")[0] + ".denied")).exists():
        sys.exit(f'Error from server (Forbidden): {words[1]} is forbidden: User "viewer" cannot list resource')
    if not file.exists():
        sys.exit(f'error: the server doesn\\'t have a resource type "{words[1]}"')
    sys.stdout.write(file.read_text())
elif words[0] == "logs":
    container = [word for word in words if word.startswith("--container=")][0].split("=")[1]
    log = state / f"{words[1]}.{container}{'.previous' if '--previous' in words else ''}.log"
    if not log.exists():
        sys.exit(f'Error from server (BadRequest): previous terminated container "{container}" in pod "{words[1]}" not found')
    sys.stdout.write(log.read_text())
else:
    sys.exit("refused: only get and logs are asked")
"""


def check_live(gpuctl, folder):
    """The double answers; nothing else than reading may be asked of it."""
    tools = folder / "tools"
    tools.mkdir()
    jobs.put_program(tools, "oc", DOUBLE)
    path = f"{tools}:/usr/bin:/bin"
    problems = []
    for name, link, cause, code in (("live-driver", "driver", "unsigned-module", 1),
                                    ("live-denied", "driver", "crash", 1),
                                    ("live-healthy", "none", "", 0)):
        state = folder / name
        state.mkdir()
        unpack((HERE / "live" / f"{name}.state").read_text(), state)
        done = run(gpuctl, ["--live", "--kubeconfig", "of-the-lab", "--format", "json"], folder, path,
                   {"STATE": str(state)})
        if not done.stdout:
            problems.append(f"{name}: no result\n{done.stderr}")
            continue
        found = judged(done)
        if (done.returncode, *found[:2]) != (code, link, cause):
            problems.append(f"{name}: exit code {done.returncode}, {found[:2]}\n{done.stderr}")
        calls = [json.loads(line) for line in (state / "calls").read_text().splitlines()]
        if any(call[0] not in ("get", "logs") for call in calls):
            problems.append(f"{name}: more than reading was asked: {calls}")
        if any("secret" in word.lower() for call in calls for word in call):
            problems.append(f"{name}: secrets were asked for")
        if (state / "kubeconfig").read_text() != "of-the-lab":
            problems.append(f"{name}: the kubeconfig was not handed on")
        if name == "live-denied" and "GPU0954" not in done.stderr:
            problems.append(f"{name}: it is not said what could not be read\n{done.stderr}")
        if name == "live-denied" and "GPU0955" not in done.stderr:
            problems.append(f"{name}: it is not said which log could not be had\n{done.stderr}")
    dead = folder / "dead"
    dead.mkdir()
    (dead / "nodes.denied").write_text("")
    done = run(gpuctl, ["--live"], folder, path, {"STATE": str(dead)})
    if done.returncode != 1 or "GPU0954" not in done.stderr or len((dead / "calls").read_text().splitlines()) != 1:
        problems.append(f"a cluster that tells nothing: {done.returncode}\n{done.stderr}")
    done = run(gpuctl, ["--live"], folder)
    if done.returncode != 1 or "GPU0410" not in done.stderr:
        problems.append(f"no program for the cluster: {done.returncode}\n{done.stderr}")
    return problems


def check_secrets(gpuctl, folder):
    """What looks like a secret in objects and logs is in no output."""
    (folder / "nvidia-driver.log").write_text(
        f"+ curl https://user:{SECRET}@mirror.example.com/repo\n"
        f"Curl error (6): Couldn't resolve host name for https://user:{SECRET}@mirror.example.com/x token={SECRET}\n")
    (folder / "machine.yaml").write_text(
        "apiVersion: machine.openshift.io/v1beta1\nkind: Machine\n"
        "metadata: {name: gpu-0, namespace: openshift-machine-api}\n"
        f"status: {{phase: Failed, errorReason: InvalidConfiguration, errorMessage: 'password: {SECRET} refused'}}\n")
    problems = []
    for form in ("text", "json"):
        done = run(gpuctl, [".", "-o", form], folder)
        if done.returncode != 1 or "mirror.example.com" not in done.stdout:
            problems.append(f"secrets: nothing found\n{done.stdout}{done.stderr}")
        if SECRET in done.stdout + done.stderr:
            problems.append(f"secrets: one is shown\n{done.stdout}{done.stderr}")
    return problems


def check_size(gpuctl, folder):
    """Megabytes, lines of megabytes, bytes that are no text and cut files end in bounded time."""
    driver = "nvidia-driver-daemonset-x"
    with open(folder / f"{driver}.log", "wb") as log:
        log.write(b"x" * (5 << 20) + b"\r\n")
        for _ in range(20):
            log.write(b"\xff\xfe\x00\x1b[31m noise " * 4096 + b"\n")
            log.write(b"Installing Linux kernel headers...\n" * 20_000)
        log.write(b"modprobe: ERROR: could not insert 'nvidia': Key was rejected by service")
    packed = folder / "packed"
    packed.mkdir()
    line = b"NVRM: BAR1 is 0M @ 0x0 (PCI:0000:0b:00.0)\n"
    (packed / "report.log.gz").write_bytes(gzip.compress(b"noise\n" * 200_000 + line))
    with tarfile.open(packed / "gather.log.gz", "w:gz") as archive:
        archive.add(packed / "report.log.gz", "report.log.gz")
    (packed / "leads-away.log").symlink_to("/etc/passwd")
    done = run(gpuctl, ["packed", "--format", "json"], folder)
    problems = []
    if judged(done)[:2] != ("driver", "no-bar") or json.loads(done.stdout)["logs"] != 2:
        problems.append(f"packed: {done.stdout}\n{done.stderr}")
    if "GPU0953" not in done.stderr:
        problems.append(f"packed: the archive is not named\n{done.stderr}")
    for file in packed.iterdir():
        file.unlink()
    (folder / "binary.log").write_bytes(bytes(range(32)) * 10_000)
    (folder / "nodes.yaml").write_text("apiVersion: v1\nkind: NodeList\nitems:\n- metadata:\n    name: [\n")
    (folder / "empty.yaml").write_text("")
    done = run(gpuctl, [".", "--format", "json"], folder)
    if not done.stdout or judged(done)[:2] != ("driver", "unsigned-module"):
        problems.append(f"size: {done.stdout}\n{done.stderr}")
    for code in ("GPU0951", "GPU0953"):
        if code not in done.stderr:
            problems.append(f"size: no {code}\n{done.stderr}")
    return problems


def check_mutants(gpuctl, folder):
    """States that were cut, bent and mixed: no crash, and a result or a reason."""
    dice = random.Random(20)
    texts = [file.read_text().encode() for file in sorted((HERE / "states").glob("*.state"))]
    problems = []
    for number in range(150):
        text = bytearray(dice.choice(texts))
        for _ in range(dice.randrange(1, 8)):
            at = dice.randrange(len(text) or 1)
            kind = dice.randrange(4)
            if not text:
                break
            if kind == 0:
                text[at] = dice.randrange(256)
            elif kind == 1:
                del text[at:at + dice.randrange(1, 200)]
            elif kind == 2:
                other = dice.choice(texts)
                text[at:at] = other[dice.randrange(len(other)):][:300]
            else:
                text = text[:max(at, 40)]
        (folder / "objects.yaml").write_bytes(bytes(text))
        (folder / "x.log").write_bytes(bytes(text))
        done = subprocess.run([gpuctl, "diagnose", ".", "--format", "json"], cwd=folder, env={"HOME": str(folder)},
                              capture_output=True, timeout=60, check=False)
        if done.returncode not in (0, 1) or b"internal error" in done.stderr:
            problems.append(f"mutant {number}: {done.returncode} {done.stderr[:300]!r}")
        json.loads(done.stdout)
    return problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpuctl", default=str(ROOT / "build/release/gpuctl"))
    parser.add_argument("--filter", default="", help="only states with this text in their name")
    options = parser.parse_args()
    gpuctl = os.path.abspath(options.gpuctl)
    files = sorted((HERE / "states").glob("*.state"))
    problems = []
    if len(files) < LEAST_STATES:
        problems.append(f"there are only {len(files)} states")
    count = 0
    with tempfile.TemporaryDirectory(prefix="diagnose-") as temporary:
        for file in files:
            if options.filter not in file.name:
                continue
            count += 1
            folder = pathlib.Path(temporary) / file.stem
            folder.mkdir()
            problem = check_state(gpuctl, file, folder)
            if problem:
                problems.append(problem)
        if not options.filter:
            for name, check in (("live", check_live), ("secrets", check_secrets), ("size", check_size),
                                ("mutants", check_mutants)):
                folder = pathlib.Path(temporary) / f"of-{name}"
                folder.mkdir()
                problems += check(gpuctl, folder)
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{count} states, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
