"""Secrets that gpuctl encrypted for Git open with what opens them in a cluster.

SOPS: encrypted by the real sops, decrypted by sops with a key of age, and, as Flux does it without the
authentication of all, by the same after an annotation was added. Sealed: opened by the code of the controller
(sealedsecrets/main.go), by no other key, and under no other name where the scope forbids it.
"""

import base64
import json
import os
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "git_secrets")]
from interop.tools import go_install, go_program  # noqa: E402
from scene import LAYER, LOGIN, TOKEN, Scene, shows  # noqa: E402
from support.program import environment, run  # noqa: E402

LICENCE = "licensing-config"
REGISTRY = "driver-pull-secret"
WANTED = {LICENCE: {"gridd.conf": b"FeatureType=1\n", "client_configuration_token.tok": TOKEN.encode()},
          REGISTRY: {".dockerconfigjson": LOGIN.encode()}}


def sops():
    return go_install("github.com/getsops/sops/v3/cmd/sops", "v3.10.2")


def keygen():
    return go_install("filippo.io/age/cmd/age-keygen", "v1.2.1")


def new_key(path):
    """A new key of age; gives its public part."""
    done = run([keygen(), "-o", path])
    found = re.search(rb"age1[a-z0-9]+", done.stderr + path.read_bytes())
    return found[0].decode()


def decrypted(path, key, *more):
    done = run([sops(), "--decrypt", *more, "--output-type", "json", path],
               env=environment(path.parent, SOPS_AGE_KEY_FILE=key))
    if done.returncode != 0:
        raise ValueError(done.stderr.decode())
    return json.loads(done.stdout)


def values_of(secret):
    values = {key: value.encode() for key, value in secret.get("stringData", {}).items()}
    values.update({key: base64.b64decode(value) for key, value in secret.get("data", {}).items()})
    return values


def written(scene, kind, name):
    """A committed file as a file, so that programs can read it."""
    path = scene.folder / f"{kind}-{name}.yaml"
    path.write_text(scene.git("show", f"main:{LAYER}/{kind}-nvidia-gpu-operator-{name}.yaml"))
    return path


def check_sops(tally, gpuctl, folder):
    keys = folder / "keys"
    keys.mkdir()
    ours, theirs, nobody = (keys / name for name in ("ours", "theirs", "nobody"))
    recipients = [new_key(ours), new_key(theirs)]
    new_key(nobody)
    scene = Scene(gpuctl, folder, "flux", f"{{sops: {{recipients: [{', '.join(recipients)}]}}}}")
    (scene.programs / "sops").symlink_to(sops())
    # Neither has a say: with them sops would add keys or refuse.
    (scene.inputs / ".sops.yaml").write_text("creation_rules: [{path_regex: none, pgp: 'AAAA'}]\n")
    done = scene.apply(SOPS_PGP_FP="85D77543B3D624B63CEA9E6DBC17301B491B3F21", SOPS_AGE_RECIPIENTS=recipients[1])
    if not tally.check(done.returncode == 0, f"sops: {done.stderr.decode()}"):
        return
    for name, wanted in WANTED.items():
        path = written(scene, "secret", name)
        for key in (ours, theirs):
            try:
                secret = decrypted(path, key)
            except ValueError as problem:
                tally.check(False, f"sops, {name}: {problem}")
                continue
            tally.check(values_of(secret) == wanted, f"sops, {name}: {sorted(values_of(secret))} come out")
            tally.check(secret["metadata"]["name"] == name and secret["kind"] == "Secret", f"sops, {name}: {secret}")
        try:
            decrypted(path, nobody)
            tally.check(False, f"sops, {name}: anybody can decrypt it")
        except ValueError:
            tally.check(True, "")
        # kustomize adds what belongs to the layer, so the engine does not ask for the authentication.
        text = path.read_text()
        path.write_text(text.replace("metadata:\n", "metadata:\n  labels:\n    added: later\n", 1))
        tally.check(values_of(decrypted(path, ours, "--ignore-mac")) == wanted, f"sops, {name}: not as the engine does it")
        path.write_text(text)
    for name, content in scene.everything().items():
        tally.check(not shows(content), f"sops: a secret is in {name}")
    before = scene.head()
    done = scene.apply("--full", LICENCE=None)
    tally.check(done.returncode == 0 and scene.head() == before, f"sops: again: {done.stderr.decode()}")
    slip = recipients[0][:-1] + ("p" if recipients[0].endswith("q") else "q")
    scene.write("flux", f"{{sops: {{recipients: [{slip}]}}}}")
    done = scene.apply()
    tally.check(done.returncode == 1 and b"GPU0855" in done.stderr and not shows(done.stderr),
                f"sops, a recipient with a slip: {done.stderr.decode()}")


def opened(program, key, path):
    done = run([program, "unseal", key, path])
    return (json.loads(done.stdout) if done.returncode == 0 else None), done.stderr.decode()


def check_sealed(tally, gpuctl, folder):
    program = go_program(HERE / "sealedsecrets")
    for number, scope in enumerate(("strict", "namespace-wide", "cluster-wide")):
        scene = Scene(gpuctl, folder / scope, "argocd", f"{{sealedSecrets: {{certificate: {{file: c.pem}}, scope: {scope}}}}}")
        key, other = folder / scope / "key.pem", folder / scope / "other.pem"
        for place, certificate in ((key, scene.inputs / "c.pem"), (other, folder / scope / "unused.pem")):
            run([program, "key", place, certificate])
        done = scene.apply()
        if not tally.check(done.returncode == 0, f"sealed, {scope}: {done.stderr.decode()}"):
            continue
        for name, wanted in WANTED.items():
            path = written(scene, "sealedsecret", name)
            secret, problem = opened(program, key, path)
            if not tally.check(secret is not None, f"sealed, {scope}, {name}: {problem}"):
                continue
            tally.check(values_of(secret) == wanted, f"sealed, {scope}, {name}: {sorted(values_of(secret))} come out")
            tally.check(secret["metadata"]["namespace"] == "nvidia-gpu-operator" and secret.get("type", "Opaque")
                        == ("Opaque" if name == LICENCE else "kubernetes.io/dockerconfigjson"), f"sealed, {name}: {secret}")
            tally.check(opened(program, other, path)[0] is None, f"sealed, {scope}, {name}: another key opens it")
            text = path.read_text()
            # Under another name, then in another namespace.
            moves = ((f"name: {name}", "name: elsewhere", 1), ("namespace: nvidia-gpu-operator", "namespace: other", 2))
            for old, new, most in moves:
                path.write_text(text.replace(old, new))
                moved, _ = opened(program, key, path)
                tally.check((moved is not None) == (number >= most), f"sealed, {scope}, {name}: {new}: {moved is not None}")
            path.write_text(text)
        for name, content in scene.everything().items():
            tally.check(not shows(content), f"sealed, {scope}: a secret is in {name}")


def check_git_secrets(tally, gpuctl, folder):
    for name, check in (("sops", check_sops), ("sealed", check_sealed)):
        (folder / name).mkdir()
        check(tally, gpuctl, folder / name)
