#!/usr/bin/env python3
"""No secret input shows anywhere, whatever a user does with it.

Plants a marker in each place that takes a secret, and in each where one gets by mistake: a token in
the place of a name, a plain Secret in the place of a sealed one, a password in an address. Runs all
commands that a user would, in text and JSON and verbose, and looks for the marker in stdout, stderr,
rendered trees, Git objects and the home directory. The one place it may be in is the directory for
secrets: 0700 with 0600 files, whatever the umask.
"""

import base64
import hashlib
import json
import os
import pathlib
import stat
import sys
import tempfile
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from support.program import Tally, arguments, environment, read_tree, run  # noqa: E402

MARK = "M4rkThatNobodyMaySee7Qz9"
WINDOW = 20  # a rest of a token that is twice as long is found

BLUEPRINT = """\
apiVersion: gpuctl.dev/v1alpha1
kind: Blueprint
metadata: {name: lab}
spec:
  platform: vsphere
  baseDomain: example.com
  openshift: {version: "4.20"}
  vsphere:
    vCenters:
      - {server: vcenter.example.com, user: ops@vsphere.local, password: {env: PASSWORD}, datacenters: [dc1]}
    failureDomains:
      - name: fd-1
        region: dc1
        zone: rack-1
        server: vcenter.example.com
        topology:
          datacenter: dc1
          computeCluster: /dc1/host/gpu
          datastore: /dc1/datastore/nvme
          networks: [VM Network]
    apiVIPs: [10.0.0.5]
    ingressVIPs: [10.0.0.6]
  access:
    pullSecret: PULL_SECRET
    sshKey: {env: SSH_KEY}
    MORE_ACCESS
  gpuPools:
    - name: gpu
      gpu: {model: L40S, perNode: 1}
      delivery: vgpu
      vgpu: {type: L40S-24C}
      template: rhcos-gpu
      cpus: 16
      memoryMiB: 65536
      replicas: 1
  gpuStack:
    gpuOperator:
      MORE_OPERATOR
      driver:
        repository: registry.example.com/nvidia
        image: vgpu-guest-driver
        version: 580.159.03
        pullSecret: DRIVER_SECRET
    license:
      token: TOKEN
  gitops: {repoURL: "REPO_URL"}
MORE_SPEC
"""
FACTS = """\
apiVersion: gpuctl.dev/v1alpha1
kind: Facts
metadata: {name: lab}
spec: {infraID: lab-abcde}
"""
GOOD = {"PULL_SECRET": "{env: PULL}", "MORE_ACCESS": "", "MORE_OPERATOR": "", "MORE_SPEC": "",
        "DRIVER_SECRET": "{existing: registry}", "TOKEN": "{existing: licence}",
        "REPO_URL": "https://git.example.com/fleet.git"}


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


ISSUED = 1761955200  # 2025-11-01, before the day from which the tests look


def token(header=None, **claims):
    everything = {
        "jti": MARK, "iss": "NLS Service Instance", "aud": "NLS Licensed Client",
        "iat": ISSUED, "nbf": ISSUED, "exp": 4102444800,
        "service_instance_configuration": {
            "svc_port_set_list": [{"d_name": "DLS", "svc_port_map": [{"service": "auth", "port": 443}]}],
            "node_url_list": [{"url": "dls.example.com"}]},
        "key": MARK, **claims}
    signature = base64url(hashlib.sha512(b"no real signature").digest() * 4) + MARK
    return ".".join([base64url(json.dumps(header or {"alg": "RS256", "typ": "JWT"}).encode()),
                     base64url(json.dumps(everything).encode()), signature])


