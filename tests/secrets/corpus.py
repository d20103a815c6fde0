#!/usr/bin/env python3
"""Credentials of all kinds in all places are refused, and shown nowhere.

Plants a credential of each kind in several of the places that a user can write to, with a seed;
`validate` and `apply` have to agree on every one. Nothing of a credential may be in any output, in
the commit or in the lock. What is no secret, such as digests, certificates and references, and all
samples with what they render, must pass without a finding.
"""

import base64
import collections
import gzip
import json
import os
import pathlib
import random
import re
import sys
import tempfile
import urllib.parse
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import credentials  # noqa: E402
from support.program import SHARED, Tally, arguments, environment, run, samples  # noqa: E402

SEED = int(os.environ.get("GPUCTL_SEED", "20"))
CASES = 400
WINDOW = 10  # so much of a credential may be shown nowhere
REFUSED, NOTICED = 0.90, 0.95  # of all cases, as SECURITY.md promises
CODES = re.compile(r"GPU06(15|5[0-4])")
FINDINGS = re.compile(rb"GPU06(15|5[0-6])")


def b64(data):
    return base64.b64encode(data if isinstance(data, bytes) else data.encode()).decode()


def manifest(kind, spec, api="v1", **metadata):
    return {"apiVersion": api, "kind": kind,
            "metadata": {"name": "probe", "namespace": "demo", **metadata}, **spec}


def deployment(container):
    return manifest("Deployment", {"spec": {"template": {"spec": {"containers": [
        {"name": "main", "image": "registry.example.com/main:1", **container}]}}}}, "apps/v1")


def machine_config(contents=None, unit=None):
    storage = {"storage": {"files": [{"path": "/etc/probe", "contents": contents}]}} if contents else {}
    units = {"systemd": {"units": [{"name": "probe.service", "contents": unit}]}} if unit else {}
    return manifest("MachineConfig", {"spec": {"config": {"ignition": {"version": "3.4.0"}, **storage, **units}}},
                    "machineconfiguration.openshift.io/v1")


def config_map(**fields):
    return manifest("ConfigMap", fields)


def override(patch, kind="ClusterPolicy"):
    return lambda spec: spec.__setitem__("overrides", [{"target": {"kind": kind}, "patch": patch}])


def policy(**fields):
    return lambda spec: spec.__setitem__("gpuStack", {"gpuOperator": {"clusterPolicy": fields}})


def shell(text):
    return "#!/bin/sh\nset -eu\n" + text + "\nexec main\n"


def sealed(m, size):
    """As kubeseal writes it: the length of an RSA ciphertext, that, and one of AES-GCM."""
    return b64(b"\x02\x00" + m.random.randbytes(512 + size + 16))


def by_sops(m, size):
    return (f"ENC[AES256_GCM,data:{b64(m.random.randbytes(size))},iv:{b64(m.random.randbytes(32))},"
            f"tag:{b64(m.random.randbytes(16))},type:str]")


