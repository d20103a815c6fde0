#!/usr/bin/env python3
"""Every step of docs/first-day.md works: its commands run in order in a copy of the project.

Fenced blocks of the page are what is done:

    ```sh                         commands, run by `sh -e`
    ```text                       what the commands before it print; a line `...` stands for any lines
    ```yaml FILE                  the file as a whole
    ```yaml FILE, at the end      lines behind the last one of the file
    ```yaml FILE, below LINE      lines behind the first that says LINE

The paragraph before a block with a file must name that file, for those who read the page as it is rendered. Nothing is
compiled: `cmake --build` packs the changed knowledge for a gpuctl that reads it from beside itself.

`first_day.py --build DIR [--verbose]`
"""

import argparse
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from support.knowledge import Copy  # noqa: E402
from support.program import ROOT, TIMEOUT_S, environment, skip  # noqa: E402

PAGE = "docs/first-day.md"
BUILD = "--build --preset release --target gpuctl"
CONFIGURE = "--preset release"
SAMPLE = "/aws-minimal/"
PARTS = (".gitignore", "blueprints", "docs", "providers", "templates", "tests/golden/*.py", "tests/golden/blueprints",
         "tests/golden/cli/catalog-machines*", "tests/golden/provider", "tests/structure", "tests/support")


def blocks(page):
    """Of each fenced block: line, info string, text, and the prose since the block before."""
    found, prose, opened = [], [], None
    for number, line in enumerate(page.splitlines(), 1):
        if opened is None and (fence := re.match("`{3,}", line)):
            opened, body = (number, line.lstrip("`")), []
        elif opened is None:
            prose.append(line)
        elif line == fence[0]:
            found.append((*opened, "".join(f"{one}\n" for one in body), " ".join(prose)))
            opened, prose = None, []
        else:
            body.append(line)
    if opened:
        sys.exit(f"{PAGE}:{opened[0]}: a block that does not end")
    return found


def put(copy, where, text):
    """Writes a block with a file; what is wrong with it, or nothing."""
    name, _, place = where.partition(", ")
    before = copy.read(name) if (copy.root / name).exists() else None
    if (before is not None) != bool(place):
        return "is there already" if before is not None else "is not there"
    if not place:
        copy.write(name, text)
    elif place == "at the end":
        copy.write(name, before + text)
    else:
        line = re.search(rf"(?m)^ *{re.escape(place.removeprefix('below '))}\n", before)
        if line is None:
            return f"has no line `{place}`"
        copy.write(name, before[:line.end()] + text + before[line.end():])
    return ""


def fits(printed, expected):
    pattern = "".join(r"(?:.*\n)*?" if line == "..." else re.escape(line) + r"\n" for line in expected.splitlines())
    return re.fullmatch(pattern, printed)


def tools(folder, copy):
    """A folder for PATH in front of others, with what stands for the build."""
    folder.mkdir()
    cmake = folder / "cmake"
    cmake.write_text(f'#!/bin/sh\ncase "$*" in\n"{CONFIGURE}") ;;\n'
                     f'"{BUILD}") "{copy.packer}" "{copy.root}" "{copy.gpuctl.parent}/knowledge.image" ;;\n'
                     '*) echo "first_day.py knows no: cmake $*" >&2; exit 1 ;;\nesac\n')
    cmake.chmod(0o755)
    return str(folder)


def tracked(root):
    """The files that the page needs, as Git knows them; of golden cases that render, the page runs one."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--",
                             *PARTS], capture_output=True, check=True, timeout=TIMEOUT_S).stdout.decode()
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file() and ("/tree/" not in name or SAMPLE in name):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, root / name, follow_symlinks=False)


def steps(copy, env, page, verbose):
    """Runs the page; findings."""
    findings, printed, done = [], None, 0
    for number, info, text, prose in blocks(page):
        language, _, where = info.partition(" ")
        at = f"{PAGE}:{number}"
        if language == "sh":
            run = subprocess.run(["sh", "-ec", text], cwd=copy.root, env=env, stdin=subprocess.DEVNULL, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_S)
            printed = run.stdout
            if verbose:
                print(f"--- {at}\n{text}{printed}")
            if run.returncode != 0:
                findings.append(f"{at}: exit code {run.returncode}:\n{printed}")
        elif where:
            if f"`{where.partition(', ')[0]}`" not in prose:
                findings.append(f"{at}: the text before it does not name the file")
            if problem := put(copy, where, text):
                findings.append(f"{at}: {where}: {problem}")
        elif language == "text" and printed is not None:
            if not fits(printed, text):
                findings.append(f"{at}: expected\n{text}but the commands print\n{printed}")
            printed = None
        else:
            findings.append(f"{at}: nothing is done with a block `{info}`")
        done += 1
    return findings, done


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    if importlib.util.find_spec("yaml") is None:
        skip("first_day", "PyYAML is not here (Debian: python3-yaml), which tests of the page need")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder).resolve()
        tracked(folder / "gpuctl")
        copy = Copy(folder / "gpuctl", pathlib.Path(options.build).resolve())
        (folder / "home").mkdir()
        env = environment(folder / "home", NO_COLOR="1", PYTHONDONTWRITEBYTECODE="1")
        env["PATH"] = tools(folder / "bin", copy) + os.pathsep + env["PATH"]
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "Start"]):
            subprocess.run(["git", *words], cwd=copy.root, env=env, check=True, timeout=TIMEOUT_S)
        findings, done = steps(copy, env, copy.read(PAGE), options.verbose)
    print(*findings, sep="\n")
    print(f"{done - len(findings)} passed, {len(findings)} failed")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
