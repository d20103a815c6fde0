#!/usr/bin/env python3
"""Secrets of the blueprint in Git, encrypted: by a double of sops that records what it sees, and sealed.

Looked at: what is committed and in which form, that runs without a change commit nothing, when values are
encrypted anew and when they are kept without anybody reading them, that plans need no secret, what is said
when something fails, and that no secret shows anywhere: not in Git, messages, arguments or files.
That sops, Flux and the controller of Sealed Secrets can open it, tests/interop/git_secrets.py shows.
"""

import base64
import json
import pathlib
import re
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]
from scene import FORMS, LAYER, LOGIN, TOKEN, Scene, shows  # noqa: E402
from support.program import Tally, arguments  # noqa: E402

US = "age1" + "q" * 58
THEM = "age1" + "p" * 58
SOPS = f"{{sops: {{recipients: [{US}]}}}}"
SEALED = "{sealedSecrets: {certificate: {file: fleet.pem}}}"
CIPHER = re.compile(r"ENC\[AES256_GCM,data:[A-Za-z0-9+/=]*,iv:[A-Za-z0-9+/=]+,tag:[A-Za-z0-9+/=]+,type:str\]")
SOPS_FILES = {"secret-nvidia-gpu-operator-driver-pull-secret.yaml", "secret-nvidia-gpu-operator-licensing-config.yaml"}


def said(done):
    return (done.stdout + done.stderr).decode()


def quiet(tally, what, done):
    tally.check(not shows(said(done)), f"{what}: a secret is shown: {said(done)}")


def expect(tally, what, done, code, *texts):
    good = done.returncode == code and all(text in said(done) for text in texts)
    tally.check(good, f"{what}: {done.returncode}: wanted {code} and {texts}: {said(done)}")
    quiet(tally, what, done)


def nothing_leaked(tally, what, scene):
    for name, content in scene.everything().items():
        tally.check(not shows(content), f"{what}: a secret is in {name}")


def sops_scene(gpuctl, folder, **more):
    return Scene(gpuctl, folder, "flux", SOPS, **more).with_double()


def sealed_scene(gpuctl, folder, secrets=SEALED, engine="argocd"):
    scene = Scene(gpuctl, folder, engine, secrets)
    shutil.copy(HERE / "good.pem", scene.inputs / "fleet.pem")
    return scene


def records(scene):
    return [json.loads(line) for line in scene.record.read_text().splitlines()] if scene.record.exists() else []


def check_sops(tally, gpuctl, folder):
    scene = sops_scene(gpuctl, folder)
    expect(tally, "sops: apply", scene.apply(SOPS_PGP_FP="A" * 40, SOPS_AGE_RECIPIENTS=THEM), 0, "committed")
    files = scene.files()
    tally.check(set(files) == SOPS_FILES, f"sops: files {set(files)}")
    for name, content in files.items():
        text = content.decode()
        tally.check(text.startswith("apiVersion: v1\nkind: Secret\n") and "namespace: nvidia-gpu-operator" in text
                    and len(CIPHER.findall(text)) >= 2 and f"recipient: {US}" in text, f"sops: {name}: {text}")
    layer = scene.git("show", "main:clusters/prod/lab/flux/ks-30-operator-crs.yaml")
    tally.check("decryption:\n    provider: sops\n    secretRef:\n      name: sops-age\n" in layer, f"sops: {layer}")
    other = scene.git("show", "main:clusters/prod/lab/flux/ks-40-gpu.yaml")
    tally.check("decryption" not in other, "sops: a layer without secrets has keys")
    check_calls(tally, scene)
    nothing_leaked(tally, "sops", scene)
    check_reruns(tally, "sops", scene)
    scene.write("flux", f"{{sops: {{recipients: [{US}, {THEM}], keySecret: fleet-key}}}}")
    expect(tally, "sops: another recipient", scene.apply(), 0, "updated")
    for name, content in scene.files().items():
        tally.check(content != files[name] and THEM.encode() in content, f"sops: {name} is for the old keys")
    before = scene.head()
    scene.write("flux", f"{{sops: {{recipients: [{THEM}, {US}], keySecret: fleet-key}}}}")
    expect(tally, "sops: recipients in another order", scene.apply(), 0)
    tally.check(scene.head() == before, "sops: the order of recipients made a commit")
    nothing_leaked(tally, "sops, later", scene)


def check_calls(tally, scene):
    """The program got the secret from memory alone, and nothing of the surroundings."""
    calls = records(scene)
    tally.check(len(calls) == 2, f"sops was called {len(calls)} times")
    for call in calls:
        tally.check(bool(shows(call["input"])), "the double got no secret, so that nothing is proved")
        seen = " ".join([*call["argv"], *call["cmdlines"]])
        tally.check(not shows(seen), f"a secret is in the arguments: {seen}")
        tally.check(call["stdin"].startswith("/memfd:"), f"standard input is {call['stdin']}")
        tally.check(call["cwd"] == "/" and call["argv"][-1] == "/dev/stdin", f"{call['cwd']} {call['argv']}")
        foreign = {name for name in call["env"] if name.startswith("SOPS_")}
        tally.check(foreign == {"SOPS_DISABLE_VERSION_CHECK"}, f"the surroundings have a say: {foreign}")