# Place -> what it makes of a credential: a manifest, or a function that changes `spec`.
PLACES = {
    "override annotation": lambda c: override({"metadata": {"annotations": {"note": c.text}}}),
    "override named": lambda c: override({"metadata": {"annotations": {"example.com/" + c.name: c.text}}}),
    "JSON patch": lambda c: override([{"op": "add", "path": "/metadata/annotations", "value": {c.name: c.text}}]),
    "JSON patch path": lambda c: override([{"op": "add", "path": "/spec/driver/" + c.name, "value": c.text}]),
    "clusterPolicy env": lambda c: policy(driver={"env": [{"name": c.name, "value": c.text}]}),
    "clusterPolicy args": lambda c: policy(toolkit={"args": ["--log=debug", "--" + c.name + "=" + c.text]}),
    "pool labels": lambda c: lambda spec: spec["gpuPools"][0].__setitem__("labels", {c.name: c.text}),
    "user tags": lambda c: lambda spec: spec["aws"].__setitem__("userTags", {c.name: c.text}),
    "proxy": lambda c: lambda spec: spec["access"].__setitem__(
        "proxy", {"httpProxy": "http://ops:" + urllib.parse.quote(c.secret, safe="") + "@proxy.example.com:3128"}),
    "repoURL": lambda c: lambda spec: spec["gitops"].__setitem__(
        "repoURL", "HTTPS://oauth2:" + urllib.parse.quote(c.secret, safe="") + "@git.example.com/fleet.git"),
    "ConfigMap value": lambda c: config_map(data={c.name: c.text}),
    "ConfigMap YAML": lambda c: config_map(data={"app.yaml": "server:\n  port: 1\n  " + c.name + ": " + json.dumps(c.text) + "\n"}),
    "ConfigMap JSON": lambda c: config_map(data={"app.json": json.dumps({"server": {c.name: c.text}})}),
    "ConfigMap env file": lambda c: config_map(data={"app.env": "A=1\n" + c.name + "=" + json.dumps(c.text) + "\nB=2\n"}),
    "ConfigMap properties": lambda c: config_map(data={"app.properties": "# " + c.name + " = " + c.text + "\nx=1\n"}),
    "ConfigMap script": lambda c: config_map(data={"run.sh": shell("export " + c.name + "='" + c.text + "'")}),
    "ConfigMap base64": lambda c: config_map(data={"blob": b64(c.name + "=" + c.text)}),
    "ConfigMap twice": lambda c: config_map(data={"blob": b64(b64(c.name + "=" + c.text + "\n"))}),
    "ConfigMap nested": lambda c: config_map(data={"app.json": json.dumps({"inner": json.dumps({c.name: c.text})})}),
    "ConfigMap manifest": lambda c: config_map(data={"more.yaml": json.dumps(
        manifest("Secret", {"stringData": {c.name: c.text}}))}),
    "binaryData": lambda c: config_map(binaryData={"blob": b64(c.name + ": " + c.text + "\n")}),
    "binaryData gzip": lambda c: config_map(binaryData={"blob": b64(gzip.compress((c.name + "=" + c.text).encode(), mtime=0))}),
    "ignition plain": lambda c: machine_config({"source": "data:," + urllib.parse.quote(c.name + "=" + c.text)}),
    "ignition charset": lambda c: machine_config(
        {"source": "data:text/plain;charset=utf-8," + urllib.parse.quote(c.name + ": " + c.text, safe="")}),
    "ignition base64": lambda c: machine_config({"source": "data:;base64," + b64(c.name + "=" + c.text)}),
    "ignition gzip": lambda c: machine_config({
        "compression": "gzip",
        "source": "data:;base64," + b64(gzip.compress((c.name + "=" + c.text + "\n").encode(), mtime=0))}),
    "systemd unit": lambda c: machine_config(unit="[Service]\nEnvironment=\"" + c.name + "=" + c.text + "\"\nExecStart=/bin/true\n"),
    "env": lambda c: deployment({"env": [{"name": "MODE", "value": "x"}, {"name": c.name, "value": c.text}]}),
    "args": lambda c: deployment({"args": ["--" + c.name, c.text, "--verbose"]}),
    "args joined": lambda c: deployment({"args": ["--v=2", "--" + c.name + "=" + c.text]}),
    "command": lambda c: deployment({"command": ["/bin/sh", "-c", "login --" + c.name + "='" + c.text + "' && run"]}),
    "annotation": lambda c: manifest("Service", {"spec": {}}, annotations={"example.com/" + c.name: c.text}),
    "last applied": lambda c: manifest("Service", {"spec": {}}, annotations={
        "example.com/last": json.dumps({"spec": {"env": [{"name": c.name, "value": c.text}]}})}),
    "helm values": lambda c: manifest("Application", {"spec": {"source": {"helm": {
        "values": "auth:\n  " + c.name + ": " + json.dumps(c.text) + "\n"}}}}, "argoproj.io/v1alpha1"),
    "helm parameters": lambda c: manifest("Application", {"spec": {"source": {"helm": {
        "parameters": [{"name": "auth." + c.name, "value": c.text}]}}}}, "argoproj.io/v1alpha1"),
    "helm object": lambda c: manifest("HelmRelease", {"spec": {"values": {"auth": {c.name: c.text}}}},
                                      "helm.toolkit.fluxcd.io/v2"),
    "Secret data": lambda c: manifest("Secret", {"data": {"x": b64(c.text)}}),
    "Secret stringData": lambda c: manifest("Secret", {"type": "Opaque", "stringData": {"x": c.text}}),
    "Secret in a List": lambda c: {"apiVersion": "v1", "kind": "List", "metadata": {"name": "probe"},
                                   "items": [manifest("Secret", {"data": {"x": b64(c.text)}})]},
    "mapping key": lambda c: manifest("Widget", {"spec": {"accounts": {c.text: "admin"}}}, "example.com/v1"),
    "resource field": lambda c: manifest("Widget", {"spec": {"backend": {c.name: c.text}}}, "example.com/v1"),
    "bare in a list": lambda c: manifest("Widget", {"spec": {"items": ["first", c.text]}}, "example.com/v1"),
    "tag list": lambda c: manifest("Widget", {"spec": {"tags": [{"key": c.name, "value": c.text}]}}, "example.com/v1"),
}

