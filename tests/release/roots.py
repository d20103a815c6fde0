#!/usr/bin/env python3
"""Installs a release in fresh roots of distributions, without a compiler, as docs/releases.md says, and runs it.

  roots.py RELEASE [--roots DIR] [--only NAME]...

RELEASE is what release.sh made. Each root is made by debootstrap of what a mirror has (minutes, root, and the
network), or taken from --roots, where it is kept. No pipeline runs it. What cannot be had is said.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
from support.program import ROOT, SKIPPED, Tally, run, skip  # noqa: E402

DEBIAN = "http://deb.debian.org/debian"
# Name: suite, mirror (of Debian the one that this machine uses), and a keyring where there is one.
ROOTS = {
    "debian-12": ("bookworm", None),
    "debian-13": ("trixie", None),
    "ubuntu-24.04": ("noble", "http://archive.ubuntu.com/ubuntu"),
}
SAMPLE = ROOT / "blueprints/aws-minimal.yaml"
MOST_SECONDS = 60
COMPILERS = ("cc", "c++", "gcc", "g++", "clang", "cmake")


def mirror_here():
    """The mirror of Debian that this machine takes its packages from."""
    sources = [pathlib.Path("/etc/apt/sources.list"), *sorted(pathlib.Path("/etc/apt/sources.list.d").glob("*"))]
    text = "\n".join(path.read_text() for path in sources if path.is_file())
    found = re.search(r"^(?:deb (?:\[.*?\] )?|URIs: *)(https?://\S+/debian)/?(?:\s|$)", text, re.M)
    return found[1] if found else DEBIAN


def script_of(suite):
    """All suites of one distribution are made alike: debootstrap may be older than they are."""
    scripts = pathlib.Path("/usr/share/debootstrap/scripts")
    if (scripts / suite).exists():
        return []
    return [str(scripts / ("gutsy" if suite in ("noble",) else "sid"))]


def make(root, suite, mirror):
    """What debootstrap says where it cannot; nothing otherwise."""
    mirror = mirror or mirror_here()
    keys = [] if "ubuntu" not in mirror or pathlib.Path("/usr/share/keyrings/ubuntu-archive-keyring.gpg").exists() else ["--no-check-gpg"]
    done = run(["debootstrap", "--variant=minbase", *keys, suite, root, mirror, *script_of(suite)], timeout=900)
    if done.returncode != 0:
        shutil.rmtree(root, ignore_errors=True)
        return (done.stdout + done.stderr).decode(errors="replace").strip().splitlines()[-1]
    return ""


class Root:
    def __init__(self, path):
        self.path = path

    def run(self, *command):
        return run(["chroot", self.path, *command], timeout=300, env={"PATH": "/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin", "HOME": "/root"})

    def take(self, folder):
        """The release, and a blueprint, as files of the root."""
        place = self.path / "root/release"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(folder, place)
        for file in (SAMPLE, SAMPLE.with_suffix(".facts.yaml")):
            shutil.copy(file, self.path / "root")


def try_program(tally, name, root):
    """It renders, and commits without a git program."""
    shutil.rmtree(root.path / "root/out", ignore_errors=True)
    done = root.run("gpuctl", "render", "/root/aws-minimal.yaml", "-o", "/root/out")
    tally.check(done.returncode == 0, f"{name}: render: {done}")
    shutil.rmtree(root.path / "root/fleet", ignore_errors=True)
    done = root.run("gpuctl", "apply", "/root/aws-minimal.yaml", "--repo", "/root/fleet", "--init")
    tally.check(done.returncode == 0, f"{name}: apply: {done}")


def examine(tally, name, root, release):
    root.take(release)
    there = [tool for tool in COMPILERS if root.run("sh", "-c", f"command -v {tool}").returncode == 0]
    tally.check(not there, f"{name}: {there} in a fresh root")
    archive = next(release.glob("*.tar.gz")).name
    started = time.monotonic()
    done = root.run("sh", "/root/release/install.sh", "--from", f"/root/release/{archive}")
    tally.check(done.returncode == 0, f"{name}: install.sh: {done}")
    done = root.run("gpuctl", "version")
    seconds = time.monotonic() - started
    tally.check(done.returncode == 0 and done.stdout.startswith(b"gpuctl "), f"{name}: version: {done}")
    tally.check(seconds < MOST_SECONDS, f"{name}: {seconds:.0f} s from the archive to `gpuctl version`")
    try_program(tally, name, root)
    for file in root.run("sh", "-c", "find /usr/local -path '*gpuctl*' ! -type d").stdout.decode().split():
        (root.path / file.lstrip("/")).unlink()
    package = next(release.glob("*.deb")).name
    started = time.monotonic()
    done = root.run("dpkg", "--install", f"/root/release/{package}")
    tally.check(done.returncode == 0, f"{name}: dpkg --install: {done}")
    done = root.run("gpuctl", "version")
    of_package = time.monotonic() - started
    tally.check(done.returncode == 0, f"{name}: version of the package: {done}")
    tally.check(root.run("sh", "-c", "command -v gpuctl").stdout == b"/usr/bin/gpuctl\n", f"{name}: another gpuctl")
    try_program(tally, name, root)
    done = root.run("dpkg", "--purge", "gpuctl")
    left = root.run("sh", "-c", "find /usr /etc -path '*gpuctl*'").stdout.decode().split()
    tally.check(done.returncode == 0 and not [path for path in left if not path.startswith("/usr/local")],
                f"{name}: dpkg --purge: {done}, left {left[:5]}")
    print(f"{name}: archive {seconds:.1f} s, package {of_package:.1f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("release", type=pathlib.Path)
    parser.add_argument("--roots", type=pathlib.Path, help="where roots are kept, or taken from")
    parser.add_argument("--only", action="append", choices=sorted(ROOTS))
    options = parser.parse_args()
    if shutil.which("debootstrap") is None:
        skip("fresh roots", "debootstrap is not here")
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="gpuctl-roots-") as temporary:
        folder = options.roots or pathlib.Path(temporary)
        for name, (suite, mirror) in ROOTS.items():
            if options.only and name not in options.only:
                continue
            place = folder / name
            if not place.exists() and (why := make(place, suite, mirror)):
                print(f"{name}: left out: {why}")
                continue
            examine(tally, name, Root(place), options.release.resolve())
    if not tally.passed and not tally.failed:
        print("SKIPPED: fresh roots: none can be made here")
        sys.exit(SKIPPED)
    print("Fedora: left out: no root of it can be made from packages of this machine")
    tally.close()


if __name__ == "__main__":
    main()