def check_reruns(tally, what, scene):
    """Runs that change nothing, with the secrets there and without them."""
    before, calls = scene.head(), len(records(scene))
    expect(tally, f"{what}: again", scene.apply("--full"), 0, "no change")
    (scene.inputs / "registry.json").rename(scene.inputs / "away")
    gone = {"LICENCE": None}
    expect(tally, f"{what}: without the secrets", scene.apply("--full", **gone), 0, "no change")
    expect(tally, f"{what}: validate without them", scene.run("validate", "lab.yaml", **gone), 0)
    for command in ("plan", "diff"):
        expect(tally, f"{what}: {command} without them", scene.run(command, "lab.yaml", "--repo", scene.repo, **gone), 0)
    done = scene.apply("--refresh-secrets", **gone)
    expect(tally, f"{what}: anew without them", done, 1, "GPU0605", "`LICENCE` is not set", "has to be encrypted")
    (scene.inputs / "away").rename(scene.inputs / "registry.json")
    tally.check(scene.head() == before and len(records(scene)) == calls, f"{what}: a run without a change did something")
    kept = scene.files()
    expect(tally, f"{what}: anew", scene.apply("--refresh-secrets"), 0, "committed")
    for name, content in scene.files().items():
        tally.check(content != kept[name], f"{what}: {name} is the old one")
    refreshed = scene.head()
    expect(tally, f"{what}: after that", scene.apply("--full"), 0, "no change")
    tally.check(scene.head() == refreshed, f"{what}: a commit after that")
    expect(tally, f"{what}: dry run anew", scene.apply("--refresh-secrets", "--dry-run", **gone), 0, "3 updated")
    scene.git("update-ref", "refs/heads/main", before)


def check_branches(tally, gpuctl, folder):
    """A branch that is planned anew keeps what it has encrypted."""
    scene = sealed_scene(gpuctl, folder)
    scene.write("argocd", SEALED)
    without = scene.blueprint.read_text().replace("pullSecret: {file: registry.json}", "pullSecret: {existing: registry}")
    full = scene.blueprint.read_text()
    scene.blueprint.write_text(without)
    expect(tally, "branch: base", scene.apply(), 0, "committed")
    scene.blueprint.write_text(full)
    expect(tally, "branch: first", scene.apply("--branch", "more"), 0, "committed")
    before = scene.git("rev-parse", "more")
    expect(tally, "branch: again", scene.apply("--branch", "more", "--full", LICENCE=None), 0)
    tally.check(scene.git("rev-parse", "more") == before, "branch: it was made anew with other bytes")
    nothing_leaked(tally, "branch", scene)


def check_edited(tally, gpuctl, folder):
    """What somebody encrypted by hand is nobody's to overwrite."""
    scene = sops_scene(gpuctl, folder)
    expect(tally, "edited: apply", scene.apply(), 0)
    scene.git("worktree", "add", "-q", "--detach", str(folder / "work"), "main")
    name = f"{LAYER}/secret-nvidia-gpu-operator-licensing-config.yaml"
    path = folder / "work" / name
    path.write_text(path.read_text().replace("version: 3.10.2", "version: 3.11.0"))
    scene.git("-C", str(folder / "work"), "commit", "-qam", "By hand")
    scene.git("update-ref", "refs/heads/main", scene.git("-C", str(folder / "work"), "rev-parse", "HEAD").strip())
    expect(tally, "edited", scene.apply(), 1, "GPU0612", "licensing-config.yaml")


def check_extra(tally, gpuctl, folder):
    """What people encrypted themselves stays as it is, to the byte of its values, and is decrypted."""
    scene = sops_scene(gpuctl, folder, more="  extraManifests: [{path: own.yaml, layer: 50-platform}]\n")
    cipher = "ENC[AES256_GCM,data:eA==,iv:" + "A" * 43 + "=,tag:" + "A" * 22 + "==,type:str]"
    (scene.inputs / "own.yaml").write_text(
        f"apiVersion: v1\nkind: Secret\nmetadata: {{name: own, namespace: team}}\nstringData: {{password: '{cipher}'}}\n"
        f"sops: {{mac: '{cipher}', encrypted_regex: '^(data|stringData)$'}}\n")
    expect(tally, "extra", scene.apply(), 0, "committed")
    text = scene.git("show", "main:clusters/prod/lab/layers/50-platform/secret-team-own.yaml")
    tally.check("annotations" not in text and text.count(cipher) == 2, f"extra: {text}")
    layer = scene.git("show", "main:clusters/prod/lab/flux/ks-50-platform.yaml")
    tally.check("provider: sops" in layer, f"extra: {layer}")