# What looks like a secret, or is named like one, and is none.
HARMLESS = {
    "digest": lambda m: config_map(data={"image": "quay.io/a/b@sha256:" + m.some(credentials.HEX, 64)}),
    "commit": lambda m: config_map(data={"revision": m.some(credentials.HEX, 40)}),
    "md5": lambda m: config_map(data={"sum": m.some(credentials.HEX, 32)}),
    "uuid": lambda m: config_map(data={"id": m.uuid()}),
    "integrity": lambda m: config_map(data={"integrity": "sha512-" + b64(m.random.randbytes(64))}),
    "fingerprint": lambda m: config_map(data={"known": "SHA256:" + b64(m.random.randbytes(32)).rstrip("=")}),
    "certificate": lambda m: config_map(data={"ca.crt": m.pem("CERTIFICATE")}),
    "bundle in base64": lambda m: manifest("Widget", {"webhook": {"caBundle": b64(m.pem("CERTIFICATE") * 3)}}),
    "public key": lambda m: config_map(data={"key.pub": m.pem("PUBLIC KEY")}),
    "ssh key": lambda m: config_map(data={"authorized_keys": "ssh-ed25519 " + b64(
        b"\0\0\0\x0bssh-ed25519\0\0\0\x20" + m.random.randbytes(32)) + " ops@example.com"}),
    "resources": lambda m: config_map(data={
        "ami": "ami-" + m.some(credentials.HEX, 17), "vpc": "vpc-" + m.some(credentials.HEX, 17),
        "zone": "Z" + m.some(credentials.UPPER + credentials.DIGITS, 20), "arn":
        "arn:aws:iam::123456789012:role/gpu-" + m.some(credentials.LOWER, 12)}),
    "references": lambda m: deployment({"env": [
        {"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": "db-login", "key": "password"}}},
        {"name": "API_TOKEN_FILE", "value": "/var/run/secrets/tokens/api"},
        {"name": "TOKEN", "value": "$(OTHER_TOKEN)"}]}),
    "names": lambda m: manifest("Widget", {"spec": {
        "secretName": "my-secret-17", "existingSecret": "registry-login", "tokenSecretRef": {"name": "x", "key": "y"},
        "imagePullSecrets": ["registry-login"], "passwordKey": "password", "automountServiceAccountToken": True,
        "tokenExpirationSeconds": 3600, "credentialsMode": "Mint", "apiKey": "${API_KEY}", "password": "<password>",
        "clientSecret": "REDACTED", "token": "***", "maxTokens": 4096, "tokenizer": "org/model-7b",
        "privateKeyPath": "/etc/tls/tls.key", "secret": "kubernetes-dashboard-certs", "pullSecret": ""}}, "example.com/v1"),
    "ExternalSecret": lambda m: manifest("ExternalSecret", {"spec": {
        "secretStoreRef": {"name": "vault", "kind": "ClusterSecretStore"}, "target": {"name": "db"},
        "data": [{"secretKey": "password", "remoteRef": {"key": "secret/data/db", "property": "password"}}]}},
        "external-secrets.io/v1"),
    "SealedSecret": lambda m: manifest("SealedSecret", {"spec": {"encryptedData": {
        "password": sealed(m, 40), "token": sealed(m, 900)},
        "template": {"metadata": {"name": "db"}}}}, "bitnami.com/v1alpha1"),
    "Secret of SOPS": lambda m: manifest("Secret", {
        "stringData": {"password": by_sops(m, 20), "empty": ""},
        "sops": {"mac": by_sops(m, 88), "encrypted_regex": "^(data|stringData)$", "age": [
            {"recipient": "age1" + "q" * 58, "enc": "-----BEGIN AGE ENCRYPTED FILE-----\n"
             + b64(m.random.randbytes(150)) + "\n-----END AGE ENCRYPTED FILE-----\n"}]}}),
    "Secret without data": lambda m: manifest("Secret", {"type": "kubernetes.io/service-account-token"}),
    "prose": lambda m: config_map(data={"README": "Password: ask the team.\nThe token: see Vault.\n"
                                        "Basic authentication, bearer tokens: none. secret=<yours>\n"}),
    "script": lambda m: config_map(data={"run.sh": shell(
        'PASSWORD="$1"\nTOKEN=$(oc whoami -t)\ncurl -H "Authorization: Bearer ${TOKEN}" https://git@example.com\n'
        'export KEY_FILE=/etc/key.pem')}),
    "code": lambda m: config_map(data={"main.py": "password = os.environ['X']\ntoken = get_token(args.token)\n"}),
    "addresses": lambda m: config_map(data={"urls": "ssh://git@git.example.com/x git@git.example.com:a/b.git "
                                            "https://example.com:8443/@scope/x mailto:ops@example.com"}),
    "quantities": lambda m: manifest("Widget", {"spec": {"limits": {"nvidia.com/mig-1g.10gb": 7}}}, "example.com/v1"),
}


