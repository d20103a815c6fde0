#!/usr/bin/env python3
"""Makes a release twice and looks at it: the same bytes, the parts that it names, what installs of it and what is
refused, and whether it runs where nothing of the build is. It takes some minutes where nothing is built yet.

  run.py [--build DIR] [--fresh]

--fresh: the second time in another folder, from the first file on; cheap with a cache of objects, which knows
those of a folder beside the first.
"""

import argparse
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
from support.program import ROOT, Tally, environment, read_tree, run, skip  # noqa: E402

SAMPLE = ROOT / "blueprints/aws-minimal.yaml"
# What a program may be linked with: the C library alone.
NEEDED = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
# All a root has in the test of the archive: the C library, as README.md says.
LIBRARIES = re.compile(r"(/\S+/(?:libc\.so\.6|libm\.so\.6|ld-linux\S*))")
TOOLS = ("cmake", "ninja", "ssh-keygen", "readelf", "dpkg-query")


def release(build, output, key, **more):
    env = {**os.environ, **more}
    done = run([ROOT / ".ci/release/release.sh", "--build", build, "--output", output, "--key", key],
               timeout=3600, env=env, cwd="/")
    if done.returncode != 0:
        sys.exit(f"release.sh failed:\n{done.stdout.decode()[-3000:]}{done.stderr.decode()[-3000:]}\n0 passed, 1 failed")