TOKEN = token()
BROKEN = {
    "cut": TOKEN[: len(TOKEN) // 2],
    "two parts": TOKEN.rsplit(".", 1)[0],
    "lines": TOKEN[:100] + "\n" + TOKEN[100:],
    "claims": TOKEN.replace(".", ".A", 1),
    "unsigned": token({"alg": "none"}),
    "expired": token(exp=ISSUED + 1),
    "soon": token(nbf=4102444000),
    "times": token(exp=MARK),
    "no service": token(service_instance_configuration=MARK),
    "addresses": token(service_instance_configuration={"node_url_list": [{"url": MARK + " /"}]}),
    "issuer": token(iss=MARK),
    "json": base64url(b"{}") + "." + base64url(('{"a": "%s"' % MARK).encode()) + "." + MARK,
    "twice": base64url(b"{}") + "." + base64url(('{"%s": 1, "%s": 2}' % (MARK, MARK)).encode()) + "." + MARK,
    "text": MARK + " is the password",
    "yaml": "a: [" + MARK + "\n\t- " + MARK,
}


def forms(secret):
    """All in which a secret could show: pieces of it, plain and in base64."""
    pieces = [secret[i:i + WINDOW] for i in range(0, len(secret) - WINDOW + 1, WINDOW)]
    for shift in range(3):
        encoded = base64.b64encode(secret[shift:].encode()).decode().rstrip("=")
        pieces += [encoded[i:i + WINDOW] for i in range(0, len(encoded) - WINDOW + 1, WINDOW)]
    # The header of each token is the same, and says nothing.
    return [piece for piece in {MARK, *pieces} if piece not in base64url(b'{"alg": "RS256", "typ": "JWT"}')]


class Scene:
    def __init__(self, folder, secret=TOKEN, files=(), variables=(), **places):
        self.folder = folder
        self.inputs = folder / "inputs"
        self.inputs.mkdir(parents=True)
        self.home = folder / "home"
        self.home.mkdir()
        text = BLUEPRINT
        for name, value in {**GOOD, **places}.items():
            text = text.replace(name, value, 1) if name != "MORE_SPEC" else text.replace(name, value)
        (self.inputs / "lab.yaml").write_text(text)
        (self.inputs / "lab.facts.yaml").write_text(FACTS)
        for name, content in dict(files).items():
            (self.inputs / name).write_text(content)
        login = base64.b64encode(f"user:{MARK}".encode()).decode()
        public = base64.b64encode(b"\0\0\0\x0bssh-ed25519\0\0\0\x20" + bytes(range(32))).decode()
        self.env = environment(self.home, **{
            "PULL": json.dumps({"auths": {"registry.example.com": {"auth": login}}}),
            "PASSWORD": MARK, "SSH_KEY": f"ssh-ed25519 {public}", **dict(variables)})
        self.forms = [form.encode() for form in {*forms(secret), *forms(login)}]
        self.out = folder / "out"
        self.private = folder / "private"
        self.repo = folder / "repo"


def look(tally, scene, what, content):
    for form in scene.forms:
        if not tally.check(form not in content, f"{what}: {form.decode()} is there"):
            return


def call(tally, scene, what, command, codes, stdin=None):
    before = os.umask(0o000)
    try:
        done = run(command, env=scene.env, cwd=scene.inputs, input=stdin)
    finally:
        os.umask(before)
    tally.check(done.returncode in codes,
                f"{what}: exit code {done.returncode}, not {codes}: {done.stderr.decode()}")
    look(tally, scene, f"{what}, stdout", done.stdout)
    look(tally, scene, f"{what}, stderr", done.stderr)


def check_places(tally, scene, what):
    """All that was written, but for what is in the directory for secrets."""
    for place in (scene.out, scene.repo, scene.home):
        if place.is_dir():
            for path, content in read_tree(place).items():
                look(tally, scene, f"{what}: {place.name}/{path}", content)
    if scene.repo.is_dir():
        objects = run(["git", "-C", scene.repo, "cat-file", "--batch-all-objects", "--batch"], env=scene.env)
        look(tally, scene, f"{what}: Git objects", objects.stdout)
    for path in [scene.private, *scene.private.rglob("*")] if scene.private.exists() else []:
        mode = stat.S_IMODE(path.stat().st_mode)
        tally.check(mode == (0o700 if path.is_dir() else 0o600), f"{what}: {path.name} is {mode:o}")


def check_blueprint(tally, gpuctl, scene, what, validate, apply, private):
    """`validate`, `apply`, `private`: the exit codes of the commands, of the last with --install-dir."""
    blueprint = "lab.yaml"
    call(tally, scene, f"{what} validate", [gpuctl, "-v", "validate", blueprint], {validate})
    call(tally, scene, f"{what} json", [gpuctl, "--format", "json", "validate", blueprint], {validate})
    call(tally, scene, f"{what} stdout", [gpuctl, "-v", "render", blueprint, "--stdout"], {validate})
    call(tally, scene, f"{what} render",
         [gpuctl, "-v", "render", blueprint, "-o", scene.out, "--install-dir", scene.private], {private})
    call(tally, scene, f"{what} render json",
         [gpuctl, "--format", "json", "render", blueprint, "-o", scene.out, "--install-dir", scene.private],
         {private})
    call(tally, scene, f"{what} apply", [gpuctl, "-v", "apply", blueprint, "--repo", scene.repo], {apply})
    call(tally, scene, f"{what} apply json",
         [gpuctl, "--format", "json", "apply", blueprint, "--repo", scene.repo], {apply})
    call(tally, scene, f"{what} explain",
         [gpuctl, "explain", "--origin", "ClusterPolicy/gpu-cluster-policy", "spec.driver", blueprint], {0, 1})
    check_places(tally, scene, what)


def secret_manifest(kind, key, value, entry="client_configuration_token.tok"):
    return (f"apiVersion: v1\nkind: {kind}\nmetadata: {{name: licensing-config, namespace: nvidia-gpu-operator}}\n"
            f"{key}:\n  gridd.conf: FeatureType=1\n  {entry}: {value}\n")


def encoded(text):
    return base64.b64encode(text.encode()).decode()


def references(tally, gpuctl, folder):
    """The licence by file and variable: kept from Git, and in the directory for secrets alone."""
    for way, place, given in (("env", "{env: LICENCE}", {"variables": {"LICENCE": TOKEN}}),
                              ("file", "{file: licence.tok}", {"files": {"licence.tok": TOKEN + "\n"}})):
        scene = Scene(folder / f"good-{way}", TOKEN=place, **given)
        check_blueprint(tally, gpuctl, scene, f"token by {way}", 1, 1, 0)
        held = [path for path in scene.private.rglob("*secret-*licensing-config.yaml")]
        tally.check(len(held) == 1 and TOKEN in held[0].read_text(), f"token by {way}: not in its place")
        tally.check(not list(scene.out.rglob("secret-*")), f"token by {way}: rendered")
        for name, text in BROKEN.items():
            given = ({"variables": {"LICENCE": text}} if way == "env" else {"files": {"licence.tok": text}})
            scene = Scene(folder / f"{name}-{way}", secret=text, TOKEN=place, **given)
            # An odd issuer is only a warning.
            check_blueprint(tally, gpuctl, scene, f"{name} by {way}", 1, 1, 0 if name == "issuer" else 1)


def misplaced(tally, gpuctl, folder):
    """A secret where a name, an encrypted value or a file of another kind belongs."""
    flow = json.dumps({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"},
                       "stringData": {"client_configuration_token.tok": TOKEN}})
    plain = secret_manifest("Secret", "stringData", TOKEN)
    config = secret_manifest("ConfigMap", "data", TOKEN)
    override = ("  overrides: [{target: {kind: ClusterPolicy}, patch: {metadata: {annotations: {note: \"%s\"}}}}]"
                % TOKEN)
    manifests = "  extraManifests: [{layer: 50-platform, path: more.yaml}]"
    cases = {
        "in clear": {"TOKEN": json.dumps(TOKEN)},
        "as a value": {"TOKEN": '{value: "%s"}' % TOKEN},
        "as a name": {"TOKEN": '{existing: "%s"}' % TOKEN},
        "as an entry": {"TOKEN": '{externalSecret: {store: vault, key: "%s"}}' % TOKEN},
        "as a file": {"TOKEN": '{file: "%s"}' % TOKEN},
        "as a variable": {"TOKEN": '{env: "%s"}' % TOKEN},
        "as a sealed file": {"TOKEN": '{sealedSecret: {file: "%s"}}' % TOKEN},
        "as a product": {"TOKEN": '{existing: x}\n      product: "%s"' % TOKEN},
        "as a manifest": {"MORE_SPEC": '  extraManifests: [{layer: 50-platform, path: "%s"}]' % TOKEN},
        "sealed: a token": {"TOKEN": "{sealedSecret: {file: x.yaml}}", "files": {"x.yaml": TOKEN}},
        "sealed: a Secret": {"TOKEN": "{sealedSecret: {file: x.yaml}}", "files": {"x.yaml": plain}},
        "sealed: a Secret in JSON": {"TOKEN": "{sealedSecret: {file: x.yaml}}", "files": {"x.yaml": flow}},
        "sealed: a ConfigMap": {"TOKEN": "{sealedSecret: {file: x.yaml}}", "files": {"x.yaml": config}},
        "sealed: no YAML": {"TOKEN": "{sealedSecret: {file: x.yaml}}", "files": {"x.yaml": plain + "a: [\n"}},
        "sealed: two documents": {"TOKEN": "{sealedSecret: {file: x.yaml}}",
                                  "files": {"x.yaml": plain + "---\n" + plain}},
        "sealed: inline": {"TOKEN": "\n        sealedSecret:\n          manifest:\n"
                                    + textwrap.indent(plain, " " * 12)},
        "sealed: clear data": {"TOKEN": "{sealedSecret: {encryptedData: {client_configuration_token.tok: \"%s\"}}}"
                                        % TOKEN},
        "sealed: base64": {"TOKEN": "{sealedSecret: {encryptedData: {client_configuration_token.tok: %s}}}"
                                    % encoded(TOKEN)},
        "driver secret": {"DRIVER_SECRET": '{password: "%s"}' % TOKEN},
        "pull secret": {"PULL_SECRET": json.dumps(TOKEN)},
        "cluster policy": {"MORE_OPERATOR":
                           'clusterPolicy: {driver: {env: [{name: NAME, value: "%s"}]}}' % TOKEN},
        "override": {"MORE_SPEC": override},
        "manifest: Secret": {"MORE_SPEC": manifests, "files": {"more.yaml": plain}},
        "manifest: base64": {"MORE_SPEC": manifests,
                             "files": {"more.yaml": secret_manifest("Secret", "data", encoded(TOKEN))}},
        "manifest: other key": {"MORE_SPEC": manifests,
                                "files": {"more.yaml": secret_manifest("Secret", "data", encoded(TOKEN), "t")}},
        "manifest: ConfigMap": {"MORE_SPEC": manifests, "files": {"more.yaml": config}},
        "manifest: binary": {"MORE_SPEC": manifests, "files": {"more.yaml":
                             secret_manifest("ConfigMap", "binaryData", encoded(TOKEN))}},
        "manifest: no YAML": {"MORE_SPEC": manifests, "files": {"more.yaml": plain + "\tbad: ["}},
        "proxy": {"MORE_ACCESS": f'proxy: {{httpProxy: "http://user:{MARK}@proxy.example.com:3128"}}'},
        "repository": {"REPO_URL": f"https://user:{MARK}@git.example.com/fleet.git"},
    }
    for number, (name, case) in enumerate(cases.items()):
        scene = Scene(folder / str(number), **case)
        check_blueprint(tally, gpuctl, scene, name, 1, 1, 1)


def addresses(tally, gpuctl, folder):
    """A password in the address of a repository."""
    scene = Scene(folder / "address")
    for address in (f"https://user:{MARK}@127.0.0.1:1/fleet.git", f"ssh://user:{MARK}@127.0.0.1:1/fleet.git"):
        for more in ([], ["-v"], ["--format", "json"]):
            call(tally, scene, f"address {' '.join(more)}",
                 [gpuctl, *more, "apply", "lab.yaml", "--repo", address, "--timeout", "20"], {1})
    check_places(tally, scene, "address")


def commands(tally, gpuctl, folder):
    """`license check`, and manifests of others."""
    for number, (name, text) in enumerate({"good": TOKEN, **BROKEN}.items()):
        scene = Scene(folder / f"check-{number}", secret=text, files={"x.tok": text})
        for more in ([], ["-o", "json"], ["--date", "2026-09-01"]):
            for what, stdin in (("x.tok", None), ("-", text.encode())):
                good = name in ("good", "issuer")
                for verbose in ([], ["-v"], ["--format", "json"]):
                    call(tally, scene, f"check {name} {what} {more}",
                         [gpuctl, *verbose, "license", "check", what, *more], {0 if good else 1}, stdin)
    scene = Scene(folder / "words")
    call(tally, scene, "token for a file", [gpuctl, "license", "check", TOKEN], {1})
    call(tally, scene, "token for a date", [gpuctl, "license", "check", "-", "--date", TOKEN], {64}, b"")
    manifests = {
        "Secret": secret_manifest("Secret", "stringData", TOKEN),
        "base64": secret_manifest("Secret", "data", encoded(TOKEN)),
        "ConfigMap": secret_manifest("ConfigMap", "data", TOKEN),
        "misspelled": secret_manifest("ConfigMap", "data", TOKEN, "client_config_token.tok"),
        "folded": secret_manifest("ConfigMap", "data", "|\n    " + TOKEN),
        "no YAML": secret_manifest("ConfigMap", "data", TOKEN) + "\tx: [",
        "JSON": json.dumps({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"},
                            "stringData": {"client_configuration_token.tok": TOKEN}}),
    }
    policy = ("---\napiVersion: nvidia.com/v1\nkind: ClusterPolicy\nmetadata: {name: gpu-cluster-policy}\n"
              "spec: {driver: {licensingConfig: {configMapName: licensing-config, nlsEnabled: true}}}\n")
    for number, (name, text) in enumerate(manifests.items()):
        scene = Scene(folder / f"others-{number}", files={"others.yaml": text + policy})
        for more in ([], ["-v"], ["--format", "json"]):
            call(tally, scene, f"validate {name}", [gpuctl, *more, "validate", "others.yaml"], {0, 1})
            call(tally, scene, f"import {name}",
                 [gpuctl, *more, "import", "others.yaml", "-o", scene.folder / f"imported{len(more)}"], {0, 1})
        for path, content in read_tree(scene.folder).items():
            if not str(path).startswith("inputs/"):
                look(tally, scene, f"import {name}: {path}", content)


def main():
    gpuctl = arguments(__doc__).gpuctl
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="secret-inputs-") as temporary:
        folder = pathlib.Path(temporary)
        references(tally, gpuctl, folder / "references")
        misplaced(tally, gpuctl, folder / "misplaced")
        addresses(tally, gpuctl, folder / "addresses")
        commands(tally, gpuctl, folder / "commands")
    tally.close()


if __name__ == "__main__":
    main()
