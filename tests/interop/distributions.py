"""Patches of distributions of others hit what they are for (docs/decisions/0054-distributions-are-pinned.md).

A patch whose target is not there changes nothing, and no program says so: passwords that everybody knows would stay. So
Kubeflow, as either GitOps engine gets it, is built with its patches on a tree that stands in for the distribution: the parts
that have patches, with objects that are called and tied together as those of kubeflow/manifests 26.03. Every patch has to
change what is built; no Secret may be left, and those that Deployments still ask for are the ones for which docs/kubeflow.md
has commands. Each object that a patch is for is then renamed, which has to be found.

With the variable GPUCTL_KUBEFLOW, a checkout of the distribution, all parts are built on that, too (docs/testing.md).
"""

import copy
import json
import os
import pathlib
import re
import shutil

import yaml

from interop.variants import engines, write_variant
from support.program import ROOT, environment, run

CASE = ROOT / "tests/golden/render/kubeflow-argocd/blueprint.yaml"  # with all components
USER = "bob.smith@example.org"
KUSTOMIZATION = "kustomization.yaml"
PARTS = {"dex", "oauth2-proxy", "katib"}  # those with patches, by the ends of their names


def deployment(name, *containers):
    labels = {"app": name}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
            "spec": {"selector": {"matchLabels": labels},
                     "template": {"metadata": {"labels": labels}, "spec": {"containers": list(containers)}}}}


def keys(secret, **variables):
    return [{"name": name, "valueFrom": {"secretKeyRef": {"name": secret, "key": key}}} for name, key in variables.items()]


def secret_of(name, data):
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": data}


# Path -> kustomization of the stand-in, and its files. Names, namespaces, and how Secrets come about (as an object, or by a
# generator, with a hash or without) as in kubeflow/manifests d68ebc7f; what is in them is made up.
STAND_IN = {
    "common/dex/overlays/oauth2-proxy": (
        {"namespace": "auth", "resources": ["dex.json", "config.json", "passwords.json"],
         "generatorOptions": {"disableNameSuffixHash": True},
         "secretGenerator": [{"name": "dex-oidc-client", "literals": ["OIDC_CLIENT_ID=known", "OIDC_CLIENT_SECRET=known"]}]},
        {"dex.json": deployment("dex", {"name": "dex", "image": "dex:none", "envFrom": [
            {"secretRef": {"name": "dex-oidc-client"}}, {"secretRef": {"name": "dex-passwords"}}]}),
         "config.json": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "dex"},
                         "data": {"config.yaml": "staticPasswords:\n- email: user@example.com\n"}},
         "passwords.json": secret_of("dex-passwords", {"DEX_USER_PASSWORD": "known"})}),
    "common/oauth2-proxy/overlays/m2m-dex-only": (
        {"namespace": "oauth2-proxy", "resources": ["proxy.json"],
         "secretGenerator": [{"name": "oauth2-proxy", "literals": [
             "client-id=known", "client-secret=known", "cookie-secret=known"]}]},
        {"proxy.json": deployment("oauth2-proxy", {"name": "oauth2-proxy", "image": "proxy:none", "env": keys(
            "oauth2-proxy", ID="client-id", SECRET="client-secret", COOKIE="cookie-secret")})}),
    "applications/katib/upstream/installs/katib-with-kubeflow": (
        {"namespace": "kubeflow", "resources": ["mysql.json", "secret.json"]},
        {"mysql.json": deployment("katib-mysql", {"name": "mysql", "image": "mysql:none", "env": keys(
            "katib-mysql-secrets", MYSQL_ROOT_PASSWORD="MYSQL_ROOT_PASSWORD")}),
         "secret.json": secret_of("katib-mysql-secrets", {"MYSQL_ROOT_PASSWORD": "known"})}),
}


def put(folder, kustomization, files):
    folder.mkdir(parents=True, exist_ok=True)
    header = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
    for name, value in {**files, KUSTOMIZATION: {**header, **kustomization}}.items():
        (folder / name).write_text(json.dumps(value))


def parts_of(folder):
    """Name -> (path, patches) of what is rendered for a controller."""
    found = {}
    for path in folder.rglob("60-ml/*.yaml"):
        document = yaml.safe_load(path.read_text())
        spec = document.get("spec", {})
        if document["kind"] == "Application":
            found[document["metadata"]["name"]] = (spec["source"]["path"], spec["source"].get("kustomize", {}).get("patches", []))
        elif document["kind"] == "Kustomization" and "sourceRef" in spec:
            found[document["metadata"]["name"]] = (spec["path"].removeprefix("./"), spec.get("patches", []))
    return found


def documented():
    """(namespace, name) -> text of its command, of the Secrets in docs/kubeflow.md."""
    blocks = re.findall(r"^```console\n(.*?)^```", (ROOT / "docs/kubeflow.md").read_text(), re.M | re.S)
    return {(match[2], match[1]): match[0] for block in blocks for match in
            re.finditer(r"create secret generic (\S+) -n (\S+)[^\n<]*(?:<<END\n.*?^END$)?", block, re.M | re.S)}