def keys(folder):
    for name in ("ours", "another"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", folder / name], check=True)
    return folder / "ours", folder / "another"


def check_bytes(tally, one, two):
    first, second = read_tree(one), read_tree(two)
    tally.check(first.keys() == second.keys(), f"other files the second time: {sorted(first.keys() ^ second.keys())}")
    for name in sorted(first.keys() & second.keys()):
        tally.check(first[name] == second[name], f"{name}: other bytes the second time")
    archive = first[next(name for name in first if name.endswith(".tar.gz"))]
    tally.check(str(ROOT).encode() not in archive, "the archive names the folder of the source")


def install(folder, prefix, *options, name=None):
    archive = name or next(folder.glob("*.tar.gz"))
    env = environment(prefix.parent, PREFIX=prefix)
    return run(["sh", folder / "install.sh", "--from", archive, *options], env=env, cwd=folder)


def check_install(tally, made, ours, another, scratch):
    prefix = scratch / "prefix"
    done = install(made, prefix, "--key", f"{ours}.pub")
    tally.check(done.returncode == 0 and b"the signature is by a key" in done.stdout, f"install.sh: {done}")
    tally.check(install(made, prefix, name=next(made.glob("*.tar.gz")).name).returncode == 0, "a second time, by a relative name")
    for path in ("bin/gpuctl", "bin/gpuctl-ci", "share/man/man1/gpuctl.1", "share/bash-completion/completions/gpuctl",
                 "share/zsh/site-functions/_gpuctl", "share/fish/vendor_completions.d/gpuctl.fish",
                 "share/doc/gpuctl/gpuctl.spdx.json", "share/gpuctl/blueprints/aws-minimal.yaml"):
        tally.check((prefix / path).is_file(), f"not installed: {path}")
    mode = (prefix / "bin/gpuctl").stat().st_mode & 0o777
    tally.check(mode == 0o755, f"mode of the program: {mode:o}")
    refusals = {
        "another byte": (lambda copy: alter(next(copy.glob("*.tar.gz"))), (), "is not the archive that"),
        "no sums": (lambda copy: (copy / "SHA256SUMS").unlink(), (), "to check"),
        "not in the sums": (lambda copy: (copy / "SHA256SUMS").write_text(""), (), "does not name"),
        "no signature": (lambda copy: (copy / "SHA256SUMS.sig").unlink(), ("--key", f"{ours}.pub"), "are not signed"),
        "another key": (lambda copy: None, ("--key", f"{another}.pub"), "has no signature by a key"),
        "other sums": (lambda copy: alter(copy / "SHA256SUMS"), ("--key", f"{ours}.pub"), "has no signature by a key"),
        "no key": (lambda copy: None, ("--key", scratch / "nothing"), "there is no key"),
    }
    for what, (change, options, words) in refusals.items():
        copy, target = scratch / what, scratch / f"{what}.prefix"
        shutil.copytree(made, copy)
        change(copy)
        done = install(copy, target, *options)
        tally.check(done.returncode == 1 and words in done.stderr.decode(), f"{what}: {done}")
        tally.check(not target.exists(), f"{what}: something was installed")
    done = run(["sh", made / "install.sh", "demo", "--from", "x"])
    tally.check(done.returncode == 64, "only install takes an archive")
    return prefix


def alter(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def owners(*paths):
    """The packages that have one of the files, whichever way round the merge of /usr has it."""
    names = {str(pathlib.Path(path).resolve()) for path in paths}
    names |= {name.removeprefix("/usr") for name in names}
    done = subprocess.run(["dpkg-query", "--search", *sorted(names)], capture_output=True, text=True)
    return {line.partition(":")[0] for line in done.stdout.splitlines()}


def check_parts(tally, made, program, build):
    """The list of parts against the program's own table and against the line that linked it."""
    parts = json.loads(next(made.glob("*.spdx.json")).read_text())
    bonds = {}
    for bond in parts["relationships"]:
        ends = {bond["spdxElementId"], bond["relatedSpdxElement"]} - {"SPDXRef-gpuctl", "SPDXRef-DOCUMENT"}
        bonds.setdefault(bond["relationshipType"], set()).update(ends)
    names = {part["SPDXID"]: part["name"] for part in parts["packages"]}
    of = {kind: {names[end] for end in ends} for kind, ends in bonds.items()}
    tally.check(set(bonds) == {"DESCRIBES", "STATIC_LINK", "CONTAINS", "DYNAMIC_LINK", "RUNTIME_DEPENDENCY_OF"}, str(set(bonds)))
    text = run(["readelf", "-d", "-W", program]).stdout.decode()
    needed = set(re.findall(r"NEEDED.*\[(.+)\]", text))
    tally.check(needed <= NEEDED, f"the program is linked with {sorted(needed - NEEDED)}")
    tally.check(of["DYNAMIC_LINK"] == {"libc6"}, f"shared: {of['DYNAMIC_LINK']}")
    tally.check(of["RUNTIME_DEPENDENCY_OF"] == {"libcurl4"}, f"loaded late: {of['RUNTIME_DEPENDENCY_OF']}")
    line = run(["ninja", "-C", build, "-t", "commands", "-s", "gpuctl"]).stdout.decode()
    archives = {word for word in line.split() if word.startswith("/") and word.endswith(".a")}
    linked = owners(*archives)
    # The compiler's own are on no line: it adds them.
    own = {name for name in of["STATIC_LINK"] if re.fullmatch(r"libc6-dev|libgcc-\d+-dev|libstdc\+\+-\d+-dev", name)}
    tally.check(len(own) == 3, f"of the compiler: {own}")
    tally.check(of["STATIC_LINK"] - own == linked, f"linked {sorted(linked)}, listed {sorted(of['STATIC_LINK'] - own)}")
    check_compiled(tally, of, build)
    for part in parts["packages"]:
        if part["SPDXID"] != "SPDXRef-gpuctl":
            shown = run(["dpkg-query", "-W", "-f", "${Version}\n", part["name"]]).stdout.decode().split("\n")
            tally.check(part["versionInfo"] in shown, f"{part['name']}: {part['versionInfo']}, and dpkg has {shown}")
    digest = run(["sha256sum", program]).stdout.decode().split()[0]
    tally.check(parts["packages"][0]["checksums"][0]["checksumValue"] == digest, "the list is of another program")


def check_compiled(tally, of, build):
    """The packages of headers, once more: of what our own source includes, and what that includes in turn."""
    text = "".join(path.read_text() for suffix in ("cpp", "hpp") for path in sorted((ROOT / "src").rglob(f"*.{suffix}")))
    included = sorted(set(re.findall(r"^#include (<[^>]+>)", text, re.M)))
    commands = json.loads((build / "compile_commands.json").read_text())
    words = {word for one in commands if "/src/" in one["file"] for word in shlex.split(one["command"])}
    flags = sorted(word for word in words if word.startswith(("-D", "-std=")) and "=/" not in word)
    done = run(["g++", "-x", "c++", "-M", *flags, "-"], input="".join(f"#include {name}\n" for name in included).encode())
    files = {word for word in done.stdout.decode().split() if word.startswith("/")}
    found = owners(*files) - of["STATIC_LINK"]
    tally.check(done.returncode == 0 and found == of["CONTAINS"],
                f"headers of {sorted(found)}, listed {sorted(of['CONTAINS'])}: {done.stderr.decode()[-500:]}")


def bare_root(root, program):
    """A root of the C library, and a blueprint."""
    for library in LIBRARIES.findall(run(["ldd", program]).stdout.decode()):
        target = root / library.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(os.path.realpath(library), target)
    for folder in ("tmp", "work"):
        (root / folder).mkdir()
    for file in (SAMPLE, SAMPLE.with_suffix(".facts.yaml")):
        shutil.copy(file, root / "work")


def inside(root, *command, program="/usr/local/bin/gpuctl"):
    enter = ["chroot"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "chroot"]
    env = environment("/work", PATH=os.environ["PATH"] + ":/usr/sbin", PULL_SECRET='{"auths":{}}')
    return run([*enter, root, program, *command], env=env)


def check_runs(tally, what, root, program):
    """What was installed in a bare root works there."""
    if b"Operation not permitted" in (done := inside(root, "version", program=program)).stderr:
        skip("the root without a build", "no right to change the root")
    tally.check(done.returncode == 0 and done.stdout.startswith(b"gpuctl "), f"{what}: version: {done}")
    done = inside(root, "render", "/work/aws-minimal.yaml", "-o", "/work/out", program=program)
    tally.check(done.returncode == 0 and (root / "work/out/clusters").is_dir(), f"{what}: render: {done}")
    done = inside(root, "apply", "/work/aws-minimal.yaml", "--repo", "/work/fleet", "--init", program=program)
    tally.check(done.returncode == 0 and b"committed" in done.stdout + done.stderr, f"{what}: apply: {done}")
    done = inside(root, "doctor", "/work/aws-minimal.yaml", program=program)
    tally.check(b"cannot load libcurl.so.4" in done.stdout + done.stderr, f"{what}: doctor without libcurl: {done}")


def check_bare(tally, prefix, scratch):
    root = scratch / "root"
    bare_root(root, prefix / "bin/gpuctl")
    shutil.copytree(prefix, root / "usr/local")
    check_runs(tally, "archive", root, "/usr/local/bin/gpuctl")


def check_rpm(tally, made, prefix, scratch):
    """The RPM package, installed in a root of its own: what `rpm` verifies there, and that it runs."""
    package = next(made.glob("*.rpm"), None)
    if package is None or shutil.which("rpm") is None:
        print("SKIPPED: the RPM package is not installed: no rpm here")
        return
    root = scratch / "rpm.root"
    root.mkdir()
    bare_root(root, prefix / "bin/gpuctl")
    become = [] if os.geteuid() == 0 else ["unshare", "--map-root-user"]
    rpm = [*become, "rpm", "--root", root, "--dbpath", "/var/lib/rpm"]
    # Its C library is no package of that root.
    done = run([*rpm, "--install", "--nodeps", "--nosignature", package])
    if not tally.check(done.returncode == 0, f"rpm --install: {done}"):
        return
    done = run([*rpm, "--verify", "--nodeps", "gpuctl"])
    tally.check(done.returncode == 0 and not done.stdout, f"rpm --verify: {done}")
    check_runs(tally, "rpm", root, "/usr/bin/gpuctl")
    done = run([*rpm, "--erase", "gpuctl"])
    left = [path for path in (root / "usr").rglob("*") if "gpuctl" in path.name]
    tally.check(done.returncode == 0 and not left, f"rpm --erase: {done}, left {left}")


def check_image(tally, made, scratch):
    """The root of the image: its size, and commands that need git and libcurl."""
    done = run([ROOT / ".ci/release/image.sh", next(made.glob("*.tar.gz")), scratch / "image"])
    if not tally.check(done.returncode == 0, f"image.sh: {done}"):
        return
    packed = scratch / "image/root.tar.gz"
    tally.check(packed.stat().st_size < 60_000_000, f"the image has {packed.stat().st_size} bytes")
    root = scratch / "image.root"
    root.mkdir()
    subprocess.run(["tar", "-xzf", packed, "-C", root], check=True)
    for file in (SAMPLE, SAMPLE.with_suffix(".facts.yaml")):
        shutil.copy(file, root / "work")
    if os.geteuid() == 0:  # git asks for it, and only root makes one; those who run images do
        (root / "dev").mkdir()
        os.mknod(root / "dev/null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        # As far as git gets where nobody answers: it, its part for https and their libraries are there.
        done = inside(root, "apply", "/work/aws-minimal.yaml", "--repo", "https://127.0.0.1:1/fleet.git", program="/usr/bin/gpuctl")
        said = done.stdout + done.stderr
        tally.check(b"127.0.0.1 port 1" in said and b"git program" not in said, f"image: apply: {done}")
    done = inside(root, "doctor", "/work/aws-minimal.yaml", program="/usr/bin/gpuctl")
    tally.check(b"cannot load" not in done.stdout + done.stderr, f"image: doctor: {done}")


def check_packages(tally, made, prefix, scratch):
    """What the packages of distributions hold: the program as in the archive, and what belongs beside it."""
    program = (prefix / "bin/gpuctl").read_bytes()
    deb = next(made.glob("*.deb"))
    subprocess.run(["dpkg-deb", "-x", deb, scratch / "deb"], check=True)
    common = {"usr/bin/gpuctl", "usr/bin/gpuctl-ci", "usr/share/man/man1/gpuctl.1.gz", "usr/share/doc/gpuctl/notices/libgit2-dev",
              "usr/share/bash-completion/completions/gpuctl", "usr/share/fish/vendor_completions.d/gpuctl.fish"}
    files = read_tree(scratch / "deb")
    of_deb = {"usr/share/zsh/vendor-completions/_gpuctl", "usr/share/doc/gpuctl/copyright", "usr/share/doc/gpuctl/changelog.gz"}
    tally.check(common | of_deb <= files.keys(), f"deb: without {sorted((common | of_deb) - files.keys())}")
    tally.check(files["usr/bin/gpuctl"] == program, "deb: another program")
    fields = run(["dpkg-deb", "-f", deb]).stdout.decode()
    tally.check(re.search(r"^Depends: libc6 \(>= 2\.\d+\)$", fields, re.M) is not None, f"deb: {fields}")
    listed = run(["dpkg-deb", "-c", deb]).stdout.decode().splitlines()
    tally.check(all(" root/root " in line for line in listed), "deb: files of somebody else than root")
    rpm = next(made.glob("*.rpm"), None)
    if rpm is None:
        tally.check(shutil.which("rpmbuild") is None, "rpmbuild is here, and there is no RPM package")
        return
    # Path, size, time, SHA-256, mode, owner and group of each file.
    rows = [line.split() for line in run(["rpm", "-qp", "--dump", rpm]).stdout.decode().splitlines()]
    digests = {row[0]: row[3] for row in rows}
    wanted = {f"/{name}" for name in common | {"usr/share/zsh/site-functions/_gpuctl", "usr/share/doc/gpuctl/LICENSE"}}
    tally.check(wanted <= digests.keys(), f"rpm: without {sorted(wanted - digests.keys())}")
    tally.check({"/", "/usr", "/usr/bin", "/usr/share"}.isdisjoint(digests), "rpm: it owns folders of the system")
    tally.check(digests.get("/usr/bin/gpuctl") == hashlib.sha256(program).hexdigest(), "rpm: another program")
    tally.check({tuple(row[5:7]) for row in rows} == {("root", "root")}, "rpm: files of somebody else than root")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/static")
    parser.add_argument("--fresh", action="store_true")
    options = parser.parse_args()
    for tool in TOOLS:
        if shutil.which(tool) is None:
            skip("releases", f"{tool} is not here")
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="gpuctl-release-") as temporary:
        scratch = pathlib.Path(temporary)
        ours, another = keys(scratch)
        one, two = scratch / "one", scratch / "two"
        build = options.build.resolve()
        release(build, one, ours)
        again = build.parent / f"{build.name}-again" if options.fresh else build
        if options.fresh:
            shutil.rmtree(again, ignore_errors=True)
        release(again, two, ours, TZ="Asia/Tokyo", LANG="de_DE.UTF-8")
        if options.fresh:
            shutil.rmtree(again)
        check_bytes(tally, one, two)
        prefix = check_install(tally, one, ours, another, scratch)
        check_parts(tally, one, prefix / "bin/gpuctl", build)
        check_packages(tally, one, prefix, scratch)
        check_bare(tally, prefix, scratch)
        check_rpm(tally, one, prefix, scratch)
        check_image(tally, one, scratch)
    tally.close()


if __name__ == "__main__":
    main()
