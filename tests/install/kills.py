#!/usr/bin/env python3
"""Kills the driver, the installer, or both at every line of the log and every event of the journal, and
looks at what the next runs make of it: they complete, or destroy, verify that, and begin anew. One
infrastructure an attempt, never two alive, nothing done twice, no process left, the journal readable,
no secret outside of the private directory. And the same of gcloud, which makes one thing after the other:
before and after each call that changes or looks; what was begun is found again, and still ours to destroy.

  kills.py [--gpuctl FILE] [--filter TEXT] [--runs N]      N: about so many, spread evenly (default: all)
"""

import concurrent.futures
import os
import signal
import sys
import time

from world import GkeWorld, World, parse_arguments

# What the installer says while it creates, in order (see doubles/openshift-install).
LINES = [
    ("create manifests", "half of the state"), ("create manifests", "Consuming Install Config"), ("create manifests", "Manifests created in"),
    ("create ignition-configs", "Consuming Openshift Manifests"), ("create ignition-configs", "Ignition-Configs created"),
    *[("create cluster", text) for text in (
        "Consuming Bootstrap", "Credentials loaded", "Creating infrastructure resources", "Started local control plane",
        "Stored kubeconfig", "Creating infra manifests", "for network infrastructure", "Network infrastructure is ready",
        "for machines [", "Control-plane machines are ready", "Cluster API resources have been created",
        "for the Kubernetes API", "API v1.33.5 up", "for bootstrapping to complete", "Destroying the bootstrap",
        "Finished destroying bootstrap", "to initialize...", "Still waiting for the cluster", "finished progressing...",
        "All cluster operators", "Checking to see if there is a route", "Install complete!", "To access the cluster",
        "Login to the console", "Time elapsed")],
]
# The same of the ways to go on, after a first kill in the phase that leads there.
WAYS = [
    ("for bootstrapping to complete", [
        ("wait-for bootstrap-complete", "for the Kubernetes API"), ("wait-for bootstrap-complete", "for bootstrapping"),
        ("destroy bootstrap", "Destroying the bootstrap"), ("destroy bootstrap", "Finished destroying"),
        ("wait-for install-complete", "to initialize"), ("wait-for install-complete", "Install complete!")]),
    ("for machines [", [
        ("destroy cluster", "search for matching"), ("destroy cluster", "Deleted EC2"), ("destroy cluster", "Time elapsed"),
        ("destroy cluster", "Uninstallation complete!"), ("create manifests", "Manifests created in"),
        ("create cluster", "Started local control plane")]),
    ("to initialize...", [
        ("wait-for install-complete", "to initialize"), ("wait-for install-complete", "All cluster operators"),
        ("wait-for install-complete", "Time elapsed")]),
]
WHO = ["installer", "driver", "both"]
# What gcloud changes: verb, name, in order.
CHANGES = [("enable", "compute.googleapis.com"), *[("create", name) for name in ("lab", "lab-nodes", "system", "gpu", "spare")],
           ("add-iam-policy-binding", "*"), ("update", "lab"), ("delete", "default-pool"), ("get-credentials", "lab")]
LOOKS = [("describe", name) for name in ("lab", "default-pool", "system", "gpu", "spare")]
REMOVALS = [("delete", name) for name in ("system", "gpu", "spare", "lab")] + [
    ("remove-iam-policy-binding", "*"), ("describe", "gpu"), ("describe", "lab"), ("list", "*")]
MOST_RUNS = 6  # until it must be installed


def complaints(world):
    """What must never be so, at any time between two runs."""
    found = []
    try:
        events = world.events()
    except ValueError as error:
        return [f"the journal is torn: {error}"]
    names = {}
    for event in events:
        if event["event"] == "identity":
            names.setdefault(event["attempt"], set()).add(event["value"])
    found += [f"attempt {attempt} has the names {sorted(values)}" for attempt, values in names.items() if len(values) > 1]
    if len(world.alive()) > 1:
        found.append(f"alive at once: {world.alive()}")
    found += [f"begun beside {call[6:]}" for call in world.calls() if call.startswith("alive ") and call[6:].strip()]
    found += [f"leaks: {leak}" for leak in world.leaks()]
    return found