def asked_for(document):
    """(namespace, Secret, key or None) that the containers of a Deployment ask for."""
    pod = document["spec"]["template"]["spec"]
    for container in pod.get("initContainers", []) + pod["containers"]:
        for reference in [one["secretRef"] for one in container.get("envFrom", []) if "secretRef" in one]:
            yield document["metadata"]["namespace"], reference["name"], None
        for reference in [one["valueFrom"]["secretKeyRef"] for one in container.get("env", [])
                          if "secretKeyRef" in one.get("valueFrom", {})]:
            yield document["metadata"]["namespace"], reference["name"], reference["key"]


def built(program, scratch, folder, patches):
    """The objects that a part gives; the controllers add patches to its own kustomization like this."""
    file = folder / KUSTOMIZATION
    own = file.read_text()
    kustomization = yaml.safe_load(own)
    try:
        file.write_text(json.dumps({**kustomization, "patches": kustomization.get("patches", []) + patches}))
        done = run([*program, folder], env=environment(scratch))
    finally:
        file.write_text(own)
    if done.returncode != 0:
        raise ValueError(done.stderr.decode())
    return [value for value in yaml.load_all(done.stdout, getattr(yaml, "CSafeLoader", yaml.SafeLoader)) if value]


def findings(program, scratch, folder, patches):
    """[text] of what is wrong with a part once its patches are applied."""
    whole = built(program, scratch, folder, patches)
    secrets = [value["metadata"]["name"] for value in whole if value["kind"] == "Secret"]
    found = [f"Secret {name} is left" for name in secrets]
    for at, patch in enumerate(patches):
        if built(program, scratch, folder, patches[:at] + patches[at + 1:]) == whole:
            found.append(f"the patch of {patch['target']} changes nothing")
    commands = documented()
    for value in whole:
        if value["kind"] == "Deployment" and patches:
            for namespace, name, key in asked_for(value):
                command = commands.get((namespace, name))
                if command is None:
                    found.append(f"docs/kubeflow.md makes no Secret {name} in {namespace}")
                elif key and not re.search(rf"\b{key}=", command):
                    found.append(f"docs/kubeflow.md puts no {key} into {name}")
        if value["kind"] == "ConfigMap" and value["metadata"]["name"] == "dex":
            users = [one["email"] for one in yaml.safe_load(value["data"]["config.yaml"])["staticPasswords"]]
            if users != [USER]:
                found.append(f"{users} may sign in")
    return found


def renamed(kustomization, files):
    """What is renamed, and the stand-in with that, for each object that a patch may be for."""
    for at, generator in enumerate(kustomization.get("secretGenerator", [])):
        changed = copy.deepcopy(kustomization)
        changed["secretGenerator"][at]["name"] += "-2"
        yield generator["name"], changed, files
    for name, value in files.items():
        if value["kind"] != "Deployment":
            metadata = {**value["metadata"], "name": value["metadata"]["name"] + "-2"}
            yield value["metadata"]["name"], kustomization, {**files, name: {**value, "metadata": metadata}}


def check_engine(tally, programs, parts, scratch, what):
    with_patches = {name: part for name, part in parts.items() if part[1]}
    tally.check(len(parts) > 10 and {name.split("-kubeflow-")[1] for name in with_patches} == PARTS,
                f"{what}: {sorted(with_patches)} of {len(parts)} parts have patches")
    for name, (path, patches) in sorted(with_patches.items()):
        if not tally.check(path in STAND_IN, f"{what}: {name}: nothing stands in for {path}"):
            continue
        for program, command in programs.items():
            folder = scratch / f"{program}-{name}" / path
            put(folder, *STAND_IN[path])
            found = findings(command, scratch, folder, patches)
            tally.check(not found, f"{what}: {name} by {program}: {'; '.join(found)}")
        for number, (other, kustomization, files) in enumerate(renamed(*STAND_IN[path])):
            folder = scratch / f"renamed-{number}-{name}" / path
            put(folder, kustomization, files)
            tally.check(findings(programs["kustomize"], scratch, folder, patches), f"{what}: {name}: no {other}, and nobody says so")


def check_checkout(tally, program, parts, source, scratch):
    """Every part on the distribution itself. Those that fetch something more take a network."""
    tree = scratch / "checkout"
    shutil.copytree(source, tree, ignore=shutil.ignore_patterns(".git"))
    for name, (path, patches) in sorted(parts.items()):
        if tally.check((tree / path).is_dir(), f"{name}: the distribution has no {path}"):
            try:
                found = findings(program, scratch, tree / path, patches)
            except ValueError as problem:
                found = [str(problem)]
            tally.check(not found, f"{name} of the distribution: {'; '.join(found)}")


def check_distributions(tally, gpuctl, kustomize, kubectl, scratch):
    programs = {"kustomize": [kustomize, "build"], "kubectl": [kubectl, "kustomize"]}
    parts = {}
    for engine in engines():
        folder = scratch / engine
        folder.mkdir()
        blueprint = write_variant(CASE, engine, folder / "in")
        done = run([gpuctl, "render", blueprint, "-o", folder / "out"], env=environment(folder))
        if tally.check(done.returncode == 0, f"distributions with {engine}: {done.stderr.decode()}"):
            parts = parts_of(folder / "out")
            check_engine(tally, programs, parts, folder, f"distributions with {engine}")
    if os.environ.get("GPUCTL_KUBEFLOW"):
        check_checkout(tally, programs["kustomize"], parts, pathlib.Path(os.environ["GPUCTL_KUBEFLOW"]), scratch)