def block(node, indent=0):
    """The tree as YAML in block style: what people write."""
    pad = " " * indent
    if isinstance(node, dict) and node:
        return "".join(pad + json.dumps(key) + ":" + inline(value, indent) for key, value in node.items())
    if isinstance(node, list) and node:
        return "".join(pad + "-" + inline(value, indent) for value in node)
    return pad + json.dumps(node) + "\n"


def inline(value, indent):
    if isinstance(value, (dict, list)) and value:
        return "\n" + block(value, indent + 2)
    return " " + json.dumps(value) + "\n"


def blueprint(number):
    return {"apiVersion": "gpuctl.dev/v1alpha1", "kind": "Blueprint", "metadata": {"name": f"c{number:03}"},
            "spec": {"platform": "aws", "baseDomain": "example.com", "openshift": {"version": "4.20"},
                     "aws": {"region": "eu-central-1"}, "access": {"pullSecret": {"env": "PULL_SECRET"}},
                     "gitops": {"engine": "argocd", "repoURL": "https://git.example.com/fleet.git"},
                     "gpuPools": [{"name": "gpu", "instanceType": "g5.xlarge", "replicas": 1}]}}


class Case:
    def __init__(self, folder, number, what, made, credential=None):
        self.what = what
        self.credential = credential
        self.file = folder / f"c{number:03}.yaml"
        tree = blueprint(number)
        if callable(made):
            made(tree["spec"])
        else:
            (folder / f"m{number:03}.yaml").write_text(block(made))
            tree["spec"]["extraManifests"] = [{"layer": "50-platform", "path": f"m{number:03}.yaml"}]
        self.file.write_text(block(tree))

    def shown_in(self, output):
        secret = re.sub(r"\s", "", self.credential.secret)
        text = output.decode(errors="replace")
        for piece in {secret, urllib.parse.quote(secret, safe="")}:
            size = min(WINDOW, len(piece))
            # Each window has a whole block of half its size in it: without one of these, there is none to look for.
            half = max(size // 2, 1)
            if not any(piece[at:at + half] in text for at in range(0, len(piece) - half + 1, half)):
                continue
            # The first bytes are the mark of the kind; the last are as good as any.
            for at in range(min(8, len(piece) - size), len(piece) - size + 1):
                window = piece[at:at + size]
                # What every credential of the kind has, such as the middle of a URL, says nothing.
                if window in text and len(set(window)) > 4 and not window.isalpha():
                    return window
        return None


def plant(folder):
    """Every kind in several places, every place with several kinds."""
    order = list(PLACES)
    chance = random.Random(SEED)
    chance.shuffle(order)
    cases = []
    rounds = 0
    while len(cases) < CASES:
        for index, credential in enumerate(credentials.make(SEED + rounds)):
            place = order[(index + rounds * 11) % len(order)]
            # Places and kinds that exclude each other: nobody writes a key file as a name.
            if place == "mapping key" and "\n" in credential.text:
                continue
            if len(cases) < CASES:
                cases.append(Case(folder, len(cases), f"{credential.kind} in {place}",
                                  PLACES[place](credential), credential))
        rounds += 1
    return cases


def judge(tally, gpuctl, env, folder, cases):
    """What `validate` and `apply` say of each case."""
    def both(case):
        validated = run([gpuctl, "-v", "validate", case.file], env=env, cwd=folder)
        applied = run([gpuctl, "--format", "json", "apply", case.file, "--repo", folder / "repos" / case.file.stem],
                      env=env, cwd=folder)
        return case, validated, applied

    counts = collections.Counter()
    missed = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for case, validated, applied in pool.map(both, cases):
            tally.check(validated.returncode == applied.returncode,
                        f"{case.what}: validate {validated.returncode}, apply {applied.returncode}")
            found = CODES.search(validated.stderr.decode(errors="replace"))
            refused = validated.returncode == 1
            verdict = "refused" if refused else "warned" if found else "missed"
            counts[verdict] += 1
            if not refused:
                missed.append(f"  {verdict}: {case.what} ({case.credential.name})")
            for output in (validated.stdout, validated.stderr, applied.stdout, applied.stderr):
                shown = case.shown_in(output)
                tally.check(not shown, f"{case.what}: `{shown}` is shown")
            if applied.returncode == 0:
                log = run(["git", "-C", folder / "repos" / case.file.stem, "log", "--format=%B"], env=env)
                tally.check(not case.shown_in(log.stdout), f"{case.what}: in the commit message")
    refused, noticed = counts["refused"] / len(cases), 1 - counts["missed"] / len(cases)
    print(f"{len(cases)} credentials: {counts['refused']} refused, {counts['warned']} warned, {counts['missed']} missed")
    for line in missed:
        print(line)
    tally.check(refused >= REFUSED, f"only {refused:.1%} are refused")
    tally.check(noticed >= NOTICED, f"only {noticed:.1%} are refused or warned of")


def other_commands(tally, gpuctl, env, folder, cases):
    """The rest of what shows values, over a part of the cases."""
    files = [case.file for case in cases]
    batches = [
        ["--format", "json", "-v", "validate", *files],
        ["render", *files, "--stdout"],
        ["-v", "render", *files, "-o", folder / "out"],
    ]
    for command in batches:
        done = run([gpuctl, *command], env=env, cwd=folder)
        for case in cases:
            # Credentials are random: a piece of one is a piece of no other.
            shown = None if done.returncode == 0 else case.shown_in(done.stdout + done.stderr)
            tally.check(not shown, f"{command[0]}: {case.what}: `{shown}` is shown")
    for case in cases[::20]:
        done = run([gpuctl, "explain", "--origin", "ClusterPolicy/gpu-cluster-policy", "spec.driver", case.file],
                   env=env, cwd=folder)
        shown = case.shown_in(done.stdout + done.stderr)
        tally.check(not shown, f"explain: {case.what}: `{shown}` is shown")


def harmless(tally, gpuctl, env, folder):
    maker = credentials.Maker(SEED)
    cases = [Case(folder, number, name, made(maker)) for number, (name, made) in enumerate(HARMLESS.items())]
    for case in cases:
        done = run([gpuctl, "validate", case.file], env=env, cwd=folder)
        tally.check(not FINDINGS.search(done.stderr), f"{case.what}: {done.stderr.decode()}")
    for sample in samples():
        done = run([gpuctl, "validate", sample], env=env, cwd=folder)
        tally.check(not FINDINGS.search(done.stderr), f"{sample.name}: {done.stderr.decode()}")


def rendered_trees(tally, gpuctl, env, folder):
    """Everything that golden cases render, and published CRDs, once more as texts of a ConfigMap."""
    golden = pathlib.Path(__file__).resolve().parent.parent / "golden"
    paths = [path for path in golden.glob("*/*/tree/**/*") if path.is_file()]
    # The lock is not searched as a file; what --install-dir wrote is there for its secrets.
    texts = sorted({path.read_text(errors="replace") for path in paths
                    if path.name != "gpuctl.lock" and not re.search("license-private|GPU0642", str(path))})
    if SHARED.is_dir():
        crds = sorted((SHARED / "schemas").rglob("*.yaml"))[::6]
        texts += [text for path in crds if len(text := path.read_text()) < 200_000]
    size, groups = 0, [[]]
    for text in texts:
        if size + len(text) > 800_000:
            size, groups = 0, groups + [[]]
        groups[-1].append(text)
        size += len(text)
    cases = [Case(folder, number, f"texts {number}", config_map(data={str(i): text for i, text in enumerate(group)}))
             for number, group in enumerate(groups)]
    for case in cases:
        done = run([gpuctl, "validate", case.file], env=env, cwd=folder)
        tally.check(not FINDINGS.search(done.stderr), f"{case.what}: {done.stderr.decode()[:2000]}")


def main():
    gpuctl = arguments(__doc__).gpuctl
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="corpus-") as temporary:
        folder = pathlib.Path(temporary)
        for name in ("planted", "planted/repos", "harmless", "trees", "home"):
            (folder / name).mkdir()
        env = environment(folder / "home")
        cases = plant(folder / "planted")
        judge(tally, gpuctl, env, folder / "planted", cases)
        other_commands(tally, gpuctl, env, folder / "planted", cases)
        harmless(tally, gpuctl, env, folder / "harmless")
        rendered_trees(tally, gpuctl, env, folder / "trees")
    tally.close()


if __name__ == "__main__":
    main()
