#!/usr/bin/env python3
"""The project and other programs understand the same by the same YAML.

Every folder with a kustomization.yaml, with either GitOps engine, is built by kustomize and by
kubectl. Both must accept it, agree with each other, and give exactly the objects that stand in
the folder's files, field by field, as kubectl reads them. Patches of distributions of others are built on a
stand-in for these (distributions.py).

Besides: any bytes (text_bytes.py), scalars of every kind (scalars.py), the published YAML test
suite (yaml_suite.py), texts changed at random against libyaml (yaml_differential.py), custom
resources as an API server judges them (schema.py), settings of the GPU operator as it stores them
(policies.py), alerts as Prometheus sees them (alerts.py), the scripts for vSphere against a simulated
vCenter (vsphere.py), secrets in Git as clusters open them (git_secrets.py), and all scripts by shellcheck,
those for gcloud against a stand-in (scripts.py); reports and the CI kit by schemas and linters of others (ci_kit.py),
and published clients of the Model Context Protocol (mcp_clients.py).
"""

import json
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from interop.alerts import check_alerts  # noqa: E402
from interop.ci_kit import check_ci_kit  # noqa: E402
from interop.distributions import check_distributions  # noqa: E402
from interop.git_secrets import check_git_secrets  # noqa: E402
from interop.mcp_clients import check_mcp_clients  # noqa: E402
from interop.policies import check_policies  # noqa: E402
from interop.scalars import check_scalars  # noqa: E402
from interop.schema import check_schema  # noqa: E402
from interop.scripts import check_scripts  # noqa: E402
from interop.text_bytes import check_bytes  # noqa: E402
from interop.tools import kubectl, kustomize  # noqa: E402
from interop.values import probe_of  # noqa: E402
from interop.variants import engines, engines_of, write_variant  # noqa: E402
from interop.vsphere import check_vsphere  # noqa: E402
from interop.yaml_differential import check_differential  # noqa: E402
from interop.yaml_suite import check_suite  # noqa: E402
from support.program import ROOT, Tally, arguments, environment, run, samples  # noqa: E402

KUSTOMIZATION = "kustomization.yaml"


def parse_json_stream(text):
    """JSON values that stand one after the other; lists are taken apart."""
    decoder, at, found = json.JSONDecoder(), 0, []
    while at < len(text.rstrip()):
        value, at = decoder.raw_decode(text, at + len(text[at:]) - len(text[at:].lstrip()))
        found += value["items"] if value.get("kind") == "List" else [value]
    return found


def identity(value):
    metadata = value.get("metadata", {})
    return (value.get("apiVersion"), value.get("kind"), metadata.get("namespace"),
            metadata.get("name"))


def as_objects(program, scratch, yaml):
    """Identity -> object, as kubectl reads the text. It works without a cluster: taking away an
    annotation that is not there changes nothing but an empty `annotations`."""
    source = scratch / "objects.yaml"
    source.write_bytes(yaml)
    done = run([program, "annotate", "--local", "-f", source, "-o", "json", "gpuctl.dev/none-"],
               env=environment(scratch))
    if done.returncode != 0:
        raise ValueError(done.stderr.decode())
    found = {}
    for value in parse_json_stream(done.stdout.decode()):
        if not value["metadata"].get("annotations", True):
            del value["metadata"]["annotations"]
        if identity(value) in found:
            raise ValueError(f"{identity(value)} is there twice")
        found[identity(value)] = value
    return found


def resources_of(folder):
    """The files that the kustomization lists, folders among them followed."""
    text = (folder / KUSTOMIZATION).read_text()
    section = re.search(r"^resources:\n((?:[ ]*- .*\n?)*)", text, re.M)
    found = []
    for name in re.findall(r"- (.*)", section[1]) if section else []:
        path = folder / name.strip().strip("\"'")
        found += resources_of(path) if path.is_dir() else [path]
    return found


def check_folder(tally, programs, folder, scratch, what):
    listed = resources_of(folder)
    tally.check(bool(listed), f"{what}: lists nothing")
    beside = {path for path in folder.iterdir() if path.suffix == ".yaml"} - {folder / KUSTOMIZATION}
    tally.check(beside <= set(listed), f"{what}: not listed: {sorted(beside - set(listed))}")
    try:
        files = as_objects(programs["kubectl"], scratch,
                           b"---\n".join(path.read_bytes() for path in listed))
        built = {}
        for name, command in (("kustomize", [programs["kustomize"], "build", folder]),
                              ("kubectl", [programs["kubectl"], "kustomize", folder])):
            done = run(command, env=environment(scratch))
            tally.check(done.returncode == 0 and not done.stderr,
                        f"{what}: {name}: {done.stderr.decode()}")
            built[name] = as_objects(programs["kubectl"], scratch, done.stdout)
    except (OSError, ValueError) as problem:
        tally.check(False, f"{what}: {problem}")
        return 0
    tally.check(len(files) == len(listed), f"{what}: {len(listed)} files, {len(files)} objects")
    for name, objects in built.items():
        wrong = sorted(str(key) for key in set(files) | set(objects)
                       if files.get(key) != objects.get(key))
        tally.check(not wrong, f"{what}: {name} gives something else for {wrong}")
    return len(files)


