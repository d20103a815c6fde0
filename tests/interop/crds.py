#!/usr/bin/env python3
"""All that the samples render stands up to the published CRDs, with either GitOps engine.

Needs the published schemas beside the project (../shared/schemas). The version line of an
operator that a cluster uses is read from its lock; its CRDs come before the newest ones.
"""

import functools
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from interop.variants import engines_of, write_variant  # noqa: E402
from support.program import ROOT, SHARED, Tally, arguments, environment, run, samples, skip  # noqa: E402

SCHEMAS = SHARED / "schemas"


def lines_of(cluster):
    """Folders of CRDs for the operator lines that the cluster's lock and facts name."""
    text = "".join((cluster / name).read_text() for name in ("gpuctl.lock", "cluster.yaml")
                   if (cluster / name).exists())
    lines = set(re.findall(r"\bv(\d+\.\d+)(?:\.\d+)?\b", text))
    lines.update(re.findall(r"^gpuOperator: \"?(\d+\.\d+)", text, re.M))
    found = []
    for folder in sorted((SCHEMAS / "nvidia").iterdir()):
        match = re.fullmatch(r"[a-z-]+-v(\d+\.\d+)\.\d+", folder.name)
        if folder.is_dir() and match and match[1] in lines:
            found.append(folder)
    return found


def crd_options(cluster):
    folders = [*lines_of(cluster), SCHEMAS / "nvidia", SCHEMAS / "openshift", SCHEMAS / "gcp",
               SCHEMAS / "gitops", SCHEMAS / "queues", SCHEMAS / "ml", ROOT / "tests/interop/crds.d"]
    return [word for folder in folders for word in ("--crds", folder)]


def kinds_of(cluster):
    """(apiVersion, kind) of every rendered object below layers/ and management/."""
    found = set()
    for path in (path for folder in ("layers", "management") for path in (cluster / folder).rglob("*.yaml")):
        text = path.read_text()
        version = re.search(r"^apiVersion: (\S+)$", text, re.M)
        kind = re.search(r"^kind: (\S+)$", text, re.M)
        if version and kind and path.name != "kustomization.yaml":
            found.add((version[1].strip("\"'"), kind[1].strip("\"'")))
    return found


@functools.cache
def known_kinds(folder):
    """(group, kind) of every CRD in the folder."""
    found = set()
    for path in folder.glob("*.yaml"):
        text = path.read_text()
        found.update(zip(re.findall(r"^  group: (\S+)$", text, re.M), re.findall(r"^    kind: (\S+)$", text, re.M)))
    return found


def unpublished(cluster, options):
    """Custom kinds without a published schema, which would pass unseen."""
    known = set().union(*map(known_kinds, options[1::2]))
    return [f"{version} {kind}" for version, kind in sorted(kinds_of(cluster))
            for group, slash, _ in [version.partition("/")]
            if slash and "." in group and not group.endswith(".k8s.io") and (group, kind) not in known]


def check(tally, gpuctl, blueprint, scratch, what):
    env = environment(scratch)
    out = scratch / "out"
    done = run([gpuctl, "render", blueprint, "-o", out], env=env)
    if not tally.check(done.returncode == 0, f"{what}: render: {done.stderr.decode()}"):
        return
    clusters = [path.parent for path in out.rglob("gpuctl.lock")]
    tally.check(len(clusters) == 1, f"{what}: {len(clusters)} locks")
    for cluster in clusters:
        options = crd_options(cluster)
        tally.check(not (unseen := unpublished(cluster, options)), f"{what}: no published schema for {unseen}")
        for command in (["validate", blueprint, "--strict"],
                        ["render", blueprint, "-o", scratch / "checked"]):
            done = run([gpuctl, *command, *options], env=env)
            text = done.stderr.decode()
            tally.check(done.returncode == 0 and "warning[" not in text and "error[" not in text,
                        f"{what}: {command[0]} --crds: exit code {done.returncode}\n{text}")
        check_bites(tally, gpuctl, blueprint, scratch, options, kinds_of(cluster), what)


def check_bites(tally, gpuctl, blueprint, scratch, options, kinds, what):
    """The same run with one field too many has to fail, or the CRDs were not looked at."""
    text = blueprint.read_text()
    # A kind that every cluster of this sort has, and whose fields are known from its CRD alone.
    usual = ("Subscription", "IAMPolicyMember", "MachineHealthCheck", "ApplicationSet")
    # Pools for a cluster of others have none of them, and what they have is known without its CRD, too.
    kind = next((kind for kind in usual if kind in {k for _, k in kinds}), "ContainerNodePool")
    patch = (f"    - target: {{kind: {kind}}}\n"
             "      patch: {spec: {noSuchField: 1}}\n")
    if re.search(r"^  overrides:$", text, re.M):
        text = re.sub(r"^  overrides:\n", "  overrides:\n" + patch, text, flags=re.M)
    else:
        text = text.rstrip("\n") + "\n  overrides:\n" + patch
    broken = blueprint.with_name("broken-" + blueprint.name)
    broken.write_text(text)
    facts = blueprint.with_name(blueprint.stem + ".facts.yaml")
    command = [gpuctl, "render", broken, "-o", scratch / "broken"]
    command += ["--facts", facts] if facts.exists() else []
    without = run(command, env=environment(scratch))
    tally.check(without.returncode == 0 or kind not in usual, f"{what}: without CRDs: {without.stderr.decode()}")
    done = run([*command, *options], env=environment(scratch))
    tally.check(done.returncode == 1 and b"noSuchField" in done.stderr,
                f"{what}: a field that the CRD does not have was let through: {done.stderr.decode()}")
    broken.unlink()


def main():
    gpuctl = arguments(__doc__).gpuctl
    if not SCHEMAS.exists():
        skip("published CRDs", "../shared/schemas is absent")
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="crds-") as temporary:
        for sample in samples():
            for engine in engines_of(sample):
                scratch = pathlib.Path(temporary) / f"{sample.stem}-{engine}"
                scratch.mkdir()
                blueprint = write_variant(sample, engine, scratch / "in")
                check(tally, gpuctl, blueprint, scratch, f"{sample.stem} with {engine}")
    tally.close()


if __name__ == "__main__":
    main()
