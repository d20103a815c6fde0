#!/usr/bin/env python3
"""Writes what a release is made of, as SPDX 2.3: each Debian package of which the program has code, is linked with,
or loads something while it runs. It asks the map that the linker wrote, the headers that the compiler read, the
program itself, and dpkg about whose these files are; nothing is listed by hand.

  parts.py --build DIR --program FILE --version VERSION --architecture NAME --notices DIR >gpuctl.spdx.json

Copyright and licences of the packages whose code is in the program are copied to the directory of notices.
SOURCE_DATE_EPOCH is the time of the document.
"""

import argparse
import datetime
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

STATIC, COMPILED, SHARED, LOADED = "STATIC_LINK", "CONTAINS", "DYNAMIC_LINK", "RUNTIME_DEPENDENCY_OF"
COMMENTS = {
    STATIC: "parts of its archives are in the program",
    COMPILED: "headers alone: what they define is compiled into the program",
    SHARED: "the loader needs it at the start",
    LOADED: "loaded while the program runs, by the commands that need it; the others run without it",
}


def say(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def linked(build):
    """Files of others that the linker took something of: archives, by the members that it took, and objects."""
    text = (build / "gpuctl.map").read_text(errors="replace")
    found = set(re.findall(r"^(\S+\.a)\([^)]*\)$", text, re.M))
    found |= set(re.findall(r"^LOAD (\S+\.o)$", text, re.M))
    return {path for path in (pathlib.Path(build, name).resolve() for name in found) if ours(path, build) is False}


def ours(path, build):
    return any(path.is_relative_to(place) for place in (build, ROOT))


def headers(build):
    text = say("ninja", "-C", str(build), "-t", "deps")
    found = {line.strip() for line in text.splitlines() if line.startswith("    ")}
    paths = {pathlib.Path(build, name).resolve() for name in found}
    return {path for path in paths if not ours(path, build)}


def needed(build, program):
    """Paths of the shared libraries that the program names."""
    names = re.findall(r"\(NEEDED\).*\[(.+)\]", say("readelf", "--dynamic", "--wide", str(program)))
    return {located(build, name) for name in names}


def loaded(build):
    """Paths of the libraries that have jumps in the program (cmake/late_library.cmake)."""
    commands = (build / "compile_commands.json").read_text()
    found = set()
    for stubs in build.glob("*_stubs.S"):
        macro = "GPUCTL_" + stubs.name.removesuffix("_stubs.S").upper()
        found.add(located(build, re.search(rf'-D{macro}=[\\"]*([^\\" ]+)', commands)[1]))
    return found


def located(build, soname):
    """Where the compiler of the build has the library, which may be of another architecture than this machine."""
    known = next(build.glob("CMakeFiles/*/CMakeCXXCompiler.cmake")).read_text()
    compiler = re.search(r'^set\(CMAKE_CXX_COMPILER "(.+)"\)$', known, re.M)[1]
    path = pathlib.Path(say(compiler, f"-print-file-name={soname}").strip())
    if not path.is_absolute():
        raise SystemExit(f"parts.py: {soname} is not here")
    return path


def packages(paths):
    """The packages that the files come from."""
    # Whichever way round the merge of /usr has it; ones without an owner would go unlisted.
    asked = {}
    for path in paths:
        resolved = str(path.resolve())
        for name in {str(path), resolved, "/usr" + str(path), resolved.removeprefix("/usr")}:
            asked[name] = resolved
    owned, found = set(), set()
    if asked:
        done = subprocess.run(["dpkg-query", "--search", *sorted(asked)], capture_output=True, text=True)
        for line in done.stdout.splitlines():
            names, separator, path = line.rpartition(": ")
            if separator and path in asked and not names.startswith("diversion "):
                owned.add(asked[path])
                found |= {name.partition(":")[0] for name in names.split(", ")}
    strangers = sorted({str(path.resolve()) for path in paths} - owned)
    if strangers:
        raise SystemExit(f"parts.py: no package has {', '.join(strangers)}")
    return found


def described(name, architecture, release):
    fields = "${Version}\t${source:Package}\t${source:Version}\t${Architecture}\n"
    rows = [line.split("\t") for line in say("dpkg-query", "--show", f"--showformat={fields}", name).splitlines()]
    # A package may be here for several architectures.
    version, source, source_version, architecture = next((row for row in rows if row[3] == architecture), rows[0])
    return {
        "SPDXID": f"SPDXRef-{identifier(name)}", "name": name, "versionInfo": version,
        "supplier": "Organization: Debian", "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION",
        "sourceInfo": f"built from the source package {source} {source_version}",
        "externalRefs": [{
            "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
            "referenceLocator": f"pkg:deb/debian/{name.replace('+', '%2B')}@{version.replace('+', '%2B').replace(':', '%3A')}"
                                f"?arch={architecture}&distro={release}"}],
    }


def identifier(name):
    return re.sub(r"[^A-Za-z0-9.-]", lambda found: f"-{ord(found[0]):x}-", name)


def release_name():
    said = dict(line.split("=", 1) for line in pathlib.Path("/etc/os-release").read_text().splitlines() if "=" in line)
    return f"{said['ID']}-{said.get('VERSION_ID', 'sid')}".replace('"', "")


def bonds_of(build, program):
    """How each package is bound to the program; a package counts for the closest of its bonds."""
    kinds = {}
    for kind, paths in ((COMPILED, headers(build)), (LOADED, loaded(build)), (SHARED, needed(build, program)), (STATIC, linked(build))):
        kinds.update(dict.fromkeys(packages(paths), kind))
    return kinds


def document(kinds, program, version, architecture):
    digest = hashlib.sha256(program.read_bytes()).hexdigest()
    own = {
        "SPDXID": "SPDXRef-gpuctl", "name": "gpuctl", "versionInfo": version, "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": "Apache-2.0",
        "copyrightText": "NOASSERTION", "primaryPackagePurpose": "APPLICATION",
        "checksums": [{"algorithm": "SHA256", "checksumValue": digest}],
    }
    bonds = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-gpuctl"}]
    for name, kind in sorted(kinds.items()):
        ends = ["SPDXRef-gpuctl", f"SPDXRef-{identifier(name)}"]
        first, second = reversed(ends) if kind == LOADED else ends
        bonds.append({"spdxElementId": first, "relationshipType": kind, "relatedSpdxElement": second, "comment": COMMENTS[kind]})
    written = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"gpuctl-{version}", "documentNamespace": f"https://gpuctl.dev/spdx/gpuctl-{version}-{digest}",
        "creationInfo": {"created": written.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": [f"Tool: gpuctl-{version}-release"]},
        "packages": [own, *(described(name, architecture, release_name()) for name in sorted(kinds))], "relationships": bonds,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--program", required=True, type=pathlib.Path)
    parser.add_argument("--version", required=True)
    parser.add_argument("--architecture", required=True, help="what the program runs on, in Debian's words: amd64")
    parser.add_argument("--notices", required=True, type=pathlib.Path)
    given = parser.parse_args()
    kinds = bonds_of(given.build.resolve(), given.program)
    given.notices.mkdir()
    for name in sorted(name for name, kind in kinds.items() if kind in (STATIC, COMPILED)):
        shutil.copyfile(f"/usr/share/doc/{name}/copyright", given.notices / name)
    json.dump(document(kinds, given.program, given.version, given.architecture), sys.stdout, indent=1, sort_keys=True)
    print()


if __name__ == "__main__":
    main()