def check_emptied(tally, gpuctl, programs, scratch):
    """A layer whose last object went stays without any, and both tools build that."""
    blueprint = write_variant(samples()[0], engines()[0], scratch / "in")
    plain = blueprint.read_text()
    (blueprint.parent / "own.manifests.yaml").write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own, namespace: default}\n")
    for text in (plain.rstrip() + "\n  extraManifests: [{layer: 60-team, path: own.manifests.yaml}]\n", plain):
        blueprint.write_text(text)
        done = run([gpuctl, "render", blueprint, "-o", scratch / "out"], env=environment(scratch))
        tally.check(done.returncode == 0, f"emptied layer: {done.stderr.decode()}")
    folders = list((scratch / "out").glob("clusters/*/*/layers/60-team"))
    if not tally.check(len(folders) == 1, f"emptied layer: {len(folders)} folders"):
        return
    tally.check(resources_of(folders[0]) == [], "emptied layer: it lists something")
    for command in ([programs["kustomize"], "build"], [programs["kubectl"], "kustomize"]):
        done = run([*command, folders[0]], env=environment(scratch))
        tally.check(done.returncode == 0 and not done.stdout.strip() and not done.stderr,
                    f"emptied layer: {command[-1]}: {done.stdout.decode()}{done.stderr.decode()}")


def check_overlay(tally, gpuctl, programs, scratch):
    """An overlay of a blueprint, as docs/fleets.md shows it, gives a blueprint that gpuctl takes."""
    sample = next(path for path in samples() if path.stem == "aws-minimal")
    write(scratch / "base/blueprint.yaml", sample.read_text())
    write(scratch / "base/kustomization.yaml", "resources: [blueprint.yaml]\n")
    overlay = re.search(r"^# overlays/ml-a/kustomization.yaml\n(.*?)^```", (ROOT / "docs/fleets.md").read_text(),
                        re.M | re.S)
    if not tally.check(overlay is not None, "overlay: docs/fleets.md has none"):
        return
    write(scratch / "overlays/ml-a/kustomization.yaml", overlay[1])
    for command in ([programs["kustomize"], "build"], [programs["kubectl"], "kustomize"]):
        built = run([*command, scratch / "overlays/ml-a"], env=environment(scratch))
        write(scratch / "ml-a.yaml", built.stdout.decode())
        done = run([gpuctl, "fleet", "show", scratch / "ml-a.yaml", "--plain"], env=environment(scratch))
        tally.check(built.returncode == 0 and done.returncode == 0
                    and "name: ml-a" in done.stdout.decode() and "replicas: 3" in done.stdout.decode(),
                    f"overlay: {command[-1]}: {built.stderr.decode()}{done.stderr.decode()}")


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def main():
    gpuctl = arguments(__doc__).gpuctl
    programs = {"kustomize": kustomize(), "kubectl": kubectl()}
    tally = Tally()
    check_bytes(tally, probe_of(gpuctl))
    check_suite(tally, probe_of(gpuctl))
    check_differential(tally, probe_of(gpuctl))
    check_scalars(tally, probe_of(gpuctl))
    objects = folders = 0
    with tempfile.TemporaryDirectory(prefix="interop-") as temporary:
        check_overlay(tally, gpuctl, programs, pathlib.Path(temporary) / "overlay")
        for sample in samples():
            for engine in engines_of(sample):
                what = f"{sample.stem} with {engine}"
                scratch = pathlib.Path(temporary) / f"{sample.stem}-{engine}"
                scratch.mkdir()
                blueprint = write_variant(sample, engine, scratch / "in")
                done = run([gpuctl, "render", blueprint, "-o", scratch / "out"],
                           env=environment(scratch))
                if not tally.check(done.returncode == 0, f"{what}: {done.stderr.decode()}"):
                    continue
                found = sorted(path.parent for path in (scratch / "out").rglob(KUSTOMIZATION))
                tally.check(len(found) > 2, f"{what}: only {len(found)} kustomizations")
                for folder in found:
                    name = folder.relative_to(scratch / "out")
                    objects += check_folder(tally, programs, folder, scratch, f"{what}: {name}")
                    folders += 1
    print(f"{objects} objects in {folders} folders")
    with tempfile.TemporaryDirectory(prefix="emptied-") as temporary:
        check_emptied(tally, gpuctl, programs, pathlib.Path(temporary))
    with tempfile.TemporaryDirectory(prefix="distributions-") as temporary:
        check_distributions(tally, gpuctl, programs["kustomize"], programs["kubectl"], pathlib.Path(temporary))
    check_schema(tally, gpuctl)
    for part in (check_policies, check_alerts):
        with tempfile.TemporaryDirectory(prefix="operator-") as temporary:
            part(tally, pathlib.Path(temporary))
    with tempfile.TemporaryDirectory(prefix="git-secrets-") as temporary:
        check_git_secrets(tally, gpuctl, pathlib.Path(temporary))
    with tempfile.TemporaryDirectory(prefix="vsphere-") as temporary:
        check_vsphere(tally, gpuctl, pathlib.Path(temporary))
    with tempfile.TemporaryDirectory(prefix="scripts-") as temporary:
        check_scripts(tally, gpuctl, pathlib.Path(temporary))
    with tempfile.TemporaryDirectory(prefix="ci-kit-") as temporary:
        check_ci_kit(tally, gpuctl, pathlib.Path(temporary))
    with tempfile.TemporaryDirectory(prefix="mcp-") as temporary:
        check_mcp_clients(tally, gpuctl, pathlib.Path(temporary))
    tally.close()


if __name__ == "__main__":
    main()