def installed(world, found):
    """Runs it until it is installed."""
    world.scenario = {}
    for _ in range(MOST_RUNS):
        code, said = world.install()
        found += complaints(world)
        if code == 0:
            break
    else:
        found.append(f"never installed: {end_of(said)}")
        return
    if len(world.alive()) != 1:
        found.append(f"alive in the end: {world.alive()}")
    if world.orphans():
        found.append(f"orphans: {world.orphans()}")
    creations = [call for call in world.calls() if call.startswith("create cluster")]
    if len(set(creations)) != len(creations):
        # Before anything was made it may be begun again in the same directory.
        for attempt in {call for call in creations if creations.count(call) > 1}:
            begun = sum(1 for event in world.events() if event["event"] == "started" and event["step"] == "cluster"
                        and f"attempt-{event['attempt']}" in attempt)
            alive = sum(1 for call in world.calls() if call.startswith("alive"))
            if alive > len(set(creations)):
                found.append(f"{attempt} {begun} times, and made things {alive} times")


def end_of(said):
    """The end of what was said, without the notes on files of the test that stand for built-in ones."""
    blocks = [block for block in said.split("\n\n") if not block.startswith("note[GPU0405]")]
    return "\n\n".join(blocks)[-2000:]


def settle(world):
    """Controllers whose installer was killed are given no time: the next run has to find them."""
    for _ in range(100):
        if not any("gpuctl" in words.split()[0] for words in world.orphans() if "openshift-install" not in words):
            break
        time.sleep(0.01)


def at_lines(options, *kills):
    """Killed at a line of a run, and where there is another one, at a line of the next."""
    world = World(options.gpuctl, "")
    found = []
    try:
        for verb, text, who in kills:
            world.scenario = {"killed": {"verb": verb, "after": text, "who": who}}
            world.install()
        settle(world)
        found += complaints(world)
        installed(world, found)
    finally:
        world.close()
    return found


def at_event(options, number, later, verb, engine):
    """The driver dies once the journal has so many lines, after a pause of some milliseconds."""
    world = World(options.gpuctl, engine)
    found = []
    try:
        if verb == "destroy":
            world.install()
        journal = world.place / "journal.jsonl"
        before = len(journal.read_text().splitlines()) if journal.exists() else 0
        words = ("destroy", "lab", "--yes", "lab") if verb == "destroy" else ("install", "lab.yaml", "--repo", "fleet", "--no-preflight")
        running = world.start(*words)
        while running.poll() is None:
            try:
                if len(journal.read_text().splitlines()) - before >= number:
                    time.sleep(later / 1000)
                    running.send_signal(signal.SIGKILL)
                    break
            except OSError:
                pass
            time.sleep(0.0005)
        said, _ = running.communicate()
        world.said += said
        found += complaints(world)
        if verb == "destroy":
            for _ in range(MOST_RUNS):
                if not (world.place / "journal.jsonl").exists() or world.destroy()[0] == 0:
                    break
            if world.alive():
                found.append(f"alive after destroy: {world.alive()}")
            if world.orphans():
                found.append(f"orphans: {world.orphans()}")
        else:
            installed(world, found)
    finally:
        world.close()
    return found


def at_call(options, phase, verb, name, when, who, nth=1):
    """On GKE: around a call of gcloud, while the cluster is made or taken away."""
    world = GkeWorld(options.gpuctl, "")
    found = []
    try:
        if phase == "destroy":
            world.install()
        world.scenario = {"kill": {"verb": verb, "name": name, "when": when, "who": who, "nth": nth}}
        if phase == "destroy":
            world.destroy()
        else:
            world.install()
        if not (world.directory / "killed").exists():
            found.append("nothing was killed")
        world.scenario = {}
        if phase == "install":
            for _ in range(MOST_RUNS):
                code, said = world.install()
                found += complaints_of_calls(world)
                if code == 0:
                    break
            else:
                found.append(f"never installed: {end_of(said)}")
            pools = sorted(file.split(".")[-1] for file in world.alive() if file.startswith("node-pools--"))
            if pools != ["gpu", "spare", "system"]:
                found.append(f"pools: {pools}")
        for _ in range(MOST_RUNS):
            if not (world.place / "journal.jsonl").exists() or world.destroy()[0] == 0:
                break
        found += complaints_of_calls(world)
        if world.alive():
            found.append(f"alive after destroy: {world.alive()}")
        if world.orphans():
            found.append(f"orphans: {world.orphans()}")
    finally:
        world.close()
    return found