def check_faults(tally, gpuctl, folder):
    scene = sops_scene(gpuctl, folder)
    texts = {"fail": ("GPU0855", "ended with code 128", "no such recipient"), "clear": ("GPU0856", "not encrypted"),
             "others": ("GPU0856", "others can decrypt it"), "fewer": ("GPU0856", "not all recipients"),
             "rename": ("GPU0856", "`metadata` is another one"), "garbage": ("GPU0856",)}
    for mode, wanted in texts.items():
        expect(tally, f"sops, {mode}", scene.apply(DOUBLE_MODE=mode), 1, *wanted)
        tally.check(not scene.repo.exists() or not scene.git("branch", "--list", "main"), f"sops, {mode}: it committed")
    (scene.programs / "sops").chmod(0o644)
    expect(tally, "no sops", scene.apply(PATH="/nowhere"), 1, "GPU0854")
    (scene.programs / "sops").chmod(0o755)
    (scene.inputs / "registry.json").write_text(LOGIN.replace("auths", "oaths"))
    expect(tally, "no logins", scene.apply(), 1, "GPU0859", "have no `auths`")
    (scene.inputs / "registry.json").write_text(LOGIN)
    expect(tally, "half a token", scene.apply(LICENCE=TOKEN[:len(TOKEN) // 2]), 1, "GPU266")
    nothing_leaked(tally, "faults", scene)


def check_sealed(tally, gpuctl, folder):
    scene = sealed_scene(gpuctl, folder)
    expect(tally, "sealed: apply", scene.apply(), 0, "committed")
    files = scene.files()
    tally.check(set(files) == {f"sealed{name}" for name in SOPS_FILES}, f"sealed: files {set(files)}")
    for name, content in files.items():
        text = content.decode()
        values = re.findall(r"^    \S+: \"?(Ag[A-Za-z0-9+/=]{300,}|AQ[A-Za-z0-9+/=]{300,})\"?$", text, re.M)
        tally.check(len(values) == 1 and "kind: SealedSecret" in text, f"sealed: {name}: {text}")
        tally.check(base64.b64decode(values[0])[:2] == b"\1\0" if values else False, f"sealed: {name}: no RSA of 2048 bits")
    tally.check(b"FeatureType=1" in files["sealedsecret-nvidia-gpu-operator-licensing-config.yaml"],
                "sealed: what is no secret is not readable")
    tally.check(not records(scene), "sealed: a program was called")
    nothing_leaked(tally, "sealed", scene)
    check_reruns(tally, "sealed", scene)
    scene.write("argocd", SEALED, "  overrides:\n    - target: {kind: SealedSecret}\n"
                                  "      patch: {metadata: {labels: {team: gpu}}}\n")
    expect(tally, "sealed: a label", scene.apply(LICENCE=None), 0, "updated")
    for name, content in scene.files().items():
        tally.check(b"team: gpu" in content and re.findall(rb"A[gQ][A-Za-z0-9+/=]{300,}", content)
                    == re.findall(rb"A[gQ][A-Za-z0-9+/=]{300,}", files[name]), f"sealed: {name}: other ciphertexts")
    for scope in ("namespace-wide", "cluster-wide"):
        scene.write("argocd", SEALED.replace("}}}", f"}}, scope: {scope}}}}}"))
        expect(tally, f"sealed {scope}", scene.apply(), 0, "updated")
        for name, content in scene.files().items():
            wanted = f'sealedsecrets.bitnami.com/{scope}: "true"'.encode()
            tally.check(content.count(wanted) == 2, f"sealed {scope}: {name}: {content.decode()}")
    nothing_leaked(tally, "sealed, later", scene)


def check_render(tally, gpuctl, folder):
    """A directory holds what Git would; nothing of it is for the directory for secrets."""
    scene = sealed_scene(gpuctl, folder)
    out, private = folder / "out", folder / "private"
    words = ("render", "lab.yaml", "-o", out, "--install-dir", private)
    env = {"VCENTER": "vcenter-password-1", "PULL": LOGIN}
    expect(tally, "render", scene.run(*words, **env), 0)
    first = {path.name: path.read_bytes() for path in (out / LAYER).iterdir()}
    tally.check(sum(name.startswith("sealedsecret-") for name in first) == 2, f"render: {set(first)}")
    tally.check([path.name for path in private.rglob("*.yaml")] == ["install-config.yaml"],
                "render: an encrypted secret is among those for people")
    expect(tally, "render again", scene.run(*words, **env), 0, "no change")
    tally.check(first == {path.name: path.read_bytes() for path in (out / LAYER).iterdir()}, "render: other bytes")


def main():
    gpuctl = arguments(__doc__).gpuctl
    tally = Tally()
    for check in (check_sops, check_branches, check_edited, check_extra, check_faults, check_sealed, check_render):
        with tempfile.TemporaryDirectory(prefix="git-secrets-") as temporary:
            check(tally, gpuctl, pathlib.Path(temporary))
    tally.check(len(FORMS) > 5, "no secrets to look for")
    tally.close()


if __name__ == "__main__":
    main()