def complaints_of_calls(world):
    found = []
    try:
        world.events()
    except ValueError as error:
        found.append(f"the journal is torn: {error}")
    found += [f"made twice: {call}" for call in world.calls() if call.startswith("again ")]
    found += [f"leaks: {leak}" for leak in world.leaks()]
    return found


def cases_of_calls():
    for phase, calls in (("install", CHANGES), ("destroy", REMOVALS)):
        for verb, name in calls:
            # The network, what is in it, and the cluster have one name.
            for nth in range(1, 6) if name == "lab" and verb in ("create", "delete") else (1,):
                for when in ("before", "after"):
                    for who in ("program", "driver", "both"):
                        yield f"gke {phase}: {when} {verb} {name} {nth} ({who})", at_call, (phase, verb, name, when, who, nth)
    for verb, name in LOOKS:
        for nth in (1, 2, 3):
            for who in ("program", "driver", "both"):
                yield f"gke install: after {verb} {name} {nth} ({who})", at_call, ("install", verb, name, "after", who, nth)


def cases():
    yield from cases_of_calls()
    for verb, text in LINES:
        for who in WHO:
            yield f"line {verb}: {text} ({who})", at_lines, ((verb, text, who),)
    for first, lines in WAYS:
        for verb, text in lines:
            for who in WHO:
                yield f"way after {first}: {verb}: {text} ({who})", at_lines, (("create cluster", first, "installer"), (verb, text, who))
    # Without a GitOps controller there are fewer waits, and each run takes half as long.
    for number in range(1, 37):
        for later in (0, 1, 2, 3, 5, 8, 10, 12, 14, 16, 20, 25, 30, 35, 40, 50):
            yield f"event {number} + {later} ms", at_event, (number, later, "install", "")
    for number in range(36, 62):
        for later in (0, 2, 4, 6, 8, 10, 12, 16, 20, 25, 30, 40):
            yield f"wired event {number} + {later} ms", at_event, (number, later, "install", "argocd")
    for number in range(1, 6):
        for later in (0, 2, 5, 10, 15, 20, 25, 30, 35, 40, 50, 60, 80):
            yield f"destroy event {number} + {later} ms", at_event, (number, later, "destroy", "")


def spread(chosen, count):
    """So many of them, evenly; all when there are not so many."""
    count = min(count, len(chosen))
    return [chosen[i * len(chosen) // count] for i in range(count)]


def main():
    options = parse_arguments(__doc__, lambda parser: parser.add_argument("--runs", type=int, default=0))
    chosen = [one for one in cases() if options.filter in one[0]]
    if options.runs and options.runs < len(chosen):
        # Those of GKE take six times as long: of them fewer.
        slow = spread([one for one in chosen if one[0].startswith("gke")], options.runs // 40)
        chosen = spread([one for one in chosen if not one[0].startswith("gke")], options.runs - len(slow)) + slow
    failures = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        running = {pool.submit(function, options, *arguments): name for name, function, arguments in chosen}
        for future in concurrent.futures.as_completed(running):
            try:
                failures += [f"{running[future]}: {what}" for what in dict.fromkeys(future.result())]
            except Exception as error:  # noqa: BLE001: a run that breaks is a failure of that run
                failures.append(f"{running[future]}: {type(error).__name__}: {error}")
    for failure in failures:
        print("FAILED", failure)
    print(f"{len(chosen)} kills")
    bad = len({failure.split(": ")[0] + failure.split(": ")[1] for failure in failures})
    print(f"{len(chosen) - min(bad, len(chosen))} passed, {bad} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
